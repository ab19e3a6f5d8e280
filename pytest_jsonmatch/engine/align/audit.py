"""How sure a pairing is: what else each pair of an unordered array could have been, and what that would cost.

Scoring knows nothing of this: it is worked out when a report asks for it. An element's similarities to all
elements of the other side say who its second-best partner is. Whether a pair is ambiguous is a matter of the
whole array: the cheapest way to another pairing is a path of exchanges, priced by the optimum's dual prices.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.align.keys_ import Canon
from pytest_jsonmatch.engine.sparse import dense_bytes
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.errors import JsonMatchError
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pytest_jsonmatch.engine.alignment import Pairing
    from pytest_jsonmatch.engine.plan.compile import BoundComparator, Plan, PlanNode
    from pytest_jsonmatch.engine.result.containers import ArrayAlignment
    from pytest_jsonmatch.engine.score.outcome import Aligned, Trail
    from pytest_jsonmatch.engine.value.convert import JsonValue, Side

    Matrix: TypeAlias = NDArray[np.float64]

__all__ = ["MOST_ARRAYS", "TOLERANCE", "ArrayAudit", "AuditedPair", "Partner", "audit_arrays"]

TOLERANCE: Final = 0.05
"""A pair is ambiguous if another pairing's similarities add up to at most so much less."""

CHEAP: Final = frozenset(
    {
        "exact",
        "binary",
        "numeric",
        "relative",
        "threshold",
        "levenshtein",
        "jaccard",
        "oneof",
        "normalized_text",
        "date",
        "contains",
    }
)
"""The comparators that are asked about pairs that nobody chose. Others may be dear, or have a time limit."""

MOST_CELLS: Final = 1_000_000
"""So many pairs of elements are looked at in one comparison, field by field."""
_MOST_FOR_TWINS: Final = 250_000
"""In larger arrays nobody looks for the second-best partner of an element that has found its equal."""
_MOST_WALKED: Final = 500_000
"""So many pairs of values are looked at in one comparison where every pair of elements takes a walk."""
_MOST_SEEN: Final = 2_000_000
"""So many values are looked at to find out what the pairs would take."""
_MOST_STEPS: Final = 1_000_000
"""So many exchanges are looked at in one comparison."""
MOST_ARRAYS: Final = 100
"""So many arrays of one comparison are audited."""
_MOST_INDEX: Final = 2**53
_ROUNDING: Final = 1e-12


@final
@dataclass(frozen=True, slots=True)
class Partner:
    """The best of the elements that one was not paired with.

    >>> Partner(2, 0.7).score
    0.7
    """

    index: int | None
    """Where it stands; None if all of them score 0."""
    score: float

    def to_dict(self) -> dict[str, Any]:
        """Return both as plain JSON types.

        >>> Partner(2, 0.7).to_dict()
        {'index': 2, 'score': 0.7}
        """
        return {"index": self.index, "score": self.score}

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Partner:
        """Return what `to_dict` gave; ValueError or TypeError for anything else."""
        index = found["index"]
        return cls(None if index is None else _index(index), _figure(found["score"]))


@final
@dataclass(frozen=True, slots=True)
class AuditedPair:
    """One pair of an unordered array, and what else could have been.

    >>> pair = AuditedPair(0, 1, 0.75, 0.75, Partner(4, 0.7), None, None, ambiguous=False)
    >>> pair.next_actual.index, pair.next_actual.score
    (4, 0.7)
    """

    expected: int
    """The index in expected."""
    actual: int
    """The index in actual."""
    f1: float
    """The F1 of the two, as in `alignments`."""
    score: float | None
    """What the pairing made as great as it can be: the metric's own score of the two alone. That is the F1,
    but under `reduce: ratio`. None if it was not computed."""
    next_actual: Partner | None
    """For the element of expected, the second-best element of actual. None if there is no other, or nobody
    has looked, because the two are equal and the array is large."""
    next_expected: Partner | None
    """For the element of actual, the second-best element of expected; None likewise."""
    margin: float | None
    """How much less the similarities of all pairs add up to, at best, if one of the two meets another element
    instead that is not equal to its partner. None if that is more than the tolerance."""
    ambiguous: bool | None
    """Whether there is such a margin. None if it was not computed."""

    def to_dict(self) -> dict[str, Any]:
        """Return the pair as plain JSON types."""
        return {
            "expected": self.expected,
            "actual": self.actual,
            "f1": self.f1,
            "score": self.score,
            "next_actual": self.next_actual and self.next_actual.to_dict(),
            "next_expected": self.next_expected and self.next_expected.to_dict(),
            "margin": self.margin,
            "ambiguous": self.ambiguous,
        }

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> AuditedPair:
        """Return what `to_dict` gave; ValueError or TypeError for anything else."""
        others = found["next_actual"], found["next_expected"]
        next_actual, next_expected = (None if each is None else Partner.from_dict(each) for each in others)
        score, margin, ambiguous = found["score"], found["margin"], found["ambiguous"]
        if ambiguous is not None and type(ambiguous) is not bool:
            raise TypeError(f"{ambiguous!r} is no boolean")
        return cls(
            _index(found["expected"]),
            _index(found["actual"]),
            _figure(found["f1"]),
            None if score is None else _figure(score),
            next_actual,
            next_expected,
            None if margin is None else _figure(margin),
            ambiguous,
        )


@final
@dataclass(frozen=True, slots=True)
class ArrayAudit:
    """The pairs of one unordered array, with what else could have been.

    >>> from pytest_jsonmatch import compare_json
    >>> expected = [{"n": "tea", "p": 2}, {"n": "milk", "p": 3}]
    >>> actual = [{"n": "tea", "p": 3}, {"n": "milk", "p": 2}]
    >>> (audit,) = compare_json(actual, expected, metric="pairwise_f1").audit()
    >>> [(each.expected, each.actual, each.f1, each.next_actual, each.ambiguous) for each in audit.pairs]
    [(0, 0, 0.5, Partner(index=1, score=0.5), True), (1, 1, 0.5, Partner(index=0, score=0.5), True)]
    """

    path: str
    """The schema path of the array."""
    expected_path: str
    actual_path: str
    pairs: tuple[AuditedPair, ...]
    """In the order of expected."""
    unmatched_expected: tuple[int, ...]
    unmatched_actual: tuple[int, ...]
    reason: str | None = None
    """Why nothing was computed; None if it was."""
    more: int = 0
    """How many pairs were left out by `shortened`."""

    def shortened(self, most: int) -> ArrayAudit:
        """Return the audit with at most so many pairs: the ambiguous ones first, then the worst.

        >>> pairs = [AuditedPair(at, at, at / 2, None, None, None, None, None) for at in range(3)]
        >>> audit = ArrayAudit("a", "a", "a", tuple(pairs), (), ()).shortened(2)
        >>> [pair.expected for pair in audit.pairs], audit.more
        ([0, 1], 1)
        """
        if len(self.pairs) <= most:
            return self
        pairs = sorted(self.pairs, key=lambda pair: (not pair.ambiguous, pair.f1, pair.expected))[:most]
        kept = tuple(sorted(pairs, key=lambda pair: pair.expected))
        return replace(self, pairs=kept, more=self.more + len(self.pairs) - len(kept))

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as plain JSON types."""
        found: dict[str, Any] = {
            "path": self.path,
            "expected_path": self.expected_path,
            "actual_path": self.actual_path,
            "pairs": [pair.to_dict() for pair in self.pairs],
            "unmatched_expected": list(self.unmatched_expected),
            "unmatched_actual": list(self.unmatched_actual),
        }
        if self.reason is not None:
            found["reason"] = self.reason
        if self.more:
            found["more"] = self.more
        return found

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> ArrayAudit:
        """Return what `to_dict` gave; ValueError or TypeError for anything else.

        >>> audit = ArrayAudit("a", "a", "a", (), (0,), (), "its elements are skipped")
        >>> ArrayAudit.from_dict(audit.to_dict()) == audit
        True
        """
        reason = found.get("reason")
        return cls(
            _text(found["path"]),
            _text(found["expected_path"]),
            _text(found["actual_path"]),
            tuple(map(AuditedPair.from_dict, found["pairs"])),
            tuple(map(_index, found["unmatched_expected"])),
            tuple(map(_index, found["unmatched_actual"])),
            None if reason is None else _text(reason),
            _index(found.get("more", 0)),
        )


def _index(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= _MOST_INDEX:
        raise ValueError(f"{value!r:.40} is no index")
    return value


def _figure(value: Any) -> float:
    if type(value) not in {int, float} or not 0 <= value <= 1:
        raise ValueError(f"{value!r:.40} is no number from 0 to 1")
    number: float = value
    return number


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError(f"{value!r:.40} is no text")
    return value


def audit_arrays(
    plan: Plan,
    arrays: Sequence[Aligned],
    alignments: Iterable[ArrayAlignment],
    documents: tuple[JsonValue, JsonValue],
    *,
    approximate: bool = False,
    tolerance: float = TOLERANCE,
) -> tuple[ArrayAudit, ...]:
    """Return an audit of each unordered array, of a hundred at most, in the order of the document.

    Args:
        plan: what the arrays were paired under.
        arrays: how they were aligned.
        alignments: the same, as users see it, in the same order.
        documents: expected and actual as a whole.
        approximate: an array may not have been paired exactly.
        tolerance: pairings whose totals differ by no more are as good as tied.
    """
    room = _Room(MOST_CELLS, _MOST_WALKED, _MOST_STEPS, _MOST_SEEN)
    canon = Canon(nulls_absent=plan.options.nulls == "absent")
    found: list[ArrayAudit] = []
    for array, alignment in zip(arrays, alignments):
        if len(found) == MOST_ARRAYS:
            break
        if alignment.kind != "unordered":
            continue
        sides = (
            _array_at(documents[0], array.trail, "expected"),
            _array_at(documents[1], array.trail, "actual"),
        )
        one = _Audit(plan, array.node, array.pairs, sides, room, tolerance)
        reason: str | None = None
        pairs: list[AuditedPair] = []
        try:
            one.look(canon, approximate=approximate)
            pairs = list(one.pairs([f1 for _, _, f1 in alignment.pairs]))
        except _NotComputedError as error:
            reason = str(error)
        except JsonMatchError as error:
            # (Of two that nobody has paired, one may not be what the other's schema wants.)
            reason = f"some elements cannot be compared with each other: {error}"
        if reason is not None:
            pairs = [AuditedPair(i, j, f1, None, None, None, None, None) for i, j, f1 in alignment.pairs]
        found.append(
            ArrayAudit(
                alignment.path,
                alignment.expected_path,
                alignment.actual_path,
                tuple(pairs),
                alignment.unmatched_expected,
                alignment.unmatched_actual,
                reason,
            )
        )
    return tuple(found)


def _array_at(document: JsonValue, trail: Trail | None, side: Side) -> list[JsonValue]:
    """Return the array that has a trail, on one side of it."""
    keys: list[Any] = []
    while trail is not None:
        keys.append(trail.expected_key if side == "expected" else trail.actual_key)
        trail = trail.parent
    found: Any = document
    for key in reversed(keys):
        found = found[key]
    array: list[JsonValue] = found
    return array


@final
class _NotComputedError(Exception):
    """It would take too much; the message says what."""


@final
class _Room:
    """What may still be looked at in one comparison."""

    __slots__ = ("cells", "seen", "steps", "walked")

    def __init__(self, cells: int, walked: int, steps: int, seen: int) -> None:
        self.cells = cells
        self.walked = walked
        self.steps = steps
        self.seen = seen


class _Block(NamedTuple):
    """Similarities of some elements of expected with some of actual."""

    worth: Matrix
    row_of: dict[int, int]
    column_of: dict[int, int]


@final
class _Audit:
    """The audit of one array."""

    __slots__ = (
        "_actual",
        "_columns",
        "_element",
        "_expected",
        "_keys",
        "_paired",
        "_plan",
        "_room",
        "_rows",
        "_tolerance",
        "_values",
        "_walks",
        "_whole",
    )

    def __init__(
        self,
        plan: Plan,
        node: PlanNode,
        paired: Pairing,
        sides: tuple[list[JsonValue], list[JsonValue]],
        room: _Room,
        tolerance: float,
    ) -> None:
        self._plan = plan
        self._element = node.children[ELEMENT].alone()
        self._paired = paired
        self._expected, self._actual = sides
        self._room = room
        self._tolerance = tolerance
        self._walks = False
        self._whole = False
        self._values = [0, 0]
        self._keys: tuple[list[Hashable], ...] = ()
        self._rows: list[int] = []
        self._columns: list[int] = []

    def _are_twins(self, i: int, j: int) -> bool:
        one: Hashable = self._keys[0][i]
        return one == self._keys[1][j]

    # -- what is too dear ----------------------------------------------------------------------------------

    def look(self, canon: Canon, *, approximate: bool) -> None:
        """Find out what it takes to audit the array, and what in it is equal.

        Raises:
            _NotComputedError: too much.
        """
        if self._element.skip:
            raise _NotComputedError("its elements are skipped")
        for side, values in enumerate((self._expected, self._actual)):
            self._values[side] = sum(self._values_in(value) for value in values)
        self._find_twins(canon)
        n, m = len(self._expected), len(self._actual)
        limit = self._plan.options.memory_limit
        if approximate and dense_bytes(len(self._rows), len(self._columns)) > limit:
            raise _NotComputedError("the pairing itself is approximate")
        cells, without_twins = n * m, len(self._rows) * m + n * len(self._columns)
        self._whole = cells <= max(_MOST_FOR_TWINS, without_twins)
        if not self._whole:
            cells = without_twins
        if cells > self._room.cells:
            raise _NotComputedError(f"too many elements, {n:,} × {m:,}")
        self._room.cells -= cells

    def _find_twins(self, canon: Canon) -> None:
        found = canon.keys(self._element, self._expected, self._actual)
        self._keys = tuple(
            [(side, at) if key is MISSING else key for at, key in enumerate(keys)]
            for side, keys in enumerate(found)
        )
        twins = {i: j for i, j in self._paired if self._are_twins(i, j)}
        taken = set(twins.values())
        # What was paired by similarity, not because it is equal:
        self._rows = [i for i in range(len(self._expected)) if i not in twins]
        self._columns = [j for j in range(len(self._actual)) if j not in taken]

    def _values_in(self, value: JsonValue) -> int:
        """Return how many values an element holds, and note whether columns are no way to score it."""
        stack = [(self._element, value)]
        seen = 0
        while stack:
            seen += 1
            self._room.seen -= 1
            if self._room.seen < 0:
                raise _NotComputedError("too much in its elements and those of the arrays before it")
            node, item = stack.pop()
            if node.branches is not None:
                self._walks = True
                node = node.chosen(item, MISSING)
            if node.skip:
                continue
            if node.explicit is None and type(item) is dict:
                stack.extend((node.children[key], below) for key, below in item.items())
            elif node.explicit is None and type(item) is list:
                self._walks = self._walks or node.align != "ordered"
                stack.extend((node.children[ELEMENT], below) for below in item)
            else:
                for bound in _comparators(node, item):
                    name = bound.comparator.name
                    if name not in CHEAP:
                        raise _NotComputedError(f"the comparator {name!r} may be dear")
                    self._walks = self._walks or bound.comparator.pairwise is None
        return seen

    # -- similarities --------------------------------------------------------------------------------------

    def _block(self, rows: Sequence[int], columns: Sequence[int]) -> _Block:
        """Return what each of some elements of expected is worth with each of some of actual."""
        import numpy as np

        places = {i: at for at, i in enumerate(rows)}, {j: at for at, j in enumerate(columns)}
        if not rows or not columns:
            return _Block(np.zeros((len(rows), len(columns))), *places)
        worth = None if self._walks else self._by_column(rows, columns)
        return _Block(self._by_walk(rows, columns) if worth is None else worth, *places)

    def _by_column(self, rows: Sequence[int], columns: Sequence[int]) -> Matrix | None:
        from pytest_jsonmatch.engine.similarity import pair_sums

        sums = pair_sums(
            self._element,
            [self._expected[i] for i in rows],
            [self._actual[j] for j in columns],
            count_extra=self._count_extra,
        )
        if sums is None or not sums.exact:
            return None
        return sums.similarity(as_ratio=self._plan.options.reduce == "ratio")

    def _by_walk(self, rows: Sequence[int], columns: Sequence[int]) -> Matrix:
        import numpy as np

        from pytest_jsonmatch.engine.score.walk_ import pairwise_aligner

        most = max(self._values[0], 1) * max(self._values[1], 1)
        if most > self._room.walked:
            sizes = f"{len(self._expected):,} × {len(self._actual):,}"
            raise _NotComputedError(f"too many elements that are not flat, {sizes}")
        self._room.walked -= most
        aligner = pairwise_aligner(self._plan)
        worth = np.zeros((len(rows), len(columns)))
        for at, i in enumerate(rows):
            for to, j in enumerate(columns):
                pair = (None, i, j, self._expected[i], self._actual[j])
                worth[at, to] = aligner.measure(self._element, pair, self._count_extra)[0]
        return worth

    @property
    def _count_extra(self) -> bool:
        return self._plan.options.extra == "count"

    # -- pairs ---------------------------------------------------------------------------------------------

    def pairs(self, figures: Sequence[float]) -> Iterator[AuditedPair]:
        """Yield the pairs, whose F1 is given, in the order of expected."""
        n, m = len(self._expected), len(self._actual)
        if self._whole:
            across = down = self._block(range(n), range(m))
        else:
            across, down = self._block(self._rows, range(m)), self._block(range(n), self._columns)
        margins = self._margins(across)
        for (i, j), f1 in zip(self._paired, figures, strict=True):
            at, to = across.row_of.get(i), down.column_of.get(j)
            twins = self._are_twins(i, j)
            score = 1.0 if twins else None
            if at is not None:
                score = float(across.worth[at, across.column_of[j]])
            margin = None if twins else margins.get((i, j))
            yield AuditedPair(
                i,
                j,
                f1,
                score,
                None if at is None else _second(across.worth[at], j),
                None if to is None else _second(down.worth[:, to], i),
                margin,
                False if twins else None if (i, j) not in margins else margin is not None,
            )

    def _margins(self, across: _Block) -> dict[tuple[int, int], float | None]:
        """Return, by pair of what is not equal, its margin, if it is within the tolerance."""
        pairs = [(i, j) for i, j in self._paired if not self._are_twins(i, j)]
        if not pairs:
            return {}
        import numpy as np

        from pytest_jsonmatch.engine.assignment import dual_prices

        at_rows = [across.row_of[i] for i in self._rows]
        worth = across.worth[np.ix_(at_rows, [across.column_of[j] for j in self._columns])]
        worth[worth <= self._plan.options.array_threshold + _ROUNDING] = 0.0
        row_of = {i: at for at, i in enumerate(self._rows)}
        column_of = {j: to for to, j in enumerate(self._columns)}
        chosen = np.full(len(self._rows), -1, dtype=np.intp)
        for i, j in pairs:
            chosen[row_of[i]] = column_of[j]
        prices = dual_prices(worth, chosen)
        # Equal elements are one: exchanging them changes nothing. They have the same price.
        kinds = (
            _kinds([self._keys[0][i] for i in self._rows]),
            _kinds([self._keys[1][j] for j in self._columns]),
        )
        exchanges = _Exchanges(worth, chosen, prices, kinds, self._tolerance)
        found: dict[tuple[int, int], float | None] = {}
        known: dict[tuple[int, int], float | None] = {}
        for i, j in pairs:
            kind = kinds[0][row_of[i]], kinds[1][column_of[j]]
            if kind not in known:
                if exchanges.steps > self._room.steps:
                    continue
                known[kind] = exchanges.margin(*kind)
            found[i, j] = known[kind]
        self._room.steps -= exchanges.steps
        return found


def _comparators(node: PlanNode, value: JsonValue) -> Iterator[BoundComparator]:
    """Yield what a value is compared by, whatever scalar of its type it meets."""
    if node.explicit is not None:
        yield node.explicit
        return
    # (An integer is compared by another comparator with a number that has a fraction.)
    for other in (value, 0.5) if type(value) is int else (value,):
        bound = node.default_for(value, other)
        if bound is not None:
            yield bound


def _second(scores: Any, own: int) -> Partner | None:
    """Return the best of some scores but one's own; the first of equals."""
    import numpy as np

    if len(scores) < 2:
        return None
    others = np.array(scores)
    others[own] = -1.0
    best = int(others.argmax())
    score = float(others[best])
    return Partner(best if score > 0.0 else None, score)


def _kinds(keys: Sequence[Hashable]) -> list[int]:
    """Number what is equal alike.

    >>> _kinds(["a", "b", "a"])
    [0, 1, 0]
    """
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


_NOBODY: Final = -1


@final
class _Exchanges:
    """The ways from the optimum to other pairings, each exchange at its price: what the total loses by it.

    A pairing differs from the optimum by cycles of exchanges: a row leaves its column for another, whose row
    leaves that for a third, and so on, until somebody takes what was left first. To be without a partner is
    to be paired with nobody. Under the dual prices every step costs something, or nothing, but never gains.
    """

    __slots__ = ("_entering", "_forward", "_free_rows", "_limit", "_owners", "_prices", "steps")

    def __init__(
        self,
        worth: Matrix,
        chosen: Any,
        prices: tuple[Any, Any],
        kinds: tuple[list[int], list[int]],
        tolerance: float,
    ) -> None:
        import numpy as np

        self._limit = tolerance + _ROUNDING
        self.steps = 0
        row_kinds, column_kinds = kinds
        taken = {int(column) for column in chosen if column >= 0}
        self._free_rows = {row_kinds[at] for at, column in enumerate(chosen.tolist()) if column < 0}
        free_columns = {kind for at, kind in enumerate(column_kinds) if at not in taken}
        # Who has one of a kind of column now; nobody, if one of them is free.
        self._owners: dict[int, set[int]] = {kind: {_NOBODY} for kind in free_columns}
        for at, column in enumerate(chosen.tolist()):
            if column >= 0:
                self._owners.setdefault(column_kinds[column], set()).add(row_kinds[at])
        rows, columns = _firsts(row_kinds), _firsts(column_kinds)
        self._prices = prices[0][rows].tolist(), prices[1][columns].tolist()
        block = worth[np.ix_(rows, columns)]
        slack = prices[0][rows, None] + prices[1][columns] - block
        self._forward: list[list[tuple[float, int]]] = [[] for _ in rows]
        self._entering: list[list[tuple[float, int]]] = [[] for _ in columns]
        for row, column in np.argwhere((block > 0.0) & (slack <= self._limit)).tolist():
            price = max(0.0, float(slack[row, column]))
            self._forward[row].append((price, column))
            self._entering[column].append((price, row))

    def margin(self, row: int, column: int) -> float | None:
        """Return what the total loses, at least, if one of a row and its column meets another instead."""
        limit = self._limit
        own, other = self._prices[0][row], self._prices[1][column]
        leaving = min((price for price, to in self._forward[row] if to != column), default=limit + 1)
        entering = min((price for price, at in self._entering[column] if at != row), default=limit + 1)
        if min(leaving, own) + min(entering, other) > limit:
            return None
        # (Row to nobody, and nobody to column, is no other pair: both would only be left alone.)
        best = self._cheapest(row, column, limit + 1, alone=True) if entering <= limit else limit + 1
        if leaving <= limit:
            best = self._cheapest(row, column, best, alone=False)
        return best if best <= limit else None

    def _cheapest(self, start: int, banned: int, best: float, *, alone: bool) -> float:
        """Return what it costs at least until a column is taken again that its row has lost; or `best`.

        Args:
            start: the row.
            banned: its column, which only the last exchange takes.
            best: what is no better than this is of no interest.
            alone: whether the row may be left alone; then the column may not, and the other way round.
        """
        row_prices, column_prices = self._prices
        if alone:
            ends = {at: price for price, at in self._entering[banned] if at != start}
        else:
            ends = {_NOBODY: column_prices[banned]}
        done: set[int] = set()
        waiting: list[tuple[float, int]] = [(0.0, start)]
        reached: dict[int, float] = {start: 0.0}
        while waiting:
            cost, at = heapq.heappop(waiting)
            if cost >= best:
                break
            if at in done:
                continue
            done.add(at)
            best = min(best, cost + ends.get(at, best))
            if at == _NOBODY:
                steps = [(price, to) for to, price in enumerate(column_prices)]
                freed = [(cost, row) for row in self._free_rows]
            else:
                steps = self._forward[at]
                freed = [(cost + max(0.0, row_prices[at]), _NOBODY)] if alone or at != start else []
            self.steps += len(steps) + 1
            for price, to in steps:
                total = cost + price
                if to != banned and total < best:
                    freed.extend((total, owner) for owner in self._owners.get(to, ()))
            for total, to in freed:
                if total < min(best, reached.get(to, best)):
                    reached[to] = total
                    heapq.heappush(waiting, (total, to))
        return best


def _firsts(kinds: Sequence[int]) -> list[int]:
    """Return where each kind comes first.

    >>> _firsts([0, 1, 0, 2])
    [0, 1, 3]
    """
    seen: dict[int, int] = {}
    for at, kind in enumerate(kinds):
        seen.setdefault(kind, at)
    return list(seen.values())
