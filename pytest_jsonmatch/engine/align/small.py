"""The grid of a small array, in plain Python: ordinary suites need neither numpy nor scipy."""

from __future__ import annotations

from operator import add
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.align.column import blocks_of
from pytest_jsonmatch.engine.align.context import NOTHING
from pytest_jsonmatch.engine.align.grid import ROUNDING, TIE, Grid, Part
from pytest_jsonmatch.engine.align.solve import assign_lists

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_jsonmatch.engine.align.column import Column
    from pytest_jsonmatch.engine.align.context import Cell, Context
    from pytest_jsonmatch.engine.align.nested import Nested
    from pytest_jsonmatch.engine.compare.base import Bound
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

_FEW_SCORES: Final = 3
"""So few scores are added one by one; more as whole rows."""


@final
class ListGrid(Grid):
    """The grid as lists: everything but what only the walk can score is exact at once."""

    __slots__ = ("_less_actual", "_less_expected", "_worth")

    def __init__(self, aligner: Context, rows: int, columns: int) -> None:
        super().__init__(aligner, rows, columns)
        self.score: list[list[float]] = [[0.0] * columns for _ in range(rows)]
        self.expected: list[float] = [0.0] * rows
        self.actual: list[float] = [0.0] * columns
        self._less_expected: list[list[float]] | None = None
        self._less_actual: list[list[float]] | None = None
        self._worth: list[list[float]] = []

    @classmethod
    def fits(cls, aligner: Context, rows: int, columns: int) -> bool:  # noqa: ARG003 - counted beforehand
        """Tell whether a grid of this size fits the memory limit."""
        return True

    @property
    def is_corrected(self) -> bool:
        """Whether some pairs have fewer leaves than their elements."""
        return self._less_expected is not None or self._less_actual is not None

    # -- filling -------------------------------------------------------------------------------------------

    def add_scores(self, node: PlanNode, weight: float, left: Column, right: Column) -> None:
        """Add what the comparators at a node say of a column: each pair of distinct values is scored once."""
        # For each value of the left its scores, by the position of the right one.
        lines: list[dict[int, float]] = [{} for _ in left.values]
        for bound, rows, columns in blocks_of(node, left.values, right.values):
            if bound.table is None:
                self.walked = True
            if rows is None or columns is None:
                lines = _scores(bound, left.values, right.values)
                continue
            one, other = [left.values[at] for at in rows], [right.values[at] for at in columns]
            for at, scores in zip(rows, _scores(bound, one, other)):
                lines[at].update(zip(map(columns.__getitem__, scores), scores.values()))
        if node.acceptance is not None:
            ceilings = {
                to: most for to, value in enumerate(right.values) if (most := node.acceptance.ceiling(value))
            }
            lines = [
                {**line, **{to: max(most, line.get(to, 0.0)) for to, most in ceilings.items()}}
                for line in lines
            ]
        limit = self.aligner.plan.options.leaf_threshold
        own, others = left.places(len(self.expected)), right.places(len(self.actual))
        if limit is not None:
            lines = [{to: each for to, each in line.items() if each > limit or each == 1.0} for line in lines]
        if weight != 1.0:
            lines = [{to: each * weight for to, each in line.items()} for line in lines]
        for places, scores in zip(own, lines):
            if len(scores) <= _FEW_SCORES:
                for to, score in scores.items():
                    for place in places:
                        into = self.score[place]
                        for column in others[to]:
                            into[column] += score
                continue
            # (The code of an element without a value, -1, is a last zero.)
            line = [0.0] * (len(right.values) + 1)
            for to, score in scores.items():
                line[to] = score
            spread = line[:-1] if right.codes is None else list(map(line.__getitem__, right.codes))
            for place in places:
                self.score[place] = list(map(add, self.score[place], spread))

    def count(self, weight: float, left: Column, right: Column) -> None:
        """Count a leaf for every element that has a value."""
        for own, column in ((self.expected, left), (self.actual, right)):
            if column.codes is None:
                own[:] = [leaves + weight for leaves in own]
            else:
                own[:] = [leaves + weight * (code >= 0) for leaves, code in zip(own, column.codes)]

    def count_some(self, weight: float, places: Sequence[int], *, of_expected: bool) -> None:
        """Count a leaf for some elements of one side."""
        own = self.expected if of_expected else self.actual
        for at in places:
            own[at] += weight

    def add_everywhere(self, score: float, rows: Sequence[int], columns: Sequence[int]) -> None:
        """Add to the Σ of a block of pairs."""
        for at in rows:
            line = self.score[at]
            for to in columns:
                line[to] += score

    def lower_expected(self, rows: Sequence[int], columns: Sequence[int], by: float) -> None:
        """Take leaves off expected's count in a block of pairs."""
        if rows and columns:
            self._less_expected = self._less_expected or [[0.0] * len(self.actual) for _ in self.expected]
            for at in rows:
                line = self._less_expected[at]
                for to in columns:
                    line[to] += by

    def lower_actual(self, rows: Sequence[int], columns: Sequence[int], by: Sequence[float]) -> None:
        """Take leaves off actual's count in a block of pairs, a number for each column."""
        if rows and columns:
            self._less_actual = self._less_actual or [[0.0] * len(self.actual) for _ in self.expected]
            for at in rows:
                line = self._less_actual[at]
                for to, less in zip(columns, by):
                    line[to] += less

    def absorb(self, block: ListGrid, rows: Sequence[int], columns: Sequence[int]) -> None:
        """Add the sums of a block of pairs."""
        self.walked = self.walked or block.walked
        self.unknown = self.unknown or block.unknown
        for at, own, leaves in zip(rows, block.score, block.expected):
            line = self.score[at]
            for to, score in zip(columns, own):
                line[to] += score
            self.expected[at] += leaves
        for to, leaves in zip(columns, block.actual):
            self.actual[to] += leaves
        if block._less_expected is not None:
            for at, line in zip(rows, block._less_expected):
                for to, by in zip(columns, line):
                    self.lower_expected([at], [to], by)
        if block._less_actual is not None:
            for at, line in zip(rows, block._less_actual):
                self.lower_actual([at], columns, line)
        for part in block.parts:
            mine, other = [-1] * len(self.expected), [-1] * len(self.actual)
            for at, array in zip(rows, part.rows):
                mine[at] = array
            for to, array in zip(columns, part.columns):
                other[to] = array
            self.parts.append(part._replace(rows=mine, columns=other))

    def nest(self, nested: Nested, weight: float) -> None:
        """Add the unordered arrays of a block, every pair of them paired at once."""
        inner, codes, others = nested.inner, nested.left.codes, nested.right.codes
        expected = [weight * sum([inner.expected[code] for code in own]) for own in codes]
        actual = [weight * sum([inner.actual[code] for code in own]) for own in others]
        self.walked = self.walked or inner.walked
        for at, line in enumerate(self.score):
            for to in range(len(line)):
                if inner.walked:
                    line[to] += min(expected[at], actual[to])
                elif codes[at] and others[to]:
                    line[to] += weight * nested.score(at, to)
        self.expected = [own + leaves for own, leaves in zip(self.expected, expected)]
        self.actual = [own + leaves for own, leaves in zip(self.actual, actual)]
        if not inner.walked:
            rows = [at if own else -1 for at, own in enumerate(codes)]
            columns = [to if own else -1 for to, own in enumerate(others)]
            self.parts.append(Part(nested, rows, columns, weight))

    # -- solving -------------------------------------------------------------------------------------------

    def whole(self, row: int, column: int) -> float:
        """Return what a pair's Σ is divided by."""
        whole = self.expected[row]
        if self._less_expected is not None:
            whole -= self._less_expected[row][column]
        if not self.aligner.as_f1:
            return whole
        whole += self.actual[column]
        if self._less_actual is not None:
            whole -= self._less_actual[row][column]
        return whole * 0.5

    def finish(self) -> None:
        """Work out what pairs are worth: their similarity, and a shade more for the larger Σ."""
        as_f1 = self.aligner.as_f1
        if self.unknown:
            self._worth = [[1.0 + TIE] * len(self.actual) for _ in self.expected]
        most = max(map(max, self.score)) if self.expected and self.actual else 0.0
        self._set_share(most)
        limit, share = self.aligner.threshold, self._share
        half = [leaves * 0.5 if as_f1 else 0.0 for leaves in self.actual]
        for at, line in enumerate([] if self.unknown else self.score):
            own = self.expected[at] * (0.5 if as_f1 else 1.0)
            if self.is_corrected or own <= NOTHING:
                wholes = [self.whole(at, to) for to in range(len(line))]
            else:
                wholes = [own + other for other in half]
            worth = [
                (score / whole if score < whole else 1.0) + share * score + ROUNDING - ROUNDING
                if score > limit * whole > 0.0
                else 0.0
                for score, whole in zip(line, wholes)
            ]
            if min(wholes, default=1.0) <= NOTHING:
                worth = [
                    float(limit < 1.0) if whole <= NOTHING else value for whole, value in zip(wholes, worth)
                ]
            self._worth.append(worth)

    def _block(self, rows: Sequence[int], columns: Sequence[int]) -> list[list[float]]:
        return [[line[column] for column in columns] for line in [self._worth[row] for row in rows]]

    def _solve(self, block: list[list[float]]) -> list[tuple[int, int]]:
        return [(at, to) for at, to in enumerate(assign_lists(block)) if to >= 0 and block[at][to] > 0.0]

    def _put(self, block: list[list[float]], pair: tuple[int, int], worth: float) -> None:
        block[pair[0]][pair[1]] = worth

    def _promising(
        self,
        block: list[list[float]],  # noqa: ARG002 - a walk is costly: only chosen pairs are measured
        known: dict[tuple[int, int], Cell],  # noqa: ARG002
    ) -> list[tuple[int, int]]:
        return []


def _scores(bound: Bound, expected: list[JsonValue], actual: list[JsonValue]) -> list[dict[int, float]]:
    """Return the scores of all pairs of distinct values; where only the walk can score them, bounds of 1.

    For each expected value they come by the position of the actual one; the others score 0.
    """
    if bound.table is None:
        return [dict.fromkeys(range(len(actual)), 1.0)] * len(expected)
    if bound.preload is not None:
        # (Strings that could not be encoded score 0 in the table.)
        return [dict(enumerate(line)) for line in bound.table(expected, actual).tolist()]
    if bound.rows is not None:
        return bound.rows(expected, actual)
    score: Any = bound.score
    return [{to: score(one, other) for to, other in enumerate(actual)} for one in expected]
