"""The table of what answers took, by model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_jsonmatch.answer import Spent
from pytest_jsonmatch.api import compare_json
from pytest_jsonmatch.report.look import Look
from pytest_jsonmatch.report.spent import spent_lines, spent_table
from pytest_jsonmatch.report.styled import line_text, line_width
from pytest_jsonmatch.results.comparison import Comparison

HOSTILE = "a\x1b[31m|\u202eb\ud800 日本語 `x`" * 5


def compared(spent: Spent | None, actual: int = 1) -> Comparison:
    result = compare_json({"n": actual}, {"n": 1})
    return replace(Comparison.of(result, id="a", nodeid="a", threshold={}, passed=True), spent=spent)


def test_columns_of_which_nothing_is_known_are_left_out() -> None:
    found = spent_table([compared(Spent("b", cost=0.5), 2), compared(Spent("a")), compared(None)])
    assert found is not None
    assert found.header == ("model", "answers", "score", "cost", "total cost")
    assert found.rows == [
        ("a", "1", "1.00", "–", "–"),
        ("b", "1", "0.00", "0.5", "0.5"),
        ("all models", "2", "0.50", "0.5 (of 1)", "0.5 (of 1)"),
    ]


def test_there_is_none_if_nothing_is_known() -> None:
    assert spent_table([compared(None), compared(Spent())]) is None


@pytest.mark.parametrize("width", [20, 30, 79, 200])
@pytest.mark.parametrize("unicode", [True, False])
def test_no_line_is_wider_than_the_terminal(width: int, unicode: bool) -> None:
    spent = Spent(HOSTILE, 123456.7, 10**6, 10**6, 0.000123)
    lines = spent_lines([compared(spent), compared(Spent(seconds=1))], Look(width=width, unicode=unicode))
    assert max(map(line_width, lines)) <= width
    text = "".join(map(line_text, lines))
    assert text.isprintable()
    assert unicode or text.isascii()
