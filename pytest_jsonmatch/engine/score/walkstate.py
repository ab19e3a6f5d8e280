"""The state shared by the walks of one comparison, and the outcome of a walk."""

from __future__ import annotations

from collections import Counter
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
    from pytest_jsonmatch.engine.comparators.base import ComparatorResult, Question
    from pytest_jsonmatch.engine.plan.accept import BestValue
    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.node import LeafCache, PlanNode
    from pytest_jsonmatch.engine.score.field import FieldResult, Place
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.engine.value.sums import Sums


@final
class AlignedArrays(NamedTuple):
    """Two arrays whose elements are not paired by position, and the pairs."""

    node: PlanNode
    place: Place
    pairs: IndexPairs
    expected: list[JsonValue]
    actual: list[JsonValue]


BatchAnswer: TypeAlias = "float | ComparatorResult | str"
"""The answer of a batch comparator for a place: a score, or the reason why there is none."""


@final
class OpenQuestion(NamedTuple):
    """A place that needs the answer of a batch comparator."""

    place: Place
    question: Question
    finding: FieldResult
    """The finding while there is no answer."""


@final
class VisitedPlaces:
    """Visited places of expected, in document order."""

    __slots__ = ("_visited",)

    def __init__(self) -> None:
        # An entry with a container counts the container's members; one without counts the place itself.
        self._visited: list[tuple[PlanNode, Collection[Any] | None]] = []

    def enter(self, node: PlanNode, container: Collection[Any] | None) -> None:
        """Note a container and its members; without a container, note the place itself."""
        self._visited.append((node, container))

    def merge(self, other: VisitedPlaces) -> None:
        """Add the places of another walk."""
        self._visited += other._visited

    def is_known(self, known: dict[Any, set[Any]]) -> bool:
        """Return whether an earlier walk had the same places and containers; add those that are new."""
        is_known = True
        containers = frozenset(node for node, _ in self._visited)
        for node, container in self._visited:
            keys: Collection[Any] = ()
            if type(container) is dict:
                keys = container.keys()
            elif container:
                keys = (ELEMENT,)
            of_node = known.get((containers, node))
            if of_node is None:
                known[containers, node] = {*keys}
                is_known = False
            elif not of_node.issuperset(keys):
                of_node.update(keys)
                is_known = False
        return is_known

    def count_places(self) -> dict[PlanNode, int]:
        """Return the number of visited leaves of expected at each schema path, containers first."""
        counts: Counter[PlanNode] = Counter()
        entered: dict[tuple[PlanNode, type], list[Collection[Any]]] = {}
        for node, container in self._visited:
            if container is None:
                counts[node.place] += 1
            else:
                entered.setdefault((node, type(container)), []).append(container)
        for (node, kind), containers in entered.items():
            counts[node.place] -= len(containers)
            elements = {ELEMENT: sum(map(len, containers))}
            keys = Counter(chain.from_iterable(containers)) if kind is dict else elements
            for key, number in keys.items():
                counts[node.undecided[key].place] += number
        return counts


@final
class WalkState:
    """The results of comparators and pairings for two documents.

    Another walk with the same state has the same results, calls no comparator twice, and pairs nothing again.
    """

    __slots__ = (
        "aligner",
        "answers",
        "choices",
        "comparator_results",
        "count_extra",
        "count_members",
        "leaves",
        "nested_sums",
        "pairs",
        "plan",
        "rounds",
        "similarities",
        "two_sided",
        "units",
    )

    def __init__(
        self, plan: Plan, answers: Mapping[Place, BatchAnswer], *, units: bool = False, rounds: int = 0
    ) -> None:
        extra = plan.options.extra
        self.plan: Plan = plan
        self.answers: Mapping[Place, BatchAnswer] = answers
        """The answers of batch comparators so far."""
        self.units: bool = units
        """Whether top-level keys are units, so that any extra leaf below one is a difference."""
        self.rounds: int = rounds
        """The number of times that batch comparators have been asked."""
        self.count_extra: bool = units or extra != "ignore"
        """Whether extra elements of arrays count."""
        self.count_members: bool = units or extra == "count"
        """Whether extra members of objects count, too."""
        self.two_sided: bool = self.count_members and plan.options.reduce == "f1"
        """Whether similarities are divided by the leaves of both sides, not only by expected's."""
        self.comparator_results: dict[Place, float | ComparatorResult | Question | Exception] = {}
        """The results and exceptions of comparators without a table, so that each is called once."""
        self.choices: dict[Place, BestValue] = {}
        """The best accepted values, at the places with accepted alternatives."""
        self.pairs: dict[Place, IndexPairs] = {}
        """The pairs of elements of the result's arrays."""
        self.leaves: LeafCache = {}
        self.aligner: Aligner | None = None
        self.nested_sums: dict[Place, tuple[Sums, dict[Place, OpenQuestion], float]] = {}
        """The sums of arrays in elements of other arrays, their questions, and the excluded leaves."""
        self.similarities: dict[Place, tuple[Sums, dict[Place, OpenQuestion], float]] = {}
        """The sums, questions and excluded leaves of these arrays for similarities."""

    def leaf_count(self, node: PlanNode, expected: JsonValue, actual: JsonValue) -> float:
        """Return the leaf count of two values, each counted on its own: what they add to Σ if they match."""
        expected_count = leaf_count(node, expected, self.leaves, of_expected=True)
        if not self.two_sided:
            return expected_count
        return (expected_count + leaf_count(node, actual, self.leaves, of_expected=False)) * 0.5

    def finish(self) -> None:
        """Release what further walks do not need."""
        self.aligner = None
        self.nested_sums = {}
        self.similarities = {}
        self.leaves = {}


@final
class Outcome(NamedTuple):
    """The outcome of a walk."""

    root: PlanNode
    """The node of the whole documents."""
    findings: Sequence[FieldResult]
    """All findings, in document order; plain matches may be left out."""
    matches: int
    """The number of plain matches that are not among the findings."""
    sums: Sums
    alignments: Sequence[AlignedArrays]
    visited: VisitedPlaces
    state: WalkState | None = None
    """The state for another walk that writes plain matches; None if none are left out."""
    questions: Mapping[Place, OpenQuestion] = MappingProxyType({})
    """The open questions to batch comparators."""
    warnings: tuple[str, ...] = ()
    """Warnings about elements that can't be paired by their key."""
    one_sided_arrays: Sequence[AlignedArrays] = ()
    """The arrays that only one side has and that are not compared by position."""

    @property
    def has_figures(self) -> bool:
        """Whether anything counts; after batch errors there may be nothing."""
        if self.sums.expected or self.sums.actual:
            return True
        return not any(finding.status == BATCH_ERROR for finding in self.findings)
