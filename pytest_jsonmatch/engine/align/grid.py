"""All elements of one array against all of another: bounds first, exact when chosen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from pytest_jsonmatch.engine.align.column import distinct_values
from pytest_jsonmatch.engine.align.context import Cell, Pairing, Source, run, similarity_of
from pytest_jsonmatch.engine.align.keys import twins
from pytest_jsonmatch.engine.plan.leaves import leaves_of

if TYPE_CHECKING:
    from collections.abc import Generator, Hashable, Sequence

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
class Part(NamedTuple):
    """Unordered arrays inside the elements of a grid."""

    nested: Nested
    rows: dict[int, int]
    """Which of the arrays is that of a row of the grid; without rows that have none, or an empty one."""
    columns: dict[int, int]
    weight: float
    bound: Any
    """(arrays, arrays) what was added to the grid's Σ as a bound; None: what was added is exact."""


class Grid(ABC):
    """Σ of all pairs of values at one node, and the weighted leaves of each side; columns fill it.

    A pair is exact at once, or a bound until it is chosen: because of arrays inside it (`parts`), or because
    only the walk can score it (`walked`), maybe without any bound (`unknown`).
    """

    def __init__(self, aligner: Context, rows: int, columns: int) -> None:
        self.aligner = aligner
        self.expected = [0.0] * rows
        """The weighted leaves of each element of expected."""
        self.actual = [0.0] * columns
        """The same of actual."""
        self.score: Any = self._zeros()
        """(n, m) Σ weight·score of the pairs, exact or bounds."""
        self.less: Any = None
        """(n, m) how many leaves a pair has less than its elements; None: no pair has."""
        self.walked = False
        """Whether only the walk can score the pairs."""
        self.unknown = False
        """Whether there are no bounds either."""
        self.bounded = False
        """Whether one of the parts is a bound."""
        self.parts: list[Part] = []
        self._share = 0.0
        self._element: Any = None
        self._trail: Any = None
        self._sides: tuple[Side, Side] = (([], []), ([], []))
        self._cells: dict[tuple[int, int], Cell] = {}

    @property
    def is_exact(self) -> bool:
        """Whether no pair is a bound."""
        return not (self.walked or self.bounded)

    # -- what a body has -----------------------------------------------------------------------------------

    @abstractmethod
    def _zeros(self) -> Any:
        """Return a number 0 for each pair."""

    @abstractmethod
    def _add(self, into: Any, rows: Sequence[int], columns: Sequence[int], by: Any) -> None:
        """Add to a block of pairs: numbers for each row, or one line of numbers for every row."""

    @abstractmethod
    def add_scores(self, node: PlanNode, weight: float, left: Column, right: Column) -> None:
        """Add what the comparators at a node say of a column: each pair of distinct values is scored once."""

    @abstractmethod
    def _add_nested(self, nested: Nested, weight: float, most: tuple[list[float], list[float]]) -> Any:
        """Add Σ of all pairs of nested arrays, given the leaves of each; return what is a bound, or None."""

    @abstractmethod
    def finish(self) -> None:
        """Work out what pairs are worth: their similarity, and a shade more for the larger Σ."""

    @abstractmethod
    def _block(self, rows: Sequence[int], columns: Sequence[int]) -> Any:
        """Return a copy of what some pairs are worth, exactly or as a bound; 0 where there can be no pair."""

    @abstractmethod
    def _solve(self, block: Any) -> Pairs:
        """Return the pairs of the greatest total worth."""

    def _promising(self, block: Any, known: dict[tuple[int, int], Cell]) -> Pairs:  # noqa: ARG002 - of a body
        """Return pairs to make exact beside those that were chosen: none, where a walk is costly."""
        return []

    # -- filling -------------------------------------------------------------------------------------------

    def know_nothing(self) -> None:
        """Leave every pair to the walk, without any bound."""
        self.unknown = self.walked = True

    def count(self, weight: float, left: Column, right: Column) -> None:
        """Count a leaf for every element that has a value."""
        for own, column in ((self.expected, left), (self.actual, right)):
            if column.codes is not None and -1 in column.codes:
                own[:] = [leaves + weight if code >= 0 else leaves for leaves, code in zip(own, column.codes)]
            else:
                own[:] = [leaves + weight for leaves in own]

    def count_empty(self, weight: float, rows: Sequence[int], columns: Sequence[int]) -> None:
        """Count a leaf for some elements of both sides, that match each other."""
        for at in rows:
            self.expected[at] += weight
        for to in columns:
            self.actual[to] += weight
        self._add(self.score, rows, columns, [weight] * len(columns))

    def lower(self, rows: Sequence[int], columns: Sequence[int], by: Sequence[float]) -> None:
        """Take leaves off those of a block of pairs, a number for each column."""
        if rows and columns:
            if self.less is None:
                self.less = self._zeros()
            self._add(self.less, rows, columns, by)

    def absorb(self, block: Grid, rows: Sequence[int], columns: Sequence[int]) -> None:
        """Add the sums of a block of pairs."""
        self.walked = self.walked or block.walked
        self.unknown = self.unknown or block.unknown
        self.bounded = self.bounded or block.bounded
        for at, leaves in zip(rows, block.expected):
            self.expected[at] += leaves
        for to, leaves in zip(columns, block.actual):
            self.actual[to] += leaves
        self._add(self.score, rows, columns, block.score)
        if block.less is not None:
            if self.less is None:
                self.less = self._zeros()
            self._add(self.less, rows, columns, block.less)
        for part in block.parts:
            own = {rows[at]: array for at, array in part.rows.items()}
            other = {columns[to]: array for to, array in part.columns.items()}
            self.parts.append(part._replace(rows=own, columns=other))

    def nest(self, nested: Nested, weight: float) -> None:
        """Add the unordered arrays of a block, one for each row and column."""
        inner, codes, others = nested.inner, nested.left.codes, nested.right.codes
        expected = [weight * sum([inner.expected[code] for code in own]) for own in codes]
        actual = [weight * sum([inner.actual[code] for code in own]) for own in others]
        self.expected = [leaves + more for leaves, more in zip(self.expected, expected)]
        self.actual = [leaves + more for leaves, more in zip(self.actual, actual)]
        if any(codes) and any(others):
            bound = self._add_nested(nested, weight, (expected, actual))
            if inner.walked:
                self.walked = True
                return
            self.bounded = self.bounded or bound is not None
            rows = {at: at for at, own in enumerate(codes) if own}
            columns = {to: to for to, own in enumerate(others) if own}
            self.parts.append(Part(nested, rows, columns, weight, bound))

    def stands_at(self, element: PlanNode, trail: Any, expected: Side, actual: Side) -> None:
        """Tell where the elements stand, for the walk."""
        self._element, self._trail, self._sides = element, trail, (expected, actual)

    # -- solving -------------------------------------------------------------------------------------------

    def whole(self, row: int, column: int) -> float:
        """Return what a pair's Σ is divided by."""
        whole = self.expected[row]
        if self.aligner.as_f1:
            whole += self.actual[column]
        if self.less is not None:
            whole -= float(self.less[row][column])
        return whole * 0.5 if self.aligner.as_f1 else whole

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
                if part.bound is not None and row in part.rows and column in part.columns:
                    at, to = part.rows[row], part.columns[column]
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

    def best(self, rows: Sequence[int], columns: Sequence[int]) -> Generator[Any, Any, Pairing]:
        """Pair some rows with some columns for the greatest total similarity above the threshold.

        The assignment is solved on bounds, the pairs that it chooses are made exact, and so on until all that
        are chosen are exact: no other pairing can then be worth more.

        Args:
            rows: in an order that depends on contents only.
            columns: likewise.

        Returns:
            Pairs of positions among the rows and the columns.
        """
        block = self._block(rows, columns)
        pairs = self._solve(block)
        if self.is_exact:
            return Pairing(pairs, self.sum_of([(rows[at], columns[to]) for at, to in pairs]))
        known: dict[tuple[int, int], Cell] = {}
        while True:
            fresh = [pair for pair in pairs if pair not in known]
            if not fresh:
                break
            for at, to in (*fresh, *self._promising(block, known)):
                if (at, to) not in known:
                    cell = known[at, to] = yield from self.measure(rows[at], columns[to])
                    block[at][to] = self.worth(cell)
            pairs = self._solve(block)
        score = sum([known[pair].score for pair in pairs])
        questions = [question for pair in pairs for question in known[pair].questions]
        ahead = pairs
        for _ in range(self.aligner.solutions_ahead if questions else 0):
            # Otherwise elements that only answers tell apart would take a round each.
            for at, to in ahead:
                if known[at, to].questions:
                    block[at][to] = 0.0
            ahead = self._solve(block)
            for at, to in ahead:
                if (at, to) not in known:
                    known[at, to] = yield from self.measure(rows[at], columns[to])
                questions += known[at, to].questions
        return Pairing(pairs, score, tuple(questions))

    def keep(self, row: int, column: int) -> None:
        """Tell the aligner how the arrays inside a pair of elements pair."""
        for part in self.parts:
            if row in part.rows and column in part.columns:
                part.nested.keep(part.rows[row], part.columns[column])


@final
class Flat(NamedTuple):
    """The elements of all arrays of one side."""

    arrays: Sequence[list[JsonValue]]
    orders: list[list[int]]
    """For each array the indices of its elements in canonical order."""
    codes: list[list[int]]
    """For each array the numbers of its elements' values."""
    keys: list[list[Hashable]]
    """For each array what its elements share with equal ones."""
    values: list[JsonValue]
    """The distinct values; containers are each one of their own."""


def flatten(
    aligner: Context, element: PlanNode, sides: tuple[Sequence[list[JsonValue]], ...]
) -> tuple[Flat, Flat]:
    """Return the elements of the arrays of both sides."""
    canon = aligner.canon
    elements = [[item for array in arrays for item in array] for arrays in sides]
    keys = canon.keys(element, *elements)
    alike = {dict, list}.isdisjoint({type(item) for items in elements for item in items})
    flat: list[Flat] = []
    for arrays, items, own in zip(sides, elements, keys):
        orders, codes, kept = [], [], []
        values: list[JsonValue]
        values, numbers = distinct_values(items) if alike else (items, None)
        start = 0
        for array in arrays:
            end = start + len(array)
            orders.append(canon.order(element, array, list(range(len(array)))))
            codes.append(list(range(start, end)) if numbers is None else numbers[start:end])
            kept.append(own[start:end])
            start = end
        flat.append(Flat(arrays, orders, codes, kept, values))
    return flat[0], flat[1]


@final
class Nested:
    """The unordered arrays at one place in the elements of both sides."""

    __slots__ = ("_aligner", "_scores", "inner", "left", "right")

    def __init__(self, aligner: Context, inner: Grid, left: Flat, right: Flat) -> None:
        self._aligner = aligner
        self.inner = inner
        """All elements of expected's arrays against all of actual's."""
        self.left = left
        self.right = right
        self._scores: dict[tuple[int, int], float] = {}

    def pair(self, row: int, column: int) -> Pairing:
        """Pair two of the arrays, exactly: twins, then the greatest total similarity."""
        codes, others = self.left.codes[row], self.right.codes[column]
        pairs, rows, columns = twins(self.left.keys[row], self.right.keys[column])
        score = self.inner.sum_of([(codes[at], others[to]) for at, to in pairs])
        if rows and columns:
            rows, columns = _in(self.left.orders[row], rows), _in(self.right.orders[column], columns)
            best = run(self.inner.best([codes[at] for at in rows], [others[to] for to in columns]))
            score += best.score
            pairs += [(rows[at], columns[to]) for at, to in best.pairs]
        return Pairing(sorted(pairs), score)

    def score(self, row: int, column: int) -> float:
        """Return Σ of two of the arrays, paired; it is worked out once."""
        score = self._scores.get((row, column))
        if score is None:
            # (The pairs are few that matter: they are made again when they are kept.)
            score = self._scores[row, column] = self.pair(row, column).score
        return score

    def keep(self, row: int, column: int) -> None:
        """Tell the aligner how two of the arrays pair, and all arrays inside their pairs."""
        left, right = self.left, self.right
        found = self.pair(row, column)
        self._aligner.keep(left.arrays[row], right.arrays[column], found)
        if self.inner.parts:
            codes, other_codes = left.codes[row], right.codes[column]
            for at, to in found.pairs:
                self.inner.keep(codes[at], other_codes[to])


def _in(order: list[int], some: list[int]) -> list[int]:
    """Return some indices of an array in its canonical order."""
    if len(some) == len(order):
        return order
    wanted = set(some)
    return [at for at in order if at in wanted]
