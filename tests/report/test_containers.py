"""Objects and arrays with their own figures: one by one, and by schema path in the table."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_jsonmatch import compare_json
from pytest_jsonmatch.report.fieldtable import sections_of
from pytest_jsonmatch.report.look import Look
from pytest_jsonmatch.report.pairs import container_lines
from pytest_jsonmatch.results.comparison import Case, Comparison


def text_of(lines: Any) -> list[str]:
    return ["".join(text for text, _ in line) for line in lines]


def test_a_group_of_the_table_has_the_figures_of_its_object_or_array() -> None:
    expected = {
        "rows": [{"x": 1, "y": 2}, {"x": 3}],
        "meta": {"k": [1, 2], "j": "a"},
        "s": {"t": {"u": 1, "v": 2}},
    }
    actual = {
        "rows": [{"x": 1, "y": 5, "z": 0}, {"x": 3}, {"x": 9}],
        "meta": {"k": [1], "j": "a"},
        "s": {"t": {"u": 1}},
    }
    result = compare_json(actual, expected, metric="leaf_f1")
    kept = Comparison.of(result, id="a", nodeid="a", threshold={}, passed=True)
    (section,) = sections_of([Case.single(kept)])
    groups = {row.path.removesuffix("[]"): row.figures for row in section.rows if row.is_group}
    assert set(groups) == {"rows", "meta", "s.t"}
    figures = {each.path: (each.precision, each.recall, each.f1) for each in result.containers}
    assert {path: (each.precision, each.recall, each.f1) for path, each in groups.items()} == {
        path: pytest.approx(figures[path]) for path in groups
    }


def test_the_worst_come_first_and_the_root_is_left_out() -> None:
    result = compare_json(
        {"n": {"a": 1}, "m": [1, 2], "x": {"y": 1}}, {"n": {"a": 1}, "m": [1, 3]}, metric="leaf_f1"
    )
    assert text_of(container_lines(result.containers, Look(hint="-vv"), most=2)) == [
        "objects and arrays  kind    precision  recall    F1",
        "x (only in actual)  object       0.00    1.00  0.00",
        "m                   array        0.50    0.50  0.50",
        "  … 1 more object or array (-vv)",
    ]
    assert text_of(container_lines(compare_json({"a": 1}, {"a": 2}).containers, Look(), most=9)) == []
