"""Walk through two documents: count plain matches, and write everything else down as findings.

A walk that is given the record of an earlier one writes all leaves: it takes findings and pairings from the
record, and calls no comparator.
"""

from __future__ import annotations

from functools import partial
from itertools import chain, count, repeat
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from pytest_jsonmatch.engine.align.arrays import Aligner
from pytest_jsonmatch.engine.align.context import Aligned, Cell, run, similarity_of
from pytest_jsonmatch.engine.align.keys import key_of, pair_by_key
from pytest_jsonmatch.engine.plan.leaves import weight_between, without_nulls
from pytest_jsonmatch.engine.plan.node import BARE, OTHER
from pytest_jsonmatch.engine.score.field import new_finding
from pytest_jsonmatch.engine.score.outcome import (
    HALLUCINATION,
    MATCH,
    MISMATCH,
    OMISSION,
    PENDING,
    SKIPPED,
    Detail,
)
from pytest_jsonmatch.engine.score.passes import Pass, Spot, new_spot
from pytest_jsonmatch.engine.score.places import Places
from pytest_jsonmatch.engine.value.convert import CONTAINERS, MISSING
from pytest_jsonmatch.engine.value.paths import ELEMENT
from pytest_jsonmatch.engine.value.sums import figures_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from pytest_jsonmatch.engine.align.context import Measure, Source
    from pytest_jsonmatch.engine.plan.accept import Accept
    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.score.outcome import Asked, Finding, Place, Trail
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.engine.value.sums import Sums

    Task: TypeAlias = Generator[Any, Any, None]

# The choice at a place where a predicate accepts the actual value.
_BY_PREDICATE: Final = -1
# Another value must score more than the expected one by more than this, which may be rounding.
_ROUNDING: Final = 1e-12


@final
class Walk(Places):
    """One walk, with an explicit stack: depth costs no recursion."""

    # -- the walk ------------------------------------------------------------------------------------------

    def walk(self, spot: Spot) -> Task:
        """Score one place and all below it."""
        node, trail, *item, left, right = spot
        return self.walk_items(iter(((*item, node),)), trail, left, right)

    def walk_objects(self, spot: Spot) -> None:
        """Score two objects; if all members are scalars, no task is needed."""
        inner = spot.inner
        items = self._members(spot.node, inner, spot)
        if items is not None:
            run(self.walk_items(items, inner, spot.expected, spot.actual))

    def walk_items(self, items: Iterator[Any], trail: Trail | None, left: Any, right: Any) -> Task:
        """Score members of the containers `left` and `right`, and all below them.

        Items are (key in expected, key in actual, value in expected, value in actual, node).
        """
        append, complete, matches = self.findings.append, self._complete, 0
        stack: list[tuple[Iterator[Any], Trail | None, Any, Any]] = []
        while True:
            for expected_key, actual_key, expected, actual, node in items:
                kind = type(expected)
                alike = kind is type(actual)
                if alike and kind is not dict and kind is not list and expected == actual and node.plain:
                    if complete:
                        found = node, trail, expected_key, actual_key, MATCH, 1.0, expected, actual, None
                        append(new_finding(found))
                    else:
                        matches += 1
                    continue
                if node.quick is not None and kind not in CONTAINERS and type(actual) not in CONTAINERS:
                    self._add_scalars(node, trail, (expected_key, actual_key), expected, actual)
                    continue
                spot = new_spot((node, trail, expected_key, actual_key, expected, actual, left, right))
                below = node
                if not (alike and kind in CONTAINERS and node.is_open):
                    if node.accept is None and node.branches is not None:
                        spot = spot._replace(node=node.chosen(expected, actual))
                    if spot.node.accept is not None:
                        settled = yield self._settle_accepting(spot, spot.node.accept)
                    else:
                        settled = self.settle(spot)
                    if settled is None:
                        continue
                    # Where several values are accepted, the one taken may not be the expected one.
                    spot, below = settled, settled.node
                inner, one = spot.inner, spot.expected
                pairs_up = type(one) is list and type(actual) is list and below.align == "unordered"
                if pairs_up and self._base is not None and one and actual:
                    sums, questions = yield measure_arrays(self._pass, below, inner, (one, actual))
                    self._take(below, sums, questions)
                    continue
                if pairs_up and (one or actual):
                    below_it: Iterator[Any] | None = yield from self.paired(below, inner, one, actual)
                    self.seen.enter(below, one)
                else:
                    below_it = self._members(below, inner, spot)
                if below_it is not None:
                    stack.append((items, trail, left, right))
                    items, trail, left, right = below_it, inner, one, actual
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

    def _settle_accepting(self, spot: Spot, accept: Accept) -> Generator[Any, Any, Spot | None]:
        """Score a place that accepts more than the expected value; return what `settle` returns."""
        plain = spot._replace(node=spot.node.children[BARE])
        if spot.node.skip or spot.expected is MISSING:
            return self.settle(plain)
        if spot.actual is MISSING:
            if not accept.optional:
                return self.settle(plain)
            self.add(plain, SKIPPED, 0.0, Detail(reason="optional"))
            return None
        if self.is_replay:
            choice = self.choices.pop()
        else:
            choice = yield from self._choose(plain, accept)
            self.choices.append(choice)
        if choice == _BY_PREDICATE:
            self.add(plain, *((PENDING, 0.0) if self.is_replay else _by_predicate(accept, plain)))
            return None
        if choice == 0:
            return self.settle(plain)
        alternative = accept.alternatives[choice - 1]
        taken = plain._replace(expected=alternative.value, left=alternative)
        if type(taken.expected) in CONTAINERS and taken.node.explicit is None:
            return self.settle(taken._replace(node=spot.node.children[OTHER]))
        if self.is_replay:
            self.add(plain, PENDING, 0.0)
            return None
        start = len(self.findings)
        self.settle(taken)
        for at, found in enumerate(self.findings[start:], start):
            reason = f"{'accepted' if found.score == 1.0 else 'nearest accepted value'}: {alternative.text}"
            detail = (found.detail or Detail())._replace(reason=reason)
            self.findings[at] = found._replace(expected=spot.expected, detail=detail)
        return None

    def _choose(self, plain: Spot, accept: Accept) -> Generator[Any, Any, int]:
        """Return the value with the best score: 0 for the expected one, else the number of another."""
        known = self._pass.choices
        place = plain.place
        if place not in known:
            known[place] = yield from self._best_choice(plain, accept)
        return known[place]

    def _best_choice(self, plain: Spot, accept: Accept) -> Generator[Any, Any, int]:
        chosen, most = 0, (yield from self._figure(plain))
        for number, each in enumerate(accept.alternatives, 1):
            if most == 1.0:
                return chosen
            kinds = {type(each.value), type(plain.actual)}
            if len(kinds) > 1 and kinds & CONTAINERS and plain.node.explicit is None:
                continue  # it scores 0
            figure = yield from self._figure(plain._replace(expected=each.value, left=each))
            if figure > most + _ROUNDING:
                chosen, most = number, figure
        if most == 1.0:
            return chosen
        *_, detail = _by_predicate(accept, plain)
        return chosen if detail is None else _BY_PREDICATE

    def _figure(self, spot: Spot) -> Generator[Any, Any, float]:
        """Return the score of one place alone."""
        walk = Walk(self._pass, base=spot.node)
        yield walk.walk(spot)
        self.questions.update(walk.questions)
        return figures_of(walk.sums(), self._plan.options.reduce).score

    def findings_below(self, spot: Spot) -> list[Finding]:
        """Return what a separate walk finds at a place and below it."""
        walk = Walk(self._pass, complete=True)
        run(walk.walk(spot))
        self.questions.update(walk.questions)
        return walk.findings

    # -- what stands below ---------------------------------------------------------------------------------

    def _members(self, node: PlanNode, inner: Trail | None, spot: Spot) -> Iterator[Any] | None:
        """Return the members of a container, or of two of one kind; if there are none, score it."""
        expected, actual = spot.expected, spot.actual
        if self._plan.nulls_absent:
            expected, actual = without_nulls(expected), without_nulls(actual)
        if type(expected) is dict:
            self.seen.objects.append((node, expected, actual))
        if not (expected is not MISSING and expected) and not (actual is not MISSING and actual):
            if self._plan.options.empties == "leaf":
                spot = spot._replace(node=node)
                if expected is MISSING or actual is MISSING:
                    self._one_sided(spot)
                else:
                    self.add(spot, MATCH, 1.0)
            elif expected is not MISSING:
                self.seen.enter(node, ())
            return None
        if expected is MISSING:
            return _one_side(node, actual, of_expected=False) if self._pass.count_extra else None
        self.seen.enter(node, expected)
        if actual is MISSING:
            return _one_side(node, expected, of_expected=True)
        if type(expected) is dict:
            return self.object_members(node, inner, expected, actual, extra=self._pass.count_extra)
        return self._by_place(node, inner, expected, actual)

    def object_members(
        self,
        node: PlanNode,
        trail: Trail | None,
        expected: dict[str, JsonValue],
        actual: dict[str, JsonValue],
        *,
        extra: bool,
    ) -> Iterator[Any] | None:
        """Score the members of two objects up to the first that needs a task; return that one and the rest.

        Plain matches are counted wherever they are. `trail` is the place of the objects; `extra` tells
        whether members that only actual has count.
        """
        children, get = node.children, actual.get
        rest: list[tuple[str, str, JsonValue, JsonValue, PlanNode]] = []
        append, complete = self.findings.append, self._complete
        others = absent = 0
        for key, one in expected.items():
            other, kind, child = get(key, MISSING), type(one), children[key]
            alike = kind is type(other)
            matches = alike and kind is not dict and kind is not list and one == other and child.plain
            if matches and not complete:
                continue
            others += 1
            absent += other is MISSING
            if matches and not rest:
                append(new_finding((child, trail, key, key, MATCH, 1.0, one, other, None)))
            elif rest or child.quick is None or kind in CONTAINERS or type(other) in CONTAINERS:
                rest.append((key, key, one, other, child))
            else:
                self._add_scalars(child, trail, (key, key), one, other)
        self.matches += len(expected) - others
        if extra and len(actual) > len(expected) - absent:
            for key, other in actual.items():
                if key in expected:
                    continue
                child = children[key]
                if rest or child.quick is None or type(other) in CONTAINERS:
                    rest.append((key, key, MISSING, other, child))
                else:
                    self._add_scalars(child, trail, (key, key), MISSING, other)
        return iter(rest) if rest else None

    def _add_scalars(
        self,
        node: PlanNode,
        trail: Trail | None,
        keys: tuple[Any, Any],
        expected: JsonValue,
        actual: JsonValue,
    ) -> None:
        """Score two scalars, or one where the other is MISSING, at a place whose comparator never fails."""
        if self._recorded is not None:
            self.add_recorded(node, trail, expected)
            return
        key, other_key = keys
        if actual is MISSING:
            found = node, trail, key, MISSING, OMISSION, 0.0, expected, MISSING, None
        elif expected is MISSING:
            found = node, trail, MISSING, other_key, HALLUCINATION, 0.0, MISSING, actual, None
        else:
            score: float = node.quick(expected, actual)  # type: ignore[misc] # callers see to it
            if self._limit is not None and score <= self._limit and score < 1.0:
                score = 0.0
            status = MATCH if score == 1.0 else MISMATCH
            found = node, trail, key, other_key, status, score, expected, actual, None
        self.findings.append(new_finding(found))

    def _by_place(self, node: PlanNode, inner: Trail | None, expected: Any, actual: Any) -> Iterator[Any]:
        """Return the elements of two arrays side by side, by position or by key."""
        element = node.children[ELEMENT]
        key = key_of(node, expected, actual)
        if key is None:
            items = zip(count(), count(), expected, actual, repeat(element))
            shared = min(len(expected), len(actual))
            if shared < len(expected):
                rest = range(shared, len(expected))
                return chain(items, ((at, at, expected[at], MISSING, element) for at in rest))
            if self._pass.count_extra and shared < len(actual):
                rest = range(shared, len(actual))
                return chain(items, ((at, at, MISSING, actual[at], element) for at in rest))
            return items
        if self._recorded is not None:
            pairs = next(self._recorded[1]).pairs
        else:
            pairs = pair_by_key(element, key, expected, actual)
        return self._side_by_side(Aligned(node, inner, pairs, expected, actual))

    def paired(
        self, node: PlanNode, inner: Trail | None, expected: list[JsonValue], actual: list[JsonValue]
    ) -> Generator[Any, Any, Iterator[Any]]:
        """Return the elements of two unordered arrays side by side."""
        if self._recorded is not None:
            pairs = next(self._recorded[1]).pairs
        else:
            pairing = yield self._aligner().pair(node, inner, expected, actual)
            pairs = pairing.pairs
            for asked in pairing.questions:
                self.questions.setdefault(asked.place, asked)
        return self._side_by_side(Aligned(node, inner, pairs, expected, actual))

    def _aligner(self) -> Aligner:
        """Return the aligner of this pass."""
        own = self._pass
        if own.aligner is None:
            measure = partial(_measure, own)
            own.aligner = Aligner(own.plan, measure, count_extra=own.count_extra, rounds=own.rounds)
        return own.aligner

    def _side_by_side(self, aligned: Aligned) -> Iterator[Any]:
        """Yield the pairs and the unpaired elements, in the order of expected, then of actual."""
        if self._base is None:
            self.alignments.append(aligned)
        element, partner = aligned.node.children[ELEMENT], dict(aligned.pairs)
        for at, item in enumerate(aligned.expected):
            to = partner.get(at)
            if to is None:
                yield at, at, item, MISSING, element
            else:
                yield at, to, item, aligned.actual[to], element
        if self._pass.count_extra:
            taken = set(partner.values())
            for to, item in enumerate(aligned.actual):
                if to not in taken:
                    yield to, to, MISSING, item, element


def _by_predicate(accept: Accept, spot: Spot) -> tuple[str, float, Detail | None]:
    """Return a match, or an error, by the predicates of a place; no detail if none accepts the value."""
    try:
        said = accept.predicate_of(spot.node.prepare(spot.actual))
    except TimeoutError as error:
        return MISMATCH, 0.0, Detail(error=str(error))
    return (MISMATCH, 0.0, None) if said is None else (MATCH, 1.0, Detail(reason=f"accepted: {said}"))


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
        zip(keys, nothing, values, nothing, nodes)
        if of_expected
        else zip(nothing, keys, nothing, values, nodes)
    )


def measurer(plan: Plan) -> Measure:
    """Return a function that scores two elements outside any comparison."""
    return partial(_measure, Pass(plan, {}))


def _measure(
    own: Pass, element: PlanNode, trail: Trail | None, expected: Source, actual: Source
) -> Generator[Any, Any, Cell]:
    """Score two elements of arrays."""
    walk = Walk(own, base=element)
    one, other = expected.array[expected.at], actual.array[actual.at]
    keys = expected.at, actual.at
    yield from walk.walk(Spot(element, trail, *keys, one, other, expected.array, actual.array))
    sums = walk.sums()
    whole = (sums.expected + sums.actual) * 0.5 if own.plan.options.reduce == "f1" else sums.expected
    questions = tuple(walk.questions.values())
    return Cell(similarity_of(sums.score, whole), sums.score, questions=questions)


def measure_arrays(
    own: Pass, node: PlanNode, trail: Trail | None, arrays: tuple[list[JsonValue], list[JsonValue]]
) -> Generator[Any, Any, tuple[Sums, dict[Place, Asked]]]:
    """Return the sums of two nested arrays, and the questions about them; computed once."""
    key = id(arrays[0]), id(arrays[1])
    found = own.nested.get(key)
    if found is None:
        walk = Walk(own, base=node)
        yield from walk.walk_items((yield from walk.paired(node, trail, *arrays)), trail, *arrays)
        found = own.nested[key] = walk.sums(), walk.questions
    return found
