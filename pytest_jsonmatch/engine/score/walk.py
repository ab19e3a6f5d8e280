"""Walk through two documents: count plain matches, and record everything else as findings.

Another walk with the same `WalkState` and `details=True` records plain matches, too.
"""

from __future__ import annotations

from functools import partial
from itertools import chain, repeat
from typing import TYPE_CHECKING, Final, final

from pytest_jsonmatch.engine.align.arrays import Aligner
from pytest_jsonmatch.engine.align.context import Arrays, PairScore, compute_similarity
from pytest_jsonmatch.engine.align.keys import find_key, pair_by_key
from pytest_jsonmatch.engine.plan.node import count_leaves, get_weight_between
from pytest_jsonmatch.engine.plan.options import ByMembers
from pytest_jsonmatch.engine.score.field import (
    HALLUCINATION,
    MATCH,
    MISMATCH,
    OMISSION,
    SKIPPED,
    Detail,
    Place,
    Rating,
    new_finding,
)
from pytest_jsonmatch.engine.score.placescorer import PlaceScorer
from pytest_jsonmatch.engine.score.walkstate import AlignedArrays, WalkState
from pytest_jsonmatch.engine.value.convert import CONTAINERS, MISSING, NO_SCALARS, Matcher
from pytest_jsonmatch.engine.value.paths import ELEMENT
from pytest_jsonmatch.engine.value.sums import compute_scores

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_jsonmatch.engine.align.context import IndexPairs, Measure
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.score.walkstate import OpenQuestion
    from pytest_jsonmatch.engine.value.convert import JsonValue, PlaceKey
    from pytest_jsonmatch.engine.value.sums import Sums


_BY_CONTENTS: Final = ("unordered", "sequence")


@final
class Walk(PlaceScorer):
    """A walk, with a method for each kind of place.

    It is recursive. 128 levels must fit into Python's stack, so a level of objects or of arrays takes two
    calls, and a level of nested unordered arrays six: `score_place`, `_score_array`, the aligner's `pair`,
    the grid's `find_best_pairs`, `pair_by_bounds`, and `measure` below; tests/engine/test_depth.py counts.
    """

    __slots__ = ()

    def score_place(
        self,
        node: PlanNode,
        where: Place,
        expected: JsonValue,
        actual: JsonValue,
        accepts: bool = True,
    ) -> None:
        """Score a place and everything below it; unless `accepts`, only the expected value is accepted."""
        kind, undecided = type(expected), node
        if node.varies:
            node = node.choose(expected, actual)
        rules = node.rules
        if accepts and rules.accept is not None and rules.accept.may_apply(kind, type(actual)):
            self._score_accepting(undecided, where, expected, actual)
        elif rules.skip:
            self.add_skipped(node, where, expected, actual)
        elif expected is MISSING or actual is MISSING:
            self._score_one_sided(node, where, expected, actual)
        elif kind is Matcher:
            self.score_matcher(undecided, where, expected, actual)
        elif rules.explicit_comparator is not None or kind is not type(actual) or kind not in CONTAINERS:
            self.score_leaf(node, where, expected, actual)
        elif not expected and not actual:
            self.score_empty(node, where, expected, actual)
        elif kind is dict:
            self._score_object(node, where, expected, actual)
        else:
            self._score_array(node, where, expected, actual)

    def _score_object(
        self, node: PlanNode, where: Place, expected: dict[str, JsonValue], actual: dict[str, JsonValue]
    ) -> None:
        """Score the members of two objects: those of expected in their order, then extra ones in actual's."""
        if (absents := self._plan.absent) is not None:
            written_expected, written_actual = expected, actual
            expected, actual = absents.remove(node, expected), absents.remove(node, actual)
            if not expected and not actual:
                self.score_empty(node, where, written_expected, written_actual)
                return
        self.visited.enter(node, expected)
        children, get, findings = node.undecided, actual.get, self.findings
        written = absent = 0
        for key, one in expected.items():
            other, kind, child = get(key, MISSING), type(one), children[key]
            if (
                kind is type(other)
                and kind is not dict
                and kind is not list
                and one == other
                and child.rules.equal_means_match
            ):
                if self._details:
                    written += 1
                    findings.append(new_finding((child, where, key, key, MATCH, 1.0, one, other, None)))
                continue
            written += 1
            absent += other is MISSING
            if kind is dict or kind is list:
                self.score_place(child, Place(where, key, key), one, other)
            else:
                self._score_member(child, where, (key, key), one, other)
        self.matches += len(expected) - written
        if self.state.count_members and len(actual) > len(expected) - absent:
            for key, other in actual.items():
                if key not in expected:
                    self._score_member(children[key], where, (key, key), MISSING, other)

    def _score_member(
        self,
        node: PlanNode,
        parent_place: Place,
        keys: tuple[PlaceKey, PlaceKey],
        expected: JsonValue,
        actual: JsonValue,
    ) -> None:
        """Score a member or element; scalars with a `fast_score` need no further calls.

        The benchmarks W1 and W5 (flat records, one wide object) take 1.3 times as long without this.
        """
        key, other_key = keys
        rules = node.rules
        if rules.fast_score is None or type(expected) in NO_SCALARS or type(actual) in CONTAINERS:
            self.score_place(node, Place(parent_place, key, other_key), expected, actual)
            return
        if actual is MISSING:
            finding = node, parent_place, key, MISSING, OMISSION, 0.0, expected, MISSING, None
        elif expected is MISSING:
            finding = node, parent_place, MISSING, other_key, HALLUCINATION, 0.0, MISSING, actual, None
        else:
            try:
                score: float = rules.fast_score(expected, actual)
            except ValueError:  # texts too long for an edit distance
                self.score_leaf(node, Place(parent_place, key, other_key), expected, actual)
                return
            status = MATCH if score == 1.0 else MISMATCH
            finding = node, parent_place, key, other_key, status, score, expected, actual, None
        self.findings.append(new_finding(finding))

    def _score_array(
        self, node: PlanNode, where: Place, expected: list[JsonValue], actual: list[JsonValue]
    ) -> None:
        """Score the elements of two arrays, paired by position, by key, or by similarity."""
        state, walk = self.state, self
        align = node.rules.align
        by_contents = align in _BY_CONTENTS
        is_part = self._base is not None and by_contents and bool(expected and actual)
        cache = state.similarities if self._pairing else state.nested_sums
        if is_part:
            if where in cache:
                self._add_sums(node, *cache[where])
                return
            walk = Walk(state, base=node, pairing=self._pairing)
        walk.visited.enter(node, expected)
        pairs = state.pairs.get(where)
        if pairs is None and (by_contents or isinstance(align, ByMembers)):
            arrays = Arrays(node, expected, actual)
            if state.aligner is None:
                state.aligner = Aligner(state.plan, two_sided=state.two_sided, rounds=state.rounds)
            if isinstance(align, ByMembers):
                pairing = state.aligner.pair_by_members(
                    arrays, align, partial(make_measure, state, node, where)
                )
            else:
                pairing = state.aligner.pair(arrays, make_measure(state, node, where, expected, actual))
            pairs = pairing.pairs
            for question in pairing.questions:
                walk.questions.setdefault(question.place, question)
        element = node.undecided[ELEMENT]
        is_keyed = pairs is None and type(align) is not str
        if is_keyed and (key := find_key(node, expected, actual)) is not None:
            pairs = pair_by_key(element, key, expected, actual)
        if pairs is not None and walk._base is None:
            state.pairs[where] = pairs
            walk.alignments.append(AlignedArrays(node, where, pairs, expected, actual))
        findings, details, equal_means_match = walk.findings, walk._details, element.rules.equal_means_match
        for at, to, one, other in _iter_sides(pairs, expected, actual, count_extra=state.count_extra):
            kind = type(one)
            if kind is dict or kind is list:
                walk.score_place(element, Place(where, at, to), one, other)
            elif not equal_means_match or kind is not type(other) or one != other:
                walk._score_member(element, where, (at, to), one, other)
            elif details:
                findings.append(new_finding((element, where, at, to, MATCH, 1.0, one, other, None)))
            else:
                walk.matches += 1
        if is_part:
            cache[where] = walk.compute_sums(), walk.questions, walk.excluded_leaves
            self._add_sums(node, *cache[where])

    def _add_sums(
        self, node: PlanNode, sums: Sums, questions: dict[Place, OpenQuestion], excluded_leaves: float
    ) -> None:
        """Add the sums of nested arrays."""
        if self._plan.weighted and self._base is not None:
            weight = get_weight_between(self._base, node)
            sums, excluded_leaves = sums.multiply(weight), excluded_leaves * weight
        self.parts.append(sums)
        self.excluded_leaves += excluded_leaves
        self.questions.update(questions)

    def _score_one_sided(self, node: PlanNode, where: Place, expected: JsonValue, actual: JsonValue) -> None:
        """Score a value that only one side has, and everything below it."""
        state, empties, is_missing = self.state, self._plan.options.empties, actual is MISSING
        value = expected if is_missing else actual
        if (
            type(value) is not dict and type(value) is not list
        ) or node.rules.explicit_comparator is not None:
            self.add_one_sided(node, where, expected, actual)
            return
        is_outermost = where.expected_key is not MISSING and where.actual_key is not MISSING
        if_absent = empties == "if_absent" and is_outermost
        if if_absent and not count_leaves(node, value, state.leaves, of_expected=is_missing).number:
            # The value counts as one leaf, its empty containers as none. Go on for members with `skip`.
            self.add_one_sided(node, where, expected, actual)
            if not value:
                return
            if is_missing:
                self.visited.enter(node, None)
        members = value if self._plan.absent is None else self._plan.absent.remove_from(node, value)
        if not members and empties == "leaf":
            self.add_one_sided(node, where, expected, actual)
            return
        if is_missing:
            self.visited.enter(node, members)
        elif not state.count_extra:
            return
        if type(members) is list and self._base is None:
            self.note_array(node, where, members, of_expected=is_missing)
        where = where._replace(actual_key=MISSING) if is_missing else where._replace(expected_key=MISSING)
        for key, item in members.items() if type(members) is dict else enumerate(members):
            child = node.undecided[key if type(key) is str else ELEMENT]
            keys, sides = (
                ((key, MISSING), (item, MISSING)) if is_missing else ((MISSING, key), (MISSING, item))
            )
            self._score_member(child, where, keys, *sides)

    # -- separate walks ------------------------------------------------------------------------------------

    def _score_accepting(
        self, undecided: PlanNode, where: Place, expected: JsonValue, actual: JsonValue
    ) -> None:
        """Choose among the accepted values in separate walks, then score the place."""
        node = undecided.choose(expected, actual)
        accept = node.rules.accept
        if (
            accept is None
            or node.rules.skip
            or expected is MISSING
            or (actual is MISSING and not accept.optional)
        ):
            self.score_place(node, where, expected, actual, accepts=False)
            return
        if actual is MISSING:
            self.add_finding(node, where, Rating(SKIPPED, 0.0, Detail(reason="optional")), expected, actual)
            return
        values = expected, *(alternative.value for alternative in accept.alternatives)

        def score(number: int) -> float:
            walk = Walk(self.state, base=node)
            walk.score_place(undecided, where._replace(choice=number), values[number], actual, accepts=False)
            self.questions.update(walk.questions)
            return compute_scores(walk.compute_sums(), self._plan.options.reduce).score

        choice = self.state.choices.get(where)
        if choice is None:
            transformed = node.rules.try_transform(actual)
            choice = self.state.choices[where] = accept.find_best(transformed, score(0), score)
        if self._pairing and (choice.number or choice.predicate is not None):
            self.score_all_leaves(undecided, choice.score, expected, actual)
            return
        if choice.predicate is not None:
            detail = Detail(reason=accept.format_reason(choice))
            self.add_finding(node, where, Rating(MATCH, 1.0, detail), expected, actual)
            return
        if choice.error is not None:
            self.add_finding(node, where, Rating(MISMATCH, 0.0, Detail(error=choice.error)), expected, actual)
            return
        start, value = len(self.findings), values[choice.number]
        self.score_place(undecided, where._replace(choice=choice.number), value, actual, accepts=False)
        rules = undecided.choose(value, actual).rules
        if choice.number and (type(value) not in CONTAINERS or rules.explicit_comparator is not None):
            for at, finding in enumerate(self.findings[start:], start):
                detail = (finding.detail or Detail())._replace(reason=accept.format_reason(choice))
                self.findings[at] = finding._replace(expected=expected, detail=detail)


def make_measure(
    state: WalkState, node: PlanNode, where: Place, expected: list[JsonValue], actual: list[JsonValue]
) -> Measure:
    """Return a function that scores two elements of arrays, given their indices."""
    element = node.undecided[ELEMENT]

    def measure(at: int, to: int) -> PairScore:
        walk = Walk(state, base=element, pairing=True)
        walk.score_place(element, Place(where, at, to), expected[at], actual[to])
        score = walk.compute_sums().score
        leaf_count = state.leaf_count(element, expected[at], actual[to]) - walk.excluded_leaves
        return PairScore(compute_similarity(score, leaf_count), score, tuple(walk.questions.values()))

    return measure


def _iter_sides(
    pairs: IndexPairs | None, expected: list[JsonValue], actual: list[JsonValue], *, count_extra: bool
) -> Iterator[tuple[int, int, JsonValue, JsonValue]]:
    """Return the elements of two arrays with their indices: in expected's order, then extra ones."""
    if pairs is not None:
        return _iter_pairs(pairs, expected, actual, count_extra=count_extra)
    numbers = range(max(len(expected), len(actual)) if count_extra else len(expected))
    return zip(numbers, numbers, chain(expected, repeat(MISSING)), chain(actual, repeat(MISSING)))


def _iter_pairs(
    pairs: IndexPairs, expected: list[JsonValue], actual: list[JsonValue], *, count_extra: bool
) -> Iterator[tuple[int, int, JsonValue, JsonValue]]:
    partner = dict(pairs)
    for at, item in enumerate(expected):
        to = partner.get(at)
        yield (at, at, item, MISSING) if to is None else (at, to, item, actual[to])
    if count_extra:
        for to in sorted({*range(len(actual))}.difference(partner.values())):
            yield to, to, MISSING, actual[to]
