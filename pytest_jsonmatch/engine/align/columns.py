"""Add up Σ of all pairs of elements, column by column: one recursion for grids of both bodies.

    similarity(i, j) = Σ over columns k of weight_k · score_k(i, j) / ½ (E_i + A_j)

The divisor is E_i alone under `reduce: ratio` or `extra: ignore`. A similarity is at most 1, and 0/0 is 1.

A column is a place inside the elements, such as `price`. E_i and A_j are constants of the elements: their
weighted leaf counts, each counted alone. A place that is right as a whole, because a matcher, a predicate or
another accepted value decides, adds its score times its own divisor: ½ (e + a) or e, for the leaves there.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.align.column import Some, at_places, by_key, by_shape, column_of, flatten
from pytest_jsonmatch.engine.align.context import refuse_too_large
from pytest_jsonmatch.engine.align.grid import Nested
from pytest_jsonmatch.engine.plan.accept import LEAST_GAIN
from pytest_jsonmatch.engine.plan.node import leaf_count, most_of, weight_chosen
from pytest_jsonmatch.engine.value.convert import MISSING, Matcher
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_jsonmatch.engine.align.context import Context
    from pytest_jsonmatch.engine.align.grid import Grid
    from pytest_jsonmatch.engine.plan.accept import Acceptance
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

_MOST_LEVELS: Final = 30
"""Values more than this many levels below the element are left to the walk: it takes fewer calls a level."""

_MANY_CELLS: Final = 4_000_000
"""If nested arrays have more pairs of values, those that score 0 should take no memory."""

_RARE: Final = 4
"""A key is scored apart if fewer than one in this many pairs of elements have it on both sides."""


@final
class Columns:
    """Makes the grid of all pairs of values at one node, including everything below it."""

    def __init__(self, aligner: Context, element: PlanNode, body: type[Grid], deepest: int = 0) -> None:
        self._aligner = aligner
        self._body = body
        self._element = element
        self._deepest = deepest or element.depth + _MOST_LEVELS

    def grid(
        self, node: PlanNode, expected: Sequence[JsonValue], actual: Sequence[JsonValue], above: float = 1.0
    ) -> Grid:
        """Return Σ of all pairs, with weights multiplied from the element down.

        Args:
            node: the place of the values.
            expected: n values.
            actual: m values.
            above: the product of the weights from the element down to the node's parent.
        """
        deeper = node.depth > self._element.depth
        weight = above * node.own_weight if deeper else weight_chosen(self._element, node)
        if node.depth > self._deepest or (node.branches is not None and node.accept is not None):
            return self.left_to_walk(node, expected, actual, weight)
        grid = self._body(self._aligner, len(expected), len(actual))
        if node.branches is not None:
            self._alternatives(grid, node, (expected, actual), above, weight)
        elif not node.skip and not self._scalars(grid, node, weight, list(expected), list(actual)):
            self._by_type(grid, node, weight, expected, actual)
        return grid

    def left_to_walk(
        self, node: PlanNode, expected: Sequence[JsonValue], actual: Sequence[JsonValue], weight: float = 1.0
    ) -> Grid:
        """Return bounds of all pairs; only the walk can score them."""
        grid = self._body(self._aligner, len(expected), len(actual))
        self._doubt(grid, node, weight, expected, actual)
        return grid

    def _doubt(
        self,
        grid: Grid,
        node: PlanNode,
        weight: float,
        expected: Sequence[JsonValue],
        actual: Sequence[JsonValue],
    ) -> None:
        """Leave all pairs to the walk, and add the most that it may find."""
        grid.walked = True
        most = [weight * most_of(node, value, self._aligner.most) for value in actual]
        for at, value in enumerate(expected):
            # A place that is right as a whole counts half the leaves of each side, or those of expected.
            own = weight * leaf_count(node, value, self._aligner.leaves, of_expected=False)
            grid.credit([at], range(len(actual)), [[own + more for more in most]])

    def _accepting(
        self,
        grid: Grid,
        node: PlanNode,
        weight: float,
        expected: Sequence[JsonValue],
        actual: Sequence[JsonValue],
    ) -> None:
        """Add bounds of pairs where values other than the expected one are accepted, containers included."""
        grid.walked = True
        block = self._body(self._aligner, len(expected), len(actual))
        self._by_type(block, node.bare, weight, expected, actual)
        for at, counts in enumerate(self._wholes(node, weight, expected, actual)):
            most = [max(float(score), count) for score, count in zip(block.score[at], counts)]
            grid.credit([at], range(len(actual)), [most])

    def _wholes(
        self, node: PlanNode, weight: float, expected: Sequence[JsonValue], actual: Sequence[JsonValue]
    ) -> list[list[float]]:
        """Return what each pair of values adds to Σ if it is right as a whole: its leaf count."""
        lines = self._aligner.leaf_counts(node, expected, actual).pairs(len(actual))
        return [[weight * count for count in line] for line in lines]

    def _alternatives(
        self,
        grid: Grid,
        node: PlanNode,
        sides: tuple[Sequence[JsonValue], Sequence[JsonValue]],
        above: float,
        weight: float,
    ) -> None:
        """Add pairs under the alternative of the schema that the expected value chooses."""
        expected, actual = sides
        groups: dict[PlanNode, list[int]] = {}
        for at, value in enumerate(expected):
            groups.setdefault(node.chosen(value, MISSING), []).append(at)
        if any(variant.branches is not None or variant.accept is not None for variant in groups):
            # None of them accepts the value, or another value that is right may have another alternative.
            self._doubt(grid, node, weight, expected, actual)
            return
        for variant, rows in groups.items():
            block = self.grid(variant, at_places(rows, expected), actual, above)
            grid.absorb(block, rows, range(len(actual)))

    def _scalars(
        self, grid: Grid, node: PlanNode, weight: float, expected: list[JsonValue], actual: list[JsonValue]
    ) -> bool:
        """Add a column of scalars, MISSING where there is none; return False if there are containers."""
        left, right = column_of(node, expected), column_of(node, actual)
        if left is None or right is None:
            return False
        if left.values and right.values:
            grid.add_scores(node, weight, left, right)
        return True

    def _by_type(
        self,
        grid: Grid,
        node: PlanNode,
        weight: float,
        expected: Sequence[JsonValue],
        actual: Sequence[JsonValue],
    ) -> None:
        """Add pairs of values of one kind: two scalars, two objects or two arrays. Other pairs score 0."""
        if Matcher in set(map(type, expected)):
            self._matched(grid, node, weight, expected, actual)
            return
        scalars = node
        if node.accept is not None:
            if not node.accept.is_of_scalars:
                self._accepting(grid, node, weight, expected, actual)
                return
            node = node.bare
        left, right = by_shape(expected), by_shape(actual)
        for shape, places in left.items():
            one, other = Some.at(places, expected), Some.at(right.get(shape, []), actual)
            if not other.values:
                continue
            everything = one.is_all and other.is_all
            block = grid if everything else self._body(self._aligner, len(one.places), len(other.places))
            if shape is object:
                self._scalars(block, scalars, weight, one.values, other.values)
            else:
                add = self._objects if shape is dict else self._arrays
                add(block, node, weight, one.values, other.values)
            if everything:
                return
            grid.absorb(block, one.places, other.places)
        if scalars.accept is not None:
            containers = [at for shape, some in left.items() if shape is not object for at in some]
            sides = Some.at(containers, expected), Some.at(right.get(object, []), actual)
            self._accepted(grid, scalars, scalars.accept, weight, sides)

    def _matched(
        self,
        grid: Grid,
        node: PlanNode,
        weight: float,
        expected: Sequence[JsonValue],
        actual: Sequence[JsonValue],
    ) -> None:
        """Add the pairs of matchers, and those of other values."""
        everyone = range(len(actual))
        matched = Some.at([at for at, value in enumerate(expected) if type(value) is Matcher], expected)
        others = at_places(matched.others, expected)
        block = self._body(self._aligner, len(others), len(actual))
        if not self._scalars(block, node, weight, others, list(actual)):
            self._by_type(block, node, weight, others, actual)
        grid.absorb(block, matched.others, everyone)
        (wholes,) = self._wholes(node, weight, matched.values[:1], actual)
        scores = {
            each: [whole * _score(each, value) for whole, value in zip(wholes, actual)]
            for each in dict.fromkeys(matched.values)
        }
        grid.credit(matched.places, everyone, [scores[each] for each in matched.values])

    def _accepted(
        self, grid: Grid, node: PlanNode, accept: Acceptance, weight: float, sides: tuple[Some, Some]
    ) -> None:
        """Add the scores of scalars of actual that are accepted in place of containers of expected."""
        one, other = sides
        lowest = max(LEAST_GAIN, node.lowest_score)
        scores = [accept.ceiling(node.prepare(value)) for value in other.values]
        scores = [score if score >= lowest else 0.0 for score in scores]
        wholes = self._wholes(node, weight, one.values, other.values)
        lines = [[score * count for score, count in zip(scores, counts)] for counts in wholes]
        grid.credit(one.places, other.places, lines)

    # -- containers ----------------------------------------------------------------------------------------

    def _objects(
        self, grid: Grid, node: PlanNode, weight: float, expected: list[JsonValue], actual: list[JsonValue]
    ) -> None:
        if self._aligner.plan.options.nulls == "absent":
            expected, actual = list(map(_without_nulls, expected)), list(map(_without_nulls, actual))
        self._members(grid, node.children.__getitem__, weight, expected, actual)
        self._empty(grid, weight, expected, actual)

    def _members(
        self,
        grid: Grid,
        child_of: Callable[[Any], PlanNode],
        weight: float,
        expected: Sequence[dict[Any, JsonValue]],
        actual: Sequence[dict[Any, JsonValue]],
    ) -> None:
        """Add the members of objects, or the elements of arrays by their index."""
        counts, others = [Counter(chain.from_iterable(values)) for values in (expected, actual)]
        keys = [key for key in counts if key in others]
        pairs = len(expected) * len(actual)
        # Few enough elements have these to score their pairs apart from the others.
        rare = {key for key in keys if counts[key] * others[key] * _RARE < pairs}
        apart = [by_key(rare, values) for values in (expected, actual)]
        for key in keys:
            child = child_of(key)
            if key in rare:
                self._some(grid, child, weight, *[found[key] for found in apart])
            else:
                sides = [[item.get(key, MISSING) for item in values] for values in (expected, actual)]
                self._member(grid, child, weight, *sides)

    def _member(
        self, grid: Grid, child: PlanNode, weight: float, expected: list[JsonValue], actual: list[JsonValue]
    ) -> None:
        """Add the members under one key or at one index, MISSING where an element has none."""
        is_near = child.branches is None and child.depth <= self._deepest and not child.skip
        if is_near and self._scalars(grid, child, weight * child.own_weight, expected, actual):
            return
        self._some(grid, child, weight, Some.there(expected), Some.there(actual))

    def _some(self, grid: Grid, child: PlanNode, weight: float, one: Some, other: Some) -> None:
        """Add the members of the elements that have one."""
        grid.absorb(self.grid(child, one.values, other.values, weight), one.places, other.places)

    def _empty(
        self, grid: Grid, weight: float, expected: Sequence[JsonValue], actual: Sequence[JsonValue]
    ) -> None:
        """Count two empty containers as a leaf."""
        if self._aligner.plan.options.empties == "leaf":
            rows = [at for at, value in enumerate(expected) if not value]
            columns = [at for at, value in enumerate(actual) if not value]
            grid.credit(rows, columns, [weight] * len(columns))

    def _arrays(
        self, grid: Grid, node: PlanNode, weight: float, expected: list[JsonValue], actual: list[JsonValue]
    ) -> None:
        align = node.align
        if align == "ordered" or (align[0] == "if_objects" and not _some_keyed(expected, actual)):
            element = node.children[ELEMENT]
            sides = [[dict(enumerate(item)) for item in values] for values in (expected, actual)]
            self._members(grid, lambda _: element, weight, *sides)
        else:
            self._nest(grid, node, weight, expected, actual)
        self._empty(grid, weight, expected, actual)

    def _nest(
        self, grid: Grid, node: PlanNode, weight: float, expected: list[JsonValue], actual: list[JsonValue]
    ) -> None:
        """Add arrays whose elements pair by contents or by key."""
        element = node.children[ELEMENT]
        if element.skip:
            return
        sides = flatten(self._aligner.canon, node, (expected, actual))
        if sides[0].values and sides[1].values:
            inner = self._inner(node, sides[0].values, sides[1].values)
            inner.finish(self._aligner.leaf_counts(element, sides[0].values, sides[1].values))
            grid.nest(Nested(self._aligner, node, inner, sides), weight * element.own_weight)

    def _inner(self, node: PlanNode, expected: list[JsonValue], actual: list[JsonValue]) -> Grid:
        """Return the grid of all elements of nested arrays."""
        element = node.children[ELEMENT]
        if len(expected) * len(actual) > _MANY_CELLS and node.align == "unordered":
            from pytest_jsonmatch.engine.align.large import related_grid

            related = related_grid(self._aligner, element, expected, actual)
            if related is not None:
                return related
        refuse_too_large(node, len(expected), len(actual))
        columns = Columns(self._aligner, element, self._body, self._deepest)
        return columns.grid(element, expected, actual)


def _score(matcher: Matcher, actual: JsonValue) -> float:
    """Return what a matcher says, or 0 if it raises: the walk reports that."""
    try:
        return matcher.score(matcher, actual)
    except Exception:  # noqa: BLE001 - a user's class
        return 0.0


def _without_nulls(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {key: item for key, item in value.items() if item is not None}


def _some_keyed(expected: list[JsonValue], actual: list[JsonValue]) -> bool:
    """Tell whether some pair of arrays is paired by key, as all elements of both are objects."""
    return all(
        any(all(type(item) is dict for item in array) for array in side) for side in (expected, actual)
    )
