"""Unordered arrays inside the elements of an array: one grid of all their elements, a block for each pair."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, final

from pytest_jsonmatch.engine.align.column import distinct_values
from pytest_jsonmatch.engine.align.context import Pairing, run
from pytest_jsonmatch.engine.value.convert import MISSING

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from pytest_jsonmatch.engine.align.context import Context
    from pytest_jsonmatch.engine.align.grid import BaseGrid
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue


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
    """The distinct values; containers are each one of their own."""


@final
class BlockPairs(NamedTuple):
    """How two nested arrays pair."""

    score: float
    """Σ of the pairs."""
    pairs: list[tuple[int, int]]
    """Indices in the two arrays."""


def flatten(
    aligner: Context, element: PlanNode, sides: tuple[Sequence[list[JsonValue]], ...]
) -> tuple[Flat, Flat]:
    """Return the elements of the arrays of both sides."""
    canon = aligner.canon
    elements = [[item for array in arrays for item in array] for arrays in sides]
    keys = canon.keys(element, *elements)
    alike = {dict, list}.isdisjoint({type(item) for items in elements for item in items})
    flat: list[Flat] = []
    for arrays, items, own in zip(sides, elements, keys):
        orders, codes, kept = [], [], []
        values: list[JsonValue]
        values, numbers = distinct_values(items) if alike else (items, None)
        start = 0
        for array in arrays:
            end = start + len(array)
            orders.append(canon.order(element, array, list(range(len(array)))))
            codes.append(list(range(start, end)) if numbers is None else numbers[start:end])
            kept.append(own[start:end])
            start = end
        flat.append(Flat(arrays, orders, codes, kept, values))
    return flat[0], flat[1]


def twins(
    expected: Sequence[Hashable], actual: Sequence[Hashable]
) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """Pair equal elements in order of position; return the pairs, and what is left of each side.

    Args:
        expected: what each element shares with those equal to it, MISSING for one that equals nothing.
        actual: the same of the other side.
    """
    free: dict[Hashable, list[int]] = {}
    for at in range(len(actual) - 1, -1, -1):
        free.setdefault(actual[at], []).append(at)
    free.pop(MISSING, None)
    pairs: list[tuple[int, int]] = []
    rows: list[int] = []
    for at, key in enumerate(expected):
        found = free.get(key)
        if found:
            pairs.append((at, found.pop()))
        else:
            rows.append(at)
    if not pairs:
        return pairs, rows, list(range(len(actual)))
    taken = {to for _, to in pairs}
    return pairs, rows, [at for at in range(len(actual)) if at not in taken]


@final
class Nested:
    """The unordered arrays at one place in the elements of both sides."""

    __slots__ = ("_aligner", "_scores", "element", "inner", "left", "right")

    def __init__(self, aligner: Context, element: PlanNode, inner: BaseGrid, left: Flat, right: Flat) -> None:
        self._aligner = aligner
        self.element = element
        self.inner = inner
        """All elements of expected's arrays against all of actual's."""
        self.left = left
        self.right = right
        self._scores: dict[tuple[int, int], float] = {}

    def pair(self, row: int, column: int) -> BlockPairs:
        """Pair two of the arrays, exactly: twins, then the greatest total similarity."""
        codes, others = self.left.codes[row], self.right.codes[column]
        pairs, rows, columns = twins(self.left.keys[row], self.right.keys[column])
        score = self.inner.sum_of([(codes[at], others[to]) for at, to in pairs])
        if rows and columns:
            rows, columns = _in(self.left.orders[row], rows), _in(self.right.orders[column], columns)
            best = run(self.inner.best([codes[at] for at in rows], [others[to] for to in columns]))
            score += best.score
            pairs += [(rows[at], columns[to]) for at, to in best.pairs]
        return BlockPairs(score, pairs)

    def score(self, row: int, column: int) -> float:
        """Return Σ of two of the arrays, paired; it is worked out once."""
        score = self._scores.get((row, column))
        if score is None:
            # (The pairs are few that matter: they are made again when they are kept.)
            score = self._scores[row, column] = self.pair(row, column).score
        return score

    def keep(self, row: int, column: int) -> None:
        """Tell the aligner how two of the arrays pair, and all arrays inside their pairs."""
        left, right = self.left, self.right
        pairs = sorted(self.pair(row, column).pairs)
        self._aligner.keep(left.arrays[row], right.arrays[column], Pairing(pairs))
        if self.inner.parts:
            codes, other_codes = left.codes[row], right.codes[column]
            for at, to in pairs:
                self.inner.keep(codes[at], other_codes[to])


def _in(order: list[int], some: list[int]) -> list[int]:
    """Return some indices of an array in its canonical order."""
    if len(some) == len(order):
        return order
    wanted = set(some)
    return [at for at in order if at in wanted]
