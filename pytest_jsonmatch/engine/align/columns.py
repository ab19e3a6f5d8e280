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

from pytest_jsonmatch.engine.align.column import (
    Selection,
    flatten,
    group_by_key,
    group_by_shape,
    make_column,
    select,
)
from pytest_jsonmatch.engine.align.context import refuse_too_large
from pytest_jsonmatch.engine.align.grid import NestedArrays
from pytest_jsonmatch.engine.plan.node import leaf_count, upper_bound, weight_chosen
from pytest_jsonmatch.engine.value.convert import CONTAINERS, MISSING, Matcher
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from pytest_jsonmatch.engine.align.context import Context
    from pytest_jsonmatch.engine.align.grid import Grid
    from pytest_jsonmatch.engine.align.related import RelatedGrid
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

    def build_grid(
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
        weight = above * node.rules.weight if deeper else weight_chosen(self._element, node)
        if node.depth > self._deepest or (node.varies and node.rules.accept is not None):
            return self.build_bounds(node, expected, actual, weight)
        grid = self._body(self._aligner, len(expected), len(actual))
        if node.varies:
            self._add_alternatives(grid, node, (expected, actual), above, weight)
        elif not node.rules.skip and not self._add_column(grid, node, weight, list(expected), list(actual)):
            self._add_by_type(grid, node, weight, expected, actual)
        return grid

    def build_bounds(
        self, node: PlanNode, expected: Sequence[JsonValue], actual: Sequence[JsonValue], weight: float = 1.0
    ) -> Grid:
        """Return upper bounds of all pairs; only the walk can score them."""
        grid = self._body(self._aligner, len(expected), len(actual))
        self._add_upper_bounds(grid, node, weight, expected, actual)
        return grid

    def _add_upper_bounds(
        self,
        grid: Grid,
        node: PlanNode,
        weight: float,
        expected: Sequence[JsonValue],
        actual: Sequence[JsonValue],
    ) -> None:
        """Leave all pairs to the walk, and add upper bounds of what it may find."""
        grid.walked = True
        most = [weight * upper_bound(node, value, self._aligner.upper_bounds) for value in actual]
        for at, value in enumerate(expected):
            # A place that is right as a whole adds at most the leaves of both sides, optional ones too.
            leaves = weight * leaf_count(node, value, self._aligner.leaves, of_expected=False)
            grid.add_scores([at], range(len(actual)), [[leaves + more for more in most]])

    def _add_accepted_bounds(
        self,
        grid: Grid,
        node: PlanNode,
        weight: float,
        expected: Sequence[JsonValue],
        actual: Sequence[JsonValue],
    ) -> None:
        """Add upper bounds of pairs where other values than the expected one are accepted, or containers."""
        grid.walked = True
        block = self._body(self._aligner, len(expected), len(actual))
        self._add_by_shape(block, node, weight, expected, actual)
        for at, counts in enumerate(self._leaf_counts(node, weight, expected, actual)):
            most = [max(float(score), count) for score, count in zip(block.total_scores[at], counts)]
            grid.add_scores([at], range(len(actual)), [most])

    def _leaf_counts(
        self, node: PlanNode, weight: float, expected: Sequence[JsonValue], actual: Sequence[JsonValue]
    ) -> list[list[float]]:
        """Return what each pair of values adds to Σ if it is right as a whole: its weighted leaf count."""
        lines = self._aligner.leaf_counts(node, expected, actual).pairs(len(actual))
        return [[weight * count for count in line] for line in lines]

    def _add_alternatives(
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
        if any(variant.varies or variant.rules.accept is not None for variant in groups):
            # None of them accepts the value, or another value that is right may have another alternative.
            self._add_upper_bounds(grid, node, weight, expected, actual)
            return
        for variant, rows in groups.items():
            block = self.build_grid(variant, select(rows, expected), actual, above)
            grid.add_block(block, rows, range(len(actual)))

    def _add_column(
        self, grid: Grid, node: PlanNode, weight: float, expected: list[JsonValue], actual: list[JsonValue]
    ) -> bool:
        """Add a column of scalars, MISSING where there is none; return False if there are containers."""
        left, right = make_column(node, expected), make_column(node, actual)
        if left is None or right is None:
            return False
        if left.values and right.values:
            grid.add_column(node, weight, left, right)
        return True

    def _add_by_type(
        self,
        grid: Grid,
        node: PlanNode,
        weight: float,
        expected: Sequence[JsonValue],
        actual: Sequence[JsonValue],
    ) -> None:
        """Add pairs of values of one kind: two scalars, two objects or two arrays. Other pairs score 0."""
        if Matcher in set(map(type, expected)):
            self._add_matchers(grid, node, weight, expected, actual)
            return
        accept = node.rules.accept
        if accept is not None and not accept.is_of_scalars:
            self._add_accepted_bounds(grid, node, weight, expected, actual)
            return
        self._add_by_shape(grid, node, weight, expected, actual)
        if accept is not None:
            containers = [at for at, value in enumerate(expected) if type(value) in CONTAINERS]
            scalars = [at for at, value in enumerate(actual) if type(value) not in CONTAINERS]
            if containers and scalars:
                sides = Selection.at(containers, expected), Selection.at(scalars, actual)
                self._add_accepted_scalars(grid, node, accept, weight, sides)

    def _add_by_shape(
        self,
        grid: Grid,
        node: PlanNode,
        weight: float,
        expected: Sequence[JsonValue],
        actual: Sequence[JsonValue],
    ) -> None:
        """Add pairs of values of one kind, without those that only `accept` lets score."""
        left, right = group_by_shape(expected), group_by_shape(actual)
        for shape, places in left.items():
            one, other = Selection.at(places, expected), Selection.at(right.get(shape, []), actual)
            if not other.values:
                continue
            everything = one.is_all and other.is_all
            block = grid if everything else self._body(self._aligner, len(one.places), len(other.places))
            if shape is object:
                self._add_column(block, node, weight, one.values, other.values)
            else:
                add = self._add_objects if shape is dict else self._add_arrays
                add(block, node, weight, one.values, other.values)
            if everything:
                return
            grid.add_block(block, one.places, other.places)

    def _add_matchers(
        self,
        grid: Grid,
        node: PlanNode,
        weight: float,
        expected: Sequence[JsonValue],
        actual: Sequence[JsonValue],
    ) -> None:
        """Add the pairs of matchers, and those of other values."""
        everyone = range(len(actual))
        matched = Selection.at([at for at, value in enumerate(expected) if type(value) is Matcher], expected)
        others = select(matched.others, expected)
        block = self._body(self._aligner, len(others), len(actual))
        if not self._add_column(block, node, weight, others, list(actual)):
            self._add_by_type(block, node, weight, others, actual)
        grid.add_block(block, matched.others, everyone)
        (counts,) = self._leaf_counts(node, weight, matched.values[:1], actual)
        scores = {
            matcher: [count * score for count, score in zip(counts, _score_by_matcher(matcher, actual))]
            for matcher in dict.fromkeys(matched.values)
        }
        grid.add_scores(matched.places, everyone, [scores[each] for each in matched.values])

    def _add_accepted_scalars(
        self,
        grid: Grid,
        node: PlanNode,
        accept: Acceptance,
        weight: float,
        sides: tuple[Selection, Selection],
    ) -> None:
        """Add the scores of scalars of actual that are accepted in place of containers of expected."""
        one, other = sides
        scores = [accept.best(node.rules.prepare(value)).score for value in other.values]
        leaf_counts = self._leaf_counts(node, weight, one.values, other.values)
        lines = [[score * count for score, count in zip(scores, counts)] for counts in leaf_counts]
        grid.add_scores(one.places, other.places, lines)

    # -- containers ----------------------------------------------------------------------------------------

    def _add_objects(
        self, grid: Grid, node: PlanNode, weight: float, expected: list[JsonValue], actual: list[JsonValue]
    ) -> None:
        if self._aligner.plan.options.nulls == "absent":
            expected, actual = list(map(_without_nulls, expected)), list(map(_without_nulls, actual))
        self._add_members(grid, node.children.__getitem__, weight, expected, actual)
        self._add_empty(grid, weight, expected, actual)

    def _add_members(
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
        apart = [group_by_key(rare, values) for values in (expected, actual)]
        for key in keys:
            child = child_of(key)
            if key in rare:
                self._add_present(grid, child, weight, *[found[key] for found in apart])
            else:
                sides = [[item.get(key, MISSING) for item in values] for values in (expected, actual)]
                self._add_member(grid, child, weight, *sides)

    def _add_member(
        self, grid: Grid, child: PlanNode, weight: float, expected: list[JsonValue], actual: list[JsonValue]
    ) -> None:
        """Add the members under one key or at one index, MISSING where an element has none."""
        is_near = not child.varies and child.depth <= self._deepest and not child.rules.skip
        if is_near and self._add_column(grid, child, weight * child.rules.weight, expected, actual):
            return
        self._add_present(grid, child, weight, Selection.present(expected), Selection.present(actual))

    def _add_present(
        self, grid: Grid, child: PlanNode, weight: float, one: Selection, other: Selection
    ) -> None:
        """Add the members of the elements that have one."""
        grid.add_block(self.build_grid(child, one.values, other.values, weight), one.places, other.places)

    def _add_empty(
        self, grid: Grid, weight: float, expected: Sequence[JsonValue], actual: Sequence[JsonValue]
    ) -> None:
        """Count two empty containers as a leaf."""
        if self._aligner.plan.options.empties == "leaf":
            rows = [at for at, value in enumerate(expected) if not value]
            columns = [at for at, value in enumerate(actual) if not value]
            grid.add_scores(rows, columns, [weight] * len(columns))

    def _add_arrays(
        self, grid: Grid, node: PlanNode, weight: float, expected: list[JsonValue], actual: list[JsonValue]
    ) -> None:
        align = node.rules.align
        if align == "ordered" or (align[0] == "if_objects" and not _may_pair_by_key(expected, actual)):
            element = node.children[ELEMENT]
            sides = [[dict(enumerate(item)) for item in values] for values in (expected, actual)]
            self._add_members(grid, lambda _: element, weight, *sides)
        else:
            self._add_nested_arrays(grid, node, weight, expected, actual)
        self._add_empty(grid, weight, expected, actual)

    def _add_nested_arrays(
        self, grid: Grid, node: PlanNode, weight: float, expected: list[JsonValue], actual: list[JsonValue]
    ) -> None:
        """Add arrays whose elements pair by contents or by key."""
        element = node.children[ELEMENT]
        if element.rules.skip:
            return
        sides = flatten(self._aligner.equality, node, (expected, actual))
        if sides[0].values and sides[1].values:
            inner = self._build_inner_grid(node, sides[0].values, sides[1].values)
            grid.add_nested(NestedArrays(self._aligner, node, inner, sides), weight * element.rules.weight)

    def _build_inner_grid(
        self, node: PlanNode, expected: list[JsonValue], actual: list[JsonValue]
    ) -> Grid | RelatedGrid:
        """Return the grid of all elements of nested arrays."""
        element = node.children[ELEMENT]
        if len(expected) * len(actual) > _MANY_CELLS and node.rules.align == "unordered":
            from pytest_jsonmatch.engine.align.related import make_related_grid

            related = make_related_grid(self._aligner, element, expected, actual)
            if related is not None:
                return related
        refuse_too_large(node, len(expected), len(actual))
        grid = Columns(self._aligner, element, self._body, self._deepest).build_grid(
            element, expected, actual
        )
        grid.compute_worths(self._aligner.leaf_counts(element, expected, actual))
        return grid


def _score_by_matcher(matcher: Matcher, actual: Sequence[JsonValue]) -> list[float]:
    """Return the score of each value against a matcher, which is asked once about each distinct scalar."""
    known: dict[Hashable, float] = {}
    scores = []
    for value in actual:
        key = id(value) if type(value) in CONTAINERS else (type(value), value)
        if key not in known:
            known[key] = _ask_matcher(matcher, value)
        scores.append(known[key])
    return scores


def _ask_matcher(matcher: Matcher, actual: JsonValue) -> float:
    """Return what a matcher says, or 0 if it raises: the walk reports that."""
    try:
        return matcher.score(matcher, actual)
    except Exception:  # noqa: BLE001 - a user's class
        return 0.0


def _without_nulls(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {key: item for key, item in value.items() if item is not None}


def _may_pair_by_key(expected: list[JsonValue], actual: list[JsonValue]) -> bool:
    """Tell whether some pair of arrays is paired by key, as all elements of both are objects."""
    return all(
        any(all(type(item) is dict for item in array) for array in side) for side in (expected, actual)
    )
