"""Top-level keys as units: each is 1 if all below it is equal, else 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_jsonmatch.engine.score.outcome import (
    BATCH_ERROR,
    HALLUCINATION,
    MATCH,
    MISMATCH,
    NOT_ASKED,
    OMISSION,
    SKIPPED,
    Detail,
)
from pytest_jsonmatch.engine.score.passes import Spot
from pytest_jsonmatch.engine.value.convert import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.score.outcome import Finding, Trail
    from pytest_jsonmatch.engine.score.walk import Walk


def unit_members(walk: Walk, trail: Trail | None, spot: Spot) -> Iterator[Any]:
    """Yield the members of two objects that are a leaf each; add one finding for every other.

    Args:
        walk: takes the findings; the walks below units are of their own.
        trail: where the objects stand.
        spot: the node of both, and their values without members that do not count.
    """
    node, expected, actual = spot.node, spot.expected, spot.actual
    counts_extra = node.plan.options.extra == "count"
    walk.seen.enter(node, expected)
    walk.seen.objects.append((node, expected, actual))
    for item in walk.object_members(node, trail, expected, actual, extra=counts_extra) or ():
        key, _, one, other, child = item
        if child.branches is not None:
            child = child.chosen(one, other)
        kind = type(one)
        if kind is type(other) and kind is not dict and kind is not list:
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
    """Return what a unit is, given what was found below it."""
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
        if any(found.is_not_asked for found in below):
            # All else is equal, and triage left the question out.
            status, detail = SKIPPED, Detail(reason=NOT_ASKED)
    elif all(found.status == BATCH_ERROR for found in differences):
        # All else is equal, and the batch comparator failed.
        status = BATCH_ERROR
        detail = Detail(reason="a batch comparator failed below it", differences=differences)
    else:
        status, first = MISMATCH, differences[0]
        detail = Detail(differences=differences)
        if first.node is node:
            # A type mismatch of the unit itself needs no list of what differs below it.
            detail = Detail() if first.detail is None else first.detail._replace(leaves=None, weights=None)
    return unit.finding(status, 1.0 if status == MATCH else 0.0, detail)


def _decides(node: PlanNode, unit: PlanNode) -> bool:
    """Tell whether a difference at `node` counts for the unit: not if a weight below the unit is 0."""
    while node is not unit and node.parent is not None:
        if node.own_weight == 0.0:
            return False
        node = node.parent
    return True
