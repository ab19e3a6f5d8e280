"""What all pairings of one comparison share, and how their tasks are run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.align.keys import Canon

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.leaves import Known
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

    Side: TypeAlias = tuple[list[JsonValue], Sequence[int]]
    """An array, and the indices of the elements in question."""
    Measure: TypeAlias = Callable[[PlanNode, Any, "Source", "Source"], Generator[Any, Any, "Cell"]]

Pairs: TypeAlias = "list[tuple[int, int]]"
"""Pairs of (index in expected, index in actual), in the order of expected."""

NOTHING: Final = 1e-300
_SLACK: Final = 1e-12
_BYTES_A_CELL: Final = 32
_MOST_KEPT: Final = 200_000
_PATIENCE: Final = 2
"""After this many rounds of questions, the next best pairings are asked about as well."""
_MOST_DOUBLINGS: Final = 8


@final
class Source(NamedTuple):
    """Where an element stands."""

    array: list[JsonValue]
    at: int


@final
class Cell(NamedTuple):
    """A pair of elements: exactly, or the most that it can be worth while questions are open."""

    similarity: float
    score: float
    """Σ weight·score."""
    less: float = 0.0
    """How many leaves it has less than its elements, where it is of a grid."""
    questions: tuple[Any, ...] = ()
    """What batch comparators have still to answer."""


@final
class Pairing(NamedTuple):
    """How two arrays pair."""

    pairs: Pairs
    score: float = 0.0
    """Σ of the pairs, where they are of a grid."""
    less: float = 0.0
    """How many leaves the pairs have less than their elements, likewise."""
    questions: tuple[Any, ...] = ()
    """What batch comparators have still to answer before the pairs are sure."""


@final
class Aligned(NamedTuple):
    """Which elements of two arrays were paired, other than by position."""

    node: PlanNode
    trail: Any
    """Where the arrays stand."""
    pairs: Pairs
    expected: list[JsonValue]
    actual: list[JsonValue]


def run(task: Generator[Any, Any, Any]) -> Any:
    """Run a task to its end, and the tasks that it yields because it needs what they return.

    Arrays in arrays are tasks in tasks: their depth costs no recursion.
    """
    tasks = [task]
    value: Any = None
    while True:
        try:
            task = tasks[-1].send(value)
        except StopIteration as done:
            tasks.pop()
            if not tasks:
                return done.value
            value = done.value
        else:
            tasks.append(task)
            value = None


def similarity_of(score: float, whole: float) -> float:
    """Return Σ over the weighted leaves that it is out of: at most 1, and 1 where there is nothing."""
    return 1.0 if whole <= NOTHING else min(score / whole, 1.0)


class Context:
    """The options at hand, and the pairings of nested arrays that were found on the way."""

    def __init__(self, plan: Plan, measure: Measure, *, count_extra: bool, rounds: int = 0) -> None:
        """Take what scores two elements alone, and how often batch comparators have been asked."""
        options = plan.options
        self.plan = plan
        self.count_extra = count_extra
        self.as_f1 = options.reduce == "f1"
        # "Greater" than the threshold by more than rounding.
        self.threshold = options.array_threshold + _SLACK
        self.canon = Canon(nulls_absent=options.nulls == "absent")
        self.leaves: Known = {}
        self.most: dict[tuple[PlanNode, int], float] = {}
        """The most that containers of actual can score."""
        self.gap: float | None = None
        """What the pairs of arrays beyond the memory limit may be short of the optimum; None: none are."""
        self.solutions_ahead = (
            0 if rounds < _PATIENCE else 2 ** min(rounds - _PATIENCE + 1, _MOST_DOUBLINGS) - 1
        )
        """How many of the next best pairings batch comparators are asked about as well."""
        self.measure = measure
        """Returns the task that scores two elements alone."""
        self.kept: dict[tuple[int, int], Pairing] = {}

    def fits(self, rows: int, columns: int) -> bool:
        """Tell whether a grid of this size fits the memory limit."""
        return rows * columns * _BYTES_A_CELL <= self.plan.options.memory_limit

    def keep(self, expected: list[JsonValue], actual: list[JsonValue], pairing: Pairing) -> None:
        """Keep the pairs of two arrays for when the walk comes to them."""
        if len(self.kept) < _MOST_KEPT:
            self.kept[id(expected), id(actual)] = pairing
