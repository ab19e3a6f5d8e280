"""Score two documents under a plan: once, again with answers, or again to write every leaf."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.align.context import run
from pytest_jsonmatch.engine.plan.leaves import without_nulls
from pytest_jsonmatch.engine.score.listed import check_listed
from pytest_jsonmatch.engine.score.outcome import Trail, new_outcome, place_below
from pytest_jsonmatch.engine.score.passes import Pass, new_spot
from pytest_jsonmatch.engine.score.units import unit_members
from pytest_jsonmatch.engine.score.walk import Walk
from pytest_jsonmatch.engine.value.convert import MISSING, json_type
from pytest_jsonmatch.engine.value.errors import RootTypeError, TargetPathError
from pytest_jsonmatch.engine.value.paths import ELEMENT, format_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.score.outcome import Answer, Outcome, Place
    from pytest_jsonmatch.engine.score.passes import Spot
    from pytest_jsonmatch.engine.value.convert import JsonValue

_NOTHING: Final[Mapping[Any, Any]] = MappingProxyType({})


def score(
    plan: Plan,
    expected: JsonValue,
    actual: JsonValue,
    answers: Mapping[Place, Answer] = _NOTHING,
    rounds: int = 0,
) -> Outcome:
    """Score two JSON values under a plan.

    Args:
        plan: a compiled metric.
        expected: a JSON value (see `value.convert`).
        actual: a JSON value, or MISSING.
        answers: what batch comparators have answered so far. What they have still to answer is in the
            outcome's `questions`; it is the last one if there are none.
        rounds: how often they have been asked.

    Returns:
        What was found: sums, findings, and how arrays were aligned.

    Raises:
        RootTypeError: the metric compares objects and one side is none.
        TargetPathError: expected has nothing where `target_key` points.
        GoldValidationError: expected has a member that the schema does not list.
        UnlistedFieldError: actual has one, and the metric does not take that.
    """
    spot = _scope(plan, plan.root, expected, actual)
    if plan.schema is not None:
        check_listed(spot.node, place_below(spot.trail, spot.expected_key, spot.expected_key), spot.expected)
    own = Pass(plan, answers, units=_is_units(plan, spot), rounds=rounds)
    walk = Walk(own)
    _walk(walk, spot, own)
    gap = None if own.aligner is None else own.aligner.gap
    found = walk.findings, walk.matches, walk.sums(), walk.alignments, walk.seen
    return new_outcome((plan.root, *found, walk.choices, gap, walk.questions))


def written(plan: Plan, outcome: Outcome, expected: JsonValue, actual: JsonValue) -> Outcome:
    """Return an outcome with the findings of all leaves, plain matches among them.

    Args:
        plan: of the outcome.
        outcome: from `score`.
        expected: what was scored.
        actual: likewise.
    """
    if not outcome.matches:
        return outcome
    spot = _scope(plan, outcome.root, expected, actual)
    own = Pass(plan, _NOTHING, units=_is_units(plan, spot))
    walk = Walk(own, record=outcome)
    _walk(walk, spot, own)
    return outcome._replace(findings=walk.findings, matches=0, alignments=walk.alignments)


def _walk(walk: Walk, spot: Spot, own: Pass) -> None:
    walk.seen.meet(spot.node)
    try:
        if own.units:
            # Where a target is missing in actual, so is every key of it.
            one, other = spot.expected, {} if spot.actual is MISSING else spot.actual
            if own.plan.nulls_absent:
                one, other = without_nulls(one), without_nulls(other)
            node = spot.node.chosen(spot.expected, spot.actual)
            trail = place_below(spot.trail, spot.expected_key, spot.actual_key)
            whole = spot._replace(node=node, expected=one, actual=other)
            run(walk.walk_members(unit_members(walk, trail, whole), trail, whole))
        elif type(spot.expected) is type(spot.actual) is dict and spot.node.is_open:
            walk.walk_objects(spot)
        else:
            run(walk.walk(spot))
    finally:
        if own.pause is not None:
            own.pause.end()


def _is_units(plan: Plan, spot: Spot) -> bool:
    """Tell whether top-level keys are units; a target that actual lacks and expected has as {} is no unit."""
    if plan.options.granularity != "fields" or type(spot.expected) is not dict:
        return False
    if spot.actual is MISSING:
        full = without_nulls(spot.expected) if plan.nulls_absent else spot.expected
        return bool(full)
    return type(spot.actual) is dict


def _scope(plan: Plan, root: PlanNode, expected: JsonValue, actual: JsonValue) -> Spot:
    """Return what is compared: the whole documents, or what stands at the target."""
    node, trail, key = root, None, None
    around = None, None
    for segment in plan.target:
        # Results below a target keep the paths of the whole document.
        if node is not root:
            trail = Trail(trail, key, key)
        node = node.chosen(expected, actual).children[ELEMENT if type(segment) is int else segment]
        key, around = segment, (expected, actual)
        expected, actual = member_of(expected, segment), member_of(actual, segment)
    if plan.target and expected is MISSING:
        message = f"target_key is {format_path(plan.target)!r}, and expected has nothing there"
        raise TargetPathError(message)
    if plan.options.root == "object":
        _require_objects(plan, expected, actual)
    return new_spot((node, trail, key, key, expected, actual, *around))


def member_of(value: JsonValue, segment: Any) -> JsonValue:
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
