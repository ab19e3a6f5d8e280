"""What elements have inside that is scored when they are chosen: arrays, and values costly to compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, final

from pytest_jsonmatch.engine.align.column import distinct_values
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from pytest_jsonmatch.engine.align.column import Block, Column
    from pytest_jsonmatch.engine.align.context import Context
    from pytest_jsonmatch.engine.align.keys import Canon
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue


@final
class Bounds(NamedTuple):
    """What some pairs score at most, and how many leaves they may have less than their elements."""

    score: Any
    less: Any
    """None: no pair has less."""


class Inside(Protocol):
    """What two elements have inside, one number for what each side has."""

    def sums(self, row: int, column: int) -> tuple[float, float]:
        """Return Σ of both, and how many leaves they have less."""

    def keep(self, row: int, column: int) -> None:
        """Tell the aligner how the arrays inside pair."""


@final
class Part(NamedTuple):
    """Arrays inside the elements of a grid, or values there that are costly to compare."""

    inside: Inside
    rows: dict[int, int]
    """Which of these is that of a row of the grid; without rows that have none, or an empty array."""
    columns: dict[int, int]
    weight: float
    bound: Bounds | None
    """What was added to the grid as a bound; None: what was added is exact."""


@final
class Flat(NamedTuple):
    """The elements of all arrays of one side."""

    arrays: Sequence[list[JsonValue]]
    orders: list[list[int]]
    """For each array the indices of its elements in canonical order."""
    codes: list[list[int]]
    """For each array the numbers of its elements' values."""
    keys: list[list[Hashable]]
    """For each array what its elements share with equal ones."""
    values: list[JsonValue]
    """The distinct values."""


def flatten(
    aligner: Context, node: PlanNode, sides: tuple[Sequence[list[JsonValue]], ...]
) -> tuple[Flat, Flat]:
    """Return the elements of the arrays of both sides, the arrays standing at a node."""
    canon, element = aligner.canon, node.children[ELEMENT]
    elements = [[item for array in arrays for item in array] for arrays in sides]
    keys = canon.keys(element, *elements)
    alike = {dict, list}.isdisjoint({type(item) for items in elements for item in items})
    flat: list[Flat] = []
    for arrays, items, own in zip(sides, elements, keys):
        orders, codes, kept = [], [], []
        values: list[JsonValue]
        values, numbers = items, None
        if alike:
            values, numbers = distinct_values(items)
        elif node.align == "unordered":
            # (Equal objects may differ in the member that arrays pair by: it may be skipped.)
            values, numbers = _distinct(canon, element, items, own)
        start = 0
        for array in arrays:
            end = start + len(array)
            orders.append(canon.order(element, array, list(range(len(array)))))
            codes.append(list(range(start, end)) if numbers is None else numbers[start:end])
            kept.append(own[start:end])
            start = end
        flat.append(Flat(arrays, orders, codes, kept, values))
    return flat[0], flat[1]


def _distinct(
    canon: Canon, element: PlanNode, values: list[JsonValue], keys: Sequence[Hashable]
) -> tuple[list[JsonValue], list[int] | None]:
    """Return the distinct values, containers among them, and for each value its number; None: all are."""
    if len(set(keys)) == len(keys):
        return values, None
    numbers: dict[Hashable, int] = {}
    # (A key does not tell 1 from 1.0, and a text not a container from its text: a comparator may.)
    found = [
        numbers.setdefault((key, canon.text(element, value)), len(numbers))
        for key, value in zip(keys, values)
    ]
    distinct = dict(zip(reversed(found), reversed(values)))
    return [distinct[at] for at in range(len(numbers))], found


@final
class CostlyValues:
    """The values of a column whose scores are bounds until a pair is chosen."""

    __slots__ = ("_block", "_sides", "_terms")

    def __init__(
        self,
        block: Block,
        sides: tuple[Column, Column],
        terms: tuple[float, float | None, list[float] | None],
    ) -> None:
        """Take which values a comparator scores, the column of each side, and how a score counts.

        That is: its weight, up to what it counts as 0, and what each value of actual scores anyhow.
        """
        self._block = block
        self._sides = sides
        self._terms = terms

    def places(self, rows: int, columns: int) -> tuple[dict[int, int], dict[int, int]]:
        """Return which value each row of a grid has, and each column, without those of other comparators."""
        found = []
        for column, some, size in zip(self._sides, self._block[1:], (rows, columns)):
            codes = enumerate(range(size) if column.codes is None else column.codes)
            scored = set(range(len(column.values)) if some is None else some)
            found.append({at: code for at, code in codes if code in scored})
        return found[0], found[1]

    def sums(self, row: int, column: int) -> tuple[float, float]:
        """Return what two values score, weighted, and that they have no leaves less."""
        left, right = self._sides
        weight, limit, accepted = self._terms
        score: Any = self._block.bound.score(left.values[row], right.values[column])
        if accepted is not None:
            score = max(score, accepted[column])
        if limit is not None and score <= limit and score < 1.0:
            score = 0.0
        return weight * score, 0.0

    def keep(self, row: int, column: int) -> None:
        """Do nothing: there is nothing to pair in values."""
