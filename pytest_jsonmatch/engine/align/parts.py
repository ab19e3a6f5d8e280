"""The parts of elements that are scored only for chosen pairs: arrays, and values costly to compare."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, final

from pytest_jsonmatch.engine.align.column import distinct_values
from pytest_jsonmatch.engine.compare.base import score_of
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
    """The highest possible scores of pairs, and how many leaves fewer than their elements they may have."""

    score: Any
    less: Any
    """None: no pair has fewer."""


@final
class Total(NamedTuple):
    """Σ weight·score of some pairs, and how many leaves fewer than their elements they have."""

    score: float
    less: float


class Inside(Protocol):
    """Arrays or values inside elements, numbered on each side."""

    def sums(self, row: int, column: int) -> Total:
        """Return the total of a pair of them."""

    def keep(self, row: int, column: int) -> None:
        """Give the aligner the pairing of two of the arrays."""


@final
class Part(NamedTuple):
    """Arrays inside the elements of a grid, or values that are costly to compare."""

    inside: Inside
    rows: dict[int, int]
    """The number of each row's array or value; rows without one, or with an empty array, are left out."""
    columns: dict[int, int]
    weight: float
    bound: Bounds | None
    """The bounds that were added to the grid; None if what was added is exact."""


@final
class Flat(NamedTuple):
    """The elements of all arrays of one side."""

    arrays: Sequence[list[JsonValue]]
    orders: list[list[int]]
    """For each array the indices of its elements in canonical order."""
    codes: list[list[int]]
    """For each array the numbers of its elements' values."""
    keys: list[list[Hashable]]
    """For each array the equality keys of its elements."""
    values: list[JsonValue]
    """The distinct values."""


def flatten(
    aligner: Context, node: PlanNode, sides: tuple[Sequence[list[JsonValue]], ...]
) -> tuple[Flat, Flat]:
    """Return the elements of the arrays of both sides at a node."""
    canon, element = aligner.canon, node.children[ELEMENT]
    elements = [[item for array in arrays for item in array] for arrays in sides]
    plain = canon.are_plain(element, chain(*elements))
    keys = canon.keys(element, *elements, plain=plain)
    alike = {dict, list}.isdisjoint({type(item) for items in elements for item in items})
    flat: list[Flat] = []
    for arrays, items, own in zip(sides, elements, keys):
        orders, codes, kept = [], [], []
        values: list[JsonValue]
        values, numbers = items, None
        if alike:
            values, numbers = distinct_values(items)
        elif node.align == "unordered":
            # Under a key, equal objects may differ in that member: it may be skipped.
            values, numbers = _distinct(canon, element, items, own)
        start = 0
        for array in arrays:
            end = start + len(array)
            orders.append(canon.order(element, array, list(range(len(array))), plain=plain))
            codes.append(list(range(start, end)) if numbers is None else numbers[start:end])
            kept.append(own[start:end])
            start = end
        flat.append(Flat(arrays, orders, codes, kept, values))
    return flat[0], flat[1]


def _distinct(
    canon: Canon, element: PlanNode, values: list[JsonValue], keys: Sequence[Hashable]
) -> tuple[list[JsonValue], list[int] | None]:
    """Return the distinct values, containers included, and the number of each; None if all are distinct."""
    if len(set(keys)) == len(keys):
        return values, None
    numbers: dict[Hashable, int] = {}
    # A key does not distinguish 1 from 1.0, nor a text a container from that text; a comparator may.
    found = [
        numbers.setdefault((key, canon.text(element, value)), len(numbers))
        for key, value in zip(keys, values)
    ]
    distinct = dict(zip(reversed(found), reversed(values)))
    return [distinct[at] for at in range(len(numbers))], found


@final
@dataclass(frozen=True, slots=True, eq=False)
class CostlyValues:
    """The values of a column whose scores are bounds until a pair is chosen."""

    block: Block
    left: Column
    right: Column
    weight: float
    limit: float | None
    """Up to this limit a score counts as 0."""
    accepted: list[float] | None
    """The least score of each value of actual, because it is accepted."""

    def places(self, rows: int, columns: int) -> tuple[dict[int, int], dict[int, int]]:
        """Return the value of each row and column of a grid, without values of other comparators."""
        found = []
        for column, some, size in zip((self.left, self.right), self.block[1:], (rows, columns)):
            codes = enumerate(range(size) if column.codes is None else column.codes)
            scored = set(range(len(column.values)) if some is None else some)
            found.append({at: code for at, code in codes if code in scored})
        return found[0], found[1]

    def sums(self, row: int, column: int) -> Total:
        """Return the weighted score of two values, and 0: they have no fewer leaves."""
        score: float = score_of(self.block.bound.score, self.left.values[row], self.right.values[column])
        if self.accepted is not None:
            score = max(score, self.accepted[column])
        if self.limit is not None and score <= self.limit and score < 1.0:
            score = 0.0
        return Total(self.weight * score, 0.0)

    def keep(self, row: int, column: int) -> None:
        """Do nothing: values hold no arrays."""
