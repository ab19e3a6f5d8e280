"""What scoring gives back: results per field, per comparison, and aggregates that merge in any order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, TypeAlias, final, overload

from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.paths import format_path

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from pytest_jsonmatch.engine.align.audit import ArrayAudit
    from pytest_jsonmatch.engine.plan.compile import Plan, Signature
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.plan.rules import Recipe
    from pytest_jsonmatch.engine.result.containers import ArrayAlignment, ContainerResult
    from pytest_jsonmatch.engine.result.notebook import Library
    from pytest_jsonmatch.engine.score.walk_ import Outcome
    from pytest_jsonmatch.engine.value.convert import JsonValue

    _Flat: TypeAlias = dict[str, JsonValue]
    _FlatScorers: TypeAlias = tuple[
        Callable[[Plan, _Flat, _Flat], tuple["Totals", list[float]]],
        Callable[[Plan, _Flat, _Flat, list[float] | None], tuple[list["Row"], "Totals"]],
    ]

__all__ = [
    "STATUSES",
    "ErrorEntry",
    "FieldAggregation",
    "FieldResult",
    "MatchResult",
]

MATCH: Final = "match"
MISMATCH: Final = "mismatch"
OMISSION: Final = "omission"
HALLUCINATION: Final = "hallucination"
SKIPPED: Final = "skipped"
PENDING: Final = "pending"
BATCH_ERROR: Final = "batch_error"

STATUSES: Final = (MATCH, MISMATCH, OMISSION, HALLUCINATION, SKIPPED, PENDING, BATCH_ERROR)
"""Every status a field result can have."""


@final
class Detail(NamedTuple):
    """What a row carries beyond the ordinary leaf."""

    reason: str | None = None
    comparator: str | None = None
    leaves: tuple[int, int] | None = None
    """Leaves of each side, where they are not the 1 or 0 that the status says."""
    weights: tuple[float, float] | None = None
    """The same, each leaf times its weight."""
    differences: tuple[Row, ...] = ()
    error: str | None = None


# The walk's own record of one result: a bare tuple, because millions are made. Fields: plan node, trail of
# the parent, key in expected, key in actual, status, score, expected, actual, detail. A trail is a linked
# list (trail of the parent, key in expected, key in actual), or None at the root; paths are made from it.
Trail: TypeAlias = "tuple[Any, Any, Any]"
Row: TypeAlias = "tuple[PlanNode, Trail | None, Any, Any, str, float, JsonValue, JsonValue, Detail | None]"


def instance_path(trail: Trail | None, key: Any, side: int, limit: int | None = None) -> str:
    """Return the path along one side of a trail (1: expected, 2: actual); the root's own key is None."""
    if key is None:
        return "$"
    segments = [key]
    while trail is not None:
        segments.append(trail[side])
        trail = trail[0]
    segments.reverse()
    return format_path(segments, limit)


LEAFLESS: Final = frozenset({SKIPPED, PENDING, BATCH_ERROR})
"""Statuses that count nowhere."""
_LEAVES: Final = {MATCH: (1, 1), MISMATCH: (1, 1), OMISSION: (1, 0), HALLUCINATION: (0, 1)}


@final
class _Read(NamedTuple):
    """The items of a row that are public, in their places."""

    node: Any
    trail: Any
    expected_key: Any
    actual_key: Any
    status: str
    score: float
    expected: Any
    actual: Any


_Read.status.__doc__ = "One of `STATUSES`."
_Read.score.__doc__ = "In [0, 1]."
_Read.expected.__doc__ = "The value in expected, or `MISSING`."
_Read.actual.__doc__ = "The value in actual, or `MISSING`."


@final
class FieldResult(tuple[Any, ...]):
    """The result of one leaf (or of one top-level key, under `field_match`). It cannot be changed.

    It happens to be a tuple inside, whose items mean nothing to others.

    >>> from pytest_jsonmatch import compare_json
    >>> field = compare_json({"n": 1}, {"n": 2}).field_results[0]
    >>> field.path, field.status, field.score, field.expected, field.actual
    ('n', 'mismatch', 0.0, 2, 1)
    """

    # Of a corpus there are millions, and people look at them all: what is looked at most is read by C code.
    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def status(self) -> str:
            """One of `STATUSES`."""

        @property
        def score(self) -> float:
            """In [0, 1]."""

        @property
        def expected(self) -> JsonValue:
            """The value in expected, or `MISSING`."""

        @property
        def actual(self) -> JsonValue:
            """The value in actual, or `MISSING`."""

    else:
        # (What a named tuple reads its items by takes a third of the time of property(itemgetter(4)).)
        status, score, expected, actual = _Read.status, _Read.score, _Read.expected, _Read.actual

    @property
    def path(self) -> str:
        """The schema path, such as `items[].price`; `$` is the root."""
        path: str = self[0].path
        return path

    def short_path(self, limit: int = 200) -> str:
        """The instance path a person wants to see, cut after `limit` levels: expected's, else actual's."""
        side, key = (1, self[2]) if self[2] is not MISSING else (2, self[3])
        return instance_path(self[1], key, side, limit)

    @property
    def expected_path(self) -> str | None:
        """The instance path in expected, such as `items[0].price`; None where expected has nothing."""
        return None if self[2] is MISSING else instance_path(self[1], self[2], 1, None)

    @property
    def actual_path(self) -> str | None:
        """The instance path in actual; None where actual has nothing."""
        return None if self[3] is MISSING else instance_path(self[1], self[3], 2, None)

    @property
    def weight(self) -> float:
        """What this result counts for: the product of the weights on the way to it."""
        weight: float = self[0].weight
        return weight

    @property
    def expected_compared(self) -> JsonValue:
        """The value in expected after transforms: what was compared."""
        return self[0].prepare(self[6])

    @property
    def actual_compared(self) -> JsonValue:
        """The value in actual after transforms: what was compared."""
        return self[0].prepare(self[7])

    @property
    def comparator(self) -> str | None:
        """The name of the comparator that scored it; None where nothing was compared."""
        detail: Detail | None = self[8]
        if detail is not None and detail.comparator is not None:
            return detail.comparator
        if self.status not in {MATCH, MISMATCH} or (detail is not None and detail.leaves is not None):
            return None
        name: str | None = self[0].comparator_for(self.expected_compared, self.actual_compared)[0]
        return name

    @property
    def expected_leaves(self) -> int:
        """How many leaves of expected this result stands for."""
        detail: Detail | None = self[8]
        if detail is not None and detail.leaves is not None:
            return detail.leaves[0]
        return _LEAVES.get(self.status, (0, 0))[0]

    @property
    def actual_leaves(self) -> int:
        """How many leaves of actual this result stands for."""
        detail: Detail | None = self[8]
        if detail is not None and detail.leaves is not None:
            return detail.leaves[1]
        return _LEAVES.get(self.status, (0, 0))[1]

    @property
    def error(self) -> str | None:
        """What went wrong in the comparator, if it raised or left [0, 1]."""
        detail: Detail | None = self[8]
        return None if detail is None else detail.error

    @property
    def reason(self) -> str | None:
        """Why the score is not 1, in a few words; None for a match."""
        node, status, detail = self[0], self.status, self[8]
        if detail is not None and (detail.error or detail.reason):
            told: str = detail.error or detail.reason
            return told
        if status == OMISSION:
            return "missing"
        if status == HALLUCINATION:
            return "not in the schema" if node.beyond_schema() else "not in expected"
        if status != MISMATCH:
            return None
        from pytest_jsonmatch.engine.compare import explain

        expected, actual = self.expected_compared, self.actual_compared
        name, params = node.comparator_for(expected, actual)
        return explain(name or "exact", params, expected, actual)

    @property
    def differences(self) -> tuple[FieldResult, ...]:
        """The leaves below a top-level key that differ, where the key is the unit scored; else ()."""
        detail: Detail | None = self[8]
        return () if detail is None else tuple(map(FieldResult, detail.differences))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON types; a side that has nothing is left out."""
        plain: dict[str, Any] = {
            "path": self.path,
            "expected_path": self.expected_path,
            "actual_path": self.actual_path,
            "status": self.status,
            "score": self.score,
            "weight": self.weight,
            "comparator": self.comparator,
            "reason": self.reason,
        }
        for name in ("expected", "actual"):
            value = getattr(self, name)
            if value is not MISSING:
                plain[name] = value
        if detail := self[8]:
            if detail.error:
                plain["error"] = detail.error
            if detail.differences:
                plain["differences"] = [field.to_dict() for field in self.differences]
        return plain

    def replaced(
        self, *, status: str | None = None, score: float | None = None, reason: str | None = None
    ) -> FieldResult:
        """Return a result that says something else of the same field, as post-processors need.

        Args:
            status: one of `STATUSES` but "pending"; if only a score is given, match or mismatch as that says.
            score: in [0, 1]; if only a status is given, 1 for a match, and 0 for what was a match.
            reason: why, for people.

        Raises:
            ValueError: there is no such status or score, or the two do not fit: a match scores 1, a mismatch
                less, and everything else 0.

        >>> from pytest_jsonmatch import compare_json
        >>> field = compare_json({"n": None}, {"n": 5}).field_results[0]
        >>> field.replaced(status="omission", reason="null says nothing")
        FieldResult('n', 'omission', 0)
        """
        new_status, new_score = self._decided(status, score)
        detail: Detail | None = self[8]
        if new_status != MISMATCH and detail is not None:
            detail = detail._replace(differences=(), error=None)
        if new_status != self.status and detail is not None and detail.leaves is not None:
            # What only one side has counts the leaves of that side only; a match is one leaf of each.
            own = {OMISSION: (1, 0), HALLUCINATION: (0, 1), MISMATCH: (1, 1)}.get(new_status, (0, 0))
            weights = detail.weights or (0.0, 0.0)
            detail = detail._replace(
                leaves=(detail.leaves[0] * own[0], detail.leaves[1] * own[1]),
                weights=(weights[0] * own[0], weights[1] * own[1]),
            )
            if new_status == MATCH:
                detail = detail._replace(leaves=None, weights=None)
        if reason is not None:
            detail = (detail or Detail())._replace(reason=reason)
        return FieldResult((*self[:4], new_status, new_score, *self[6:8], detail))

    def _decided(self, status: str | None, score: float | None) -> tuple[str, float]:
        """Return a status and a score that fit each other."""
        if status is not None and status not in _STATUS_INDEX:
            message = f"status is {status!r}; it is one of {', '.join(_STATUS_INDEX)}"
            raise ValueError(message)
        if score is not None and not 0.0 <= score <= 1.0:
            message = f"score is {score!r}; it is a number from 0 to 1"
            raise ValueError(message)
        if status is None and score is not None and self.status in {MATCH, MISMATCH}:
            status = MATCH if score == 1.0 else MISMATCH
        new_status = self.status if status is None else status
        if score is None:
            # A match that is none any more scores 0, unless somebody says what.
            own = float(self.score)
            score = {MATCH: 1.0, MISMATCH: own if own < 1.0 else 0.0}.get(new_status, 0.0)
        if (score == 1.0) != (new_status == MATCH) or (score and new_status not in {MATCH, MISMATCH}):
            message = (
                f"status is {new_status!r} and score is {score!r}; "
                "a match scores 1, a mismatch less, and everything else 0"
            )
            raise ValueError(message)
        return new_status, float(score)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FieldResult) and self._key() == other._key()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.path, self.status, self.score))

    def _key(self) -> tuple[Any, ...]:
        return (self.path, self.expected_path, self.actual_path, *self[4:8])

    def __repr__(self) -> str:
        return f"FieldResult({self.short_path()!r}, {self.status!r}, {self.score:.4g})"


class FieldResults(Sequence[FieldResult]):
    """The results of a comparison, in the order of the document; each object is made when it is looked at.

    Of two flat records even the rows behind them are made then only.
    """

    __slots__ = ("_found", "_source")

    def __init__(
        self,
        rows: list[Row] | None,
        source: tuple[Plan | Recipe, dict[str, JsonValue], dict[str, JsonValue]] | None = None,
    ) -> None:
        """Take rows, or the flat `source` they are made of: (plan, or how to make it; expected; actual)."""
        self._found = rows
        self._source = source

    def _made(self) -> list[Row]:
        """Return the rows, made anew if they have not been kept."""
        if self._found is not None:
            return self._found
        from pytest_jsonmatch.engine.score.walk_ import score, walk_flat  # scoring makes results, not we it

        assert self._source is not None  # noqa: S101 - one of the two is always there
        plan, expected, actual = self._source
        if isinstance(plan, partial):
            # They have come from another process, where nobody had looked at them.
            recipe = plan
            plan = recipe()
            plan.recipe = recipe
        return (walk_flat if plan.flat else score)(plan, expected, actual).rows

    @property
    def _rows(self) -> list[Row]:
        if self._found is None:
            self._found = self._made()
            self._source = None
        return self._found

    def __reduce__(self) -> Any:
        if self._source is None:
            return FieldResults, (self._rows,)
        plan, expected, actual = self._source
        recipe = plan if isinstance(plan, partial) else plan.recipe
        return FieldResults, (self._rows,) if recipe is None else (None, (recipe, expected, actual))

    @overload
    def __getitem__(self, index: int) -> FieldResult: ...
    @overload
    def __getitem__(self, index: slice) -> list[FieldResult]: ...
    def __getitem__(self, index: int | slice) -> FieldResult | list[FieldResult]:
        if isinstance(index, slice):
            return list(map(FieldResult, self._rows[index]))
        return FieldResult(self._rows[index])

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[FieldResult]:
        # Whoever goes through a whole corpus once does not want millions of rows to stay.
        return map(FieldResult, self._made())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FieldResults) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash(len(self._rows))

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:3]))
        return f"[{shown}, … {len(self) - 3:,} more]" if len(self) > 3 else f"[{shown}]"


@final
@dataclass(frozen=True, slots=True)
class FieldAggregation:
    """The figures of one schema path over any number of results; two of them merge into one.

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
    score_sum: float = 0.0
    weighted_score: float = 0.0
    expected_weight: float = 0.0
    actual_weight: float = 0.0

    @property
    def total(self) -> int:
        """Matches, mismatches, omissions and hallucinations."""
        return self.matches + self.mismatches + self.omissions + self.hallucinations

    @property
    def mean_score(self) -> float | None:
        """The mean score, omissions and hallucinations counting 0; None without results."""
        return self.score_sum / self.total if self.total else None

    @property
    def precision(self) -> float | None:
        """Weighted score over actual's weighted leaves; None for 0/0."""
        return _capped(self.weighted_score, self.actual_weight)

    @property
    def recall(self) -> float | None:
        """Weighted score over expected's weighted leaves; None for 0/0."""
        return _capped(self.weighted_score, self.expected_weight)

    @property
    def f1(self) -> float | None:
        """Twice the weighted score over both sides' weighted leaves; None for 0/0."""
        return _capped(2 * self.weighted_score, self.expected_weight + self.actual_weight)

    def merge(self, other: FieldAggregation) -> FieldAggregation:
        """Return the figures of both; the order of merging does not matter."""
        return FieldAggregation(*map(sum, zip(self.to_list(), other.to_list())))  # type: ignore[arg-type]

    def to_list(self) -> list[float]:
        """Return the ten numbers, in the order of the fields, to send or store."""
        return [
            self.matches,
            self.mismatches,
            self.omissions,
            self.hallucinations,
            self.skipped,
            self.batch_errors,
            self.score_sum,
            self.weighted_score,
            self.expected_weight,
            self.actual_weight,
        ]

    @classmethod
    def from_list(cls, numbers: Sequence[float]) -> FieldAggregation:
        """Return the aggregation that `to_list` gave."""
        return cls(*numbers)  # type: ignore[arg-type]


def _capped(part: float, whole: float) -> float | None:
    """Return part / whole, where rounding may not lift it above 1."""
    return min(part / whole, 1.0) if whole else None


class FieldTable(Mapping[str, FieldAggregation]):
    """Aggregates keyed by schema path, in the order of first appearance; path texts are made on demand."""

    __slots__ = ("_by_node", "_by_path")

    def __init__(self, by_node: dict[PlanNode, FieldAggregation]) -> None:
        self._by_node = by_node
        self._by_path: dict[str, FieldAggregation] | None = None

    def __getitem__(self, path: str) -> FieldAggregation:
        if self._by_path is None:
            self._by_path = {node.path: aggregate for node, aggregate in self._by_node.items()}
        return self._by_path[path]

    def __iter__(self) -> Iterator[str]:
        return (node.path for node in self._by_node)

    def __len__(self) -> int:
        return len(self._by_node)

    def short(self, limit: int = 200) -> dict[str, FieldAggregation]:
        """Return the table with paths cut after `limit` levels; what then reads the same is merged."""
        table: dict[str, FieldAggregation] = {}
        for node, aggregate in self._by_node.items():
            path = node.short_path(limit)
            table[path] = table[path].merge(aggregate) if path in table else aggregate
        return table

    def __repr__(self) -> str:
        return f"FieldTable({len(self)} paths)"


@final
@dataclass(frozen=True, slots=True)
class ErrorEntry:
    """A comparator that raised, or whose score was outside [0, 1].

    >>> str(ErrorEntry("total", "ours", "raised KeyError: 'x'"))
    "total: comparator 'ours' raised KeyError: 'x'"
    """

    path: str
    comparator: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: comparator {self.comparator!r} {self.reason}"


class Totals(NamedTuple):
    """The three sums every figure is made of, and whether every counted unit is 1."""

    score: float
    expected: float
    actual: float
    perfect: bool


def ratio(part: float, whole: float, *, perfect: bool) -> float:
    """Return part / whole, 0/0 being 1, and exactly 1.0 if and only if `perfect`."""
    if not whole:
        return 1.0
    value = part / whole
    if perfect:
        return 1.0 if part == whole else min(value, 1.0)
    return min(value, _BELOW_ONE) if part < whole else min(value, 1.0)


_BELOW_ONE: Final = math.nextafter(1.0, 0.0) if hasattr(math, "nextafter") else 1.0 - 2.0**-53


@cache
def _flat_scorers() -> _FlatScorers:
    """Return what makes totals, and rows, of two flat objects: scoring makes results, so not at import."""
    from pytest_jsonmatch.engine.score.walk_ import flat_rows, score_flat

    return score_flat, flat_rows


@final
class MatchResult:
    """The result of one comparison: figures, results per leaf, aggregates per field.

    It has no truth value: `assert compare_json(...)` would pass whatever the score is. Write
    `assert_json_match(...)`, or compare `.score` with what you need.

    >>> from pytest_jsonmatch import compare_json
    >>> result = compare_json({"name": "Ann", "age": 31}, {"name": "Ann", "age": 30})
    >>> result
    <MatchResult field_match score=0.5: 1 match, 1 mismatch>
    >>> result.per_field["age"].mismatches
    1
    """

    __slots__ = (
        "_alignments",
        "_audits",
        "_containers",
        "_documents",
        "_errors",
        "_flat_rows",
        "_found",
        "_per_field",
        "_plan",
        "_source",
        "_sums",
        "_values",
        "_warnings",
    )

    def __init__(
        self,
        plan: Plan,
        found: Outcome | None,
        source: tuple[dict[str, JsonValue], dict[str, JsonValue]] | None = None,
        warnings: tuple[str, ...] = (),
        documents: tuple[JsonValue, JsonValue] | None = None,
    ) -> None:
        """Take what a walk `found`, or the flat `source` (expected, actual) to score when somebody looks.

        `documents` are what it was found in, if that is not the source.
        """
        self._plan = plan
        self._found = found
        self._source = source
        self._documents = source if documents is None else documents
        self._sums: Totals | None = None
        self._values: list[float] | None = None
        self._flat_rows: list[Row] | None = None
        self._containers: list[ContainerResult] | None = None
        self._alignments: list[ArrayAlignment] | None = None
        self._audits: tuple[float, tuple[ArrayAudit, ...]] | None = None
        self._warnings = warnings
        self._per_field: FieldTable | None = None
        self._errors: tuple[ErrorEntry, ...] | None = None

    @property
    def metric(self) -> str:
        """The metric's name."""
        return self._plan.metric

    @property
    def score(self) -> float:
        """The metric's own figure in [0, 1]: exactly 1.0 if and only if every counted unit is 1."""
        totals = self._totals
        if self._plan.options.reduce == "ratio":
            return ratio(totals.score, totals.expected, perfect=totals.perfect)
        return self.f1

    @property
    def precision(self) -> float:
        """Of what actual holds, how much is right: Σ score / actual's leaves, 0/0 being 1."""
        return ratio(self._totals.score, self._totals.actual, perfect=self._totals.perfect)

    @property
    def recall(self) -> float:
        """Of what expected holds, how much was found: Σ score / expected's leaves, 0/0 being 1."""
        return ratio(self._totals.score, self._totals.expected, perfect=self._totals.perfect)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall, as 2Σ / (E + A), 0/0 being 1."""
        totals = self._totals
        return ratio(2 * totals.score, totals.expected + totals.actual, perfect=totals.perfect)

    def f_beta(self, beta: float) -> float:
        """Return (1 + β²)PR / (β²P + R): β > 1 favours recall, β < 1 precision.

        >>> from pytest_jsonmatch import compare_json
        >>> compare_json({"a": 1}, {"a": 1, "b": 2}).f_beta(2)
        0.5555555555555556
        """
        precision, recall = self.precision, self.recall
        weighted = beta * beta * precision + recall
        return (1 + beta * beta) * precision * recall / weighted if weighted else 0.0

    @property
    def _totals(self) -> Totals:
        """The sums; of two flat objects without a row for any leaf, if nobody has asked for rows yet."""
        if self._sums is None:
            if self._found is None:
                assert self._source is not None  # noqa: S101 - one of the two is always there
                self._sums, self._values = _flat_scorers()[0](self._plan, *self._source)
            else:
                self._sums = self._found.totals
        return self._sums

    def _outcome(self) -> Outcome:
        """Return the walk's findings, made now if only sums were asked for so far."""
        if self._found is None:
            from pytest_jsonmatch.engine.score.walk_ import Outcome  # scoring makes results, not we it

            self._found = Outcome(self._rows, self._totals, [])
        return self._found

    @property
    def _rows(self) -> list[Row]:
        if self._found is not None:
            return self._found.rows
        if self._flat_rows is None:
            assert self._source is not None  # noqa: S101 - one of the two is always there
            self._flat_rows, self._sums = _flat_scorers()[1](self._plan, *self._source, self._values)
        return self._flat_rows

    @property
    def field_results(self) -> Sequence[FieldResult]:
        """Every result, in the order of the document."""
        return FieldResults(self._rows)

    @property
    def per_field(self) -> FieldTable:
        """Aggregates keyed by schema path (`items[].price`)."""
        if self._per_field is None:
            self._per_field = FieldTable(aggregate_rows(self._rows))
        return self._per_field

    @property
    def _shape(self) -> Hashable:
        """What figures and aggregates follow from, for a few leaves that all match plainly; else None."""
        found = self._found
        rows = self._rows
        if len(rows) > _FEW or self._warnings or (found is not None and (found.alignments or found.gap)):
            return None
        for row in rows:
            if row[4] != MATCH or row[5] != 1.0 or row[8] is not None:
                return None
        return tuple([row[0] for row in rows])

    @property
    def _summaries(self) -> dict[Hashable, str]:
        """What sessions keep of results of the same plan, by shape and whatever else it follows from."""
        return self._plan.summaries

    @property
    def containers(self) -> Sequence[ContainerResult]:
        """Precision, recall and F1 of every object and array, in the document's order, the root first."""
        from pytest_jsonmatch.engine.result.containers import containers_of

        if self._containers is None:
            self._containers = containers_of(self._outcome())
        return self._containers

    def container(self, path: str) -> ContainerResult:
        """Return the figures of the object or array at an instance path of expected, else of actual.

        Raises:
            KeyError: there is none.

        >>> from pytest_jsonmatch import compare_json
        >>> answer = {"a": [{"b": 1}, {"b": 2}]}
        >>> result = compare_json(answer, {"a": [{"b": 1}, {"b": 3}]}, metric="schema_f1")
        >>> result.container("a").f1, result.container("a[1]").f1
        (0.5, 0.0)
        """
        for side in ("expected_path", "actual_path"):
            for each in self.containers:
                if getattr(each, side) == path:
                    return each
        raise KeyError(path)

    @property
    def alignments(self) -> Sequence[ArrayAlignment]:
        """How arrays were aligned that are not compared by position: pairs of indices, each with its F1."""
        if self._alignments is None:
            self._alignments = list(self.each_alignment())
        return self._alignments

    def each_alignment(self) -> Iterator[ArrayAlignment]:
        """Return what `alignments` has one by one, each made when it is asked for.

        >>> from pytest_jsonmatch import compare_json
        >>> next(compare_json([2, 1], [1, 3], metric="pairwise_f1").each_alignment()).pairs
        ((0, 1, 1.0),)
        """
        from pytest_jsonmatch.engine.result.containers import alignments_of

        return iter(alignments_of(self._outcome()) if self._alignments is None else self._alignments)

    @property
    def documents(self) -> tuple[JsonValue, JsonValue] | None:
        """Expected and actual as they were compared, in containers of their own; leave them as they are.

        Actual is `MISSING` where an answer could not be read. None if the result was made without them.
        """
        return self._documents

    def audit(self, tolerance: float = 0.05) -> tuple[ArrayAudit, ...]:
        """Return, of each unordered array, what each pair could have been instead, and which are ambiguous.

        It is worked out now: scoring does none of it.

        Args:
            tolerance: a pair is ambiguous if the similarities of another pairing, in which one of the two
                meets another element, add up to at most so much less.

        Returns:
            One `ArrayAudit` for each unordered array, in the order of the document, up to 100 of them. Where
            comparators may be dear, or elements are too many, it says why nothing was computed.

        Raises:
            ValueError: the tolerance is no number from 0 to 1.

        >>> from pytest_jsonmatch import compare_json
        >>> result = compare_json([[1, 2, 9]], [[1, 2, 3], [1, 2, 4]], metric="schema_f1", arrays="unordered")
        >>> result.audit()[0].pairs[0].ambiguous
        True
        """
        if not 0.0 <= tolerance <= 1.0:
            message = f"tolerance is {tolerance!r}; it is a number from 0 to 1"
            raise ValueError(message)
        found = self._found
        if found is None or not found.alignments or self._documents is None:
            return ()
        if self._audits is None or self._audits[0] != tolerance:
            from pytest_jsonmatch.engine.align.audit import audit_arrays

            audits = audit_arrays(
                self._plan,
                found.alignments,
                self.each_alignment(),
                self._documents,
                approximate=found.gap is not None,
                tolerance=tolerance,
            )
            self._audits = tolerance, audits
        return self._audits[1]

    def array_counts(self, limit: int = 200) -> dict[str, tuple[int, int, int]]:
        """Return, by schema path of aligned arrays, how many pairs and how many elements only one side had.

        Returns:
            (pairs, elements only in expected, elements only in actual), paths cut after `limit` levels.
        """
        if self._found is None:
            return {}
        found: dict[str, tuple[int, int, int]] = {}
        for node, _, pairs, expected, actual in self._found.alignments:
            path = node.short_path(limit)
            before = found.get(path, (0, 0, 0))
            paired = len(pairs)
            found[path] = (before[0] + paired, before[1] + expected - paired, before[2] + actual - paired)
        return found

    @property
    def counts(self) -> dict[str, int]:
        """How many results have each status, unweighted; only statuses that occur."""
        counts: dict[str, int] = {}
        for row in self._rows:
            counts[row[4]] = counts.get(row[4], 0) + 1
        return {status: counts[status] for status in STATUSES if status in counts}

    @property
    def errors(self) -> tuple[ErrorEntry, ...]:
        """The comparators that raised, or scored outside [0, 1], with the path of the field."""
        if self._errors is None:
            # (All that counts may be perfect where a batch comparator has failed: that counts nowhere.)
            perfect = self._totals.perfect and not self._plan.has_batch
            self._errors = () if perfect else tuple(errors_of(self._rows))
        return self._errors

    @property
    def alignment(self) -> str:
        """exact, or approximate: an unordered array was too large for `memory_limit` to be paired exactly."""
        return "exact" if self.alignment_gap is None else "approximate"

    @property
    def alignment_gap(self) -> float | None:
        """If approximate: the pairs' similarities add up to at most so much less than the optimum's."""
        return None if self._found is None else self._found.gap

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was odd about the input without being an error, such as duplicate keys in actual."""
        gap = self.alignment_gap
        return self._warnings if gap is None else (*self._warnings, approximate_warning(gap))

    @property
    def signature(self) -> Signature:
        """What the score was made with; equal signatures mean comparable scores."""
        return self._plan.signature

    @property
    def total_leaves(self) -> float:
        """Expected's leaves, weighted: the denominator of a `ratio` score."""
        return _whole(self._totals.expected)

    @property
    def matched_leaves(self) -> float:
        """The sum of the scores, weighted: the numerator of every figure."""
        return _whole(self._totals.score)

    @property
    def details(self) -> str:
        """One line of counts, as source 3 gives it: "Matched leaves: 8, Total leaves: 10"."""
        return f"Matched leaves: {self.matched_leaves:.6g}, Total leaves: {self.total_leaves:.6g}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON types."""
        return {
            "metric": self.metric,
            "signature": str(self.signature),
            "score": self.score,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "matched_leaves": self.matched_leaves,
            "total_leaves": self.total_leaves,
            "counts": self.counts,
            "field_results": [field.to_dict() for field in self.field_results],
            "per_field": {path: aggregate_dict(aggregate) for path, aggregate in self.per_field.items()},
            "errors": [str(entry) for entry in self.errors],
            "warnings": list(self.warnings),
            "alignment": self.alignment,
            "containers": [each.to_dict() for each in self.containers],
            "alignments": [each.to_dict() for each in self.alignments],
        }

    def to_dataframe(self, library: Library | None = None) -> Any:
        """Return the leaves as a data frame of pandas or polars: one row a leaf, as `field_results` has them.

        Args:
            library: "pandas" or "polars"; None for the one imported already, else the first installed.

        Raises:
            ConfigurationError: neither is installed, or not the one that was named.

        In polars a column whose values have several types is JSON text.
        """
        from pytest_jsonmatch.engine.result.notebook import data_frame, leaves_of

        return data_frame(leaves_of(self), library)

    def _repr_html_(self) -> str:
        """Return the comparison as notebooks show it."""
        from pytest_jsonmatch.engine.result.notebook import match_html

        return match_html(self)

    def __bool__(self) -> NoReturn:
        message = (
            "a MatchResult has no truth value: it would be true at every score; "
            "use assert_json_match(actual, expected), or compare result.score with what you need"
        )
        raise TypeError(message)

    def __repr__(self) -> str:
        counts = ", ".join(f"{number} {status}" for status, number in self.counts.items())
        return (
            f"<MatchResult {self.metric} score={short_score(self.score)}: {counts or 'nothing to compare'}>"
        )


def approximate_warning(gap: float) -> str:
    """Return what is said of a result whose arrays could not be paired exactly."""
    return (
        f"{_APPROXIMATE}: an unordered array is too large for memory_limit; "
        f"its pairs' similarities may add up to {gap:.3g} less than the best"
    )


_APPROXIMATE: Final = "the alignment is approximate"


def is_approximate(warnings: Iterable[str]) -> bool:
    """Tell whether one of a result's warnings says that its arrays could not be paired exactly.

    >>> is_approximate([approximate_warning(0.5)]), is_approximate(["the key 'a' comes twice"])
    (True, False)
    """
    return any(warning.startswith(_APPROXIMATE) for warning in warnings)


def short_score(score: float) -> str:
    """Return a score with up to four digits, never rounded up to 1 or down to 0."""
    text = f"{score:.4g}"
    return repr(score) if (text == "1" and score < 1.0) or (float(text) == 0.0 and score > 0.0) else text


def _whole(number: float) -> float:
    return int(number) if number == int(number) else number


def aggregate_dict(aggregate: FieldAggregation) -> dict[str, Any]:
    return {
        "matches": aggregate.matches,
        "mismatches": aggregate.mismatches,
        "omissions": aggregate.omissions,
        "hallucinations": aggregate.hallucinations,
        "skipped": aggregate.skipped,
        "batch_errors": aggregate.batch_errors,
        "mean_score": aggregate.mean_score,
        "precision": aggregate.precision,
        "recall": aggregate.recall,
        "f1": aggregate.f1,
    }


# Larger results are not remembered by their shape.
_FEW: Final = 100
_STATUS_INDEX: Final = {MATCH: 0, MISMATCH: 1, OMISSION: 2, HALLUCINATION: 3, SKIPPED: 4, BATCH_ERROR: 5}


def aggregate_rows(rows: Sequence[Row]) -> dict[PlanNode, FieldAggregation]:
    """Sum rows up by plan node, that is by schema path."""
    sums: dict[PlanNode, list[float]] = {}
    for node, _, _, _, status, score, _, _, detail in rows:
        numbers = sums.get(node.place)
        if numbers is None:
            numbers = sums[node.place] = [0, 0, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0]
        numbers[_STATUS_INDEX[status]] += 1
        if status in _LEAVES:
            expected, actual = row_weights(node, status, detail)
            numbers[6] += score
            numbers[7] += score * node.weight
            numbers[8] += expected
            numbers[9] += actual
    return {node: FieldAggregation.from_list(numbers) for node, numbers in sums.items()}


def row_weights(node: PlanNode, status: str, detail: Detail | None) -> tuple[float, float]:
    """Return the weighted leaves of expected and actual that a row stands for."""
    if detail is not None and detail.weights is not None:
        return detail.weights
    expected, actual = _LEAVES.get(status, (0, 0))
    return expected * node.weight, actual * node.weight


def errors_of(rows: Sequence[Row]) -> Iterator[ErrorEntry]:
    for row in rows:
        detail = row[8]
        if detail is None:
            continue
        if detail.error:
            field = FieldResult(row)
            yield ErrorEntry(field.short_path(), field.comparator or "?", detail.error)
        if detail.differences:
            yield from errors_of(detail.differences)


def sum_rows(rows: Sequence[Row]) -> Totals:
    """Return the weighted totals of rows; the same whatever their order."""
    scores: list[float] = []
    expected_weights: list[float] = []
    actual_weights: list[float] = []
    perfect = True
    for node, _, _, _, status, score, _, _, detail in rows:
        if status not in _LEAVES:
            continue
        expected, actual = row_weights(node, status, detail)
        scores.append(score * node.weight)
        expected_weights.append(expected)
        actual_weights.append(actual)
        perfect = perfect and (score == 1.0 or not (expected or actual))
    return Totals(math.fsum(scores), math.fsum(expected_weights), math.fsum(actual_weights), perfect)
