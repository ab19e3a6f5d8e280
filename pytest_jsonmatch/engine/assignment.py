"""The assignment problem: the one-to-one pairs of greatest total worth, and which of several is taken.

`solve` finds an optimum (our own shortest augmenting paths for small problems, scipy's for large ones) and
then looks whether it is the only one: the edges that any optimum can use are those of reduced cost 0 under
the optimum's dual prices. Where such edges leave a choice, the part of the graph they connect is solved
again, exactly, in integers that rank (worth, then what the caller ranks by).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Matrix: TypeAlias = NDArray[np.float64]

__all__ = ["SMALL", "assign", "assign_small", "connected", "dual_prices", "lexicographic"]

SMALL: Final = 16
"""Up to this many rows and columns plain Python is as fast as scipy, and needs no import of it."""

TIE: Final = 1e-9
"""Sums of worths that differ by no more than this are tied."""

_PAD_FROM: Final = 200


def assign_small(worth: Sequence[Sequence[Any]]) -> tuple[list[int], list[Any], list[Any]]:
    """Pair rows with columns so that the sum of worths is greatest; worths are at least 0.

    Args:
        worth: n rows of m numbers of any type. A row better left alone is paired at worth 0, or not.

    Returns:
        The column of each row (-1 for none), and the dual prices of rows and columns: price(row) +
        price(column) is at least the worth of every pair, and equal to it for the pairs chosen.

    >>> assign_small([[0.5, 0.9], [0.4, 0.9]])[0]
    [0, 1]
    """
    n = len(worth)
    m = len(worth[0]) if n else 0
    if n > m:
        flipped, column_prices, row_prices = assign_small([list(column) for column in zip(*worth)])
        columns = [-1] * n
        for j, i in enumerate(flipped):
            if i >= 0:
                columns[i] = j
        return columns, row_prices, column_prices
    # Shortest augmenting paths, row by row, on costs = -worth; position 0 is the source.
    zero = 0 * worth[0][0] if n else 0
    u: list[Any] = [zero] * (n + 1)
    v: list[Any] = [zero] * (m + 1)
    row_at = [0] * (m + 1)
    for row in range(1, n + 1):
        row_at[0] = row
        column = 0
        least: list[Any] = [None] * (m + 1)
        came_from = [0] * (m + 1)
        used = [False] * (m + 1)
        while True:
            used[column] = True
            at = row_at[column]
            line = worth[at - 1]
            base = u[at]
            delta: Any = None
            following = 0
            for j in range(1, m + 1):
                if used[j]:
                    continue
                cost = -line[j - 1] - base - v[j]
                if least[j] is None or cost < least[j]:
                    least[j] = cost
                    came_from[j] = column
                if delta is None or least[j] < delta:
                    delta = least[j]
                    following = j
            for j in range(m + 1):
                if used[j]:
                    u[row_at[j]] += delta
                    v[j] -= delta
                elif least[j] is not None:
                    least[j] -= delta
            column = following
            if row_at[column] == 0:
                break
        while column:
            previous = came_from[column]
            row_at[column] = row_at[previous]
            column = previous
    columns = [-1] * n
    for j in range(1, m + 1):
        if row_at[j]:
            columns[row_at[j] - 1] = j - 1
    # Costs were -worth: prices change their sign. Column prices are then >= 0, free columns at 0.
    return columns, [-price for price in u[1:]], [-price for price in v[1:]]


def assign(worth: Matrix) -> NDArray[np.intp]:
    """Pair rows with columns so that the sum of worths is greatest; worths are at least 0.

    Args:
        worth: (n, m) doubles.

    Returns:
        (n,) the column of each row, -1 for a row without one.
    """
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    n, m = worth.shape
    columns = np.full(n, -1, dtype=np.intp)
    if min(n, m) >= _PAD_FROM and n <= m:
        # scipy is 1.2 to 6 times faster on square costs whose columns touch 0.
        square = np.zeros((m, m))
        np.subtract(worth.max(axis=0), worth, out=square[:n])
        square[n:] = worth.max(axis=0)
        rows, found = linear_sum_assignment(square)
        kept = rows < n
        columns[rows[kept]] = found[kept]
        return columns
    rows, found = linear_sum_assignment(worth, maximize=True)
    columns[rows] = found
    return columns


def dual_prices(worth: Matrix, columns: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return prices of rows and columns under which the optimal pairs are the tight ones.

    price(row) + price(column) ≥ worth everywhere, with equality for the pairs chosen, prices ≥ 0, and 0 for
    whatever is unpaired: longest paths from the free columns over the chosen pairs, by label correction.

    Args:
        worth: (n, m) doubles ≥ 0.
        columns: (n,) an optimal pairing, as `assign` gives it.
    """
    import numpy as np

    n, m = worth.shape
    paired = np.flatnonzero(columns >= 0)
    prices = np.zeros(m)
    own = np.zeros(n)
    own[paired] = worth[paired, columns[paired]]
    row_of = np.full(m, -1, dtype=np.intp)
    row_of[columns[paired]] = paired
    row_prices = own.copy()
    changed = np.arange(n)
    for _ in range(n + m + 1):
        if not len(changed):
            break
        needed = np.zeros(m)
        for start in range(0, len(changed), _BLOCK):
            some = changed[start : start + _BLOCK]
            np.maximum(needed, (worth[some] - row_prices[some, None]).max(axis=0), out=needed)
        raised = np.flatnonzero(needed > prices + _ROUNDING)
        raised = raised[row_of[raised] >= 0]
        prices[raised] = needed[raised]
        changed = row_of[raised]
        row_prices[changed] = own[changed] - prices[raised]
    return row_prices, prices


_BLOCK: Final = 128
_ROUNDING: Final = 1e-12


def connected(rows: Sequence[int], columns: Sequence[int]) -> list[list[int]]:
    """Return the connected parts of a graph between rows and columns, each as positions in the list of edges.

    >>> connected([0, 1, 2], [5, 6, 5])
    [[0, 2], [1]]
    """
    find, join = _union()
    for row, column in zip(rows, columns):
        join(row, -1 - column)
    parts: dict[int, list[int]] = {}
    for edge, row in enumerate(rows):
        parts.setdefault(find(row), []).append(edge)
    return list(parts.values())


def _union() -> tuple[Callable[[int], int], Callable[[int, int], None]]:
    """Return what finds the representative of the set that a number is in, and what joins two sets."""
    parent: dict[int, int] = {}

    def find(node: int) -> int:
        root = node
        while parent.setdefault(root, root) != root:
            root = parent[root]
        while parent[node] != root:
            parent[node], node = root, parent[node]
        return root

    def join(one: int, other: int) -> None:
        parent[find(one)] = find(other)

    return find, join


def tied_parts(
    edges: Sequence[tuple[int, int]], chosen: Sequence[tuple[int, int]]
) -> list[tuple[list[int], list[int]]]:
    """Return the rows and columns of each connected part of the tight edges in which there is a choice.

    Args:
        edges: the tight (row, column) pairs, the chosen ones among them.
        chosen: the pairs of the optimum at hand.
    """
    find, join = _union()
    for row, column in edges:
        join(row, -1 - column)
    sizes: dict[int, int] = {}
    for row, _ in edges:
        root = find(row)
        sizes[root] = sizes.get(root, 0) + 1
    for row, _ in chosen:
        sizes[find(row)] = sizes.get(find(row), 0) - 1
    parts: dict[int, tuple[set[int], set[int]]] = {}
    for row, column in edges:
        root = find(row)
        if sizes[root]:
            rows, columns = parts.setdefault(root, (set(), set()))
            rows.add(row)
            columns.add(column)
    return [(sorted(rows), sorted(columns)) for rows, columns in parts.values()]


def lexicographic(
    rows: Sequence[int], columns: Sequence[int], ranks: Mapping[tuple[int, int], tuple[int, float, Any, int]]
) -> list[tuple[int, int]]:
    """Pair rows with columns so that the sums of ranks are greatest in lexicographic order, exactly.

    Args:
        rows: what is to be paired.
        columns: what it is to be paired with.
        ranks: for each pair that may be chosen (worth, second, text, distance). Worths are summed, then the
            seconds; of the texts, the sorted list of those chosen is to be the smallest; then the sum of the
            distances is; then the sorted list of the pairs themselves.

    Returns:
        The pairs, by row.
    """
    base = min(len(rows), len(columns)) + 1
    ordered = sorted({rank[2] for rank in ranks.values()}, reverse=True)
    texts = {text: place for place, text in enumerate(ordered)}
    pairs = {pair: place for place, pair in enumerate(sorted(ranks, reverse=True))}
    longest = max(rank[3] for rank in ranks.values())
    # Seconds are sums of scores: read as simple fractions, 1/3 + 1/3 is 2/3 to the last digit.
    seconds = {pair: Fraction(rank[1]).limit_denominator(_SIMPLE) for pair, rank in ranks.items()}
    unit = math.lcm(*(second.denominator for second in seconds.values()))
    # Each level is an integer whose sums stay below the next level's unit.
    pair_room = base ** len(pairs)
    distance_room = base * (longest + 1)
    text_room = base ** len(texts)
    second_room = base * (1 + int(max(seconds.values()) * unit))

    def weight(pair: tuple[int, int]) -> int:
        rank = ranks.get(pair)
        if rank is None:
            return 0
        value = rank[0] * second_room + int(seconds[pair] * unit)
        value = value * text_room + base ** texts[rank[2]]
        value = value * distance_room + (longest - rank[3])
        ranked: int = value * pair_room + base ** pairs[pair]
        return ranked

    found, _, _ = assign_small([[weight((i, j)) for j in columns] for i in rows])
    chosen = ((rows[at], columns[to]) for at, to in enumerate(found) if to >= 0)
    return [pair for pair in chosen if pair in ranks]


_SIMPLE: Final = 10**9
