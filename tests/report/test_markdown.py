"""A run as Markdown, with values that would rather be something else than text."""

from __future__ import annotations

import re

import pytest

from pytest_jsonmatch import RunResult
from pytest_jsonmatch.gate.check import Check
from pytest_jsonmatch.gate.headlines import contest
from pytest_jsonmatch.report.blocks import Report
from pytest_jsonmatch.report.build import ReportRequest, build
from pytest_jsonmatch.report.ci import MAX_ERRORS, workflow_commands
from pytest_jsonmatch.report.markdown import cell, code, markdown
from pytest_jsonmatch.results.comparison import Case
from tests.conftest import case_of

HOSTILE = [
    "a|b", "a\\|b", "a\\\\|b", "||", "`", "``x`", "`|`", " padded ", "   ", "", "<script>alert(1)</script>",
    "</code></details>", "@octocat and #1", "https://example.com www.example.com me@example.com",
    "**bold** _it_ [link](http://x) ![i](x) ~~no~~ $x$ :tada:", "two\nlines\r\nand | more",
    "\u202eevil\u2066", "\x1b[31mred\x00", "\ud800", "&lt;&#64;", "::error::x", "ends with \\", "| --- |",
    "日本語|é",
]  # fmt: skip


def case(name: str, expected: object, actual: object, message: str = "") -> tuple[Case, str]:
    return case_of(name, actual, expected=expected), message


def report(*cases: tuple[Case, str], gates: tuple[Check, ...] = (), **more: object) -> Report:
    results = RunResult.of_cases(tuple(each for each, _ in cases))
    messages = {each.id: message for each, message in cases}
    return build(
        results,
        ReportRequest(
            gates=gates, locate_failure=lambda each, _: ("a.golden.yaml", 3, messages[each.id]), **more
        ),
    )


def rendered(text: str) -> str:
    markdown_it = pytest.importorskip("markdown_it")
    return markdown_it.MarkdownIt("gfm-like", {"linkify": False}).render(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_code_span_in_a_table_stays_one_cell_and_text(text):
    span = cell(text)
    assert "\n" not in span
    html = rendered(f"| a | b | c |\n| --- | --- | --- |\n| 1 | {span} | 3 |\n")
    cells = re.findall(r"<td>(.*?)</td>", html, re.DOTALL)
    assert len(cells) == 3
    assert (cells[0], cells[2]) == ("1", "3")
    assert re.fullmatch(r"<code>[^<]*</code>", cells[1])


@pytest.mark.parametrize("text", HOSTILE)
def test_a_code_span_in_a_list_is_one_and_text(text):
    html = rendered(f"- {code(text)}\n- next\n")
    assert re.fullmatch(r"<ul>\n<li><code>[^<]*</code></li>\n<li>next</li>\n</ul>\n", html)


def test_very_long_text_is_clipped():
    assert len(code("x" * 10**6)) < 200


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_values_leave_the_report_as_it_is(text):
    name = f"t.py::t[{text}]"
    message = f"AssertionError: {text}\n```\n{text}\n</details>\n@someone"
    calm = report(case("t.py::t[x]", {"x": 1, "y": 1}, {"x": 2}, "AssertionError: x"))
    wild = report(
        case(name, {text: 1, f"{text}!": 1}, {text: 2}, message),
        gates=(Check(text, "f1", 0.5, 0.9, passed=False, note=text),),
    )
    html, plain = (rendered(markdown(each, 10**6)) for each in (wild, calm))
    for tag in ("details", "summary", "pre"):
        assert html.count(f"<{tag}") == html.count(f"</{tag}>") == plain.count(f"<{tag}")
    for tag in ("<script", "<a ", "<img", "<strong>bold", "<em>"):
        assert tag not in html
    outside = re.sub(r"<(code|pre)[^>]*>.*?</\1>", "", html, flags=re.DOTALL)
    assert "@" not in outside
    assert {row.count("<td") for row in re.findall(r"<tr>.*?</tr>", html, re.DOTALL)} <= {0, 2, 4, 6}


def test_the_verdict_comes_first():
    gates = (
        Check("f1 >= 0.5", "f1", 0.95, 0.5, passed=True),
        Check("score >= 0.95", "score", 0.9499, 0.95, passed=False),
        Check("errors == 0", "errors", None, 0, passed=None, note="nothing was compared"),
    )
    made = report(case("a", {"x": 1}, {"x": 1}), gates=gates, others_failed=2, left_out=(("skipped", 1),))
    shown = markdown(made, 10**6).splitlines()
    assert shown[0] == "## ❌ jsonmatch: failed"
    reasons = "no case failed; 2 tests that compared nothing failed too; not counted: 1 skipped."
    assert shown[2] == f"**1 of 2 gates failed**; {reasons}"
    assert shown[8:13] == [
        "| gate | verdict | value | limit | margin | note |",
        "| --- | --- | ---: | ---: | ---: | --- |",
        "| `f1 >= 0.5` | ✅ passed | 0.95 | 0.50 | +0.45 |  |",
        "| `score >= 0.95` | ❌ **failed** | 0.9499 | 0.95 | -0.0001 |  |",
        "| `errors == 0` | ➖ not decided | – | 0 | – | nothing was compared |",
    ]


def test_a_long_report_keeps_to_its_limit_and_says_what_was_cut():
    made = report(
        *(
            case(f"t.py::case-{n:04}", {f"field{n:04}": "ä" * 50}, {}, f"Error: {n}\n" * 40)
            for n in range(400)
        )
    )
    assert len(markdown(made, 1 << 20)) > 65_000
    for limit in (1 << 20, 200_000, 65_000, 20_000):
        text = markdown(made, limit)
        assert len(text.encode()) <= limit
        assert "`field0000`" in text
    shown = int(re.search(r"Cut to keep this short: ([\d,]+) of 400 cases", text)[1].replace(",", ""))
    assert text.count("`t.py::case-") == 400 - shown
    assert re.search(r"\d+ of 400 fields not shown", text)


def test_a_baseline():
    same, new, gone = {"x": 1, "y": 1}, case("n|w", {"x": 1}, {"x": 1}), case("gone", {"x": 1}, {"x": 1})
    before = RunResult.of_cases(
        (case("a", same, same)[0], gone[0]), created="2026-01-02T03:04:05", commit="0123456789abc"
    )
    cases = case("a", same, {"x": 7000, "y": 1}), new
    made = contest(("main", before), ("this run", RunResult.of_cases(tuple(each for each, _ in cases))))
    text = markdown(report(*cases, baselines={"main": made}), 10**6)
    assert "### `this run` against `main` (`2026-01-02, commit 0123456789`), mean of 1 case in both" in text
    assert "| `x` | 1.00 | 0.00 | -1.000 | -1.000 to +0.997 | not enough cases |\n" in text
    assert "New cases:\n\n- `n|w`\n" in text
    assert "Cases vanished:\n\n- `gone`\n" in text


# -- annotations -------------------------------------------------------------------------------------------


def test_ten_annotations_the_lowest_scoring_first():
    cases = [
        case(f"t.py::case-{number:02}", {"x": 1}, {}, f"AssertionError: {number}") for number in range(15)
    ]
    lines = list(workflow_commands(report(*cases), ()))
    assert len(lines) == MAX_ERRORS + 1
    assert lines[0] == "::error file=a.golden.yaml,line=3,title=case-00::0"
    assert lines[-1] == (
        "::notice title=jsonmatch::5 more cases failed, none with a lower score than those above"
    )
    gates = (Check("score >= 1", "score", 0.5, 1, passed=False),)
    lines = list(workflow_commands(report(*cases), gates))
    assert len(lines) == MAX_ERRORS + 1
    assert lines[0] == "::error title=1 gate failed::score >= 1 (0.50)"


@pytest.mark.parametrize("text", HOSTILE)
def test_annotations_are_one_line_each_whatever_is_in_them(text):
    made = report(case(f"t.py::{text}", {"x": 1}, {}, f"AssertionError: {text}"))
    (line,) = workflow_commands(made, ())
    assert line.isprintable()
    properties, _, _ = line.removeprefix("::error ").partition("::")
    assert len(properties.split(",")) == 3
