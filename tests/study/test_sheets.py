"""Sheets: the same blocks as text and as a page."""

from __future__ import annotations

import re

import pytest

from pytest_jsonmatch.gate.check import Check
from pytest_jsonmatch.report.blocks import (
    Chart,
    Column,
    Report,
    Row,
    Series,
    Statistic,
    Statistics,
    Table,
    TableCell,
    Text,
)
from pytest_jsonmatch.report.checks import gate_table
from pytest_jsonmatch.report.html import html_page
from pytest_jsonmatch.report.styled import line_text
from pytest_jsonmatch.report.terminal import report_lines
from pytest_jsonmatch.report.terminal_style import TerminalStyle
from pytest_jsonmatch.study import audit_gold, measure_shift


def text(*blocks, width=80, **look):
    sheet = Report("jsonmatch x", "about", blocks)
    return [line_text(line) for line in report_lines(sheet, TerminalStyle(width=width, **look))]


def page(*blocks):
    return html_page(Report("jsonmatch x", "about", blocks))


CHECKS = [Check("auroc", "auroc", 0.9, 0.8, passed=True), Check("ece", "ece", None, 0.1, False, "no values")]


def test_all_blocks_as_text():
    assert text(
        Statistics([Statistic("auroc", "0.83", "0.80 to 0.86"), Statistic("ece", "0.1")]),
        Text("A sentence."),
        gate_table(CHECKS, "9 values"),
    ) == [
        "about",
        "",
        "  auroc  0.83  0.80 to 0.86",
        "  ece    0.1",
        "",
        "A sentence.",
        "",
        "gates, on 9 values",
        "gate   verdict  value  limit  margin  note",
        "auroc  passed    0.90   0.80   +0.10",
        "ece    failed       –    0.1       –  no values",
    ]


def test_names_and_notes_of_gates_are_never_cut():
    checks = [
        Check('fields["items[].price"].recall >= 0.95', "", 0.9, 0.95, False, "2 of 3"),
        Check("f1 >= 0.8", "", 0.9, 0.8, True, "0.9, 95 % interval 0.85 to 0.95, over all values of prompt"),
        Check('tags["source=phone"].cases["acme-*"].fields["total"].recall >= 0.9', "", 0.5, 0.9, False),
    ]
    assert text(gate_table(checks, "9 cases"))[2:] == [
        "gates, on 9 cases",
        "gate                                    verdict  value  limit  margin  note",
        'fields["items[].price"].recall >= 0.95  failed    0.90   0.95   -0.05  2 of 3',
        "f1 >= 0.8                               passed    0.90   0.80   +0.10",
        "  0.9, 95 % interval 0.85 to 0.95, over all values of prompt",
        'tags["source=phone"].cases["acme-*"].fields["total"].recall >= 0.9',
        "                                        failed    0.50   0.90   -0.40",
    ]


@pytest.mark.parametrize("width", [40, 60, 80, 100])
@pytest.mark.parametrize("spare", [(None, None), (2, 1)])
def test_no_table_is_wider_than_the_terminal(width, spare):
    columns = [
        Column("model", "name"),
        Column("answers"),
        Column("mean score", spare=spare[0]),
        Column("total tokens", spare=spare[1]),
        Column("claude-haiku-4-5-20251001"),
        Column("note", "text"),
    ]
    rows = [[name, "3", "0.33", "10,800", "0.1", "because " * 5] for name in ("gpt-4o-2024-08-06" * 2, "b")]
    lines = text(Table(columns, list(map(Row, rows))), width=width)
    assert max(map(len, lines)) <= width
    left_out = next((line for line in lines if "more column" in line), "")
    message = {40: "  … 2 more columns: mean score, total", 60: "  … 1 more column: mean score (1"}
    assert left_out.startswith(message.get(width, "") if spare[0] else "")
    assert bool(left_out) == (bool(spare[0]) and width < 80)


def test_blocks_without_content_are_left_out():
    chart = Chart("", "x", "y", [Series("", [])])
    empty = (Table([Column("field", "name")], []), chart, gate_table([], "0 values"), Statistics([]))
    assert text(*empty) == ["about"]
    assert "<section>" not in page(*empty)


def test_a_table_leaves_out_what_it_can_spare_and_then_cuts_texts():
    row = Row(["a" * 12, "1", "because of " + "x" * 30, "0.123"])
    columns = Column("field", "name"), Column("n"), Column("why", "text"), Column("spare", spare=1)
    table = Table(columns, [row])
    assert text(table, width=80)[2:] == [
        "field         n  why                                        spare",
        "aaaaaaaaaaaa  1  because of xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx  0.123",
    ]
    assert text(table, width=60)[2:] == [
        "field         n  why                                   spare",
        "aaaaaaaaaaaa  1  because of xxxxxxxxxxxxxxxxxxxxxxxx…  0.123",
    ]
    assert text(table, width=36)[3] == "aaaaaaaaaaaa  1  because of xxxxxxx…"


def test_a_terminal_shows_some_rows_and_a_page_all():
    table = Table([Column("field", "name"), Column("n")], [Row([f"f{at}", str(at)]) for at in range(30)])
    assert text(table)[-1] == "  … 10 more fields (-v)"
    assert len(text(table, mode="all")) == 33
    assert page(table).count('<th scope="row"') == 30


def test_a_chart_in_a_terminal_is_a_table_of_twelve_points():
    lines = text(Chart("Rise", "x", "share", [Series("", [(at / 100, at / 100) for at in range(101)])]))
    assert lines[2:5] == ["Rise", "x     share", "0.00   0.00"]
    assert lines[-1] == "  … 89 more points (-v)"


def test_gaps_and_guides_on_a_page():
    goal = Series("goal", [(0, 1), (3, 1)], is_guide=True)
    lines = [Series("a", [(0, 0.5), (1, None), (2, 0.7), (3, 0.8)]), goal]
    found = page(Chart("A & B", "run", "f1", lines))
    # One line on each side of the gap, and the guide.
    assert found.count("<polyline") == 3
    assert "A &amp; B" in found
    assert [each in found for each in (">0<", ">3<")] == [True] * 2


@pytest.mark.parametrize("hostile", ["</script><b>", "\x1b[31m", "a\u202eb"])
def test_names_of_the_data_are_harmless(hostile):
    columns = Column("field", "name"), Column("n", "text")
    blocks = (
        Text(hostile),
        Statistics([Statistic("f", hostile, hostile)]),
        Table(columns, [Row([hostile, TableCell(hostile, "bad")])], hostile),
        Chart(hostile, "x", "y", [Series(hostile, [(0, 1)])]),
        gate_table([Check(hostile, "f1", 1.0, 0.5, True, hostile)], hostile),
    )
    shown = page(*blocks) + "\n".join(text(*blocks))
    assert ("<b>" in page(*blocks), "\x1b" in shown, "\u202e" in shown) == (False, False, False)


def test_a_page_needs_nothing_else():
    found = page(Chart("", "x", "y", [Series("", [(1, 1.0), (2, None), (3, 2.0)])]))
    assert found.count("<script") == 1
    assert not re.search(r"(?:src|href)=", found)
    assert "default-src &#39;none&#39;" in found
    assert "prefers-color-scheme: dark" in found
    assert found.count("<polyline") == 2


def test_the_repr_of_a_study_is_one_line():
    gold = [{"id": number, "a": number} for number in range(200)]
    wrong = [{"id": number, "a": -number} for number in range(200)]
    audit = audit_gold(dict.fromkeys("abc", wrong), gold, id="id")
    shift = measure_shift(gold, wrong)
    assert len(audit.found) > 100
    assert [repr(audit), repr(shift)[:21]] == [
        "<GoldAudit: suspects 199, suspect_records 0.995>",
        "<ShiftStudy: shifted ",
    ]
