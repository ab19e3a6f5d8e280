"""Sums of all pairs of values at one node, column by column: one recursion for grids of both bodies."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple, final

from pytest_jsonmatch.engine.align.column import column_of
from pytest_jsonmatch.engine.align.nested import Nested, flatten
from pytest_jsonmatch.engine.plan.leaves import leaves_of
from pytest_jsonmatch.engine.value.convert import CONTAINERS, MISSING
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_jsonmatch.engine.align.context import Context
    from pytest_jsonmatch.engine.align.grid import Grid
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

_MOST_LEVELS: Final = 30
"""Deeper below the element, pairs are left to the walk, which needs no recursion."""


@final
class _Containers(NamedTuple):
    """Values of one side at one node."""

    node: PlanNode
    weight: float
    values: Sequence[JsonValue]
    leaves: Sequence[float]
    """The weighted leaves of each."""


@final
class Columns:
    """Makes the grid of all pairs of values at one node, and of all that is below."""

    __slots__ = ("_aligner", "_body", "_count_actual", "_deepest", "_empties", "_nulls_absent", "_top")

    def __init__(self, aligner: Context, element: PlanNode, body: type[Grid], deepest: int = 0) -> None:
        options = aligner.plan.options
        self._aligner = aligner
        self._body = body
        self._top = element.depth
        self._deepest = deepest or element.depth + _MOST_LEVELS
        # What a ratio is made of, expected's leaves, does not depend on actual's.
        self._count_actual = aligner.count_extra or options.reduce == "ratio"
        self._empties = options.empties
        self._nulls_absent = options.nulls == "absent"

    def grid(
        self, node: PlanNode, expected: Sequence[JsonValue], actual: Sequence[JsonValue], above: float = 1.0
    ) -> Grid:
        """Return Σ, E and A of all pairs, weights counted from the element down.

        Args:
            node: where the values stand.
            expected: n values.
            actual: m values.
            above: the product of the weights from the element down to the node's parent.
        """
        grid = self._body(self._aligner, len(expected), len(actual))
        if node.branches is not None and node.accept is not None:
            grid.know_nothing()
            return grid
        if node.branches is not None:
            self._alternatives(grid, node, expected, actual, above)
            return grid
        if node.skip:
            return grid
        weight = above * node.own_weight if node.depth > self._top else 1.0
        if node.depth > self._deepest:
            grid.know_nothing()
        elif not self._scalars(grid, node, weight, list(expected), list(actual)):
            self._by_type(grid, node, weight, expected, actual)
        return grid

    def _alternatives(
        self,
        grid: Grid,
        node: PlanNode,
        expected: Sequence[JsonValue],
        actual: Sequence[JsonValue],
        above: float,
    ) -> None:
        """Add pairs by the alternative of the schema that expected's value chooses."""
        groups: dict[PlanNode, list[int]] = {}
        for at, value in enumerate(expected):
            groups.setdefault(node.chosen(value, MISSING), []).append(at)
        first: Grid | None = None
        everyone = list(range(len(actual)))
        for variant, rows in groups.items():
            if variant.branches is not None:
                # None of them accepts the value.
                grid.know_nothing()
                return
            block = self.grid(variant, [expected[at] for at in rows], actual, above)
            if first is None:
                first = block
            elif self._aligner.as_f1:
                # The leaves of actual are those of the alternative, too.
                grid.lower_actual(rows, everyone, [a - b for a, b in zip(first.actual, block.actual)])
                block.actual = [0.0] * len(actual)
            grid.absorb(block, rows, everyone)

    def _scalars(
        self, grid: Grid, node: PlanNode, weight: float, expected: list[JsonValue], actual: list[JsonValue]
    ) -> bool:
        """Add a column of values without containers, MISSING where there is none; False: there are some."""
        left, right = column_of(node, expected), column_of(node, actual)
        if left is None or right is None:
            return False
        if left.values and right.values:
            grid.add_scores(node, weight, left, right)
        grid.count(weight, left, right)
        if node.accept is not None and node.accept.optional and -1 in (right.codes or ()):
            having = [at for at, value in enumerate(expected) if value is not MISSING]
            lacking = [at for at, value in enumerate(actual) if value is MISSING]
            grid.lower_expected(having, lacking, weight)
        if not self._count_actual and left.codes is not None and -1 in left.codes and right.values:
            lacking = [at for at, value in enumerate(expected) if value is MISSING]
            having = [at for at, value in enumerate(actual) if value is not MISSING]
            grid.lower_actual(lacking, having, [weight] * len(having))
        return True

    def _by_type(
        self,
        grid: Grid,
        node: PlanNode,
        weight: float,
        expected: Sequence[JsonValue],
        actual: Sequence[JsonValue],
    ) -> None:
        """Add pairs of values of one kind: two scalars, two objects, two arrays. Others score 0."""
        if node.accept is not None:
            grid.know_nothing()
            return
        left, right = _by_shape(expected), _by_shape(actual)
        for shape in dict.fromkeys((*left, *right)):
            rows, columns = left.get(shape, []), right.get(shape, [])
            everything = len(rows) == len(expected) and len(columns) == len(actual)
            one, other = [expected[at] for at in rows], [actual[at] for at in columns]
            block = grid if everything else self._body(self._aligner, len(rows), len(columns))
            if shape is dict:
                self._objects(block, node, weight, one, other)
            elif shape is list:
                self._arrays(block, node, weight, one, other)
            else:
                self._scalars(block, node, weight, one, other)
            if everything:
                return
            grid.absorb(block, rows, columns)
            if shape is not object:
                others = [at for at, value in enumerate(actual) if type(value) is not shape]
                left_alone = _Containers(node, weight, one, block.expected)
                self._without_partner(grid, left_alone, (rows, others), of_expected=True)
                others = [at for at, value in enumerate(expected) if type(value) is not shape]
                right_alone = _Containers(node, weight, other, block.actual)
                self._without_partner(grid, right_alone, (others, columns), of_expected=False)

    def _without_partner(
        self, grid: Grid, own: _Containers, cells: tuple[list[int], list[int]], *, of_expected: bool
    ) -> None:
        """Correct the leaves of one side's containers in the cells in which the other side has none."""
        rows, columns = cells
        if not rows or not columns:
            return
        if of_expected:
            if self._empties == "if_absent":
                grid.lower_expected(self._leafless(own, rows), columns, -own.weight)
        elif not self._count_actual:
            grid.lower_actual(rows, columns, list(own.leaves))
        elif self._empties == "if_absent" and self._aligner.as_f1:
            empty = self._leafless(own, columns)
            grid.lower_actual(rows, empty, [-own.weight] * len(empty))

    def _leafless(self, own: _Containers, places: list[int]) -> list[int]:
        """Return the places of containers that have no leaf; leaves of weight 0 are leaves."""
        found = []
        for at, leaves, value in zip(places, own.leaves, own.values):
            if not leaves and type(value) in CONTAINERS:
                node = own.node.chosen(value, MISSING)
                whole = node.skip or node.explicit is not None
                if not whole and not leaves_of(node, value, self._aligner.leaves).number:
                    found.append(at)
        return found

    # -- containers ----------------------------------------------------------------------------------------

    def _objects(
        self, grid: Grid, node: PlanNode, weight: float, expected: list[JsonValue], actual: list[JsonValue]
    ) -> None:
        if self._nulls_absent:
            expected, actual = list(map(_without_nulls, expected)), list(map(_without_nulls, actual))
        for key in dict.fromkeys(chain(chain.from_iterable(expected), chain.from_iterable(actual))):
            one = [item.get(key, MISSING) for item in expected]
            other = [item.get(key, MISSING) for item in actual]
            self._member(grid, node.children[key], weight, one, other)
        self._empty(grid, weight, expected, actual)

    def _member(
        self, grid: Grid, child: PlanNode, weight: float, expected: list[JsonValue], actual: list[JsonValue]
    ) -> None:
        """Add the members under one key, or at one index; MISSING where an element has none."""
        if child.branches is None:
            if child.skip:
                return
            own = weight * child.own_weight
            if child.depth <= self._deepest and self._scalars(grid, child, own, expected, actual):
                return
        rows = [at for at, value in enumerate(expected) if value is not MISSING]
        columns = [at for at, value in enumerate(actual) if value is not MISSING]
        if self._aligner.plan.has_optional and len(columns) < len(actual):
            # What is optional in a container that actual lacks does not count.
            grid.know_nothing()
            return
        one, other = [expected[at] for at in rows], [actual[at] for at in columns]
        block = self.grid(child, one, other, weight)
        grid.absorb(block, rows, columns)
        own = weight * child.own_weight
        if len(columns) < len(actual):
            lacking = [at for at, value in enumerate(actual) if value is MISSING]
            left_alone = _Containers(child, own, one, block.expected)
            self._without_partner(grid, left_alone, (rows, lacking), of_expected=True)
        if len(rows) < len(expected):
            lacking = [at for at, value in enumerate(expected) if value is MISSING]
            right_alone = _Containers(child, own, other, block.actual)
            self._without_partner(grid, right_alone, (lacking, columns), of_expected=False)

    def _empty(
        self, grid: Grid, weight: float, expected: Sequence[JsonValue], actual: Sequence[JsonValue]
    ) -> None:
        """Count an empty container as a leaf, but for nothing against a non-empty one of its kind."""
        if self._empties != "leaf":
            return
        rows = [at for at, value in enumerate(expected) if not value]
        columns = [at for at, value in enumerate(actual) if not value]
        if rows:
            full = [at for at, value in enumerate(actual) if value]
            grid.count_some(weight, rows, of_expected=True)
            grid.lower_expected(rows, full, weight)
        if columns:
            full = [at for at, value in enumerate(expected) if value]
            grid.count_some(weight, columns, of_expected=False)
            grid.lower_actual(full, columns, [weight] * len(columns))
        if rows and columns:
            grid.add_everywhere(weight, rows, columns)

    def _arrays(
        self, grid: Grid, node: PlanNode, weight: float, expected: list[JsonValue], actual: list[JsonValue]
    ) -> None:
        align = node.align
        if align == "ordered" or (align[0] == "if_objects" and not _some_keyed(expected, actual)):
            element = node.children[ELEMENT]
            for at in range(max(map(len, chain(expected, actual)), default=0)):
                self._member(
                    grid,
                    element,
                    weight,
                    [item[at] if at < len(item) else MISSING for item in expected],
                    [item[at] if at < len(item) else MISSING for item in actual],
                )
        elif align == "unordered" and self._nest(grid, node, weight, expected, actual):
            pass
        else:
            grid.know_nothing()
            return
        self._empty(grid, weight, expected, actual)

    def _nest(
        self, grid: Grid, node: PlanNode, weight: float, expected: list[JsonValue], actual: list[JsonValue]
    ) -> bool:
        """Add unordered arrays; False: what they count depends on the pairs of their elements."""
        element = node.children[ELEMENT]
        if element.skip:
            return True
        if self._aligner.plan.has_optional:
            return False
        left, right = flatten(self._aligner, element, (expected, actual))
        inner = self._body.of_many(self._aligner, element, left.values, right.values)
        if inner is None:
            if not self._body.fits(self._aligner, len(left.values), len(right.values)):
                return False
            columns = Columns(self._aligner, element, self._body, self._deepest)
            inner = columns.grid(element, left.values, right.values)
        if inner.unknown:
            return False
        uneven = self._empties == "if_absent" and not (all(inner.expected) and all(inner.actual))
        if inner.is_corrected or uneven or not self._count_actual:
            return False
        inner.finish()
        grid.nest(Nested(self._aligner, element, inner, left, right), weight * element.own_weight)
        return True


def _by_shape(values: Sequence[JsonValue]) -> dict[type, list[int]]:
    """Return the positions of objects, of arrays, and of all else."""
    found: dict[type, list[int]] = {}
    for at, value in enumerate(values):
        kind = type(value)
        found.setdefault(kind if kind in CONTAINERS else object, []).append(at)
    return found


def _without_nulls(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {key: item for key, item in value.items() if item is not None}


def _some_keyed(expected: list[JsonValue], actual: list[JsonValue]) -> bool:
    """Tell whether a pair of arrays is paired by key: all elements of both are objects."""
    return all(
        any(all(type(item) is dict for item in array) for array in side) for side in (expected, actual)
    )
