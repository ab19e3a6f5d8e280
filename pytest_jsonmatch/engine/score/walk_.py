"""Walk two documents under a plan, and make findings and totals.

The stack is explicit, so that depth costs no recursion. A place where one side has nothing is walked like any
other, with MISSING on that side.
"""

from __future__ import annotations

import math
from decimal import Decimal
from itertools import chain, count, repeat
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.alignment import Aligner, pair_by_key
from pytest_jsonmatch.engine.compare.base import ComparatorResult, Question
from pytest_jsonmatch.engine.compare.batched import Request
from pytest_jsonmatch.engine.score.outcome import (
    BATCH_ERROR,
    HALLUCINATION,
    MATCH,
    MISMATCH,
    NOT_ASKED,
    OMISSION,
    PENDING,
    SKIPPED,
    Aligned,
    Detail,
    Outcome,
    Seen,
    instance_path,
    new_finding,
    place_below,
)
from pytest_jsonmatch.engine.value.collector import DEEP, CollectorPause
from pytest_jsonmatch.engine.value.convert import MISSING, json_type
from pytest_jsonmatch.engine.value.errors import (
    GoldValidationError,
    RootTypeError,
    TargetPathError,
    UnlistedFieldError,
    did_you_mean,
)
from pytest_jsonmatch.engine.value.paths import ELEMENT, format_path
from pytest_jsonmatch.engine.value.sums import Sums, total_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_jsonmatch.engine.alignment import Pair, Pairing
    from pytest_jsonmatch.engine.ask.rounds_ import BatchBook
    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.plan.rules import PlanBase
    from pytest_jsonmatch.engine.score.outcome import Finding, Trail
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.engine.value.errors import JsonMatchError
    from pytest_jsonmatch.triage import Triage

__all__ = [
    "pairwise_aligner",
    "score",
    "score_flat",
    "walk_flat",
    "walk_once",
]

Item: TypeAlias = "tuple[Any, Any, JsonValue, JsonValue, PlanNode]"
"""(key in expected, key in actual, value in expected, value in actual, node): one thing to score.

Below a container that only one side has, the other side's key is MISSING."""

_NUMBERS: Final = frozenset({int, float, Decimal})
_CONTAINERS: Final = frozenset({dict, list})


def score(
    plan: Plan, expected: JsonValue, actual: JsonValue, judge: object = None, triage: Triage | None = None
) -> Outcome:
    """Score two JSON values under a plan.

    Args:
        plan: a compiled metric.
        expected: a JSON value (see `values`).
        actual: a JSON value, or MISSING.
        judge: what comparators that ask one are given.
        triage: says which of their questions need an answer; None: all.

    Returns:
        The findings, the totals every figure is made of, and the alignments.

    Raises:
        RootTypeError: the metric compares objects and one side is none.
        TargetPathError: expected has nothing where `target_key` points.
        GoldValidationError: expected has a member that the schema does not list.
        UnlistedFieldError: actual has one, and the metric does not take that.
    """
    if not (plan.has_batch or plan.preloads):
        return walk_once(plan, expected, actual)
    from pytest_jsonmatch.engine.ask.rounds_ import score_batch  # it walks; the walk only knows its book

    (found,) = score_batch(plan, [(None, expected, actual)], judge, triage)
    if isinstance(found, Outcome):
        return found
    raise found


def walk_once(plan: Plan, expected: JsonValue, actual: JsonValue, book: BatchBook | None = None) -> Outcome:
    """Do what `score` does, once.

    Args:
        plan: a compiled metric.
        expected: a JSON value.
        actual: a JSON value, or MISSING.
        book: of a plan with batch comparators, what they have said so far: what is open stands in `requests`
            afterwards, and the outcome is the last one if nothing does.
    """
    walk = _Walk(plan, book=book)
    node = plan.root
    trail: Trail | None = None
    key: Any = None
    for segment in plan.target:
        # Results below a target keep the paths of the whole document.
        if node is not plan.root:
            trail = place_below(trail, key, key)
        if node.branches is not None:
            node = node.chosen(expected, actual)
        node = node.children[ELEMENT if type(segment) is int else segment]
        key = segment
        expected, actual = _member_of(expected, segment), _member_of(actual, segment)
    if plan.target and expected is MISSING:
        message = f"target_key is {format_path(plan.target)!r}, and expected has nothing there"
        raise TargetPathError(message)
    if plan.options.root == "object":
        _require_objects(plan, expected, actual)
    # (A target that expected has as {} and actual not at all is itself what is missing: no unit of it.)
    units = plan.options.granularity == "fields" and type(expected) is dict
    full = _without_nulls(expected) if units and walk.nulls_absent else expected
    try:
        if units and (type(actual) is dict or (actual is MISSING and full)):
            # Where a target is missing in actual, so is every key of it.
            actual = {} if actual is MISSING else actual
            if node.branches is not None:
                node = node.chosen(expected, actual)
            if node.unlisted:
                raise _refused(node, place_below(trail, key, key), of_expected=True)
            walk.run_units(node, place_below(trail, key, key), expected, actual)
        else:
            walk.run(node, trail, key, key, expected, actual)
    except UnlistedFieldError:
        # What is wrong with expected is told first, wherever the walk met what is wrong with actual.
        _check_below(node, expected, trail, key, itself=not units)
        raise
    finally:
        walk.pause.end()
    return Outcome(plan.root, walk.rows, 0, walk.totals(), walk.alignments, Seen(), walk.gap)


def score_flat(
    plan: Plan, expected: dict[str, JsonValue], actual: dict[str, JsonValue]
) -> tuple[Sums, list[float]]:
    """Return the totals of two objects of scalars, as `score` would, without a row for any of them.

    Args:
        plan: a plan whose `flat` holds: nothing depends on the path, and equal values score 1.
        expected: from `flat_copy`.
        actual: from `flat_copy`.

    Returns:
        The totals, and what comparators said, in the order in which `walk_flat` would ask them again.
    """
    by_type, transforms = plan.types.by_type, plan.transforms
    get = actual.get
    matches = present = 0
    values: list[float] = []
    for key, item in expected.items():
        one, other = item, get(key, MISSING)
        kind = type(one)
        if kind is type(other):
            present += 1
            if one == other:
                matches += 1
                continue
            if kind is str and transforms:
                for transform in transforms:
                    one, other = transform(one), transform(other)
                if one == other:
                    matches += 1
                    continue
            values.append(by_type[kind](one, other))
        elif other is MISSING:
            continue
        else:
            present += 1
            if kind in _NUMBERS and type(other) in _NUMBERS:
                values.append(by_type[float](one, other))
    found = len(actual) if plan.options.extra == "count" else present
    perfect = matches + values.count(1.0) == len(expected) == found
    return Sums(math.fsum((matches, *values)) if values else matches, len(expected), found, perfect), values


def walk_flat(
    plan: Plan,
    expected: dict[str, JsonValue],
    actual: dict[str, JsonValue],
    values: list[float] | None = None,
) -> Outcome:
    """Return what `score` finds in two objects of scalars.

    Args:
        plan: a plan whose `flat` holds.
        expected: from `flat_copy`.
        actual: from `flat_copy`.
        values: what comparators said, if `score_flat` has asked them already.
    """
    rows: list[Finding] = []
    pause = CollectorPause()
    if len(expected) > DEEP:
        # The collector would go through all rows made so far, again and again.
        pause.begin()
    try:
        sums = _fill_flat(rows, plan, expected, actual, values)
        return Outcome(plan.root, rows, 0, sums, [], Seen())
    finally:
        pause.end()


def _fill_flat(
    rows: list[Finding],
    plan: Plan,
    expected: dict[str, JsonValue],
    actual: dict[str, JsonValue],
    values: list[float] | None,
) -> Sums:
    """Add the rows of two objects of scalars, and return their totals."""
    append = rows.append
    children, get = plan.root.children, actual.get
    by_type, transforms = plan.types.by_type, plan.transforms
    known = None if values is None else iter(values)
    parts: list[float] = []
    both = gone = 0
    for key, one in expected.items():
        other = get(key, MISSING)
        kind = type(one)
        if kind is type(other):
            if one == other:
                append(new_finding((children[key], None, key, key, MATCH, 1.0, one, other, None)))
                continue
            left, right = one, other
            if kind is str and transforms:
                for transform in transforms:
                    left, right = transform(left), transform(right)
                if left == right:
                    append(new_finding((children[key], None, key, key, MATCH, 1.0, one, other, None)))
                    continue
            value = by_type[kind](left, right) if known is None else next(known)
        elif other is MISSING:
            append(new_finding((children[key], None, key, MISSING, OMISSION, 0.0, one, MISSING, None)))
            gone += 1
            continue
        elif kind in _NUMBERS and type(other) in _NUMBERS:
            value = by_type[float](one, other) if known is None else next(known)
        else:
            # (A unit counts once, whatever is wrong with it.)
            detail = _MISTYPED_UNIT if plan.options.granularity == "fields" else _MISTYPED
            append(new_finding((children[key], None, key, key, MISMATCH, 0.0, one, other, detail)))
            both += 1
            continue
        if value == 1.0:
            append(new_finding((children[key], None, key, key, MATCH, 1.0, one, other, None)))
            continue
        append(new_finding((children[key], None, key, key, MISMATCH, value, one, other, None)))
        both += 1
        if value:
            parts.append(value)
    matches = len(rows) - both - gone
    found = matches + both
    if plan.options.extra == "count" and found < len(actual):
        found = len(actual)
        for key, other in actual.items():
            if key not in expected:
                append(
                    new_finding((children[key], None, MISSING, key, HALLUCINATION, 0.0, MISSING, other, None))
                )
    total = math.fsum((matches, *parts)) if parts else matches
    return Sums(total, len(expected), found, matches == len(expected) == found)


_MISTYPED: Final = Detail(leaves=(1, 1), weights=(1.0, 1.0))
_MISTYPED_UNIT: Final = Detail()


def _member_of(value: JsonValue, segment: Any) -> JsonValue:
    """Return what stands at one step of an instance path, or MISSING."""
    if type(segment) is str and type(value) is dict:
        return value.get(segment, MISSING)
    if type(segment) is int and type(value) is list and segment < len(value):
        return value[segment]
    return MISSING


def _require_objects(plan: Plan, expected: JsonValue, actual: JsonValue) -> None:
    for side, value in (("expected", expected), ("actual", actual)):
        if type(value) is not dict and value is not MISSING:
            kind = json_type(value)
            article = "an" if kind[0] in "aeiou" else "a"
            message = (
                f"{plan.metric} compares two objects key by key, and {side} is {article} {kind}; "
                "json_similarity compares any JSON value"
            )
            raise RootTypeError(message)


class _Counters(NamedTuple):
    """What a walk has counted besides matches of score 1, to go back to."""

    others: int
    expected: int
    actual: int
    parts: int
    alignments: int


@final
class _Walk:
    """One run over a pair of documents: the options at hand, and what has been found so far."""

    __slots__ = (
        "_aligner",
        "_sums_only",
        "actual_leaves",
        "alignments",
        "asking",
        "book",
        "count_extra",
        "empties",
        "expected_leaves",
        "leaf_threshold",
        "nested",
        "nulls_absent",
        "others",
        "parts",
        "pause",
        "plan",
        "rows",
    )

    def __init__(self, plan: PlanBase, aligner: Aligner | None = None, book: BatchBook | None = None) -> None:
        options = plan.options
        self.plan = plan
        # A walk with somebody else's aligner wants sums, not rows: it takes a nested array's as known.
        self._aligner = aligner
        self._sums_only = aligner is not None
        self.book = book if aligner is None else aligner.book
        # Batch comparators are asked about what stands in the result, and about the pairs that may do so.
        self.asking = aligner is None
        self.pause = CollectorPause()
        self.nested: list[Sums] = []
        self.alignments: list[Aligned] = []
        self.count_extra = options.extra == "count"
        self.empties = options.empties
        self.nulls_absent = options.nulls == "absent"
        self.leaf_threshold = options.leaf_threshold
        self.rows: list[Finding] = []
        # Matches of score 1 are the rows not counted here; of the others:
        self.others = 0  # rows
        self.expected_leaves = 0  # leaves of expected
        self.actual_leaves = 0  # leaves of actual
        self.parts: list[float] = []  # scores that are not 0

    @property
    def gap(self) -> float | None:
        """What pairs of arrays beyond the memory limit may be short of the optimum; None: there are none."""
        return None if self._aligner is None else self._aligner.gap

    def totals(self) -> Sums:
        """Return the sums over all rows."""
        if self.plan.weighted:
            totals = total_of(finding.sums for finding in self.rows)
        else:
            matches = len(self.rows) - self.others
            totals = Sums(
                math.fsum((matches, *self.parts)) if self.parts else matches,
                matches + self.expected_leaves,
                matches + self.actual_leaves,
                perfect=not (self.expected_leaves or self.actual_leaves),
            )
        return total_of((totals, *self.nested)) if self.nested else totals

    # -- the walk ------------------------------------------------------------------------------------------

    def run(
        self,
        node: PlanNode,
        trail: Trail | None,
        ekey: Any,
        akey: Any,
        expected: JsonValue,
        actual: JsonValue,
    ) -> None:
        """Score one place and all below it."""
        append = self.rows.append
        items: Iterator[Item] = iter(((ekey, akey, expected, actual, node),))
        stack: list[tuple[Iterator[Item], Trail | None]] = []
        while True:
            if len(stack) == DEEP:
                self.pause.begin()
            for ekey, akey, expected, actual, node in items:  # noqa: PLR1704 - the arguments are the first item
                kind = type(expected)
                if kind is type(actual) and not node.special:
                    if kind is not dict and kind is not list:
                        if expected == actual:
                            append(new_finding((node, trail, ekey, akey, MATCH, 1.0, expected, actual, None)))
                        else:
                            fn = node.by_type[kind]
                            self._compare(node, trail, ekey, akey, expected, actual, fn, expected, actual)
                        continue
                elif node.plain and kind is type(actual) and kind not in _CONTAINERS and expected == actual:
                    append(new_finding((node, trail, ekey, akey, MATCH, 1.0, expected, actual, None)))
                    continue
                else:
                    if node.branches is not None:
                        node = node.chosen(expected, actual)  # noqa: PLW2901 - what holds for these values
                    if self.settle(node, trail, ekey, akey, expected, actual):
                        continue
                # The root has no key; what stands below it has no trail.
                inner = place_below(
                    trail,
                    MISSING if expected is MISSING else ekey,
                    MISSING if actual is MISSING else akey,
                )
                if (
                    self._sums_only
                    and node.align == "unordered"
                    and self._take_nested(node, inner, expected, actual)
                ):
                    continue
                members = self._members(node, trail, ekey, akey, expected, actual, inner)
                if members is not None:
                    stack.append((items, trail))
                    items, trail = members, inner
                    break
            else:
                if not stack:
                    return
                items, trail = stack.pop()

    def _take_nested(
        self, node: PlanNode, inner: Trail | None, expected: JsonValue, actual: JsonValue
    ) -> bool:
        """Add the sums of two nested arrays, each worked out once; False: there are no two arrays here."""
        if type(expected) is not list or type(actual) is not list or not (expected and actual):
            return False
        aligner = self._aligner
        assert aligner is not None  # noqa: S101 - for the type checker: a walk for sums has one
        key = (node, id(expected), id(actual), self.count_extra)
        book = self.book
        totals = aligner.totals.get(key)
        if totals is None and book is not None and not self.asking:
            totals = book.reopened(key)
        if totals is None:
            walk = _Walk(self.plan, aligner)
            walk.count_extra = self.count_extra
            walk.asking = self.asking
            before = (0, 0) if book is None else book.open()
            for ekey, akey, one, other, element in self._pairs(node, inner, expected, actual):
                walk.run(element, inner, ekey, akey, one, other)
            totals = walk.totals()
            if book is None or not book.keep_open(key, before, totals):
                aligner.keep_totals(key, totals)
        self.nested.append(totals)
        return True

    def run_units(self, node: PlanNode, trail: Trail | None, expected: JsonValue, actual: JsonValue) -> None:
        """Score two objects key by key, each one unit: 1 if all below it is equal, else 0."""
        rows = self.rows
        count_extra = self.count_extra
        # Whatever the metric does with extra keys at the top, inside a unit an extra leaf is a difference.
        if self.nulls_absent:
            expected, actual = _without_nulls(expected), _without_nulls(actual)
        members = self._pairs(node, trail, expected, actual)
        self.count_extra = True
        for key, _, one, other, child in members:
            if child.special:
                if child.branches is not None:
                    child = child.chosen(one, other)  # noqa: PLW2901 - what holds for these values
                if child.unlisted and not child.skip:
                    self._check_listed(child, trail, key, key, one)
            kind = type(one)
            if kind is type(other) and kind is not dict and kind is not list and not child.special:
                if one == other:
                    rows.append(new_finding((child, trail, key, key, MATCH, 1.0, one, other, None)))
                else:
                    fn = child.by_type[kind]
                    self._compare(child, trail, key, key, one, other, fn, one, other)
            elif (one is MISSING or other is MISSING) and not child.skip:
                if self.plan.schema is not None and one is not MISSING:
                    _check_below(child, one, trail, key)
                self._one_sided(child, trail, key, key, one, other)
            else:
                start = len(rows)
                before = _Counters(
                    self.others,
                    self.expected_leaves,
                    self.actual_leaves,
                    len(self.parts),
                    len(self.alignments),
                )
                self.run(child, trail, key, key, one, other)
                self._fold(start, before, child, trail, key, one, other)
        self.count_extra = count_extra

    def _fold(
        self,
        start: int,
        before: _Counters,
        node: PlanNode,
        trail: Trail | None,
        key: Any,
        expected: JsonValue,
        actual: JsonValue,
    ) -> None:
        """Make one row of the rows of a unit."""
        rows = self.rows
        below = rows[start:]
        if (
            len(below) == 1
            and below[0].node is node
            and (below[0].detail is None or below[0].detail.leaves is None)
        ):
            return
        del rows[start:], self.parts[before.parts :], self.alignments[before.alignments :]
        self.others, self.expected_leaves, self.actual_leaves, *_ = before
        differences = tuple(
            each
            for each in below
            if each.status != SKIPPED and each.score != 1.0 and _decides(each.node, node)
        )
        if not differences:
            if self.book is not None and any(each.is_not_asked for each in below):
                # All else is equal: whether the unit is, nobody was asked.
                detail = Detail(reason=NOT_ASKED)
                self._append(node, trail, key, key, SKIPPED, 0.0, expected, actual, detail, 0, 0)
                return
            rows.append(new_finding((node, trail, key, key, MATCH, 1.0, expected, actual, None)))
            return
        if self.book is not None and all(each.status == BATCH_ERROR for each in differences):
            # All else is equal: whether the unit is, the batch comparator has not said.
            detail = Detail(reason="a batch comparator failed below it", differences=differences)
            self._append(node, trail, key, key, BATCH_ERROR, 0.0, expected, actual, detail, 0, 0)
            return
        # A type mismatch of the unit itself needs no list of what differs below it.
        first = differences[0]
        detail = Detail() if first.node is node else Detail(differences=differences)
        if first.node is node and first.detail is not None:
            detail = first.detail._replace(leaves=None, weights=None)
        self._append(node, trail, key, key, MISMATCH, 0.0, expected, actual, detail, 1, 1)

    def _append(
        self,
        node: PlanNode,
        trail: Trail | None,
        ekey: Any,
        akey: Any,
        status: str,
        value: float,
        expected: JsonValue,
        actual: JsonValue,
        detail: Detail | None,
        expected_leaves: int,
        actual_leaves: int,
    ) -> None:
        """Add a row that is not a plain match of score 1."""
        self.rows.append(new_finding((node, trail, ekey, akey, status, value, expected, actual, detail)))
        self.others += 1
        self.expected_leaves += expected_leaves
        self.actual_leaves += actual_leaves
        if value:
            self.parts.append(value)

    # -- one place -----------------------------------------------------------------------------------------

    def settle(
        self,
        node: PlanNode,
        trail: Trail | None,
        ekey: Any,
        akey: Any,
        expected: JsonValue,
        actual: JsonValue,
    ) -> bool:
        """Score what is no plain pair of one type; False: it is a container, go down."""
        one, other = expected, actual
        if node.special:
            if node.skip:
                ekey, akey = _keys(ekey, akey, expected, actual)
                self._append(node, trail, ekey, akey, SKIPPED, 0.0, expected, actual, None, 0, 0)
                return True
            if node.unlisted:
                self._check_listed(node, trail, ekey, akey, expected)
            if expected is not MISSING and actual is not MISSING:
                if node.explicit is not None:
                    self._compare_explicit(node, trail, ekey, akey, expected, actual)
                    return True
                if node.transforms:
                    try:
                        one, other = _transformed(node, expected), _transformed(node, actual)
                    except Exception as error:  # noqa: BLE001 - a user's transform: its failure is a result
                        detail = Detail(error=_failure(error, "its transform raised"))
                        self._append(node, trail, ekey, akey, MISMATCH, 0.0, expected, actual, detail, 1, 1)
                        return True
        if one is MISSING or other is MISSING:
            return self._settle_one_sided(node, trail, ekey, akey, expected, actual)
        kind, other_kind = type(one), type(other)
        if kind is other_kind:
            if kind is dict or kind is list:
                return False
            if node.reflexive and one == other:
                self.rows.append(new_finding((node, trail, ekey, akey, MATCH, 1.0, expected, actual, None)))
            else:
                self._compare(node, trail, ekey, akey, expected, actual, node.by_type[kind], one, other)
        elif kind in _NUMBERS and other_kind in _NUMBERS:
            self._compare(node, trail, ekey, akey, expected, actual, node.by_type[float], one, other)
        else:
            self._mistyped(node, trail, ekey, akey, expected, actual)
        return True

    def _settle_one_sided(
        self,
        node: PlanNode,
        trail: Trail | None,
        ekey: Any,
        akey: Any,
        expected: JsonValue,
        actual: JsonValue,
    ) -> bool:
        """Score what only one side has; False: it is a container with leaves of its own, go down."""
        value = actual if expected is MISSING else expected
        if (type(value) is dict or type(value) is list) and node.explicit is None:
            if self._sums_only:
                self._take_one_sided(node, ekey, akey, expected, actual)
                return True
            if self.empties != "if_absent":
                return False
            # The node that is missing counts at least once; what is empty inside it, not.
            if not (
                ekey is MISSING or akey is MISSING or _has_leaf(node, value, nulls_absent=self.nulls_absent)
            ):
                self._one_sided(node, trail, ekey, akey, expected, actual)
            return False
        self._one_sided(node, trail, ekey, akey, expected, actual)
        return True

    def _take_one_sided(
        self, node: PlanNode, ekey: Any, akey: Any, expected: JsonValue, actual: JsonValue
    ) -> None:
        """Add the leaves of a container that only one side has, each container's counted once."""
        if actual is not MISSING and not self.count_extra:
            return
        aligner = self._aligner
        assert aligner is not None  # noqa: S101 - for the type checker: a walk for sums has one
        value = actual if expected is MISSING else expected
        empties = self.empties == "leaf"
        leaves, weight = _leaf_sums(
            node, value, aligner.leaves, empties=empties, nulls_absent=self.nulls_absent
        )
        if not leaves and self.empties == "if_absent" and ekey is not MISSING and akey is not MISSING:
            leaves, weight = 1, node.weight
        if actual is MISSING:
            self.nested.append(Sums(0.0, weight, 0.0, perfect=not leaves))
        else:
            self.nested.append(Sums(0.0, 0.0, weight, perfect=not leaves))

    def _one_sided(
        self,
        node: PlanNode,
        trail: Trail | None,
        ekey: Any,
        akey: Any,
        expected: JsonValue,
        actual: JsonValue,
    ) -> None:
        """Add one omission or hallucination."""
        if actual is MISSING:
            self._append(node, trail, ekey, MISSING, OMISSION, 0.0, expected, MISSING, None, 1, 0)
        elif self.count_extra:
            self._append(node, trail, MISSING, akey, HALLUCINATION, 0.0, MISSING, actual, None, 0, 1)

    def _mistyped(
        self,
        node: PlanNode,
        trail: Trail | None,
        ekey: Any,
        akey: Any,
        expected: JsonValue,
        actual: JsonValue,
    ) -> None:
        """Add one mismatch that stands for the leaves of both sides."""
        if self.plan.schema is not None and not self._sums_only:
            _check_below(node, expected, trail, ekey)
            if self.count_extra and self.plan.options.unlisted == "reject":
                _check_below(node, actual, trail, akey, of_expected=False)
        leaves, weight = self._leaves(node, expected)
        container = type(actual) is dict or type(actual) is list
        others, other_weight = (0, 0.0) if container and not self.count_extra else self._leaves(node, actual)
        detail = Detail(leaves=(leaves, others), weights=(weight, other_weight))
        self._append(node, trail, ekey, akey, MISMATCH, 0.0, expected, actual, detail, leaves, others)

    def _check_listed(
        self, node: PlanNode, trail: Trail | None, ekey: Any, akey: Any, expected: JsonValue
    ) -> None:
        """Raise for a member that the schema does not list, where the metric does not take that."""
        if self._sums_only:
            # Inside a pair of elements the path is not known; the walk that asks for them comes by later.
            return
        if expected is not MISSING:
            raise _refused(node, place_below(trail, ekey, akey), of_expected=True)
        if self.plan.options.unlisted == "reject":
            raise _refused(node, place_below(trail, ekey, akey), of_expected=False)

    def _compare_explicit(
        self,
        node: PlanNode,
        trail: Trail | None,
        ekey: Any,
        akey: Any,
        expected: JsonValue,
        actual: JsonValue,
    ) -> None:
        """Score two values, of whatever types, by the comparator that a rule names."""
        bound = node.explicit
        assert bound is not None  # noqa: S101 - for the type checker; the caller has looked
        one, other = expected, actual
        if node.transforms or self.nulls_absent:
            try:
                one = node.whole(expected, nulls_absent=self.nulls_absent)
                other = node.whole(actual, nulls_absent=self.nulls_absent)
            except Exception as error:  # noqa: BLE001 - a user's transform: its failure is a result
                detail = Detail(error=_failure(error, "its transform raised"))
                self._append(node, trail, ekey, akey, MISMATCH, 0.0, expected, actual, detail, 1, 1)
                return
        fn = bound.score
        if (one is None or other is None) and not bound.comparator.null_aware:
            fn = _compare_nulls
        self._compare(node, trail, ekey, akey, expected, actual, fn, one, other)

    def _compare(
        self,
        node: PlanNode,
        trail: Trail | None,
        ekey: Any,
        akey: Any,
        expected: JsonValue,
        actual: JsonValue,
        fn: Callable[[JsonValue, JsonValue], Any],
        one: JsonValue,
        other: JsonValue,
    ) -> None:
        """Add what `fn` says of two values, `one` and `other` being what transforms left of them."""
        detail: Detail | None = None
        if type(other) is float and other - other != 0.0:
            value: Any = 0.0
        else:
            try:
                value = fn(one, other)
            except Exception as error:  # noqa: BLE001 - a user's comparator: its failure is a result
                value, detail = 0.0, Detail(error=_failure(error, "raised"))
            if type(value) is not float:
                if type(value) is Question:
                    value = self._answer(value, node, trail, ekey, akey, expected, actual, one, other)
                    if value is None:
                        return
                if type(value) is ComparatorResult:
                    if value.skip:
                        detail = Detail(reason=value.reason, comparator=value.comparator)
                        self._append(node, trail, ekey, akey, SKIPPED, 0.0, expected, actual, detail, 0, 0)
                        return
                    if value.reason is not None or value.comparator is not None:
                        detail = Detail(reason=value.reason, comparator=value.comparator)
                    value = value.score
                value, detail = _checked_score(value, detail)
            elif not 0.0 <= value <= 1.0:
                value, detail = _checked_score(value, detail)
        if value == 1.0:
            self.rows.append(new_finding((node, trail, ekey, akey, MATCH, 1.0, expected, actual, detail)))
            return
        if self.leaf_threshold is not None and value <= self.leaf_threshold:
            value = 0.0
        self._append(node, trail, ekey, akey, MISMATCH, value, expected, actual, detail, 1, 1)

    def _answer(
        self,
        question: Question,
        node: PlanNode,
        trail: Trail | None,
        ekey: Any,
        akey: Any,
        expected: JsonValue,
        actual: JsonValue,
        one: JsonValue,
        other: JsonValue,
    ) -> Any:
        """Return what a batch comparator has said of two values; None, its row added, without a score."""
        book = self.book
        assert book is not None  # noqa: S101 - for the type checker: a plan with batch comparators has one
        place = book.place(trail, ekey, akey)
        answer = book.answers.get(place)
        name = question.batch.name
        if answer is None:
            if self.asking:
                book.requests[place] = Request(
                    question, node, trail, ekey, akey, expected, actual, one, other
                )
            if self._sums_only:
                # The most that it can say: what a pair is worth becomes a bound.
                book.unknown += 1
                return 1.0
            self._append(node, trail, ekey, akey, PENDING, 0.0, expected, actual, None, 0, 0)
        elif answer == NOT_ASKED:
            detail = Detail(comparator=name, reason=NOT_ASKED)
            self._append(node, trail, ekey, akey, SKIPPED, 0.0, expected, actual, detail, 0, 0)
        elif type(answer) is str:
            detail = Detail(comparator=name, error=answer)
            self._append(node, trail, ekey, akey, BATCH_ERROR, 0.0, expected, actual, detail, 0, 0)
        return None if type(answer) is str else answer

    # -- what stands below ---------------------------------------------------------------------------------

    def _members(
        self,
        node: PlanNode,
        trail: Trail | None,
        ekey: Any,
        akey: Any,
        expected: JsonValue,
        actual: JsonValue,
        inner: Trail | None,
    ) -> Iterator[Item] | None:
        """Return what is below a container (or two of one kind); None, after scoring it, if nothing is."""
        if self.nulls_absent:
            expected, actual = _without_nulls(expected), _without_nulls(actual)
        if expected or actual:
            if expected is MISSING:
                return _one_side(node, actual, expected_too=False) if self.count_extra else None
            if actual is MISSING:
                return _one_side(node, expected, expected_too=True)
            return self._pairs(node, inner, expected, actual)
        if self.empties == "leaf":
            if expected is MISSING or actual is MISSING:
                self._one_sided(node, trail, ekey, akey, expected, actual)
            else:
                self.rows.append(new_finding((node, trail, ekey, akey, MATCH, 1.0, expected, actual, None)))
        return None

    def _pairs(
        self, node: PlanNode, inner: Trail | None, expected: JsonValue, actual: JsonValue
    ) -> Iterator[Item]:
        """Return the members of two containers of one kind side by side, expected's first."""
        children = node.children
        items: Iterator[Item]
        if type(expected) is dict:
            found = map(actual.get, expected, repeat(MISSING))
            items = zip(expected, expected, expected.values(), found, map(children.__getitem__, expected))
            if self.count_extra and not actual.keys() <= expected.keys():
                extra = [key for key in actual if key not in expected]
                return chain(items, ((key, key, MISSING, actual[key], children[key]) for key in extra))
            return items
        element = children[ELEMENT]
        align = node.align
        if align == "ordered" or (align[0] == "if_objects" and not _all_objects(expected, actual)):
            items = zip(count(), count(), expected, actual, repeat(element))
            shared = min(len(expected), len(actual))
            if shared < len(expected):
                rest = range(shared, len(expected))
                return chain(items, ((at, at, expected[at], MISSING, element) for at in rest))
            if self.count_extra and shared < len(actual):
                return chain(
                    items, ((at, at, MISSING, actual[at], element) for at in range(shared, len(actual)))
                )
            return items
        if align == "unordered":
            pairs = self._align(node, inner, expected, actual)
        else:
            pairs = pair_by_key(element, align[1], expected, actual)
        if not self._sums_only:
            self.alignments.append(Aligned(node, inner, pairs, len(expected), len(actual)))
        return self._aligned(element, pairs, expected, actual)

    def _aligned(
        self, element: PlanNode, pairs: Pairing, expected: list[JsonValue], actual: list[JsonValue]
    ) -> Iterator[Item]:
        """Yield the pairs and what is left of both arrays, in the order of expected, then of actual."""
        partner = dict(pairs)
        for at, item in enumerate(expected):
            to = partner.get(at)
            if to is None:
                yield at, at, item, MISSING, element
            else:
                yield at, to, item, actual[to], element
        if self.count_extra:
            taken = set(partner.values())
            for to, item in enumerate(actual):
                if to not in taken:
                    yield to, to, MISSING, item, element

    def _align(
        self, node: PlanNode, inner: Trail | None, expected: list[JsonValue], actual: list[JsonValue]
    ) -> Pairing:
        if self._aligner is None:
            self._aligner = Aligner(self.plan, _measure, self.book)
        return self._aligner.pair((node, expected, actual, self.count_extra, inner), asking=self.asking)

    def _leaves(self, node: PlanNode, value: JsonValue) -> tuple[int, float]:
        """Return how many leaves a mistyped value has, and their weight."""
        if type(value) is not dict and type(value) is not list:
            return 1, node.weight
        number, weight = _leaf_sums(
            node,
            value,
            {} if self._aligner is None else self._aligner.leaves,
            empties=self.empties == "leaf",
            nulls_absent=self.nulls_absent,
        )
        return (1, node.weight) if number == 0 and self.empties == "if_absent" else (number, weight)


def pairwise_aligner(plan: Plan) -> Aligner:
    """Return what measures two elements alone, outside any comparison (`Aligner.measure`)."""
    return Aligner(plan, _measure)


def _measure(aligner: Aligner, element: PlanNode, pair: Pair, count_extra: bool, asking: bool) -> Sums:
    """Return the totals of two elements alone."""
    walk = _Walk(element.plan, aligner)
    walk.count_extra = count_extra
    walk.asking = asking
    try:
        walk.run(element, *pair)
    finally:
        walk.pause.end()
    return walk.totals()


def _refused(node: PlanNode, place: Trail | None, *, of_expected: bool) -> JsonMatchError:
    """Return the error for a member that the schema does not list."""
    path = instance_path(place, "expected" if of_expected else "actual")
    parent = node.parent
    known = [] if parent is None else parent.listed()
    key = str(node.segment)
    hint = did_you_mean(key, known) or (f"; known: {', '.join(known[:8])}" if 0 < len(known) <= 8 else "")
    if of_expected:
        message = f'{path!r} is not in the schema{hint}; list it, or add it with "x-eval-skip": true'
        return GoldValidationError(message, path=path)
    message = (
        f"actual has {path!r}, which is not in the schema{hint}; list it, "
        'or let the schema say "additionalProperties": true'
    )
    return UnlistedFieldError(message, path)


def _check_below(
    node: PlanNode,
    value: JsonValue,
    trail: Trail | None,
    key: Any,
    *,
    of_expected: bool = True,
    itself: bool = True,
) -> None:
    """Raise for a member, at any depth, that the schema does not list (`itself`: or for `value` itself)."""
    if type(value) is not dict and type(value) is not list:
        return
    nulls_absent = node.plan.options.nulls == "absent"
    waiting: list[tuple[PlanNode, JsonValue, Trail | None, Any]] = [(node, value, trail, key)]
    while waiting:
        node, value, trail, key = waiting.pop()
        if node.branches is not None:
            node = node.chosen(value, MISSING)
        if itself and node.skip:
            continue
        if node.unlisted:
            raise _refused(node, place_below(trail, key, key), of_expected=of_expected)
        if (node.explicit is None or not itself) and (type(value) is dict or type(value) is list):
            inner = place_below(trail, key, key)
            members = value.items() if type(value) is dict else enumerate(value)
            waiting.extend(
                (node.children[name if type(name) is str else ELEMENT], item, inner, name)
                for name, item in members
                if not (item is None and nulls_absent and type(name) is str)
            )
        itself = True


def _keys(ekey: Any, akey: Any, expected: JsonValue, actual: JsonValue) -> tuple[Any, Any]:
    return MISSING if expected is MISSING else ekey, MISSING if actual is MISSING else akey


def _decides(node: PlanNode, unit: PlanNode) -> bool:
    """Tell whether a difference at `node` counts for the unit: not if a weight below the unit is 0."""
    while node is not unit and node.parent is not None:
        if node.own_weight == 0.0:
            return False
        node = node.parent
    return True


def _one_side(node: PlanNode, value: JsonValue, *, expected_too: bool) -> Iterator[Item]:
    """Return the members of a container that only one side has."""
    if type(value) is dict:
        keys: Any = value
        values: Any = value.values()
        nodes: Any = map(node.children.__getitem__, value)
    else:
        keys, values, nodes = count(), value, repeat(node.children[ELEMENT])
    nothing: Any = repeat(MISSING)
    return (
        zip(keys, nothing, values, nothing, nodes)
        if expected_too
        else zip(nothing, keys, nothing, values, nodes)
    )


def _leaf_sums(
    node: PlanNode,
    value: JsonValue,
    known: dict[tuple[PlanNode, int], tuple[int, float]],
    *,
    empties: bool,
    nulls_absent: bool,
) -> tuple[int, float]:
    """Return how many leaves a container has, and their weight; `known` keeps what is found, by id.

    Leaves are scalars, what a comparator takes whole and, if asked, empty containers.
    """
    found = known.get((node, id(value)))
    if found is not None:
        return found
    # A frame: (node and id, members still to do, [leaves, weight] so far).
    stack = [((node, id(value)), _members_of(node, value, nulls_absent=nulls_absent), [0, 0.0])]
    if empties and not (_without_nulls(value) if nulls_absent else value):
        stack[0][2][:] = [1, node.weight]
    while True:
        ident, members, sums = stack[-1]
        for below, item in members:
            if below.branches is not None:
                below = below.chosen(item, MISSING)  # noqa: PLW2901 - what holds for this value
            if below.skip:
                continue
            if (type(item) is not dict and type(item) is not list) or below.explicit is not None:
                sums[0] += 1
                sums[1] += below.weight
                continue
            found = known.get((below, id(item)))
            if found is None:
                inner = _members_of(below, item, nulls_absent=nulls_absent)
                empty = empties and not (_without_nulls(item) if nulls_absent else item)
                stack.append(((below, id(item)), inner, [1, below.weight] if empty else [0, 0.0]))
                break
            sums[0] += found[0]
            sums[1] += found[1]
        else:
            stack.pop()
            found = known[ident] = (int(sums[0]), sums[1])
            if not stack:
                return found
            stack[-1][2][0] += found[0]
            stack[-1][2][1] += found[1]


def _members_of(
    node: PlanNode, value: JsonValue, *, nulls_absent: bool
) -> Iterator[tuple[PlanNode, JsonValue]]:
    if type(value) is dict:
        if nulls_absent:
            value = _without_nulls(value)
        return zip(map(node.children.__getitem__, value), value.values())
    return zip(repeat(node.children[ELEMENT]), value)


def _has_leaf(node: PlanNode, value: JsonValue, *, nulls_absent: bool) -> bool:
    """Tell whether a container has a leaf that is no empty container."""
    stack = [_members_of(node, value, nulls_absent=nulls_absent)]
    while stack:
        for below, item in stack[-1]:
            if below.branches is not None:
                below = below.chosen(item, MISSING)  # noqa: PLW2901 - what holds for this value
            if below.skip:
                continue
            if (type(item) is not dict and type(item) is not list) or below.explicit is not None:
                return True
            stack.append(_members_of(below, item, nulls_absent=nulls_absent))
            break
        else:
            stack.pop()
    return False


def _without_nulls(value: JsonValue) -> JsonValue:
    if type(value) is dict and None in value.values():
        return {key: item for key, item in value.items() if item is not None}
    return value


def _all_objects(expected: list[JsonValue], actual: list[JsonValue]) -> bool:
    return all(type(item) is dict for item in expected) and all(type(item) is dict for item in actual)


def _transformed(node: PlanNode, value: JsonValue) -> JsonValue:
    """Return a value after a node's transforms; null and containers pass through."""
    if value is not None and type(value) is not dict and type(value) is not list:
        for transform in node.transforms:
            value = transform(value)
    return value


def _compare_nulls(expected: JsonValue, actual: JsonValue) -> float:
    return 1.0 if expected is None and actual is None else 0.0


def _failure(error: Exception, what: str) -> str:
    text = str(error)
    return f"{what} {type(error).__name__}: {text}" if text else f"{what} {type(error).__name__}"


def _checked_score(value: Any, detail: Detail | None) -> tuple[float, Detail | None]:
    """Return a score as a float in [0, 1]; what is none is 0, with an error."""
    # numpy's scalars and bools have __float__ as well; a string has not.
    number = float(value) if hasattr(value, "__float__") else math.nan
    if 0.0 <= number <= 1.0:
        return number, detail
    return 0.0, Detail(error=f"returned {value!r}, which is no score in [0, 1]")
