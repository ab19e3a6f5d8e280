"""Sum up all pairs of values at one node, column by column: one recursion for grids of both bodies."""

from __future__ import annotations

from collections import Counter
from itertools import chain, repeat
from math import isclose
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from pytest_jsonmatch.engine.align.column import Some, at_places, by_key, by_shape, column_of, flatten
from pytest_jsonmatch.engine.align.context import refuse_too_large
from pytest_jsonmatch.engine.align.grid import Nested
from pytest_jsonmatch.engine.plan.accept import LEAST_GAIN
from pytest_jsonmatch.engine.plan.node import leaves_alone, most_of, weight_chosen
from pytest_jsonmatch.engine.value.convert import MISSING, Matcher
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

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
class _Spot(NamedTuple):
    """The place of some values."""

    node: PlanNode
    weight: float
    """Its weight, multiplied from the element down."""
    lacking: bool = False
    """Whether a value without a counterpart meets nothing; otherwise it meets a value of another type."""


@final
class Columns:
    """Makes the grid of all pairs of values at one node, including everything below it."""

    def __init__(self, aligner: Context, element: PlanNode, body: type[Grid], deepest: int = 0) -> None:
        options = aligner.plan.options
        self._aligner = aligner
        self._body = body
        self._element = element
        self._deepest = deepest or element.depth + _MOST_LEVELS
        # A ratio is of expected's leaves, so it needs no leaves of actual.
        self._count_actual = aligner.count_extra or options.reduce == "ratio"
        self._empties = options.empties
        self._nulls_absent = options.nulls == "absent"
        # Otherwise the number of leaves of a value does not depend on its counterpart.
        self._uneven = (
            aligner.plan.has_alternatives or aligner.plan.has_optional or options.empties == "if_absent"
        )

    def grid(
        self, node: PlanNode, expected: Sequence[JsonValue], actual: Sequence[JsonValue], above: float = 1.0
    ) -> Grid:
        """Return Σ, E and A of all pairs, with weights multiplied from the element down.

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
        self._doubt(grid, _Spot(node, weight), expected, actual)
        return grid

    def _doubt(
        self,
        grid: Grid,
        place: _Spot,
        expected: Sequence[JsonValue],
        actual: Sequence[JsonValue],
        most: Sequence[Sequence[float]] | None = None,
    ) -> None:
        """Add bounds of all pairs, given their highest possible scores, if these are known."""
        node, weight = place.node, place.weight
        if most is None:
            most = [[weight * most_of(node, value, self._aligner.most) for value in actual]] * len(expected)
        own, other = (
            [weight * leaves_alone(node, value, self._aligner.leaves, lacking=False) for value in values]
            for values in (expected, actual)
        )
        grid.doubt(own, other, most)

    def _accepting(
        self,
        grid: Grid,
        place: _Spot,
        accept: Acceptance,
        expected: Sequence[JsonValue],
        actual: Sequence[JsonValue],
    ) -> None:
        """Add bounds of pairs where values other than the expected one are accepted, containers included."""
        at_least = place.weight if accept.predicates else 0.0
        most = [[at_least] * len(actual) for _ in expected]
        for value in (None, *accept.alternatives) if expected and actual else ():
            side = expected if value is None else [value.value]
            block = self._body(self._aligner, len(side), len(actual))
            self._by_type(block, place.node.bare, place.weight, side, actual)
            scores = [list(map(float, line)) for line in block.score]
            lines = scores if value is None else scores * len(expected)
            most = [list(map(max, *both)) for both in zip(most, lines)]
        self._doubt(grid, place, expected, actual, most)

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
            self._doubt(grid, _Spot(node, weight), expected, actual)
            return
        everyone = range(len(actual))
        first: list[float] | None = None
        for variant, rows in groups.items():
            block = self.grid(variant, at_places(rows, expected), actual, above)
            if first is None:
                first = block.actual
            elif self._aligner.as_f1:
                # The leaves of actual are counted once, and may differ between alternatives.
                grid.lower(rows, everyone, [own - other for own, other in zip(first, block.actual)])
                block.actual = [0.0] * len(first)
            grid.absorb(block, rows, everyone)

    def _scalars(
        self, grid: Grid, node: PlanNode, weight: float, expected: list[JsonValue], actual: list[JsonValue]
    ) -> bool:
        """Add a column of scalars, MISSING where there is none; return False if there are containers."""
        left, right = column_of(node, expected), column_of(node, actual)
        if left is None or right is None:
            return False
        if left.values and right.values:
            grid.add_scores(node, weight, left, right)
        grid.count(weight, left, right)
        if node.accept is not None and node.accept.optional and -1 in (right.codes or ()):
            having = [at for at, value in enumerate(expected) if value is not MISSING]
            lacking = [at for at, value in enumerate(actual) if value is MISSING]
            grid.lower(having, lacking, [weight] * len(lacking))
        if not self._count_actual and left.codes is not None and -1 in left.codes and right.values:
            lacking = [at for at, value in enumerate(expected) if value is MISSING]
            having = [at for at, value in enumerate(actual) if value is not MISSING]
            grid.lower(lacking, having, [weight] * len(having))
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
            self._matched(grid, _Spot(node, weight), expected, actual)
            return
        scalars = node
        if node.accept is not None:
            if not node.accept.is_of_scalars:
                self._accepting(grid, _Spot(node, weight), node.accept, expected, actual)
                return
            node = node.bare
        left, right = by_shape(expected), by_shape(actual)
        for shape in dict.fromkeys((*left, *right)):
            one, other = Some.at(left.get(shape, []), expected), Some.at(right.get(shape, []), actual)
            everything = one.is_all and other.is_all
            block = grid if everything else self._body(self._aligner, len(one.places), len(other.places))
            if shape is object:
                self._scalars(block, scalars, weight, one.values, other.values)
            else:
                add = self._objects if shape is dict else self._arrays
                add(block, node, weight, one.values, other.values)
            if everything:
                return
            if shape is object:
                grid.absorb(block, one.places, other.places)
            else:
                self._absorb(grid, _Spot(node, weight), block, (one, other))
        if scalars.accept is not None:
            containers = [at for shape, some in left.items() if shape is not object for at in some]
            sides = Some.at(containers, expected), Some.at(right.get(object, []), actual)
            self._accepted(grid, _Spot(node, weight), scalars.accept, sides)

    def _matched(
        self, grid: Grid, place: _Spot, expected: Sequence[JsonValue], actual: Sequence[JsonValue]
    ) -> None:
        """Add the pairs of matchers, each of which is one leaf on either side, and those of other values."""
        node, weight = place.node, place.weight
        everyone = range(len(actual))
        matched = Some.at([at for at, value in enumerate(expected) if type(value) is Matcher], expected)
        others = at_places(matched.others, expected)
        block = self._body(self._aligner, len(others), len(actual))
        if not self._scalars(block, node, weight, others, list(actual)):
            self._by_type(block, node, weight, others, actual)
        leaves = list(block.actual)
        grid.absorb(block, matched.others, everyone)
        for at in matched.places:
            grid.expected[at] += weight
        scores = {
            each: [weight * _score(each, value) for value in actual] for each in dict.fromkeys(matched.values)
        }
        grid.credit(matched.places, everyone, [scores[each] for each in matched.values])
        if self._aligner.as_f1 and any(more != weight for more in leaves):
            grid.lower(matched.places, everyone, [more - weight for more in leaves])

    def _accepted(self, grid: Grid, place: _Spot, acceptance: Acceptance, sides: tuple[Some, Some]) -> None:
        """Add the scores of scalars of actual that are accepted in place of containers of expected.

        In such a pair, the container counts as one leaf.
        """
        weight, limit = place.weight, max(LEAST_GAIN, place.node.leaf_threshold or 0.0)
        scores = {
            to: score
            for to, value in zip(sides[1].places, sides[1].values)
            if (score := acceptance.ceiling(place.node.prepare(value))) > limit or score == 1.0
        }
        by_leaves: dict[float, list[int]] = {}
        for at, value in zip(sides[0].places, sides[0].values):
            leaves = leaves_alone(place.node, value, self._aligner.leaves, lacking=False)
            by_leaves.setdefault(leaves, []).append(at)
        for leaves, rows in by_leaves.items():
            # Under a ratio, a container without leaves scores 1 by itself.
            if leaves or self._aligner.as_f1:
                grid.credit(rows, list(scores), [weight * score for score in scores.values()])
                if leaves != 1.0:
                    grid.lower(rows, list(scores), [weight * (leaves - 1.0)] * len(scores))

    def _absorb(self, grid: Grid, place: _Spot, block: Grid, sides: tuple[Some, Some]) -> None:
        """Add a block of pairs, and correct the leaves of pairs with a value in it and one outside.

        Args:
            grid: the grid to add to.
            place: the place of the block's values.
            block: the pairs of some values of each side.
            sides: these values.
        """
        one, other = sides
        grid.absorb(block, one.places, other.places)
        if not other.is_all:
            alone = self._alone(place, one.values, block.expected, lacking=place.lacking)
            surplus: dict[float, list[int]] = {}
            for at, leaves, fewer in zip(one.places, block.expected, alone):
                if not isclose(leaves, fewer):
                    surplus.setdefault(leaves - fewer, []).append(at)
            for less, rows in surplus.items():
                grid.lower(rows, other.others, [less] * len(other.others))
        if not one.is_all and (self._aligner.as_f1 or not self._count_actual):
            own: Iterable[float] = repeat(0.0)
            if self._count_actual:
                own = self._alone(place, other.values, block.actual, lacking=False)
            less_of = [
                0.0 if isclose(each, alone) else each - alone for each, alone in zip(block.actual, own)
            ]
            if any(less_of):
                grid.lower(one.others, other.places, less_of)

    def _alone(
        self, place: _Spot, values: Sequence[JsonValue], leaves: list[float], *, lacking: bool
    ) -> list[float]:
        """Return the leaves of values whose counterpart is missing or of another type.

        Args:
            place: the place of the values.
            values: the values.
            leaves: how many they have where their counterpart is of the same type.
            lacking: whether actual lacks them.
        """
        if not self._uneven:
            return leaves
        known = self._aligner.leaves
        return [place.weight * leaves_alone(place.node, value, known, lacking=lacking) for value in values]

    # -- containers ----------------------------------------------------------------------------------------

    def _objects(
        self, grid: Grid, node: PlanNode, weight: float, expected: list[JsonValue], actual: list[JsonValue]
    ) -> None:
        if self._nulls_absent:
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
        counts = [Counter(chain.from_iterable(values)) for values in (expected, actual)]
        keys = dict.fromkeys(chain(*counts))
        pairs = len(expected) * len(actual)
        # Few enough elements have these to score their pairs apart from the others.
        rare = {key for key in keys if counts[0][key] * counts[1][key] * _RARE < pairs}
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
        place = _Spot(child, weight * child.own_weight, lacking=True)
        if one.values and other.values:
            self._absorb(grid, place, self.grid(child, one.values, other.values, weight), (one, other))
            return
        for leaves, some, lacking in ((grid.expected, one, True), (grid.actual, other, False)):
            if lacking or self._count_actual:
                for at, value in zip(some.places, some.values):
                    alone = leaves_alone(child, value, self._aligner.leaves, lacking=lacking)
                    leaves[at] += place.weight * alone

    def _empty(
        self, grid: Grid, weight: float, expected: Sequence[JsonValue], actual: Sequence[JsonValue]
    ) -> None:
        """Count an empty container as a leaf, except against a non-empty one of its kind."""
        if self._empties != "leaf":
            return
        rows = [at for at, value in enumerate(expected) if not value]
        columns = [at for at, value in enumerate(actual) if not value]
        grid.count_empty(weight, rows, columns)
        if rows:
            full = [at for at, value in enumerate(actual) if value]
            grid.lower(rows, full, [weight] * len(full))
        if columns and self._aligner.as_f1:
            full = [at for at, value in enumerate(expected) if value]
            grid.lower(full, columns, [weight] * len(columns))

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
        inner = self._inner(node, sides[0].values, sides[1].values)
        inner.finish()
        alone = [
            self._alone(_Spot(element, 1.0), flat.values, leaves, lacking=is_expected)
            for flat, leaves, is_expected in zip(sides, (inner.expected, inner.actual), (True, False))
        ]
        if not self._aligner.as_f1:
            alone[1] = inner.actual
        elif not self._count_actual:
            alone[1] = [0.0] * len(inner.actual)
        grid.nest(Nested(self._aligner, node, inner, sides, alone), weight * element.own_weight)

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
