"""Prove that a pairing is optimal, by linear programming duality."""

from __future__ import annotations

from collections.abc import Mapping

TOLERANCE = 1e-9


def is_optimal(pairs: list[tuple[int, int]], worth: Mapping[tuple[int, int], float]) -> bool:
    """Return whether no other pairing is worth more, to 1e-9.

    The proof is a price of each row and column: prices are at least 0, those of a row and a column together are at
    least the worth of their pair, and their sum is the worth of the pairing. Prices rise until they cover every pair;
    if those of unpaired rows and columns have to rise, or no prices are enough, there is a better pairing.

    Args:
        pairs: of a row and a column, one to one.
        worth: that of each pair that is allowed, greater than 0.
    """
    column_of = dict(pairs)
    row_of = {column: row for row, column in pairs}
    prices = {column: 0.0 for _, column in worth}
    if not worth.keys() >= set(pairs):
        return False

    def row_price(row: int) -> float:
        return worth[row, column_of[row]] - prices[column_of[row]] if row in column_of else 0.0

    for _ in range(len(prices) + 1):
        changed = False
        for (row, column), value in worth.items():
            if row_price(row) + prices[column] < value - TOLERANCE:
                if column not in row_of:
                    return False
                prices[column] = value - row_price(row)
                changed = True
        if not changed:
            return all(row_price(row) >= -TOLERANCE for row, _ in pairs)
    return False
