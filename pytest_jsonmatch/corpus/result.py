"""What scoring a corpus gives: figures per record and for all, sums that merge exactly in any order."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.result.match import (
    BATCH_ERROR,
    HALLUCINATION,
    LEAFLESS,
    MATCH,
    MISMATCH,
    OMISSION,
    SKIPPED,
    FieldAggregation,
    aggregate_dict,
    ratio,
    short_score,
)
from pytest_jsonmatch.engine.value.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_jsonmatch.corpus.tally import KeyCounts
    from pytest_jsonmatch.engine.plan.compile import Signature
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.result.match import FieldResult, MatchResult, Row, Totals
    from pytest_jsonmatch.engine.result.notebook import Library

__all__ = ["RecordResult", "RunError", "RunResult", "RunSums"]

_STATUS: Final = {MATCH: 0, MISMATCH: 1, OMISSION: 2, HALLUCINATION: 3, SKIPPED: 4, BATCH_ERROR: 5}
MAX_ERRORS: Final = 1_000
"""How many errors a result keeps, and how many warnings; all are counted."""


@final
class ExactSum:
    """A sum of floats, not rounded until it is read: the same in whatever order, however it was merged.

    >>> one, other = ExactSum(), ExactSum()
    >>> one.add(0.1), one.add(0.2), other.add(-0.1), one.merge(other)
    (None, None, None, None)
    >>> one.value
    0.2
    """

    __slots__ = ("_numbers",)

    def __init__(self) -> None:
        self._numbers: list[float] = []

    def add(self, number: float) -> None:
        """Add one finite number."""
        self.extend((number,))

    def extend(self, numbers: Iterable[float]) -> None:
        """Add finite numbers."""
        self._numbers.extend(numbers)
        if len(self._numbers) > _MOST_NUMBERS:
            self._shorten()

    def merge(self, other: ExactSum) -> None:
        """Add what another holds."""
        self.extend(other._numbers)

    def _shorten(self) -> None:
        """Put few numbers with the same exact sum in the place of many: their sum, and what rounding left."""
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


_MOST_NUMBERS: Final = 512


@final
class _FieldSums:
    """The sums of the results at one path that weigh the same."""

    __slots__ = ("counts", "more_actual", "more_expected", "partial")

    def __init__(self) -> None:
        self.counts = [0, 0, 0, 0, 0, 0]
        self.partial = ExactSum()  # scores of mismatches
        # Weighted leaves beyond (or short of) the one a side that statuses stand for.
        self.more_expected = ExactSum()
        self.more_actual = ExactSum()

    def merge(self, other: _FieldSums) -> None:
        self.counts = [one + more for one, more in zip(self.counts, other.counts)]
        self.partial.merge(other.partial)
        self.more_expected.merge(other.more_expected)
        self.more_actual.merge(other.more_actual)

    def aggregation(self, weight: float) -> FieldAggregation:
        matches, mismatches, omissions, hallucinations, skipped, errors = self.counts
        score = matches + self.partial.value
        both = matches + mismatches
        return FieldAggregation(
            matches,
            mismatches,
            omissions,
            hallucinations,
            skipped,
            errors,
            score,
            weight * score,
            weight * (both + omissions) + self.more_expected.value,
            weight * (both + hallucinations) + self.more_actual.value,
        )


@final
@dataclass(frozen=True, slots=True)
class RunError:
    """Something that went wrong in a record and did not stop the run, or a warning.

    >>> str(RunError("r7", "total", "ours", "raised KeyError: 'x'"))
    "record 'r7', total: comparator 'ours' raised KeyError: 'x'"
    """

    record_id: str | int
    """The record's id; of an answer that nobody can tell whose it is, where it stands."""
    path: str | None
    """The field; None if it is the record as a whole."""
    comparator: str | None
    reason: str

    def __str__(self) -> str:
        where = f"record {self.record_id!r}" + (f", {self.path}" if self.path is not None else "")
        if self.comparator is None:
            return f"{where}: {self.reason}"
        return f"{where}: comparator {self.comparator!r} {self.reason}"


@final
@dataclass(frozen=True, slots=True)
class RecordResult:
    """The figures of one record.

    >>> RecordResult("a", 0, precision=1.0, recall=0.5, f1=2 / 3, score=2 / 3)
    RecordResult('a', precision=1, recall=0.5, f1=0.6667)
    """

    record_id: str | int
    """Its id, or its position without an id field."""
    index: int
    """Its position in gold."""
    precision: float
    recall: float
    f1: float
    score: float
    """The metric's own figure."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Results per status."""
    field_results: Sequence[FieldResult] = ()
    """The results of its fields, as far as `keep` says that they stay."""
    error: str | None = None
    """Why the answer could not be scored, if so: it then counts as one with nothing right."""
    warnings: tuple[str, ...] = ()
    match: MatchResult | None = field(default=None, repr=False, compare=False)
    """The record's comparison as `compare_json` gives it, with its documents, arrays and audits, if
    `evaluate` was asked for it by `matches=True` and the field results stay."""

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain JSON types."""
        return {
            "record_id": self.record_id,
            "index": self.index,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "score": self.score,
            "counts": dict(self.counts),
            "field_results": [each.to_dict() for each in self.field_results],
            "error": self.error,
            "warnings": list(self.warnings),
        }

    def __repr__(self) -> str:
        figures = ", ".join(
            f"{name}={short_score(getattr(self, name))}" for name in ("precision", "recall", "f1")
        )
        return f"RecordResult({self.record_id!r}, {figures})"


@final
class RunSums:
    """Everything that figures of many records are made of; it merges, travels, and never rounds."""

    __slots__ = (
        "actual",
        "approximate",
        "errors",
        "expected",
        "f1",
        "fields",
        "perfect",
        "perfect_records",
        "precision",
        "recall",
        "records",
        "score",
        "sum",
        "warnings",
    )

    def __init__(self) -> None:
        self.records = 0
        self.precision, self.recall, self.f1, self.score = ExactSum(), ExactSum(), ExactSum(), ExactSum()
        self.sum, self.expected, self.actual = ExactSum(), ExactSum(), ExactSum()
        self.perfect = True
        self.perfect_records = 0
        self.fields: dict[tuple[str, float], _FieldSums] = {}
        self.errors = 0
        self.warnings = 0
        self.approximate = 0

    def extend(self, figures: Sequence[tuple[float, float, float, float]], totals: Sequence[Totals]) -> None:
        """Add records: of each its precision, recall, F1 and score, and what they are made of."""
        if not totals:
            return
        self.records += len(totals)
        self.perfect_records += sum(own >= 1.0 for _, _, _, own in figures)
        for sum_of_figures, column in zip(
            (self.precision, self.recall, self.f1, self.score), zip(*figures), strict=True
        ):
            sum_of_figures.extend(column)
        scores, expected, actual, perfect = zip(*totals)
        self.sum.extend(scores)
        self.expected.extend(expected)
        self.actual.extend(actual)
        self.perfect = self.perfect and all(perfect)

    def add_rows(
        self,
        nodes: Mapping[PlanNode, int],
        others: Mapping[tuple[PlanNode, str], int],
        special: Iterable[Row],
    ) -> None:
        """Add results.

        Args:
            nodes: how many rows each node has.
            others: how many of these are no plain matches, by node and status.
            special: those of the latter that say more than their status.
        """
        for node, number in nodes.items():
            self._of(node).counts[0] += number
        for (node, status), number in others.items():
            counts = self._of(node).counts
            counts[0] -= number
            counts[_STATUS[status]] += number
        for node, _, _, _, status, score, _, _, detail in special:
            if status in LEAFLESS:
                continue
            sums = self._of(node)
            if status == MISMATCH and score:
                sums.partial.add(score)
            if detail is not None and detail.weights is not None:
                sums.more_expected.add(detail.weights[0] - node.weight * (status != HALLUCINATION))
                sums.more_actual.add(detail.weights[1] - node.weight * (status != OMISSION))

    def add_keys(self, keys: Iterable[KeyCounts]) -> None:
        """Add the results of flat records, counted by key."""
        for key in keys:
            sums = self._of(key.node)
            matches = key.present - key.mismatches - key.omissions
            for at, number in enumerate((matches, key.mismatches, key.omissions, key.hallucinations)):
                sums.counts[at] += number
            sums.partial.extend(key.partial)

    def _of(self, node: PlanNode) -> _FieldSums:
        key = (node.short_path(200), node.weight)
        found = self.fields.get(key)
        if found is None:
            found = self.fields[key] = _FieldSums()
        return found

    def merge(self, other: RunSums) -> None:
        """Add another's sums."""
        self.records += other.records
        self.perfect_records += other.perfect_records
        self.errors += other.errors
        self.warnings += other.warnings
        self.approximate += other.approximate
        self.perfect = self.perfect and other.perfect
        for name in ("precision", "recall", "f1", "score", "sum", "expected", "actual"):
            getattr(self, name).merge(getattr(other, name))
        for key, sums in other.fields.items():
            found = self.fields.get(key)
            if found is None:
                found = self.fields[key] = _FieldSums()
            found.merge(sums)

    def per_field(self) -> dict[str, FieldAggregation]:
        """Return aggregates by schema path, in the order of their first appearance."""
        weights: dict[str, list[float]] = {}
        for path, weight in self.fields:
            weights.setdefault(path, []).append(weight)
        found: dict[str, FieldAggregation] = {}
        for path, several in weights.items():
            # (Of several weights always the least first: sums of floats must not hang on who came first.)
            first, *others = (self.fields[path, weight].aggregation(weight) for weight in sorted(several))
            for other in others:
                first = first.merge(other)
            found[path] = first
        return found


@final
class RunResult:
    """The figures of a corpus: means over its records, figures over all leaves, and by field.

    Figures are None where there is no record. They never depend on `keep`, on chunks, or on an executor.

    >>> from pytest_jsonmatch import evaluate
    >>> run = evaluate([{"a": 1, "b": 2}, {"a": 3}], [{"a": 1, "b": 0}, {"a": 3}])
    >>> run
    <RunResult schema_f1: 2 records, mean F1 0.75>
    >>> run.micro_f1, run.per_field["b"].mismatches, run.worst[0].record_id
    (0.6666666666666666, 1, 0)
    """

    __slots__ = (
        "_per_field",
        "_sums",
        "errors",
        "metric",
        "records",
        "signature",
        "unmatched_extracted",
        "unmatched_gold",
        "warnings",
        "worst",
    )

    def __init__(
        self,
        metric: str,
        signature: Signature,
        sums: RunSums,
        *,
        records: Sequence[RecordResult] = (),
        worst: Sequence[RecordResult] = (),
        errors: Sequence[RunError] = (),
        warnings: Sequence[RunError] = (),
        unmatched_gold: Sequence[str | int] = (),
        unmatched_extracted: Sequence[str | int] = (),
    ) -> None:
        self.metric: str = metric
        self.signature: Signature = signature
        """What the scores were made with; runs are comparable, and merge, if theirs are equal."""
        self._sums = sums
        self._per_field: dict[str, FieldAggregation] | None = None
        self.records: tuple[RecordResult, ...] = tuple(records)
        """The records in the order of gold; which of them, and with how much, says `keep`."""
        self.worst: tuple[RecordResult, ...] = tuple(worst)
        """The ten records with the lowest score, the worst first."""
        self.errors: tuple[RunError, ...] = tuple(errors[:MAX_ERRORS])
        """What went wrong and did not stop the run; the first 1,000 (`total_errors` counts all)."""
        self.warnings: tuple[RunError, ...] = tuple(warnings[:MAX_ERRORS])
        """What is good to know, as of repaired JSON; the first 1,000 (`total_warnings` counts all)."""
        self.unmatched_gold: tuple[str | int, ...] = tuple(unmatched_gold)
        """Ids of gold records without an answer: nothing of them was found."""
        self.unmatched_extracted: tuple[str | int, ...] = tuple(unmatched_extracted)
        """Ids of answers without a gold record, and of second answers for one: they were not scored.

        An answer without an id is named by where it stands: "answers.jsonl:4" or "extracted[3]".
        """

    def _mean(self, total: ExactSum) -> float | None:
        return min(total.value / self._sums.records, 1.0) if self._sums.records else None

    @property
    def mean_precision(self) -> float | None:
        """The mean of the records' precision."""
        return self._mean(self._sums.precision)

    @property
    def mean_recall(self) -> float | None:
        """The mean of the records' recall."""
        return self._mean(self._sums.recall)

    @property
    def mean_f1(self) -> float | None:
        """The mean of the records' F1."""
        return self._mean(self._sums.f1)

    @property
    def mean_score(self) -> float | None:
        """The mean of the records' scores."""
        return self._mean(self._sums.score)

    def _micro(self, part: float, whole: float) -> float | None:
        return ratio(part, whole, perfect=self._sums.perfect) if self._sums.records else None

    @property
    def micro_precision(self) -> float | None:
        """Precision over the leaves of all records together."""
        return self._micro(self._sums.sum.value, self._sums.actual.value)

    @property
    def micro_recall(self) -> float | None:
        """Recall over the leaves of all records together."""
        return self._micro(self._sums.sum.value, self._sums.expected.value)

    @property
    def micro_f1(self) -> float | None:
        """F1 over the leaves of all records together."""
        sums = self._sums
        return self._micro(2 * sums.sum.value, sums.expected.value + sums.actual.value)

    @property
    def per_field(self) -> Mapping[str, FieldAggregation]:
        """Aggregates by schema path: `items[].price` is over all elements of all records."""
        if self._per_field is None:
            self._per_field = self._sums.per_field()
        return self._per_field

    def _count(self, name: str) -> int:
        return sum(getattr(each, name) for each in self.per_field.values())

    @property
    def total_records(self) -> int:
        """How many gold records there are."""
        return self._sums.records

    @property
    def total_perfect(self) -> int:
        """How many records score 1."""
        return self._sums.perfect_records

    @property
    def total_fields(self) -> int:
        """How many results were scored: matches, mismatches, omissions and hallucinations."""
        return self._count("total")

    @property
    def total_matches(self) -> int:
        """How many results match."""
        return self._count("matches")

    @property
    def total_mismatches(self) -> int:
        """How many results are on both sides and score less than 1."""
        return self._count("mismatches")

    @property
    def total_omissions(self) -> int:
        """How many results are missing from the answers."""
        return self._count("omissions")

    @property
    def total_hallucinations(self) -> int:
        """How many results only the answers have."""
        return self._count("hallucinations")

    @property
    def total_skipped(self) -> int:
        """How many results a rule leaves out."""
        return self._count("skipped")

    @property
    def total_batch_errors(self) -> int:
        """For how many results a batch comparator failed."""
        return self._count("batch_errors")

    @property
    def total_approximate(self) -> int:
        """How many records have an unordered array too large for `memory_limit` to be paired exactly."""
        return self._sums.approximate

    @property
    def total_errors(self) -> int:
        """How many errors there were."""
        return self._sums.errors

    @property
    def total_warnings(self) -> int:
        """How many warnings there were."""
        return self._sums.warnings

    def merge(self, other: RunResult) -> RunResult:
        """Return the result of both corpora together: the same as if they had been one, in whatever order.

        Raises:
            ConfigurationError: they were scored with different metrics, options, schemas or rules.
        """
        if self.signature != other.signature:
            message = f"runs merge only if their signatures are equal: {self.signature} and {other.signature}"
            raise ConfigurationError(message)
        sums = RunSums()
        sums.merge(self._sums)
        sums.merge(other._sums)
        return RunResult(
            self.metric,
            self.signature,
            sums,
            records=(*self.records, *other.records),
            worst=worst_of((*self.worst, *other.worst)),
            errors=(*self.errors, *other.errors),
            warnings=(*self.warnings, *other.warnings),
            unmatched_gold=(*self.unmatched_gold, *other.unmatched_gold),
            unmatched_extracted=(*self.unmatched_extracted, *other.unmatched_extracted),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON types."""
        figures = ("mean_precision", "mean_recall", "mean_f1", "mean_score")
        micro = ("micro_precision", "micro_recall", "micro_f1")
        counted = ("matches", "mismatches", "omissions", "hallucinations", "skipped", "batch_errors")
        totals = ("records", "perfect", "fields", *counted, "approximate", "errors", "warnings")
        return {
            "metric": self.metric,
            "signature": str(self.signature),
            **{name: getattr(self, name) for name in (*figures, *micro)},
            **{f"total_{name}": getattr(self, f"total_{name}") for name in totals},
            "per_field": {path: aggregate_dict(each) for path, each in self.per_field.items()},
            "records": [each.to_dict() for each in self.records],
            "worst": [each.record_id for each in self.worst],
            "errors": [str(each) for each in self.errors],
            "warnings": [str(each) for each in self.warnings],
            "unmatched_gold": list(self.unmatched_gold),
            "unmatched_extracted": list(self.unmatched_extracted),
        }

    def to_dataframe(self, library: Library | None = None) -> Any:
        """Return the figures by field as a data frame of pandas or polars: one row a schema path.

        Args:
            library: "pandas" or "polars"; None for the one imported already, else the first installed.

        Raises:
            ConfigurationError: neither is installed, or not the one that was named.
        """
        from pytest_jsonmatch.engine.result.notebook import data_frame, per_field_of

        return data_frame(per_field_of(self.per_field), library)

    def _repr_html_(self) -> str:
        """Return the corpus as notebooks show it."""
        from pytest_jsonmatch.engine.result.notebook import run_html

        return run_html(self)

    def __repr__(self) -> str:
        mean = self.mean_f1
        figure = "no figures" if mean is None else f"mean F1 {short_score(mean)}"
        noun = "record" if self.total_records == 1 else "records"
        failed = self.total_batch_errors
        left_out = f", {failed:,} batch error{'' if failed == 1 else 's'}" if failed else ""
        return f"<RunResult {self.metric}: {self.total_records:,} {noun}, {figure}{left_out}>"


MOST_WORST: Final = 10
"""How many of the worst records a result keeps."""


def worst_of(records: Iterable[RecordResult]) -> list[RecordResult]:
    """Return the ten records with the lowest score, then the lowest F1, then the first in gold."""
    return nsmallest(MOST_WORST, records, key=_badness)


def _badness(record: RecordResult) -> tuple[float, float, int, str]:
    # (Runs that are merged have each counted from 0.)
    return record.score, record.f1, record.index, str(record.record_id)


def figures_of(totals: Totals, reduce: str) -> tuple[float, float, float, float]:
    """Return precision, recall, F1 and score of one record."""
    part, expected, actual, perfect = totals
    recall = ratio(part, expected, perfect=perfect)
    f1 = ratio(2 * part, expected + actual, perfect=perfect)
    return ratio(part, actual, perfect=perfect), recall, f1, recall if reduce == "ratio" else f1
