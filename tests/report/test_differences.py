"""What was wrong by field, below the tables of a run."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pytest_jsonmatch import Comparison, RunResult, compare_json
from tests.conftest import case_of, main, report_of


def lines_below(
    *pairs: tuple[Any, Any],
    arguments: tuple[str, ...] = (),
    metric: str = "leaf_f1",
    columns: int = 80,
    **look: Any,
) -> list[str]:
    """The lines on differences in a report, for pairs of an answer and what is expected."""
    cases = (
        case_of(str(at), actual, expected=expected, metric=metric, limit=0)
        for at, (actual, expected) in enumerate(pairs)
    )
    lines = report_of(RunResult.of_cases(tuple(cases)), *arguments, columns=columns, **look)
    start = next((at for at, line in enumerate(lines) if line.endswith(" actual:")), len(lines))
    found = lines[start : lines.index("", start) if "" in lines[start:] else None]
    assert max(map(len, found)) <= columns
    return found


GOLD = {"vendor": "Acme", "total": 5}
ANSWERS = [
    *[({**GOLD, "vendor": "ACME Inc"}, GOLD)] * 4,
    *[({"total": 5}, GOLD)] * 2,
    ({**GOLD, "vendor": "Acm", "total": "5 EUR"}, GOLD),
    ({**GOLD, "vendor": 7, "tip": 1}, GOLD),
    (GOLD, GOLD),
]


def test_the_most_frequent_differences_of_the_lowest_scoring_field() -> None:
    assert lines_below(*ANSWERS[:-2], ANSWERS[-1]) == [
        "differences, expected → actual:",
        '  vendor  "Acme" → "ACME Inc"  ×4',
        '          "Acme" missing  ×2',
        '          "Acme" → "Acm"',
        "  … 1 more field (-v)",
    ]


def test_with_v_those_of_every_field() -> None:
    assert lines_below(*ANSWERS, arguments=("-v",), unicode=False) == [
        "differences, expected -> actual:",
        '  vendor  "Acme" -> "ACME Inc"  x4',
        '          "Acme" missing  x2',
        '          "Acme" -> "Acm"',
        "  tip     1 extra",
        '  total   5 -> "5 EUR"',
    ]


def test_equally_frequent_ones_begin_with_the_lowest_scoring() -> None:
    pairs = [({"n": each}, {"n": "completed"}) for each in ("complete", "open", "completd")]
    found = lines_below(*pairs, metric="json_similarity")
    assert found[1] == '  n  "completed" → "open"'


def test_below_a_field_that_is_scored_as_a_whole_the_leaf_is_named() -> None:
    answer = {"to": {"city": "Rome", "zip": None}}, {"to": {"city": "Roma", "zip": "00185"}}
    assert lines_below(answer, metric="field_match")[1:] == [
        '  to.city  "Roma" → "Rome"',
        '  to.zip   "00185" → null',
    ]


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("unicode", [True, False])
def test_long_values_are_cut_where_they_differ(width: int, unicode: bool) -> None:
    street = "A very long name of a street in the north-eastern outskirts of the town, number 12"
    path = "customer_of_this_invoice_with_a_long_name"
    answer = {path: f"{street} b, rear building"}, {path: f"{street} a, rear building"}
    values = lines_below(answer, columns=width, unicode=unicode)[1].rpartition("  ")[2]
    expected, actual = values.split(" → " if unicode else " -> ")
    assert " a" in expected
    assert " b" in actual


def test_what_is_right_left_out_or_not_scored_is_no_difference() -> None:
    result = compare_json({"a": 1, "b": 1, "c": 2}, {"a": 1, "b": 2, "c": 3}, fields={"b": {"skip": True}})
    kept = Comparison.of(result, id="x", nodeid="x", threshold={}, passed=True)
    assert {path: found[0][:2] for path, found in kept.differences.items()} == {"c": ("3", "2")}


def test_a_comparison_keeps_little_of_many_long_values() -> None:
    answer = [{"n": number, "text": "x" * 10_000} for number in range(5_000)]
    gold = [{"n": -1, "text": "y" * 10_000} for _ in answer]
    kept = Comparison.of(compare_json(answer, gold), id="x", nodeid="x", threshold={}, passed=True)
    assert {path: len(found) for path, found in kept.differences.items()} == {"[].n": 10, "[].text": 1}
    assert len(str(kept.differences)) < 2_000


SUITE = """
import pytest

@pytest.mark.parametrize("vendor", ["ACME Inc", "ACME Inc", "Acme", None])
def test_vendor(vendor, assert_json_match):
    assert_json_match({"vendor": vendor, "total": 5}, {"vendor": "Acme", "total": 5}, threshold=0.5)
"""


def test_a_run_its_result_file_and_its_page(pytester: pytest.Pytester, workers: tuple[str, ...]) -> None:
    pytester.makepyfile(SUITE)
    run = pytester.runpytest("-v", "--jsonmatch-json=r.jsonl", "--jsonmatch-html=r.html", *workers)
    run.assert_outcomes(passed=4)
    below = [
        "differences, expected → actual:",
        '  vendor  "Acme" → "ACME Inc"  ×2',
        '          "Acme" → null',
    ]
    run.stdout.fnmatch_lines(below, consecutive=True)
    assert "\x1b" not in run.stdout.str()
    assert main(["report", "r.jsonl", "--html", "again.html"]) == 0
    for name in ("r.html", "again.html"):
        page = (pytester.path / name).read_text(encoding="utf-8")
        found = page.partition("Fields of")[2].partition("<template>")[2].partition("</template>")[0]
        values = re.findall(r"<code>(.*?)</code>", found)
        assert values[:6:5] == ["vendor", "null"], values
        assert '<span class="faint">2 times</span>' in found
