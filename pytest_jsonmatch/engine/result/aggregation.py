"""Scores by schema path, errors of comparators, and the format of scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.score.field import (
    BATCH_ERROR,
    HALLUCINATION,
    LEAVES,
    MATCH,
    MISMATCH,
    OMISSION,
    SKIPPED,
)
from pytest_jsonmatch.engine.value.convert import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.score.walkstate import VisitedPlaces

POSITIONS: Final = {MATCH: 0, MISMATCH: 1, OMISSION: 2, HALLUCINATION: 3, SKIPPED: 4, BATCH_ERROR: 5}
"""The position of each status among the numbers of a `FieldAggregation`."""
COUNTS: Final = {
    "n": "total",
    "match": "matches",
    "mismatch": "mismatches",
    "missing": "omissions",
    "extra": "hallucinations",
}
"""The columns of tables that count results, in order, with the attribute for each."""
SHARES: Final = {"score": "mean_score", "precision": "precision", "recall": "recall", "F1": "f1"}
"""The columns of scores after these, with the attribute for each."""


@final
@dataclass(frozen=True, slots=True)
class FieldAggregation:
    """The scores of one schema path over any number of results; aggregations can be merged.

    >>> one = FieldAggregation(
    ...     matches=1, score_sum=1.0, weighted_score=1.0, expected_weight=1.0, actual_weight=1.0
    ... )
    >>> gone = FieldAggregation(omissions=1, expected_weight=1.0)
    >>> both = one.merge(gone)
    >>> both.total, both.mean_score, both.precision, both.recall
    (2, 0.5, 1.0, 0.5)
    """

    matches: int = 0
    mismatches: int = 0
    omissions: int = 0
    hallucinations: int = 0
    skipped: int = 0
    batch_errors: int = 0
    expected_leaves: int = 0
    """The unweighted number of expected's leaves, including all leaves of mistyped objects and arrays."""
    actual_leaves: int = 0
    """The unweighted number of actual's leaves; 0 if the metric does not count extra values."""
    score_sum: float = 0.0
    weighted_score: float = 0.0
    expected_weight: float = 0.0
    actual_weight: float = 0.0

    @property
    def total(self) -> int:
        """The number of matches, mismatches, omissions and hallucinations."""
        return self.matches + self.mismatches + self.omissions + self.hallucinations

    @property
    def mean_score(self) -> float | None:
        """The mean score, with 0 for omissions and hallucinations; None without results."""
        return self.score_sum / self.total if self.total else None

    @property
    def precision(self) -> float | None:
        """The weighted score divided by actual's weighted leaves; None for 0/0."""
        return _divide(self.weighted_score, self.actual_weight)

    @property
    def recall(self) -> float | None:
        """The weighted score divided by expected's weighted leaves; None for 0/0."""
        return _divide(self.weighted_score, self.expected_weight)

    @property
    def f1(self) -> float | None:
        """Twice the weighted score divided by both sides' weighted leaves; None for 0/0."""
        return _divide(2 * self.weighted_score, self.expected_weight + self.actual_weight)

    @property
    def omission_rate(self) -> float | None:
        """Omissions divided by expected's leaves; None for 0/0."""
        return _divide(self.omissions, self.expected_leaves)

    @property
    def hallucination_rate(self) -> float | None:
        """Hallucinations divided by actual's leaves; None for 0/0 or if the metric does not count them."""
        return _divide(self.hallucinations, self.actual_leaves)

    def merge(self, other: FieldAggregation) -> FieldAggregation:
        """Return the scores of both together; the order of merging does not matter."""
        return FieldAggregation(*map(sum, zip(self.to_list(), other.to_list())))  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        """Return counts and scores as plain JSON types."""
        return {name: getattr(self, name) for name in _DICT_NAMES}

    def to_list(self) -> list[float]:
        """Return the numbers in the order of the fields, for sending or storing."""
        return [getattr(self, name) for name in _NUMBERS]

    @classmethod
    def from_list(cls, numbers: Sequence[float]) -> FieldAggregation:
        """Return the aggregation for the numbers of `to_list`."""
        return cls(*numbers)  # type: ignore[arg-type]


_NUMBERS: Final = tuple(FieldAggregation.__dataclass_fields__)
COUNTED: Final = _NUMBERS.index("score_sum")
"""The number of integers among an aggregation's numbers, which come first."""
RATES: Final = ("omission_rate", "hallucination_rate")
"""The rates of absent values in aggregates."""
_DICT_NAMES: Final = (*_NUMBERS[: len(POSITIONS)], "mean_score", "precision", "recall", "f1", *RATES)
_EXPECTED_LEAVES, _ACTUAL_LEAVES, _SCORES, _WEIGHTED, _EXPECTED, _ACTUAL = map(
    _NUMBERS.index,
    ("expected_leaves", "actual_leaves", "score_sum", "weighted_score", "expected_weight", "actual_weight"),
)


def merge_aggregations(aggregations: Iterable[FieldAggregation]) -> FieldAggregation:
    """Return the scores of several fields together."""
    return reduce(FieldAggregation.merge, aggregations, FieldAggregation())


def _divide(part: float, total: float) -> float | None:
    """Return part / total, at most 1 in spite of rounding; None for 0/0."""
    return min(part / total, 1.0) if total else None


def count_plain_matches(visited: VisitedPlaces, findings: Iterable[FieldResult]) -> dict[PlanNode, int]:
    """Return the number of leaves at each schema path that match without a finding."""
    matches = visited.count_places()
    for finding in findings:
        if finding.expected is not MISSING:
            place = finding.node.place
            matches[place] = matches.get(place, 0) - 1
    return {place: max(number, 0) for place, number in matches.items()}


def aggregate(
    matches: Mapping[PlanNode, int], findings: Iterable[FieldResult]
) -> dict[PlanNode, FieldAggregation]:
    """Sum plain matches and findings by schema path."""
    sums: dict[PlanNode, list[float]] = {}
    for place, number in matches.items():
        weight = number * place.weight
        leaves = number, number * (place.plan.options.extra == "count")
        sums[place] = [number, 0, 0, 0, 0, 0, *leaves, float(number), weight, weight, weight]
    for finding in findings:
        node, status = finding.node, finding.status
        numbers = sums.get(node.place)
        if numbers is None:
            numbers = sums[node.place] = [0] * _SCORES + [0.0] * 4
        numbers[POSITIONS[status]] += 1
        if status in LEAVES:
            expected_leaves, actual_leaves = finding.leaves
            numbers[_EXPECTED_LEAVES] += expected_leaves
            if node.plan.options.extra == "count":
                numbers[_ACTUAL_LEAVES] += actual_leaves
            expected, actual = finding.own_weights
            numbers[_SCORES] += finding.score
            numbers[_WEIGHTED] += finding.score * node.weight
            numbers[_EXPECTED] += expected * node.weight
            numbers[_ACTUAL] += actual * node.weight
    return {node: FieldAggregation.from_list(numbers) for node, numbers in sums.items() if any(numbers)}


@final
@dataclass(frozen=True, slots=True)
class ErrorEntry:
    """An error of a comparator, or a score outside [0, 1].

    >>> str(ErrorEntry("total", "ours", "raised KeyError: 'x'"))
    "total: comparator 'ours' raised KeyError: 'x'"
    """

    path: str
    comparator: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: comparator {self.comparator!r} {self.reason}"


def iter_errors(findings: Iterable[FieldResult]) -> Iterator[ErrorEntry]:
    """Yield the errors of comparators in findings and in the differences below them."""
    for finding in findings:
        detail = finding.detail
        if detail is None:
            continue
        if detail.error:
            yield ErrorEntry(finding.short_path(), finding.comparator or "?", detail.error)
        yield from iter_errors(detail.differences)


def f_beta(precision: float, recall: float, beta: float) -> float:
    """Return (1 + β²)PR / (β²P + R).

    >>> f_beta(0.5, 1.0, 2)
    0.8333333333333334
    """
    weighted = beta * beta * precision + recall
    return (1 + beta * beta) * precision * recall / weighted if weighted else 0.0


def format_score(score: float | None) -> str:
    """Return a score with up to four digits, never rounded up to 1 or down to 0; "–" if there is none.

    >>> format_score(0.123456), format_score(0.99999999), format_score(1.0), format_score(None)
    ('0.1235', '0.99999999', '1', '–')
    """
    if score is None:
        return "–"
    text = f"{score:.4g}"
    return repr(score) if (text == "1" and score < 1.0) or (float(text) == 0.0 and score > 0.0) else text
