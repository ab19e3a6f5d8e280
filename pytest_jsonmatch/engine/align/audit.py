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

_MAX_ARRAYS: Final = 100
"""Only this many arrays of one comparison are audited."""
_MAX_WORK: Final = 2_000_000
"""At most this many pairs of elements are scored, and exchanges considered, in one comparison."""
_WITH_TWINS: Final = 250_000
"""In larger arrays, runners-up of exact matches are left out."""
_INSIDE: Final = 10
"""In elements that are not flat, bounding this many pairs of values costs as much as a pair of elements."""
_WALK: Final = 20
"""Scoring values one by one costs as much as bounding this many times as many."""
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
    audits, work = [], _MAX_WORK
    for array, audit in islice(arrays, _MAX_ARRAYS):
        own = _Audit(aligner, array, audit, work, tolerance + _ROUNDING)
        audits.append(own.audited())
        work = own.work
    return tuple(audits)


@final
class _NotComputedError(Exception):
    """The audit would cost too much; the message says why."""


@final
class _Similarities:
    """Similarities of some elements of expected and some of actual: bounds, made exact when they matter."""

    __slots__ = ("_grid", "bounds", "is_open")

    def __init__(self, grid: ArrayGrid) -> None:
        self._grid = grid
        self.bounds = grid.similarities()
        self.is_open = np.full(self.bounds.shape, not grid.is_exact)

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
    work: int
    """What the audits of the comparison may still cost."""
    limit: float
    """Pairings that lose more than this are ignored."""
    is_flat: bool = True
    values: int = 0
    """The number of pairs of values in the elements."""
    expected_keys: Sequence[Hashable] = ()
    """The equality keys of the elements."""
    actual_keys: Sequence[Hashable] = ()
    twins: Mapping[int, int] = field(default_factory=dict)
    """The pairs of equal elements."""
    rows: Sequence[int] = ()
    """The elements of expected whose runners-up are looked for: all, or those without an equal partner."""
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
        self.twins = {
            pair.expected: pair.actual
            for pair in self.audit.pairs
            if self.expected_keys[pair.expected] == self.actual_keys[pair.actual]
        }
        is_large = len(expected) * len(actual) > _WITH_TWINS
        self.rows, self.columns = self._others() if is_large else (range(len(expected)), range(len(actual)))
        cells = len(self.rows) * len(actual) + len(expected) * len(self.columns)
        self._spend(cells if self.is_flat else max(cells, self.values // _INSIDE))

    def _others(self) -> tuple[list[int], list[int]]:
        """Return the elements of each side without an equal partner."""
        taken = set(self.twins.values())
        rows = [i for i in range(len(self.array.expected)) if i not in self.twins]
        return rows, [j for j in range(len(self.array.actual)) if j not in taken]

    def _spend(self, work: int) -> None:
        if work > self.work:
            sizes = f"{len(self.array.expected):,} × {len(self.array.actual):,}"
            raise _NotComputedError(f"too many elements, {sizes}")
        self.work -= work

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
        across = self._similarities(self.rows, range(len(self.array.actual)))
        is_whole = len(self.rows) == len(self.array.expected)
        down = across if is_whole else self._similarities(range(len(self.array.expected)), self.columns)
        row_of, column_of = ({at: k for k, at in enumerate(side)} for side in (self.rows, self.columns))
        pairs: list[AuditedPair] = []
        for each in self.audit.pairs:
            i, j = each.expected, each.actual
            if i not in row_of:
                pairs.append(replace(each, score=1.0, ambiguous=False))
                continue
            row, column = row_of[i], column_of[j]
            partner = _second(across.bounds[row], j, partial(across.exact, row))
            other = _second(down.bounds[:, column], i, partial(down.exact, column=column))
            pair = replace(each, score=across.exact(row, j), ambiguous=False if i in self.twins else None)
            pairs.append(replace(pair, next_actual=partner, next_expected=other))
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
            self._spend(_WALK * self.values // _INSIDE)
        return _Similarities(grid)

    def _margins(self, similarities: _Similarities) -> dict[tuple[int, int], float | None]:
        """Return the margins of pairs that are not equal, None for margins above the tolerance.

        Pairs are left out when the budget is used up.
        """
        others = self._others()
        column_of = {j: column for column, j in enumerate(others[1])}
        partner = {pair.expected: pair.actual for pair in self.audit.pairs}
        chosen = np.array([column_of.get(partner.get(i, -1), -1) for i in others[0]], dtype=np.intp)
        if (chosen < 0).all():
            return {}
        # Equal elements share a number: exchanging them changes nothing, and they have the same price.
        rows = _kinds([self.expected_keys[i] for i in others[0]])
        columns = _kinds([self.actual_keys[j] for j in others[1]])
        exchanges = _Exchanges(self._costs(similarities, others, chosen), chosen, rows, columns, self.limit)
        known: dict[tuple[int, int], float | None] = {}
        found: dict[tuple[int, int], float | None] = {}
        for row in np.flatnonzero(chosen >= 0).tolist():
            column = int(chosen[row])
            kinds = rows[row], columns[column]
            if kinds not in known and exchanges.steps < self.work:
                known[kinds] = exchanges.margin(*kinds)
            if kinds in known:
                found[others[0][row], others[1][column]] = known[kinds]
        self.work -= exchanges.steps
        return found

    def _costs(
        self, similarities: _Similarities, others: tuple[list[int], list[int]], chosen: NDArray[np.intp]
    ) -> Matrix:
        """Return the loss of the total by each pair under the optimum's dual prices, exact up to the limit.

        It is infinite where no pair is allowed. The last row and the last column mean "no partner".
        """
        row_of = {i: row for row, i in enumerate(self.rows)}
        rows, columns = [row_of[i] for i in others[0]], others[1]
        cells = np.ix_(rows, columns)
        while True:
            bounds, is_open = similarities.bounds[cells], similarities.is_open[cells]
            admissible = bounds > self.aligner.threshold
            # The chosen pairs are optimal without the open ones, too: the prices show which open ones matter.
            row_prices, prices = dual_prices(np.where(admissible & ~is_open, bounds, 0.0), chosen)
            costs = np.where(admissible, row_prices[:, None] + prices - bounds, np.inf)
            near = np.argwhere(is_open & (costs <= self.limit)).tolist()
            if not near:
                costs = np.block([[costs, row_prices[:, None]], [prices, np.zeros(1)]])
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
