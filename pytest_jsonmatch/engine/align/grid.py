"""The base of both grids: the assignment on upper bounds, and arrays nested in elements."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, final

from pytest_jsonmatch.engine.align.context import Pairing
from pytest_jsonmatch.engine.align.keys import find_key, pair_by_key, pair_equal, read_key_value
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from pytest_jsonmatch.engine.align.column import CostlyValues, FlatArrays, ScalarColumn
    from pytest_jsonmatch.engine.align.context import (
        IndexPairs,
        LeafCounts,
        Measure,
        PairingContext,
        PairScore,
    )
    from pytest_jsonmatch.engine.align.related import RelatedGrid
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

ROUNDING: Final = 3 * 2.0**6
"""Adding and subtracting this rounds a worth to a multiple of 2^-45, so that sums of worths are exact in any
order."""
_TIE: Final = 2.0**-31
"""The maximum that a larger Σ adds to the worth of a pair; sums within 1e-9 per pair are tied."""


class Grid(Protocol):
    """The Σ of all pairs of values at one node, added up column by column.

    The two implementations are `ListGrid` and `ArrayGrid`. A pair is exact at once, or an upper bound until
    it is chosen, because it has nested arrays (`parts`) or because only the walk can score it (`needs_walk`).
    """

    total_scores: Any
    """The (n, m) sums Σ weight·score of the pairs, exact or upper bounds."""
    threshold: float
    """The threshold: elements are paired only if their similarity is greater."""
    needs_walk: bool
    """Whether only the walk can score the pairs."""
    walk: tuple[Measure, list[int], list[int]]
    """A function that scores two elements by a walk, given their positions in the arrays, and the positions
    of the rows and of the columns. It is set for the elements of an array, not for a grid inside its grid."""
    parts: list[GridPart]

    def __init__(self, aligner: PairingContext, rows: int, columns: int) -> None: ...

    @property
    def is_exact(self) -> bool:
        """Whether no pair is an upper bound."""

    def add_scores(self, rows: Sequence[int], columns: Sequence[int], by: Any) -> None:
        """Add a matrix to the Σ of a block of pairs, or the same numbers to each of its rows."""

    def add_column(self, node: PlanNode, weight: float, left: ScalarColumn, right: ScalarColumn) -> None:
        """Add the weighted scores of a column; each pair of distinct values is scored once."""

    def add_block(self, block: Grid, rows: Sequence[int], columns: Sequence[int]) -> None:
        """Add the grid of some of the rows and columns."""

    def add_nested(self, nested: NestedArrays, weight: float) -> None:
        """Add arrays nested in the elements, one for each row and one for each column."""

    def compute_worths(self, leaf_counts: LeafCounts) -> None:
        """Compute the worth of each pair: its similarity, and slightly more for a larger Σ."""

    def get_worth(self, cell: PairScore) -> float:
        """Return the worth of a pair in the assignment."""

    def measure(self, row: int, column: int) -> PairScore:
        """Return the exact score of a pair, or an upper bound while questions are open."""

    def total_score(self, pairs: IndexPairs) -> float:
        """Return the Σ of pairs that need no walk."""

    def find_best_pairs(
        self, rows: Sequence[int], columns: Sequence[int], *, in_order: bool = False
    ) -> Pairing:
        """Pair some rows with some columns for the greatest total similarity above the threshold.

        Args:
            rows: the rows, in an order that depends only on contents, or in their own order.
            columns: the columns, in an order that depends only on contents, or in their own order.
            in_order: whether no two pairs may cross.

        Returns:
            Pairs of positions in `rows` and `columns`.
        """


# -- solving -----------------------------------------------------------------------------------------------


def compute_tie_share(highest: float) -> float:
    """Return the share of Σ to add to similarities, given the highest Σ of a pair."""
    return _TIE / (highest or 1.0)


def compute_worth(cell: PairScore, threshold: float, share: float) -> float:
    """Return the worth of a pair in the assignment; 0 if its similarity is not above the threshold."""
    if cell.similarity <= threshold:
        return 0.0
    return cell.similarity + share * cell.total_score + ROUNDING - ROUNDING


def pair_by_bounds(
    grid: Grid,
    rows: Sequence[int],
    columns: Sequence[int],
    block: Any,
    assign: Callable[[Any], IndexPairs],
    extra_solutions: int,
) -> Pairing:
    """Pair rows with columns for the greatest total worth, measuring few pairs.

    The assignment is solved on upper bounds, the chosen pairs are measured, and this is repeated until all
    chosen pairs have been measured. No other pairing can then be worth more.

    Args:
        grid: the grid, which measures pairs.
        rows: n rows of the grid.
        columns: m columns of the grid.
        block: the (n, m) upper bounds of the worth of each pair, which are changed.
        assign: returns the pairs with the greatest total worth.
        extra_solutions: the number of next best pairings to measure, too, if questions are open.
    """
    measure: Measure = grid.measure
    if grid.needs_walk:  # called from here, a walk takes one stack frame less for each level of arrays
        measure, rows, columns = grid.walk
    cells: dict[tuple[int, int], PairScore] = {}
    pairs = assign(block)
    while unmeasured := [pair for pair in pairs if pair not in cells]:
        for at, to in unmeasured:  # not in a function, which would take one more stack frame for each level
            cells[at, to] = cell = measure(rows[at], columns[to])
            block[at][to] = grid.get_worth(cell)
        pairs = assign(block)
    total = sum([cells[pair].total_score for pair in pairs])
    questions = [question for pair in pairs for question in cells[pair].questions]
    next_pairs = pairs
    for _ in range(extra_solutions if questions else 0):
        # Otherwise, elements that only answers can distinguish would take a round each.
        for at, to in next_pairs:
            if cells[at, to].questions:
                block[at][to] = 0.0
        next_pairs = assign(block)
        for at, to in next_pairs:
            if (at, to) not in cells:
                cells[at, to] = cell = measure(rows[at], columns[to])
                block[at][to] = grid.get_worth(cell)
        questions += [question for pair in next_pairs for question in cells[pair].questions]
    return Pairing(pairs, total, tuple(questions))


# -- parts -------------------------------------------------------------------------------------------------


@final
class GridPart(NamedTuple):
    """Arrays nested in the elements of a grid, or values that are costly to compare."""

    content: NestedArrays | CostlyValues
    rows: dict[int, int]
    """The number of each row's array or value; rows without one or with an empty array are left out."""
    columns: dict[int, int]
    weight: float
    upper_bounds: Any
    """The (arrays, arrays) upper bounds that were added to the grid; None if the scores are exact."""


def move_parts(parts: Iterable[GridPart], rows: Sequence[int], columns: Sequence[int]) -> list[GridPart]:
    """Return the parts of a block for the rows and columns of the block in a larger grid."""
    return [
        part._replace(
            rows={rows[at]: number for at, number in part.rows.items()},
            columns={columns[to]: number for to, number in part.columns.items()},
        )
        for part in parts
    ]


def keep_pairings(parts: Iterable[GridPart], row: int, column: int) -> None:
    """Keep the pairings of the arrays nested in a pair of elements."""
    for part in parts:
        if row in part.rows and column in part.columns:
            part.content.keep(part.rows[row], part.columns[column])


@final
class NestedArrays:
    """The arrays at one path in the elements of both sides, which are paired by contents or by key."""

    __slots__ = ("_aligner", "_node", "_total_scores", "inner", "is_in_order", "is_keyed", "left", "right")

    def __init__(
        self,
        aligner: PairingContext,
        node: PlanNode,
        inner: Grid | RelatedGrid,
        sides: tuple[FlatArrays, FlatArrays],
    ) -> None:
        """Create nested arrays from their node, the grid of their elements, and each side's elements."""
        self._aligner = aligner
        self._node = node
        self.inner: Grid | RelatedGrid = inner
        """The grid of all elements of expected's arrays and all elements of actual's."""
        self.left: FlatArrays = sides[0]
        self.right: FlatArrays = sides[1]
        self._total_scores: dict[tuple[int, int], float] = {}
        align = node.rules.align
        self.is_in_order: bool = align == "sequence"
        """Whether the elements are paired by their contents, but no two pairs may cross."""
        self.is_keyed: bool = align != "unordered" and not self.is_in_order
        """Whether the elements are paired by a member or by position, not by their contents."""

    @property
    def keys(self) -> list[list[Hashable]]:
        """The equality keys of the values of both sides."""
        sides = self.left, self.right
        keys = [dict(zip(chain(*flat.codes), chain(*flat.keys))) for flat in sides]
        return [
            [keys_by_code[at] for at in range(len(flat.values))] for keys_by_code, flat in zip(keys, sides)
        ]

    def find_key_members(self) -> list[list[JsonValue]] | None:
        """Return each side's values of the member by which they are paired; None without such a member."""
        sides = self.left, self.right
        key = find_key(self._node, *[flat.values for flat in sides])
        if key is None:
            return None
        element = self._node.undecided[ELEMENT]
        return [[read_key_value(element, value, key) for value in flat.values] for flat in sides]

    def make_part(self, weight: float, upper_bounds: Any = None) -> GridPart:
        """Return a part of a grid that has one of these arrays in each row and in each column."""
        rows, columns = (
            {at: at for at, codes in enumerate(flat.codes) if codes} for flat in (self.left, self.right)
        )
        return GridPart(self, rows, columns, weight, upper_bounds)

    def pair(self, row: int, column: int) -> Pairing:
        """Pair the elements of two of the arrays: by key, or equal ones first and then by similarity."""
        codes, others = self.left.codes[row], self.right.codes[column]
        rows: list[int] = []
        columns: list[int] = []
        pairs: IndexPairs = []
        if self.is_in_order:
            rows, columns = list(range(len(codes))), list(range(len(others)))
        elif not self.is_keyed:
            pairs, rows, columns = pair_equal(self.left.keys[row], self.right.keys[column])
        else:
            arrays = self.left.arrays[row], self.right.arrays[column]
            key = find_key(self._node, *arrays)
            if key is None:
                pairs = list(zip(range(len(codes)), range(len(others))))
            else:
                pairs = pair_by_key(self._node.undecided[ELEMENT], key, *arrays)
        total = self.inner.total_score([(codes[at], others[to]) for at, to in pairs])
        if rows and columns:
            if not self.is_in_order:
                rows, columns = (
                    _select_in_order(self.left.orders[row], rows),
                    _select_in_order(self.right.orders[column], columns),
                )
            best = self.inner.find_best_pairs(
                [codes[at] for at in rows], [others[to] for to in columns], in_order=self.is_in_order
            )
            total += best.total_score
            pairs += [(rows[at], columns[to]) for at, to in best.pairs]
        return Pairing(sorted(pairs), total)

    def total_score(self, row: int, column: int) -> float:
        """Return the Σ of two of the arrays, computed once."""
        total_score = self._total_scores.get((row, column))
        if total_score is None:
            # Only the sum is cached: few of these pairings are needed, and those are computed again.
            total_score = self._total_scores[row, column] = self.pair(row, column).total_score
        return total_score

    def keep(self, row: int, column: int) -> None:
        """Keep the pairing of two of the arrays, and of all arrays nested in their pairs."""
        left, right = self.left, self.right
        pairing = self.pair(row, column)
        self._aligner.keep(left.arrays[row], right.arrays[column], pairing)
        if self.inner.parts:
            codes, other_codes = left.codes[row], right.codes[column]
            for at, to in pairing.pairs:
                keep_pairings(self.inner.parts, codes[at], other_codes[to])


def _select_in_order(order: list[int], indices: list[int]) -> list[int]:
    """Return indices in the canonical order of their array."""
    if len(indices) == len(order):
        return order
    selected = set(indices)
    return [at for at in order if at in selected]
