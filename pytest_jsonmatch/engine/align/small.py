"""The grid of a small array, in plain Python, so that ordinary suites need neither numpy nor scipy."""

from __future__ import annotations

from functools import partial
from itertools import repeat
from operator import add
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.align.column import split_by_comparator
from pytest_jsonmatch.engine.align.context import NO_LEAVES, Pairing, PairScore, compute_similarity
from pytest_jsonmatch.engine.align.grid import (
    ROUNDING,
    compute_tie_share,
    compute_worth,
    move_parts,
    pair_by_bounds,
)
from pytest_jsonmatch.engine.align.solve import assign_lists, assign_lists_in_order
from pytest_jsonmatch.engine.comparators.base import score_rows
from pytest_jsonmatch.engine.plan.valuerules import NO_THRESHOLDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_jsonmatch.engine.align.column import ScalarColumn
    from pytest_jsonmatch.engine.align.context import IndexPairs, LeafCounts, Measure, PairingContext
    from pytest_jsonmatch.engine.align.grid import Grid, GridPart, NestedArrays
    from pytest_jsonmatch.engine.comparators.base import BoundComparator
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

_FEW_SCORES: Final = 3
"""Up to this many scores are added one by one, more as complete rows: without this, 50 objects of W3 take 1.3
times as long."""


@final
class ListGrid:
    """The Σ of all pairs as lists; all pairs that need no walk are exact at once."""

    def __init__(self, aligner: PairingContext, rows: int, columns: int) -> None:
        self.aligner = aligner
        self.threshold: float = aligner.threshold
        self.shape: tuple[int, int] = rows, columns
        self.total_scores: list[list[float]] = [[0.0] * columns for _ in range(rows)]
        self.needs_walk: bool = False
        self.walk: tuple[Measure, list[int], list[int]]
        self.parts: list[GridPart] = []
        self.leaf_counts: LeafCounts
        self._worths: list[list[float]] = []
        self._share = 0.0

    @property
    def is_exact(self) -> bool:
        """Whether no pair is an upper bound."""
        return not self.needs_walk

    # -- filling -------------------------------------------------------------------------------------------

    def add_scores(self, rows: Sequence[int], columns: Sequence[int], by: Any) -> None:
        """Add a matrix to the Σ of a block of pairs, or the same numbers to each of its rows."""
        lines = by if by and type(by[0]) is list else repeat(by)
        for at, line in zip(rows, lines):
            row_scores = self.total_scores[at]
            for to, score in zip(columns, line):
                row_scores[to] += score

    def add_column(self, node: PlanNode, weight: float, left: ScalarColumn, right: ScalarColumn) -> None:
        """Add the weighted scores of a column; each pair of distinct values is scored once."""
        lines = self._score_values(node, left.values, right.values)
        accept = node.rules.accept
        if accept is not None and accept.is_for_walk:
            self.needs_walk = True
            lines = [dict.fromkeys(range(len(right.values)), 1.0)] * len(left.values)
        elif accept is not None:
            accepted_scores = {
                to: accepted
                for to, value in enumerate(right.values)
                if (accepted := accept.find_best(value).score)
            }
            lines = [
                {**line, **{to: max(accepted, line.get(to, 0.0)) for to, accepted in accepted_scores.items()}}
                for line in lines
            ]
        thresholds = node.rules.thresholds
        row_positions, column_positions = (
            left.find_positions(self.shape[0]),
            right.find_positions(self.shape[1]),
        )
        if thresholds != NO_THRESHOLDS:
            lines = [
                {to: thresholds.apply(value_score) for to, value_score in line.items()} for line in lines
            ]
        if weight != 1.0:
            lines = [{to: value_score * weight for to, value_score in line.items()} for line in lines]
        for positions, scores in zip(row_positions, lines):
            if len(scores) <= _FEW_SCORES:
                for to, score in scores.items():
                    for row in positions:
                        for column in column_positions[to]:
                            self.total_scores[row][column] += score
                continue
            # The last zero is for elements without a value, which have code -1.
            line = [0.0] * (len(right.values) + 1)
            for to, score in scores.items():
                line[to] = score
            spread = line[:-1] if right.codes is None else list(map(line.__getitem__, right.codes))
            for row in positions:
                self.total_scores[row] = list(map(add, self.total_scores[row], spread))

    def _score_values(
        self, node: PlanNode, expected: list[JsonValue], actual: list[JsonValue]
    ) -> list[dict[int, float]]:
        """Return, for each value of expected, its scores by the position of the value in actual."""
        lines: list[dict[int, float]] = [{} for _ in expected]
        for bound, rows, columns in split_by_comparator(node, expected, actual):
            if bound.table is None:
                self.needs_walk = True
            if rows is None or columns is None:
                return _score_block(bound, expected, actual)
            one, other = [expected[at] for at in rows], [actual[at] for at in columns]
            for at, scores in zip(rows, _score_block(bound, one, other)):
                lines[at].update(zip(map(columns.__getitem__, scores), scores.values()))
        return lines

    def add_block(self, block: Grid, rows: Sequence[int], columns: Sequence[int]) -> None:
        """Add the grid of some of the rows and columns."""
        self.needs_walk = self.needs_walk or block.needs_walk
        self.add_scores(rows, columns, block.total_scores)
        self.parts += move_parts(block.parts, rows, columns)

    def add_nested(self, nested: NestedArrays, weight: float) -> None:
        """Add arrays nested in the elements, one for each row and one for each column."""
        total: Callable[[int, int], float] = nested.total_score
        if nested.inner.needs_walk:
            self.needs_walk = True
            total = partial(_bound_arrays, nested)
        else:
            self.parts.append(nested.make_part(weight))
        rows, columns = map(range, self.shape)
        self.add_scores(rows, columns, [[weight * total(at, to) for to in columns] for at in rows])

    # -- solving -------------------------------------------------------------------------------------------

    def compute_worths(self, leaf_counts: LeafCounts) -> None:
        """Compute the worth of each pair: its similarity, and slightly more for a larger Σ."""
        self.leaf_counts = leaf_counts
        self._share = compute_tie_share(max(map(max, self.total_scores)) if all(self.shape) else 0.0)
        limit, share = self.threshold, self._share
        for scores, counts in zip(self.total_scores, leaf_counts.pairs(self.shape[1])):
            if min(counts, default=1.0) <= NO_LEAVES:
                similarities = list(map(compute_similarity, scores, counts))
            else:
                similarities = [
                    score / count if score < count else 1.0 for score, count in zip(scores, counts)
                ]
            self._worths.append(
                [
                    similarity + share * score + ROUNDING - ROUNDING if similarity > limit else 0.0
                    for similarity, score in zip(similarities, scores)
                ]
            )

    def get_worth(self, cell: PairScore) -> float:
        """Return the worth of a pair in the assignment."""
        return compute_worth(cell, self.threshold, self._share)

    def measure(self, row: int, column: int) -> PairScore:
        """Return the exact score of a pair, or an upper bound while questions are open."""
        if self.needs_walk:
            measure, rows, columns = self.walk
            return measure(rows[row], columns[column])
        score = self.total_scores[row][column]
        return PairScore(compute_similarity(score, self.leaf_counts.pair(row, column)), score)

    def total_score(self, pairs: IndexPairs) -> float:
        """Return the Σ of pairs that need no walk."""
        return sum([self.total_scores[row][column] for row, column in pairs])

    def select_worths(self, rows: Sequence[int], columns: Sequence[int]) -> list[list[float]]:
        """Return a copy of the worths of some pairs, exact or upper bounds; 0 for forbidden pairs."""
        return [[line[column] for column in columns] for line in [self._worths[row] for row in rows]]

    def find_best_pairs(
        self, rows: Sequence[int], columns: Sequence[int], *, in_order: bool = False
    ) -> Pairing:
        """Pair some rows with some columns for the greatest total similarity above the threshold."""
        block = self.select_worths(rows, columns)
        assign = assign_lists_in_order if in_order else _assign
        if self.is_exact:
            pairs = assign(block)
            return Pairing(pairs, self.total_score([(rows[at], columns[to]) for at, to in pairs]))
        return pair_by_bounds(self, rows, columns, block, assign, self.aligner.extra_solutions)


def _assign(block: list[list[float]]) -> IndexPairs:
    """Return the pairs with the greatest total worth."""
    return [(at, to) for at, to in enumerate(assign_lists(block)) if to >= 0 and block[at][to] > 0.0]


def _bound_arrays(nested: NestedArrays, at: int, to: int) -> float:
    """Return an upper bound of the Σ of two arrays: each element with its best partner."""
    codes, others = nested.left.codes[at], nested.right.codes[to]
    inner: Any = nested.inner
    lines = [[inner.total_scores[code][other] for other in others] for code in codes]
    by_row = sum([max(line, default=0.0) for line in lines])
    by_column = sum(map(max, zip(*lines)))
    return float(min(by_row, by_column))


def _score_block(
    bound: BoundComparator, expected: list[JsonValue], actual: list[JsonValue]
) -> list[dict[int, float]]:
    """Return the scores of all pairs of distinct values, or bounds of 1 if only the walk can score them.

    Each expected value has a dict of scores by the position of the actual value; other pairs score 0.
    """
    if bound.table is None:
        return [dict.fromkeys(range(len(actual)), 1.0)] * len(expected)
    if bound.prepare is not None:
        # The table scores 0 for strings that could not be encoded.
        return [dict(enumerate(line)) for line in bound.table(expected, actual).tolist()]
    return score_rows(bound.score, expected, actual) if bound.rows is None else bound.rows(expected, actual)
