"""Pairing of arrays whose matrix of all with all would not fit the memory limit: the best of each, exactly.

Rows are scored a block at a time. Of each only its best columns are kept, and of each column its best row;
over these candidates the pairing is the exact optimum. How far it can be from the optimum over all pairs is
known: no pairing is worth more than the best of every row together, or of every column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Sparse", "dense_bytes", "pair_sparsely"]

_BYTES_A_CELL: Final = 64
"""What the exact way needs at its peak: the sums, the leaves, masks, and the solver's own copies."""
_BYTES_A_CANDIDATE: Final = 200
_LEAST_CANDIDATES: Final = 4
_MOST_CANDIDATES: Final = 64


def dense_bytes(rows: int, columns: int) -> int:
    """Return how much memory the exact pairing of so many elements needs, in bytes."""
    return _BYTES_A_CELL * rows * columns


@final
class Sparse(NamedTuple):
    """A pairing, and how much more all of its pairs together could be worth."""

    pairs: list[tuple[int, int]]
    gap: float


def pair_sparsely(
    rows: int,
    columns: int,
    worth_of: Callable[[int, int], NDArray[np.float64]],
    exact_of: Callable[[int, int], float | None],
    threshold: float,
    limit: int,
) -> Sparse:
    """Pair elements at nearly the greatest total worth, within a memory limit.

    Args:
        rows: how many elements one side has.
        columns: how many the other has.
        worth_of: gives the (end - start, columns) worths, or upper bounds, of rows from start to end.
        exact_of: gives what one pair is worth, if `worth_of` gave bounds; None if it did not.
        threshold: a pair is made only if it is worth more.
        limit: bytes; kept to as far as a block of one row and a few candidates a row allow.

    Returns:
        The pairs in the order of the rows, and what their total is short of the optimum, at most.
    """
    import numpy as np

    height = max(1, min(rows, limit // (2 * _BYTES_A_CELL * max(columns, 1))))
    kept = max(_LEAST_CANDIDATES, min(_MOST_CANDIDATES, limit // (2 * _BYTES_A_CANDIDATE * max(rows, 1))))
    kept = min(kept, columns)
    at_rows: list[Any] = []
    at_columns: list[Any] = []
    worths: list[Any] = []
    best_of_rows = np.zeros(rows)
    best_of_columns = np.zeros(columns)
    row_of_best = np.zeros(columns, dtype=np.intp)
    for start in range(0, rows, height):
        end = min(start + height, rows)
        block = worth_of(start, end)
        block[block <= threshold] = 0.0
        best_of_rows[start:end] = block.max(axis=1)
        best = block.max(axis=0)
        better = best > best_of_columns
        row_of_best[better] = block.argmax(axis=0)[better] + start
        best_of_columns[better] = best[better]
        found = np.argpartition(-block, kept - 1, axis=1)[:, :kept]
        at_rows.append(np.repeat(np.arange(start, end), kept))
        at_columns.append(found.ravel())
        worths.append(np.take_along_axis(block, found, axis=1).ravel())
    at_rows.append(row_of_best)
    at_columns.append(np.arange(columns))
    worths.append(best_of_columns)
    pairs = _matched(
        rows, columns, np.concatenate(at_rows), np.concatenate(at_columns), np.concatenate(worths)
    )
    exact: list[tuple[int, int, float]] = []
    for i, j, worth in pairs:
        known = exact_of(i, j)
        exact.append((i, j, worth if known is None else known))
    pairs = [one for one in exact if one[2] > threshold]
    total = sum(worth for _, _, worth in pairs)
    most = min(float(best_of_rows.sum()), float(best_of_columns.sum()))
    return Sparse([(i, j) for i, j, _ in pairs], max(0.0, most - total))


def _matched(
    rows: int, columns: int, at_rows: Any, at_columns: Any, worths: Any
) -> list[tuple[int, int, float]]:
    """Return the optimum over candidate pairs, in the order of the rows."""
    import numpy as np
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    known = worths > 0.0
    at_rows, at_columns, worths = at_rows[known], at_columns[known], worths[known]
    # A pair may be a candidate twice: once as its row's, once as its column's.
    _, first = np.unique(at_rows * columns + at_columns, return_index=True)
    at_rows, at_columns, worths = at_rows[first], at_columns[first], worths[first]
    # A partner that stands for none, for every row. (The solver takes 0 for "no edge", so all is 1 more.)
    none = np.arange(rows)
    graph = coo_matrix(
        (
            np.concatenate([worths + 1.0, np.ones(rows)]),
            (np.concatenate([at_rows, none]), np.concatenate([at_columns, none + columns])),
        ),
        shape=(rows, columns + rows),
    ).tocsr()
    chosen_rows, chosen_columns = min_weight_full_bipartite_matching(graph, maximize=True)
    value_of = dict(zip((at_rows * columns + at_columns).tolist(), worths.tolist()))
    return [
        (i, j, value_of[i * columns + j])
        for i, j in sorted(zip(chosen_rows.tolist(), chosen_columns.tolist()))
        if j < columns
    ]
