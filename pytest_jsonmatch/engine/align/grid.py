"""What the two bodies of a grid share: the assignment on upper bounds, and arrays inside elements."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, final

from pytest_jsonmatch.engine.align.context import Pairing
from pytest_jsonmatch.engine.align.keys import find_key, pair_by_key, pair_equal, read_key_value
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from pytest_jsonmatch.engine.align.column import Column, CostlyValues, FlatArrays
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
"""Adding and subtracting it rounds a worth to a multiple of 2^-45, so that sums of worths are exact in any
order."""
_TIE: Final = 2.0**-31
"""The most that a larger Σ adds to the worth of a pair: sums within 1e-9 a pair are tied."""


class Grid(Protocol):
    """Σ of all pairs of values at one node, which columns fill.

    The two bodies are `ListGrid` and `ArrayGrid`. A pair is exact at once, or an upper bound until it is
    chosen: because of arrays inside it (`parts`), or because only the walk can score it (`walked`).
    """

    total_scores: Any
    """(n, m) Σ weight·score of the pairs, exact or upper bounds."""
    threshold: float
    """Elements are paired only if their similarity is greater."""
    walked: bool
    """Whether only the walk can score the pairs."""
    walk: tuple[Measure, list[int], list[int]]
    """Scores two elements by a walk, given their positions in the arrays, and the positions of the rows and
    of the columns. It is set for the elements of an array, not for a grid inside its grid."""
    parts: list[GridPart]

    def __init__(self, aligner: PairingContext, rows: int, columns: int) -> None: ...

    @property
    def is_exact(self) -> bool:
        """Whether no pair is an upper bound."""

    def add_scores(self, rows: Sequence[int], columns: Sequence[int], by: Any) -> None:
        """Add to Σ of a block of pairs: a matrix, or one line for every row."""

    def add_column(self, node: PlanNode, weight: float, left: Column, right: Column) -> None:
        """Add the weighted scores of a column. Each pair of distinct values is scored once."""

    def add_block(self, block: Grid, rows: Sequence[int], columns: Sequence[int]) -> None:
        """Add the grid of some rows and columns."""

    def add_nested(self, nested: NestedArrays, weight: float) -> None:
        """Add arrays inside the elements, one for each row and one for each column."""

    def compute_worths(self, leaf_counts: LeafCounts) -> None:
        """Compute the worth of each pair: its similarity, and a shade more for a larger Σ."""

    def worth(self, cell: PairScore) -> float:
        """Return the worth of a pair to the assignment."""

    def measure(self, row: int, column: int) -> PairScore:
        """Return the exact score of a pair; while questions are open, an upper bound."""

    def total_score(self, pairs: IndexPairs) -> float:
        """Return Σ of some pairs, none of which needs a walk."""

    def find_best_pairs(self, rows: Sequence[int], columns: Sequence[int]) -> Pairing:
        """Pair some rows with some columns for the greatest total similarity above the threshold.

        Args:
            rows: in an order that depends only on contents.
            columns: in such an order, too.

        Returns:
            Pairs of positions among the rows and the columns.
        """


# -- solving -----------------------------------------------------------------------------------------------


def tie_share(highest: float) -> float:
    """Return the share of Σ that is added to similarities, given the highest Σ of a pair."""
    return _TIE / (highest or 1.0)


def compute_worth(cell: PairScore, threshold: float, share: float) -> float:
    """Return the worth of a pair to the assignment; 0 if its similarity is not above the threshold."""
    if cell.similarity <= threshold:
        return 0.0
    return cell.similarity + share * cell.total_score + ROUNDING - ROUNDING


def pair_by_bounds(
    grid: Grid,
    rows: Sequence[int],
    columns: Sequence[int],
    block: Any,
    assign: Callable[[Any], IndexPairs],
    solutions_ahead: int,
) -> Pairing:
    """Pair for the greatest total worth, measuring few pairs.

    The assignment is solved on upper bounds, the chosen pairs are measured, and this is repeated until all
    chosen pairs have been measured. No other pairing can then be worth more.

    Args:
        grid: measures pairs.
        rows: n rows of the grid.
        columns: m columns of the grid.
        block: (n, m) upper bounds of the worth of each pair; it is changed.
        assign: returns the pairs of the greatest total worth.
        solutions_ahead: how many of the next best pairings are measured, too, if questions are open.
    """
    measure: Measure = grid.measure
    if grid.walked:  # called from here, a walk takes a frame less in each level of arrays
        measure, rows, columns = grid.walk
    known: dict[tuple[int, int], PairScore] = {}
    pairs = assign(block)
    while fresh := [pair for pair in pairs if pair not in known]:
        for at, to in fresh:  # not in a function: each level of arrays in arrays would take a frame more
            known[at, to] = cell = measure(rows[at], columns[to])
            block[at][to] = grid.worth(cell)
        pairs = assign(block)
    total = sum([known[pair].total_score for pair in pairs])
    questions = [question for pair in pairs for question in known[pair].questions]
    ahead = pairs
    for _ in range(solutions_ahead if questions else 0):
        # Otherwise elements that only answers can distinguish would take a round each.
        for at, to in ahead:
            if known[at, to].questions:
                block[at][to] = 0.0
        ahead = assign(block)
        for at, to in ahead:
            if (at, to) not in known:
                known[at, to] = cell = measure(rows[at], columns[to])
                block[at][to] = grid.worth(cell)
        questions += [question for pair in ahead for question in known[pair].questions]
    return Pairing(pairs, total, tuple(questions))


# -- parts -------------------------------------------------------------------------------------------------


@final
class GridPart(NamedTuple):
    """Arrays inside the elements of a grid, or values that are costly to compare."""

    inside: NestedArrays | CostlyValues
    rows: dict[int, int]
    """The number of each row's array or value; rows without one, or with an empty array, are left out."""
    columns: dict[int, int]
    weight: float
    upper_bounds: Any
    """What was added to the grid, (arrays, arrays); None if that is exact."""


def move_parts(parts: Iterable[GridPart], rows: Sequence[int], columns: Sequence[int]) -> list[GridPart]:
    """Return the parts of a block at the rows and columns that the block has in a larger grid."""
    return [
        part._replace(
            rows={rows[at]: number for at, number in part.rows.items()},
            columns={columns[to]: number for to, number in part.columns.items()},
        )
        for part in parts
    ]


def keep_pairings(parts: Iterable[GridPart], row: int, column: int) -> None:
    """Give the aligner the pairings of the arrays inside a pair of elements."""
    for part in parts:
        if row in part.rows and column in part.columns:
            part.inside.keep(part.rows[row], part.columns[column])


@final
class NestedArrays:
    """The arrays at one path in the elements of both sides, paired by contents or by key."""

    __slots__ = ("_aligner", "_node", "_total_scores", "inner", "left", "right")

    def __init__(
        self,
        aligner: PairingContext,
        node: PlanNode,
        inner: Grid | RelatedGrid,
        sides: tuple[FlatArrays, FlatArrays],
    ) -> None:
        """Take the arrays' node, and their elements."""
        self._aligner = aligner
        self._node = node
        self.inner: Grid | RelatedGrid = inner
        """All elements of expected's arrays against all of actual's."""
        self.left: FlatArrays = sides[0]
        self.right: FlatArrays = sides[1]
        self._total_scores: dict[tuple[int, int], float] = {}

    @property
    def is_keyed(self) -> bool:
        """Whether the arrays are paired by a member or by position, not by their contents."""
        return self._node.rules.align != "unordered"

    @property
    def keys(self) -> list[list[Hashable]]:
        """The equality keys of the values of both sides: equal values share a key."""
        sides = self.left, self.right
        keys = [dict(zip(chain(*flat.codes), chain(*flat.keys))) for flat in sides]
        return [[known[at] for at in range(len(flat.values))] for known, flat in zip(keys, sides)]

    def find_key_members(self) -> list[list[JsonValue]] | None:
        """Return the member by which the values of each side pair; None if they don't, or not all of them."""
        sides = self.left, self.right
        key = find_key(self._node, *[flat.values for flat in sides])
        if key is None:
            return None
        member = self._node.children[ELEMENT].children[key]
        return [[read_key_value(member, value, key) for value in flat.values] for flat in sides]

    def make_part(self, weight: float, upper_bounds: Any = None) -> GridPart:
        """Return these arrays as a part of a grid that has one of them in each row and in each column."""
        rows, columns = (
            {at: at for at, codes in enumerate(flat.codes) if codes} for flat in (self.left, self.right)
        )
        return GridPart(self, rows, columns, weight, upper_bounds)

    def pair(self, row: int, column: int) -> Pairing:
        """Pair two of the arrays: by key, or equal elements first, then for the greatest similarity."""
        codes, others = self.left.codes[row], self.right.codes[column]
        rows: list[int] = []
        columns: list[int] = []
        if not self.is_keyed:
            pairs, rows, columns = pair_equal(self.left.keys[row], self.right.keys[column])
        else:
            arrays = self.left.arrays[row], self.right.arrays[column]
            key = find_key(self._node, *arrays)
            if key is None:
                pairs = list(zip(range(len(codes)), range(len(others))))
            else:
                pairs = pair_by_key(self._node.children[ELEMENT], key, *arrays)
        total = self.inner.total_score([(codes[at], others[to]) for at, to in pairs])
        if rows and columns:
            rows, columns = (
                _select_in_order(self.left.orders[row], rows),
                _select_in_order(self.right.orders[column], columns),
            )
            best = self.inner.find_best_pairs([codes[at] for at in rows], [others[to] for to in columns])
            total += best.total_score
            pairs += [(rows[at], columns[to]) for at, to in best.pairs]
        return Pairing(sorted(pairs), total)

    def total_score(self, row: int, column: int) -> float:
        """Return Σ of two of the paired arrays, computed once."""
        found = self._total_scores.get((row, column))
        if found is None:
            # Few of these pairs matter: they are computed again when they are kept.
            found = self._total_scores[row, column] = self.pair(row, column).total_score
        return found

    def keep(self, row: int, column: int) -> None:
        """Give the aligner the pairing of two of the arrays, and of all arrays inside their pairs."""
        left, right = self.left, self.right
        found = self.pair(row, column)
        self._aligner.keep(left.arrays[row], right.arrays[column], found)
        if self.inner.parts:
            codes, other_codes = left.codes[row], right.codes[column]
            for at, to in found.pairs:
                keep_pairings(self.inner.parts, codes[at], other_codes[to])


def _select_in_order(order: list[int], some: list[int]) -> list[int]:
    """Return some indices in the canonical order of their array."""
    if len(some) == len(order):
        return order
    chosen = set(some)
    return [at for at in order if at in chosen]
