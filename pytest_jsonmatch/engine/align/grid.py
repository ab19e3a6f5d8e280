"""All elements of one array against all of another: bounds first, exact when chosen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from pytest_jsonmatch.engine.align.context import Cell, Pairing, similarity_of
from pytest_jsonmatch.engine.align.keys import key_of, key_value, pair_by_key, twins
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from pytest_jsonmatch.engine.align.column import Column, CostlyValues, Flat
    from pytest_jsonmatch.engine.align.context import Context, IndexPairs, LeafCounts, Measure
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

ROUNDING: Final = 3 * 2.0**6
"""Adding and subtracting it rounds a worth to a multiple of 2^-45, so that sums of worths are exact in any
order."""
TIE: Final = 2.0**-31
"""The most that a larger Σ adds to the worth of a pair: sums within 1e-9 a pair are tied."""


@final
class Part(NamedTuple):
    """Arrays inside the elements of a grid, or values that are costly to compare."""

    inside: Nested | CostlyValues
    rows: dict[int, int]
    """The number of each row's array or value; rows without one, or with an empty array, are left out."""
    columns: dict[int, int]
    weight: float
    bound: Any
    """The bounds that were added to the grid, (arrays, arrays); None if what was added is exact."""


class Grid(ABC):
    """Σ of all pairs of values at one node, which columns fill, and the leaf counts of both sides.

    A pair is exact at once, or a bound until it is chosen: because of arrays inside it (`parts`), or because
    only the walk can score it (`walked`).
    """

    def __init__(self, aligner: Context, rows: int, columns: int) -> None:
        self.aligner = aligner
        self.shape: tuple[int, int] = rows, columns
        self.leaf_counts: LeafCounts
        """E and A."""
        self.score: Any = self._zeros()
        """(n, m) Σ weight·score of the pairs, exact or bounds."""
        self.walked: bool = False
        """Whether only the walk can score the pairs."""
        self.bounded: bool = False
        """Whether one of the parts is a bound."""
        self.parts: list[Part] = []
        self._share = 0.0
        self._rows: Sequence[int] = ()
        self._columns: Sequence[int] = ()
        self._walk: Measure
        self._cells: dict[tuple[int, int], Cell] = {}

    @property
    def is_exact(self) -> bool:
        """Whether no pair is a bound."""
        return not (self.walked or self.bounded)

    # -- implemented by each body --------------------------------------------------------------------------

    @abstractmethod
    def _zeros(self) -> Any:
        """Return a matrix of zeros, one for each pair."""

    @abstractmethod
    def _add(self, into: Any, rows: Sequence[int], columns: Sequence[int], by: Any) -> None:
        """Add numbers to a block of pairs: a matrix, or one line for every row."""

    @abstractmethod
    def add_scores(self, node: PlanNode, weight: float, left: Column, right: Column) -> None:
        """Add the scores of a column. The node's comparators score each pair of distinct values once."""

    @abstractmethod
    def _sums_of(self, nested: Nested, weight: float) -> tuple[Any, bool]:
        """Return the weighted scores of all pairs of nested arrays, and whether they are exact."""

    @abstractmethod
    def finish(self, leaf_counts: LeafCounts) -> None:
        """Compute the worth of each pair: its similarity, and a shade more for a larger Σ."""

    @abstractmethod
    def _block(self, rows: Sequence[int], columns: Sequence[int]) -> Any:
        """Return a copy of the worths of some pairs, exact or bounds; 0 where no pair is allowed."""

    @abstractmethod
    def _solve(self, block: Any) -> IndexPairs:
        """Return the pairs of the greatest total worth."""

    # -- filling -------------------------------------------------------------------------------------------

    def credit(self, rows: Sequence[int], columns: Sequence[int], by: Any) -> None:
        """Add to the scores of a block of pairs: a matrix, or one line for every row."""
        if rows and columns:
            self._add(self.score, rows, columns, by)

    def absorb(self, block: Grid, rows: Sequence[int], columns: Sequence[int]) -> None:
        """Add the sums of a block of pairs."""
        self.walked = self.walked or block.walked
        self.bounded = self.bounded or block.bounded
        self.credit(rows, columns, block.score)
        for part in block.parts:
            own = {rows[at]: array for at, array in part.rows.items()}
            other = {columns[to]: array for to, array in part.columns.items()}
            self.parts.append(part._replace(rows=own, columns=other))

    def nest(self, nested: Nested, weight: float) -> None:
        """Add nested arrays, one for each row and one for each column."""
        codes, others = nested.left.codes, nested.right.codes
        if any(codes) and any(others):
            sums, is_exact = self._sums_of(nested, weight)
            self.credit(range(self.shape[0]), range(self.shape[1]), sums)
            if nested.inner.walked:
                self.walked = True
                return
            self.bounded = self.bounded or not is_exact
            rows = {at: at for at, own in enumerate(codes) if own}
            columns = {to: to for to, own in enumerate(others) if own}
            self.parts.append(Part(nested, rows, columns, weight, None if is_exact else sums))

    def stands_at(self, rows: Sequence[int], columns: Sequence[int], measure: Measure) -> None:
        """Note which elements of the arrays these are, and what scores two elements."""
        self._rows, self._columns, self._walk = rows, columns, measure

    # -- solving -------------------------------------------------------------------------------------------

    def _set_share(self, most: float) -> None:
        """Set the share of Σ that is added to similarities, given the greatest Σ of a pair, or a bound."""
        self._share = TIE / (most or 1.0)

    def worth(self, cell: Cell) -> float:
        """Return the worth of a pair to the solver; 0 if its similarity is not above the threshold."""
        if cell.similarity <= self.aligner.threshold:
            return 0.0
        return cell.similarity + self._share * cell.score + ROUNDING - ROUNDING

    def measure(self, row: int, column: int) -> Cell:
        """Return the exact cell of a pair; while questions are open, the most that it can be."""
        cell = self._cells.get((row, column))
        if cell is not None:
            return cell
        if self.walked:
            cell = self._walk(self._rows[row], self._columns[column])
        else:
            score = float(self.score[row][column])
            for part in self.parts:
                if part.bound is not None and row in part.rows and column in part.columns:
                    at, to = part.rows[row], part.columns[column]
                    score += part.weight * part.inside.sums(at, to) - float(part.bound[at][to])
            cell = Cell(similarity_of(score, self.leaf_counts.pair(row, column)), score)
        self._cells[row, column] = cell
        return cell

    def sums(self, pairs: IndexPairs) -> float:
        """Return Σ of some pairs, none of which needs a walk."""
        if self.is_exact:
            return self._scores_of(pairs)
        return sum([self.measure(row, column).score for row, column in pairs])

    def _scores_of(self, pairs: IndexPairs) -> float:
        """Return Σ of some pairs, exact or a bound."""
        scores = self.score
        return sum([float(scores[row][column]) for row, column in pairs])

    def best(self, rows: Sequence[int], columns: Sequence[int]) -> Pairing:
        """Pair some rows with some columns for the greatest total similarity above the threshold.

        The assignment is solved on bounds, the chosen pairs are made exact, and this is repeated until all
        chosen pairs are exact. No other pairing can then be worth more.

        Args:
            rows: in an order that depends only on contents.
            columns: in such an order, too.

        Returns:
            Pairs of positions among the rows and the columns.
        """
        block = self._block(rows, columns)
        pairs = self._solve(block)
        if self.is_exact:
            return Pairing(pairs, self.sums([(rows[at], columns[to]) for at, to in pairs]))
        known: dict[tuple[int, int], Cell] = {}
        while True:
            fresh = [pair for pair in pairs if pair not in known]
            if not fresh:
                break
            for at, to in fresh:
                cell = known[at, to] = self.measure(rows[at], columns[to])
                block[at][to] = self.worth(cell)
            pairs = self._solve(block)
        score = sum([known[pair].score for pair in pairs])
        questions = [question for pair in pairs for question in known[pair].questions]
        ahead = pairs
        for _ in range(self.aligner.solutions_ahead if questions else 0):
            # Otherwise elements that only answers can distinguish would take a round each.
            for at, to in ahead:
                if known[at, to].questions:
                    block[at][to] = 0.0
            ahead = self._solve(block)
            for at, to in ahead:
                if (at, to) not in known:
                    known[at, to] = self.measure(rows[at], columns[to])
                questions += known[at, to].questions
        return Pairing(pairs, score, tuple(questions))

    def keep(self, row: int, column: int) -> None:
        """Give the aligner the pairings of the arrays inside a pair of elements."""
        for part in self.parts:
            if row in part.rows and column in part.columns:
                part.inside.keep(part.rows[row], part.columns[column])


@final
class Nested:
    """The arrays at one path in the elements of both sides, paired by contents or by key."""

    __slots__ = ("_aligner", "_node", "_sums", "inner", "left", "right")

    def __init__(self, aligner: Context, node: PlanNode, inner: Grid, sides: tuple[Flat, Flat]) -> None:
        """Take the arrays' node, and their elements."""
        self._aligner = aligner
        self._node = node
        self.inner: Grid = inner
        """All elements of expected's arrays against all of actual's."""
        self.left: Flat = sides[0]
        self.right: Flat = sides[1]
        self._sums: dict[tuple[int, int], float] = {}

    @property
    def is_keyed(self) -> bool:
        """Whether the arrays are paired by a member or by position, not by their contents."""
        return self._node.align != "unordered"

    @property
    def keys(self) -> list[list[Hashable]]:
        """The equality keys of the values of both sides: equal values share a key."""
        sides = self.left, self.right
        keys = [dict(zip(chain(*flat.codes), chain(*flat.keys))) for flat in sides]
        return [[known[at] for at in range(len(flat.values))] for known, flat in zip(keys, sides)]

    def members(self) -> list[list[JsonValue]] | None:
        """Return the member by which the values of each side pair; None if they don't, or not all of them."""
        sides = self.left, self.right
        key = key_of(self._node, *[flat.values for flat in sides])
        if key is None:
            return None
        member = self._node.children[ELEMENT].children[key]
        return [[key_value(member, value, key) for value in flat.values] for flat in sides]

    def pair(self, row: int, column: int) -> Pairing:
        """Pair two of the arrays exactly: by key, or twins first, then for the greatest total similarity."""
        codes, others = self.left.codes[row], self.right.codes[column]
        rows: list[int] = []
        columns: list[int] = []
        if not self.is_keyed:
            pairs, rows, columns = twins(self.left.keys[row], self.right.keys[column])
        else:
            arrays = self.left.arrays[row], self.right.arrays[column]
            key = key_of(self._node, *arrays)
            if key is None:
                pairs = list(zip(range(len(codes)), range(len(others))))
            else:
                pairs = pair_by_key(self._node.children[ELEMENT], key, *arrays)
        score = self.inner.sums([(codes[at], others[to]) for at, to in pairs])
        if rows and columns:
            rows, columns = _in(self.left.orders[row], rows), _in(self.right.orders[column], columns)
            best = self.inner.best([codes[at] for at in rows], [others[to] for to in columns])
            score += best.score
            pairs += [(rows[at], columns[to]) for at, to in best.pairs]
        return Pairing(sorted(pairs), score)

    def sums(self, row: int, column: int) -> float:
        """Return Σ of two of the paired arrays, computed once."""
        found = self._sums.get((row, column))
        if found is None:
            # Few of these pairs matter: they are computed again when they are kept.
            found = self._sums[row, column] = self.pair(row, column).score
        return found

    def keep(self, row: int, column: int) -> None:
        """Give the aligner the pairing of two of the arrays, and of all arrays inside their pairs."""
        left, right = self.left, self.right
        found = self.pair(row, column)
        self._aligner.keep(left.arrays[row], right.arrays[column], found)
        if self.inner.parts:
            codes, other_codes = left.codes[row], right.codes[column]
            for at, to in found.pairs:
                self.inner.keep(codes[at], other_codes[to])


def _in(order: list[int], some: list[int]) -> list[int]:
    """Return some indices in the canonical order of their array."""
    if len(some) == len(order):
        return order
    wanted = set(some)
    return [at for at in order if at in wanted]
