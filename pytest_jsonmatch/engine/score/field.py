"""Places and statuses of results, and the public result of one leaf."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from pytest_jsonmatch.engine.comparators.explain import explain, explain_match
from pytest_jsonmatch.engine.comparators.kinds import NOTHING, is_nothing
from pytest_jsonmatch.engine.comparators.transforms import map_scalars
from pytest_jsonmatch.engine.value.convert import CONTAINERS, MISSING, Matcher, json_type, to_file_form
from pytest_jsonmatch.engine.value.paths import format_path
from pytest_jsonmatch.engine.value.sums import Sums

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue, PlaceKey, Side

MATCH: Final = "match"
MISMATCH: Final = "mismatch"
OMISSION: Final = "omission"
HALLUCINATION: Final = "hallucination"
SKIPPED: Final = "skipped"
PENDING: Final = "pending"
BATCH_ERROR: Final = "batch_error"

STATUSES: Final = (MATCH, MISMATCH, OMISSION, HALLUCINATION, SKIPPED, PENDING, BATCH_ERROR)
"""All statuses of results."""
UNCOUNTED: Final = frozenset({SKIPPED, PENDING, BATCH_ERROR})
"""Statuses that do not count in scores."""
LEAVES: Final = {MATCH: (1, 1), MISMATCH: (1, 1), OMISSION: (1, 0), HALLUCINATION: (0, 1)}
"""The numbers of leaves of expected and of actual that a status normally counts; others count none."""


@final
class Place(NamedTuple):
    """A place of both documents: the place of the container around it, and one key or index on each side.

    Equal places are the same place, in every walk over the same documents.
    """

    parent: Place | None
    """The place of the container around this one; None for the root."""
    expected_key: PlaceKey
    """The key or index in expected's container, or `MISSING`; None for the root."""
    actual_key: PlaceKey
    """The key or index in actual's container, or `MISSING`; None for the root."""
    choice: int = 0
    """The number of the accepted alternative that is compared here; 0 for the expected value."""

    @property
    def key(self) -> PlaceKey:
        """The key or index in expected, else in actual."""
        return self.actual_key if self.expected_key is MISSING else self.expected_key


ROOT: Final = Place(None, None, None)


def get_instance_keys(place: Place | None, side: Side) -> tuple[Any, ...]:
    """Return the keys and indices that lead to a place on one side."""
    keys: list[Any] = []
    while place is not None and place.parent is not None:
        keys.append(place.expected_key if side == "expected" else place.actual_key)
        place = place.parent
    return tuple(reversed(keys))


def get_expected_keys(field: FieldResult) -> tuple[Any, ...]:
    """Return the keys and indices of a field's expected value; of an extra field, those in actual."""
    return get_instance_keys(field.place, "actual" if field.expected_key is MISSING else "expected")


def format_instance_path(place: Place | None, side: Side) -> str:
    """Return the path of a place on one side."""
    return format_path(get_instance_keys(place, side))


MATCHER: Final = "matcher"
"""The name of the comparator in results of matchers."""
_REPLACEABLE: Final = tuple(status for status in STATUSES if status != PENDING)


@final
class Detail(NamedTuple):
    """The details of a finding that is not an ordinary leaf."""

    reason: str | None = None
    comparator: str | None = None
    leaves: tuple[int, int] | None = None
    """The leaves of each side; None for the 1 or 0 that the status implies."""
    weights: tuple[float, float] | None = None
    """The weights of these leaves, relative to the weight of the finding's place."""
    differences: tuple[FieldResult, ...] = ()
    """The differences below a unit."""
    error: str | None = None


@final
class Rating(NamedTuple):
    """The status and score of a place."""

    status: str
    score: float = 0.0
    detail: Detail | None = None


@final
class FieldResult(NamedTuple):
    """The immutable result of one leaf (or of one top-level key, under `field_match`).

    `status` is one of `STATUSES`, `score` is in [0, 1], and `expected` and `actual` are the two values, or
    `MISSING` if a side has none.

    >>> from pytest_jsonmatch import compare_json
    >>> field = compare_json({"n": 1}, {"n": 2}).field_results[0]
    >>> field.path, field.status, field.score, field.expected, field.actual
    ('n', 'mismatch', 0.0, 2, 1)
    """

    node: PlanNode
    """The node of the schema path, with its rules."""
    parent_place: Place | None
    """The place of the container around this one; None for the root."""
    expected_key: PlaceKey
    """The key or index in expected's container; None for the root, `MISSING` if expected has no value."""
    actual_key: PlaceKey
    """The key or index in actual's container; None for the root, `MISSING` if actual has no value."""
    status: str
    """One of `STATUSES`."""
    score: float
    """The score, in [0, 1]."""
    expected: JsonValue
    """The value in expected, or `MISSING`."""
    actual: JsonValue
    """The value in actual, or `MISSING`."""
    detail: Detail | None

    @property
    def place(self) -> Place:
        """The place of this result."""
        return Place(self.parent_place, self.expected_key, self.actual_key)

    @property
    def leaves(self) -> tuple[int, int]:
        """The numbers of leaves of expected and of actual that this result counts."""
        return (self.detail and self.detail.leaves) or LEAVES.get(self.status, (0, 0))

    @property
    def own_weights(self) -> tuple[float, float]:
        """The weights of these leaves, relative to the weight of this place."""
        return (self.detail and self.detail.weights) or LEAVES.get(self.status, (0, 0))

    @property
    def sums(self) -> Sums:
        """The sums that this result adds to those of the comparison."""
        return self.compute_sums_at(self.node.weight)

    def compute_sums_at(self, weight: float) -> Sums:
        """Return the sums that this result adds if its place has this weight."""
        expected, actual = self.own_weights
        perfect = self.score == 1.0 or not (weight and (expected or actual))
        return Sums(self.score * weight, expected * weight, actual * weight, perfect)

    @property
    def path(self) -> str:
        """The schema path, such as `items[].price`; `$` is the root."""
        return self.node.path

    @property
    def expected_path(self) -> str | None:
        """The instance path in expected, such as `items[0].price`; None if expected has no value there."""
        return None if self.expected_key is MISSING else format_instance_path(self.place, "expected")

    @property
    def actual_path(self) -> str | None:
        """The instance path in actual; None if actual has no value there."""
        return None if self.actual_key is MISSING else format_instance_path(self.place, "actual")

    def short_path(self) -> str:
        """Return the instance path in expected, else in actual."""
        return format_instance_path(self.place, "actual" if self.expected_key is MISSING else "expected")

    @property
    def weight(self) -> float:
        """The weight of this result: the product of the weights on the path to it."""
        return self.node.weight

    @property
    def expected_compared(self) -> JsonValue:
        """The compared value of expected, after transforms."""
        return self.node.rules.try_transform(self.expected)

    @property
    def actual_compared(self) -> JsonValue:
        """The compared value of actual, after transforms."""
        return self.node.rules.try_transform(self.actual)

    @property
    def comparator(self) -> str | None:
        """The name of the comparator of this result; None if nothing was compared."""
        detail = self.detail
        if detail is not None and detail.comparator is not None:
            return detail.comparator
        if self.status not in {MATCH, MISMATCH} or (detail is not None and detail.leaves is not None):
            return None
        if type(self.expected) is Matcher:
            return MATCHER
        return self.node.rules.find_comparator(self.expected_compared, self.actual_compared)[0]

    @property
    def expected_leaves(self) -> int:
        """The number of leaves of expected that this result counts."""
        return self.leaves[0]

    @property
    def actual_leaves(self) -> int:
        """The number of leaves of actual that this result counts."""
        return self.leaves[1]

    @property
    def error(self) -> str | None:
        """The error if the comparator raised one, or returned something that is not a score in [0, 1]."""
        return None if self.detail is None else self.detail.error

    @property
    def reason(self) -> str | None:
        """The reason why the score is not 1, in a few words; for a match, what is unusual about it."""
        parts = self._find_reason(), "in another accepted value" if self._is_in_alternative() else None
        return ", ".join(filter(None, parts)) or None

    def _is_in_alternative(self) -> bool:
        place = self.parent_place
        while place is not None and not place.choice:
            place = place.parent
        return place is not None

    def _find_reason(self) -> str | None:
        detail = self.detail
        if detail is not None and (detail.error or detail.reason):
            return detail.error or detail.reason
        if self.status == OMISSION:
            return NOTHING if is_nothing(self.expected) else "missing"
        if self.status == HALLUCINATION:
            if self.node.is_beyond_schema():
                return "not in the schema"
            return NOTHING if is_nothing(self.actual) else "not in expected"
        if self.status not in {MATCH, MISMATCH}:
            return None
        if type(self.expected) is Matcher:
            return None if self.status == MATCH else "not accepted"
        expected, actual = self.expected_compared, self.actual_compared
        accept = self.node.rules.accept
        # The walk has chosen the alternative for a container.
        if (
            accept is not None
            and accept.scores_scalars
            and CONTAINERS.isdisjoint({type(expected), type(actual)})
        ):
            reason = accept.format_reason(accept.find_best_scalar(expected, actual))
            if reason is not None:
                return reason
        if self.node.rules.reads_text and (type(expected) is str) is not (type(actual) is str):
            return _explain_text(expected, actual)
        name, params = self.node.rules.find_comparator(expected, actual)
        explain_pair = explain_match if self.status == MATCH else explain
        return explain_pair(name or "exact", params, expected, actual)

    @property
    def differences(self) -> tuple[FieldResult, ...]:
        """The differing leaves below a top-level key that is scored as a unit; else ()."""
        return () if self.detail is None else self.detail.differences

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON types; a side without a value is left out."""
        names = ("path", "expected_path", "actual_path", "status", "score", "weight", "comparator", "reason")
        result: dict[str, Any] = {name: getattr(self, name) for name in names}
        for name in ("expected", "actual"):
            value = getattr(self, name)
            if value is not MISSING:
                result[name] = map_scalars(value, to_file_form)
        if self.error:
            result["error"] = self.error
        if differences := self.differences:
            result["differences"] = [field.to_dict() for field in differences]
        return result

    def replaced(
        self, *, status: str | None = None, score: float | None = None, reason: str | None = None
    ) -> FieldResult:
        """Return a changed result for the same field, for post-processors.

        Args:
            status: one of `STATUSES` except "pending". Default: match or mismatch, by the score.
            score: in [0, 1]. Default: 1 for a match, the old score for a mismatch (0 if it was 1), else 0.
            reason: the reason as text; None to keep the old one.

        Raises:
            ValueError: the status or score is invalid, or they contradict each other: a match scores 1, a
                mismatch less than 1, and everything else 0.

        >>> from pytest_jsonmatch import compare_json
        >>> field = compare_json({"n": None}, {"n": 5}).field_results[0]
        >>> field.replaced(status="omission", reason="null says nothing")
        FieldResult('n', 'omission', 0)
        """
        if status is None:
            is_rated = score is not None and self.status in {MATCH, MISMATCH}
            status = (MATCH if score == 1.0 else MISMATCH) if is_rated else self.status
        if score is None:
            # A former match scores 0 unless the caller gives a score.
            score = {MATCH: 1.0, MISMATCH: self.score if self.score < 1.0 else 0.0}.get(status, 0.0)
        fits = (
            (score == 1.0) if status == MATCH else (0.0 <= score < 1.0) if status == MISMATCH else not score
        )
        if status not in _REPLACEABLE or not fits:
            message = (
                f"status is {status!r} and score is {score!r}; a match scores 1, a mismatch less, "
                f"and everything else 0; statuses: {', '.join(_REPLACEABLE)}"
            )
            raise ValueError(message)
        detail = self.detail
        if status != MISMATCH and detail is not None:
            detail = detail._replace(differences=(), error=None)
        if status != self.status and detail is not None and detail.leaves is not None:
            # A match is one leaf on each side; other statuses count the leaves of the sides they concern.
            sides = LEAVES.get(status, (0, 0))
            leaves, weights = detail.leaves, detail.weights or (0.0, 0.0)
            detail = detail._replace(
                leaves=None if status == MATCH else (leaves[0] * sides[0], leaves[1] * sides[1]),
                weights=None if status == MATCH else (weights[0] * sides[0], weights[1] * sides[1]),
            )
        if reason is not None:
            detail = (detail or Detail())._replace(reason=reason)
        return self._replace(status=status, score=float(score), detail=detail)

    def __repr__(self) -> str:
        return f"FieldResult({self.short_path()!r}, {self.status!r}, {self.score:.4g})"


def _explain_text(expected: JsonValue, actual: JsonValue) -> str:
    """Explain a difference of types where texts are JSON: the text is not, or is of another type."""
    kinds = json_type(expected), json_type(actual)
    return " against ".join(
        kind if kind != "string" else f"text that is not JSON of type {other}"
        for kind, other in (kinds, kinds[::-1])
    )


# There may be millions of results: creating one takes 0.12 µs like this, and 0.22 µs by `FieldResult(...)`.
new_finding: Callable[[tuple[Any, ...]], FieldResult] = partial(tuple.__new__, FieldResult)
