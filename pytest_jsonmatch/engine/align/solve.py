"""The one-to-one pairs with the greatest total worth: in any order (the assignment problem), or in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]

_FEW_ROWS: Final = 128
_UNIT: Final = 2.0**-45
"""Worths are multiples of this, see `grid.ROUNDING`."""


def _is_turned(rows: Iterable[list[float]], columns: Iterable[list[float]], n: int, m: int) -> bool:
    """Return whether an assignment is solved with its columns as rows.

    Thus of several optima, both directions of a comparison make the same. The shorter side comes first; of
    equally long ones, the side with the smaller numbers.
    """
    if n != m:
        return n > m
    return next((row > column for row, column in zip(rows, columns) if row != column), False)


def assign_lists(worth: Sequence[Sequence[float]]) -> list[int]:
    """Pair rows with columns for the greatest sum, in plain Python without scipy, for small problems.

    The order of rows and columns decides between several optima, and swapping the sides makes no difference.
    Every row is first paired with its best column; rows whose best column is already paired are added by
    shortest augmenting paths (Jonker and Volgenant 1987).

    Args:
        worth: n rows of m numbers, at least 0; a pair worth 0 counts the same as no pair.

    Returns:
        The column of each row, -1 for rows without one.

    >>> assign_lists([[0.5, 0.9], [0.4, 0.9]])
    [0, 1]
    """
    n, m = len(worth), len(worth[0]) if worth else 0
    if _is_turned(map(list, worth), map(list, zip(*worth)), n, m):
        columns = [-1] * n
        for column, row in enumerate(assign_lists(list(zip(*worth)))):
            if row >= 0:
                columns[row] = column
        return columns
    columns, row_of = [-1] * n, [-1] * m
    row_prices, column_prices = [max(line) for line in worth] if m else [], [0.0] * m
    unassigned = []
    for row, line in enumerate(worth):
        if row_prices[row] > 0.0:
            column = line.index(row_prices[row])
            if row_of[column] < 0:
                row_of[column], columns[row] = row, column
            else:
                unassigned.append(row)
    for start in unassigned:
        # Dijkstra's algorithm: the reduced costs price(row) + price(column) - worth are never negative.
        price = row_prices[start]
        cost = [price + other - value for other, value in zip(column_prices, worth[start])]
        came_from = [start] * m
        unseen, seen = list(range(m)), []
        while True:
            column = min(unseen, key=cost.__getitem__)
            reached = cost[column]
            row = row_of[column]
            if row < 0:
                break
            unseen.remove(column)
            seen.append(column)
            line, price = worth[row], reached + row_prices[row]
            for other in unseen:
                through = price + column_prices[other] - line[other]
                if through < cost[other]:
                    cost[other], came_from[other] = through, row
        row_prices[start] -= reached
        for other in seen:
            change = reached - cost[other]
            column_prices[other] += change
            row_prices[row_of[other]] -= change
        row = -1
        while row != start:
            row = came_from[column]
            row_of[column] = row
            columns[row], column = column, columns[row]
    return columns


def _to_list(line: Matrix) -> list[float]:
    numbers: list[float] = line.tolist()
    return numbers


def assign_matrix(worth: Matrix) -> list[tuple[int, int]]:
    """Return the pairs of rows and columns with the greatest sum, without pairs worth 0.

    Args:
        worth: (n, m) doubles, at least 0.
    """
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    n, m = worth.shape
    if _is_turned(map(_to_list, worth), map(_to_list, worth.T), n, m):
        return sorted((row, column) for column, row in assign_matrix(worth.T))
    if len(worth) <= _FEW_ROWS:
        rows, columns = linear_sum_assignment(worth, maximize=True)
    else:
        # Rows of numbers that are sorted by their contents need long augmenting paths. Scattered by multiples
        # of the golden ratio, 3,000 rows take a sixth of the time.
        order = np.argsort(np.arange(len(worth)) * 0.6180339887 % 1.0)
        cost = worth[order]
        rows, columns = linear_sum_assignment(np.negative(cost, out=cost))
        rows = order[rows]
    pairs = zip(rows.tolist(), columns.tolist(), worth[rows, columns].tolist())
    return [(row, column) for row, column, value in pairs if value > 0.0]


def assign_lists_in_order(worth: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Return the pairs with the greatest sum of which no two cross, in plain Python, for small problems.

    Of several optima, equal within the rounding of worths, the one whose pairs are smallest is returned.

    Args:
        worth: n rows of m numbers, at least 0, which are multiples of 2^-45; a pair worth 0 is never made.

    >>> assign_lists_in_order([[0.0, 0.9], [0.8, 0.4]])
    [(0, 1)]
    """
    n, m = len(worth), len(worth[0]) if worth else 0
    best = [
        [0.0] * (m + 1)
    ]  # the greatest sums of the rows and columns from each position on, the last row first
    for line in reversed(worth):
        below = best[-1]
        sums = [0.0] * (m + 1)
        highest = 0.0
        for column in range(m - 1, -1, -1):
            value = line[column]
            highest = max(highest, below[column], value + below[column + 1] if value else 0.0)
            sums[column] = highest
        best.append(sums)
    best.reverse()
    pairs, start, rounding = [], 0, min(n, m) * _UNIT
    for row, line in enumerate(worth):
        below, lowest = best[row + 1], best[row][start] - rounding
        for column in range(start, m):
            total = line[column] + below[column + 1]
            if total >= lowest and line[column]:
                pairs.append((row, column))
                start, rounding = column + 1, total - lowest
                break
    return pairs


def assign_matrix_in_order(worth: Matrix) -> list[tuple[int, int]]:
    """Return the pairs with the greatest sum of which no two cross, as `assign_lists_in_order` does.

    Args:
        worth: (n, m) doubles, at least 0, which are multiples of 2^-45.
    """
    import numpy as np

    n, m = worth.shape
    values = (worth / _UNIT).astype(np.int64)  # sums of many doubles would be rounded
    best = np.zeros((n + 1, m + 1), dtype=np.int64)
    for row in range(n - 1, -1, -1):
        below = best[row + 1]
        paired = np.where(values[row] > 0, values[row] + below[1:], 0)
        np.maximum(paired, below[:-1], out=paired)
        best[row, :-1] = np.maximum.accumulate(paired[::-1])[::-1]
    pairs, start, rounding = [], 0, min(n, m)
    for row in range(n):
        line, lowest = values[row, start:], int(best[row, start]) - rounding
        totals = line + best[row + 1, start + 1 :]
        found = np.flatnonzero((line > 0) & (totals >= lowest))
        if len(found):
            column = start + int(found[0])
            rounding = int(totals[found[0]]) - lowest
            pairs.append((row, column))
            start = column + 1
    return pairs
