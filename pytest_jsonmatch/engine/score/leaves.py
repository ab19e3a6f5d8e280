"""Leaves of what only one side has, and members that the schema does not list."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple, final

from pytest_jsonmatch.engine.score.outcome import instance_path, new_trail
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.errors import GoldValidationError, UnlistedFieldError, did_you_mean
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_jsonmatch.engine.plan.compile import PlanNode
    from pytest_jsonmatch.engine.score.outcome import Trail
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.engine.value.errors import JsonMatchError

__all__ = ["Leaves", "check_listed", "leaves_of", "refused", "weight_between", "without_nulls"]


@final
class Leaves(NamedTuple):
    """How many leaves a value has, and their weights' sum."""

    number: int
    weight: float


def without_nulls(value: JsonValue) -> JsonValue:
    """Return an object without its null members; anything else as it is."""
    if type(value) is dict and None in value.values():
        return {key: item for key, item in value.items() if item is not None}
    return value


def leaves_of(node: PlanNode, value: JsonValue) -> Leaves:
    """Count the leaves of a container: scalars, what a comparator takes whole and, if the metric says so, empty
    containers; with an explicit stack."""
    options = node.plan.options
    nulls_absent, empties = options.nulls == "absent", options.empties == "leaf"
    number, weight = 0, 0.0
    waiting = [(node, value)]
    first = True
    while waiting:
        node, value = waiting.pop()
        if not first:
            if node.branches is not None:
                node = node.chosen(value, MISSING)
            if node.skip:
                continue
            if (type(value) is not dict and type(value) is not list) or node.explicit is not None:
                number += 1
                weight += node.weight
                continue
        first = False
        if nulls_absent:
            value = without_nulls(value)
        if value:
            waiting.extend(_members(node, value))
        elif empties:
            number += 1
            weight += node.weight
    return Leaves(number, weight)


def _members(node: PlanNode, value: JsonValue) -> Iterator[tuple[PlanNode, JsonValue]]:
    if type(value) is dict:
        return zip(map(node.children.__getitem__, value), value.values())
    return zip(repeat(node.children[ELEMENT]), value)


def refused(node: PlanNode, path: str, *, of_expected: bool) -> JsonMatchError:
    """Return the error for a member that the schema does not list."""
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


def check_listed(node: PlanNode, trail: Trail | None, value: JsonValue, *, of_expected: bool = True) -> None:
    """Look for members, at any depth, that the schema does not list.

    Args:
        node: where the value stands.
        trail: likewise; None for the root.
        value: a value of one side.
        of_expected: which side that is.

    Raises:
        GoldValidationError: expected has one.
        UnlistedFieldError: actual has one.
    """
    nulls_absent = node.plan.options.nulls == "absent"
    waiting: list[tuple[PlanNode, Trail | None, JsonValue]] = [(node, trail, value)]
    while waiting:
        node, trail, value = waiting.pop()
        if node.branches is not None:
            node = node.chosen(value, MISSING)
        if node.skip:
            continue
        if node.unlisted:
            side: Any = "expected" if of_expected else "actual"
            raise refused(node, instance_path(trail, side), of_expected=of_expected)
        if (type(value) is dict or type(value) is list) and node.explicit is None:
            members = value.items() if type(value) is dict else enumerate(value)
            for key, item in members:
                below = node.children[key if type(key) is str else ELEMENT]
                if type(item) is dict or type(item) is list:
                    waiting.append((below, new_trail((trail, key, key)), item))
                elif below.unlisted or below.branches is not None:
                    if not (item is None and nulls_absent and type(key) is str):
                        waiting.append((below, new_trail((trail, key, key)), item))


def weight_between(base: PlanNode, node: PlanNode) -> float:
    """Return what a node weighs where its ancestor `base` weighs 1."""
    if base.weight:
        return node.weight / base.weight
    weight, above = 1.0, node
    while above.depth > base.depth and above.parent is not None:
        weight *= above.own_weight
        above = above.parent
    return weight
