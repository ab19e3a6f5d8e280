"""The HTML report: what it says, and that nothing in the data is more than text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from html.parser import HTMLParser
from typing import Any

import pytest

from pytest_jsonmatch import ConfigurationError, RunResult, compare_json
from pytest_jsonmatch.gate.expressions import parse_gate
from pytest_jsonmatch.gate.gates import check_gate
from pytest_jsonmatch.gate.headlines import contest
from pytest_jsonmatch.report.build import ReportRequest, build
from pytest_jsonmatch.report.cases_page import PageExtra
from pytest_jsonmatch.report.details import MAX_LEAVES, detail_from, details_of
from pytest_jsonmatch.report.html import blocks_html, html_page
from tests.conftest import case_of, page_of, run_of

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x1b[31m\u2028&amp;"
DEEP = json.loads("[" * 100 + "1" + "]" * 100)


class Elements(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def text_of(html: str) -> str:
    body = html.partition("<body>")[2].partition("<script")[0]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body))


def test_verdict_failing_cases_fields_and_statistics_in_this_order() -> None:
    before, _ = run_of({"a": ({"n": 1}, {"n": 1}), "b": ({"n": 1}, {"n": 1}), "gone": (1, 1)})
    results, extra = run_of({"a": ({"n": 1}, {"n": 1}), "b": ({"n": "completted"}, {"n": "completed"})})
    gates = [check_gate(parse_gate(text), results) for text in ("score >= 0.5", "pass_rate >= 0.75")]
    against: dict[str, Any] = {"baselines": {"main": contest(("main", before), ("this run", results))}}
    text = text_of(
        html_page(
            build(results, ReportRequest("receipts", gates=gates, page=extra, has_intervals=True, **against))
        )
    )
    places = [
        text.index(printed)
        for printed in (
            "failed 1 of 2 gates failed 1 of 2 cases failed",
            "pass_rate &gt;= 0.75 failed 0.50 0.75 -0.25 1 of 2 cases",
            "Cases: 1 of 2 failed",
            "failed b 0.90 &lt; 1.00 n 0.90",
            "mismatch 0.90 few characters differ &#34;completed&#34; → &#34;complet t ed&#34;",
            "Fields of 2 cases by json_similarity",
            "the change from main is not tested",
            "Mean over cases, with 95 % confidence intervals",
            "Scores of cases",
            "Fields × cases",
        )
    ]
    assert places == sorted(places)


def test_the_metric_stands_apart_from_the_fields() -> None:
    metrics = ["leaf_f1", "json_similarity"]
    before, after = (
        RunResult.of_cases(
            tuple(case_of(each, {"n": answer}, expected={"n": 4}, metric=each) for each in metrics)
        )
        for answer in (4, 3)
    )
    text = text_of(
        html_page(build(after, ReportRequest(baselines={"main": contest(("main", before), ("now", after))})))
    )
    for metric, score in zip(metrics, ("0.00", "0.75")):
        assert re.search(rf"by {metric}\b.*? n 1 0 1 0 (?:0 )?{score} 1.00 -", text)


@pytest.mark.parametrize(
    ("gate", "kind", "reasons"),
    [
        ("score >= 0.5", "good", "<span>1 gate passed</span> <span>no case failed</span>"),
        ("score >= 0.95", "bad", "<span>1 of 1 gate failed</span> <span>no case failed</span>"),
    ],
)
def test_a_banner_has_the_verdict(gate: str, kind: str, reasons: str) -> None:
    results, _ = run_of({"b": ({"n": "completted"}, {"n": "completed"})}, limit=0.5)
    html = html_page(build(results, ReportRequest(gates=[check_gate(parse_gate(gate), results)])))
    word = {"good": "passed", "bad": "failed"}[kind]
    assert f'<section class="banner {kind}" role="status"><strong>{word}</strong> {reasons}' in html


def test_without_a_threshold_there_is_no_verdict() -> None:
    case = case_of("a", {"n": 1}, expected={"n": 2}, threshold={}, passed=True)
    html = html_page(build(RunResult.of_cases((case,)), ReportRequest(page=PageExtra())))
    assert '<section class="banner " role="status"><strong>mean score 0.50</strong>' in html
    assert 'class="chip' not in html.partition("<template>")[0]


def test_data_from_outside_is_text() -> None:
    html = page_of({f"t.py::{HOSTILE}": ({HOSTILE: HOSTILE}, {HOSTILE: 1, "b": HOSTILE})}, title=HOSTILE)
    elements = Elements(html).found
    assert [attributes for tag, attributes in elements if tag == "script"] == [{}]
    assert not [tag for tag, _ in elements if tag in {"img", "iframe", "object", "link", "a"}]
    names = [name for _, attributes in elements for name in attributes]
    assert not [name for name in names if name.startswith("on") or name == "style"]
    assert not set("\u202e\x1b\u2028") & set(html)
    assert r"\u202e\x1b[31m\u2028" in html


def test_policy_names_the_script_and_nothing_else() -> None:
    html = page_of({"a": (1, 2)})
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
    assert len(script[1].splitlines()) <= 300
    assert not re.search(r'style="|https?://', html)


def test_nothing_was_compared() -> None:
    html = html_page(
        build(RunResult.of_cases(narrowed=("-k",), collected=3), ReportRequest(page=PageExtra()))
    )
    assert "nothing was compared" in html
    assert "0 of 3 cases (-k)" in html


def test_lone_surrogates_and_deep_values() -> None:
    html = page_of({"a": ({"s": "\ud800", "deep": DEEP}, {"s": "x", "deep": 1})}, metric="field_match")
    assert html.encode().startswith(b"<!doctype html>")


def test_details_are_bounded() -> None:
    sides = ({str(n): letter * 5000 for n in range(80)} for letter in "ab")
    detail = detail_from(details_of(compare_json(*sides, metric="json_similarity")))
    assert len(detail.differences) + detail.more == 80
    assert len(detail.differences) == 10  # of two texts of 1,000 characters
    assert max(len(each.expected or "") for each in detail.differences) == 1000
    result = compare_json(dict.fromkeys(map(str, range(80)), 1), {}, metric="json_similarity", extra="count")
    assert len(detail_from(details_of(result)).differences) == MAX_LEAVES


def test_a_page_lists_the_lowest_cases_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_jsonmatch.report.cases_page._MAX_LISTED", 1)
    html = page_of({"a": ({"n": 1}, {"n": 1.1}), "b": ({"n": 1}, {"n": 2})})
    assert "only the 1 cases with the lowest scores are listed, of 2" in html
    assert re.findall(r"</span> <code>(\w)</code></th>", html) == ["b"]


def test_documents_are_left_out_where_there_is_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_jsonmatch.report.cases_page._MAX_CHARACTERS", 700)
    html = page_of({name: ({"n": "x" * 90}, {"n": "y" * 90}) for name in "abc"})
    assert 0 < html.count("Whole documents") < 3


def test_whole_documents() -> None:
    expected = {"shop": "Bäckerei", "items": [{"n": "bun", "p": [2]}], "none": {}}
    documents = detail_from(details_of(compare_json({"shop": 10**400}, expected))).documents
    assert documents is not None
    assert (json.loads(documents[0] or ""), json.loads(documents[1] or "")) == (expected, {"shop": 10**400})
    assert (documents[0] or "").startswith('{\n  "shop": "Bäckerei",\n  "items": [\n')
    same = detail_from(details_of(compare_json({"a": 1}, {"a": 1}))).documents
    assert same == ('{\n  "a": 1\n}', '{\n  "a": 1\n}')


def test_whole_documents_are_bounded() -> None:
    for value in (DEEP, {"k" * 5000: "v" * 5000}, list(range(3000)), {str(n): {} for n in range(1000)}):
        assert len(details_of(compare_json(value, value, metric="json_similarity"))) < 6000
        details = details_of(compare_json([value, 1], [value, 2], metric="json_similarity"))
        assert len(details) < 20_000
        assert (detail_from(details).documents or ("",))[0].endswith("\n…")  # type: ignore[union-attr]


def test_a_comparison_may_have_no_documents() -> None:
    results, extra = run_of({"a": ({"n": 1}, {"n": 2})})
    details = {key: text.partition("\n")[0] for key, text in extra.details.items()}
    html = html_page(build(results, ReportRequest(page=PageExtra(details))))
    assert ("1 → 2" in text_of(html) or "2 → 1" in text_of(html), "Whole documents" in html) == (True, False)


def test_blocks_alone_are_html_without_a_script_or_anything_that_needs_one() -> None:
    results, _ = run_of({"a": ({}, {f"f{number}": 1 for number in range(41)})})
    html = blocks_html(build(results).blocks)
    assert not re.findall(r"<script|<button|<form|<template| id=| hidden", html)
    assert "all fields" in html
    assert "and 11 more fields" in html


def test_without_jinja2(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    message = "an HTML report needs jinja2; install it with: pip install 'pytest-jsonmatch[html]'"
    with pytest.raises(ConfigurationError, match=f"^{re.escape(message)}$"):
        html_page(build(RunResult.of_cases()))
