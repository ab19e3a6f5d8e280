"""Scores by schema path, errors of comparators, and the format of scores."""

from __future__ import annotations

from operator import add
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
from pytest_jsonmatch.engine.value.sums import ExactSum
from pytest_jsonmatch.support.frozen import Frozen, list_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

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
class FieldAggregation(Frozen):
    """The scores of one schema path over any number of results; aggregations can be merged.

    >>> one = FieldAggregation(
    ...     matches=1, score_sum=1.0, weighted_score=1.0, expected_weight=1.0, actual_weight=1.0
    ... )
    >>> gone = FieldAggregation(omissions=1, expected_weight=1.0)
    >>> both = one.merge(gone)
    >>> both.total, both.mean_score, both.precision, both.recall
    (2, 0.5, 1.0, 0.5)
    """

    __slots__ = (
        "actual_leaves",
        "actual_weight",
        "batch_errors",
        "expected_leaves",
        "expected_weight",
        "hallucinations",
        "matches",
        "mismatches",
        "omissions",
        "score_sum",
        "skipped",
        "weighted_score",
    )

    def __init__(
        self,
        matches: int = 0,
        mismatches: int = 0,
        omissions: int = 0,
        hallucinations: int = 0,
        skipped: int = 0,
        batch_errors: int = 0,
        expected_leaves: int = 0,
        actual_leaves: int = 0,
        score_sum: float = 0.0,
        weighted_score: float = 0.0,
        expected_weight: float = 0.0,
        actual_weight: float = 0.0,
    ) -> None:
        self.matches: Final = matches
        self.mismatches: Final = mismatches
        self.omissions: Final = omissions
        self.hallucinations: Final = hallucinations
        self.skipped: Final = skipped
        self.batch_errors: Final = batch_errors
        self.expected_leaves: Final = expected_leaves
        """The unweighted number of expected's leaves, including all leaves of mistyped objects and arrays."""
        self.actual_leaves: Final = actual_leaves
        """The unweighted number of actual's leaves; 0 if the metric does not count extra values."""
        self.score_sum: Final = score_sum
        self.weighted_score: Final = weighted_score
        self.expected_weight: Final = expected_weight
        self.actual_weight: Final = actual_weight

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
        return merge_fields(map(FieldSums.of, (self, other))).read()

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


_NUMBERS: Final = list_fields(FieldAggregation)
COUNTED: Final = _NUMBERS.index("score_sum")
"""The number of integers among an aggregation's numbers, which come first."""
RATES: Final = ("omission_rate", "hallucination_rate")
"""The rates of absent values in aggregates."""
_DICT_NAMES: Final = (*_NUMBERS[: len(POSITIONS)], "mean_score", "precision", "recall", "f1", *RATES)
_EXPECTED_LEAVES, _ACTUAL_LEAVES = map(_NUMBERS.index, ("expected_leaves", "actual_leaves"))


@final
class FieldSums:
    """The exact sums of the results at one or more schema paths; they merge in any order.

    Counts are over all runs of a case; scores and weights are means over these runs.

    >>> one, other = (FieldSums.of(FieldAggregation(matches=1, score_sum=1.0)) for _ in range(2))
    >>> one.merge(other)
    >>> one.count("match"), one.rate("score")
    (2, 1.0)
    """

    __slots__ = (
        "actual",
        "counts",
        "expected",
        "first",
        "ignores_extra",
        "more_results",
        "score",
        "weighted",
    )

    def __init__(self, first: tuple[str, int] = ("", 0)) -> None:
        self.counts: list[int] = [0] * COUNTED
        self.score: ExactSum = ExactSum()
        self.weighted: ExactSum = ExactSum()
        self.expected: ExactSum = ExactSum()
        self.actual: ExactSum = ExactSum()
        self.more_results: ExactSum = ExactSum()
        """The number of results with runs of a case counted as one, minus the number over all runs."""
        self.first: tuple[str, int] = first
        """The first occurrence: the lowest id of a case with the path, and the position of the path in it."""
        self.ignores_extra: bool = False
        """Whether extra values are not counted in some comparison."""

    @classmethod
    def of(cls, aggregation: FieldAggregation, first: tuple[str, int] = ("", 0)) -> FieldSums:
        """Return the sums of an aggregation, such as that of a result file."""
        made = cls(first)
        *counts, score, weighted, expected, actual = aggregation.to_list()
        made.counts = [*map(int, counts)]
        made.score.extend((score,))
        made.weighted.extend((weighted,))
        made.expected.extend((expected,))
        made.actual.extend((actual,))
        return made

    def merge(self, other: FieldSums) -> None:
        """Add other sums; the first occurrence stays."""
        self.counts = [*map(add, self.counts, other.counts)]
        self.score.merge(other.score)
        self.weighted.merge(other.weighted)
        self.expected.merge(other.expected)
        self.actual.merge(other.actual)
        self.more_results.merge(other.more_results)
        self.ignores_extra = self.ignores_extra or other.ignores_extra

    def average(self, runs: int, lacking: int) -> None:
        """Divide scores and weights by the number of runs.

        Args:
            runs: the number of runs of the case.
            lacking: how many of them compare other fields only; there the score is 1, without a leaf.
        """
        total = self.total
        self.score.extend((float(lacking),))
        for side in (self.score, self.weighted, self.expected, self.actual):
            side.divide(runs)
        self.more_results = ExactSum(((total + lacking) / runs - total,))

    def count(self, status: str) -> int:
        """Return the number of results with a status, over all runs."""
        return self.counts[POSITIONS[status]]

    @property
    def total(self) -> int:
        """The number of matches, mismatches, omissions and hallucinations, over all runs."""
        return sum(self.counts[:4])

    @property
    def results(self) -> float:
        """The number of these results, with the runs of a case counted as one."""
        return self.total + self.more_results.value

    def rate(self, name: str) -> float | None:
        """Return one of `RATIOS`; None for 0/0."""
        return _divide(*RATIOS[name](self))

    def read(self) -> FieldAggregation:
        """Return the numbers, each rounded once; scores are scaled to the results of all runs."""
        total, results, score = self.total, self.results, self.score.value
        score_sum = score if total == results else score / results * total if results else 0.0
        weights = self.weighted.value, self.expected.value, self.actual.value
        return FieldAggregation.from_list([*self.counts, score_sum, *weights])


def merge_fields(fields: Iterable[FieldSums]) -> FieldSums:
    """Return the sums of several fields together."""
    total = FieldSums()
    for sums in fields:
        total.merge(sums)
    return total


RATIOS: Final[Mapping[str, Callable[[FieldSums], tuple[float, float]]]] = {
    "score": lambda sums: (sums.score.value, sums.results),
    "precision": lambda sums: (sums.weighted.value, sums.actual.value),
    "recall": lambda sums: (sums.weighted.value, sums.expected.value),
    "f1": lambda sums: (2 * sums.weighted.value, sums.expected.value + sums.actual.value),
    "missing_rate": lambda sums: (sums.count(OMISSION), sums.counts[_EXPECTED_LEAVES]),
    "extra_rate": lambda sums: (sums.count(HALLUCINATION), sums.counts[_ACTUAL_LEAVES]),
}
"""The part and the total of each statistic over leaves."""


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


def aggregate(matches: Mapping[PlanNode, int], findings: Iterable[FieldResult]) -> dict[str, FieldSums]:
    """Sum plain matches and findings, of one comparison or several, by schema path."""
    counts_by_node = {node: [number, *_NO_COUNTS[1:]] for node, number in matches.items()}
    graded: list[FieldResult] = []
    for finding in findings:
        node, status = finding.node, finding.status
        counts = counts_by_node.get(node)
        if counts is None:
            counts = counts_by_node[node] = [*_NO_COUNTS]
        counts[POSITIONS[status]] += 1
        if finding.detail is not None or (finding.score and status == MISMATCH):
            graded.append(finding)
    by_node = {node: FieldSums() for node in counts_by_node}
    for node, counts in counts_by_node.items():
        by_node[node].counts = counts
    for finding in graded:
        node, score, sums = finding.node, finding.score, by_node[finding.node]
        if score and finding.status == MISMATCH:
            sums.score.extend((score,))
            sums.weighted.extend((score * node.weight,))
        if finding.detail is not None and finding.status in LEAVES:
            _add_further_leaves(sums, finding)
    by_path: dict[str, FieldSums] = {}
    for node, sums in by_node.items():
        total = by_path.setdefault(node.path, FieldSums(("", len(by_path))))
        if any(sums.counts):
            _add_implied_leaves(sums, node)
            total.merge(sums)
    return {path: sums for path, sums in by_path.items() if any(sums.counts)}


_NO_COUNTS: Final = (0,) * COUNTED


def _add_further_leaves(sums: FieldSums, finding: FieldResult) -> None:
    """Add the leaves of a finding that its status does not imply, such as those of a mistyped object."""
    weight = finding.node.weight
    for at, (implied, leaves, own_weight) in enumerate(
        zip(LEAVES[finding.status], finding.leaves, finding.own_weights)
    ):
        sums.counts[_EXPECTED_LEAVES + at] += leaves - implied
        if own_weight != implied:
            side = sums.actual if at else sums.expected
            side.extend((own_weight * weight, -implied * weight))


def _add_implied_leaves(sums: FieldSums, node: PlanNode) -> None:
    """Add a leaf for each match and mismatch on both sides, and for the others on the side that has them."""
    counts, weight = sums.counts, node.weight
    matches, mismatches, omissions, hallucinations, *_ = counts
    expected, actual = matches + mismatches + omissions, matches + mismatches + hallucinations
    counts[_EXPECTED_LEAVES] += expected
    counts[_ACTUAL_LEAVES] += actual
    if node.plan.options.extra == "ignore":
        counts[_ACTUAL_LEAVES] = 0
        sums.ignores_extra = True
    if matches:
        sums.score.extend((float(matches),))
        sums.weighted.add_product(matches, weight)
    if expected:
        sums.expected.add_product(expected, weight)
    if actual:
        sums.actual.add_product(actual, weight)


@final
class ErrorEntry(Frozen):
    """An error of a comparator, or a score outside [0, 1].

    >>> str(ErrorEntry("total", "ours", "raised KeyError: 'x'"))
    "total: comparator 'ours' raised KeyError: 'x'"
    """

    __slots__ = ("comparator", "path", "reason")

    def __init__(
        self,
        path: str,
        comparator: str,
        reason: str,
    ) -> None:
        self.path: Final = path
        self.comparator: Final = comparator
        self.reason: Final = reason

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
