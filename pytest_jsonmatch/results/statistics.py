"""The table of statistics: each divides two numbers of a run, of the cases with a tag, or of one case.

Gates, intervals, tests against a baseline, tables and files read it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias, final

from pytest_jsonmatch.engine.result.aggregation import RATIOS
from pytest_jsonmatch.engine.result.rows import RowCounts, sum_rows
from pytest_jsonmatch.engine.score.field import BATCH_ERROR, HALLUCINATION, MATCH, MISMATCH, OMISSION
from pytest_jsonmatch.results.limits import SCORES

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping

    from pytest_jsonmatch.results.totals import Totals

Terms: TypeAlias = "tuple[float, float]"
"""The part and the total of a statistic; a total of 0 means that there is nothing to divide."""


@final
@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its confidence interval."""

    estimate: float
    low: float
    high: float
    confidence: float
    cases: int
    clusters: int
    """The number of independent units: of clusters, or of cases without clusters."""


def _mean(name: str, totals: Totals) -> Terms:
    return totals.sums[name].value, totals.scored


OF_CASES: Final[Mapping[str, Callable[[Totals], Terms]]] = {
    **{name: partial(_mean, name) for name in SCORES},
    "pass_rate": lambda totals: (totals.counts["passed"], totals.counts["records"]),
    "answered": lambda totals: (totals.sums["answered"].value, totals.counts["records"]),
    "flip_rate": lambda totals: (totals.sums["flips"].value, totals.counts["repeated"]),
    "valid_rate": lambda totals: (totals.counts["valid"], totals.counts["validated"]),
    "parse_rate": lambda totals: (totals.counts["parsed"], totals.counts["texts"]),
    "errors": lambda totals: (totals.counts["errors"], 1),
    "empty": lambda totals: (totals.counts["empty"], 1),
}
"""Statistics over cases and their answers."""
STATUSES: Final[Mapping[str, str]] = {
    "matches": MATCH,
    "mismatches": MISMATCH,
    "missing": OMISSION,
    "extra": HALLUCINATION,
    "batch_errors": BATCH_ERROR,
}
"""Statistics that count the results with a status."""
OF_ROWS: Final[Mapping[str, Callable[[RowCounts], Terms]]] = {
    "precision": lambda rows: (rows.found, rows.actual),
    "recall": lambda rows: (rows.found, rows.expected),
    "f1": lambda rows: (2 * rows.found, rows.expected + rows.actual if rows.actual >= rows.found else 0),
}
"""Statistics over rows of arrays."""


def leaf_terms(name: str, paths: Container[str] | None, totals: Totals) -> Terms:
    """Return a statistic over all leaves, or over those of some fields."""
    over = totals.over(paths)
    return (over.count(STATUSES[name]), 1) if name in STATUSES else RATIOS[name](over)


def kind_terms(name: str, kind: str, totals: Totals) -> Terms:
    """Return the number of differences of a kind ("kind_count"), or their mean cost over cases."""
    return (totals.kinds.count(kind), 1) if name == "kind_count" else (totals.kinds.cost(kind), totals.scored)


def row_terms(name: str, paths: Container[str], totals: Totals) -> Terms:
    """Return a statistic over the rows of some arrays."""
    return OF_ROWS[name](sum_rows(rows for path, rows in totals.rows.items() if path in paths))
