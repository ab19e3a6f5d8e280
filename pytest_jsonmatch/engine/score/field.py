"""The public result of one leaf, and the sequence of all results."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final, overload

from pytest_jsonmatch.engine.compare.explain import explain, explain_match
from pytest_jsonmatch.engine.score.outcome import (
    HALLUCINATION,
    LEAVES,
    MATCH,
    MISMATCH,
    OMISSION,
    PENDING,
    STATUSES,
    Place,
    instance_path,
)
from pytest_jsonmatch.engine.value.convert import CONTAINERS, MISSING, Matcher
from pytest_jsonmatch.engine.value.sums import Sums

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

MATCHER: Final = "matcher"
"""What results name as their comparator where a matcher decides."""
_REPLACEABLE: Final = tuple(status for status in STATUSES if status != PENDING)


@final
class Detail(NamedTuple):
    """What a finding says beyond that of an ordinary leaf."""

    reason: str | None = None
    comparator: str | None = None
    leaves: tuple[int, int] | None = None
    """Leaves of each side, unless they are the 1 or 0 that the status implies."""
    weights: tuple[float, float] | None = None
    """The same in weights, relative to that of the finding's place."""
    differences: tuple[FieldResult, ...] = ()
    """The differences below a unit."""
    error: str | None = None


@final
class Rating(NamedTuple):
    """What a finding says of its place."""

    status: str
    score: float = 0.0
    detail: Detail | None = None


@final
class FieldResult(NamedTuple):
    """The result of one leaf (or of one top-level key, under `field_match`). It cannot be changed.

    `status` is one of `STATUSES`, `score` is in [0, 1], `expected` and `actual` are the two values, `MISSING`
    if a side has none.

    >>> from pytest_jsonmatch import compare_json
    >>> field = compare_json({"n": 1}, {"n": 2}).field_results[0]
    >>> field.path, field.status, field.score, field.expected, field.actual
    ('n', 'mismatch', 0.0, 2, 1)
    """

    node: PlanNode
    """The rules of its schema path."""
    around: Place | None
    """The place of the container around it; None for the root."""
    expected_key: Any
    """Its key or index there in expected; None for the root, `MISSING` if expected has nothing."""
    actual_key: Any
    """Likewise in actual."""
    status: str
    """One of `STATUSES`."""
    score: float
    """In [0, 1]."""
    expected: JsonValue
    """The value in expected, or `MISSING`."""
    actual: JsonValue
    """The value in actual, or `MISSING`."""
    detail: Detail | None

    @property
    def place(self) -> Place:
        """Return its own place."""
        return Place(self.around, self.expected_key, self.actual_key)

    @property
    def leaves(self) -> tuple[int, int]:
        """Return how many leaves of expected and of actual it counts."""
        detail = self.detail
        if detail is not None and detail.leaves is not None:
            return detail.leaves
        return LEAVES.get(self.status, (0, 0))

    @property
    def own_weights(self) -> tuple[float, float]:
        """Return the same in weights, relative to that of this place."""
        detail = self.detail
        if detail is not None and detail.weights is not None:
            return detail.weights
        return LEAVES.get(self.status, (0, 0))

    @property
    def sums(self) -> Sums:
        """Return what it adds to all figures."""
        return self.sums_at(self.node.weight)

    def sums_at(self, weight: float) -> Sums:
        """Return what it adds if its place has this weight."""
        expected, actual = self.own_weights
        perfect = self.score == 1.0 or not (weight and (expected or actual))
        return Sums(self.score * weight, expected * weight, actual * weight, perfect)

    @property
    def path(self) -> str:
        """The schema path, such as `items[].price`; `$` is the root."""
        return self.node.path

    @property
    def expected_path(self) -> str | None:
        """The instance path in expected, such as `items[0].price`; None if expected has nothing there."""
        return None if self.expected_key is MISSING else instance_path(self.place, "expected")

    @property
    def actual_path(self) -> str | None:
        """The instance path in actual; None if actual has nothing there."""
        return None if self.actual_key is MISSING else instance_path(self.place, "actual")

    def short_path(self, limit: int | None = None) -> str:
        """Return the instance path in expected, else in actual, cut after `limit` levels."""
        return instance_path(self.place, "actual" if self.expected_key is MISSING else "expected", limit)

    @property
    def weight(self) -> float:
        """The weight of this result: the product of the weights on the path to it."""
        return self.node.weight

    @property
    def expected_compared(self) -> JsonValue:
        """The value in expected after transforms: what was compared."""
        return self.node.prepare(self.expected)

    @property
    def actual_compared(self) -> JsonValue:
        """The value in actual after transforms: what was compared."""
        return self.node.prepare(self.actual)

    @property
    def comparator(self) -> str | None:
        """The name of the comparator that scored it; None if nothing was compared."""
        detail = self.detail
        if detail is not None and detail.comparator is not None:
            return detail.comparator
        if self.status not in {MATCH, MISMATCH} or (detail is not None and detail.leaves is not None):
            return None
        if type(self.expected) is Matcher:
            return MATCHER
        return self.node.comparator_for(self.expected_compared, self.actual_compared)[0]

    @property
    def expected_leaves(self) -> int:
        """How many leaves of expected this result counts."""
        return self.leaves[0]

    @property
    def actual_leaves(self) -> int:
        """How many leaves of actual this result counts."""
        return self.leaves[1]

    @property
    def error(self) -> str | None:
        """What went wrong if the comparator raised, or returned no score in [0, 1]."""
        return None if self.detail is None else self.detail.error

    @property
    def reason(self) -> str | None:
        """Why the score is not 1, in a few words; for a match, what is unusual about it."""
        parts = self._own_reason(), "in another accepted value" if self._is_in_other() else None
        return ", ".join(filter(None, parts)) or None

    def _is_in_other(self) -> bool:
        place = self.around
        while place is not None and not place.choice:
            place = place.parent
        return place is not None

    def _own_reason(self) -> str | None:
        detail = self.detail
        if detail is not None and (detail.error or detail.reason):
            return detail.error or detail.reason
        if self.status == OMISSION:
            return "missing"
        if self.status == HALLUCINATION:
            return "not in the schema" if self.node.beyond_schema() else "not in expected"
        if self.status not in {MATCH, MISMATCH}:
            return None
        if type(self.expected) is Matcher:
            return None if self.status == MATCH else "the matcher does not accept it"
        expected, actual = self.expected_compared, self.actual_compared
        accept = self.node.accept
        # For two containers, the walk decides member by member what is accepted.
        if accept is not None and accept.scores_scalars and type(expected) not in CONTAINERS:
            said = accept.reason(expected, actual)
            if said is not None:
                return said
        name, params = self.node.comparator_for(expected, actual)
        why = explain_match if self.status == MATCH else explain
        return why(name or "exact", params, expected, actual)

    @property
    def differences(self) -> tuple[FieldResult, ...]:
        """The leaves that differ below a top-level key which is scored as a unit; else ()."""
        return () if self.detail is None else self.detail.differences

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON types, without a side that has no value."""
        names = ("path", "expected_path", "actual_path", "status", "score", "weight", "comparator", "reason")
        plain: dict[str, Any] = {name: getattr(self, name) for name in names}
        for name in ("expected", "actual"):
            value = getattr(self, name)
            if value is not MISSING:
                plain[name] = value
        if self.error:
            plain["error"] = self.error
        if differences := self.differences:
            plain["differences"] = [field.to_dict() for field in differences]
        return plain

    def __setattr__(self, name: str, value: object) -> None:
        message = (
            f"a result can't be changed; a post-processor returns field.replaced({name}=...) in its place"
        )
        raise AttributeError(message)

    def replaced(
        self, *, status: str | None = None, score: float | None = None, reason: str | None = None
    ) -> FieldResult:
        """Return another result for the same field, as post-processors need.

        Args:
            status: one of `STATUSES` except "pending". Default: match or mismatch, by the score.
            score: in [0, 1]. Default: 1 for a match, the old score for a mismatch (0 if it was 1), else 0.
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
        detail = self.detail
        if new_status != MISMATCH and detail is not None:
            detail = detail._replace(differences=(), error=None)
        if new_status != self.status and detail is not None and detail.leaves is not None:
            # A match is one leaf on each side; other statuses count the leaves of the sides they concern.
            sides = LEAVES.get(new_status, (0, 0))
            leaves, weights = detail.leaves, detail.weights or (0.0, 0.0)
            detail = detail._replace(
                leaves=None if new_status == MATCH else (leaves[0] * sides[0], leaves[1] * sides[1]),
                weights=None if new_status == MATCH else (weights[0] * sides[0], weights[1] * sides[1]),
            )
        if reason is not None:
            detail = (detail or Detail())._replace(reason=reason)
        return self._replace(status=new_status, score=new_score, detail=detail)

    def _decided(self, status: str | None, score: float | None) -> tuple[str, float]:
        """Return a status and a score that fit each other."""
        if status is not None and status not in _REPLACEABLE:
            message = f"status is {status!r}; it must be one of {', '.join(_REPLACEABLE)}"
            raise ValueError(message)
        if score is not None and not 0.0 <= score <= 1.0:
            message = f"score is {score!r}; it must be a number from 0 to 1"
            raise ValueError(message)
        if status is None:
            leaf = score is not None and self.status in {MATCH, MISMATCH}
            status = (MATCH if score == 1.0 else MISMATCH) if leaf else self.status
        if score is None:
            # A former match scores 0 unless the caller says otherwise.
            own = float(self.score)
            score = {MATCH: 1.0, MISMATCH: own if own < 1.0 else 0.0}.get(status, 0.0)
        if (score == 1.0) != (status == MATCH) or (score and status not in {MATCH, MISMATCH}):
            message = (
                f"status is {status!r} and score is {score!r}; "
                "a match scores 1, a mismatch less, and everything else 0"
            )
            raise ValueError(message)
        return status, float(score)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FieldResult) and self._key() == other._key()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.path, self.status, self.score))

    def _key(self) -> tuple[Any, ...]:
        values = self.status, self.score, self.expected, self.actual
        return (self.path, self.expected_path, self.actual_path, *values)

    def __repr__(self) -> str:
        return f"FieldResult({self.short_path()!r}, {self.status!r}, {self.score:.4g})"


# There may be millions of results: made like this, one takes 0.12 µs, and 0.22 µs by `FieldResult(...)`.
new_finding: Callable[[tuple[Any, ...]], FieldResult] = partial(tuple.__new__, FieldResult)


@final
class FieldResults(Sequence[FieldResult]):
    """The results of a comparison, in the order of the document.

    Args:
        findings: the results, or a function that makes them when one is read.
    """

    __slots__ = ("_findings",)

    def __init__(self, findings: Sequence[FieldResult] | Callable[[], Sequence[FieldResult]]) -> None:
        self._findings = findings

    def _made(self) -> Sequence[FieldResult]:
        return self._findings() if callable(self._findings) else self._findings

    def _kept(self) -> Sequence[FieldResult]:
        self._findings = made = self._made()
        return made

    @overload
    def __getitem__(self, index: int) -> FieldResult: ...
    @overload
    def __getitem__(self, index: slice) -> list[FieldResult]: ...
    def __getitem__(self, index: int | slice) -> FieldResult | list[FieldResult]:
        kept = self._kept()
        return list(kept[index]) if isinstance(index, slice) else kept[index]

    def __len__(self) -> int:
        return len(self._kept())

    def __iter__(self) -> Iterator[FieldResult]:
        # Not kept: one loop over a whole corpus must not leave millions of findings in memory.
        return iter(self._made())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FieldResults) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment] # like that of a list

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:3]))
        return f"[{shown}, … {len(self) - 3:,} more]" if len(self) > 3 else f"[{shown}]"
