"""Score two documents under a plan: once, again with answers, or again to write every leaf."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.align.context import run
from pytest_jsonmatch.engine.plan.leaves import without_nulls
from pytest_jsonmatch.engine.score.outcome import (
    BATCH_ERROR,
    HALLUCINATION,
    MATCH,
    MISMATCH,
    OMISSION,
    SKIPPED,
    Detail,
    Trail,
    new_outcome,
    place_below,
)
from pytest_jsonmatch.engine.score.passes import Pass, Spot, new_spot
from pytest_jsonmatch.engine.score.places import check_listed
from pytest_jsonmatch.engine.score.walk import Walk
from pytest_jsonmatch.engine.value.convert import CONTAINERS, MISSING, json_type, value_at
from pytest_jsonmatch.engine.value.errors import RootTypeError, TargetPathError
from pytest_jsonmatch.engine.value.paths import ELEMENT, format_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.score.outcome import Answer, Finding, Outcome, Place
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
        answers: the answers of batch comparators so far. Open questions are in the outcome's `questions`;
            an outcome without questions is final.
        rounds: how often batch comparators have been asked.

    Returns:
        Sums, findings, and how arrays were aligned.

    Raises:
        RootTypeError: the metric compares objects, and one side is no object.
        TargetPathError: expected has nothing where `target_key` points.
        GoldValidationError: expected has a member that the schema does not list.
        UnlistedFieldError: actual has such a member, and the metric rejects it.
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
    """Return an outcome with the findings of all leaves, including plain matches.

    Args:
        plan: the plan of the outcome.
        outcome: what `score` returned.
        expected: the value that was scored.
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
    if own.units:
        # If actual lacks the target, it lacks every key of it.
        one, other = spot.expected, {} if spot.actual is MISSING else spot.actual
        if own.plan.nulls_absent:
            one, other = without_nulls(one), without_nulls(other)
        node = spot.node.chosen(spot.expected, spot.actual)
        trail = place_below(spot.trail, spot.expected_key, spot.actual_key)
        whole = spot._replace(node=node, expected=one, actual=other)
        run(walk.walk_items(_unit_members(walk, trail, whole), trail, one, other))
    elif type(spot.expected) is type(spot.actual) is dict and spot.node.is_open:
        walk.walk_objects(spot)
    else:
        run(walk.walk(spot))


def _unit_members(walk: Walk, trail: Trail | None, spot: Spot) -> Iterator[Any]:
    """Yield the members of two objects that are leaves, and add one finding for each other member.

    Args:
        walk: takes the findings; what is below a unit gets a separate walk.
        trail: the place of the objects.
        spot: the node of both, and their values without members that do not count.
    """
    node, expected, actual = spot.node, spot.expected, spot.actual
    walk.seen.enter(node, expected)
    walk.seen.objects.append((node, expected, actual))
    counts_extra = node.plan.options.extra == "count"
    for item in walk.object_members(node, trail, expected, actual, extra=counts_extra) or ():
        key, _, one, other, child = item
        if child.branches is not None:
            child = child.chosen(one, other)
        kind = type(one)
        if kind is type(other) and kind not in CONTAINERS:
            yield item
            continue
        unit = Spot(child, trail, key, key, one, other, expected, actual)
        if child.skip:
            walk.add(unit, SKIPPED, 0.0)
        elif one is MISSING:
            walk.refuse_unlisted(unit)
            walk.add(unit, HALLUCINATION, 0.0)
        elif other is MISSING:
            walk.add(unit, SKIPPED if child.accept and child.accept.optional else OMISSION, 0.0)
        elif walk.is_replay:
            walk.add(unit, SKIPPED, 0.0)
        else:
            walk.findings.append(_folded(unit, walk.findings_below(unit)))


def _folded(unit: Spot, below: list[Finding]) -> Finding:
    """Return the finding of a unit, given the findings below it."""
    node = unit.node
    if (
        len(below) == 1
        and below[0].node is node
        and (below[0].detail is None or below[0].detail.leaves is None)
    ):
        return below[0]
    differences = tuple(
        found
        for found in below
        if found.status != SKIPPED and found.score != 1.0 and _decides(found.node, node)
    )
    detail: Detail | None = None
    if not differences:
        status = MATCH
    elif all(found.status == BATCH_ERROR for found in differences):
        # Everything else is equal, and the batch comparator failed.
        status = BATCH_ERROR
        detail = Detail(reason="a batch comparator failed below it", differences=differences)
    else:
        status, first = MISMATCH, differences[0]
        detail = Detail(differences=differences)
        if first.node.place is node.place:
            # A type mismatch of the unit itself needs no list of differences below it.
            detail = Detail() if first.detail is None else first.detail._replace(leaves=None, weights=None)
    return unit.finding(status, 1.0 if status == MATCH else 0.0, detail)


def _decides(node: PlanNode, unit: PlanNode) -> bool:
    """Tell whether a difference at `node` counts for the unit: it does not if a weight on the way is 0."""
    while node.place is not unit.place and node.parent is not None:
        if node.own_weight == 0.0:
            return False
        node = node.parent
    return True


def _is_units(plan: Plan, spot: Spot) -> bool:
    """Tell whether top-level keys are units; they are not if actual lacks a target that is {} in expected."""
    if plan.options.granularity != "fields" or type(spot.expected) is not dict:
        return False
    if spot.actual is MISSING:
        full = without_nulls(spot.expected) if plan.nulls_absent else spot.expected
        return bool(full)
    return type(spot.actual) is dict


def _scope(plan: Plan, root: PlanNode, expected: JsonValue, actual: JsonValue) -> Spot:
    """Return what is compared: the whole documents, or the values at the target."""
    node, trail, key = root, None, None
    around = None, None
    for segment in plan.target:
        # Results below a target keep the paths of the whole document.
        if node is not root:
            trail = Trail(trail, key, key)
        node = node.chosen(expected, actual).children[ELEMENT if type(segment) is int else segment]
        key, around = segment, (expected, actual)
        expected, actual = value_at(expected, (segment,)), value_at(actual, (segment,))
    if plan.target and expected is MISSING:
        message = f"target_key is {format_path(plan.target)!r}, and expected has nothing there"
        raise TargetPathError(message)
    if plan.options.root == "object":
        _require_objects(plan, expected, actual)
    return new_spot((node, trail, key, key, expected, actual, *around))


def _require_objects(plan: Plan, expected: JsonValue, actual: JsonValue) -> None:
    for side, value in (("expected", expected), ("actual", actual)):
        if type(value) is not dict and value is not MISSING:
            kind = json_type(value)
            article = "an" if kind[0] in "aeiou" else "a"
            message = (
                f"{plan.metric} compares two objects key by key, but {side} is {article} {kind}; "
                "json_similarity compares any JSON value"
            )
            raise RootTypeError(message)
