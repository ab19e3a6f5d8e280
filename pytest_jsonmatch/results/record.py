"""The result of one record of a corpus, and errors and warnings about records."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import nsmallest
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.result.aggregation import format_score

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.value.sums import Figure

MAX_ERRORS: Final = 1_000
"""A result keeps at most this many errors, and as many warnings; all are counted."""
MOST_WORST: Final = 10
"""A result keeps at most this many of the worst records."""


@final
@dataclass(frozen=True, slots=True)
class RunError:
    """A warning, or an error in a record that did not stop the run.

    >>> str(RunError("r7", "total", "ours", "raised KeyError: 'x'"))
    "record 'r7', total: comparator 'ours' raised KeyError: 'x'"
    """

    record_id: str | int
    """The record's id; for an answer without an id, its place, such as "actual[3]"."""
    path: str | None
    """The field; None if it concerns the record as a whole."""
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
    """Its id; without an id field, its number, counted from 1 as lines are."""
    index: int
    """Its position in gold, from 0: `expected[index]`."""
    precision: Figure
    """Like all its figures, None if batch errors left nothing to count."""
    recall: Figure
    f1: Figure
    score: Figure
    """The metric's own figure."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Results per status."""
    error: str | None = None
    """Why the answer could not be scored, if so; it then counts as entirely wrong."""
    warnings: tuple[str, ...] = ()
    violations: tuple[str, ...] = ()
    """What the schema does not allow in the answer, with `validate="report"`."""
    cluster: str = ""
    """Its cluster, such as its document, by the argument `cluster`; empty if it is in none."""
    tags: Mapping[str, Any] = field(default_factory=dict)
    """Its tags, by the argument `tags`."""
    match: MatchResult | None = field(default=None, repr=False, compare=False)
    """The record's comparison, as `compare_json` returns it, with its documents and arrays; None if `keep`
    leaves out its field results."""

    @property
    def field_results(self) -> Sequence[FieldResult]:
        """The results of its fields, if `keep` keeps them; made anew whenever they are read."""
        return () if self.match is None else self.match.findings()

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain JSON types."""
        names = ("record_id", "index", "precision", "recall", "f1", "score")
        return {
            **{name: getattr(self, name) for name in names},
            "counts": dict(self.counts),
            "field_results": [each.to_dict() for each in self.field_results],
            "error": self.error,
            "warnings": list(self.warnings),
            "violations": list(self.violations),
        }

    def __repr__(self) -> str:
        figures = ", ".join(
            f"{name}={format_score(getattr(self, name))}" for name in ("precision", "recall", "f1")
        )
        return f"RecordResult({self.record_id!r}, {figures})"


def worst_of(records: Iterable[RecordResult]) -> list[RecordResult]:
    """Return the ten records with the lowest score, then the lowest F1, then the first in gold."""
    return nsmallest(MOST_WORST, (each for each in records if each.score is not None), key=_badness)


def rank_of(score: float, f1: float, error: str | None) -> tuple[bool, bool, float, float]:
    """Return what sorts records, the worst first; those with an error, which names them, after the others."""
    return score >= 1.0, error is not None, score, f1


def _badness(record: RecordResult) -> tuple[object, int, str]:
    # Merged runs each number their records from 0.
    return rank_of(record.score, record.f1, record.error), record.index, str(record.record_id)
