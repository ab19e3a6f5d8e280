"""Flat records counted by key: the figures of thousands of objects of scalars, without a row for any leaf."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from pytest_jsonmatch.engine.result.match import HALLUCINATION, MATCH, MISMATCH, OMISSION, Totals
from pytest_jsonmatch.engine.value.convert import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

__all__ = ["Counted", "FlatTally", "KeyCounts"]

_EVERYDAY_INTEGER: Final = 2**63
_PLAIN: Final = frozenset({str, int, float, bool, type(None)})
_NUMBERS: Final = frozenset({int, float})
# So many records in a row that are not flat, and the rest is not looked at.
_PATIENCE: Final = 8


@final
class Counted(NamedTuple):
    """One record's sums, and how many results it has of each status."""

    totals: Totals
    matches: int
    mismatches: int
    omissions: int
    hallucinations: int

    def counts(self) -> dict[str, int]:
        """Return the numbers of results by status, as far as there are any."""
        named = zip((MATCH, MISMATCH, OMISSION, HALLUCINATION), self[1:])
        return {status: number for status, number in named if number}


@final
class KeyCounts:
    """What became of one key in all records."""

    __slots__ = ("hallucinations", "mismatches", "node", "omissions", "partial", "present")

    def __init__(self, node: PlanNode) -> None:
        self.node = node
        self.present = 0
        """Records whose expected has it."""
        self.mismatches = self.omissions = self.hallucinations = 0
        self.partial: list[float] = []
        """Scores of mismatches that are not 0."""


@final
class FlatTally:
    """Counts the results of flat records under one plan.

    It counts what `scoring.score` would find, and leaves to that everything out of the ordinary: rules that
    skip or weigh, comparators and transforms of a user's, containers, values that need a look.
    """

    __slots__ = ("_count_extra", "_failed", "_keys", "_perfect", "_plan", "_seen", "_sure")

    def __init__(self, plan: Plan) -> None:
        options, root = plan.options, plan.root
        self._plan = plan
        self._count_extra = options.extra == "count"
        self._keys: dict[str, KeyCounts] = {}
        self._sure: set[str] = set()
        self._seen: list[str] = []
        """The keys of expected, of one record after the other."""
        self._perfect: dict[int, Counted] = {}
        fits = (
            not (plan.weighted or plan.has_batch or plan.preloads or plan.nulls_absent or plan.target)
            and options.leaf_threshold is None
            and (options.granularity == "leaves" or plan.flat)
            and not (root.explicit or root.skip or root.unlisted or root.branches)
        )
        self._failed = 0 if fits else _PATIENCE

    def add(self, expected: Any, actual: Any) -> Counted | None:
        """Count one record; None, having counted nothing, if it is not for us.

        Args:
            expected: a dict, as it came.
            actual: a dict, as it came.
        """
        if self._failed >= _PATIENCE:
            return None
        try:
            counted = self._counted(expected, actual)
        except OverflowError:
            # An integer that no double holds.
            counted = None
        self._failed = self._failed + 1 if counted is None else 0
        return counted

    def _counted(self, expected: dict[Any, Any], actual: dict[Any, Any]) -> Counted | None:
        if not (expected and actual and (self._sure.issuperset(expected) or self._admit(expected))):
            return None
        get, keys = actual.get, self._keys
        total = 0.0
        odd: list[tuple[str, float | None]] = []  # (key, score; None: an omission)
        omissions = 0
        for key, one in expected.items():
            other = get(key, MISSING)
            kind = type(one)
            # (Equality is asked of plain scalars only.)
            if kind is type(other):
                if kind is str:
                    if one == other:
                        continue
                elif kind is int or kind is float:
                    total += one
                    if one == other:
                        continue
                    total += other
                elif kind is bool or one is None:
                    if one is other:
                        continue
                else:
                    return None
                node = keys[key].node
                value = _compared(node, one, other) if node.special else node.by_type[kind](one, other)
            elif other is MISSING:
                if not _is_plain(one):
                    return None
                omissions += 1
                odd.append((key, None))
                continue
            elif _is_plain(one) and _is_plain(other):
                value = _compared(keys[key].node, one, other)
            else:
                return None
            if value is None:
                return None
            if value != 1.0:
                odd.append((key, value))
        # The sum tells, at one test for all, whether a number was NaN, infinite or too large.
        if total - total != 0.0:
            return None
        size = len(expected)
        present = size - omissions
        extra: list[str] = []
        if len(actual) != present:
            for key, other in actual.items():
                if key not in expected:
                    if type(key) is not str or not _is_plain(other) or not self._takes(key):
                        return None
                    extra.append(key)
            if not self._count_extra:
                extra = []
        # Until here nothing was counted.
        self._seen += expected
        if odd or extra:
            return self._imperfect(size, odd, extra, omissions)
        known = self._perfect.get(size)
        if known is None:
            known = self._perfect[size] = Counted(Totals(size, size, size, perfect=True), size, 0, 0, 0)
        return known

    def _imperfect(
        self, size: int, odd: list[tuple[str, float | None]], extra: list[str], omissions: int
    ) -> Counted:
        """Count what is wrong with a record whose expected has so many keys."""
        keys = self._keys
        parts: list[float] = []
        for key, value in odd:
            counts = keys[key]
            if value is None:
                counts.omissions += 1
            else:
                counts.mismatches += 1
                if value:
                    counts.partial.append(value)
                    parts.append(value)
        for key in extra:
            keys[key].hallucinations += 1
        matches = size - len(odd)
        found = math.fsum((matches, *parts)) if parts else matches
        totals = Totals(found, size, size - omissions + len(extra), perfect=False)
        return Counted(totals, matches, len(odd) - omissions, omissions, len(extra))

    def by_key(self) -> Iterator[KeyCounts]:
        """Yield what became of each key that was counted, in the order of their first appearance."""
        for key, number in Counter(self._seen).items():
            self._keys[key].present += number
        self._seen = []
        for counts in self._keys.values():
            if counts.present or counts.hallucinations:
                yield counts

    def _admit(self, expected: dict[Any, Any]) -> bool:
        """Take new keys of expected on; False if one of them is not for us."""
        for key in expected:
            if key in self._sure:
                continue
            if type(key) is not str:
                return False
            node = self._plan.root.children[key]
            if not node.plain:
                # A rule that skips it, alternatives, a comparator that wants to see equal values too.
                return False
            self._sure.add(key)
            self._keys.setdefault(key, KeyCounts(node))
        return True

    def _takes(self, key: str) -> bool:
        """Tell whether a key that only actual has is an ordinary hallucination."""
        if key not in self._keys:
            node = self._plan.root.children[key]
            refused = node.unlisted and self._plan.options.unlisted == "reject"
            if node.skip or node.branches is not None or refused:
                return False
            self._keys[key] = KeyCounts(node)
        return True


def _is_plain(value: Any) -> bool:
    kind = type(value)
    if kind is float:
        return bool(value - value == 0.0)
    return kind in _PLAIN and (kind is not int or -_EVERYDAY_INTEGER < value < _EVERYDAY_INTEGER)


def _compared(node: PlanNode, expected: JsonValue, actual: JsonValue) -> float | None:
    """Return the score of two scalars, as the walk's `settle` finds it; None if it has to be asked."""
    one, other = expected, actual
    if node.transforms:
        for transform in node.transforms:
            one = None if one is None else transform(one)
            other = None if other is None else transform(other)
        if not (_is_plain(one) and _is_plain(other)):
            return None
    kind, other_kind = type(one), type(other)
    if node.explicit is not None:
        fn = node.explicit.fn
    elif kind is other_kind:
        if one == other:
            return 1.0
        fn = node.by_type[kind]
    elif kind in _NUMBERS and other_kind in _NUMBERS:
        fn = node.by_type[float]
    else:
        # Two types: one leaf on each side, and nothing right.
        return 0.0
    value = fn(one, other)
    return value if type(value) is float and 0.0 <= value <= 1.0 else None
