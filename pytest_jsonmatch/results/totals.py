"""The totals from which the scores of a run are computed; they merge exactly, in any order."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.result.aggregation import POSITIONS, FieldAggregation
from pytest_jsonmatch.engine.result.rows import RowCounts, add_rows
from pytest_jsonmatch.engine.score.field import HALLUCINATION, MISMATCH, OMISSION, UNCOUNTED
from pytest_jsonmatch.engine.value.sums import Scores, Sums

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.score.field import FieldResult

_TOTALS: Final = Sums._fields[:3]
_MAX_NUMBERS: Final = 512
"""An exact sum of more numbers than this is shortened."""


@final
class ExactSum:
    """A sum of floats that is rounded only when read, so that the order of the numbers does not matter.

    >>> one, other = ExactSum(), ExactSum()
    >>> one.extend([0.1, 0.2]), other.extend([-0.1]), one.merge(other)
    (None, None, None)
    >>> one.value
    0.2
    """

    __slots__ = ("_numbers",)

    def __init__(self) -> None:
        self._numbers: list[float] = []

    def extend(self, numbers: Iterable[float]) -> None:
        """Add finite numbers."""
        self._numbers.extend(numbers)
        if len(self._numbers) > _MAX_NUMBERS:
            self._shorten()

    def merge(self, other: ExactSum) -> None:
        """Add another sum."""
        self.extend(other._numbers)

    def _shorten(self) -> None:
        """Replace the numbers by a few with the same exact sum: the rounded sum and its remainders."""
        numbers = self._numbers
        few: list[float] = []
        while rest := math.fsum(numbers):
            few.append(rest)
            numbers.append(-rest)
        self._numbers = few

    @property
    def value(self) -> float:
        """The sum, rounded once."""
        return math.fsum(self._numbers)

    def __getstate__(self) -> list[float]:
        self._shorten()
        return self._numbers

    def __setstate__(self, numbers: list[float]) -> None:
        self._numbers = list(numbers)


ExactSums: TypeAlias = "defaultdict[str, ExactSum]"
"""Exact sums by name; empty sums may be left out."""


def _no_sums() -> ExactSums:
    return defaultdict(ExactSum)


def _merge(sums: ExactSums, others: ExactSums) -> None:
    for name, other in others.items():
        sums[name].merge(other)


@final
@dataclass(slots=True)
class _FieldSums:
    """The sums of the results at one path that have the same weight."""

    counts: list[int] = field(default_factory=lambda: [0] * len(POSITIONS))
    more_leaves: list[int] = field(default_factory=lambda: [0, 0])
    """The leaves of expected and of actual that exceed one leaf per result."""
    counts_extra: bool = True
    """Whether extra values are counted."""
    more: ExactSums = field(default_factory=_no_sums)
    """The scores of mismatches, and the weights of the leaves of "expected" and "actual" that exceed one leaf
    per result."""

    def merge(self, other: _FieldSums) -> None:
        self.counts = [one + more for one, more in zip(self.counts, other.counts)]
        self.more_leaves = [one + more for one, more in zip(self.more_leaves, other.more_leaves)]
        self.counts_extra = self.counts_extra and other.counts_extra
        _merge(self.more, other.more)

    def aggregation(self, weight: float) -> FieldAggregation:
        matches, mismatches, omissions, hallucinations, *_ = self.counts
        both = matches + mismatches
        score = matches + self.more["score"].value
        expected = weight * (both + omissions) + self.more["expected"].value
        actual = weight * (both + hallucinations) + self.more["actual"].value
        expected_leaves, actual_leaves = self.more_leaves
        leaves = (
            both + omissions + expected_leaves,
            (both + hallucinations + actual_leaves) * self.counts_extra,
        )
        numbers = [*self.counts, *leaves, score, weight * score, expected, actual]
        return FieldAggregation.from_list(numbers)


@final
class AnswerCounts(NamedTuple):
    """The numbers of answers that are parsable and valid.

    >>> AnswerCounts(texts=4, parsed=3, valid=1, validated=2).rates
    {'parse_rate': 0.75, 'valid_rate': 0.5}
    """

    texts: int = 0
    """The number of answers that are text."""
    parsed: int = 0
    """The number of these that contain JSON."""
    valid: int = 0
    """The number of answers that are valid by their schema."""
    validated: int = 0
    """The number of answers that were checked against a schema or contain no JSON to check."""
    not_validated: int = 0
    """The number of answers that the validator can't handle."""

    @property
    def rates(self) -> dict[str, float]:
        """`parse_rate` and `valid_rate`; an undefined rate (0/0) is left out."""
        rates = {}
        if self.texts:
            rates["parse_rate"] = self.parsed / self.texts
        if self.validated:
            rates["valid_rate"] = self.valid / self.validated
        return rates


@final
@dataclass(slots=True, eq=False)
class RunTotals:  # noqa: PLW1641 - its numbers change, so it has no hash
    """The sums over all records of a corpus."""

    counts: Counter[str] = field(default_factory=Counter)
    """Counts by name. Of records: `records`, `perfect_records`, `unanswered` and `unscored` (batch errors
    left nothing to count). Of answers: `texts`, `parsed` (with JSON in them), `validated` against the schema
    (or without JSON), `valid`, and `not_validated` (the validator can't handle them). Also `errors` and
    `warnings`."""
    perfect: bool = True
    """Whether every counted unit of every record is 1."""
    scores: ExactSums = field(default_factory=_no_sums)
    """The sums of the scores of records, by the names in `Scores`."""
    totals: ExactSums = field(default_factory=_no_sums)
    """The sums over the leaves of all records, by the first three names in `Sums`."""
    fields: dict[tuple[str, float], _FieldSums] = field(default_factory=lambda: defaultdict(_FieldSums))
    """The sums of fields by path and weight."""
    known: dict[str, FieldAggregation] = field(default_factory=dict)
    """Further aggregations by path, such as those of a result file."""
    rows: dict[str, RowCounts] = field(default_factory=dict)
    """Counts of rows by the path of their array."""

    @classmethod
    def of_numbers(
        cls,
        counts: Mapping[str, int],
        scores: Mapping[str, float],
        totals: Sums,
        fields: Mapping[str, FieldAggregation],
        rows: Mapping[str, RowCounts],
    ) -> RunTotals:
        """Return totals from the numbers of a result file, which were rounded."""
        made = cls(Counter(counts), totals.perfect, known=dict(fields), rows=dict(rows))
        for sums, numbers in ((made.scores, scores), (made.totals, totals._asdict())):
            for name in numbers.keys() - {"perfect"}:
                sums[name].extend((numbers[name],))
        return made

    def extend(self, scores: Sequence[Scores], totals: Sequence[Sums], unscored: int) -> None:
        """Add records: their scores, the sums of their leaves, and the number of records without scores."""
        self.counts["records"] += len(totals) + unscored
        self.counts["unscored"] += unscored
        self.counts["perfect_records"] += sum(record_scores.score >= 1.0 for record_scores in scores)
        self.perfect = self.perfect and all(record_sums.perfect for record_sums in totals)
        for name, column in zip(Scores._fields, zip(*scores)):
            self.scores[name].extend(column)
        for name, column in zip(_TOTALS, zip(*totals)):
            self.totals[name].extend(column)

    def add_results(self, matches: Mapping[PlanNode, int], findings: Iterable[FieldResult]) -> None:
        """Add the number of matches of each plan node, and all other results."""
        known: dict[PlanNode, _FieldSums] = {}
        for node, number in matches.items():
            # Also if the number is 0, so that fields keep the order of the document.
            self._of(node).counts[0] += number
        for finding in findings:
            node, status, detail = finding.node, finding.status, finding.detail
            sums = known.get(node)
            if sums is None:
                sums = known[node] = self._of(node)
            sums.counts[POSITIONS[status]] += 1
            if status == MISMATCH and finding.score:
                sums.more["score"].extend((finding.score,))
            if detail is not None and detail.weights is not None and status not in UNCOUNTED:
                _, expected, actual, _ = finding.sums
                sums.more["expected"].extend((expected - node.weight * (status != HALLUCINATION),))
                sums.more["actual"].extend((actual - node.weight * (status != OMISSION),))
            if detail is not None and detail.leaves is not None and status not in UNCOUNTED:
                sums.more_leaves[0] += detail.leaves[0] - (status != HALLUCINATION)
                sums.more_leaves[1] += detail.leaves[1] - (status != OMISSION)

    def _of(self, node: PlanNode) -> _FieldSums:
        sums = self.fields[node.path, node.weight]
        sums.counts_extra = node.plan.options.extra == "count"
        return sums

    def merge(self, other: RunTotals) -> None:
        """Add the sums of another run."""
        self.counts.update(other.counts)
        self.perfect = self.perfect and other.perfect
        _merge(self.scores, other.scores)
        _merge(self.totals, other.totals)
        for key, sums in other.fields.items():
            self.fields[key].merge(sums)
        for path, aggregation in other.known.items():
            self.known[path] = self.known[path].merge(aggregation) if path in self.known else aggregation
        add_rows(self.rows, other.rows)

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same numbers."""
        return isinstance(other, RunTotals) and self._numbers == other._numbers

    @property
    def _numbers(self) -> tuple[object, ...]:
        scores = {name: self.scores[name].value for name in Scores._fields}
        return +self.counts, scores, self.total, self.per_field(), self.rows

    @property
    def scored(self) -> int:
        """The number of records that have scores."""
        return self.counts["records"] - self.counts["unscored"]

    def mean(self, name: str) -> float | None:
        """Return the mean of one of `SCORES` over the records that have scores; None without any."""
        return min(self.scores[name].value / self.scored, 1.0) if self.scored else None

    @property
    def answers(self) -> AnswerCounts:
        """The numbers of answers that are parsable and valid."""
        return AnswerCounts(**{name: self.counts[name] for name in AnswerCounts._fields})

    @property
    def total(self) -> Sums:
        """The sums over the leaves of all records."""
        score, expected, actual = (self.totals[name].value for name in _TOTALS)
        return Sums(score, expected, actual, self.perfect)

    def per_field(self) -> dict[str, FieldAggregation]:
        """Return aggregations by schema path, in the order of their first occurrence."""
        weights: dict[str, list[float]] = {}
        for (path, weight), sums in self.fields.items():
            if any(sums.counts):
                weights.setdefault(path, []).append(weight)
        # Sorted by weight, so that sums of floats do not depend on the order of records.
        aggregates = {
            path: reduce(
                FieldAggregation.merge,
                (self.fields[path, weight].aggregation(weight) for weight in sorted(several)),
            )
            for path, several in weights.items()
        }
        for path, aggregation in self.known.items():
            aggregates[path] = aggregates[path].merge(aggregation) if path in aggregates else aggregation
        return aggregates
