"""Objects and arrays with their own figures: one by one, and by schema path in the table."""

from __future__ import annotations

import pytest

from pytest_jsonmatch import compare_json
from pytest_jsonmatch.report.fieldtable import sections_of
from pytest_jsonmatch.results.comparison import Case, Comparison


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
