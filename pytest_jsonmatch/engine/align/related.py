"""Nested arrays of very many distinct scalars: only pairs that score at all, as a sparse matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np

from pytest_jsonmatch.engine.align.grid import BaseGrid
from pytest_jsonmatch.engine.align.solve import assign

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_jsonmatch.engine.align.context import Context
    from pytest_jsonmatch.engine.align.nested import Nested
    from pytest_jsonmatch.engine.align.owners import Owners

    Matrix = NDArray[np.float64]


@final
class RelatedGrid(BaseGrid):
    """The elements of nested arrays: like an `ArrayGrid`, but cells that are 0 take no memory.

    Every value is one leaf of weight 1, so that what a pair scores is its similarity.
    """

    __slots__ = ("_lines", "_scores")

    def __init__(self, aligner: Context, scores: Any) -> None:
        rows, columns = scores.shape
        super().__init__(aligner)
        limit = aligner.plan.options.leaf_threshold
        if limit is not None:
            scores.data[(scores.data <= limit) & (scores.data < 1.0)] = 0.0
        scores.data[scores.data <= aligner.threshold] = 0.0
        scores.eliminate_zeros()
        self._scores = scores
        self._lines: dict[int, dict[int, float]] = {}
        self.expected = np.ones(rows)
        self.actual = np.ones(columns)

    @property
    def is_corrected(self) -> bool:
        """Whether some pairs have fewer leaves than their elements."""
        return False

    def finish(self) -> None:
        """Do nothing: a score is what a pair is worth."""

    def intersections(self, _nested: Nested, _left: Owners, _right: Owners) -> None:
        """Return nothing: bounds, which are as good, are made exact where they are chosen."""

    def bounds(self, _nested: Nested, left: Owners, right: Owners) -> Matrix:
        """Return what nested arrays can match at most: for each element its best partner, of either side."""
        one = _sums_of_best(self._scores.tocoo(), left, right)
        return np.minimum(one, _sums_of_best(self._scores.T.tocoo(), right, left).T)

    def _line(self, row: int) -> dict[int, float]:
        """Return the scores of one value, by the number of the other."""
        line = self._lines.get(row)
        if line is None:
            start, end = self._scores.indptr[row : row + 2]
            own = slice(start, end)
            line = dict(zip(self._scores.indices[own].tolist(), self._scores.data[own].tolist()))
            self._lines[row] = line
        return line

    def sum_of(self, pairs: list[tuple[int, int]]) -> float:
        """Return Σ of some pairs, of which none takes a walk."""
        return sum([self._line(row).get(column, 0.0) for row, column in pairs])

    def _block(self, rows: Sequence[int], columns: Sequence[int]) -> Matrix:
        lines = [self._line(row) for row in rows]
        return np.array([[line.get(column, 0.0) for column in columns] for line in lines])

    def _solve(self, block: Matrix) -> list[tuple[int, int]]:
        rows, columns = assign(block)
        pairs = zip(rows.tolist(), columns.tolist(), block[rows, columns].tolist())
        return [(row, column) for row, column, worth in pairs if worth > 0.0]


def _sums_of_best(scores: Any, left: Owners, right: Owners) -> Matrix:
    """Return, for two arrays of each side, the sum of the left one's best scores in the other."""
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
