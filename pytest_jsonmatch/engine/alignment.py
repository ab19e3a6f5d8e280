"""Which element of expected's array meets which of actual's: by key, or by the exact optimum.

Unordered arrays are paired in two steps. Twins first: elements equal under the plan, in order of position.
The rest so that the sum of the pairs' similarities is greatest over the pairs above the threshold, a pair's
similarity being the metric's own score of the two elements alone. Large rests are scored by column
(`similarity.py`); where a pair is dear to score (nested arrays, a user's comparator), only an upper bound is,
and exact scores replace it for the pairs that the optimum of the bounds chooses, until all of them are exact.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from pytest_jsonmatch.engine.align.keys_ import Canon
from pytest_jsonmatch.engine.assignment import (
    SMALL,
    TIE,
    assign,
    assign_small,
    connected,
    dual_prices,
    lexicographic,
    tied_parts,
)
from pytest_jsonmatch.engine.rounds import assigned, ties_to_ask, to_ask_ahead, usable
from pytest_jsonmatch.engine.sparse import dense_bytes
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_jsonmatch.engine.ask.rounds_ import BatchBook
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.plan.rules import PlanBase
    from pytest_jsonmatch.engine.score.outcome import Trail
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.engine.value.sums import Sums

__all__ = ["Aligner", "Pair", "Pairing", "pair_by_key"]

Pairing: TypeAlias = "list[tuple[int, int]]"
"""Pairs of (index in expected, index in actual), in the order of expected."""

Pair: TypeAlias = "tuple[Trail | None, int, int, JsonValue, JsonValue]"
"""Two elements and where they stand: (trail of both arrays, indices on both sides, values)."""

Task: TypeAlias = "tuple[PlanNode, list[JsonValue], list[JsonValue], bool, Trail | None]"
"""Two arrays to pair: (their node, expected, actual, whether extra leaves count, trail of their elements)."""


def pair_by_key(element: PlanNode, key: str, expected: list[JsonValue], actual: list[JsonValue]) -> Pairing:
    """Pair the objects of two arrays by the transformed value of one member, compared as JSON.

    Null, boolean and container keys match nothing, nor do duplicates after the first.
    """
    member = element.children[key]
    partners: dict[JsonValue, int] = {}
    for index, item in enumerate(actual):
        value = _key_value(member, item, key)
        if value is not MISSING:
            partners.setdefault(value, index)
    pairs: Pairing = []
    for index, item in enumerate(expected):
        value = _key_value(member, item, key)
        partner = None if value is MISSING else partners.pop(value, None)
        if partner is not None:
            pairs.append((index, partner))
    return pairs


def _key_value(member: PlanNode, item: JsonValue, key: str) -> JsonValue:
    """Return what an element is paired by, or MISSING where that can match nothing."""
    if type(item) is not dict:
        return MISSING
    value = member.prepare(item.get(key, MISSING))
    if value is MISSING or value is None or type(value) in {bool, dict, list}:
        return MISSING
    # Not a finite number: equals nothing. (A string is never equal to itself minus itself: types first.)
    if type(value) is float and value - value != 0.0:
        return MISSING
    return value


@final
class _Deeper(Exception):  # noqa: N818 - a request, no error
    """An array nested too deep for Python's stack is to be paired first."""

    def __init__(self, task: Task) -> None:
        super().__init__()
        self.task = task


# Arrays in arrays are scored recursively down to this depth, and from a list of tasks beyond it.
_MAX_NESTED: Final = 40
_MAX_KEPT: Final = 200_000
_CHEAP_CELLS: Final = 64
"""So few pairs are scored one by one even where numpy is at hand."""


@final
class Aligner:
    """Pairs the unordered arrays of one comparison; nested pairings found on the way are kept."""

    __slots__ = (
        "_canon",
        "_depth",
        "_kept",
        "_measure",
        "_plan",
        "_unsure",
        "book",
        "gap",
        "leaves",
        "totals",
    )

    def __init__(
        self,
        plan: PlanBase,
        measure: Callable[[Aligner, PlanNode, Pair, bool, bool], Sums],
        book: BatchBook | None = None,
    ) -> None:
        """`measure(self, element, pair, count_extra, asking)` gives the totals of two elements alone.

        With a `book` of what batch comparators said, pairings may be provisional: the optimum of bounds.
        """
        self._plan = plan
        self.book = book
        # Provisional pairings, with the pairs beyond them that are to be asked about as well.
        self._unsure: dict[tuple[int, int, bool], Pairing] = {}
        self._measure = measure
        self._canon = Canon(nulls_absent=plan.options.nulls == "absent")
        self._kept: dict[tuple[int, int, bool], Pairing] = {}
        self.totals: dict[tuple[PlanNode, int, int, bool], Sums] = {}
        self.leaves: dict[tuple[PlanNode, int], tuple[int, float]] = {}
        self._depth = 0
        self.gap: float | None = None
        """What the pairs of arrays beyond the memory limit may be short of the optimum; None: none are."""

    def keep_totals(self, key: tuple[PlanNode, int, int, bool], totals: Sums) -> None:
        """Keep the sums of two nested arrays for when they are met again."""
        if len(self.totals) < _MAX_KEPT:
            self.totals[key] = totals

    def pair(self, task: Task, *, asking: bool = False) -> Pairing:
        """Return the pairs of two unordered arrays, in the order of expected.

        Args:
            task: the arrays and where they stand.
            asking: the pairing is for the result, or may become part of it: what batch comparators have still
                to say of other pairs before it is known to be the optimum is asked about.
        """
        _, expected, actual, count_extra, _ = task
        key = (id(expected), id(actual), count_extra)
        pairs = self._kept.get(key)
        if pairs is None:
            pairs = self._fresh(task)
        if self.book is not None and key in self._unsure:
            self.book.provisional += 1
            if asking:
                element, trail = task[0].children[ELEMENT].alone(), task[4]
                for at, to in self._unsure[key]:
                    self.measure(element, (trail, at, to, expected[at], actual[to]), count_extra, asking=True)
        return pairs

    def _fresh(self, task: Task) -> Pairing:
        if self._depth >= _MAX_NESTED:
            raise _Deeper(task)
        if self._depth:
            return self._solve(task)
        tasks = [task]
        while True:
            try:
                pairs = self._solve(tasks[-1])
            except _Deeper as deeper:
                tasks.append(deeper.task)
                continue
            tasks.pop()
            if not tasks:
                return pairs

    def _solve(self, task: Task) -> Pairing:
        _, expected, actual, count_extra, _ = task
        book = self.book
        before = None if book is None else book.open()
        self._depth += 1
        try:
            pairs = self._pairs(task)
        finally:
            self._depth -= 1
            if book is not None and before is not None:
                # What was open on the way counts only if the pairing hangs on it: `pair` looks at that.
                book.unknown, book.provisional = before
        if len(self._kept) < _MAX_KEPT:
            self._kept[id(expected), id(actual), count_extra] = pairs
        return pairs

    def _pairs(self, task: Task) -> Pairing:
        node, expected, actual, count_extra, _ = task
        element = node.children[ELEMENT].alone()
        if not expected or not actual:
            return []
        if element.skip:
            return list(zip(range(len(expected)), range(len(actual))))
        twins, rows, columns = self._twins(element, expected, actual)
        if rows and columns:
            rest = _Rest(self, element, task, rows, columns)
            twins.extend(rest.solve())
            twins.sort()
            if rest.to_ask is not None:
                self._unsure[id(expected), id(actual), count_extra] = rest.to_ask
        return twins

    def _twins(
        self, element: PlanNode, expected: list[JsonValue], actual: list[JsonValue]
    ) -> tuple[Pairing, list[int], list[int]]:
        """Pair equal elements, in order of position; return the pairs and what is left of each side."""
        wanted, found = self._canon.keys(element, expected, actual)
        where = dict(zip(found, range(len(found))))
        if len(where) == len(found) and len(set(wanted)) == len(wanted) and MISSING not in where:
            # Nothing twice on either side, as usual: what equals what is one look-up.
            partners = list(map(where.get, wanted))
            pairs = [(at, to) for at, to in enumerate(partners) if to is not None]
            taken = {to for _, to in pairs}
            rows = [at for at, to in enumerate(partners) if to is None]
            return pairs, rows, [at for at in range(len(actual)) if at not in taken]
        return self._repeated_twins(wanted, found)

    @staticmethod
    def _repeated_twins(wanted: list[Any], found: list[Any]) -> tuple[Pairing, list[int], list[int]]:
        """Do as `_twins` does, from what equal elements share, where some elements are equal on one side."""
        where: dict[Any, list[int]] = {}
        for at in range(len(found) - 1, -1, -1):
            if found[at] is not MISSING:
                where.setdefault(found[at], []).append(at)
        pairs: Pairing = []
        rows: list[int] = []
        taken: set[int] = set()
        for at, key in enumerate(wanted):
            free = None if key is MISSING else where.get(key)
            if free:
                partner = free.pop()
                taken.add(partner)
                pairs.append((at, partner))
            else:
                rows.append(at)
        return pairs, rows, [at for at in range(len(found)) if at not in taken]

    def measure(
        self, element: PlanNode, pair: Pair, count_extra: bool, *, asking: bool = False
    ) -> tuple[float, float]:
        """Return the similarity of two elements alone, and Σ weight·score."""
        totals = self._measure(self, element, pair, count_extra, asking)
        if self._plan.options.reduce == "ratio":
            whole, part = totals.expected, totals.score
        else:
            whole, part = totals.expected + totals.actual, 2 * totals.score
        return (min(part / whole, 1.0) if whole else 1.0), totals.score

    def text(self, element: PlanNode, value: JsonValue) -> str:
        """Return the canonical text of an element."""
        return self._canon.text(element, value)


@final
class _Rest:
    """What twins have left of two arrays: to be paired at the greatest total similarity."""

    __slots__ = (
        "_actual",
        "_aligner",
        "_as_ratio",
        "_columns",
        "_count_extra",
        "_element",
        "_exact",
        "_expected",
        "_in_order",
        "_open",
        "_rows",
        "_texts",
        "_threshold",
        "_trail",
        "to_ask",
    )

    def __init__(
        self, aligner: Aligner, element: PlanNode, task: Task, rows: list[int], columns: list[int]
    ) -> None:
        options = element.plan.options
        self._aligner = aligner
        self._element = element
        _, self._expected, self._actual, self._count_extra, self._trail = task
        self._rows = rows
        self._columns = columns
        # Pairs measured before batch comparators have said all they have to: those are worth a bound.
        self._open: set[tuple[int, int]] = set()
        self.to_ask: Pairing | None = None
        """Of a provisional pairing, the pairs beyond it that are to be asked about too; None: it is final."""
        self._as_ratio = options.reduce == "ratio"
        # "Greater" than the threshold by more than rounding.
        self._threshold = options.array_threshold + _ROUNDING
        self._exact: dict[tuple[int, int], tuple[float, float]] = {}
        self._texts: dict[int, str] = {}
        self._in_order = False

    def solve(self) -> Pairing:
        """Return the pairs, as indices of the two arrays."""
        try:
            return self._solved()
        except _TooManyTiedError:
            # The solver's choice among equals must not hang on the order in which the elements came.
            self._put_in_order()
            return self._solved()

    def _put_in_order(self) -> None:
        """Put the elements of both sides in canonical order, and forget what was known of their numbers."""
        for places, values in ((self._rows, self._expected), (self._columns, self._actual)):
            places.sort(key=lambda at: (self._aligner.text(self._element, values[at]), at))
        self._in_order = True
        self._exact.clear()
        self._texts.clear()
        self._open.clear()
        self.to_ask = None

    def _solved(self) -> Pairing:
        n, m = len(self._rows), len(self._columns)
        if dense_bytes(n, m) > self._element.plan.options.memory_limit and self._aligner.book is None:
            if not self._in_order:
                self._put_in_order()
            return [(self._rows[i], self._columns[j]) for i, j in self._sparsely()]
        # (Where batch comparators have a say, exact pairs are dear: columns give their bounds.)
        small = n <= SMALL and m <= SMALL and self._aligner.book is None
        if small and (n * m <= _CHEAP_CELLS or "numpy" not in sys.modules):
            pairs = self._by_walk()
        else:
            pairs = self._by_column()
        return [(self._rows[i], self._columns[j]) for i, j in pairs]

    # -- few pairs: each by the walk ------------------------------------------------------------------------

    def _by_walk(self) -> Pairing:
        n, m = len(self._rows), len(self._columns)
        worth = [[self._measured(i, j)[0] for j in range(m)] for i in range(n)]
        return self._settled(worth)

    def _settled(self, worth: list[list[float]]) -> Pairing:
        """Return the optimum of exact similarities, ties settled."""
        limit = self._threshold
        admissible = [[value if value > limit else 0.0 for value in line] for line in worth]
        if not any(map(any, admissible)):
            return []
        columns, row_prices, column_prices = assign_small(admissible)
        chosen = [(i, j) for i, j in enumerate(columns) if j >= 0 and admissible[i][j] > 0.0]
        edges = [
            (i, j)
            for i, line in enumerate(admissible)
            for j, value in enumerate(line)
            if value > 0.0 and row_prices[i] + column_prices[j] - value <= TIE
        ]
        if len(edges) == len(chosen):
            return chosen
        return self._untied(edges, chosen, row_prices, column_prices)

    def _untied(
        self, edges: list[tuple[int, int]], chosen: Pairing, row_prices: Any, column_prices: Any
    ) -> Pairing:
        """Take, of the optima that tight edges allow, the one that the rules prefer.

        Over tight edges a pairing is optimal if and only if it leaves out nothing that has a price.
        """
        parts = tied_parts(edges, chosen)
        loose = {i for rows, _ in parts for i in rows}
        taken = {j for _, columns in parts for j in columns}
        tight = set(edges)
        pairs = [(i, j) for i, j in chosen if i not in loose and j not in taken]
        for rows, columns in parts:
            if len(rows) > _MAX_TIED or len(columns) > _MAX_TIED:
                if not self._in_order:
                    raise _TooManyTiedError
                inside = set(rows)
                pairs.extend(pair for pair in chosen if pair[0] in inside)
            else:
                ranks = {
                    (i, j): self._rank(i, j, int(row_prices[i] > TIE) + int(column_prices[j] > TIE))
                    for i in rows
                    for j in columns
                    if (i, j) in tight
                }
                pairs.extend(lexicographic(rows, columns, ranks))
        return pairs

    def _rank(self, i: int, j: int, priced: int) -> tuple[int, float, tuple[str, str], int]:
        _, score = self._measured(i, j)
        row, column = self._rows[i], self._columns[j]
        return (
            priced,
            score,
            (self._text(i, self._expected[row]), self._text(-1 - j, self._actual[column])),
            abs(row - column),
        )

    def _text(self, slot: int, value: JsonValue) -> str:
        found = self._texts.get(slot)
        if found is None:
            found = self._texts[slot] = self._aligner.text(self._element, value)
        return found

    def _measured(self, i: int, j: int) -> tuple[float, float]:
        """Return the exact similarity of a pair and its Σ, by the walk."""
        found = self._exact.get((i, j))
        if found is None:
            row, column = self._rows[i], self._columns[j]
            pair = (self._trail, row, column, self._expected[row], self._actual[column])
            book = self._aligner.book
            before = (0, 0) if book is None else book.open()
            found = self._aligner.measure(self._element, pair, self._count_extra)
            if book is not None and book.open() != before:
                self._open.add((i, j))
                if book.provisional != before[1]:
                    # Nested arrays may pair otherwise in the end, at sums that are no bound of this one's.
                    found = (1.0, found[1])
            self._exact[i, j] = found
        return found

    # -- many pairs: by column -----------------------------------------------------------------------------

    def _by_column(self) -> Pairing:
        import numpy as np

        from pytest_jsonmatch.engine.similarity import pair_sums

        sums = pair_sums(
            self._element,
            [self._expected[row] for row in self._rows],
            [self._actual[column] for column in self._columns],
            count_extra=self._count_extra,
        )
        if sums is None:
            worth = np.array(
                [[self._measured(i, j)[0] for j in range(len(self._columns))] for i in range(len(self._rows))]
            )
            exact = True
        else:
            exact = sums.exact
            worth = sums.similarity(as_ratio=self._as_ratio)
        if self._aligner.book is not None and (self._open or not exact):
            return self._by_rounds(worth, measured=sums is None)
        return self._best(worth) if exact else self._bounded(worth)

    def _best(self, worth: Any) -> Pairing:
        """Return the optimum of exact similarities, ties settled."""
        import numpy as np

        worth[worth <= self._threshold] = 0.0
        rows, columns = np.nonzero(worth)
        if len(rows) > sum(worth.shape):
            # So many connect nearly all.
            return self._dense(worth)
        found = self._by_parts(rows.tolist(), columns.tolist(), worth[rows, columns].tolist())
        return self._dense(worth) if found is None else found

    def _dense(self, worth: Any) -> Pairing:
        """Do as `_best` does by a matrix in which inadmissible pairs are 0."""
        pairs: Pairing = self._tight(worth, self._assigned(worth), None)
        return pairs

    def _by_parts(self, rows: list[int], columns: list[int], scores: list[float]) -> Pairing | None:
        """Return the optimum over some pairs, one connected part after the other; None: one is too large."""
        pairs: Pairing = []
        if len(set(rows)) == len(rows) and len(set(columns)) == len(columns):
            pairs.extend(zip(rows, columns))
            return pairs
        limit = self._element.plan.options.memory_limit
        for part in connected(rows, columns):
            if len(part) == 1:
                pairs.append((rows[part[0]], columns[part[0]]))
                continue
            here, there = {rows[edge] for edge in part}, {columns[edge] for edge in part}
            if dense_bytes(len(here), len(there)) > limit:
                return None
            pairs += self._part(part, rows, columns, scores)
        return pairs

    def _part(self, part: Sequence[int], rows: list[int], columns: list[int], scores: list[float]) -> Pairing:
        """Pair what some edges connect, as if there were nothing else."""
        here, there = sorted({rows[edge] for edge in part}), sorted({columns[edge] for edge in part})
        task = (self._element, self._expected, self._actual, self._count_extra, self._trail)
        rest = _Rest(
            self._aligner,
            self._element,
            task,
            [self._rows[i] for i in here],
            [self._columns[j] for j in there],
        )
        rest._in_order = self._in_order
        row_of, column_of = dict(zip(here, range(len(here)))), dict(zip(there, range(len(there))))
        worth = [[0.0] * len(there) for _ in here]
        for edge in part:
            worth[row_of[rows[edge]]][column_of[columns[edge]]] = scores[edge]
        if max(len(here), len(there)) <= SMALL:
            found = rest._settled(worth)
        else:
            import numpy as np

            found = rest._dense(np.array(worth))
        return [(here[i], there[j]) for i, j in found]

    def _sparsely(self) -> Pairing:
        """Pair within the memory limit: the best candidates of each element only."""
        from pytest_jsonmatch.engine.similarity import pair_sums
        from pytest_jsonmatch.engine.sparse import pair_sparsely

        actual = [self._actual[column] for column in self._columns]
        bounds = False

        def worth_of(start: int, end: int) -> Any:
            nonlocal bounds
            import numpy as np

            expected = [self._expected[row] for row in self._rows[start:end]]
            sums = pair_sums(self._element, expected, actual, count_extra=self._count_extra)
            if sums is None:
                columns = range(len(self._columns))
                return np.array([[self._measured(i, j)[0] for j in columns] for i in range(start, end)])
            bounds = bounds or not sums.exact
            return sums.similarity(as_ratio=self._as_ratio)

        found = pair_sparsely(
            len(self._rows),
            len(self._columns),
            worth_of,
            lambda i, j: self._measured(i, j)[0] if bounds else None,
            self._threshold,
            self._element.plan.options.memory_limit,
        )
        self._aligner.gap = (self._aligner.gap or 0.0) + found.gap
        return found.pairs

    def _bounded(self, worth: Any) -> Pairing:
        """Solve on upper bounds, making exact what the optimum chooses, until all it may choose is exact."""
        import numpy as np

        known = np.zeros(worth.shape, dtype=bool)
        worth[worth <= self._threshold] = 0.0
        known[worth == 0.0] = True
        while True:
            columns = assigned(worth, known)
            rows = np.flatnonzero(columns >= 0)
            fresh = rows[~known[rows, columns[rows]]]
            if len(fresh):
                for i, j in zip(fresh.tolist(), columns[fresh].tolist()):
                    self._make_exact(worth, known, i, j)
                continue
            pairs: Pairing | None = self._tight(worth, columns, known)
            if pairs is not None:
                return pairs

    def _assigned(self, worth: Any) -> Any:
        import numpy as np

        if max(worth.shape) <= SMALL:
            return np.array(assign_small(worth.tolist())[0], dtype=np.intp)
        return assign(worth)

    def _make_exact(self, worth: Any, known: Any, i: int, j: int) -> None:
        exact = self._measured(i, j)[0]
        worth[i, j] = exact if exact > self._threshold else 0.0
        known[i, j] = True

    def _by_rounds(self, worth: Any, *, measured: bool) -> Pairing:
        """Do as `_bounded` does where the exact score of a pair may wait for batch comparators.

        What the optimum of the bounds chooses is then to be asked about: the pairing is provisional, and
        `to_ask` holds what else is to be asked about in the same round.
        """
        import numpy as np

        worth[worth <= self._threshold] = 0.0
        known = np.full(worth.shape, measured) | (worth == 0.0)
        final = known.copy()
        for pair in self._open:
            final[pair] = False
        while True:
            columns = assigned(worth, final)
            chosen = [(i, j) for i, j in enumerate(columns.tolist()) if j >= 0]
            waiting = [pair for pair in chosen if not final[pair]]
            prices = dual_prices(worth, columns)
            edges = [] if waiting else usable(worth, columns, prices)
            fresh = [pair for pair in (waiting or edges) if not known[pair]]
            for i, j in fresh:
                bound = worth[i, j]
                self._make_exact(worth, known, i, j)
                final[i, j] = (i, j) not in self._open
                worth[i, j] = min(bound, worth[i, j])
            if fresh:
                continue
            if waiting:
                book = self._aligner.book
                more = to_ask_ahead(worth, final, waiting, prices, 0 if book is None else book.rounds)
            else:
                more = [pair for pair in edges if not final[pair]]
                if self._count_extra and not self._as_ratio and not self._element.plan.weighted:
                    # A perfect pair then is worth all its leaves, on both sides: of such pairs any will do.
                    more = ties_to_ask(worth, chosen, edges, more)
            if waiting or more:
                self.to_ask = [(self._rows[i], self._columns[j]) for i, j in more]
                return chosen
            edges = [pair for pair in edges if final[pair]]
            return chosen if len(edges) == len(chosen) else self._untied(edges, chosen, *prices)

    def _tight(self, worth: Any, columns: Any, known: Any) -> Any:
        """Return the optimum with its ties settled, or None after making exact what ties on a bound."""
        import numpy as np

        columns[(columns >= 0) & (worth[np.arange(len(columns)), columns] <= 0.0)] = -1
        row_prices, column_prices = dual_prices(worth, columns)
        chosen = [(i, j) for i, j in enumerate(columns.tolist()) if j >= 0]
        edges: list[tuple[int, int]] = []
        for start in range(0, len(columns), 256):
            part = worth[start : start + 256]
            slack = row_prices[start : start + 256, None] + column_prices
            slack -= part
            rows, found = np.nonzero((slack <= TIE) & (part > 0.0))
            edges.extend(zip((rows + start).tolist(), found.tolist()))
        if len(edges) == len(chosen):
            return chosen
        if known is not None and not all(known[pair] for pair in edges):
            # Of pairs that tie on a bound, those that some optimum can be made of have to be known.
            edges = usable(worth, columns, (row_prices, column_prices))
            bounds = [pair for pair in edges if not known[pair]]
            if bounds:
                for i, j in bounds:
                    self._make_exact(worth, known, i, j)
                return None
            if len(edges) == len(chosen):
                return chosen
        return self._untied(edges, chosen, row_prices, column_prices)


@final
class _TooManyTiedError(Exception):
    """More elements tie than can be told apart by the rules one by one."""


_ROUNDING: Final = 1e-12
_MAX_TIED: Final = 40
"""Ties among more elements than this are left as the canonical order of the elements has them."""
