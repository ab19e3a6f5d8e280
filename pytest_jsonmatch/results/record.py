"""The result of one record of a corpus, and errors and warnings about records."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import nsmallest
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.result.aggregation import format_score
from pytest_jsonmatch.engine.score.field import MATCH, MISMATCH, OMISSION, UNCOUNTED
from pytest_jsonmatch.engine.value.text import render
from pytest_jsonmatch.support.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.value.sums import ScoreValue
    from pytest_jsonmatch.results.answer import Spent

MAX_ERRORS: Final = 1_000
"""A result keeps at most this many errors and this many warnings; all are counted."""
NO_ANSWER: Final = "there is no answer for it"
"""The error of a record without an answer."""
_NOT_WRONG: Final = UNCOUNTED | {MATCH}
_SHOWN: Final = 3
"""The repr of a record shows at most this many fields."""
_WIDTH: Final = 30
"""The maximum number of characters of a value in the repr of a record."""
MAX_WORST: Final = 10
"""A result keeps at most this many of the lowest-scoring records."""


@final
class RunError(Frozen):
    """A warning, or an error in a record that did not stop the run.

    >>> str(RunError("r7", "total", "ours", "raised KeyError: 'x'"))
    "record 'r7', total: comparator 'ours' raised KeyError: 'x'"
    """

    __slots__ = ("comparator", "path", "reason", "record_id")

    def __init__(
        self,
        record_id: str | int,
        path: str | None,
        comparator: str | None,
        reason: str,
    ) -> None:
        self.record_id: Final = record_id
        """The record's id; for an answer without an id, its position, such as "actual[3]"."""
        self.path: Final = path
        """The path of the field; None for an error or warning about the whole record."""
        self.comparator: Final = comparator
        self.reason: Final = reason

    def __str__(self) -> str:
        where = f"record {self.record_id!r}" + (f", {self.path}" if self.path is not None else "")
        if self.comparator is None:
            return f"{where}: {self.reason}"
        return f"{where}: comparator {self.comparator!r} {self.reason}"


@final
@dataclass(frozen=True, slots=True)
class RecordResult:
    """The scores of one record.

    >>> RecordResult("a", 0, precision=1.0, recall=0.5, f1=2 / 3, score=2 / 3)
    RecordResult('a', precision=1, recall=0.5, f1=0.6667)
    """

    record_id: str | int
    """The id; without an id field, the number of the record, counted from 1 as lines are."""
    index: int
    """The position in the gold records, from 0: `expected[index]`."""
    precision: ScoreValue
    """As all scores, None if batch errors left nothing to count."""
    recall: ScoreValue
    f1: ScoreValue
    score: ScoreValue
    """The score of the metric."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """The number of results by status."""
    error: str | None = None
    """Why the answer could not be scored; such an answer counts as entirely wrong."""
    warnings: tuple[str, ...] = ()
    violations: tuple[str, ...] = ()
    """The errors of the answer against the schema, with `validate="report"`."""
    cluster: str = ""
    """The name of its cluster, such as its document, by the argument `cluster`; empty if it is in none."""
    tags: Mapping[str, Any] = field(default_factory=dict)
    """The tags of the record, by the argument `tags`."""
    spent: Spent | None = None
    """The cost and latency of the answer, if they are known."""
    match: MatchResult | None = field(default=None, repr=False, compare=False)
    """The record's comparison, as `compare_json` returns it, with its documents and arrays; None if `keep`
    leaves out its field results."""

    @property
    def field_results(self) -> Sequence[FieldResult]:
        """The results of its fields, if `keep` keeps them; computed on each access."""
        return () if self.match is None else self.match.findings()

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain JSON types."""
        names = ("record_id", "index", "precision", "recall", "f1", "score")
        return {
            **{name: getattr(self, name) for name in names},
            "counts": dict(self.counts),
            "field_results": [result.to_dict() for result in self.field_results],
            "error": self.error,
            "warnings": list(self.warnings),
            "violations": list(self.violations),
        }

    def __repr__(self) -> str:
        scores = ", ".join(
            f"{name}={format_score(getattr(self, name))}" for name in ("precision", "recall", "f1")
        )
        results = self.field_results if self.error is None else ()
        wrong = [result for result in results if result.status not in _NOT_WRONG]
        wrong.sort(key=lambda result: result.score)
        texts = [f"{result.path}: {_format_difference(result)}" for result in wrong[:_SHOWN]]
        if self.error is not None:
            texts.append(self.error)
        if len(wrong) > _SHOWN:
            texts.append(f"{len(wrong) - _SHOWN} more")
        return f"RecordResult({', '.join([repr(self.record_id), scores, *texts])})"


def _format_difference(result: FieldResult) -> str:
    """Return the values of a field that is not a match."""
    if result.status != MISMATCH:
        return "missing" if result.status == OMISSION else "extra"
    return f"{render(result.expected, _WIDTH)} → {render(result.actual, _WIDTH)}"


def lowest_scoring(records: Iterable[RecordResult]) -> list[RecordResult]:
    """Return the ten records with the lowest score, then the lowest F1, then the first in gold."""
    return nsmallest(MAX_WORST, (record for record in records if record.score is not None), key=_rank)


def rank_record(score: float, f1: float, error: str | None) -> tuple[bool, bool, float, float]:
    """Return a sort key for records: the lowest score first, but records with an error after the others."""
    return score >= 1.0, error is not None, score, f1


def _rank(record: RecordResult) -> tuple[object, int, str]:
    # In merged runs, indices occur more than once.
    return rank_record(record.score, record.f1, record.error), record.index, str(record.record_id)
