"""The grid of a small array, in plain Python: ordinary suites need neither numpy nor scipy."""

from __future__ import annotations

from functools import partial
from itertools import repeat
from operator import add
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.align.column import blocks_of
from pytest_jsonmatch.engine.align.context import NOTHING, similarity_of
from pytest_jsonmatch.engine.align.grid import ROUNDING, Grid
from pytest_jsonmatch.engine.align.solve import assign_lists
from pytest_jsonmatch.engine.compare.base import rows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_jsonmatch.engine.align.column import Column
    from pytest_jsonmatch.engine.align.context import Context, LeafCounts
    from pytest_jsonmatch.engine.align.grid import Nested
    from pytest_jsonmatch.engine.compare.base import Bound
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

_FEW_SCORES: Final = 3
"""Up to this many scores are added one by one, more as whole rows: 50 objects of W3 take 1.3 times as long
without this."""


@final
class ListGrid(Grid):
    """The grid as lists: everything that needs no walk is exact at once."""

    def __init__(self, aligner: Context, rows: int, columns: int) -> None:
        super().__init__(aligner, rows, columns)
        self._worth: list[list[float]] = []

    # -- filling -------------------------------------------------------------------------------------------

    def _zeros(self) -> list[list[float]]:
        return [[0.0] * self.shape[1] for _ in range(self.shape[0])]

    def _add(self, into: list[list[float]], rows: Sequence[int], columns: Sequence[int], by: Any) -> None:
        lines = by if by and type(by[0]) is list else repeat(by)
        for at, line in zip(rows, lines):
            own = into[at]
            for to, more in zip(columns, line):
                own[to] += more

    def add_scores(self, node: PlanNode, weight: float, left: Column, right: Column) -> None:
        """Add the scores of a column. The node's comparators score each pair of distinct values once."""
        lines = self._lines(node, left.values, right.values)
        if node.accept is not None and node.accept.is_for_walk:
            self.walked: bool = True
            lines = [dict.fromkeys(range(len(right.values)), 1.0)] * len(left.values)
        elif node.accept is not None:
            ceilings = {
                to: most for to, value in enumerate(right.values) if (most := node.accept.ceiling(value))
            }
            lines = [
                {**line, **{to: max(most, line.get(to, 0.0)) for to, most in ceilings.items()}}
                for line in lines
            ]
        lowest = node.lowest_score
        own, others = left.places(self.shape[0]), right.places(self.shape[1])
        if lowest > 0.0:
            lines = [{to: each for to, each in line.items() if each >= lowest} for line in lines]
        if weight != 1.0:
            lines = [{to: each * weight for to, each in line.items()} for line in lines]
        for places, scores in zip(own, lines):
            if len(scores) <= _FEW_SCORES:
                for to, score in scores.items():
                    for place in places:
                        for column in others[to]:
                            self.score[place][column] += score
                continue
            # The last zero is for elements without a value, whose code is -1.
            line = [0.0] * (len(right.values) + 1)
            for to, score in scores.items():
                line[to] = score
            spread = line[:-1] if right.codes is None else list(map(line.__getitem__, right.codes))
            for place in places:
                self.score[place] = list(map(add, self.score[place], spread))

    def _lines(
        self, node: PlanNode, expected: list[JsonValue], actual: list[JsonValue]
    ) -> list[dict[int, float]]:
        """Return, for each value of expected, its scores by the position of the value of actual."""
        lines: list[dict[int, float]] = [{} for _ in expected]
        for bound, rows, columns in blocks_of(node, expected, actual):
            if bound.table is None:
                self.walked = True
            if rows is None or columns is None:
                return _scores(bound, expected, actual)
            one, other = [expected[at] for at in rows], [actual[at] for at in columns]
            for at, scores in zip(rows, _scores(bound, one, other)):
                lines[at].update(zip(map(columns.__getitem__, scores), scores.values()))
        return lines

    def _sums_of(self, nested: Nested, weight: float) -> tuple[list[list[float]], bool]:
        walked = nested.inner.walked
        sums_of: Callable[[int, int], float] = partial(_bound_of, nested) if walked else nested.sums
        sums = [[weight * sums_of(at, to) for to in range(self.shape[1])] for at in range(self.shape[0])]
        return sums, not walked

    # -- solving -------------------------------------------------------------------------------------------

    def finish(self, leaf_counts: LeafCounts) -> None:
        """Compute the worth of each pair: its similarity, and a shade more for a larger Σ."""
        self.leaf_counts = leaf_counts
        self._set_share(max(map(max, self.score)) if self.shape[0] and self.shape[1] else 0.0)
        limit, share = self.aligner.threshold, self._share
        for scores, counts in zip(self.score, leaf_counts.pairs(self.shape[1])):
            if min(counts, default=1.0) <= NOTHING:
                similarities = list(map(similarity_of, scores, counts))
            else:
                similarities = [
                    score / count if score < count else 1.0 for score, count in zip(scores, counts)
                ]
            self._worth.append(
                [
                    similarity + share * score + ROUNDING - ROUNDING if similarity > limit else 0.0
                    for similarity, score in zip(similarities, scores)
                ]
            )

    def _block(self, rows: Sequence[int], columns: Sequence[int]) -> list[list[float]]:
        return [[line[column] for column in columns] for line in [self._worth[row] for row in rows]]

    def _solve(self, block: list[list[float]]) -> list[tuple[int, int]]:
        return [(at, to) for at, to in enumerate(assign_lists(block)) if to >= 0 and block[at][to] > 0.0]


def _bound_of(nested: Nested, at: int, to: int) -> float:
    """Return the most that two arrays can score, each element with its best partner."""
    codes, others = nested.left.codes[at], nested.right.codes[to]
    lines = [[nested.inner.score[code][other] for other in others] for code in codes]
    by_row = sum([max(line, default=0.0) for line in lines])
    by_column = sum(map(max, zip(*lines)))
    return float(min(by_row, by_column))


def _scores(bound: Bound, expected: list[JsonValue], actual: list[JsonValue]) -> list[dict[int, float]]:
    """Return the scores of all pairs of distinct values, or bounds of 1 if only the walk can score them.

    Each expected value has a dict of scores by the position of the actual value; other pairs score 0.
    """
    if bound.table is None:
        return [dict.fromkeys(range(len(actual)), 1.0)] * len(expected)
    if bound.prepare is not None:
        # The table has scores of 0 for strings that could not be encoded.
        return [dict(enumerate(line)) for line in bound.table(expected, actual).tolist()]
    return rows_of(bound.score, expected, actual) if bound.rows is None else bound.rows(expected, actual)
