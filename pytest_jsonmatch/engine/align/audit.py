"""Find out how sure a pairing is: the alternatives to each pair, and what they would cost.

Reports need this, scoring does not. Elements with an equal partner are left out: they are paired whatever
the others do. Similarities are bounds at first, and made exact only where they may be second best or come
within the tolerance. Whether a pair is ambiguous depends on the whole array: the cheapest way to another
pairing is a path of exchanges, priced by the optimum's dual prices.

Import this module late: it imports numpy.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final, final

import numpy as np

from pytest_jsonmatch.engine.align.arrays import Aligner
from pytest_jsonmatch.engine.align.audited import Partner
from pytest_jsonmatch.engine.align.columns import Columns
from pytest_jsonmatch.engine.align.keys import twins
from pytest_jsonmatch.engine.align.large import ArrayGrid
from pytest_jsonmatch.engine.align.solve import dual_prices
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from numpy.typing import NDArray

    from pytest_jsonmatch.engine.align.audited import ArrayAudit, AuditedPair
    from pytest_jsonmatch.engine.align.context import Arrays
    from pytest_jsonmatch.engine.align.grid import Grid
    from pytest_jsonmatch.engine.plan.compile import Plan

    Matrix = NDArray[np.float64]

_MAX_ARRAYS: Final = 100
"""Only this many arrays of one comparison are audited."""
_MAX_WORK: Final = 2_000_000
"""At most this many pairs of elements are scored, and exchanges considered, in one comparison."""
_EXACT: Final = 50
"""Pairing the arrays inside two elements costs as much as bounding this many pairs."""
_ROUNDING: Final = 1e-12


def audit_arrays(
    plan: Plan, arrays: Iterable[tuple[Arrays, ArrayAudit]], tolerance: float
) -> tuple[ArrayAudit, ...]:
    """Return an audit of each unordered array, up to a hundred of them.

    Args:
        plan: the plan under which the arrays were paired.
        arrays: in the order of the document, each with what is known without an audit: its pairs, their F1.
        tolerance: pairings whose sums of similarities differ by at most this much count as tied.
    """
    aligner = Aligner(plan, count_extra=plan.options.extra == "count")
    work = _Work()
    audits = []
    for array, audit in islice(arrays, _MAX_ARRAYS):
        try:
            pairs = _audited(aligner, array, audit.pairs, work, tolerance + _ROUNDING)
            audits.append(replace(audit, pairs=tuple(pairs)))
        except _NotComputedError as error:
            audits.append(replace(audit, reason=str(error)))
    return tuple(audits)


@final
class _NotComputedError(Exception):
    """The audit would cost too much; the message says why."""


@final
class _Work:
    """What the audits of a comparison may still cost."""

    def __init__(self) -> None:
        self.left = _MAX_WORK

    def spend(self, work: int) -> None:
        """Take some of it; raise if less is left."""
        if work > self.left:
            raise _NotComputedError("it would take too long")
        self.left -= work


def _audited(
    aligner: Aligner, array: Arrays, pairs: Sequence[AuditedPair], work: _Work, limit: float
) -> list[AuditedPair]:
    """Return the pairs of an array with their alternatives, in the order of expected."""
    element = array.node.children[ELEMENT]
    if element.skip:
        raise _NotComputedError("its elements are skipped")
    keys, others = aligner.canon.keys(element, array.expected, array.actual)
    _, rows, columns = twins(keys, others)
    row_of, column_of = ({at: place for place, at in enumerate(side)} for side in (rows, columns))
    partners = {row_of[pair.expected]: column_of[pair.actual] for pair in pairs if pair.expected in row_of}
    if not partners:
        return [replace(pair, score=1.0, ambiguous=False) for pair in pairs]
    work.spend(len(rows) * len(columns))
    one, other = [array.expected[at] for at in rows], [array.actual[to] for to in columns]
    grid = Columns(aligner, element, ArrayGrid).grid(element, one, other)
    if grid.walked:
        raise _NotComputedError("comparing them may be slow")
    grid.finish(aligner.leaf_counts(element, one, other))
    cells = _Cells(grid, work)
    sides = _kinds([keys[at] for at in rows]), _kinds([others[to] for to in columns])
    exchanges = _Exchanges(cells.losses(partners, limit), partners, sides, limit)
    audited = []
    for pair in pairs:
        if pair.expected not in row_of:
            audited.append(replace(pair, score=1.0, ambiguous=False))
            continue
        row = row_of[pair.expected]
        column = partners[row]
        best = cells.next_best(row, column)
        if best is not None and best.index is not None:
            best = Partner(columns[best.index], best.score)
        known = replace(pair, score=cells.exact(row, column), next_actual=best)
        if exchanges.steps < work.left:
            margin = exchanges.margin(row, column)
            known = replace(known, margin=margin, ambiguous=margin is not None)
        audited.append(known)
    work.left -= exchanges.steps
    return audited


def _kinds(keys: Sequence[Hashable]) -> list[int]:
    """Number equal elements alike, from 0.

    >>> _kinds(["a", "b", "a"])
    [0, 1, 0]
    """
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


@final
class _Cells:
    """The similarities of elements: bounds, made exact when they matter."""

    def __init__(self, grid: Grid, work: _Work) -> None:
        assert isinstance(grid, ArrayGrid)  # noqa: S101 - for the type checker: it is of the body asked for
        self._grid = grid
        self._work = work
        self._threshold = grid.aligner.threshold
        self._bounds = grid.similarities()
        self._is_open = np.full(self._bounds.shape, not grid.is_exact)

    def exact(self, row: int, column: int) -> float:
        """Return the similarity of a pair."""
        if self._is_open[row, column]:
            self._work.spend(_EXACT)
            self._bounds[row, column] = self._grid.measure(row, column).similarity
            self._is_open[row, column] = False
        return float(self._bounds[row, column])

    def next_best(self, row: int, own: int) -> Partner | None:
        """Return the best partner of a row other than `own`, the first of equals; None without another."""
        others = self._bounds[row].copy()
        others[own] = -1.0
        while (bound := others.max()) >= 0.0:
            best = int(others.argmax())
            others[best] = self.exact(row, best)
            if others[best] >= bound:
                return Partner(best if bound > 0.0 else None, float(bound))
        return None

    def losses(self, partners: dict[int, int], limit: float) -> Matrix:
        """Return what the total loses by each pair under the optimum's dual prices, exact up to the limit.

        It is infinite where no pair is allowed. The last row and the last column mean "no partner".
        """
        chosen = np.array([partners.get(row, -1) for row in range(len(self._bounds))], dtype=np.intp)
        while True:
            admissible = self._bounds > self._threshold
            # The chosen pairs are optimal without the open ones, too: the prices show which open ones matter.
            prices = dual_prices(np.where(admissible & ~self._is_open, self._bounds, 0.0), chosen)
            losses = np.where(admissible, prices[0][:, None] + prices[1] - self._bounds, np.inf)
            near = np.argwhere(self._is_open & (losses <= limit)).tolist()
            if not near:
                losses = np.block([[losses, prices[0][:, None]], [prices[1], np.zeros(1)]])
                return np.maximum(losses, 0.0, out=losses)
            for row, column in near:
                self.exact(row, column)


@final
class _Exchanges:
    """The ways from the optimum to other pairings, where each exchange costs what the total loses by it.

    A pairing differs from the optimum by cycles of exchanges: a row leaves its column for another, whose row
    leaves that for a third, and so on, until a row takes the column that was left first. A row without a
    partner has the column "nobody". Under the dual prices an exchange may cost nothing, but never gains.
    Equal elements have the same number: exchanging them changes nothing, and they have the same price.
    """

    def __init__(
        self, losses: Matrix, partners: dict[int, int], kinds: tuple[list[int], list[int]], limit: float
    ) -> None:
        self._rows, self._columns = ([*side, -1] for side in kinds)
        self._steps: dict[int, dict[int, float]] = defaultdict(dict)
        for row, column in np.argwhere(losses <= limit).tolist():
            self._steps[self._rows[row]][self._columns[column]] = float(losses[row, column])
        self._owners: dict[int, set[int]] = defaultdict(set, {-1: {-1}})
        for row, kind in enumerate(kinds[0]):
            self._owners[self._columns[partners.get(row, -1)]].add(kind)
        for column in set(range(len(kinds[1]))).difference(partners.values()):
            self._owners[kinds[1][column]].add(-1)
        self._known: dict[tuple[int, int], float] = {}
        self._limit = limit
        self.steps = 0

    def margin(self, row: int, column: int) -> float | None:
        """Return the least loss by which a row or its column meets another; None if it is above the limit."""
        own = self._rows[row], self._columns[column]
        if own not in self._known:
            # If the row and the column both end with nobody, they have found no other partner.
            self._known[own] = min(self._cheapest(*own, (own[0], -1)), self._cheapest(*own, (-1, own[1])))
        return self._known[own] if self._known[own] <= self._limit else None

    def _cheapest(self, start: int, goal: int, banned: tuple[int, int]) -> float:
        """Return the least loss at which another row takes the column that a row leaves, without one step."""
        best, waiting, done = math.inf, [(0.0, start)], set()
        while waiting and waiting[0][0] < best:
            loss, row = heapq.heappop(waiting)
            if row in done:
                continue
            done.add(row)
            self.steps += len(self._steps[row])
            for column, more in self._steps[row].items():
                if loss + more > self._limit or (row, column) in {banned, (start, goal)}:
                    continue
                if column == goal:
                    best = min(best, loss + more)
                    continue
                for owner in self._owners[column] - done:
                    heapq.heappush(waiting, (loss + more, owner))
        return best
