"""The grid of a large array, as numpy arrays. Import this module late: it imports numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from pytest_jsonmatch.engine.align.column import CostlyValues, blocks_of
from pytest_jsonmatch.engine.align.context import NOTHING
from pytest_jsonmatch.engine.align.grid import ROUNDING, Grid, Part
from pytest_jsonmatch.engine.align.solve import assign
from pytest_jsonmatch.engine.compare.tables import row_blocks
from pytest_jsonmatch.engine.value.convert import MISSING, NO_SCALARS

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from numpy.typing import NDArray

    from pytest_jsonmatch.engine.align.column import Block, Column, Flat
    from pytest_jsonmatch.engine.align.context import Context, LeafCounts
    from pytest_jsonmatch.engine.align.grid import Nested
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

    Matrix = NDArray[np.float64]
    Indices = NDArray[np.intp]

_CHUNK: Final = 4_000_000
"""At most this many cells are computed at a time where a whole matrix is not needed."""


@final
class Owners:
    """The values of each array of one side, of which at least one has any."""

    __slots__ = ("codes", "sizes", "starts")

    def __init__(self, flat: Flat) -> None:
        self.sizes: Indices = np.array([len(codes) for codes in flat.codes], dtype=np.intp)
        self.starts: Indices = np.concatenate(([0], np.cumsum(self.sizes)))
        self.codes: Indices = np.array([code for codes in flat.codes for code in codes], dtype=np.intp)

    def matrix(self, values: int) -> Any:
        """Return how often each value is in each array, as a sparse matrix."""
        from scipy.sparse import csr_matrix

        ones = np.ones(len(self.codes))
        return csr_matrix((ones, self.codes, self.starts), shape=(len(self.sizes), values))

    def sums(self, numbers: Matrix) -> Matrix:
        """Return, for each array, the sum of the numbers of its values."""
        found: Matrix = self.matrix(len(numbers)) @ numbers
        return found

    def counts(self, values: Indices) -> Matrix:
        """Return how often each of some values is in each array, (arrays, values)."""
        found: Matrix = self.matrix(int(self.codes.max()) + 1)[:, values].toarray()
        return found

    def best(self, score: Matrix) -> Matrix:
        """Return, for each line of a matrix, the greatest number among the columns of each array.

        Each column is a value: (values, values) becomes (values, arrays).
        """
        best = np.zeros((len(score), len(self.sizes)))
        having = np.flatnonzero(self.sizes)
        step = max(1, _CHUNK // (len(score) * int(self.sizes.max())))
        for start in range(0, len(having), step):
            some = having[start : start + step]
            first, last = self.starts[some[0]], self.starts[some[-1] + 1]
            found = score.take(self.codes[first:last], axis=1)
            best[:, some] = np.maximum.reduceat(found, self.starts[some] - first, axis=1)
        return best


class ArrayGrid(Grid):
    """The grid as numpy arrays: a column is a table of distinct values, spread over all pairs."""

    def __init__(self, aligner: Context, rows: int, columns: int) -> None:
        super().__init__(aligner, rows, columns)
        self._worth: Matrix = self.score

    # -- filling -------------------------------------------------------------------------------------------

    def _zeros(self) -> Matrix:
        return np.zeros(self.shape)

    def _add(self, into: Matrix, rows: Sequence[int], columns: Sequence[int], by: Any) -> None:
        everything = into.shape == (len(rows), len(columns))
        into[slice(None) if everything else np.ix_(rows, columns)] += by

    def add_scores(self, node: PlanNode, weight: float, left: Column, right: Column) -> None:
        """Add the scores of a column. The node's comparators score each pair of distinct values once."""
        table, costly = self._table(node, left, right)
        accepted = None
        if node.accept is not None and node.accept.is_for_walk:
            self.walked = True
            table[:] = 1.0
        elif node.accept is not None:
            accepted = list(map(node.accept.ceiling, right.values))
            np.maximum(table, accepted, out=table)
        lowest = node.lowest_score
        if lowest > 0.0:
            table[table < lowest] = 0.0
        if weight != 1.0:
            table *= weight
        if costly is not None:
            self._leave_open(CostlyValues(costly, left, right, weight, lowest, accepted), table)
        if right.codes is not None:
            columns = np.array(right.codes, dtype=np.intp)
            table = table.take(columns, axis=1, mode="clip")
            table[:, columns < 0] = 0.0
        if left.codes is None:
            self.score += table
            return
        rows = np.array(left.codes, dtype=np.intp)
        for some in row_blocks(*self.score.shape):
            lines = table.take(rows[some], axis=0)
            lines[rows[some] < 0] = 0.0
            self.score[some] += lines

    def _leave_open(self, values: CostlyValues, table: Matrix) -> None:
        """Note that the scores of a column are bounds until a pair is chosen."""
        rows, columns = values.places(*self.shape)
        self.bounded = True
        self.parts.append(Part(values, rows, columns, 1.0, table))

    def _table(self, node: PlanNode, left: Column, right: Column) -> tuple[Matrix, Block | None]:
        """Return the scores of all pairs of distinct values, and the block of bounds, if any."""
        table: Matrix | None = None
        costly: Block | None = None
        for block in blocks_of(node, left.values, right.values):
            bound, rows, columns = block
            one = left.values if rows is None else [left.values[at] for at in rows]
            other = right.values if columns is None else [right.values[at] for at in columns]
            scores: Any = None
            if bound.ceiling is not None:
                scores = bound.ceiling(one, other)
            if scores is not None:
                costly = block
            elif bound.table is None:
                self.walked: bool = True
                scores = np.ones((len(one), len(other)))
            else:
                scores = bound.table(one, other)
            if rows is None or columns is None:
                return np.asarray(scores, dtype=np.float64), costly
            if table is None:
                table = np.zeros((len(left.values), len(right.values)))
            table[np.array(rows)[:, None], columns] = scores
        return np.zeros((len(left.values), len(right.values))) if table is None else table, costly

    def _sums_of(self, nested: Nested, weight: float) -> tuple[Matrix, bool]:
        left, right = Owners(nested.left), Owners(nested.right)
        inner: Any = nested.inner
        exact = None if inner.walked else inner.intersections(nested, left, right)
        return weight * (inner.bounds(nested, left, right) if exact is None else exact), exact is not None

    def intersections(self, nested: Nested, left: Owners, right: Owners) -> Matrix | None:
        """Return the exact Σ of all pairs of nested arrays if no element has a choice of partners, else None.

        Without a choice, as with comparators that test equality, a pair of values counts its score as often
        as it is in both arrays. No pairing is needed.
        """
        alike = self._worth > 0.0
        if nested.is_keyed or not self.is_exact or alike.sum(axis=0).max() > 1 or alike.sum(axis=1).max() > 1:
            return None
        if (_same(*nested.keys) & ~alike).any():
            return None
        rows, columns = np.nonzero(alike)
        one, other = left.counts(rows), right.counts(columns)
        scores = self.score[rows, columns]
        total = np.zeros((len(one), len(other)))
        for least in range(1, int(min(one.max(initial=0.0), other.max(initial=0.0))) + 1):
            total += (one >= least) * scores @ (other >= least).T.astype(np.float64)
        return total

    def bounds(self, nested: Nested, left: Owners, right: Owners) -> Matrix:
        """Return the most that nested arrays can score: each element of a side with its best partner."""
        if nested.is_keyed:
            members = nested.members()
            score = self.score if members is None else np.where(_same(*members), self.score, 0.0)
        else:
            # Equal elements are paired whatever their worth.
            score = np.where((self._worth > 0.0) | _same(*nested.keys), self.score, 0.0)
        return np.minimum(_bounds(score, left, right), _bounds(np.ascontiguousarray(score.T), right, left).T)

    # -- solving -------------------------------------------------------------------------------------------

    def similarities(self) -> Matrix:
        """Return the similarities of all pairs, exact or bounds; 1 where there is nothing to compare."""
        expected, actual = self.leaf_counts
        counts: Matrix = np.array(expected)[:, None]
        if actual is None:
            counts = np.repeat(counts, self.shape[1], axis=1)
        else:
            counts = (counts + np.array(actual)) * 0.5
        empty = counts <= NOTHING if counts.min(initial=1.0) <= NOTHING else None
        if empty is not None:
            counts[empty] = 1.0
        found: Matrix = np.divide(self.score, counts, out=counts)
        np.minimum(found, 1.0, out=found)
        if empty is not None:
            found[empty] = 1.0
        return found

    def finish(self, leaf_counts: LeafCounts) -> None:
        """Compute the worth of each pair: its similarity, and a shade more for a larger Σ."""
        self.leaf_counts = leaf_counts
        self._set_share(float(self.score.max(initial=0.0)))
        self._worth = self.similarities()
        for some in row_blocks(*self._worth.shape):
            worth = self._worth[some]
            admissible = worth > self.aligner.threshold
            worth += self._share * self.score[some]
            worth += ROUNDING
            worth -= ROUNDING
            worth *= admissible

    def _block(self, rows: Sequence[int], columns: Sequence[int]) -> Matrix:
        # Elements of a nested array are in another order, even if it is as large as the grid.
        if type(rows) is range and type(columns) is range:
            self._bounds = self._worth
            return self._worth if self.is_exact else self._worth.copy()
        self._bounds = self._worth[np.array(rows, dtype=np.intp)[:, None], columns]
        return self._bounds.copy()

    def _solve(self, block: Matrix) -> list[tuple[int, int]]:
        rows, columns = assign(block)
        pairs = zip(rows.tolist(), columns.tolist(), block[rows, columns].tolist())
        return [(row, column) for row, column, worth in pairs if worth > 0.0]

    def _scores_of(self, pairs: list[tuple[int, int]]) -> float:
        item: Callable[[int, int], float] = self.score.item
        return sum([item(row, column) for row, column in pairs])


def _bounds(score: Matrix, left: Owners, right: Owners) -> Matrix:
    """Return the most that arrays on the left can score: each element with its best partner on the right."""
    bounds: Matrix = left.matrix(len(score)) @ right.best(score)
    return bounds


def _same(expected: Sequence[Hashable], actual: Sequence[Hashable]) -> NDArray[np.bool_]:
    """Return which values have the same key, (n, m); MISSING equals nothing."""
    numbers: dict[Hashable, int] = {}
    own, other = (
        np.array([-1 if key is MISSING else numbers.setdefault(key, len(numbers)) for key in side])
        for side in (expected, actual)
    )
    found: NDArray[np.bool_] = (own[:, None] == other) & (other >= 0)
    return found


def related_grid(
    aligner: Context, element: PlanNode, expected: Sequence[JsonValue], actual: Sequence[JsonValue]
) -> RelatedGrid | None:
    """Return the grid of very many scalars most pairs of which score 0; None if they need an `ArrayGrid`."""
    if element.branches is not None or element.transforms or element.accept is not None:
        return None
    if not NO_SCALARS.isdisjoint(map(type, (*expected, *actual))):
        return None
    from scipy.sparse import coo_matrix

    nowhere = np.zeros(0, dtype=np.intp)
    found: list[Any] = [(np.zeros(0), nowhere, nowhere)]
    for bound, rows, columns in blocks_of(element, expected, actual):
        if bound.related is None:
            return None
        own, others = rows or range(len(expected)), columns or range(len(actual))
        scores = bound.related([expected[at] for at in own], [actual[to] for to in others]).tocoo()
        found.append((scores.data, np.array(own)[scores.row], np.array(others)[scores.col]))
    data, at, to = map(np.concatenate, zip(*found))
    scores = coo_matrix((data, (at, to)), (len(expected), len(actual)))
    return RelatedGrid(aligner, element, scores.tocsr())


@final
class RelatedGrid(ArrayGrid):
    """The elements of nested arrays in a sparse grid: pairs that score 0 take no memory.

    Every value is one leaf of weight 1, so the score of a pair is its similarity.
    """

    def __init__(self, aligner: Context, element: PlanNode, scores: Any) -> None:
        super().__init__(aligner, 0, 0)
        scores.data[scores.data < element.lowest_score] = 0.0
        scores.data[scores.data <= aligner.threshold] = 0.0
        scores.eliminate_zeros()
        self._scores = scores
        self._lines: dict[int, dict[int, float]] = {}

    def finish(self, leaf_counts: LeafCounts) -> None:
        """Do nothing: the worth of a pair is its score."""

    def intersections(self, nested: Nested, left: Owners, right: Owners) -> None:
        """Return None: bounds are as good here, and are made exact for chosen pairs."""

    def bounds(self, nested: Nested, left: Owners, right: Owners) -> Matrix:  # noqa: ARG002 - of the base
        """Return the most that nested arrays can score: each element of a side with its best partner."""
        one = _sums_of_best(self._scores.tocoo(), left, right)
        return np.minimum(one, _sums_of_best(self._scores.T.tocoo(), right, left).T)

    def _line(self, row: int) -> dict[int, float]:
        """Return the scores of one value, by the number of its partner."""
        line = self._lines.get(row)
        if line is None:
            start, end = self._scores.indptr[row : row + 2]
            own = slice(start, end)
            line = dict(zip(self._scores.indices[own].tolist(), self._scores.data[own].tolist()))
            self._lines[row] = line
        return line

    def _scores_of(self, pairs: list[tuple[int, int]]) -> float:
        return sum([self._line(row).get(column, 0.0) for row, column in pairs])

    def _block(self, rows: Sequence[int], columns: Sequence[int]) -> Matrix:
        lines = [self._line(row) for row in rows]
        return np.array([[line.get(column, 0.0) for column in columns] for line in lines])


def _sums_of_best(scores: Any, left: Owners, right: Owners) -> Matrix:
    """Return, for each pair of arrays, the sum of the best scores of the left one's elements in the other."""
    from scipy.sparse import csr_matrix

    values, others = scores.shape
    holders = right.matrix(others).tocsc()
    counts = np.diff(holders.indptr)[scores.col]
    places = np.arange(counts.sum()) + np.repeat(
        holders.indptr[scores.col] - np.cumsum(counts) + counts, counts
    )
    cells = np.repeat(scores.row, counts).astype(np.int64) * len(right.sizes) + holders.indices[places]
    order = np.argsort(cells, kind="stable")
    cells = cells[order]
    starts = np.flatnonzero(np.diff(cells, prepend=-1))
    if not len(starts):
        return np.zeros((len(left.sizes), len(right.sizes)))
    best = np.maximum.reduceat(np.repeat(scores.data, counts)[order], starts)
    row, column = np.divmod(cells[starts], len(right.sizes))
    table = csr_matrix((best, (row, column)), shape=(values, len(right.sizes)))
    sums: Matrix = (left.matrix(values) @ table).toarray()
    return sums
