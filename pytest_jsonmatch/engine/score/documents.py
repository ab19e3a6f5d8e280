"""Score two documents under a plan: once, again with answers, or again to write all leaves."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from pytest_jsonmatch.engine.score.field import (
    BATCH_ERROR,
    HALLUCINATION,
    MATCH,
    MISMATCH,
    OMISSION,
    ROOT,
    SKIPPED,
    Detail,
    Place,
    Rating,
)
from pytest_jsonmatch.engine.score.oddities import check_listed, find_key_warnings
from pytest_jsonmatch.engine.score.walk import Walk
from pytest_jsonmatch.engine.score.walkstate import Outcome, WalkState
from pytest_jsonmatch.engine.value.convert import MAX_DEPTH, MISSING, Matcher, get_value, json_type
from pytest_jsonmatch.engine.value.errors import JsonMatchError, RootTypeError, TargetPathError
from pytest_jsonmatch.engine.value.matchers import start_matching
from pytest_jsonmatch.engine.value.paths import ELEMENT, format_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.score.walkstate import BatchAnswer
    from pytest_jsonmatch.engine.value.convert import JsonValue

_NOTHING: Final[Mapping[Any, Any]] = MappingProxyType({})
_MATCH_RATING: Final = Rating(MATCH, 1.0)


def score(
    plan: Plan,
    expected: JsonValue,
    actual: JsonValue,
    answers: Mapping[Place, BatchAnswer] = _NOTHING,
    rounds: int = 0,
) -> Outcome:
    """Score two JSON values under a plan.

    Args:
        plan: a compiled metric.
        expected: a JSON value (see `value.convert`).
        actual: a JSON value, or MISSING.
        answers: the answers of batch comparators so far. Open questions are in the outcome's `questions`; an
            outcome without questions is final.
        rounds: the number of times that batch comparators have been asked.

    Returns:
        Sums, findings, and the alignments of arrays.

    Raises:
        RootTypeError: the metric compares objects, and one side is not an object.
        TargetPathError: expected has no value at `target_key`.
        GoldValidationError: expected has a member that the schema does not list.
        UnlistedFieldError: actual has a member that the schema does not list, and the metric rejects it.
    """
    start_matching()
    if plan.walks_whole_documents:
        scope = _Scope(plan.root, ROOT, expected, actual)
    else:
        scope = _find_scope(plan, plan.root, expected, actual)
    if plan.schema is not None:
        check_listed(scope.node.choose(scope.expected), scope.where, scope.expected)
        if (
            plan.options.unlisted == "reject"
            and plan.options.extra == "count"
            and scope.actual is not MISSING
        ):
            node = scope.node.choose(scope.actual)
            check_listed(node, scope.where, scope.actual, of_expected=False)
    state = WalkState(plan, answers, units=_has_units(plan, scope), rounds=rounds)
    walk = _run_walk(Walk(state), scope)
    return Outcome(
        plan.root,
        walk.findings,
        walk.matches,
        walk.compute_sums(),
        walk.alignments,
        walk.visited,
        state if walk.matches else None,
        walk.questions,
        find_key_warnings(walk.alignments) if walk.alignments else (),
        walk.one_sided_arrays,
    )


def write_all(plan: Plan, outcome: Outcome, expected: JsonValue, actual: JsonValue) -> Outcome:
    """Return an outcome with the findings of all leaves, including plain matches.

    Args:
        plan: the plan of the outcome.
        outcome: the return value of `score`.
        expected: the expected value that was given to `score`.
        actual: the actual value that was given to `score`.
    """
    if outcome.state is None:
        return outcome
    walk = Walk(outcome.state, details=True)
    _run_walk(walk, _find_scope(plan, outcome.root, expected, actual))
    return outcome._replace(findings=walk.findings, matches=0, alignments=walk.alignments, state=None)


@final
class _Scope(NamedTuple):
    """The values that are compared, with their node and place."""

    node: PlanNode
    where: Place
    expected: JsonValue
    actual: JsonValue


def _run_walk(walk: Walk, scope: _Scope) -> Walk:
    """Run a walk over a scope, and return it."""
    walk.visited.enter(scope.node, None)
    try:
        if walk.state.units:
            _score_units(walk, scope)
        else:
            walk.score_place(*scope)
    except RecursionError as error:
        message = (
            f"the comparison of two values with up to {MAX_DEPTH} levels needs more of Python's stack "
            "than is left: compare them from a function that is called less deeply, or raise the limit "
            "with sys.setrecursionlimit"
        )
        raise JsonMatchError(message) from error
    walk.state.finish()
    return walk


def _score_units(walk: Walk, scope: _Scope) -> None:
    """Score the members of two objects, each as one unit with a separate walk."""
    # If actual has no value at the target, all keys below it are missing.
    expected, actual = scope.expected, {} if scope.actual is MISSING else scope.actual
    node, where = scope.node.choose(scope.expected, scope.actual), scope.where
    if (absent := walk.state.plan.absent) is not None:
        expected, actual = absent.remove(node, expected), absent.remove(node, actual)
    walk.visited.enter(node, expected)
    entries = [(key, one, actual.get(key, MISSING)) for key, one in expected.items()]
    if node.plan.options.extra == "count":
        entries += [(key, MISSING, other) for key, other in actual.items() if key not in expected]
    for key, one, other in entries:
        child, place = node.undecided[key].choose(one, other), Place(where, key, key)
        if child.rules.skip:
            walk.add_skipped(child, place, one, other)
        elif one is MISSING:
            walk.add_finding(child, place, Rating(HALLUCINATION), one, other)
        elif other is MISSING and not (type(one) is Matcher and one.is_absence):
            may_lack = child.rules.may_lack(one)
            walk.add_finding(child, place, Rating(SKIPPED if may_lack else OMISSION), one, other)
        else:
            _score_unit(walk, child, place, one, other)


def _score_unit(walk: Walk, node: PlanNode, where: Place, expected: JsonValue, actual: JsonValue) -> None:
    """Score a member of both objects as a unit, by a separate walk."""
    inner_walk = Walk(walk.state, details=True)
    inner_walk.score_place(node, where, expected, actual)
    walk.questions.update(inner_walk.questions)
    findings = inner_walk.findings
    if (
        len(findings) == 1
        and findings[0].node is node
        and not (findings[0].detail and findings[0].detail.leaves)
    ):
        walk.findings.append(findings[0])  # the unit is a leaf
        return
    differences = tuple(
        finding
        for finding in findings
        if finding.status != SKIPPED and finding.score != 1.0 and (finding.weight or not node.weight)
    )
    rating = _MATCH_RATING
    if differences and all(finding.status == BATCH_ERROR for finding in differences):
        # The only differences are failures of batch comparators.
        detail = Detail(reason="a batch comparator failed below it", differences=differences)
        rating = Rating(BATCH_ERROR, 0.0, detail)
    elif differences:
        first, detail = differences[0], Detail(differences=differences)
        if first.node.place is node.place:
            # A type mismatch of the unit itself has no list of differences below it.
            detail = (first.detail or Detail())._replace(leaves=None, weights=None)
        rating = Rating(MISMATCH, 0.0, detail)
    walk.add_finding(node, where, rating, expected, actual)


def _has_units(plan: Plan, scope: _Scope) -> bool:
    """Return whether top-level keys are units; not for {} in expected with no value in actual."""
    if plan.options.granularity != "fields" or type(scope.expected) is not dict:
        return False
    if scope.actual is MISSING:
        node = scope.node.choose(scope.expected)
        return bool(plan.absent.remove(node, scope.expected) if plan.absent else scope.expected)
    return type(scope.actual) is dict


def _find_scope(plan: Plan, node: PlanNode, expected: JsonValue, actual: JsonValue) -> _Scope:
    """Return the scope: the whole documents, or the values at the target."""
    where = ROOT
    for segment in plan.target:
        # Results below a target keep the paths of the whole document.
        node = node.choose(expected, actual).undecided[ELEMENT if type(segment) is int else segment]
        where = Place(where, segment, segment)
        expected, actual = get_value(expected, (segment,)), get_value(actual, (segment,))
    if plan.target and expected is MISSING:
        message = f"target_key is {format_path(plan.target)!r}, and expected has nothing there"
        raise TargetPathError(message)
    for side, value in (("expected", expected), ("actual", actual)):
        if plan.options.root == "object" and type(value) is not dict and value is not MISSING:
            message = (
                f"{plan.metric} compares two objects key by key, but {side} is of type {json_type(value)}; "
                "json_similarity compares any JSON value"
            )
            raise RootTypeError(message)
    return _Scope(node, where, expected, actual)
