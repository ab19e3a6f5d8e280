"""The state that the walks of one comparison share, and what a walk returns."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.plan.node import leaf_count
from pytest_jsonmatch.engine.score.field import BATCH_ERROR
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pytest_jsonmatch.engine.align.arrays import Aligner
    from pytest_jsonmatch.engine.align.context import IndexPairs
    from pytest_jsonmatch.engine.compare.base import ComparatorResult, Question
    from pytest_jsonmatch.engine.plan.accept import BestValue
    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.node import LeafCache, PlanNode
    from pytest_jsonmatch.engine.score.field import FieldResult, Place
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.engine.value.sums import Sums


@final
class AlignedArrays(NamedTuple):
    """Which elements of two arrays were paired, other than by position."""

    node: PlanNode
    place: Place
    pairs: IndexPairs
    expected: list[JsonValue]
    actual: list[JsonValue]


BatchAnswer: TypeAlias = "float | ComparatorResult | str"
"""The answer of a batch comparator for a place: a score, or the reason why there is none."""


@final
class OpenQuestion(NamedTuple):
    """A place that waits for the answer of a batch comparator."""

    place: Place
    question: Question
    finding: FieldResult
    """The finding as long as there is no answer."""


@final
class VisitedPlaces:
    """Visited places of expected, in document order."""

    __slots__ = ("_met",)

    def __init__(self) -> None:
        # With a container, its members are meant; without one, the place itself.
        self._met: list[tuple[PlanNode, Collection[Any] | None]] = []

    def enter(self, node: PlanNode, container: Collection[Any] | None) -> None:
        """Note an object or array, which is no leaf itself, and its members; without one, a place."""
        self._met.append((node, container))

    def merge(self, other: VisitedPlaces) -> None:
        """Add the places of another walk."""
        self._met += other._met

    def places(self) -> dict[PlanNode, int]:
        """Return how many leaves of expected were met at each schema path, containers first."""
        counts: Counter[PlanNode] = Counter()
        entered: dict[tuple[PlanNode, type], list[Collection[Any]]] = {}
        for node, container in self._met:
            if container is None:
                counts[node.place] += 1
            else:
                entered.setdefault((node, type(container)), []).append(container)
        for (node, kind), containers in entered.items():
            counts[node.place] -= len(containers)
            elements = {ELEMENT: sum(map(len, containers))}
            keys = Counter(chain.from_iterable(containers)) if kind is dict else elements
            for key, number in keys.items():
                counts[node.children[key].place] += number
        return counts


@final
@dataclass(slots=True, eq=False)
class WalkState:
    """What comparators and pairings returned while two documents were walked.

    Walking again with the same state gives the same results, asks nobody twice, and pairs nothing again.
    """

    plan: Plan
    answers: Mapping[Place, BatchAnswer]
    """The answers of batch comparators so far."""
    units: bool = False
    """Whether top-level keys are units: then any extra leaf below one is a difference."""
    rounds: int = 0
    """How often batch comparators have been asked."""
    count_extra: bool = False
    two_sided: bool = False
    """Whether similarities are divided by the leaves of both sides, not only by those of expected."""
    known: dict[Place, float | ComparatorResult | Question | Exception] = field(default_factory=dict)
    """What comparators without a table returned or raised: none is called twice for one place."""
    choices: dict[Place, BestValue] = field(default_factory=dict)
    """What counts at the places where more than the expected value is right."""
    pairs: dict[Place, IndexPairs] = field(default_factory=dict)
    """How the arrays of the result are paired."""
    leaves: LeafCache = field(default_factory=dict)
    aligner: Aligner | None = None
    nested: dict[Place, tuple[Sums, dict[Place, OpenQuestion], float]] = field(default_factory=dict)
    """The sums of arrays in the elements of other arrays, and the questions in them."""
    alike: dict[Place, tuple[Sums, dict[Place, OpenQuestion], float]] = field(default_factory=dict)
    """The same for similarities."""

    def __post_init__(self) -> None:
        """Take options of the plan that every walk looks at."""
        self.count_extra = self.units or self.plan.options.extra == "count"
        self.two_sided = self.count_extra and self.plan.options.reduce == "f1"

    def leaf_count(self, node: PlanNode, expected: JsonValue, actual: JsonValue) -> float:
        """Return the leaf count of two values, each counted alone: what they add to Σ if they are right."""
        own = leaf_count(node, expected, self.leaves, of_expected=True)
        if not self.two_sided:
            return own
        return (own + leaf_count(node, actual, self.leaves, of_expected=False)) * 0.5

    def finish(self) -> None:
        """Forget what walking again does not need."""
        self.aligner = None
        self.nested = {}
        self.alike = {}
        self.leaves = {}


@final
class Outcome(NamedTuple):
    """What a walk returns."""

    root: PlanNode
    """The node of the whole documents."""
    findings: Sequence[FieldResult]
    """Everything but plain matches, and possibly those, in the order of the document."""
    matches: int
    """The number of plain matches that are not among the findings."""
    sums: Sums
    alignments: Sequence[AlignedArrays]
    visited: VisitedPlaces
    own: WalkState | None = None
    """What walking again to write plain matches needs; None if there are none."""
    questions: Mapping[Place, OpenQuestion] = MappingProxyType({})
    """The open questions to batch comparators."""
    warnings: tuple[str, ...] = ()
    """Elements that can't be paired by their key."""
    lone_arrays: Sequence[AlignedArrays] = ()
    """Arrays that are not compared by position, and that only one side has."""

    @property
    def has_figures(self) -> bool:
        """Return whether anything counts: batch errors may have left nothing."""
        if self.sums.expected or self.sums.actual:
            return True
        return not any(each.status == BATCH_ERROR for each in self.findings)
