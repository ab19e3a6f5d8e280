"""Pairing of arrays whose grid would not fit the memory limit: the best candidates of each element.

Rows are scored a block at a time. Only the best columns of each row and the best row of each column are kept;
over these candidates the pairing is the exact optimum. Its distance to the optimum over all pairs is bounded,
as no pairing is worth more than the best of every row together, or of every column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pytest_jsonmatch.engine.align.columns import Columns
from pytest_jsonmatch.engine.align.context import Source

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pytest_jsonmatch.engine.align.context import Context, Pairs, Side
    from pytest_jsonmatch.engine.plan.node import PlanNode

    Edges: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]

_BYTES_A_CELL: Final = 64
"""The peak memory of a cell in a block of the grid: sums, leaves, masks."""
_BYTES_A_CANDIDATE: Final = 200
_LEAST_CANDIDATES: Final = 4
_MOST_CANDIDATES: Final = 64
_NEAREST: Final = 2.0**-40
"""The most that a candidate's worth is lowered for its distance to its row in the canonical order."""


def pair_sparsely(aligner: Context, element: PlanNode, trail: Any, left: Side, right: Side) -> Pairs:
    """Pair elements at nearly the greatest total similarity, within the memory limit.

    Args:
        aligner: the aligner of the comparison.
        element: the node of the elements.
        trail: the place of the arrays.
        left: expected's array, and the indices of the elements to pair.
        right: likewise for actual.

    Returns:
        Pairs of positions among the indices, in the order of the rows. The most by which their total can
        miss the optimum is added to the aligner's gap.
    """
    import numpy as np

    from pytest_jsonmatch.engine.align.large import ArrayGrid

    (expected, rows), (actual, columns) = left, right
    limit = aligner.plan.options.memory_limit
    height = max(1, min(len(rows), limit // (2 * _BYTES_A_CELL * len(columns))))
    kept = max(_LEAST_CANDIDATES, min(_MOST_CANDIDATES, limit // (2 * _BYTES_A_CANDIDATE * len(rows))))
    kept = min(kept, len(columns))
    candidates: list[Any] = []
    best_of_rows, best_of_columns = np.zeros(len(rows)), np.zeros(len(columns))
    row_of_best = np.zeros(len(columns), dtype=np.intp)
    others = [actual[to] for to in columns]
    exact = True
    for start in range(0, len(rows), height):
        some = [expected[at] for at in rows[start : start + height]]
        grid = Columns(aligner, element, ArrayGrid).grid(element, some, others)
        assert isinstance(grid, ArrayGrid)  # noqa: S101 - for the type checker
        grid.finish()
        exact = exact and grid.is_exact
        block = grid.worths
        best_of_rows[start : start + len(some)] = block.max(axis=1)
        best = block.max(axis=0)
        better = best > best_of_columns
        row_of_best[better] = block.argmax(axis=0)[better] + start
        best_of_columns[better] = best[better]
        # Where many columns tie, rows must not all keep the same ones.
        own = np.arange(start, start + len(some))
        apart = np.abs(own[:, None] / len(rows) - np.arange(len(columns)) / len(columns))
        found = np.argpartition(apart * _NEAREST - block, kept - 1, axis=1)[:, :kept]
        here = np.repeat(own, kept)
        candidates.append((here, found.ravel(), np.take_along_axis(block, found, axis=1).ravel()))
    candidates.append((row_of_best, np.arange(len(columns)), best_of_columns))
    edges: Any = tuple(map(np.concatenate, zip(*candidates)))
    pairs: list[tuple[int, int]] = []
    total = 0.0
    for at, to, worth in _matched(len(rows), len(columns), edges):
        similarity = worth
        if not exact:
            cell = aligner.measure(element, trail, Source(expected, rows[at]), Source(actual, columns[to]))
            similarity = cell.similarity
        if similarity > aligner.threshold:
            pairs.append((at, to))
            total += similarity
    most = min(float(best_of_rows.sum()), float(best_of_columns.sum()))
    aligner.gap = (aligner.gap or 0.0) + max(0.0, most - total)
    return pairs


def _matched(rows: int, columns: int, edges: Edges) -> list[tuple[int, int, float]]:
    """Return the optimum over candidate pairs, in the order of the rows."""
    import numpy as np
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    at, to, worth = edges
    known = worth > 0.0
    at, to, worth = at[known], to[known], worth[known]
    # A pair may be a candidate twice: of its row and of its column.
    _, first = np.unique(at * columns + to, return_index=True)
    at, to, worth = at[first], to[first], worth[first]
    # Each row gets a dummy column for "no partner". The solver takes 0 for "no edge", so 1 is added to all.
    none = np.arange(rows)
    graph = coo_matrix(
        (
            np.concatenate([worth + 1.0, np.ones(rows)]),
            (np.concatenate([at, none]), np.concatenate([to, none + columns])),
        ),
        shape=(rows, columns + rows),
    ).tocsr()
    chosen, partners = min_weight_full_bipartite_matching(graph, maximize=True)
    worth_of = dict(zip((at * columns + to).tolist(), worth.tolist()))
    return [
        (row, column, worth_of[row * columns + column])
        for row, column in sorted(zip(chosen.tolist(), partners.tolist()))
        if column < columns
    ]
