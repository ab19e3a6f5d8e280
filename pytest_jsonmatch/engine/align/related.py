"""Nested arrays of very many distinct scalars: only pairs that score at all, as a sparse matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np

from pytest_jsonmatch.engine.align.column import blocks_of
from pytest_jsonmatch.engine.align.large import ArrayGrid
from pytest_jsonmatch.engine.value.convert import CONTAINERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_jsonmatch.engine.align.context import Context
    from pytest_jsonmatch.engine.align.grid import Nested
    from pytest_jsonmatch.engine.align.large import Owners
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

    Matrix = NDArray[np.float64]


def related_grid(
    aligner: Context, element: PlanNode, expected: Sequence[JsonValue], actual: Sequence[JsonValue]
) -> RelatedGrid | None:
    """Return the grid of scalars of which most pairs take no memory; or None if there is none."""
    if element.branches is not None or element.transforms or element.accept is not None:
        return None
    if not CONTAINERS.isdisjoint(map(type, (*expected, *actual))):
        return None
    blocks = list(blocks_of(element, expected, actual))
    related = blocks[0].bound.related if len(blocks) == 1 and blocks[0].rows is None else None
    scores = None if related is None else related(expected, actual)
    return None if scores is None else RelatedGrid(aligner, scores)


@final
class RelatedGrid(ArrayGrid):
    """The elements of nested arrays in a grid whose cells that are 0 take no memory.

    Every value is one leaf of weight 1, so that what a pair scores is its similarity.
    """

    def __init__(self, aligner: Context, scores: Any) -> None:
        rows, columns = scores.shape
        super().__init__(aligner, 0, 0)
        limit = aligner.plan.options.leaf_threshold
        if limit is not None:
            scores.data[(scores.data <= limit) & (scores.data < 1.0)] = 0.0
        scores.data[scores.data <= aligner.threshold] = 0.0
        scores.eliminate_zeros()
        self._scores = scores
        self._lines: dict[int, dict[int, float]] = {}
        self.expected, self.actual = [1.0] * rows, [1.0] * columns

    def finish(self) -> None:
        """Do nothing: a score is what a pair is worth."""

    def intersections(self, nested: Nested, left: Owners, right: Owners) -> None:
        """Return nothing: bounds, which are as good, are made exact where they are chosen."""

    def bounds(self, nested: Nested, left: Owners, right: Owners) -> Matrix:  # noqa: ARG002 - of the base
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
