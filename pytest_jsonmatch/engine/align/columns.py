"""Score all pairs of elements of two unordered arrays at once, column by column.

The elements are paired so that the sum of these similarities is maximal:

    similarity(i, j) = (Σ over columns k of weight_k · score_k(i, j)) / ((E_i + A_j) / 2)

i is an element of expected and j one of actual. A column k is a place in the elements, such as `price`, like
a column of a table whose rows are the elements. E_i and A_j are the weighted leaf counts of the two elements,
each counted on its own. The divisor is E_i under `reduce: ratio` or `extra: ignore`; a similarity is at most
1, and 0/0 is 1.

This module adds up the numerators, Σ, in a grid: an (n, m) matrix, indexed [i, j]. For

    expected = [{"sku": "a", "n": 1}, {"sku": "b", "n": 2}]
    actual = [{"sku": "b", "n": 1}]

`sku` adds [[0], [1]] to the grid and `n` adds [[1], [0]]. E is [2, 2] and A is [2]: both similarities are ½.
Only distinct values of a column are compared. The arrays at one place inside the elements share a grid. E
and A come from `PairingContext.make_leaf_counts`, and `Grid.compute_worths` divides.

Some scores are not known here, for example those of a comparator that asks a model. The grid then has an
upper bound, and a pair that is chosen is scored by the walk (`engine.score.walk`), which scores two values
one place at a time. The choice is repeated until all chosen pairs have exact scores (`pair_by_bounds`).

A place may match as a whole, through a matcher such as `pytest.approx` or through `accept`. It then adds its
score times its own divisor: (e + a) / 2 or e, for the leaves of that place.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from pytest_jsonmatch.engine.align.column import (
    Selection,
    flatten,
    group_by_key,
    group_by_kind,
    make_column,
    select,
)
from pytest_jsonmatch.engine.align.context import refuse_too_large
from pytest_jsonmatch.engine.align.grid import NestedArrays
from pytest_jsonmatch.engine.plan.node import get_chosen_weight, leaf_count, upper_bound
from pytest_jsonmatch.engine.plan.options import ByMembers
from pytest_jsonmatch.engine.value.convert import CONTAINERS, MISSING, Matcher
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from pytest_jsonmatch.engine.align.context import PairingContext
    from pytest_jsonmatch.engine.align.grid import Grid
    from pytest_jsonmatch.engine.align.related import RelatedGrid
    from pytest_jsonmatch.engine.plan.accept import Acceptance
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

JsonValues: TypeAlias = "Sequence[JsonValue]"

_MAX_LEVELS: Final = 30
"""Values deeper than this get upper bounds, since the walk needs fewer stack frames for a level."""

_MANY_CELLS: Final = 4_000_000
"""If nested arrays have more pairs of elements, a sparse grid is tried: scores of 0 take no memory."""

_RARE: Final = 4
"""A key that fewer than 1 / `_RARE` of the pairs of objects have on both sides gets a smaller grid."""


@final
class GridBuilder:
    """Builds the grid of the elements of two arrays.

    Methods that add to a grid take the grid, the node of the values (their schema path with its rules), their
    weight relative to the element (with a `child`, that of its parent), and n values of expected and m values
    of actual for the axes i and j.
    """

    def __init__(
        self, aligner: PairingContext, element: PlanNode, grid_type: type[Grid], max_depth: int = 0
    ) -> None:
        """Create a builder.

        Args:
            aligner: the context of all pairings of one comparison.
            element: the node of the elements.
            grid_type: `ListGrid` for few pairs, `ArrayGrid` (numpy) for many.
            max_depth: the depth below which values get upper bounds; 0: the default of an outermost grid.
        """
        self._aligner = aligner
        self._grid_type = grid_type
        self._element = element
        self._max_depth = max_depth or element.depth + _MAX_LEVELS

    def build_grid(
        self, node: PlanNode, expected: JsonValues, actual: JsonValues, weight_above: float = 1.0
    ) -> Grid:
        """Return the grid of values at the element's node or below it.

        Args:
            node: the node of the values.
            expected: n values.
            actual: m values.
            weight_above: the product of the weights from the element (without its own) to the node's parent.
        """
        is_below = node.depth > self._element.depth
        weight = weight_above * node.rules.weight if is_below else get_chosen_weight(self._element, node)
        if node.depth > self._max_depth or (node.varies and node.rules.accept is not None):
            return self.build_bounds(node, expected, actual, weight)
        grid = self._grid_type(self._aligner, len(expected), len(actual))
        if node.varies:
            self._add_alternatives(grid, node, (expected, actual), weight_above, weight)
        elif not node.rules.skip and not self._add_scalars(grid, node, weight, list(expected), list(actual)):
            self._add_values(grid, node, weight, expected, actual)
        return grid

    def build_bounds(
        self, node: PlanNode, expected: JsonValues, actual: JsonValues, weight: float = 1.0
    ) -> Grid:
        """Return a grid of upper bounds, for pairs that only the walk can score."""
        grid = self._grid_type(self._aligner, len(expected), len(actual))
        self._add_upper_bounds(grid, node, weight, expected, actual)
        return grid

    def _add_scalars(
        self, grid: Grid, node: PlanNode, weight: float, expected: list[JsonValue], actual: list[JsonValue]
    ) -> bool:
        """Add a column of scalars, with MISSING for elements that have none.

        Return False, without adding anything, if there are matchers, or containers that are not compared as a
        whole.
        """
        left, right = make_column(node, expected), make_column(node, actual)
        if left is None or right is None:
            return False
        if left.values and right.values:
            grid.add_column(node, weight, left, right)
        return True

    def _add_values(
        self, grid: Grid, node: PlanNode, weight: float, expected: JsonValues, actual: JsonValues
    ) -> None:
        """Add values of any types, including matchers; none may be MISSING."""
        if Matcher in set(map(type, expected)):
            self._add_matchers(grid, node, weight, expected, actual)
            return
        accept = node.rules.accept
        if accept is not None and not accept.is_of_scalars:
            self._add_accepted_bounds(grid, node, weight, expected, actual)
            return
        self._add_by_kind(grid, node, weight, expected, actual)
        if accept is not None:
            containers = [at for at, value in enumerate(expected) if type(value) in CONTAINERS]
            scalars = [at for at, value in enumerate(actual) if type(value) not in CONTAINERS]
            if containers and scalars:
                sides = Selection.at(containers, expected), Selection.at(scalars, actual)
                self._add_accepted_scalars(grid, node, accept, weight, sides)

    def _add_by_kind(
        self, grid: Grid, node: PlanNode, weight: float, expected: JsonValues, actual: JsonValues
    ) -> None:
        """Add the pairs of two scalars, two objects or two arrays; pairs of different kinds score 0."""
        left, right = group_by_kind(expected), group_by_kind(actual)
        for kind, positions in left.items():
            one, other = Selection.at(positions, expected), Selection.at(right.get(kind, []), actual)
            if not other.values:
                continue
            all_are_of_kind = one.is_all and other.is_all
            block = grid
            if not all_are_of_kind:
                block = self._grid_type(self._aligner, len(one.positions), len(other.positions))
            if kind is dict:
                self._add_objects(block, node, weight, one.values, other.values)
            elif kind is list:
                self._add_arrays(block, node, weight, one.values, other.values)
            else:
                self._add_scalars(block, node, weight, one.values, other.values)
            if all_are_of_kind:
                return
            grid.add_block(block, one.positions, other.positions)

    # -- objects and arrays --------------------------------------------------------------------------------

    def _add_objects(
        self, grid: Grid, node: PlanNode, weight: float, expected: list[JsonValue], actual: list[JsonValue]
    ) -> None:
        """Add the members of objects, key by key."""
        if (absent := self._aligner.plan.absent) is not None:
            expected, actual = [[absent.remove(node, item) for item in side] for side in (expected, actual)]
        self._add_members(grid, node.undecided.__getitem__, weight, expected, actual)
        self._add_absences(grid, node, weight, expected, actual)
        self._add_empty(grid, weight, expected, actual)

    def _add_absences(
        self, grid: Grid, node: PlanNode, weight: float, expected: list[JsonValue], actual: list[JsonValue]
    ) -> None:
        """Add the members that must not be there, for the objects that do not have them."""
        absences: dict[str, list[int]] = {}
        for at, item in enumerate(expected):
            for key, value in item.items():
                if type(value) is Matcher and value.is_absence:
                    absences.setdefault(key, []).append(at)
        for key, rows in absences.items():
            columns = [at for at, item in enumerate(actual) if key not in item]
            rules = node.undecided[key].choose(expected[rows[0]][key]).rules
            if not rules.skip:
                grid.add_scores(rows, columns, [weight * rules.weight] * len(columns))

    def _add_arrays(
        self, grid: Grid, node: PlanNode, weight: float, expected: list[JsonValue], actual: list[JsonValue]
    ) -> None:
        """Add the elements of arrays: index by index, or paired by key or contents."""
        align = node.rules.align
        if isinstance(align, ByMembers):
            # Only the walk pairs them.
            self._add_upper_bounds(grid, node, weight, expected, actual)
            return
        if align == "ordered" or (align[0] == "if_objects" and not _may_pair_by_key(expected, actual)):
            element = node.undecided[ELEMENT]
            sides = [[dict(enumerate(item)) for item in values] for values in (expected, actual)]
            self._add_members(grid, lambda _: element, weight, *sides)
        else:
            self._add_nested_arrays(grid, node, weight, expected, actual)
        self._add_empty(grid, weight, expected, actual)

    def _add_members(
        self,
        grid: Grid,
        get_child: Callable[[Any], PlanNode],
        weight: float,
        expected: Sequence[dict[Any, JsonValue]],
        actual: Sequence[dict[Any, JsonValue]],
    ) -> None:
        """Add the members under each key that both sides have; `get_child` returns the node of a key."""
        counts, others = [Counter(chain.from_iterable(values)) for values in (expected, actual)]
        keys = [key for key in counts if key in others]
        pairs = len(expected) * len(actual)
        rare = {key for key in keys if counts[key] * others[key] * _RARE < pairs}
        rare_members = [group_by_key(rare, values) for values in (expected, actual)]
        for key in keys:
            child = get_child(key)
            if key in rare:
                self._add_present(grid, child, weight, *[members[key] for members in rare_members])
            else:
                sides = [[item.get(key, MISSING) for item in values] for values in (expected, actual)]
                self._add_member(grid, child, weight, *sides)

    def _add_member(
        self, grid: Grid, child: PlanNode, weight: float, expected: list[JsonValue], actual: list[JsonValue]
    ) -> None:
        """Add the members under one key, with MISSING for objects that have none."""
        may_be_column = not child.varies and child.depth <= self._max_depth and not child.rules.skip
        if may_be_column and self._add_scalars(grid, child, weight * child.rules.weight, expected, actual):
            return
        self._add_present(grid, child, weight, Selection.present(expected), Selection.present(actual))

    def _add_present(
        self, grid: Grid, child: PlanNode, weight: float, one: Selection, other: Selection
    ) -> None:
        """Add the members under one key, given the selections of objects that have it."""
        block = self.build_grid(child, one.values, other.values, weight)
        grid.add_block(block, one.positions, other.positions)

    def _add_empty(self, grid: Grid, weight: float, expected: JsonValues, actual: JsonValues) -> None:
        """Add a leaf for each pair of two empty containers, if empty containers count."""
        if self._aligner.plan.options.empties == "leaf":
            rows = [at for at, value in enumerate(expected) if not value]
            columns = [at for at, value in enumerate(actual) if not value]
            grid.add_scores(rows, columns, [weight] * len(columns))

    def _add_nested_arrays(
        self, grid: Grid, node: PlanNode, weight: float, expected: list[JsonValue], actual: list[JsonValue]
    ) -> None:
        """Add arrays whose elements are paired by contents or by key.

        One grid scores the elements of all n arrays against those of all m; two arrays are a block of it.
        """
        element = node.undecided[ELEMENT]
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
        element = node.undecided[ELEMENT]
        if len(expected) * len(actual) > _MANY_CELLS and type(node.rules.align) is str:
            from pytest_jsonmatch.engine.align.related import make_related_grid

            related = make_related_grid(self._aligner, element, expected, actual)
            if related is not None:
                return related
        refuse_too_large(node, len(expected), len(actual))
        builder = GridBuilder(self._aligner, element, self._grid_type, self._max_depth)
        grid = builder.build_grid(element, expected, actual)
        grid.compute_worths(self._aligner.make_leaf_counts(element, expected, actual))
        return grid

    # -- alternatives of a schema, matchers, accepted alternatives ---------------------------------------

    def _add_alternatives(
        self,
        grid: Grid,
        node: PlanNode,
        sides: tuple[JsonValues, JsonValues],
        weight_above: float,
        weight: float,
    ) -> None:
        """Add each row under the alternative of the schema (`anyOf`, `oneOf`) that its value chooses."""
        expected, actual = sides
        groups: dict[PlanNode, list[int]] = {}
        for at, value in enumerate(expected):
            groups.setdefault(node.choose(value), []).append(at)
        if any(variant.varies or variant.rules.accept is not None for variant in groups):
            # A value fits no alternative, or a value of `accept` may choose another one.
            self._add_upper_bounds(grid, node, weight, expected, actual)
            return
        for variant, rows in groups.items():
            block = self.build_grid(variant, select(rows, expected), actual, weight_above)
            grid.add_block(block, rows, range(len(actual)))

    def _add_matchers(
        self, grid: Grid, node: PlanNode, weight: float, expected: JsonValues, actual: JsonValues
    ) -> None:
        """Add the rows of matchers and those of other values."""
        columns = range(len(actual))
        matched = Selection.at([at for at, value in enumerate(expected) if type(value) is Matcher], expected)
        others = select(matched.others, expected)
        block = self._grid_type(self._aligner, len(others), len(actual))
        if not self._add_scalars(block, node, weight, others, list(actual)):
            self._add_values(block, node, weight, others, actual)
        grid.add_block(block, matched.others, columns)
        # Every matcher is one leaf, so all have the same row of counts.
        (counts,) = self._make_leaf_counts(node, weight, matched.values[:1], actual)
        lines = {
            matcher: [count * score for count, score in zip(counts, _score_by_matcher(matcher, actual))]
            for matcher in dict.fromkeys(matched.values)
        }
        grid.add_scores(matched.positions, columns, [lines[matcher] for matcher in matched.values])

    def _add_accepted_scalars(
        self,
        grid: Grid,
        node: PlanNode,
        accept: Acceptance,
        weight: float,
        sides: tuple[Selection, Selection],
    ) -> None:
        """Add scalars of actual that are accepted where a container is expected."""
        one, other = sides
        scores = [accept.find_best(node.rules.try_transform(value)).score for value in other.values]
        leaf_counts = self._make_leaf_counts(node, weight, one.values, other.values)
        lines = [[score * count for score, count in zip(scores, counts)] for counts in leaf_counts]
        grid.add_scores(one.positions, other.positions, lines)

    def _make_leaf_counts(
        self, node: PlanNode, weight: float, expected: JsonValues, actual: JsonValues
    ) -> list[list[float]]:
        """Return the weighted leaf count of each pair: what it adds to Σ if it matches as a whole."""
        lines = self._aligner.make_leaf_counts(node, expected, actual).pairs(len(actual))
        return [[weight * count for count in line] for line in lines]

    # -- upper bounds --------------------------------------------------------------------------------------

    def _add_accepted_bounds(
        self, grid: Grid, node: PlanNode, weight: float, expected: JsonValues, actual: JsonValues
    ) -> None:
        """Add upper bounds where objects, arrays or predicates are accepted, not only the expected value.

        A bound is the Σ against the expected value, or the leaf count of the pair if that is greater.
        """
        grid.needs_walk = True
        block = self._grid_type(self._aligner, len(expected), len(actual))
        self._add_by_kind(block, node, weight, expected, actual)
        for at, counts in enumerate(self._make_leaf_counts(node, weight, expected, actual)):
            bounds = [max(float(score), count) for score, count in zip(block.total_scores[at], counts)]
            grid.add_scores([at], range(len(actual)), [bounds])

    def _add_upper_bounds(
        self, grid: Grid, node: PlanNode, weight: float, expected: JsonValues, actual: JsonValues
    ) -> None:
        """Add an upper bound of any result of the walk: the leaves of both sides."""
        grid.needs_walk = True
        bounds = [weight * upper_bound(node, value, self._aligner.upper_bounds) for value in actual]
        for at, value in enumerate(expected):
            # A place that matches as a whole adds at most the leaves of both sides, including optional ones.
            leaves = weight * leaf_count(node, value, self._aligner.leaves, of_expected=False)
            grid.add_scores([at], range(len(actual)), [[leaves + bound for bound in bounds]])


def _score_by_matcher(matcher: Matcher, actual: JsonValues) -> list[float]:
    """Return the score of each value against a matcher, which is called once for each distinct scalar."""
    cache: dict[Hashable, float] = {}
    scores = []
    for value in actual:
        key = id(value) if type(value) in CONTAINERS else (type(value), value)
        if key not in cache:
            cache[key] = _ask_matcher(matcher, value)
        scores.append(cache[key])
    return scores


def _ask_matcher(matcher: Matcher, actual: JsonValue) -> float:
    """Return the score of a value against a matcher; 0 if it raises an error, which the walk reports."""
    try:
        return matcher.score(matcher, actual)
    except Exception:  # noqa: BLE001 - a user's class
        return 0.0


def _may_pair_by_key(expected: list[JsonValue], actual: list[JsonValue]) -> bool:
    """Return whether both sides have an array of objects only, so that two arrays may be paired by key."""
    return all(
        any(all(type(item) is dict for item in array) for array in side) for side in (expected, actual)
    )
