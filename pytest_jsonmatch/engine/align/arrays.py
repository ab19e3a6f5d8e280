"""Pair the elements of two arrays: by key, or for the greatest total similarity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.align.columns import Columns
from pytest_jsonmatch.engine.align.keys import Canon
from pytest_jsonmatch.engine.align.nested import Source, twins
from pytest_jsonmatch.engine.align.small import ListGrid
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from pytest_jsonmatch.engine.align.grid import Cell, Grid
    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

    Measure: TypeAlias = Callable[[PlanNode, Any, Source, Source], Generator[Any, Any, Cell]]

__all__ = ["Aligner", "Pairing", "Pairs", "pair_by_key", "run"]

Pairs: TypeAlias = "list[tuple[int, int]]"
"""Pairs of (index in expected, index in actual), in the order of expected."""

_SMALL_CELLS: Final = 1_000
"""Up to this many pairs of elements, nested ones counted, lists are as fast as numpy."""
_SLACK: Final = 1e-12
_MOST_KEPT: Final = 200_000
_MOST_LEVELS: Final = 8
"""Arrays in arrays are bounded together down to this level."""


@final
class Pairing(NamedTuple):
    """How two unordered arrays pair."""

    pairs: Pairs
    questions: tuple[Any, ...] = ()
    """What batch comparators have still to answer before the pairs are sure."""


def pair_by_key(element: PlanNode, key: str, expected: list[JsonValue], actual: list[JsonValue]) -> Pairs:
    """Pair the objects of two arrays by the transformed value of one member, compared as JSON.

    Null, boolean and container keys match nothing, nor do duplicates after the first.
    """
    member = element.children[key]
    partners: dict[JsonValue, int] = {}
    for index, item in enumerate(actual):
        value = _key_value(member, item, key)
        if value is not MISSING:
            partners.setdefault(value, index)
    pairs: Pairs = []
    for index, item in enumerate(expected):
        value = _key_value(member, item, key)
        partner = None if value is MISSING else partners.pop(value, None)
        if partner is not None:
            pairs.append((index, partner))
    return pairs


def _key_value(member: PlanNode, item: JsonValue, key: str) -> JsonValue:
    """Return what an element is paired by, or MISSING where that can match nothing."""
    if type(item) is not dict:
        return MISSING
    value = member.prepare(item.get(key, MISSING))
    if value is MISSING or value is None or type(value) in {bool, dict, list}:
        return MISSING
    # Not a finite number: equals nothing. (A string is never equal to itself minus itself: types first.)
    if type(value) is float and value - value != 0.0:
        return MISSING
    return value


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


@final
class Aligner:
    """Pairs the unordered arrays of one comparison; nested pairings found on the way are kept."""

    __slots__ = (
        "_kept",
        "as_f1",
        "canon",
        "count_extra",
        "gap",
        "measure",
        "plan",
        "solutions_ahead",
        "threshold",
    )

    def __init__(self, plan: Plan, measure: Measure, *, count_extra: bool, rounds: int = 0) -> None:
        """Take what scores two elements alone, and how often batch comparators have been asked."""
        options = plan.options
        self.plan = plan
        self.count_extra = count_extra
        self.as_f1 = options.reduce == "f1"
        # "Greater" than the threshold by more than rounding.
        self.threshold = options.array_threshold + _SLACK
        self.canon = Canon(nulls_absent=options.nulls == "absent")
        self.gap: float | None = None
        """What the pairs of arrays beyond the memory limit may be short of the optimum; None: none are."""
        self.solutions_ahead = (
            0 if rounds < _PATIENCE else 2 ** min(rounds - _PATIENCE + 1, _MOST_DOUBLINGS) - 1
        )
        """How many of the next best pairings batch comparators are asked about as well."""
        self.measure = measure
        """Returns the task that scores two elements alone."""
        self._kept: dict[tuple[int, int], Pairing] = {}

    # (A task is run where no other is waiting for it.)
    run = staticmethod(run)

    def keep(self, expected: list[JsonValue], actual: list[JsonValue], pairs: Pairs) -> None:
        """Keep the pairs of two arrays for when the walk comes to them."""
        if len(self._kept) < _MOST_KEPT:
            self._kept[id(expected), id(actual)] = Pairing(pairs)

    def pair(
        self, node: PlanNode, trail: Any, expected: list[JsonValue], actual: list[JsonValue]
    ) -> Generator[Any, Any, Pairing]:
        """Pair two unordered arrays; `trail` is for those who measure their elements."""
        # (The documents outlive the comparison, so an array's identity is its own.)
        key = id(expected), id(actual)
        found = self._kept.get(key)
        if found is None:
            found = yield from self._paired(node, trail, expected, actual)
            if len(self._kept) < _MOST_KEPT:
                self._kept[key] = found
        return found

    def _paired(
        self, node: PlanNode, trail: Any, expected: list[JsonValue], actual: list[JsonValue]
    ) -> Generator[Any, Any, Pairing]:
        element = node.children[ELEMENT]
        if not expected or not actual:
            return Pairing([])
        if element.skip:
            return Pairing(list(zip(range(len(expected)), range(len(actual)))))
        keys, others = self.canon.keys(element, expected, actual)
        pairs, rows, columns = twins(keys, others)
        if not (rows and columns):
            return Pairing(pairs)
        rows = self.canon.order(element, expected, rows)
        columns = self.canon.order(element, actual, columns)
        one, other = [expected[at] for at in rows], [actual[at] for at in columns]
        pairs_in_all = cells(expected, actual)
        body: type[Grid] = ListGrid
        if len(expected) * len(actual) > _SMALL_CELLS or (pairs_in_all or 0) > _SMALL_CELLS:
            from pytest_jsonmatch.engine.align.large import ArrayGrid

            body = ArrayGrid
            if not body.fits(self, len(one), len(other)):
                from pytest_jsonmatch.engine.align.sparse import pair_sparsely

                found = yield from pair_sparsely(self, element, trail, (expected, rows), (actual, columns))
                self.gap = (self.gap or 0.0) + found.gap
                return Pairing(sorted(pairs + [(rows[at], columns[to]) for at, to in found.pairs]))
        if pairs_in_all is None:
            grid = body(self, len(one), len(other))
            grid.know_nothing()
        else:
            grid = Columns(self, element, body).grid(element, one, other)
        sources = [Source(expected, at) for at in rows], [Source(actual, at) for at in columns]
        grid.stands_at(element, trail, *sources)
        grid.finish()
        best = yield from grid.best(range(len(rows)), range(len(columns)))
        if grid.parts:
            for at, to in best.pairs:
                grid.keep(at, to)
        return Pairing(sorted(pairs + [(rows[at], columns[to]) for at, to in best.pairs]), best.questions)


_PATIENCE: Final = 2
"""After this many rounds of questions, the next best pairings are asked about as well."""
_MOST_DOUBLINGS: Final = 8


def cells(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> int | None:
    """Return how many pairs of elements two arrays have, with those of the arrays inside them.

    None: so many levels of arrays are left to the walk, one after the other.
    """
    total = 0
    for _ in range(_MOST_LEVELS):
        total += len(expected) * len(actual)
        if total > _SMALL_CELLS:
            return total
        expected, actual = _elements(expected), _elements(actual)
        if not (expected and actual):
            return total
    return None


def _elements(values: Sequence[JsonValue]) -> list[JsonValue]:
    """Return the elements of the next arrays inside values; objects on the way to them are gone through."""
    found: list[JsonValue] = []
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if type(value) is list:
            found += value
        elif type(value) is dict:
            waiting += [item for item in value.values() if type(item) is dict or type(item) is list]
    return found
