"""The whole HTML report of a small run, against one that is kept.

`UPDATE_GOLDENS=1 pytest tests/report/test_html_golden.py` writes what there is now. Read the diff.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path

from pytest_jsonmatch import compare_json
from pytest_jsonmatch.gate.baseline import compare_runs
from pytest_jsonmatch.gate.expressions import parse_gate
from pytest_jsonmatch.gate.gates import check_gate
from pytest_jsonmatch.gate.headlines import change_of_runs, headlines
from pytest_jsonmatch.report.details import details_of
from pytest_jsonmatch.report.html import html_page
from pytest_jsonmatch.report.view import RunView
from pytest_jsonmatch.results.comparison import Comparison
from pytest_jsonmatch.results.model import Case, CaseRun, ResultSet

GOLDEN = Path(__file__).parent / "golden_page.html"
PAGE = Path(__file__).resolve().parents[2] / "pytest_jsonmatch" / "report" / "page"
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x1b[31m\u2028&amp;"
RECEIPT = {"shop": "Bakery", "items": [{"n": "bread", "p": 1}, {"n": "milk", "p": 2}, {"n": "eggs", "p": 3}]}
ANSWERS: dict[str, tuple[str, object, object]] = {
    "receipts.golden.yaml::right": ("pairwise_f1", RECEIPT, RECEIPT),
    "receipts.golden.yaml::swapped": (
        "pairwise_f1",
        {"shop": "Bakkery", "items": [{"n": "eggs", "p": 3}, {"n": "milk", "p": 1}, {"n": "bread", "p": 2}]},
        RECEIPT,
    ),
    "receipts.golden.yaml::short": ("pairwise_f1", {"items": [{"n": "bag", "p": 9}], "tip": 1}, RECEIPT),
    "tickets.golden.yaml::typed": (
        "json_similarity",
        {"when": "noon", "who": {"name": "Ann"}},
        {"when": ["noon"], "who": {"name": "Anne", "age": 30}},
    ),
    f"t.py::{HOSTILE}": ("json_similarity", {HOSTILE: HOSTILE, "b": 1}, {HOSTILE: "x", "b": HOSTILE}),
}
REPEATED = "tickets.golden.yaml::often"


def page() -> RunView:
    """A run with all that a page can show: gates, a baseline, repeats, a case that failed before comparing."""
    cases, details = [], {}

    def compared(metric: str, actual: object, expected: object, name: str) -> Comparison:
        result = compare_json(actual, expected, metric=metric)
        made = Comparison.of(
            result,
            id=f"{name}#1",
            nodeid=name,
            threshold={"score": 0.75},
            passed=result.score >= 0.75,
        )
        details[name, made.id] = details_of(result)
        return made

    for name, (metric, actual, expected) in ANSWERS.items():
        one = compared(metric, actual, expected, name)
        cases.append(Case(name, (CaseRun(1, one.passed, (one,)),)))
    runs = [compared("json_similarity", {"n": n}, {"n": 4}, f"{REPEATED}@{n}") for n in range(3, 6)]
    cases.append(
        Case(REPEATED, tuple(CaseRun(n, one.passed, (one,)) for n, one in enumerate(runs, 1)), 3, 0.6)
    )
    cases.append(Case("t.py::broken", (CaseRun(1, False, error="failed before comparing"),)))
    results = ResultSet(
        tuple(cases),
        created="2026-11-21T12:00:00+00:00",
        commit="0123456789abcdef+",
        versions={"pytest-jsonmatch": "0.1.0", "python": "3.13.1"},
        collected=9,
        narrowed=("-k",),
    )
    perfect = Comparison.of(
        compare_json(RECEIPT, RECEIPT, metric="pairwise_f1"), id="x#1", nodeid="x", threshold={}, passed=True
    )
    before = replace(
        results,
        cases=(
            *(
                replace(
                    case, runs=(CaseRun(1, True, (replace(perfect, id=case.runs[0].comparisons[0].id),)),)
                )
                for case in cases[:3]
            ),
            Case("receipts.golden.yaml::gone", (CaseRun(1, True, (perfect,)),)),
        ),
    )
    return RunView(
        results,
        title="receipts",
        headlines=headlines(results),
        gates=[check_gate(parse_gate(text), results) for text in ("score >= 0.3", "pass_rate >= 0.75")],
        baseline="main",
        diff=compare_runs(before, results),
        proven=change_of_runs(before, results),
        details=details,
        notes=["1 test skipped, not among the cases"],
    )


def readable(html: str) -> str:
    """A page with its data spread over lines, without what our own files put into it word by word."""
    for name in ("report.css", "report.js"):
        text = (PAGE / name).read_text(encoding="utf-8")
        assert html.count(text) == 1
        html = html.replace(text, f"({name})")
    html = re.sub(r"sha256-[\w+/=]{44}", "sha256-(hash)", html)
    head, data, tail = re.split(r'(?<=id="data">)(.*?)(?=</script>)', html, maxsplit=1, flags=re.DOTALL)
    # (As the page has them: no sign of the data that means anything in HTML stands there as itself.)
    spread = json.dumps(json.loads(data), indent=1, ensure_ascii=True)
    for character in "<>&":
        spread = spread.replace(character, f"\\u{ord(character):04x}")
    assert json.loads(spread) == json.loads(data)
    return f"{head}\n{spread}\n{tail}"


def test_the_page_is_the_one_that_is_kept() -> None:
    written = readable(html_page(page()))
    if os.environ.get("UPDATE_GOLDENS"):
        GOLDEN.write_text(written, encoding="utf-8", newline="\n")
    assert written == GOLDEN.read_text(encoding="utf-8")


def test_the_kept_page_holds_what_a_page_can_show() -> None:
    kept = GOLDEN.read_text(encoding="utf-8")
    data = json.loads(kept.partition('id="data">')[2].partition("</script>")[0])
    compared = [one for case in data["cases"] for run in case["u"] for one in run.get("c", ())]
    assert {
        status for one in compared for leaf in one.get("d", {}).get("leaves", ()) for status in [leaf["k"]]
    } == {
        "mismatch",
        "omission",
        "hallucination",
    }
    arrays = [array for one in compared for array in one.get("d", {}).get("arrays", ())]
    assert any(len(pair) > 5 for array in arrays for pair in array["pairs"])
    assert any(array["expected"] for array in arrays)
    assert {len(one["o"]) for one in compared} == {2}
    assert any(one["o"][1] == 0 for one in compared)
    assert "onerror=alert(2)\\u003e\\\\u202e\\\\x1b[31m\\\\u2028" in kept
    assert not {"\u202e", "\x1b", "\u2028"} & set(kept)
