"""Statistics of a run as ratios of sums: what each case adds to both sums, for intervals and tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.result.aggregation import FieldAggregation, merge_aggregations
from pytest_jsonmatch.engine.result.rows import sum_rows
from pytest_jsonmatch.engine.value.paths import parse_path, parse_pattern
from pytest_jsonmatch.gate.repeats import flip_rate
from pytest_jsonmatch.gate.samples import Row
from pytest_jsonmatch.results.comparison import Case, iter_comparisons, merge_fields, merge_rows
from pytest_jsonmatch.results.run import count_answers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_jsonmatch.engine.result.rows import RowCounts

_RATIOS: Final[Mapping[str, Callable[[FieldAggregation], tuple[float, float]]]] = {
    "score": lambda sums: (sums.score_sum, sums.total),
    "precision": lambda sums: (sums.weighted_score, sums.actual_weight),
    "recall": lambda sums: (sums.weighted_score, sums.expected_weight),
    "f1": lambda sums: (2 * sums.weighted_score, sums.expected_weight + sums.actual_weight),
    "missing_rate": lambda sums: (sums.omissions, sums.expected_leaves),
    "extra_rate": lambda sums: (sums.hallucinations, sums.actual_leaves),
}
_RATIOS_OF_ROWS: Final[Mapping[str, Callable[[RowCounts], tuple[int, int]]]] = {
    "precision": lambda rows: (rows.found, rows.actual),
    "recall": lambda rows: (rows.found, rows.expected),
    "f1": lambda rows: (2 * rows.found, rows.expected + rows.actual),
}


def case_rows(cases: Sequence[Case], name: str) -> list[Row]:
    """Return the rows of a statistic that is a mean over cases; a case without a value has no row.

    Args:
        cases: the cases of a run.
        name: one of `SCORES`, "pass_rate", "answered", "flip_rate", "valid_rate" or "parse_rate".
    """
    if name == "pass_rate":
        return [Row(float(case.passed), 1.0, case.unit) for case in cases]
    if name == "answered":
        return [Row(case.answered, 1.0, case.unit) for case in cases]
    if name == "flip_rate":
        rates = ((flip_rate(case), case.unit) for case in cases)
        return [Row(rate, 1.0, unit) for rate, unit in rates if rate is not None]
    if name in {"valid_rate", "parse_rate"}:
        return [row for case in cases for row in _answer_rows(case, name)]
    return [Row(case.mean(name), 1.0, case.unit) for case in cases if case.has_figures]


def _answer_rows(case: Case, name: str) -> Iterator[Row]:
    """Yield the row of a case for a share of answers, unless it has no such answer."""
    answers = count_answers(iter_comparisons([case]))
    part, total = (
        (answers.valid, answers.validated) if name == "valid_rate" else (answers.parsed, answers.texts)
    )
    if total:
        yield Row(part, total, case.unit)


def array_rows(cases: Sequence[Case], name: str, pattern: str) -> list[Row]:
    """Return the ratio rows of a statistic about rows of arrays, averaged over the runs of each case.

    Args:
        cases: the cases of a run.
        name: one of `RATES_OF_ROWS`.
        pattern: a path pattern that selects arrays.
    """
    selected = parse_pattern(pattern)
    rows: list[Row] = []
    for case in cases:
        arrays = merge_rows([case]).items()
        counts = sum_rows(row_counts for path, row_counts in arrays if selected.matches(parse_path(path)))
        part, total = _RATIOS_OF_ROWS[name](counts)
        if total > 0:
            rows.append(Row(part / len(case.runs), total / len(case.runs), case.unit))
    return rows


def leaf_rows(cases: Sequence[Case], *names: str, pattern: str | None = None) -> dict[str, list[Row]]:
    """Return, by name, the ratio rows of statistics over leaves: all of them, or those of matching fields.

    Args:
        cases: the cases of a run.
        *names: any of `SCORES`, "missing_rate" and "extra_rate".
        pattern: a path pattern; None for all fields.
    """
    selected = None if pattern is None else parse_pattern(pattern)
    rows: dict[str, list[Row]] = {name: [] for name in names}
    for case in cases:
        fields = merge_fields([case]).items()
        sums = merge_aggregations(
            field_sums
            for path, field_sums in fields
            if selected is None or selected.matches(parse_path(path))
        )
        for name in names:
            part, total = _RATIOS[name](sums)
            if total > 0:
                rows[name].append(Row(part, total, case.unit))
    return rows
