"""Pair the elements of two arrays for the greatest total similarity."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.align.columns import GridBuilder
from pytest_jsonmatch.engine.align.context import (
    ROUNDED_ZERO,
    Arrays,
    Pairing,
    PairingContext,
    refuse_too_large,
)
from pytest_jsonmatch.engine.align.grid import keep_pairings
from pytest_jsonmatch.engine.align.keys import pair_equal
from pytest_jsonmatch.engine.align.small import ListGrid
from pytest_jsonmatch.engine.value.convert import Matcher
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from pytest_jsonmatch.engine.align.context import IndexPairs, Measure
    from pytest_jsonmatch.engine.align.grid import Grid
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.plan.options import ByMembers
    from pytest_jsonmatch.engine.value.convert import JsonValue

_SMALL_CELLS: Final = 1_000
"""Up to this many pairs of elements, nested ones included, lists are as fast as numpy."""
_MOST_LEVELS: Final = 8
"""Nested arrays are bounded in one grid down to this level."""


@final
class Aligner(PairingContext):
    """Pairs the unordered arrays of one comparison."""

    def pair(self, arrays: Arrays, measure: Measure, threshold: float | None = None) -> Pairing:
        """Pair two arrays by the contents of their elements: equal ones first.

        Args:
            arrays: the two arrays. They have to outlive the comparison: the pairing is kept for the walk.
            measure: scores two of their elements, given their indices.
            threshold: pair only elements whose similarity is greater; None: the option `array_threshold`.
        """
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
        if threshold is not None:
            grid.threshold = threshold + ROUNDED_ZERO
        grid.compute_worths(self.leaf_counts(element, one, other, plain=plain))
        best = grid.find_best_pairs(range(len(rows)), range(len(columns)))
        for at, to in best.pairs:
            keep_pairings(grid.parts, at, to)
        pairs += [(rows[at], columns[to]) for at, to in best.pairs]
        found = best._replace(pairs=sorted(pairs))
        self.keep(expected, actual, found)
        return found

    def pair_by_members(
        self, arrays: Arrays, align: ByMembers, make_measure: Callable[[list[Any], list[Any]], Measure]
    ) -> Pairing:
        """Pair the objects of two arrays by the similarity of some members.

        Objects that agree in all of these are paired first. If there are several of them, their other members
        decide which. An object that has none of the members, or only nulls, is paired with nothing.
        """
        node, expected, actual = arrays
        found = self.kept.get((id(expected), id(actual)))
        if found is not None:
            return found
        element = node.children[ELEMENT]
        check_compared_by_members(element, expected)
        left, right = [[_select_members(item, align.members) for item in side] for side in (expected, actual)]
        rows, columns = [[at for at, part in enumerate(side) if part] for side in (left, right)]
        keys, others = self.equality.make_keys(
            element, [left[at] for at in rows], [right[to] for to in columns]
        )
        groups: dict[Hashable, tuple[list[int], list[int]]] = {}
        for side, (positions, own) in enumerate(((rows, keys), (columns, others))):
            for at, key in zip(positions, own):
                groups.setdefault(key, ([], []))[side].append(at)
        pairs: IndexPairs = []
        questions: list[Any] = []

        def pair(one: list[Any], other: list[Any], threshold: float | None) -> None:
            """Pair the elements at `rows` and `columns`."""
            measure = make_measure(one, other)
            sides = [one[at] for at in rows], [other[to] for to in columns]
            self.sides_by_members += [one, other, *sides]
            found = self.pair(Arrays(node, *sides), lambda at, to: measure(rows[at], columns[to]), threshold)
            pairs.extend((rows[at], columns[to]) for at, to in found.pairs)
            questions.extend(found.questions)

        for rows, columns in groups.values():
            if len(rows) == len(columns) == 1:
                pairs.append((rows[0], columns[0]))
            elif rows and columns:
                pair(expected, actual, 0.0)
        paired, partners = {at for at, _ in pairs}, {to for _, to in pairs}
        rows = [at for at, part in enumerate(left) if part and at not in paired]
        columns = [to for to, part in enumerate(right) if part and to not in partners]
        # Rows may agree in the members: then their other contents decide, not their positions.
        rows = self.equality.sort_positions(element, expected, rows, plain=False)
        columns = self.equality.sort_positions(element, actual, columns, plain=False)
        pair(left, right, align.threshold)
        found = Pairing(sorted(pairs), questions=tuple(questions))
        self.keep(expected, actual, found)
        return found


def check_compared_by_members(element: PlanNode, expected: list[JsonValue]) -> None:
    """Check that elements are objects whose members are compared one by one.

    Raises:
        ConfigurationError: an element is compared as a whole, or expected has a matcher for one.
    """
    matcher = next((item for item in expected if type(item) is Matcher), None)
    if matcher is not None:
        raise ConfigurationError(
            f"{element.path}: elements pair by the similarity of members, so expected needs an object "
            f"there, not the matcher {matcher!r}"
        )
    if element.rules.explicit_comparator is not None or element.rules.accept is not None:
        raise ConfigurationError(
            f"{element.path}: elements pair by the similarity of members, so they can't be compared as a "
            "whole; give the comparator or the accepted alternatives to their members"
        )


def _select_members(item: JsonValue, names: Iterable[str]) -> dict[str, JsonValue]:
    """Return some members of an object; none if it has only nulls there, or is no object."""
    if type(item) is not dict:
        return {}
    members = {name: item[name] for name in names if name in item}
    return members if any(value is not None for value in members.values()) else {}


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
