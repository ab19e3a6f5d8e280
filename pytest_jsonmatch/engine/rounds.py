"""Which pairs of an unordered array batch comparators are asked about, and in how many rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pytest_jsonmatch.engine.assignment import SMALL, TIE, assign, assign_small, tied_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Matrix: TypeAlias = NDArray[np.float64]
    Edges: TypeAlias = Sequence[tuple[int, int]]

__all__ = ["assigned", "ties_to_ask", "to_ask_ahead", "usable"]

_PATIENCE: Final = 2
"""After so many rounds the pairs asked about in one are doubled, and doubled again."""
_MOST_DOUBLINGS: Final = 8


def assigned(worth: Matrix, final: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the column of each row in an optimal pairing, -1 for none: of several, one with few open pairs.

    Args:
        worth: (n, m) bounds, 0 where there can be no pair.
        final: (n, m) whether a pair's bound is what it is worth.

    >>> import numpy as np
    >>> final = np.array([[False, True], [True, False]])
    >>> assigned(np.ones((2, 2)), final).tolist(), assigned(np.ones((2, 2)), ~final).tolist()
    ([1, 0], [0, 1])
    """
    import numpy as np

    # An open pair costs a little: less in all than sums may differ by and still be tied.
    shaded = worth - np.where(final | (worth == 0.0), 0.0, TIE / (2 * max(worth.shape)))
    np.maximum(shaded, 0.0, out=shaded)
    columns = _assigned(shaded)
    columns[(columns >= 0) & (worth[np.arange(len(columns)), columns] <= 0.0)] = -1
    return columns


def _assigned(worth: Matrix) -> NDArray[np.intp]:
    import numpy as np

    if max(worth.shape) <= SMALL:
        return np.array(assign_small(worth.tolist())[0], dtype=np.intp)
    return assign(worth)


def usable(worth: Matrix, columns: NDArray[np.intp], prices: tuple[Any, Any]) -> list[tuple[int, int]]:
    """Return the pairs that some optimal pairing is made of.

    Those are tight under the dual prices, and can be brought in along a cycle of tight pairs, every second of
    them chosen; what may as well stay unpaired (its price is 0) is linked to one more node: paths are cycles.

    Args:
        worth: (n, m) worths, 0 where there can be no pair.
        columns: (n,) an optimal pairing.
        prices: its dual prices, of rows and of columns (`dual_prices`).

    >>> import numpy as np
    >>> from pytest_jsonmatch.engine.assignment import dual_prices
    >>> worth, columns = np.array([[0.5, 0.5], [0.2, 1.0]]), np.array([0, 1])
    >>> usable(worth, columns, dual_prices(worth, columns))
    [(0, 0), (1, 1)]
    """
    import numpy as np
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    n, m = worth.shape
    row_prices, column_prices = prices
    rows, found = np.nonzero((row_prices[:, None] + column_prices - worth <= TIE) & (worth > 0.0))
    chosen = columns[rows] == found
    # Nodes: rows, then columns, then the one more. Chosen pairs lead from column to row, the others back.
    starts = [np.where(chosen, n + found, rows)]
    ends = [np.where(chosen, rows, n + found)]
    taken = np.zeros(m, dtype=bool)
    taken[columns[columns >= 0]] = True
    paired = columns >= 0
    for nodes, inwards in (
        (np.flatnonzero(~paired), False),
        (np.flatnonzero(paired & (row_prices <= TIE)), True),
        (n + np.flatnonzero(~taken), True),
        (n + np.flatnonzero(taken & (column_prices <= TIE)), False),
    ):
        more = np.full(len(nodes), n + m)
        starts.append(nodes if inwards else more)
        ends.append(more if inwards else nodes)
    start, end = np.concatenate(starts), np.concatenate(ends)
    graph = coo_matrix((np.ones(len(start)), (start, end)), shape=(n + m + 1, n + m + 1))
    _, labels = connected_components(graph, directed=True, connection="strong")
    kept = chosen | (labels[rows] == labels[n + found])
    return list(zip(rows[kept].tolist(), found[kept].tolist()))


def to_ask_ahead(
    worth: Matrix, final: NDArray[np.bool_], waiting: Edges, prices: tuple[Any, Any], rounds: int
) -> list[tuple[int, int]]:
    """Return pairs to ask about together with those of the optimum that wait for an answer.

    Where nothing but the answers tells elements apart, one pairing a round would make as many rounds as there
    are elements. So from the third round on the next best pairings of what waits are asked about as well, as
    far as they can be part of an optimum yet.

    Args:
        worth: (n, m) bounds, 0 where there can be no pair.
        final: (n, m) whether a pair's bound is what it is worth.
        waiting: the pairs of the optimum that are not final.
        prices: the dual prices of rows and columns (`dual_prices`).
        rounds: how often was asked so far.

    >>> import numpy as np
    >>> worth, prices = np.ones((3, 3)), (np.ones(3), np.zeros(3))
    >>> to_ask_ahead(worth, np.zeros((3, 3), dtype=bool), [(0, 0), (1, 1), (2, 2)], prices, 0)
    []
    >>> len(to_ask_ahead(worth, np.zeros((3, 3), dtype=bool), [(0, 0), (1, 1), (2, 2)], prices, 2))
    3
    """
    if rounds < _PATIENCE:
        return []
    import numpy as np

    rows = sorted(i for i, _ in waiting)
    # The answers can take so much from the optimum at hand: what costs more to bring in stays out.
    gap = sum(float(worth[pair]) for pair in waiting)
    slack = prices[0][rows, None] + prices[1] - worth[rows]
    trial = np.where((slack <= gap + TIE) & ~final[rows], worth[rows], 0.0)
    place = {row: at for at, row in enumerate(rows)}
    for i, j in waiting:
        trial[place[i], j] = 0.0
    ahead: list[tuple[int, int]] = []
    for _ in range(2 ** min(rounds - _PATIENCE + 1, _MOST_DOUBLINGS) - 1):
        columns = _assigned(trial)
        found = [(at, j) for at, j in enumerate(columns.tolist()) if j >= 0 and trial[at, j] > 0.0]
        if not found:
            break
        for at, j in found:
            trial[at, j] = 0.0
            ahead.append((rows[at], j))
    return ahead


def ties_to_ask(
    worth: Matrix, chosen: Edges, edges: Edges, waiting: Iterable[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return the pairs that tie with an optimum made of final pairs, and have to be known to settle the tie.

    Where the optimum pairs all there is to pair, perfectly, no pair that ties with it can change a figure.

    Args:
        worth: (n, m) bounds.
        chosen: the pairs of the optimum, all of them final.
        edges: the pairs that an optimum can be made of, the chosen ones among them.
        waiting: those of them that are not final.

    >>> import numpy as np
    >>> edges = [(0, 0), (0, 1), (1, 0), (1, 1)]
    >>> ties_to_ask(np.ones((2, 2)), [(0, 0), (1, 1)], edges, [(0, 1), (1, 0)])
    []
    >>> ties_to_ask(np.full((2, 2), 0.5), [(0, 0), (1, 1)], edges, [(0, 1), (1, 0)])
    [(0, 1), (1, 0)]
    """
    settled: set[int] = set()
    for rows, columns in tied_parts(edges, chosen):
        inside = set(rows)
        pairs = [pair for pair in chosen if pair[0] in inside]
        perfect = all(worth[pair] >= 1.0 - _ROUNDING for pair in pairs)
        if perfect and len(pairs) == min(len(rows), len(columns)):
            settled |= inside
    return sorted(pair for pair in waiting if pair[0] not in settled)


_ROUNDING: Final = 1e-12
