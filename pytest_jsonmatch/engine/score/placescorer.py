"""Score one place: compare two values, or record a value that is missing, extra or of the wrong type."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pytest_jsonmatch.engine.align.keys import find_key
from pytest_jsonmatch.engine.comparators.base import ComparatorResult, Question
from pytest_jsonmatch.engine.plan.node import LeafCount, count_leaves, get_weight_between, refuse_matchers
from pytest_jsonmatch.engine.plan.options import ByKey
from pytest_jsonmatch.engine.score.field import (
    BATCH_ERROR,
    HALLUCINATION,
    LEAVES,
    MATCH,
    MISMATCH,
    OMISSION,
    PENDING,
    SKIPPED,
    Detail,
    Place,
    Rating,
    new_finding,
)
from pytest_jsonmatch.engine.score.walkstate import AlignedArrays, OpenQuestion, VisitedPlaces
from pytest_jsonmatch.engine.value.convert import CONTAINERS, MISSING, NUMBERS, Matcher
from pytest_jsonmatch.engine.value.errors import format_error
from pytest_jsonmatch.engine.value.sums import Sums, add_sums

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.score.walkstate import WalkState
    from pytest_jsonmatch.engine.value.convert import JsonValue

    Returned: TypeAlias = float | ComparatorResult | Question | Exception
    """The return value of a comparator, or the exception that it raised."""


_MATCH_RATING: Final = Rating(MATCH, 1.0)
_MISMATCH_RATING: Final = Rating(MISMATCH)
_SKIPPED_RATING: Final = Rating(SKIPPED)
_PENDING_RATING: Final = Rating(PENDING)
_ZERO_LEAVES: Final = (0, 0)
_NO_LEAVES: Final = LeafCount(0, 0.0)
_ONE_LEAF: Final = LeafCount(1, 1.0)


class PlaceScorer:
    """Scores the places of one walk, one at a time, and collects the findings."""

    __slots__ = (
        "_base",
        "_details",
        "_pairing",
        "_plan",
        "alignments",
        "excluded_leaves",
        "findings",
        "matches",
        "one_sided_arrays",
        "parts",
        "questions",
        "state",
        "visited",
    )

    def __init__(
        self, state: WalkState, *, base: PlanNode | None = None, details: bool = False, pairing: bool = False
    ) -> None:
        """Start a walk.

        Args:
            state: the state shared by the walks of one comparison.
            base: the node above which weights do not count, for a walk that computes sums; None for a walk
                that computes a result.
            details: whether to write plain matches, too.
            pairing: whether the sums are for the similarity of two elements.
        """
        self.state: WalkState = state
        self._pairing = pairing
        self._plan = state.plan
        self._base = base
        # Plain matches with different weights can't be counted in one number.
        self._details = details or state.plan.weighted
        self.findings: list[FieldResult] = []
        self.matches: int = 0
        """The number of plain matches without a finding."""
        self.parts: list[Sums] = []
        """The sums of nested arrays, in a walk that computes sums."""
        self.excluded_leaves: float = 0.0
        """The weight of each side's leaves that an error or a comparator excludes from a similarity."""
        self.alignments: list[AlignedArrays] = []
        self.one_sided_arrays: list[AlignedArrays] = []
        """The arrays that only one side has, in a walk that computes a result."""
        self.questions: dict[Place, OpenQuestion] = {}
        self.visited: VisitedPlaces = VisitedPlaces()

    def compute_sums(self) -> Sums:
        """Return the sums of all findings."""
        if self._plan.weighted:
            base = self._base
            weighted_sums = [
                finding.sums
                if base is None
                else finding.compute_sums_at(get_weight_between(base, finding.node))
                for finding in self.findings
            ]
            return add_sums((*weighted_sums, *self.parts))
        expected = actual = self.matches
        scores, perfect = [float(self.matches)], True
        for _, _, _, _, status, score, _, _, detail in self.findings:
            expected_leaves, actual_leaves = (detail and detail.leaves) or LEAVES.get(status, _ZERO_LEAVES)
            expected += expected_leaves
            actual += actual_leaves
            if score != 1.0:
                perfect = perfect and not (expected_leaves or actual_leaves)
            scores.append(score)
        sums = Sums(math.fsum(scores), expected, actual, perfect)
        return add_sums((sums, *self.parts)) if self.parts else sums

    def add_finding(
        self, node: PlanNode, where: Place, rating: Rating, expected: JsonValue, actual: JsonValue
    ) -> None:
        """Add a finding."""
        self.findings.append(make_finding(node, where, rating, expected, actual))

    def add_skipped(self, node: PlanNode, where: Place, expected: JsonValue, actual: JsonValue) -> None:
        """Add a finding that does not count in scores."""
        self.add_finding(node, where, _SKIPPED_RATING, expected, actual)

    def add_one_sided(self, node: PlanNode, where: Place, expected: JsonValue, actual: JsonValue) -> None:
        """Add a finding for one missing or extra leaf, or for a member that must not be there, and is not."""
        if type(expected) is Matcher and expected.is_absence and where.actual_key is not MISSING:
            self.add_finding(node, where, _MATCH_RATING, expected, actual)
        elif actual is MISSING or self.state.count_extra:
            status = OMISSION if actual is MISSING else HALLUCINATION
            self.add_finding(node, where, Rating(status), expected, actual)

    def score_matcher(self, node: PlanNode, where: Place, expected: Matcher, actual: JsonValue) -> None:
        """Score a place with a matcher as one leaf, whatever value actual has there."""
        rating = self._rate(node, self._ask_once(where, expected.score, expected, actual))
        if self._pairing and type(actual) in CONTAINERS:
            self.score_all_leaves(node, rating.score, expected, actual)
        else:
            self.add_finding(node, where, rating, expected, actual)

    def score_all_leaves(self, node: PlanNode, score: float, expected: JsonValue, actual: JsonValue) -> None:
        """Score a place as a whole, with the weight of all its leaves, for the similarity of two elements."""
        total = self._get_weight(node) * score * self.state.leaf_count(node, expected, actual)
        self.parts.append(Sums(total, 0.0, 0.0, perfect=False))

    def score_leaf(self, node: PlanNode, where: Place, expected: JsonValue, actual: JsonValue) -> None:
        """Score two present values of any types without entering them."""
        if node.rules.explicit_comparator is not None and type(expected) in CONTAINERS:
            refuse_matchers(node.rules.explicit_comparator, node.path, expected)
        one, other, bound = expected, actual, node.rules.explicit_comparator
        if bound is not None or (type(one) not in CONTAINERS and type(other) not in CONTAINERS):
            try:
                one, other = node.rules.transform_all(one), node.rules.transform_all(other)
            except Exception as error:  # noqa: BLE001 - a user's transform: its failure is a result
                detail = Detail(error=f"its transform raised {format_error(error)}")
                self.add_finding(node, where, Rating(MISMATCH, 0.0, detail), expected, actual)
                return
        kind, other_kind = type(one), type(other)
        if bound is None and kind is not other_kind and not (kind in NUMBERS and other_kind in NUMBERS):
            are_scalars = kind not in CONTAINERS and other_kind not in CONTAINERS
            bound = node.rules.types.find_for_any(one) if are_scalars else None
            if bound is None:
                self._add_mistyped(node, where, expected, actual)
                return
        if bound is not None:
            score, is_fast = bound.score, bound.table is not None
        elif kind is other_kind and node.rules.equal_means_match and one == other:
            self.add_finding(node, where, _MATCH_RATING, expected, actual)
            return
        else:
            by_type = node.rules.types.by_type
            score, is_fast = by_type[kind if kind is other_kind else float], node.rules.types.is_fast
        returned: Returned = 0.0
        if type(other) is not float or other - other == 0.0:
            try:
                returned = score(one, other) if is_fast else self._ask_once(where, score, one, other)
            except ValueError as error:
                returned = error
        if type(returned) is not Question:
            self._add_rated(node, where, returned, expected, actual)
            return
        answer = self.state.answers.get(where)
        if answer is None:
            finding = make_finding(node, where, _PENDING_RATING, expected, actual)
            self.questions[where] = OpenQuestion(where, returned, finding)
            if self._base is None:
                self.findings.append(finding)
                return
            answer = 1.0  # the highest possible answer, so that the pair's score is an upper bound
        if type(answer) is str:
            detail = Detail(comparator=returned.batch.name, error=answer)
            self._leave_out(node)
            self.add_finding(node, where, Rating(BATCH_ERROR, 0.0, detail), expected, actual)
        else:
            self._add_rated(node, where, answer, expected, actual)

    def _add_rated(
        self, node: PlanNode, where: Place, returned: Any, expected: JsonValue, actual: JsonValue
    ) -> None:
        rating = self._rate(node, returned)
        if rating.status == SKIPPED:
            self._leave_out(node)
        self.add_finding(node, where, rating, expected, actual)

    def _leave_out(self, node: PlanNode) -> None:
        """Exclude a leaf of both sides from the similarity of two elements."""
        if self._pairing:
            self.excluded_leaves += self._get_weight(node)

    def _get_weight(self, node: PlanNode) -> float:
        """Return the weight of a place relative to the base of this walk."""
        return get_weight_between(self._base, node) if self._base and self._plan.weighted else 1.0

    def _ask_once(
        self, where: Place, score: Callable[..., Returned], one: JsonValue, other: JsonValue
    ) -> Returned:
        """Call a comparator once for a place; return its result or its exception."""
        results = self.state.comparator_results
        if where not in results:
            try:
                results[where] = score(one, other)
            except Exception as error:  # noqa: BLE001 - a user's comparator: its failure is a result
                results[where] = error.with_traceback(None)
        return results[where]

    def _rate(self, node: PlanNode, returned: Any) -> Rating:
        """Return the rating of two values, given the result of their comparator."""
        detail: Detail | None = None
        if isinstance(returned, Exception):
            return Rating(MISMATCH, 0.0, Detail(error=f"raised {format_error(returned)}"))
        if type(returned) is ComparatorResult:
            if returned.skip:
                return Rating(SKIPPED, 0.0, Detail(reason=returned.reason, comparator=returned.comparator))
            if returned.reason is not None or returned.comparator is not None:
                detail = Detail(reason=returned.reason, comparator=returned.comparator)
            returned = returned.score
        if type(returned) is not float or not 0.0 <= returned <= 1.0:
            number = read_score(returned)
            if number is None:
                invalid = Detail(error=f"returned {returned!r}, which is not a score in [0, 1]")
                return Rating(MISMATCH, 0.0, invalid)
            returned = number
        score = node.rules.thresholds.apply(returned)
        return Rating(MATCH if score == 1.0 else MISMATCH, score, detail)

    def _add_mistyped(self, node: PlanNode, where: Place, expected: JsonValue, actual: JsonValue) -> None:
        """Add a mismatch of types that counts the leaves of both sides."""
        if type(expected) not in CONTAINERS and type(actual) not in CONTAINERS:
            self.add_finding(node, where, _MISMATCH_RATING, expected, actual)
            return
        self._note_arrays(node.choose(expected), where, expected, of_expected=True)
        state, kind = self.state, type(actual)
        counts_actual = state.count_members or (state.count_extra and kind is list)
        if counts_actual:
            self._note_arrays(node.choose(actual), where, actual, of_expected=False)
        counts_actual = counts_actual or kind not in CONTAINERS
        expected_leaves = self._count_leaves(node, expected, of_expected=True)
        actual_leaves = self._count_leaves(node, actual, of_expected=False) if counts_actual else _NO_LEAVES
        detail = Detail(
            leaves=(expected_leaves.number, actual_leaves.number),
            weights=(expected_leaves.weight, actual_leaves.weight),
        )
        self.add_finding(node, where, Rating(MISMATCH, 0.0, detail), expected, actual)

    def _note_arrays(self, node: PlanNode, where: Place, value: JsonValue, *, of_expected: bool) -> None:
        """Note all arrays in a value of the wrong type."""
        if self._base is not None or type(value) not in CONTAINERS:
            return
        if node.rules.skip or node.rules.explicit_comparator is not None:
            return
        if type(value) is list:
            self.note_array(node, where, value, of_expected=of_expected)
        for _, child, item in node.iter_children(value):
            self._note_arrays(child, where, item, of_expected=of_expected)

    def note_array(self, node: PlanNode, where: Place, value: list[JsonValue], *, of_expected: bool) -> None:
        """Note an array that only one side has, unless such arrays are compared by position."""
        align = node.rules.align
        if align != "ordered" and (not isinstance(align, ByKey) or find_key(node, value, []) is not None):
            sides: tuple[list[JsonValue], list[JsonValue]] = (value, []) if of_expected else ([], value)
            self.one_sided_arrays.append(AlignedArrays(node, where, [], *sides))

    def _count_leaves(self, node: PlanNode, value: JsonValue, *, of_expected: bool) -> LeafCount:
        """Return the leaf count of a value of the wrong type."""
        if type(value) not in CONTAINERS:
            return _ONE_LEAF
        leaves = count_leaves(node, value, self.state.leaves, of_expected=of_expected)
        return _ONE_LEAF if not leaves.number and self._plan.options.empties == "if_absent" else leaves

    def score_empty(self, node: PlanNode, where: Place, expected: JsonValue, actual: JsonValue) -> None:
        """Score two empty containers of the same type."""
        if self._plan.options.empties == "leaf":
            self.add_finding(node, where, _MATCH_RATING, expected, actual)
        else:
            self.visited.enter(node, ())


def make_finding(
    node: PlanNode, where: Place, rating: Rating, expected: JsonValue, actual: JsonValue
) -> FieldResult:
    """Return a finding for a place."""
    key = MISSING if expected is MISSING else where.expected_key
    other_key = MISSING if actual is MISSING else where.actual_key
    return new_finding(
        (node, where.parent, key, other_key, rating.status, rating.score, expected, actual, rating.detail)
    )


def read_score(returned: Any) -> float | None:
    """Return the score that a user's comparator returned as a float; None if it is not in [0, 1]."""
    number = math.nan
    if hasattr(type(returned), "__float__"):  # numpy scalars and bools have it; strings do not
        with suppress(Exception):  # a user's object
            number = float(returned)
    return number if 0.0 <= number <= 1.0 else None
