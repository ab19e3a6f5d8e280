"""Find out how sure a pairing is: the alternatives to each pair, and what they would cost.

Reports need this, scoring does not. Similarities are bounds at first, and made exact only where they may be
second best or come within the tolerance. Whether a pair is ambiguous depends on the whole array: the cheapest
way to another pairing is a path of exchanges, priced by the optimum's dual prices.

Import this module late: it imports numpy.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias, final

import numpy as np

from pytest_jsonmatch.engine.align.arrays import Aligner
from pytest_jsonmatch.engine.align.audited import Partner
from pytest_jsonmatch.engine.align.columns import Columns
from pytest_jsonmatch.engine.align.large import ArrayGrid
from pytest_jsonmatch.engine.align.solve import dual_prices
from pytest_jsonmatch.engine.value.convert import CONTAINERS, MISSING
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from pytest_jsonmatch.engine.align.audited import ArrayAudit, AuditedPair
    from pytest_jsonmatch.engine.align.context import Arrays
    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

    Matrix: TypeAlias = NDArray[np.float64]
    Margins: TypeAlias = dict[tuple[int, int], float | None]

_MAX_ARRAYS: Final = 100
"""Only this many arrays of one comparison are audited."""
_MAX_CELLS: Final = 1_000_000
"""At most this many pairs of elements are scored in one comparison."""
_MAX_CELLS_WITH_TWINS: Final = 250_000
"""Above this size, skip runners-up of exact matches."""
_MAX_CELLS_INSIDE: Final = 10_000_000
"""At most this many pairs of values are bounded in elements that are not flat, in one comparison."""
_WALK: Final = 20
"""Scoring values one by one costs as much as bounding this many times as many."""
_MAX_STEPS: Final = 1_000_000
"""At most this many exchanges are considered in one comparison."""
_ROUNDING: Final = 1e-12


def audit_arrays(
    plan: Plan,
    arrays: Iterable[tuple[Arrays, ArrayAudit]],
    tolerance: float,
) -> tuple[ArrayAudit, ...]:
    """Return an audit of each unordered array, up to a hundred of them.

    Args:
        plan: the plan under which the arrays were paired.
        arrays: in the order of the document, each with what is known without an audit: its pairs, their F1.
        tolerance: pairings whose sums of similarities differ by at most this much count as tied.
    """
    aligner = Aligner(plan, count_extra=plan.options.extra == "count")
    budget = Budget(_MAX_CELLS, _MAX_CELLS_INSIDE, _MAX_STEPS)
    return tuple(
        [
            _Audit(aligner, array, audit, budget, tolerance + _ROUNDING).audited()
            for array, audit in islice(arrays, _MAX_ARRAYS)
        ]
    )


@final
@dataclass(slots=True)
class Budget:
    """What the audits of one comparison may still cost."""

    cells: int
    inside: int
    steps: int


@final
class _NotComputedError(Exception):
    """The audit would cost too much; the message says why."""


@final
class _Similarities:
    """Similarities of some elements of expected and some of actual: bounds, made exact when they matter."""

    __slots__ = ("_grid", "bounds", "column_of", "is_open", "row_of")

    def __init__(self, grid: ArrayGrid, rows: Sequence[int], columns: Sequence[int]) -> None:
        self._grid = grid
        self.bounds = grid.similarities()
        self.is_open = np.full(self.bounds.shape, not grid.is_exact)
        self.row_of = {i: row for row, i in enumerate(rows)}
        self.column_of = {j: column for column, j in enumerate(columns)}

    def exact(self, row: int, column: int) -> float:
        """Return the similarity of a pair."""
        if self.is_open[row, column]:
            self.bounds[row, column] = self._grid.measure(row, column).similarity
            self.is_open[row, column] = False
        return float(self.bounds[row, column])


def _second(bounds: Matrix, own: int, exact: Callable[[int], float]) -> Partner | None:
    """Return the best element other than `own`, the first of equals; None if there is no other."""
    if len(bounds) < 2:
        return None
    others = bounds.copy()
    others[own] = -1.0
    while True:
        best = int(others.argmax())
        score = exact(best)
        if score >= others[best]:
            return Partner(best if score > 0.0 else None, score)
        others[best] = score


@final
@dataclass(slots=True)
class _Audit:
    """The audit of one array."""

    aligner: Aligner
    array: Arrays
    audit: ArrayAudit
    budget: Budget
    limit: float
    """Pairings that lose more than this are ignored."""
    is_flat: bool = True
    with_twins: bool = True
    values: int = 0
    """The number of pairs of values in the elements."""
    expected_keys: Sequence[Hashable] = ()
    """The equality keys of the elements."""
    actual_keys: Sequence[Hashable] = ()
    twins: Mapping[int, int] = field(default_factory=dict)
    """The pairs of equal elements."""
    rows: Sequence[int] = ()
    """The elements of expected without an equal partner."""
    columns: Sequence[int] = ()
    """Likewise of actual."""

    def audited(self) -> ArrayAudit:
        """Return the alternatives to the array's pairs, or the reason why they were not computed."""
        try:
            self._prepare()
            return replace(self.audit, pairs=tuple(self._pairs()))
        except _NotComputedError as error:
            return replace(self.audit, reason=str(error))

    # -- what it would cost --------------------------------------------------------------------------------

    def _prepare(self) -> None:
        """Find equal elements, and estimate the cost of auditing the others; raise if it is too high."""
        node, expected, actual = self.array.node.children[ELEMENT], self.array.expected, self.array.actual
        if node.skip:
            raise _NotComputedError("its elements are skipped")
        one, other = (sum([self._values_in(node, value) for value in side]) for side in (expected, actual))
        self.values = one * other
        self.expected_keys, self.actual_keys = self.aligner.canon.keys(node, expected, actual)
        pairs = [(pair.expected, pair.actual) for pair in self.audit.pairs]
        self.twins = {i: j for i, j in pairs if self.expected_keys[i] == self.actual_keys[j]}
        taken = set(self.twins.values())
        self.rows = [i for i in range(len(expected)) if i not in self.twins]
        self.columns = [j for j in range(len(actual)) if j not in taken]
        n, m, rows, columns = len(expected), len(actual), len(self.rows), len(self.columns)
        without_twins = rows * m + n * columns
        self.with_twins = n * m <= max(_MAX_CELLS_WITH_TWINS, without_twins)
        cells = n * m if self.with_twins else without_twins
        if cells > self.budget.cells:
            raise _NotComputedError(f"too many elements, {n:,} × {m:,}")
        self.budget.cells -= cells
        if not self.is_flat:
            self._spend_inside(1)

    def _spend_inside(self, times: int) -> None:
        sizes = f"{len(self.array.expected):,} × {len(self.array.actual):,}"
        what = "scored one by one" if self.is_flat else "not flat"
        if times * self.values > self.budget.inside:
            raise _NotComputedError(f"too many elements that are {what}, {sizes}")
        self.budget.inside -= times * self.values

    def _values_in(self, node: PlanNode, value: JsonValue) -> int:
        """Count the values in an element, and note whether it is flat; raise for costly comparators."""
        if node.branches is not None:
            self.is_flat = False
            node = node.chosen(value, MISSING)
        if node.skip:
            return 1
        if node.explicit is not None or type(value) not in CONTAINERS:
            _refuse_costly(node, value)
            return 1
        if type(value) is dict:
            return 1 + sum([self._values_in(node.children[key], item) for key, item in value.items()])
        self.is_flat = self.is_flat and node.align == "ordered"
        return 1 + sum([self._values_in(node.children[ELEMENT], item) for item in value])

    # -- pairs ---------------------------------------------------------------------------------------------

    def _pairs(self) -> list[AuditedPair]:
        """Return the pairs in the order of expected."""
        every_row, every_column = range(len(self.array.expected)), range(len(self.array.actual))
        across = self._similarities(every_row if self.with_twins else self.rows, every_column)
        down = across if self.with_twins else self._similarities(every_row, self.columns)
        pairs: list[AuditedPair] = []
        for pair in self.audit.pairs:
            i, j = pair.expected, pair.actual
            score, partner, other = 1.0, None, None
            if (row := across.row_of.get(i)) is not None:
                score = across.exact(row, j)
                partner = _second(across.bounds[row], j, partial(across.exact, row))
            if (column := down.column_of.get(j)) is not None:
                other = _second(down.bounds[:, column], i, partial(down.exact, column=column))
            ambiguous = False if i in self.twins else None
            pairs.append(
                replace(pair, score=score, next_actual=partner, next_expected=other, ambiguous=ambiguous)
            )
        margins = self._margins(across)
        for at, pair in enumerate(pairs):
            key = pair.expected, pair.actual
            if key in margins:
                pairs[at] = replace(pair, margin=margins[key], ambiguous=margins[key] is not None)
        return pairs

    def _similarities(self, rows: Sequence[int], columns: Sequence[int]) -> _Similarities:
        node, expected, actual = self.array.node.children[ELEMENT], self.array.expected, self.array.actual
        columns_of = Columns(self.aligner, node, ArrayGrid)
        grid = columns_of.grid(node, [expected[i] for i in rows], [actual[j] for j in columns])
        assert isinstance(grid, ArrayGrid)  # noqa: S101 - for the type checker: it is of the body asked for
        grid.stands_at(rows, columns, self.array.measure)
        if grid.walked:
            self._spend_inside(_WALK)
        return _Similarities(grid, rows, columns)

    def _margins(self, similarities: _Similarities) -> Margins:
        """Return the margins of pairs that are not equal, None for margins above the tolerance.

        Pairs are left out when the budget is used up.
        """
        column_of = {j: column for column, j in enumerate(self.columns)}
        partner = {pair.expected: pair.actual for pair in self.audit.pairs}
        chosen = np.array([column_of.get(partner.get(i, -1), -1) for i in self.rows], dtype=np.intp)
        if (chosen < 0).all():
            return {}
        # Equal elements share a number: exchanging them changes nothing, and they have the same price.
        rows = _kinds([self.expected_keys[i] for i in self.rows])
        columns = _kinds([self.actual_keys[j] for j in self.columns])
        exchanges = _Exchanges(self._costs(similarities, chosen), chosen, rows, columns, self.limit)
        known: Margins = {}
        found: Margins = {}
        for row in np.flatnonzero(chosen >= 0).tolist():
            column = int(chosen[row])
            kinds = rows[row], columns[column]
            if kinds not in known and exchanges.steps <= self.budget.steps:
                known[kinds] = exchanges.margin(*kinds)
            if kinds in known:
                found[self.rows[row], self.columns[column]] = known[kinds]
        self.budget.steps -= exchanges.steps
        return found

    def _costs(self, similarities: _Similarities, chosen: NDArray[np.intp]) -> Matrix:
        """Return the loss of the total by each pair under the optimum's dual prices, exact up to the limit.

        It is infinite where no pair is allowed. The last row and the last column mean "no partner".
        """
        rows = [similarities.row_of[i] for i in self.rows]
        columns = [similarities.column_of[j] for j in self.columns]
        cells = np.ix_(rows, columns)
        while True:
            bounds, is_open = similarities.bounds[cells], similarities.is_open[cells]
            admissible = bounds > self.aligner.threshold
            # The chosen pairs are optimal without the open ones, too: the prices show which open ones matter.
            prices, others = dual_prices(np.where(admissible & ~is_open, bounds, 0.0), chosen)
            costs = np.where(admissible, prices[:, None] + others - bounds, np.inf)
            near = np.argwhere(is_open & (costs <= self.limit)).tolist()
            if not near:
                costs = np.block([[costs, prices[:, None]], [others, np.zeros(1)]])
                return np.maximum(costs, 0.0, out=costs)
            for row, column in near:
                similarities.exact(rows[row], columns[column])


def _refuse_costly(node: PlanNode, value: JsonValue) -> None:
    """Raise for a value that may meet a comparator without a fast form."""
    # An integer may meet a number with a fraction, which another comparator scores.
    bounds = [node.explicit] if node.explicit else [node.types.find(value, other) for other in (value, 0.5)]
    for bound in bounds:
        if bound is not None and not bound.is_quick:
            raise _NotComputedError(f"the comparator {bound.comparator.name!r} may be slow")


def _kinds(keys: Sequence[Hashable]) -> list[int]:
    """Number equal elements alike, from 0.

    >>> _kinds(["a", "b", "a"])
    [0, 1, 0]
    """
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


@final
class _Exchanges:
    """The ways from the optimum to other pairings, where each exchange costs what the total loses by it.

    A pairing differs from the optimum by cycles of exchanges: a row leaves its column for another, whose row
    leaves that for a third, and so on, until a row takes the column that was left first. A row without a
    partner has the column "nobody". Under the dual prices an exchange may cost nothing, but never gains.
    """

    __slots__ = ("_costs", "_forward", "_limit", "_owners", "steps")

    def __init__(
        self, costs: Matrix, chosen: NDArray[np.intp], rows: list[int], columns: list[int], limit: float
    ) -> None:
        """Take the costs of pairs, the column of each row, and the kinds: equal elements share a kind.

        Pairings that lose more than the limit are ignored.
        """
        self._limit = limit
        self.steps = 0
        _, first_rows = np.unique(rows, return_index=True)
        _, first_columns = np.unique(columns, return_index=True)
        self._costs: list[list[float]] = costs[np.ix_([*first_rows, -1], [*first_columns, -1])].tolist()
        self._forward = [
            [(cost, column) for column, cost in enumerate(line) if cost <= limit] for line in self._costs
        ]
        # The kinds of rows that have columns of each kind; the last row and column are nobody.
        nobody = len(first_rows)
        self._owners: list[set[int]] = [set() for _ in self._costs[nobody]]
        self._owners[-1].add(nobody)
        for row, column in enumerate(chosen.tolist()):
            self._owners[columns[column] if column >= 0 else -1].add(rows[row])
        for column in set(range(len(columns))).difference(chosen.tolist()):
            self._owners[columns[column]].add(nobody)

    def margin(self, row: int, column: int) -> float | None:
        """Return the least loss by which a row or its column meets another; None if it is above the limit."""
        # If the row and the column both end with nobody, they have found no other partner.
        best = self._cheapest(row, column, math.nextafter(self._limit, math.inf), alone=True)
        best = self._cheapest(row, column, best, alone=False)
        return best if best <= self._limit else None

    def _cheapest(self, start: int, banned: int, best: float, *, alone: bool) -> float:
        """Return the least cost at which the column that a row has left is taken again; or `best`.

        Args:
            start: the row.
            banned: its column, which only the last exchange takes.
            best: only lower costs are of interest.
            alone: whether the row may end without a partner; then the column may not, and vice versa.
        """
        nobody, no_column = len(self._costs) - 1, len(self._owners) - 1
        waiting = [(0.0, start)]
        reached = {start: 0.0}
        while waiting:
            cost, at = heapq.heappop(waiting)
            if cost >= best:
                break
            if cost > reached[at]:
                continue
            if at != start and (at != nobody) == alone:
                best = min(best, cost + self._costs[at][banned])
            self.steps += len(self._forward[at]) + 1
            for price, to in self._forward[at]:
                total = cost + price
                if to == banned or total >= best or (to == no_column and at == start and not alone):
                    continue
                for owner in self._owners[to]:
                    if total < reached.get(owner, best):
                        reached[owner] = total
                        heapq.heappush(waiting, (total, owner))
        return best
