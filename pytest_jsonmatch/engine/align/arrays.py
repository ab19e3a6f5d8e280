"""Pair the elements of two arrays for the greatest total similarity."""

from __future__ import annotations

from itertools import chain, takewhile
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
from pytest_jsonmatch.engine.value.convert import CONTAINERS, MISSING, Matcher
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
"""Up to this many pairs of elements, including those of nested arrays, lists are as fast as numpy."""
_MAX_LEVELS: Final = 8
"""The maximum number of levels of nested arrays that are scored in one grid."""


@final
class Aligner(PairingContext):
    """Pairs the elements of the arrays of one comparison that are paired by contents."""

    def pair(self, arrays: Arrays, measure: Measure, threshold: float | None = None) -> Pairing:
        """Pair the elements of two arrays by their contents: equal ones first, unless the order counts.

        Args:
            arrays: the two arrays. They must outlive the comparison, since pairings are found by `id()`.
            measure: scores two elements, given their indices.
            threshold: pair only elements with a greater similarity; None for the option `array_threshold`.
        """
        node, expected, actual = arrays
        pairing = self.pairings.get((id(expected), id(actual)))
        if pairing is not None:
            return pairing
        element = node.undecided[ELEMENT]
        if not expected or not actual:
            return Pairing([])
        if element.rules.skip:
            return Pairing(list(zip(range(len(expected)), range(len(actual)))))
        plain = self.equality.are_plain(element, chain(expected, actual))
        in_order = node.rules.align == "sequence"
        if in_order:
            start = self._count_equal_at_start(element, expected, actual)
            pairs = [(at, at) for at in range(start)]
            rows, columns = list(range(start, len(expected))), list(range(start, len(actual)))
        else:
            keys, others = self.equality.make_keys(element, expected, actual, plain=plain)
            pairs, rows, columns = pair_equal(keys, others)
        if not (rows and columns):
            return Pairing(pairs)
        if not in_order:
            rows = self.equality.sort_positions(element, expected, rows, plain=plain)
            columns = self.equality.sort_positions(element, actual, columns, plain=plain)
        one, other = [expected[at] for at in rows], [actual[at] for at in columns]
        cell_count = count_cells(one, other)
        grid_type: type[Grid] = ListGrid
        if len(one) * len(other) > _SMALL_CELLS or (cell_count or 0) > _SMALL_CELLS:
            from pytest_jsonmatch.engine.align.large import ArrayGrid

            grid_type = ArrayGrid
            refuse_too_large(node, len(one), len(other))
        if cell_count is None:
            grid = GridBuilder(self, element, grid_type).build_bounds(element, one, other)
        else:
            grid = GridBuilder(self, element, grid_type).build_grid(element, one, other)
        grid.walk = measure, rows, columns
        if threshold is not None:
            grid.threshold = threshold + ROUNDED_ZERO
        grid.compute_worths(self.make_leaf_counts(element, one, other, plain=plain))
        best = grid.find_best_pairs(range(len(rows)), range(len(columns)), in_order=in_order)
        for at, to in best.pairs:
            keep_pairings(grid.parts, at, to)
        pairs += [(rows[at], columns[to]) for at, to in best.pairs]
        pairing = best._replace(pairs=sorted(pairs))
        self.keep(expected, actual, pairing)
        return pairing

    def _count_equal_at_start(
        self, element: PlanNode, expected: list[JsonValue], actual: list[JsonValue]
    ) -> int:
        """Return the number of equal elements at the start of two sequences that are certain to be paired.

        No other pair of such an element has a greater similarity or a larger Σ, and none comes before it.
        """
        rules = element.rules
        is_compared_as_one = rules.explicit_comparator is not None or rules.accept is not None
        if element.varies or is_compared_as_one or self.plan.weighted or self.threshold >= 1.0:
            return 0
        certain = (_equal_means_match(element, one, other) for one, other in zip(expected, actual))
        return sum(takewhile(bool, certain))

    def pair_by_members(
        self, arrays: Arrays, align: ByMembers, make_measure: Callable[[list[Any], list[Any]], Measure]
    ) -> Pairing:
        """Pair the objects of two arrays by the similarity of some members.

        Objects that are equal in all these members are paired first; if several are, their other members
        decide. An object without any of the members, or with only nulls there, is not paired.
        """
        node, expected, actual = arrays
        pairing = self.pairings.get((id(expected), id(actual)))
        if pairing is not None:
            return pairing
        element = node.undecided[ELEMENT]
        if element.rules.skip:
            return Pairing(list(zip(range(len(expected)), range(len(actual)))))
        check_compared_by_members(element, expected)
        left, right = [
            [_select_members(element, item, align.members) for item in side] for side in (expected, actual)
        ]
        rows, columns = [[at for at, part in enumerate(side) if part] for side in (left, right)]
        keys, others = self.equality.make_keys(
            element, [left[at] for at in rows], [right[to] for to in columns]
        )
        groups: dict[Hashable, tuple[list[int], list[int]]] = {}
        for side, (positions, own_keys) in enumerate(((rows, keys), (columns, others))):
            for at, key in zip(positions, own_keys):
                groups.setdefault(key, ([], []))[side].append(at)
        pairs: IndexPairs = []
        questions: list[Any] = []

        def pair(one: list[Any], other: list[Any], threshold: float | None) -> None:
            """Pair the elements at the current `rows` and `columns`."""
            measure = make_measure(one, other)
            sides = [one[at] for at in rows], [other[to] for to in columns]
            self.sides_by_members += [one, other, *sides]
            pairing = self.pair(
                Arrays(node, *sides), lambda at, to: measure(rows[at], columns[to]), threshold
            )
            pairs.extend((rows[at], columns[to]) for at, to in pairing.pairs)
            questions.extend(pairing.questions)

        for rows, columns in groups.values():
            if len(rows) == len(columns) == 1:
                pairs.append((rows[0], columns[0]))
            elif rows and columns:
                pair(expected, actual, 0.0)
        paired, partners = {at for at, _ in pairs}, {to for _, to in pairs}
        rows = [at for at, part in enumerate(left) if part and at not in paired]
        columns = [to for to, part in enumerate(right) if part and to not in partners]
        # Among rows that are equal in the members, their other contents decide, not their positions.
        rows = self.equality.sort_positions(element, expected, rows, plain=False)
        columns = self.equality.sort_positions(element, actual, columns, plain=False)
        pair(left, right, align.threshold)
        pairing = Pairing(sorted(pairs), questions=tuple(questions))
        self.keep(expected, actual, pairing)
        return pairing


def _equal_means_match(element: PlanNode, expected: JsonValue, actual: JsonValue) -> bool:
    """Return whether two elements are equal scalars or objects of scalars all of which match."""
    if type(expected) is not type(actual) or type(expected) is list:
        return False
    if type(expected) is not dict:
        return element.rules.equal_means_match and bool(expected == actual)
    if not expected or len(expected) != len(actual):
        return False
    for key, one in expected.items():
        other, rules = actual.get(key, MISSING), element.undecided[key].rules
        if type(one) in CONTAINERS or type(one) is not type(other) or one != other:
            return False
        if not rules.equal_means_match or rules.accept is not None:
            return False
    return True


def check_compared_by_members(element: PlanNode, expected: list[JsonValue]) -> None:
    """Check that elements are neither matchers nor compared as a whole.

    Raises:
        ConfigurationError: an element is compared as a whole, or expected has a matcher for one.
    """
    matcher = next((item for item in expected if type(item) is Matcher), None)
    if matcher is not None:
        raise ConfigurationError(
            f"{element.path}: elements are paired by the similarity of members, so expected must have an "
            f"object there, got the matcher {matcher!r}"
        )
    if element.rules.explicit_comparator is not None or element.rules.accept is not None:
        raise ConfigurationError(
            f"{element.path}: elements are paired by the similarity of members, so they can't be compared as "
            "a whole; give the comparator or the accepted alternatives to their members"
        )


def _select_members(element: PlanNode, item: JsonValue, names: Iterable[str]) -> dict[str, JsonValue]:
    """Return some members of an object; none if all are null or if the item is not an object."""
    if type(item) is not dict:
        return {}
    members = {name: item[name] for name in names if name in item}
    if (absent := element.plan.absent) is not None:
        members = absent.remove(element.choose(item), members)
    return members if any(value is not None for value in members.values()) else {}


def count_cells(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> int | None:
    """Return the number of pairs of elements of two arrays, including those of nested arrays.

    Counting ends with the first level at which there are more than `_SMALL_CELLS`. None if arrays are nested
    too deeply for one grid; the walk then pairs them level by level.
    """
    total = 0
    for _ in range(_MAX_LEVELS):
        total += len(expected) * len(actual)
        if total > _SMALL_CELLS:
            return total
        expected, actual = _collect_elements(expected), _collect_elements(actual)
        if not (expected and actual):
            return total
    return None


def _collect_elements(values: Sequence[JsonValue]) -> list[JsonValue]:
    """Return the elements of the outermost arrays in values, including arrays in objects."""
    elements: list[JsonValue] = []
    queue = list(values)
    while queue:
        value = queue.pop()
        if type(value) is list:
            elements += value
        elif type(value) is dict:
            queue += [item for item in value.values() if type(item) is dict or type(item) is list]
    return elements
