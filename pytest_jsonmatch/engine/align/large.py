"""The grid of a large array, as numpy arrays. Import this module late, since it imports numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np

from pytest_jsonmatch.engine.align.column import CostlyValues, split_by_comparator
from pytest_jsonmatch.engine.align.context import NO_LEAVES, Pairing, PairScore, compute_similarity
from pytest_jsonmatch.engine.align.grid import (
    ROUNDING,
    GridPart,
    compute_tie_share,
    compute_worth,
    move_parts,
    pair_by_bounds,
)
from pytest_jsonmatch.engine.align.membership import Membership
from pytest_jsonmatch.engine.align.related import RelatedGrid
from pytest_jsonmatch.engine.align.solve import assign_matrix, assign_matrix_in_order
from pytest_jsonmatch.engine.comparators.scoretables import split_rows
from pytest_jsonmatch.engine.value.convert import MISSING

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from numpy.typing import NDArray

    from pytest_jsonmatch.engine.align.column import Block, ScalarColumn
    from pytest_jsonmatch.engine.align.context import IndexPairs, LeafCounts, Measure, PairingContext
    from pytest_jsonmatch.engine.align.grid import Grid, NestedArrays
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

    Matrix = NDArray[np.float64]


def _spread_codes(column: ScalarColumn, numbers: list[int], missing: int) -> NDArray[np.int32]:
    """Return the number of each element's value, given the numbers of the distinct values."""
    if column.codes is None:
        return np.array(numbers, dtype=np.int32)
    return np.array([*numbers, missing], dtype=np.int32)[column.codes]  # -1 is the last


@final
class ArrayGrid:
    """The Σ of all pairs as a matrix; the table of a column's distinct values is spread over all pairs."""

    def __init__(self, aligner: PairingContext, rows: int, columns: int) -> None:
        self.aligner = aligner
        self.threshold: float = aligner.threshold
        self.shape: tuple[int, int] = rows, columns
        self.total_scores: Matrix = np.zeros(self.shape)
        self.needs_walk: bool = False
        self.walk: tuple[Measure, list[int], list[int]]
        self.parts: list[GridPart] = []
        self._bounded = False
        """Whether one of the parts has upper bounds."""
        self.leaf_counts: LeafCounts
        self._worths: Matrix = self.total_scores
        self._share = 0.0
        self._cells: dict[tuple[int, int], PairScore] = {}

    @property
    def is_exact(self) -> bool:
        """Whether no pair is an upper bound."""
        return not (self.needs_walk or self._bounded)

    # -- filling -------------------------------------------------------------------------------------------

    def add_scores(self, rows: Sequence[int], columns: Sequence[int], by: Any) -> None:
        """Add a matrix to the Σ of a block of pairs, or the same numbers to each of its rows."""
        if rows and columns:
            covers_all = self.shape == (len(rows), len(columns))
            self.total_scores[slice(None) if covers_all else np.ix_(rows, columns)] += by

    def add_column(self, node: PlanNode, weight: float, left: ScalarColumn, right: ScalarColumn) -> None:
        """Add the weighted scores of a column; each pair of distinct values is scored once."""
        blocks = list(split_by_comparator(node, left.values, right.values))
        keys = {block.bound.key for block in blocks}
        if len(keys) == 1 and node.rules.accept is None and (key := keys.pop()) is not None:
            self._add_equality(key, weight, left, right)
            return
        table, costly = self._make_table(blocks, left, right)
        accepted = None
        accept = node.rules.accept
        if accept is not None and accept.is_for_walk:
            self.needs_walk = True
            table[:] = 1.0
        elif accept is not None:
            accepted = [accept.find_best(value).score for value in right.values]
            np.maximum(table, accepted, out=table)
        thresholds = node.rules.thresholds
        thresholds.apply_to(table)
        if weight != 1.0:
            table *= weight
        if costly is not None:
            self._add_costly_values(CostlyValues(costly, left, right, weight, thresholds, accepted), table)
        if right.codes is not None:
            columns = np.array(right.codes, dtype=np.intp)
            table = table.take(columns, axis=1, mode="clip")
            table[:, columns < 0] = 0.0
        if left.codes is None:
            self.total_scores += table
            return
        rows = np.array(left.codes, dtype=np.intp)
        for part in split_rows(*self.total_scores.shape):
            lines = table.take(rows[part], axis=0)
            lines[rows[part] < 0] = 0.0
            self.total_scores[part] += lines

    def _add_equality(
        self, key: Callable[[JsonValue], Hashable], weight: float, left: ScalarColumn, right: ScalarColumn
    ) -> None:
        """Add the weight to each pair whose values have equal keys."""
        numbers: dict[Hashable, int] = {}
        rows, columns = (
            _spread_codes(
                column, [numbers.setdefault(key(value), len(numbers)) for value in column.values], missing
            )
            for column, missing in ((left, -1), (right, -2))
        )
        for part in split_rows(*self.total_scores.shape):
            self.total_scores[part] += weight * (rows[part, None] == columns)

    def _add_costly_values(self, values: CostlyValues, table: Matrix) -> None:
        """Add the values of a column whose scores are upper bounds until a pair is chosen."""
        rows, columns = values.find_positions(*self.shape)
        self._add_parts([GridPart(values, rows, columns, 1.0, table)])

    def _make_table(
        self, blocks: list[Block], left: ScalarColumn, right: ScalarColumn
    ) -> tuple[Matrix, Block | None]:
        """Return the scores of all pairs of distinct values, and the block with upper bounds, if any."""
        table: Matrix | None = None
        costly: Block | None = None
        for block in blocks:
            bound, rows, columns = block
            one = left.values if rows is None else [left.values[at] for at in rows]
            other = right.values if columns is None else [right.values[at] for at in columns]
            scores: Any = None
            if bound.upper_bounds is not None:
                scores = bound.upper_bounds(one, other)
            if scores is not None:
                costly = block
            elif bound.table is None:
                self.needs_walk = True
                scores = np.ones((len(one), len(other)))
            else:
                scores = bound.table(one, other)
            if rows is None or columns is None:
                return np.asarray(scores, dtype=np.float64), costly
            if table is None:
                table = np.zeros((len(left.values), len(right.values)))
            table[np.array(rows)[:, None], columns] = scores
        return np.zeros((len(left.values), len(right.values))) if table is None else table, costly

    def add_block(self, block: Grid, rows: Sequence[int], columns: Sequence[int]) -> None:
        """Add the grid of some of the rows and columns."""
        self.needs_walk = self.needs_walk or block.needs_walk
        self.add_scores(rows, columns, block.total_scores)
        self._add_parts(move_parts(block.parts, rows, columns))

    def add_nested(self, nested: NestedArrays, weight: float) -> None:
        """Add arrays nested in the elements, one for each row and one for each column."""
        left, right = Membership(nested.left), Membership(nested.right)
        inner: Any = nested.inner
        exact = None
        if type(inner) is RelatedGrid:
            bounds = inner.compute_upper_bounds(left, right)
        else:
            exact = None if inner.needs_walk else inner.sum_intersections(nested, left, right)
            bounds = inner.compute_upper_bounds(nested, left, right) if exact is None else exact
        bounds = weight * bounds
        self.total_scores += bounds
        if inner.needs_walk:
            self.needs_walk = True
        else:
            self._add_parts([nested.make_part(weight, bounds if exact is None else None)])

    def _add_parts(self, parts: list[GridPart]) -> None:
        self.parts += parts
        self._bounded = self._bounded or any(part.upper_bounds is not None for part in parts)

    def sum_intersections(self, nested: NestedArrays, left: Membership, right: Membership) -> Matrix | None:
        """Return the exact Σ of all pairs of nested arrays if no element has a choice of partners, else None.

        Without a choice, as with comparators that test equality, a pair of values adds its score for each
        occurrence in both arrays, and no pairing is needed.
        """
        is_allowed = self._worths > 0.0
        if (
            nested.is_keyed
            or nested.is_in_order
            or not self.is_exact
            or is_allowed.sum(axis=0).max() > 1
            or is_allowed.sum(axis=1).max() > 1
        ):
            return None
        if (_find_equal(*nested.keys) & ~is_allowed).any():
            return None
        rows, columns = np.nonzero(is_allowed)
        one, other = left.count_values(rows), right.count_values(columns)
        scores = self.total_scores[rows, columns]
        total = np.zeros((len(one), len(other)))
        for occurrence in range(1, int(min(one.max(initial=0.0), other.max(initial=0.0))) + 1):
            total += (one >= occurrence) * scores @ (other >= occurrence).T.astype(np.float64)
        return total

    def compute_upper_bounds(self, nested: NestedArrays, left: Membership, right: Membership) -> Matrix:
        """Return upper bounds of the Σ of nested arrays: each element of a side with its best partner."""
        if nested.is_keyed:
            members = nested.find_key_members()
            allowed = None if members is None else _find_equal(*members)
        else:
            allowed = self._worths > 0.0
            if not nested.is_in_order:  # equal elements are paired at any worth
                allowed |= _find_equal(*nested.keys)
        score = self.total_scores if allowed is None else np.where(allowed, self.total_scores, 0.0)
        by_row = _sum_best(score, left, right)
        return np.minimum(by_row, _sum_best(np.ascontiguousarray(score.T), right, left).T)

    # -- solving -------------------------------------------------------------------------------------------

    def compute_worths(self, leaf_counts: LeafCounts) -> None:
        """Compute the worth of each pair: its similarity, and slightly more for a larger Σ."""
        self.leaf_counts = leaf_counts
        self._share = compute_tie_share(float(self.total_scores.max(initial=0.0)))
        self._worths = self._compute_similarities(leaf_counts)
        for part in split_rows(*self._worths.shape):
            worths = self._worths[part]
            is_allowed = worths > self.threshold
            worths += self._share * self.total_scores[part]
            worths += ROUNDING
            worths -= ROUNDING
            worths *= is_allowed

    def _compute_similarities(self, leaf_counts: LeafCounts) -> Matrix:
        """Return the similarities of all pairs, exact or upper bounds; 1 for 0/0."""
        counts: Matrix = np.array(leaf_counts.expected)[:, None]
        if leaf_counts.actual is None:
            counts = np.repeat(counts, self.shape[1], axis=1)
        else:
            counts = (counts + np.array(leaf_counts.actual)) * 0.5
        empty = counts <= NO_LEAVES if counts.min(initial=1.0) <= NO_LEAVES else None
        if empty is not None:
            counts[empty] = 1.0
        similarities: Matrix = np.divide(self.total_scores, counts, out=counts)
        np.minimum(similarities, 1.0, out=similarities)
        if empty is not None:
            similarities[empty] = 1.0
        return similarities

    def get_worth(self, cell: PairScore) -> float:
        """Return the worth of a pair in the assignment."""
        return compute_worth(cell, self.threshold, self._share)

    def measure(self, row: int, column: int) -> PairScore:
        """Return the exact score of a pair, or an upper bound while questions are open."""
        cell = self._cells.get((row, column))
        if cell is None:
            if self.needs_walk:
                measure, rows, columns = self.walk
                cell = measure(rows[row], columns[column])
            else:
                cell = self._measure_parts(row, column)
            self._cells[row, column] = cell
        return cell

    def _measure_parts(self, row: int, column: int) -> PairScore:
        """Return the score of a pair, with the exact Σ of its parts instead of upper bounds."""
        score = float(self.total_scores[row, column])
        for part in self.parts:
            if part.upper_bounds is not None and row in part.rows and column in part.columns:
                at, to = part.rows[row], part.columns[column]
                score += part.weight * part.content.total_score(at, to) - float(part.upper_bounds[at, to])
        return PairScore(compute_similarity(score, self.leaf_counts.pair(row, column)), score)

    def total_score(self, pairs: IndexPairs) -> float:
        """Return the Σ of pairs that need no walk."""
        if self.is_exact:
            get_score: Callable[[int, int], float] = self.total_scores.item
            return sum([get_score(row, column) for row, column in pairs])
        return sum([self.measure(row, column).total_score for row, column in pairs])

    def select_worths(self, rows: Sequence[int], columns: Sequence[int]) -> Matrix:
        """Return the worths of some pairs, as a copy unless all are exact; 0 for forbidden pairs."""
        # The elements of a nested array have another order, even if it is as large as the grid.
        if type(rows) is range and type(columns) is range:
            return self._worths if self.is_exact else self._worths.copy()
        return self._worths[np.array(rows, dtype=np.intp)[:, None], columns]

    def find_best_pairs(
        self, rows: Sequence[int], columns: Sequence[int], *, in_order: bool = False
    ) -> Pairing:
        """Pair some rows with some columns for the greatest total similarity above the threshold."""
        block = self.select_worths(rows, columns)
        assign = assign_matrix_in_order if in_order else assign_matrix
        if self.is_exact:
            pairs = assign(block)
            return Pairing(pairs, self.total_score([(rows[at], columns[to]) for at, to in pairs]))
        return pair_by_bounds(self, rows, columns, block, assign, self.aligner.extra_solutions)


def _sum_best(score: Matrix, left: Membership, right: Membership) -> Matrix:
    """Return, for each pair of arrays, the sum of the best scores of left's elements in the right one."""
    sums: Matrix = left.count_matrix(len(score)) @ right.find_best(score)
    return sums


def _find_equal(expected: Sequence[Hashable], actual: Sequence[Hashable]) -> NDArray[np.bool_]:
    """Return an (n, m) array of which values have equal keys; MISSING equals nothing."""
    numbers: dict[Hashable, int] = {}
    left, right = (
        np.array([-1 if key is MISSING else numbers.setdefault(key, len(numbers)) for key in side])
        for side in (expected, actual)
    )
    is_equal: NDArray[np.bool_] = (left[:, None] == right) & (right >= 0)
    return is_equal
