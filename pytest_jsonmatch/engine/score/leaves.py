"""Leaves of what only one side has, and members that the schema does not list."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.score.outcome import instance_path, new_trail
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.errors import GoldValidationError, UnlistedFieldError, did_you_mean
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.score.outcome import Trail
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.engine.value.errors import JsonMatchError

__all__ = ["Leaves", "check_listed", "leaves_of", "refused", "weight_between", "without_nulls"]


@final
class Leaves(NamedTuple):
    """How many leaves a value has, and what they weigh where the value's own place weighs 1."""

    number: int
    weight: float


Known: TypeAlias = "dict[tuple[PlanNode, int], Leaves]"
"""Leaves of containers, by where they stand and their identity."""


def without_nulls(value: JsonValue) -> JsonValue:
    """Return an object without its null members; anything else as it is."""
    if type(value) is dict and None in value.values():
        return {key: item for key, item in value.items() if item is not None}
    return value


def leaves_of(node: PlanNode, value: JsonValue, known: Known) -> Leaves:
    """Count the leaves of a container: scalars, what a comparator takes whole and maybe empty containers.

    Args:
        node: where it stands.
        value: an object or array.
        known: keeps what was counted, of all containers inside it too.
    """
    options = node.plan.options
    nulls_absent, empties = options.nulls == "absent", options.empties == "leaf"
    waiting = [(node, value)]
    while waiting:
        below, item = waiting[-1]
        ident = below, id(item)
        if ident in known:
            waiting.pop()
            continue
        whole = without_nulls(item) if nulls_absent else item
        number, weight = (1, 1.0) if empties and not whole else (0, 0.0)
        todo = []
        for child, member in _members(below, whole):
            if child.branches is not None:
                child = child.chosen(member, MISSING)  # noqa: PLW2901 - what holds for this value
            if child.skip:
                continue
            if (type(member) is not dict and type(member) is not list) or child.explicit is not None:
                number += 1
                weight += child.own_weight
            elif (leaves := known.get((child, id(member)))) is None:
                todo.append((child, member))
            else:
                number += leaves.number
                weight += child.own_weight * leaves.weight
        if todo:
            waiting += todo
        else:
            known[ident] = Leaves(number, weight)
    return known[node, id(value)]


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
                absent = item is None and nulls_absent and type(key) is str
                container = type(item) is dict or type(item) is list
                if container or ((below.unlisted or below.branches is not None) and not absent):
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
