"""The walk: what is found at every place of two documents. It counts first, and writes when asked.

Plain matches are counted, everything else is written down as a finding. `written` walks again and writes all:
it takes findings and pairings from the first walk, and calls no comparator.
"""

from __future__ import annotations

import math
from decimal import Decimal
from itertools import chain, count, repeat
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.align.arrays import Aligner, pair_by_key, run
from pytest_jsonmatch.engine.align.grid import Cell, similarity_of
from pytest_jsonmatch.engine.compare.base import ComparatorResult
from pytest_jsonmatch.engine.compare.batched import Question
from pytest_jsonmatch.engine.score.leaves import Leaves, check_listed, leaves_of, refused, weight_between, without_nulls
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
    Asked,
    Detail,
    Outcome,
    Place,
    Seen,
    instance_path,
    new_finding,
    place_below,
)
from pytest_jsonmatch.engine.value.collector import DEEP, CollectorPause
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.paths import ELEMENT
from pytest_jsonmatch.engine.value.sums import Sums, total_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping

    from pytest_jsonmatch.engine.align.nested import Source
    from pytest_jsonmatch.engine.plan.compile import Plan, PlanNode
    from pytest_jsonmatch.engine.score.outcome import Answer, Finding, Trail
    from pytest_jsonmatch.engine.value.convert import JsonValue

    Task: TypeAlias = Generator[Any, Any, None]

__all__ = ["Pass", "Spot", "Walk"]

_NUMBERS: Final = frozenset({int, float, Decimal})
_BOTH_SIDES: Final = frozenset({MATCH, MISMATCH})


@final
class Spot(NamedTuple):
    """A pair of places to score: where it stands, and what is there."""

    node: PlanNode
    trail: Trail | None
    """Of the container around it."""
    expected_key: Any
    actual_key: Any
    expected: JsonValue
    actual: JsonValue

    def finding(self, status: str, score: float, detail: Detail | None = None) -> Finding:
        """Return what was found there."""
        node, trail, expected_key, actual_key, expected, actual = self
        if expected is MISSING:
            expected_key = MISSING
        if actual is MISSING:
            actual_key = MISSING
        return new_finding((node, trail, expected_key, actual_key, status, score, expected, actual, detail))


@final
class Pass:
    """One pass over two documents: what its walks share."""

    __slots__ = (
        "aligner",
        "answers",
        "count_extra",
        "empties",
        "known",
        "leaf_threshold",
        "nested",
        "nulls_absent",
        "pause",
        "plan",
        "rounds",
        "units",
    )

    def __init__(
        self, plan: Plan, answers: Mapping[Place, Answer], *, units: bool = False, rounds: int = 0
    ) -> None:
        """Take what batch comparators have answered so far, and in how many rounds.

        If top-level keys are `units`, an extra leaf below one is a difference, whatever the metric does with
        extra keys at the top.
        """
        options = plan.options
        self.units = units
        self.plan = plan
        self.answers = answers
        self.rounds = rounds
        self.count_extra = units or options.extra == "count"
        self.nulls_absent = options.nulls == "absent"
        self.empties = options.empties
        self.leaf_threshold = options.leaf_threshold
        self.pause = CollectorPause()
        self.aligner: Aligner | None = None
        self.known: dict[Place, Any] = {}
        """What comparators without a table have said: none is called twice for one place."""
        self.nested: dict[tuple[int, int], tuple[Sums, dict[Place, Asked]]] = {}
        """The sums of nested arrays, and the questions in them, by the arrays' identities."""

    def pairs(self, node: PlanNode, trail: Trail | None, expected: Any, actual: Any) -> Any:
        """Return the task that pairs two unordered arrays."""
        if self.aligner is None:
            self.aligner = Aligner(
                self.plan, self.measure, count_extra=self.count_extra, rounds=self.rounds
            )
        return self.aligner.pair(node, trail, expected, actual)

    def measure(
        self, element: PlanNode, trail: Trail | None, expected: Source, actual: Source
    ) -> Generator[Any, Any, Cell]:
        """Score two elements of arrays alone."""
        walk = Walk(self, base=element)
        walk.around = expected.array, actual.array
        one, other = expected.array[expected.index], actual.array[actual.index]
        yield from walk.walk(Spot(element, trail, expected.index, actual.index, one, other))
        sums = walk.sums()
        whole = (sums.expected + sums.actual) * 0.5 if self.plan.options.reduce == "f1" else sums.expected
        return Cell(similarity_of(sums.score, whole), sums.score, tuple(walk.questions.values()))

    def measure_arrays(
        self, node: PlanNode, trail: Trail | None, expected: list[JsonValue], actual: list[JsonValue]
    ) -> Generator[Any, Any, tuple[Sums, dict[Place, Asked]]]:
        """Return the sums of two nested arrays, and what is to be asked about them; each is done once."""
        key = id(expected), id(actual)
        found = self.nested.get(key)
        if found is None:
            walk = Walk(self, base=node)
            yield from walk.walk_arrays(node, trail, expected, actual)
            found = self.nested[key] = walk.sums(), walk.questions
        return found


@final
class Walk:
    """One walk: what it has found so far."""

    __slots__ = (
        "_append",
        "_base",
        "_complete",
        "_pass",
        "_plan",
        "_recorded",
        "_scores",
        "_uneven",
        "alignments",
        "around",
        "findings",
        "matches",
        "parts",
        "questions",
        "seen",
    )

    def __init__(
        self, own: Pass, *, base: PlanNode | None = None, complete: bool = False, record: Outcome | None = None
    ) -> None:
        """Begin a walk.

        Args:
            own: the pass it belongs to.
            base: the node above which weights do not count; None: the walk is for a result, not for sums.
            complete: write plain matches too.
            record: an earlier walk of the same documents, for whose findings matches are still to be written.
        """
        self._pass = own
        self._plan = own.plan
        self._base = base
        # Plain matches that weigh differently can't be counted in one number.
        self._complete = complete or record is not None or own.plan.weighted
        self._recorded = None if record is None else (iter(record.findings), iter(record.alignments))
        self.findings: list[Finding] = []
        self._append = self.findings.append
        # Of findings with a leaf on both sides the scores; the others themselves.
        self._scores: list[float] = []
        self._uneven: list[Finding] = []
        self.matches = 0
        """Plain matches that are not written."""
        self.parts: list[Sums] = []
        """Sums of nested arrays, in a walk for sums."""
        self.alignments: list[Aligned] = []
        self.questions: dict[Place, Asked] = {}
        self.seen = Seen()
        self.around: tuple[Any, Any] = (None, None)
        """The containers around the first place."""

    def sums(self) -> Sums:
        """Return the sums over all that was found."""
        if self._plan.weighted:
            parts = [*map(self._weighed, self.findings), *self.parts]
        else:
            both = self.matches + len(self._scores)
            score = math.fsum((self.matches, *self._scores)) if self._scores else self.matches
            perfect = self._scores.count(1.0) == len(self._scores)
            parts = [Sums(score, both, both, perfect), *(found.sums for found in self._uneven), *self.parts]
        return total_of(parts)

    def _weighed(self, found: Finding) -> Sums:
        """Return what a finding adds, weights counted from the base down."""
        sums = found.sums
        if self._base is None:
            return sums
        if found.detail is not None and found.detail.leaves is not None:
            return sums.times(weight_between(self._base, found.node) / (found.node.weight or 1.0))
        expected, actual = found.leaves
        weight = weight_between(self._base, found.node)
        return Sums(found.score * weight, expected * weight, actual * weight, sums.perfect)

    @property
    def is_replay(self) -> bool:
        """Whether findings are taken from an earlier walk."""
        return self._recorded is not None

    # -- the walk ------------------------------------------------------------------------------------------

    def walk(self, spot: Spot) -> Task:
        """Score one place and all below it."""
        node, trail, *item = spot
        return self._walk(iter(((*item, node),)), trail, *self.around)

    def walk_arrays(self, node: PlanNode, trail: Trail | None, expected: Any, actual: Any) -> Task:
        """Score two unordered arrays whose place has a trail."""
        items = yield from self._paired(node, trail, expected, actual)
        yield from self._walk(items, trail, expected, actual)

    def _walk(self, items: Iterator[Any], trail: Trail | None, left: Any, right: Any) -> Task:
        """Score members of the containers `left` and `right`, and all below them.

        Items are (key in expected, key in actual, value in expected, value in actual, node).
        """
        append, complete, matches = self._append, self._complete, 0
        scores, limit, quick = self._scores, self._pass.leaf_threshold, self._recorded is None
        stack: list[tuple[Iterator[Any], Trail | None, Any, Any]] = []
        while True:
            for expected_key, actual_key, expected, actual, node in items:
                kind = type(expected)
                if kind is type(actual) and kind is not dict and kind is not list:
                    status = ""
                    if expected == actual and node.plain:
                        if not complete:
                            matches += 1
                            continue
                        status, score = MATCH, 1.0
                    elif quick and node.quick is not None:
                        score = node.quick[kind](expected, actual)
                        status = MATCH if score == 1.0 else MISMATCH
                        if limit is not None and score <= limit and status is MISMATCH:
                            score = 0.0
                    if status:
                        scores.append(score)
                        append(
                            new_finding(
                                (node, trail, expected_key, actual_key, status, score, expected, actual, None)
                            )
                        )
                        continue
                spot = Spot(node, trail, expected_key, actual_key, expected, actual)
                below = self.settle(spot, left, right)
                if below is None:
                    continue
                inner = place_below(trail, *_keys(spot)) if expected_key is not None else None
                pairs_up = kind is list and type(actual) is list and below.align == "unordered"
                if pairs_up and self._base is not None and expected and actual:
                    sums, questions = yield self._pass.measure_arrays(below, inner, expected, actual)
                    self._take(below, sums, questions)
                    continue
                if pairs_up and (expected or actual):
                    members = yield from self._paired(below, inner, expected, actual)
                    self.seen.enter_array(below, expected)
                else:
                    members = self._members(below, inner, spot)
                if members is not None:
                    if len(stack) == DEEP:
                        self._pass.pause.begin()
                    stack.append((items, trail, left, right))
                    items, trail, left, right = members, inner, expected, actual
                    break
            else:
                if not stack:
                    self.matches += matches
                    return
                items, trail, left, right = stack.pop()

    def _take(self, node: PlanNode, sums: Sums, questions: dict[Place, Asked]) -> None:
        """Add the sums of nested arrays."""
        if self._plan.weighted and self._base is not None:
            sums = sums.times(weight_between(self._base, node))
        self.parts.append(sums)
        self.questions.update(questions)

    def walk_members(self, members: Iterator[Any], trail: Trail | None, spot: Spot) -> Task:
        """Score members of two containers; `trail` is where these stand."""
        return self._walk(members, trail, spot.expected, spot.actual)

    def findings_below(self, spot: Spot, around: tuple[JsonValue, JsonValue]) -> list[Finding]:
        """Return what a walk of its own finds at a place and below it."""
        walk = Walk(self._pass, complete=True)
        walk.around = around
        run(walk.walk(spot))
        self.questions.update(walk.questions)
        return walk.findings

    # -- what stands below ---------------------------------------------------------------------------------

    def _members(self, node: PlanNode, inner: Trail | None, spot: Spot) -> Iterator[Any] | None:
        """Return what is below a container (or two of one kind); None, after scoring it, if nothing is."""
        expected, actual = spot.expected, spot.actual
        if self._pass.nulls_absent:
            expected, actual = without_nulls(expected), without_nulls(actual)
        if not (expected is not MISSING and expected) and not (actual is not MISSING and actual):
            if self._pass.empties == "leaf":
                if expected is MISSING or actual is MISSING:
                    self._one_sided(spot)
                else:
                    self.add(spot, MATCH, 1.0)
            elif expected is not MISSING:
                self.seen.entered.append(node)
            return None
        if expected is MISSING:
            return _one_side(node, actual, of_expected=False) if self._pass.count_extra else None
        if type(expected) is dict:
            self.seen.enter_object(node, expected)
        else:
            self.seen.enter_array(node, expected)
        if actual is MISSING:
            return _one_side(node, expected, of_expected=True)
        if type(expected) is dict:
            return self.object_members(node, expected, actual)
        return self._by_place(node, inner, expected, actual)

    def object_members(
        self, node: PlanNode, expected: dict[str, JsonValue], actual: dict[str, JsonValue]
    ) -> Iterator[Any]:
        """Return the members of two objects side by side, expected's first."""
        children = node.children
        found = map(actual.get, expected, repeat(MISSING))
        items = zip(expected, expected, expected.values(), found, map(children.__getitem__, expected))
        if self._pass.count_extra and not actual.keys() <= expected.keys():
            extra = [key for key in actual if key not in expected]
            return chain(items, ((key, key, MISSING, actual[key], children[key]) for key in extra))
        return items

    def _by_place(self, node: PlanNode, inner: Trail | None, expected: Any, actual: Any) -> Iterator[Any]:
        """Return the elements of two arrays side by side, by position or by key."""
        element, align = node.children[ELEMENT], node.align
        if align == "ordered" or (align[0] == "if_objects" and not _all_objects(expected, actual)):
            items = zip(count(), count(), expected, actual, repeat(element))
            shared = min(len(expected), len(actual))
            if shared < len(expected):
                rest = range(shared, len(expected))
                return chain(items, ((at, at, expected[at], MISSING, element) for at in rest))
            if self._pass.count_extra and shared < len(actual):
                rest = range(shared, len(actual))
                return chain(items, ((at, at, MISSING, actual[at], element) for at in rest))
            return items
        pairs = pair_by_key(element, align[1], expected, actual)
        if self._base is None:
            self.alignments.append(Aligned(node, inner, pairs, len(expected), len(actual)))
        return self._aligned(element, pairs, expected, actual)

    def _paired(
        self, node: PlanNode, inner: Trail | None, expected: list[JsonValue], actual: list[JsonValue]
    ) -> Generator[Any, Any, Iterator[Any]]:
        """Return the elements of two unordered arrays side by side."""
        if self._recorded is not None:
            pairs = next(self._recorded[1]).pairs
        else:
            pairing = yield self._pass.pairs(node, inner, expected, actual)
            pairs = pairing.pairs
            for asked in pairing.questions:
                self.questions.setdefault(asked.place, asked)
        if self._base is None:
            self.alignments.append(Aligned(node, inner, pairs, len(expected), len(actual)))
        return self._aligned(node.children[ELEMENT], pairs, expected, actual)

    def _aligned(
        self, element: PlanNode, pairs: list[tuple[int, int]], expected: Any, actual: Any
    ) -> Iterator[Any]:
        """Yield the pairs and what is left of both arrays, in the order of expected, then of actual."""
        partner = dict(pairs)
        for at, item in enumerate(expected):
            to = partner.get(at)
            if to is None:
                yield at, at, item, MISSING, element
            else:
                yield at, to, item, actual[to], element
        if self._pass.count_extra:
            taken = set(partner.values())
            for to, item in enumerate(actual):
                if to not in taken:
                    yield to, to, MISSING, item, element

    # -- one place -----------------------------------------------------------------------------------------

    def settle(self, spot: Spot, left: Any, right: Any) -> PlanNode | None:
        """Score what is no plain match; return the node of a container to go down into."""
        node, expected, actual = spot.node, spot.expected, spot.actual
        if node.branches is not None:
            node = node.chosen(expected, actual)
            spot = spot._replace(node=node)
        if node.skip:
            self.add(spot, SKIPPED, 0.0)
            return None
        if expected is MISSING or actual is MISSING:
            return self._settle_one_sided(spot)
        kind, other_kind = type(expected), type(actual)
        if node.explicit is None and kind is other_kind and (kind is dict or kind is list):
            return node
        if self._recorded is not None:
            self.add(spot, PENDING, 0.0)
        else:
            self._score(spot, left, right)
        return None

    def _settle_one_sided(self, spot: Spot) -> PlanNode | None:
        """Score what only one side has; return the node of a container with leaves of its own."""
        node = spot.node
        value = spot.actual if spot.expected is MISSING else spot.expected
        self.refuse_unlisted(spot)
        if (type(value) is not dict and type(value) is not list) or node.explicit is not None:
            self._one_sided(spot)
            return None
        if self._pass.empties == "if_absent" and spot.expected_key is not MISSING is not spot.actual_key:
            # The node that is missing counts at least once; what is empty inside it, not.
            if not leaves_of(node, value).number:
                self._one_sided(spot)
                if spot.actual is MISSING and value:
                    # (Both a leaf and gone down into.)
                    self.seen.entered.append(node.place)
        return node

    def refuse_unlisted(self, spot: Spot) -> None:
        """Raise for a member of actual that the schema does not list, where the metric does not take that."""
        # (Elements that are measured may not be paired in the end.)
        if spot.node.unlisted and spot.expected is MISSING and self._base is None:
            if self._plan.options.unlisted == "reject":
                raise refused(spot.node, _path(spot), of_expected=False)

    def _one_sided(self, spot: Spot) -> None:
        """Add one omission or hallucination."""
        if spot.actual is MISSING:
            self.add(spot, OMISSION, 0.0)
        elif self._pass.count_extra:
            self.add(spot, HALLUCINATION, 0.0)

    def _score(self, spot: Spot, left: Any, right: Any) -> None:
        """Score two values that are present, of whatever types."""
        node, one, other = spot.node, spot.expected, spot.actual
        bound = node.explicit
        if node.transforms or (bound is not None and self._pass.nulls_absent):
            nulls_absent = bound is not None and self._pass.nulls_absent
            try:
                if bound is not None or not {type(one), type(other)} & {dict, list}:
                    one = node.whole(one, nulls_absent=nulls_absent)
                    other = node.whole(other, nulls_absent=nulls_absent)
            except Exception as error:  # noqa: BLE001 - a user's transform: its failure is a result
                self.add(spot, MISMATCH, 0.0, Detail(error=_failure(error, "its transform raised")))
                return
        score: Callable[[JsonValue, JsonValue], Any]
        kind, other_kind = type(one), type(other)
        if bound is not None:
            score = bound.score
            if (one is None or other is None) and not bound.comparator.null_aware:
                score = _compare_nulls
            elif bound.table is None:
                score = self._once(spot, left, right, score)
        elif kind is other_kind:
            if one == other and node.plain:
                self.add(spot, MATCH, 1.0)
                return
            score = node.by_type[kind]
            if not node.types.has_tables:
                score = self._once(spot, left, right, score)
        elif kind in _NUMBERS and other_kind in _NUMBERS:
            score = node.by_type[float]
        else:
            self._mistyped(spot)
            return
        self._compare(spot, left, right, score, (one, other))

    def _once(
        self, spot: Spot, left: Any, right: Any, score: Callable[[JsonValue, JsonValue], Any]
    ) -> Callable[[JsonValue, JsonValue], Any]:
        """Return a comparator that is not called again for a place where it has been called."""
        known = self._pass.known
        place = _place(spot, left, right)

        def once(one: JsonValue, other: JsonValue) -> Any:
            if place not in known:
                known[place] = score(one, other)
            return known[place]

        return once

    def _compare(
        self,
        spot: Spot,
        left: Any,
        right: Any,
        score: Callable[[JsonValue, JsonValue], Any],
        compared: tuple[JsonValue, JsonValue],
    ) -> None:
        """Add what a comparator says of two values after transforms."""
        detail: Detail | None = None
        other = compared[1]
        if type(other) is float and other - other != 0.0:
            value: Any = 0.0
        else:
            try:
                value = score(*compared)
            except Exception as error:  # noqa: BLE001 - a user's comparator: its failure is a result
                value, detail = 0.0, Detail(error=_failure(error, "raised"))
            if type(value) is Question:
                value = self._answer(value, spot, _place(spot, left, right), compared)
                if value is None:
                    return
            if type(value) is ComparatorResult:
                if value.skip:
                    self.add(spot, SKIPPED, 0.0, Detail(reason=value.reason, comparator=value.comparator))
                    return
                if value.reason is not None or value.comparator is not None:
                    detail = Detail(reason=value.reason, comparator=value.comparator)
                value = value.score
            if type(value) is not float or not 0.0 <= value <= 1.0:
                value, detail = _checked_score(value, detail)
        if value == 1.0:
            self.add(spot, MATCH, 1.0, detail)
            return
        limit = self._pass.leaf_threshold
        self.add(spot, MISMATCH, 0.0 if limit is not None and value <= limit else value, detail)

    def _answer(
        self, question: Question, spot: Spot, place: Place, compared: tuple[JsonValue, JsonValue]
    ) -> Any:
        """Return what a batch comparator has said of two values; None, its finding added, without a score."""
        answer = self._pass.answers.get(place)
        name = question.batch.name
        if answer is None:
            found = spot.finding(PENDING, 0.0)
            self.questions[place] = Asked(place, question, found, *compared)
            if self._base is not None:
                # The most that it can say: what a pair is worth becomes a bound.
                return 1.0
            self.add_found(found)
        elif answer == NOT_ASKED:
            self.add(spot, SKIPPED, 0.0, Detail(comparator=name, reason=NOT_ASKED))
        elif type(answer) is str:
            self.add(spot, BATCH_ERROR, 0.0, Detail(comparator=name, error=answer))
        else:
            return answer
        return None

    def _mistyped(self, spot: Spot) -> None:
        """Add one mismatch that stands for the leaves of both sides."""
        node, expected, actual = spot.node, spot.expected, spot.actual
        counts_actual = self._pass.count_extra or (type(actual) is not dict and type(actual) is not list)
        if counts_actual and self._base is None and self._plan.options.unlisted == "reject":
            if self._plan.schema is not None:
                check_listed(node, place_below(spot.trail, *_keys(spot)), actual, of_expected=False)
        own = self._leaves(node, expected)
        other = self._leaves(node, actual) if counts_actual else Leaves(0, 0.0)
        detail = Detail(leaves=(own.number, other.number), weights=(own.weight, other.weight))
        self.add(spot, MISMATCH, 0.0, detail)

    def _leaves(self, node: PlanNode, value: JsonValue) -> Leaves:
        """Return the leaves of a mistyped value."""
        if type(value) is not dict and type(value) is not list:
            return Leaves(1, node.weight)
        leaves = leaves_of(node, value)
        return Leaves(1, node.weight) if not leaves.number and self._pass.empties == "if_absent" else leaves

    def add(self, spot: Spot, status: str, score: float, detail: Detail | None = None) -> None:
        """Add a finding; where a walk was recorded, that walk's finding of the same place."""
        if self._recorded is None:
            self.add_found(spot.finding(status, score, detail))
            return
        found = next(self._recorded[0], None)
        if found is None or found.node is not spot.node or found.expected is not spot.expected:
            message = f"internal error: at {_path(spot)} two walks differ; please report this"
            raise RuntimeError(message)
        self._append(found._replace(trail=spot.trail))

    def add_found(self, found: Finding) -> None:
        """Add a finding as it is."""
        self._append(found)
        if found.status in _BOTH_SIDES and (found.detail is None or found.detail.leaves is None):
            self._scores.append(found.score)
        else:
            self._uneven.append(found)


def _place(spot: Spot, left: Any, right: Any) -> Place:
    """Return the identity of a pair of places: the same in every pass, as documents outlive the comparison."""
    return Place(id(left), spot.expected_key, id(right), spot.actual_key)


def _path(spot: Spot) -> str:
    """Return the instance path of a place: expected's, else actual's."""
    place = place_below(spot.trail, spot.expected_key, spot.actual_key)
    return instance_path(place, "actual" if spot.expected is MISSING else "expected")


def _keys(spot: Spot) -> tuple[Any, Any]:
    """Return the keys of a pair of places, MISSING where a side has nothing."""
    return (
        MISSING if spot.expected is MISSING else spot.expected_key,
        MISSING if spot.actual is MISSING else spot.actual_key,
    )


def _one_side(node: PlanNode, value: JsonValue, *, of_expected: bool) -> Iterator[Any]:
    """Return the members of a container that only one side has."""
    if type(value) is dict:
        keys: Any = value
        values: Any = value.values()
        nodes: Any = map(node.children.__getitem__, value)
    else:
        keys, values, nodes = count(), value, repeat(node.children[ELEMENT])
    nothing: Any = repeat(MISSING)
    return (
        zip(keys, nothing, values, nothing, nodes) if of_expected else zip(nothing, keys, nothing, values, nodes)
    )


def _all_objects(expected: list[JsonValue], actual: list[JsonValue]) -> bool:
    return all(type(item) is dict for item in expected) and all(type(item) is dict for item in actual)


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
