"""Pair matrices: how much of each element of one array each element of another would match, by column.

Numpy is imported here, and this module only where arrays are large enough to pay for it. What a matrix cannot
say exactly (nested arrays that are themselves unordered or keyed, comparators without a vectorised form) it
bounds from above; `PairSums.exact` tells.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

import numpy as np

from pytest_jsonmatch.engine.plan.rules import is_integral
from pytest_jsonmatch.engine.value.convert import MISSING, json_type
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_jsonmatch.engine.compare.base import Bound
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

__all__ = ["PairSums", "pair_sums"]

_MOST_INNER_CELLS: Final = 4_000_000
"""Nested elements are bounded by a matrix of all with all up to this size; beyond, by their number."""
_MOST_LEVELS: Final = 30
"""Deeper elements are left to the walk, which needs no recursion."""


@final
class PairSums:
    """For n × m pairs of elements alone: Σ weight·score, and the weighted leaves of each side.

    `score` is (n, m). `expected` (n,) and `actual` (m,) are each element's own leaves; `less_expected` and
    `less_actual`, where present, are (n, m) and what a pair has less of them. If not `exact`, score is an
    upper bound, and so is `less_…`.
    """

    __slots__ = ("actual", "exact", "expected", "less_actual", "less_expected", "score")

    def __init__(self, rows: int, columns: int, score: NDArray[np.float64] | None = None) -> None:
        self.score = np.zeros((rows, columns)) if score is None else score
        self.expected = np.zeros(rows)
        self.actual = np.zeros(columns)
        self.less_expected: NDArray[np.float64] | None = None
        self.less_actual: NDArray[np.float64] | None = None
        self.exact = True

    def add(self, other: PairSums, rows: Any, columns: Any) -> None:
        """Add a member's sums, of the elements at `rows` and `columns` (None: all of them)."""
        if rows is None and columns is None:
            self.score += other.score
            self.expected += other.expected
            self.actual += other.actual
        else:
            everyone = slice(None)
            if rows is None or columns is None:
                at: Any = (everyone if rows is None else rows, everyone if columns is None else columns)
            else:
                at = np.ix_(rows, columns)
            self.score[at] += other.score
            self.expected[everyone if rows is None else rows] += other.expected
            self.actual[everyone if columns is None else columns] += other.actual
        self.exact = self.exact and other.exact
        if other.less_expected is not None:
            self._less_expected()[_cells(rows, columns, self.score.shape)] += other.less_expected
        if other.less_actual is not None:
            self._less_actual()[_cells(rows, columns, self.score.shape)] += other.less_actual

    def lower_expected(self, rows: list[int], columns: list[int], by: float) -> None:
        """Take leaves off expected's count in a block of pairs."""
        self._less_expected()[np.ix_(rows, columns)] += by

    def lower_block(self, cells: Any, by: NDArray[np.float64], *, of_expected: bool) -> None:
        """Take leaves off one side's count in a block of pairs, a number a pair."""
        (self._less_expected() if of_expected else self._less_actual())[cells] += by

    def lower_actual(self, rows: Sequence[int], columns: Sequence[int], by: NDArray[np.float64]) -> None:
        """Take leaves off actual's count in a block of pairs; `by` is one number a column."""
        self._less_actual()[np.ix_(rows, columns)] += by

    def _less_expected(self) -> NDArray[np.float64]:
        if self.less_expected is None:
            self.less_expected = np.zeros(self.score.shape)
        return self.less_expected

    def _less_actual(self) -> NDArray[np.float64]:
        if self.less_actual is None:
            self.less_actual = np.zeros(self.score.shape)
        return self.less_actual

    def whole(self, rows: Any, columns: Any, *, as_ratio: bool) -> Any:
        """Return what Σ is divided by for the similarities of pairs (index arrays that fit each other)."""
        whole = self.expected[rows]
        if self.less_expected is not None:
            whole = whole - self.less_expected[rows, columns]
        if as_ratio:
            return whole + np.zeros(np.shape(columns))
        whole = whole + self.actual[columns]
        if self.less_actual is not None:
            whole -= self.less_actual[rows, columns]
        return whole * 0.5

    def similarity(self, *, as_ratio: bool) -> NDArray[np.float64]:
        """Return the (n, m) scores: 2Σ / (E + A), or Σ / E, 0/0 being 1; `score` is used up for it."""
        if as_ratio:
            whole = np.repeat(self.expected[:, None], len(self.actual), axis=1)
            if self.less_expected is not None:
                whole -= self.less_expected
        else:
            whole = self.expected[:, None] + self.actual
            if self.less_expected is not None:
                whole -= self.less_expected
            if self.less_actual is not None:
                whole -= self.less_actual
            whole *= 0.5
        if whole.size and whole.min() <= _NOTHING:
            # Nothing to compare: 1, as everywhere.
            empty = whole <= _NOTHING
            whole[empty] = 1.0
            self.score[empty] = 1.0
        self.score /= whole
        return np.minimum(self.score, 1.0, out=self.score)


_NOTHING: Final = 1e-300


def _cells(rows: Any, columns: Any, shape: tuple[int, ...]) -> Any:
    if rows is None and columns is None:
        return (slice(None), slice(None))
    return np.ix_(range(shape[0]) if rows is None else rows, range(shape[1]) if columns is None else columns)


def pair_sums(
    node: PlanNode, expected: Sequence[JsonValue], actual: Sequence[JsonValue], *, count_extra: bool
) -> PairSums | None:
    """Return the sums of every pair of values that stand at one node, or None where only the walk can say.

    (None: what an element counts depends on more than the pair at hand, as for empty containers that count
    only where they are absent, or where a schema has alternatives; or the elements are nested too deep.)
    """
    columns = _Columns(node, count_extra=count_extra)
    try:
        return columns.values(node, expected, actual)
    except _NotByColumnError:
        return None


def _one_comparator(node: PlanNode, kinds: set[type]) -> Bound | None:
    """Return the comparator of all pairs of scalars of these Python types; None if they have several."""
    if node.explicit is not None:
        return node.explicit
    if kinds <= _NUMBERS:
        fractional, integer = node.default_for(0.5, 0.5), node.default_for(0, 0)
        return integer if fractional is integer or kinds == {int} else None
    if len(kinds) == 1 and not kinds & _CONTAINERS:
        (kind,) = kinds
        example: JsonValue = None if kind is type(None) else kind()
        return node.default_for(example, example)
    return None


def _apply_threshold(scores: NDArray[np.float64], threshold: float | None) -> None:
    if threshold is not None:
        scores[(scores <= threshold) & (scores < 1.0)] = 0.0


_NUMBERS: Final = frozenset({int, float, Decimal})
_CONTAINERS: Final = frozenset({dict, list})


@final
class _NotByColumnError(Exception):
    """The leaves of an element depend on more than the pair at hand, or lie too deep."""


@final
class _Columns:
    """Sums of pairs under one plan."""

    __slots__ = ("_count_extra", "_empties", "_nulls_absent", "_threshold", "_top")

    def __init__(self, top: PlanNode, *, count_extra: bool) -> None:
        options = top.plan.options
        self._top = top.depth
        # What a ratio is made of, expected's leaves, does not depend on the leaves of actual.
        self._count_extra = count_extra or options.reduce == "ratio"
        self._empties = options.empties
        self._nulls_absent = options.nulls == "absent"
        self._threshold = options.leaf_threshold

    def values(self, node: PlanNode, expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> PairSums:
        """Sum up pairs of values of any types."""
        if node.branches is not None or node.depth - self._top > _MOST_LEVELS:
            raise _NotByColumnError
        sums = PairSums(len(expected), len(actual))
        if node.skip:
            return sums
        weight = node.weight
        if node.explicit is not None:
            sums.score, sums.exact = self._explicit(node, expected, actual)
            sums.score *= weight
            sums.expected += weight
            sums.actual += weight
            return sums
        if node.transforms:
            expected, actual = list(map(node.prepare, expected)), list(map(node.prepare, actual))
        kinds, others = _by_type(expected), _by_type(actual)
        if len(kinds) == 1 and kinds.keys() == others.keys():
            (kind,) = kinds
            return self._block(node, kind, expected, actual)
        for kind in {**kinds, **others}:
            rows, columns = kinds.get(kind, []), others.get(kind, [])
            block = self._block(node, kind, [expected[i] for i in rows], [actual[j] for j in columns])
            sums.add(block, rows, columns)
        self._mistyped(sums, kinds, others)
        return sums

    def _mistyped(self, sums: PairSums, kinds: dict[str, list[int]], others: dict[str, list[int]]) -> None:
        """Under `extra: ignore` the leaves inside a mistyped container enter nothing."""
        if self._count_extra:
            return
        for kind, columns in others.items():
            if kind in {"object", "array"}:
                rows = [i for other, some in kinds.items() if other != kind for i in some]
                if rows and columns:
                    sums.lower_actual(rows, columns, sums.actual[columns])

    def _block(
        self, node: PlanNode, kind: str, expected: Sequence[JsonValue], actual: Sequence[JsonValue]
    ) -> PairSums:
        """Sum up pairs of values of one JSON type."""
        if kind == "object":
            return self._objects(node, expected, actual)
        if kind == "array":
            return self._arrays(node, expected, actual)
        sums = PairSums(len(expected), len(actual))
        sums.expected += node.weight
        sums.actual += node.weight
        if len(expected) and len(actual):
            if kind == "number":
                self._numbers(node, sums, expected, actual)
            else:
                bound = node.default_for(expected[0], actual[0])
                sums.score, sums.exact = self._scored(bound, expected, actual)
            if node.weight != 1.0:
                sums.score *= node.weight
        return sums

    def _numbers(
        self, node: PlanNode, sums: PairSums, expected: Sequence[JsonValue], actual: Sequence[JsonValue]
    ) -> None:
        """Score numbers; two integers may have a comparator of their own."""
        fractional, integer = node.default_for(0.5, 0.5), node.default_for(0, 0)
        if fractional is integer:
            sums.score, sums.exact = self._scored(fractional, expected, actual)
            return
        rows = [i for i, value in enumerate(expected) if is_integral(value)]
        columns = [j for j, value in enumerate(actual) if is_integral(value)]
        all_integers = len(rows) == len(expected) and len(columns) == len(actual)
        if all_integers:
            sums.score, sums.exact = self._scored(integer, expected, actual)
            return
        sums.score, sums.exact = self._scored(fractional, expected, actual)
        if rows and columns:
            block, exact = self._scored(integer, [expected[i] for i in rows], [actual[j] for j in columns])
            sums.score[np.ix_(rows, columns)] = block
            sums.exact = sums.exact and exact

    def _explicit(
        self, node: PlanNode, expected: Sequence[JsonValue], actual: Sequence[JsonValue]
    ) -> tuple[NDArray[np.float64], bool]:
        bound = node.explicit
        assert bound is not None  # noqa: S101 - for the type checker; the caller has looked
        if node.transforms:
            expected, actual = list(map(node.prepare, expected)), list(map(node.prepare, actual))
        scores, exact = self._scored(bound, expected, actual)
        if not bound.comparator.null_aware:
            rows = [i for i, value in enumerate(expected) if value is None]
            columns = [j for j, value in enumerate(actual) if value is None]
            scores[rows, :] = 0.0
            scores[:, columns] = 0.0
            if rows and columns:
                scores[np.ix_(rows, columns)] = 1.0
        return scores, exact

    def _scored(
        self, bound: Bound | None, expected: Sequence[JsonValue], actual: Sequence[JsonValue]
    ) -> tuple[NDArray[np.float64], bool]:
        """Return the scores of all pairs under a comparator, or 1 for all, as a bound, if that is dear."""
        assert bound is not None  # noqa: S101 - scalars have one
        if bound.table is None:
            return np.ones((len(expected), len(actual))), False
        scores = bound.table(expected, actual)
        _apply_threshold(scores, self._threshold)
        return scores, True

    # -- containers ----------------------------------------------------------------------------------------

    def _objects(
        self, node: PlanNode, expected: Sequence[dict[str, JsonValue]], actual: Sequence[dict[str, JsonValue]]
    ) -> PairSums:
        sums = PairSums(len(expected), len(actual))
        if self._nulls_absent:
            expected = [{k: v for k, v in item.items() if v is not None} for item in expected]
            actual = [{k: v for k, v in item.items() if v is not None} for item in actual]
        left, right = _by_key(expected), _by_key(actual)
        for key in {**left, **right}:
            self._member(sums, node.children[key], left.get(key, _NOBODY), right.get(key, _NOBODY))
        self._empty(sums, node, expected, actual)
        return sums

    def _member(self, sums: PairSums, child: PlanNode, left: _Held, right: _Held) -> None:
        """Add one member: who has it on both sides, and what they have."""
        rows, expected = left
        columns, actual = right
        if not self._scalar_member(sums, child, left, right):
            block = self.values(child, expected, actual)
            all_rows, all_columns = len(rows) == len(sums.expected), len(columns) == len(sums.actual)
            sums.add(block, None if all_rows else rows, None if all_columns else columns)
        if not self._count_extra and len(rows) < len(sums.expected) and columns:
            lacking = sorted(set(range(len(sums.expected))) - set(rows))
            own = self.values(child, [], actual).actual
            sums.lower_actual(lacking, columns, own)

    def _scalar_member(self, sums: PairSums, child: PlanNode, left: _Held, right: _Held) -> bool:
        """Add a member whose values are scalars that one comparator scores; False: it is something else."""
        rows, expected = left
        columns, actual = right
        if child.branches is not None or child.skip or child.depth - self._top > _MOST_LEVELS:
            return False
        if child.transforms:
            expected, actual = list(map(child.prepare, expected)), list(map(child.prepare, actual))
        kinds = {*map(type, expected), *map(type, actual)}
        if kinds & _CONTAINERS:
            return False
        if expected and actual:
            bound = _one_comparator(child, kinds)
            if bound is None or (type(None) in kinds and len(kinds) > 1):
                return False
            self._add_column(sums, child, bound, (rows, expected), (columns, actual))
        for own, places in ((sums.expected, rows), (sums.actual, columns)):
            if places:
                own[places if len(places) < len(own) else slice(None)] += child.weight
        return True

    def _add_column(self, sums: PairSums, child: PlanNode, bound: Bound, left: _Held, right: _Held) -> None:
        """Add the scores of all pairs that have a member; those that lack it are scored, then forgotten."""
        n, m = sums.score.shape
        scores, exact = self._scored(bound, _filled(left, n), _filled(right, m))
        if child.weight != 1.0:
            scores *= child.weight
        if len(left[0]) < n:
            scores[_others(left[0], n)] = 0.0
        if len(right[0]) < m:
            scores[:, _others(right[0], m)] = 0.0
        sums.score += scores
        sums.exact = sums.exact and exact

    def _empty(self, sums: PairSums, node: PlanNode, expected: Sequence[Any], actual: Sequence[Any]) -> None:
        """Count an empty container as a leaf, but for nothing against a non-empty one of its kind."""
        if self._empties == "never":
            return
        rows = [i for i, item in enumerate(expected) if not item]
        columns = [j for j, item in enumerate(actual) if not item]
        if not rows and not columns:
            if self._empties == "if_absent" and (not sums.expected.all() or not sums.actual.all()):
                raise _NotByColumnError
            return
        if self._empties == "if_absent":
            raise _NotByColumnError
        weight = node.weight
        sums.expected[rows] += weight
        sums.actual[columns] += weight
        if rows and columns:
            sums.score[np.ix_(rows, columns)] += weight
        full = sorted(set(range(len(actual))) - set(columns))
        if rows and full:
            sums.lower_expected(rows, full, weight)
        full = sorted(set(range(len(expected))) - set(rows))
        if columns and full:
            sums.lower_actual(full, columns, np.full(len(columns), weight))

    def _arrays(
        self, node: PlanNode, expected: Sequence[list[JsonValue]], actual: Sequence[list[JsonValue]]
    ) -> PairSums:
        sums = PairSums(len(expected), len(actual))
        element = node.children[ELEMENT]
        if node.align == "ordered":
            for index in range(max((len(item) for item in (*expected, *actual)), default=0)):
                self._member(sums, element, _at_index(expected, index), _at_index(actual, index))
        else:
            self._bounded_arrays(sums, element, expected, actual)
        self._empty(sums, node, expected, actual)
        return sums

    def _bounded_arrays(
        self,
        sums: PairSums,
        element: PlanNode,
        expected: Sequence[list[JsonValue]],
        actual: Sequence[list[JsonValue]],
    ) -> None:
        """Bound what two nested arrays can match: for each element its best partner in the other."""
        rows = [i for i, item in enumerate(expected) if item]
        columns = [j for j, item in enumerate(actual) if item]
        if columns and not self._count_extra:
            # Unpaired elements of actual enter nothing: how many there are depends on the pairing.
            raise _NotByColumnError
        inner_expected = [value for i in rows for value in expected[i]]
        inner_actual = [value for j in columns for value in actual[j]]
        if len(inner_expected) * len(inner_actual) > _MOST_INNER_CELLS:
            self._bounded_by_number(sums, element, expected, actual)
            return
        inner = self.values(element, inner_expected, inner_actual)
        sums.exact = False
        starts = np.cumsum([0, *(len(expected[i]) for i in rows)])[:-1]
        others = np.cumsum([0, *(len(actual[j]) for j in columns)])[:-1]
        if rows:
            sums.expected[rows] += np.add.reduceat(inner.expected, starts)
        if columns:
            sums.actual[columns] += np.add.reduceat(inner.actual, others)
        if not (rows and columns):
            return
        # A pair that cannot be made gives nothing; leaves that some pairs do without, all might.
        best_of_rows = np.add.reduceat(np.maximum.reduceat(inner.score, others, axis=1), starts, axis=0)
        best_of_columns = np.add.reduceat(np.maximum.reduceat(inner.score, starts, axis=0), others, axis=1)
        block = np.ix_(rows, columns)
        sums.score[block] += np.minimum(best_of_rows, best_of_columns)
        if inner.less_expected is not None:
            most = np.maximum.reduceat(inner.less_expected, others, axis=1)
            sums.lower_block(block, np.add.reduceat(most, starts, axis=0), of_expected=True)
        if inner.less_actual is not None:
            most = np.maximum.reduceat(inner.less_actual, starts, axis=0)
            sums.lower_block(block, np.add.reduceat(most, others, axis=1), of_expected=False)

    def _bounded_by_number(
        self,
        sums: PairSums,
        element: PlanNode,
        expected: Sequence[list[JsonValue]],
        actual: Sequence[list[JsonValue]],
    ) -> None:
        """Bound what two nested arrays can match by the leaves that each has."""
        sums.exact = False
        for own, values in ((sums.expected, expected), (sums.actual, actual)):
            for at, items in enumerate(values):
                if items:
                    alone = self.values(element, items, [])
                    own[at] += alone.expected.sum()
        sums.score += np.minimum(sums.expected[:, None], sums.actual)
        if self._empties == "leaf" or not self._count_extra:
            raise _NotByColumnError


_Held: TypeAlias = "tuple[Sequence[int], Sequence[JsonValue]]"
"""Who has a member, in ascending order, and what each of them has."""
# (An empty range is an empty list of indices to numpy; an empty tuple is not.)
_NOBODY: Final[_Held] = (range(0), ())


def _by_key(items: Sequence[dict[str, JsonValue]]) -> dict[str, _Held]:
    """Return for every key who has it, and what."""
    everyone = range(len(items))
    counts = Counter(chain.from_iterable(items))
    table: dict[str, _Held] = {}
    rare: dict[str, tuple[list[int], list[JsonValue]]] = {}
    for key, count in counts.items():
        if count == len(items):
            table[key] = (everyone, [item[key] for item in items])
        elif 8 * count >= len(items):
            values = [item.get(key, MISSING) for item in items]
            table[key] = (
                [at for at, value in enumerate(values) if value is not MISSING],
                [value for value in values if value is not MISSING],
            )
        else:
            rare[key] = table[key] = ([], [])
    if rare:
        for at, item in enumerate(items):
            if not item.keys().isdisjoint(rare):
                for key in item.keys() & rare.keys():
                    rare[key][0].append(at)
                    rare[key][1].append(item[key])
    return table


def _at_index(items: Sequence[list[JsonValue]], index: int) -> _Held:
    """Return which of the arrays are long enough to have an element at an index, and these elements."""
    rows = [at for at, item in enumerate(items) if index < len(item)]
    return rows, [items[at][index] for at in rows]


def _filled(held: _Held, size: int) -> Sequence[JsonValue]:
    """Return one value for everybody: those who have none get one that another has."""
    places, values = held
    if len(places) == size:
        return values
    filled = [values[0]] * size
    for at, value in zip(places, values):
        filled[at] = value
    return filled


def _others(places: Sequence[int], size: int) -> list[int]:
    having = set(places)
    return [at for at in range(size) if at not in having]


def _by_type(values: Sequence[JsonValue]) -> dict[str, list[int]]:
    """Return the positions of the values of each JSON type."""
    found: dict[str, list[int]] = {}
    names = [json_type(value) for value in values]
    if len(set(names)) == 1:
        return {names[0]: list(range(len(values)))}
    for at, name in enumerate(names):
        found.setdefault(name, []).append(at)
    return found
