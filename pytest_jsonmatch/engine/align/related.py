"""The sparse grid for very many scalars in nested arrays. Import this module late, since it imports numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from pytest_jsonmatch.engine.align.column import split_by_comparator
from pytest_jsonmatch.engine.align.context import Pairing
from pytest_jsonmatch.engine.align.solve import assign_matrix, assign_matrix_in_order
from pytest_jsonmatch.engine.value.convert import NO_SCALARS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_jsonmatch.engine.align.context import IndexPairs, PairingContext
    from pytest_jsonmatch.engine.align.membership import Membership
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

    Matrix = NDArray[np.float64]


def make_related_grid(
    aligner: PairingContext, element: PlanNode, expected: Sequence[JsonValue], actual: Sequence[JsonValue]
) -> RelatedGrid | None:
    """Return the sparse grid of scalars of which most pairs score 0; None if they need a dense grid."""
    if element.varies or element.rules.transforms or element.rules.accept is not None:
        return None
    if not NO_SCALARS.isdisjoint(map(type, (*expected, *actual))):
        return None
    from scipy.sparse import coo_matrix

    no_indices = np.zeros(0, dtype=np.intp)
    parts: list[Any] = [(np.zeros(0), no_indices, no_indices)]
    for bound, rows, columns in split_by_comparator(element, expected, actual):
        if bound.related is None:
            return None
        own_rows, own_columns = rows or range(len(expected)), columns or range(len(actual))
        scores = bound.related([expected[at] for at in own_rows], [actual[to] for to in own_columns]).tocoo()
        parts.append((scores.data, np.array(own_rows)[scores.row], np.array(own_columns)[scores.col]))
    data, at, to = map(np.concatenate, zip(*parts))
    scores = coo_matrix((data, (at, to)), (len(expected), len(actual)))
    return RelatedGrid(aligner, element, scores.tocsr())


@final
class RelatedGrid:
    """The scores of scalars in nested arrays as a sparse matrix, in which pairs that score 0 take no memory.

    Every value is one leaf, so the score of a pair is also its similarity and its worth.
    """

    needs_walk: Final = False
    parts: Final = ()

    def __init__(self, aligner: PairingContext, element: PlanNode, scores: Any) -> None:
        element.rules.thresholds.apply_to(scores.data)
        scores.data[scores.data <= aligner.threshold] = 0.0
        scores.eliminate_zeros()
        self._scores = scores
        self._lines: dict[int, dict[int, float]] = {}

    def compute_upper_bounds(self, left: Membership, right: Membership) -> Matrix:
        """Return upper bounds of the Σ of nested arrays: each element of a side with its best partner."""
        one = _sum_best(self._scores.tocoo(), left, right)
        return np.minimum(one, _sum_best(self._scores.T.tocoo(), right, left).T)

    def _get_line(self, row: int) -> dict[int, float]:
        """Return the scores of one value by the number of its partner."""
        line = self._lines.get(row)
        if line is None:
            start, end = self._scores.indptr[row : row + 2]
            stored = slice(start, end)
            line = dict(zip(self._scores.indices[stored].tolist(), self._scores.data[stored].tolist()))
            self._lines[row] = line
        return line

    def total_score(self, pairs: IndexPairs) -> float:
        """Return the Σ of pairs."""
        return sum([self._get_line(row).get(column, 0.0) for row, column in pairs])

    def find_best_pairs(
        self, rows: Sequence[int], columns: Sequence[int], *, in_order: bool = False
    ) -> Pairing:
        """Pair some rows with some columns for the greatest total score."""
        lines = [self._get_line(row) for row in rows]
        assign = assign_matrix_in_order if in_order else assign_matrix
        pairs = assign(np.array([[line.get(column, 0.0) for column in columns] for line in lines]))
        return Pairing(pairs, sum([lines[at][columns[to]] for at, to in pairs]))


def _sum_best(scores: Any, left: Membership, right: Membership) -> Matrix:
    """Return, for each pair of arrays, the sum of the best scores of left's elements in the right one."""
    from scipy.sparse import csr_matrix

    values, others = scores.shape
    owners = right.count_matrix(others).tocsc()
    counts = np.diff(owners.indptr)[scores.col]
    places = np.arange(counts.sum()) + np.repeat(
        owners.indptr[scores.col] - np.cumsum(counts) + counts, counts
    )
    cells = np.repeat(scores.row, counts).astype(np.int64) * len(right.sizes) + owners.indices[places]
    order = np.argsort(cells, kind="stable")
    cells = cells[order]
    starts = np.flatnonzero(np.diff(cells, prepend=-1))
    if not len(starts):
        return np.zeros((len(left.sizes), len(right.sizes)))
    best = np.maximum.reduceat(np.repeat(scores.data, counts)[order], starts)
    row, column = np.divmod(cells[starts], len(right.sizes))
    table = csr_matrix((best, (row, column)), shape=(values, len(right.sizes)))
    sums: Matrix = (left.count_matrix(values) @ table).toarray()
    return sums
