"""What a walk finds: one finding per leaf, its place, and what was said of it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.paths import ELEMENT, format_path
from pytest_jsonmatch.engine.value.sums import Sums

if TYPE_CHECKING:
    from collections.abc import Collection

    from pytest_jsonmatch.engine.align.context import IndexPairs
    from pytest_jsonmatch.engine.compare.base import ComparatorResult, Question
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue, Side

MATCH: Final = "match"
MISMATCH: Final = "mismatch"
OMISSION: Final = "omission"
HALLUCINATION: Final = "hallucination"
SKIPPED: Final = "skipped"
PENDING: Final = "pending"
BATCH_ERROR: Final = "batch_error"

STATUSES: Final = (MATCH, MISMATCH, OMISSION, HALLUCINATION, SKIPPED, PENDING, BATCH_ERROR)
"""Every status a finding can have."""
LEAFLESS: Final = frozenset({SKIPPED, PENDING, BATCH_ERROR})
"""Statuses that count in no figure."""
LEAVES: Final = {MATCH: (1, 1), MISMATCH: (1, 1), OMISSION: (1, 0), HALLUCINATION: (0, 1)}
"""How many leaves of expected and of actual a status normally counts; other statuses count none."""


@final
class Place(NamedTuple):
    """A place of both documents: one step from the place of the container around it.

    Equal places are one place, in every walk over two documents.
    """

    parent: Place | None
    """The place of the container around it; None: it is the root."""
    expected_key: Any
    """Its key or index in expected's container, or `MISSING`; None for the root."""
    actual_key: Any
    """Likewise in actual's."""
    choice: int = 0
    """The number of the accepted value that stands for the expected one here; 0: the expected one."""

    @property
    def key(self) -> Any:
        """Return its key or index in expected, else in actual."""
        return self.actual_key if self.expected_key is MISSING else self.expected_key


@final
class Aligned(NamedTuple):
    """Which elements of two arrays were paired, other than by position."""

    node: PlanNode
    place: Place
    pairs: IndexPairs
    expected: list[JsonValue]
    actual: list[JsonValue]


@final
class Detail(NamedTuple):
    """What a finding says beyond that of an ordinary leaf."""

    reason: str | None = None
    comparator: str | None = None
    leaves: tuple[int, int] | None = None
    """Leaves of each side, unless they are the 1 or 0 that the status implies."""
    weights: tuple[float, float] | None = None
    """The same in weights, relative to that of the finding's place."""
    differences: tuple[Finding, ...] = ()
    """The differences below a unit."""
    error: str | None = None


@final
class Rating(NamedTuple):
    """What a finding says of its place."""

    status: str
    score: float = 0.0
    detail: Detail | None = None


class Finding(NamedTuple):
    """The result of one leaf, or of a value scored as a whole: a unit, a mistyped or empty container.

    All findings are made as `FieldResult`s (`new_finding`), which have more properties for people to read.
    """

    node: PlanNode
    """The rules of its schema path."""
    trail: Place | None
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
        return Place(self.trail, self.expected_key, self.actual_key)

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


ROOT: Final = Place(None, None, None)


BatchAnswer: TypeAlias = "float | ComparatorResult | str"
"""The answer of a batch comparator for a place: a score, or the reason why there is none."""


@final
class Asked(NamedTuple):
    """A place that waits for the answer of a batch comparator."""

    place: Place
    question: Question
    finding: Finding
    """The finding as long as there is no answer."""
    expected: JsonValue
    """The value in expected after transforms."""
    actual: JsonValue
    """The value in actual after transforms."""


@final
class Seen:
    """The places of expected that a walk met, in the order of the document, and its objects; it merges."""

    __slots__ = ("_met", "mistyped", "objects")

    def __init__(self) -> None:
        # With a container, its members are meant; without one, the place itself.
        self._met: list[tuple[PlanNode, Collection[Any] | None]] = []
        self.objects: list[tuple[PlanNode, dict[str, JsonValue], Any]] = []
        """Each object of expected, and its counterpart in actual: an object, or `MISSING`."""
        self.mistyped: list[tuple[PlanNode, JsonValue]] = []
        """Objects and arrays of expected that were not entered, since actual has another type there."""

    def enter(self, node: PlanNode, container: Collection[Any]) -> None:
        """Note an object or array, which is no leaf itself, and its members."""
        self._met.append((node, container))

    def meet(self, node: PlanNode) -> None:
        """Note a place that is not in an entered container."""
        self._met.append((node, None))

    def merge(self, other: Seen) -> None:
        """Add what another has seen."""
        self._met += other._met
        self.objects += other.objects
        self.mistyped += other.mistyped

    def places(self) -> dict[PlanNode, int]:
        """Return how many leaves of expected were met at each schema path, in the order of the document."""
        keys: dict[PlanNode, list[str]] = {}
        counts: dict[PlanNode, int] = dict(Counter([node.place for node, each in self._met if each is None]))
        below: dict[PlanNode, dict[PlanNode, None]] = {}
        entered = [(node, container) for node, container in self._met if container is not None]
        for node, container in entered:
            if type(container) is dict:
                keys.setdefault(node, []).extend(container)
            else:
                element = node.children[ELEMENT].place
                counts[element] = counts.get(element, 0) + len(container)
                below.setdefault(node.place, {})[element] = None
        for node, names in keys.items():
            members = below.setdefault(node.place, {})
            for key, number in Counter(names).items():
                place = node.children[key].place
                counts[place] = counts.get(place, 0) + number
                members[place] = None
        for node, number in Counter([node for node, _ in entered]).items():
            counts[node.place] = counts.get(node.place, 0) - number
        inner = {place for members in below.values() for place in members}
        waiting = [place for place in (*below, *counts) if place not in inner]
        ordered: dict[PlanNode, int] = {}
        waiting.reverse()
        while waiting:
            place = waiting.pop()
            if place not in ordered:
                ordered[place] = counts.get(place, 0)
                waiting.extend(reversed(below.get(place, {})))
        return ordered


def instance_trail(place: Place | None, side: Side) -> tuple[Any, ...]:
    """Return the keys and indices that lead to a place on one side."""
    keys: list[Any] = []
    while place is not None and place.parent is not None:
        keys.append(place.expected_key if side == "expected" else place.actual_key)
        place = place.parent
    return tuple(reversed(keys))


def instance_path(place: Place | None, side: Side, limit: int | None = None) -> str:
    """Return the path of a place on one side, cut after `limit` levels."""
    return format_path(instance_trail(place, side), limit)
