"""All elements of one array against all of another: bounds first, exact when chosen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, final

from pytest_jsonmatch.engine.align.context import Cell, Source, run, similarity_of
from pytest_jsonmatch.engine.plan.leaves import leaves_of

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from pytest_jsonmatch.engine.align.column import Column
    from pytest_jsonmatch.engine.align.context import Context, Pairs, Side
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

ROUNDING: Final = 3 * 2.0**6
"""Added and subtracted again, it rounds a worth to a multiple of 2^-45: then sums of worths are exact, in
whatever order they are made."""
TIE: Final = 2.0**-31
"""What the larger Σ adds to what a pair is worth, at most: sums within 1e-9 a pair are tied."""


@final
class Best(NamedTuple):
    """The pairs of greatest total similarity."""

    pairs: Pairs
    """Positions among the rows and among the columns that were given."""
    score: float
    """Σ of the pairs."""
    questions: tuple[Any, ...] = ()
    """What batch comparators have still to answer before the pairs are sure."""


class BlockSolver(Protocol):
    """The unordered arrays at one place in the elements of both sides (`nested.Nested`)."""

    def score(self, row: int, column: int) -> float:
        """Return Σ of two of the arrays, paired."""

    def keep(self, row: int, column: int) -> None:
        """Keep how two of the arrays pair, and all arrays inside their pairs."""


@final
class Part(NamedTuple):
    """Unordered arrays inside the elements of a grid."""

    nested: BlockSolver
    rows: Any
    """For each row of the grid, which of the arrays is its own; -1: it has none, or an empty one."""
    columns: Any
    weight: float
    bound: Any = None
    """(arrays, arrays) what was added to the grid's Σ as a bound; None: what was added is exact."""


class BaseGrid(ABC):
    """Σ of all pairs of values at one node, and the weighted leaves of each side."""

    __slots__ = ("actual", "aligner", "bounded", "expected", "parts", "unknown", "walked")

    def __init__(self, aligner: Context) -> None:
        self.aligner = aligner
        self.expected: Any
        """(n,) the weighted leaves of each element of expected."""
        self.actual: Any
        """(m,) the same of actual."""
        self.walked = False
        """Whether only the walk can score the pairs."""
        self.unknown = False
        """Whether there are no bounds either."""
        self.bounded = False
        """Whether one of the parts is a bound."""
        self.parts: list[Part] = []

    @property
    def is_exact(self) -> bool:
        """Whether no pair is a bound."""
        return not (self.walked or self.bounded)

    @property
    @abstractmethod
    def is_corrected(self) -> bool:
        """Whether some pairs have fewer leaves than their elements."""

    @abstractmethod
    def finish(self) -> None:
        """Work out what pairs are worth: their similarity, and a shade more for the larger Σ."""

    @abstractmethod
    def sum_of(self, pairs: Pairs) -> float:
        """Return Σ of some pairs, of which none takes a walk."""

    @abstractmethod
    def _block(self, rows: Sequence[int], columns: Sequence[int]) -> Any:
        """Return a copy of what some pairs are worth, exactly or as a bound; 0 where there can be no pair."""

    @abstractmethod
    def _solve(self, block: Any) -> Pairs:
        """Return the pairs of the greatest total worth."""

    def best(self, rows: Sequence[int], columns: Sequence[int]) -> Generator[Any, Any, Best]:
        """Pair some rows with some columns for the greatest total similarity above the threshold.

        Args:
            rows: in an order that depends on contents only.
            columns: likewise.
        """
        yield from ()
        pairs = self._solve(self._block(rows, columns))
        return Best(pairs, self.sum_of([(rows[at], columns[to]) for at, to in pairs]))

    def keep(self, row: int, column: int) -> None:
        """Tell the aligner how the arrays inside a pair of elements pair."""
        for part in self.parts:
            at, to = part.rows[row], part.columns[column]
            if at >= 0 and to >= 0:
                part.nested.keep(at, to)


class Grid(BaseGrid):
    """A grid that columns fill.

    A pair is exact at once, or a bound until it is chosen: because of arrays inside it (`parts`), or because
    only the walk can score it (`walked`), maybe without any bound (`unknown`).
    """

    __slots__ = ("_cells", "_element", "_share", "_sides", "_trail", "score")

    def __init__(self, aligner: Context, rows: int, columns: int) -> None:  # noqa: ARG002 - of the bodies
        super().__init__(aligner)
        self.score: Any
        """(n, m) Σ weight·score of the pairs, exact or bounds."""
        self._share = 0.0
        self._element: Any = None
        self._trail: Any = None
        self._sides: tuple[Side, Side] = (([], []), ([], []))
        self._cells: dict[tuple[int, int], Cell] = {}

    # -- what a body has -----------------------------------------------------------------------------------

    @classmethod
    @abstractmethod
    def fits(cls, aligner: Context, rows: int, columns: int) -> bool:
        """Tell whether a grid of this size fits the memory limit."""

    @classmethod
    def of_many(
        cls,
        aligner: Context,  # noqa: ARG003 - of a body
        element: PlanNode,  # noqa: ARG003
        expected: Sequence[JsonValue],  # noqa: ARG003
        actual: Sequence[JsonValue],  # noqa: ARG003
    ) -> BaseGrid | None:
        """Return the grid of so many scalars that most pairs should take no memory; or None."""
        return None

    @abstractmethod
    def add_scores(self, node: PlanNode, weight: float, left: Column, right: Column) -> None:
        """Add what the comparators at a node say of a column: each pair of distinct values is scored once."""

    @abstractmethod
    def count(self, weight: float, left: Column, right: Column) -> None:
        """Count a leaf for every element that has a value."""

    @abstractmethod
    def count_some(self, weight: float, places: Sequence[int], *, of_expected: bool) -> None:
        """Count a leaf for some elements of one side."""

    @abstractmethod
    def add_everywhere(self, score: float, rows: Sequence[int], columns: Sequence[int]) -> None:
        """Add to the Σ of a block of pairs."""

    @abstractmethod
    def lower_expected(self, rows: Sequence[int], columns: Sequence[int], by: float) -> None:
        """Take leaves off expected's count in a block of pairs."""

    @abstractmethod
    def lower_actual(self, rows: Sequence[int], columns: Sequence[int], by: Sequence[float]) -> None:
        """Take leaves off actual's count in a block of pairs, a number for each column."""

    @abstractmethod
    def absorb(self, block: Any, rows: Sequence[int], columns: Sequence[int]) -> None:
        """Add the sums of a block of pairs."""

    @abstractmethod
    def nest(self, nested: Any, weight: float) -> None:
        """Add the unordered arrays of a block, one for each row and column."""

    @abstractmethod
    def whole(self, row: int, column: int) -> float:
        """Return what a pair's Σ is divided by."""

    @abstractmethod
    def _put(self, block: Any, pair: tuple[int, int], worth: float) -> None:
        """Set what a pair is worth in a block."""

    @abstractmethod
    def _promising(self, block: Any, known: dict[tuple[int, int], Cell]) -> Pairs:
        """Return pairs to make exact beside those that were chosen."""

    # -- solving -------------------------------------------------------------------------------------------

    def know_nothing(self) -> None:
        """Leave every pair to the walk, without any bound."""
        self.unknown = self.walked = True

    def stands_at(self, element: PlanNode, trail: Any, expected: Side, actual: Side) -> None:
        """Tell where the elements stand, for the walk."""
        self._element, self._trail, self._sides = element, trail, (expected, actual)

    def _set_share(self, most: float) -> None:
        """Set what Σ adds to a pair's similarity, given the greatest Σ of all pairs, or a bound of it."""
        if self.unknown:
            # Without any Σ: none is greater than the weighted leaves of expected's element.
            array, places = self._sides[0]
            elements = [value for at in places if type(value := array[at]) in {dict, list}]
            nodes = [self._element.chosen(value, value) for value in elements]
            leaves = [leaves_of(*place, self.aligner.leaves) for place in zip(nodes, elements)]
            most = max([1.0, *(each.weight for each in leaves)])
        self._share = TIE / (most or 1.0)

    def worth(self, cell: Cell) -> float:
        """Return what a pair is worth to the solver; 0: its similarity is not above the threshold."""
        if cell.similarity <= self.aligner.threshold:
            return 0.0
        return cell.similarity + self._share * cell.score + ROUNDING - ROUNDING

    def measure(self, row: int, column: int) -> Generator[Any, Any, Cell]:
        """Return a pair exactly; with questions open, the most that it can be worth."""
        cell = self._cells.get((row, column))
        if cell is not None:
            return cell
        if self.walked:
            (expected, rows), (actual, columns) = self._sides
            sources = Source(expected, rows[row]), Source(actual, columns[column])
            cell = yield self.aligner.measure(self._element, self._trail, *sources)
        else:
            score = float(self.score[row][column])
            for part in self.parts:
                at, to = part.rows[row], part.columns[column]
                if part.bound is not None and at >= 0 and to >= 0:
                    score += part.weight * part.nested.score(at, to) - float(part.bound[at][to])
            cell = Cell(similarity_of(score, self.whole(row, column)), score)
        self._cells[row, column] = cell
        return cell

    def sum_of(self, pairs: Pairs) -> float:
        """Return Σ of some pairs, of which none takes a walk."""
        if self.is_exact:
            scores = self.score
            return sum([float(scores[row][column]) for row, column in pairs])
        cells: list[Cell] = [run(self.measure(row, column)) for row, column in pairs]
        return float(sum([cell.score for cell in cells]))

    def best(self, rows: Sequence[int], columns: Sequence[int]) -> Generator[Any, Any, Best]:
        """Pair some rows with some columns for the greatest total similarity above the threshold.

        The assignment is solved on bounds, the pairs that it chooses are made exact, and so on until all that
        are chosen are exact: no other pairing can then be worth more.

        Args:
            rows: in an order that depends on contents only.
            columns: likewise.
        """
        if self.is_exact:
            return (yield from super().best(rows, columns))
        block = self._block(rows, columns)
        pairs = self._solve(block)
        known: dict[tuple[int, int], Cell] = {}
        while True:
            fresh = [pair for pair in pairs if pair not in known]
            if not fresh:
                break
            for pair in (*fresh, *self._promising(block, known)):
                if pair not in known:
                    cell = known[pair] = yield from self.measure(rows[pair[0]], columns[pair[1]])
                    self._put(block, pair, self.worth(cell))
            pairs = self._solve(block)
        score = sum([known[pair].score for pair in pairs])
        questions = [question for pair in pairs for question in known[pair].questions]
        ahead = pairs
        for _ in range(self.aligner.solutions_ahead if questions else 0):
            # Otherwise elements that only answers tell apart would take a round each.
            for pair in ahead:
                if known[pair].questions:
                    self._put(block, pair, 0.0)
            ahead = self._solve(block)
            for pair in ahead:
                if pair not in known:
                    known[pair] = yield from self.measure(rows[pair[0]], columns[pair[1]])
                questions += known[pair].questions
        return Best(pairs, score, tuple(questions))
