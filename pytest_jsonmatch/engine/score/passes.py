"""The state that the walks of one comparison share, and what a walk returns."""

from __future__ import annotations

from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.score.outcome import BATCH_ERROR
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pytest_jsonmatch.engine.align.arrays import Aligner
    from pytest_jsonmatch.engine.align.context import IndexPairs
    from pytest_jsonmatch.engine.compare.base import ComparatorResult, Question
    from pytest_jsonmatch.engine.plan.accept import BestValue
    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.node import Known, PlanNode
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.score.outcome import Place
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.engine.value.sums import Sums


@final
class Aligned(NamedTuple):
    """Which elements of two arrays were paired, other than by position."""

    node: PlanNode
    place: Place
    pairs: IndexPairs
    expected: list[JsonValue]
    actual: list[JsonValue]


BatchAnswer: TypeAlias = "float | ComparatorResult | str"
"""The answer of a batch comparator for a place: a score, or the reason why there is none."""


@final
class Asked(NamedTuple):
    """A place that waits for the answer of a batch comparator."""

    place: Place
    question: Question
    finding: FieldResult
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


@final
class Pass:
    """One pass over two documents, with all that comparators and pairings have said in it.

    Walking again with the same pass gives the same results, asks nobody twice, and pairs nothing again.
    """

    __slots__ = (
        "aligner",
        "answers",
        "choices",
        "count_extra",
        "known",
        "leaves",
        "limit",
        "nested",
        "pairs",
        "partly_keyed",
        "plan",
        "rounds",
        "units",
    )

    def __init__(
        self, plan: Plan, answers: Mapping[Place, BatchAnswer], *, units: bool = False, rounds: int = 0
    ) -> None:
        """Take the answers of batch comparators so far, and the number of rounds.

        If top-level keys are `units`, an extra leaf below one is a difference, however the metric treats
        extra keys at the top.
        """
        self.plan: Plan = plan
        self.answers: Mapping[Place, BatchAnswer] = answers
        self.units: bool = units
        self.rounds: int = rounds
        self.count_extra: bool = units or plan.options.extra == "count"
        self.limit: float | None = plan.options.leaf_threshold
        self.known: dict[Place, float | ComparatorResult | Question | Exception] = {}
        """What comparators without a table said or raised: none is called twice for one place."""
        self.choices: dict[Place, BestValue] = {}
        """What counts at the places where more than the expected value is right."""
        self.pairs: dict[Place, IndexPairs] = {}
        """How the arrays of the result are paired."""
        self.partly_keyed: list[Aligned] = []
        """The arrays of the result that pair by key and have elements without a partner."""
        self.leaves: Known = {}
        self.aligner: Aligner | None = None
        self.nested: dict[Place, tuple[Sums, dict[Place, Asked]]] = {}
        """The sums of arrays in the elements of other arrays, and the questions in them."""

    def finish(self) -> None:
        """Forget what walking again does not need."""
        self.aligner = None
        self.nested = {}
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
    alignments: Sequence[Aligned]
    seen: Seen
    own: Pass | None = None
    """What walking again to write plain matches needs; None if there are none."""
    questions: Mapping[Place, Asked] = MappingProxyType({})
    """The open questions to batch comparators."""
    warnings: tuple[str, ...] = ()
    """Elements that can't be paired by their key."""

    @property
    def has_figures(self) -> bool:
        """Tell whether anything counts: batch errors may have left nothing."""
        if self.sums.expected or self.sums.actual:
            return True
        return not any(each.status == BATCH_ERROR for each in self.findings)
