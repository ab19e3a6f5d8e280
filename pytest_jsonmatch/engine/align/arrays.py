"""Pair the elements of two arrays for the greatest total similarity."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final, final

from pytest_jsonmatch.engine.align.columns import GridBuilder
from pytest_jsonmatch.engine.align.context import Pairing, PairingContext, refuse_too_large
from pytest_jsonmatch.engine.align.grid import keep_pairings
from pytest_jsonmatch.engine.align.keys import pair_equal
from pytest_jsonmatch.engine.align.small import ListGrid
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_jsonmatch.engine.align.context import Arrays, Measure
    from pytest_jsonmatch.engine.align.grid import Grid
    from pytest_jsonmatch.engine.value.convert import JsonValue

_SMALL_CELLS: Final = 1_000
"""Up to this many pairs of elements, nested ones included, lists are as fast as numpy."""
_MOST_LEVELS: Final = 8
"""Nested arrays are bounded in one grid down to this level."""


@final
class Aligner(PairingContext):
    """Pairs the unordered arrays of one comparison."""

    def pair(self, arrays: Arrays, measure: Measure) -> Pairing:
        """Pair two unordered arrays, given what scores two of their elements."""
        node, expected, actual = arrays
        found = self.kept.get((id(expected), id(actual)))
        if found is not None:
            return found
        element = node.children[ELEMENT]
        if not expected or not actual:
            return Pairing([])
        if element.rules.skip:
            return Pairing(list(zip(range(len(expected)), range(len(actual)))))
        plain = self.equality.are_plain(element, chain(expected, actual))
        keys, others = self.equality.make_keys(element, expected, actual, plain=plain)
        pairs, rows, columns = pair_equal(keys, others)
        if not (rows and columns):
            return Pairing(pairs)
        rows = self.equality.sort_positions(element, expected, rows, plain=plain)
        columns = self.equality.sort_positions(element, actual, columns, plain=plain)
        one, other = [expected[at] for at in rows], [actual[at] for at in columns]
        pairs_in_all = count_cells(one, other)
        body: type[Grid] = ListGrid
        if len(one) * len(other) > _SMALL_CELLS or (pairs_in_all or 0) > _SMALL_CELLS:
            from pytest_jsonmatch.engine.align.large import ArrayGrid

            body = ArrayGrid
            refuse_too_large(node, len(one), len(other))
        if pairs_in_all is None:
            grid = GridBuilder(self, element, body).build_bounds(element, one, other)
        else:
            grid = GridBuilder(self, element, body).build_grid(element, one, other)
        grid.walk = measure, rows, columns
        grid.compute_worths(self.leaf_counts(element, one, other, plain=plain))
        best = grid.find_best_pairs(range(len(rows)), range(len(columns)))
        for at, to in best.pairs:
            keep_pairings(grid.parts, at, to)
        pairs += [(rows[at], columns[to]) for at, to in best.pairs]
        found = best._replace(pairs=sorted(pairs))
        self.keep(expected, actual, found)
        return found


def count_cells(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> int | None:
    """Return how many pairs of elements two arrays have, including those of the arrays inside them.

    None if the arrays are nested too deeply for one grid: the walk pairs them level by level.
    """
    total = 0
    for _ in range(_MOST_LEVELS):
        total += len(expected) * len(actual)
        if total > _SMALL_CELLS:
            return total
        expected, actual = _collect_elements(expected), _collect_elements(actual)
        if not (expected and actual):
            return total
    return None


def _collect_elements(values: Sequence[JsonValue]) -> list[JsonValue]:
    """Return the elements of the outermost arrays inside values, which may lie inside objects."""
    found: list[JsonValue] = []
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if type(value) is list:
            found += value
        elif type(value) is dict:
            waiting += [item for item in value.values() if type(item) is dict or type(item) is list]
    return found
