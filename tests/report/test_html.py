"""The HTML report as text: what is in it, and that nothing in it can be more than text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from pytest_jsonmatch import ConfigurationError, MatchResult, compare_json
from pytest_jsonmatch.gate.expressions import parse_gate
from pytest_jsonmatch.gate.gates import check_gate
from pytest_jsonmatch.gate.headlines import contest, headlines
from pytest_jsonmatch.report.details import MAX_LEAVES, details_of
from pytest_jsonmatch.report.html import html_page
from pytest_jsonmatch.report.view import RunView
from pytest_jsonmatch.results.run import RunResult
from tests.conftest import case_of, page_of

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x1b[31m\u2028&amp;"
DEEP = json.loads("[" * 100 + "1" + "]" * 100)


def data_in(html: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def wrong_in(result: MatchResult) -> Any:
    return json.loads(details_of(result).partition("\n")[0])


def documents_in(result: MatchResult) -> Any:
    return json.loads(details_of(result).partition("\n")[2])


class Elements(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_says_what_there_is() -> None:
    before = page_of({"a": ({"n": 1}, {"n": 1}), "b": ({"n": 1}, {"n": 1}), "gone": (1, 1)}).results
    page = page_of({"a": ({"n": 1}, {"n": 1}), "b": ({"n": "completted"}, {"n": "completed"})})
    results = page.results
    gates = [check_gate(parse_gate(text), results) for text in ("score >= 0.5", "pass_rate >= 0.75")]
    against = {"baseline": "main", "contest": contest(("main", before), ("this run", results))}
    html = html_page(replace(page, title="receipts", headlines=headlines(results), gates=gates, **against))
    text = re.sub(r"<[^>]+>|\s+", " ", html.partition("<body>")[2].partition("<script")[0])
    for said in (
        "with 95 % confidence intervals",
        "failed pass_rate &gt;= 0.75 0.50 0.75 -0.25 1 of 2 cases",
        "Against the baseline no significant change from main ; 2 cases cannot be tested, it takes at least 5",
        "Cases vanished: 1 case gone",
    ):
        assert said in re.sub(" +", " ", text)
    shown = data_in(html)["cases"][1]
    assert [shown[key] for key in "ivsprfb"] == ["b", "failed", 0.9, 0.9, 0.9, 0.9, 1.0]
    compared = shown["u"][0]["c"][0]
    assert (compared["x"], compared["t"]) == ([0, 0, 1, 0, 0, 0.9], "score ≥ 1.0")
    (leaf,) = compared["d"]["leaves"]
    assert (leaf["p"], leaf["k"], leaf["s"], leaf["y"]) == ("n", "mismatch", 0.9, "1 edit")
    assert leaf["e"] == [["=", '"completed"']]
    assert leaf["a"] == [["=", '"complet'], ["+", "t"], ["=", 'ed"']]


def test_changes_of_two_metrics_are_told_apart() -> None:
    metrics = ["leaf_f1", "json_similarity"]
    before, after = (
        RunResult.of_cases(
            tuple(case_of(each, {"n": answer}, expected={"n": 4}, metric=each) for each in metrics)
        )
        for answer in (4, 3)
    )
    made = contest(("main", before), ("now", after))
    data = data_in(html_page(RunView(after, baseline="main", contest=made)))
    assert data["metrics"] == metrics
    rows = [(row[0], row[1], row[3], row[7]) for row in data["fields"]]
    assert rows == [("n", 0, 0.0, 1.0), ("n", 1, 0.75, 1.0)]


@pytest.mark.parametrize(
    ("gate", "kind", "text"),
    [
        ("score >= 0.5", "passed", "1 gate passed · no case failed"),
        ("score >= 0.95", "failed", "1 of 1 gate failed · no case failed · score &gt;= 0.95 (0.90)"),
    ],
)
def test_a_banner_has_the_verdict(gate: str, kind: str, text: str) -> None:
    results = page_of({"b": ({"n": "completted"}, {"n": "completed"})}).results
    html = html_page(RunView(results, gates=[check_gate(parse_gate(gate), results)]))
    assert f'<section class="banner {kind}" role="status"><strong>{kind}</strong> <span>{text}</span>' in html


def test_data_from_outside_is_text() -> None:
    page = page_of({f"t.py::{HOSTILE}": ({HOSTILE: HOSTILE}, {HOSTILE: 1, "b": HOSTILE})}, title=HOSTILE)
    html = html_page(page)
    elements = Elements(html).found
    scripts = [attributes for tag, attributes in elements if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "data"}, {}]
    assert not [tag for tag, _ in elements if tag in {"img", "iframe", "object", "link"}]
    assert not [name for _, attributes in elements for name in attributes if name.startswith("on")]
    assert not set("\u202e\x1b\u2028") & set(html)
    assert r"\u202e\x1b[31m\u2028" in data_in(html)["cases"][0]["i"]


def test_policy_names_the_script_and_nothing_else() -> None:
    html = html_page(page_of({"a": (1, 2)}))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    script = re.search(r"<script>(.*?)</script>", html, re.DOTALL)
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    assert policy
    assert script
    assert style
    hashes = (hashlib.sha256(found[1].encode()).digest() for found in (script, style))
    own, dress = (base64.b64encode(each).decode() for each in hashes)
    assert policy[1].replace("&#39;", "'") == (
        f"default-src 'none'; style-src 'sha256-{dress}'; script-src 'sha256-{own}'; "
        "base-uri 'none'; form-action 'none'"
    )
    assert "innerHTML" not in script[1]
    assert not re.search(r'style="|https?://(?!www\.w3\.org/2000/svg)', html)


def test_nothing_was_compared() -> None:
    html = html_page(RunView(RunResult.of_cases(narrowed=("-k",), collected=3)))
    assert "Nothing was compared." in html
    assert "0 of 3 cases (-k)" in html


def test_lone_surrogates_and_deep_values() -> None:
    page = page_of({"a": ({"s": "\ud800", "deep": DEEP}, {"s": "x", "deep": 1})}, metric="field_match")
    assert html_page(page).encode().startswith(b"<!doctype html>")


def test_details_are_bounded() -> None:
    sides = ({str(n): letter * 5000 for n in range(80)} for letter in "ab")
    result = compare_json(*sides, metric="json_similarity")
    details = wrong_in(result)
    assert len(details["leaves"]) + details["more"] == 80
    assert len(details["leaves"]) == 10  # of two texts of 1,000 characters
    assert max(len(text) for leaf in details["leaves"] for _, text in leaf["e"]) == 998  # and quotes
    result = compare_json(dict.fromkeys(map(str, range(80)), 1), {}, metric="json_similarity", extra="count")
    assert len(wrong_in(result)["leaves"]) == MAX_LEAVES


def test_a_page_shows_the_worst_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_jsonmatch.report.html._ROOM", 1)
    html = html_page(page_of({"a": ({"n": 1}, {"n": 1.1}), "b": ({"n": 1}, {"n": 2})}))
    assert "Values and documents are shown for the 1 worst comparison of 2." in html
    assert ["d" in case["u"][0]["c"][0] for case in data_in(html)["cases"]] == [False, True]
    assert ["o" in case["u"][0]["c"][0] for case in data_in(html)["cases"]] == [False, True]


def test_pairs_of_an_array() -> None:
    expected = [{"name": "bread", "price": 1}, {"name": "milk", "price": 2}, {"name": "eggs", "price": 3}]
    actual = [{"name": "eggs", "price": 3}, {"name": "bread", "price": 9}]
    found = wrong_in(compare_json(actual, expected, metric="pairwise_f1"))
    assert found["arrays"] == [
        {
            "p": "$",
            "note": "2 pairs by best fit, 1 only expected",
            "pairs": [[0, 1, 0.5], [2, 0, 1.0]],
            "expected": [1],
            "actual": [],
            "e": {"0": "bread, 1", "1": "milk, 2", "2": "eggs, 3"},
            "a": {"0": "eggs, 3", "1": "bread, 9"},
        }
    ]


def test_whole_documents() -> None:
    expected = {"shop": "Bäckerei", "items": [{"n": "bun", "p": [2]}], "none": {}}
    [[kind, text]], [[_, other]] = documents_in(compare_json({"shop": 10**400}, expected))
    assert (kind, json.loads(text), json.loads(other)) == ("=", expected, {"shop": 10**400})
    assert text.startswith('{\n  "shop": "Bäckerei",\n  "items": [\n')
    assert documents_in(compare_json({"a": 1}, {"a": 1})) == [[["=", '{\n  "a": 1\n}']], 0]
    # Nothing in a document is hidden.
    assert documents_in(compare_json({"a": "\x1b\u202e"}, {}))[1][0][1].endswith(r'"\u001b\u202e"' + "\n}")


def test_whole_documents_are_bounded() -> None:
    for value in (DEEP, {"k" * 5000: "v" * 5000}, list(range(3000)), {str(n): {} for n in range(1000)}):
        assert len(details_of(compare_json(value, value, metric="json_similarity"))) < 6000
        result = compare_json([value, 1], [value, 2], metric="json_similarity")
        assert len(details_of(result)) < 20_000
        assert documents_in(result)[0][0][1].endswith("\n…")


def test_a_comparison_may_have_no_documents() -> None:
    page = page_of({"a": ({"n": 1}, {"n": 2}), "b": ({"n": 1}, {"n": 1})})
    page = replace(page, details={key: text.partition("\n")[0] for key, text in page.details.items()})
    (one, two) = (case["u"][0]["c"][0] for case in data_in(html_page(page))["cases"])
    assert [sorted(each.keys() & {"d", "o"}) for each in (one, two)] == [["d"], []]


def test_without_jinja2(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    told = "an HTML report needs jinja2; install it with: pip install 'pytest-jsonmatch[html]'"
    with pytest.raises(ConfigurationError, match=f"^{re.escape(told)}$"):
        html_page(RunView(RunResult.of_cases()))
