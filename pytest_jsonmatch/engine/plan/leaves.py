"""The number of leaves of a value, and their weight."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue


@final
class Leaves(NamedTuple):
    """The number of leaves of a value, and their weight relative to that of the value's own place."""

    number: int
    weight: float


Known: TypeAlias = "dict[tuple[PlanNode, int, bool], Leaves]"
"""Leaves of containers, by their place, their identity, and whether actual lacks them."""


def without_nulls(value: JsonValue) -> JsonValue:
    """Return an object without its null members; anything else unchanged."""
    if type(value) is dict and None in value.values():
        return {key: item for key, item in value.items() if item is not None}
    return value


def leaves_of(node: PlanNode, value: JsonValue, known: Known, *, lacking: bool = False) -> Leaves:
    """Count the leaves of a container: scalars, values that a comparator takes whole, maybe empty containers.

    Args:
        node: its place.
        value: an object or array.
        known: caches the counts of it and of all containers in it.
        lacking: actual lacks it, so what is optional in it does not count.
    """
    ident = node, id(value), lacking
    if ident in known:
        return known[ident]
    options = node.plan.options
    whole = without_nulls(value) if options.nulls == "absent" else value
    number, weight = (1, 1.0) if options.empties == "leaf" and not whole else (0, 0.0)
    for child, member in _members(node, whole):
        if child.branches is not None:
            child = child.chosen(member, MISSING)  # noqa: PLW2901 - the one for this value
        if child.skip or (lacking and child.accept is not None and child.accept.optional):
            continue
        if (type(member) is not dict and type(member) is not list) or child.explicit is not None:
            number += 1
            weight += child.own_weight
        else:
            leaves = leaves_of(child, member, known, lacking=lacking)
            number += leaves.number
            weight += child.own_weight * leaves.weight
    known[ident] = Leaves(number, weight)
    return known[ident]


def leaves_alone(node: PlanNode, value: JsonValue, known: Known, *, lacking: bool) -> float:
    """Return the weight of the leaves of a value that only one side has, though both have its container.

    Args:
        node: its place, whose own weight is left out.
        value: any value.
        known: as for `leaves_of`.
        lacking: actual lacks it; else expected does, or the other value is of another type.
    """
    child = node.chosen(value, MISSING)
    if child.skip or (lacking and child.accept is not None and child.accept.optional):
        return 0.0
    weight = weight_chosen(node, child)
    if (type(value) is not dict and type(value) is not list) or child.explicit is not None:
        return weight
    leaves = leaves_of(child, value, known, lacking=lacking)
    return weight * (1.0 if not leaves.number and node.plan.options.empties == "if_absent" else leaves.weight)


def weight_chosen(node: PlanNode, chosen: PlanNode) -> float:
    """Return the weight of an alternative of the schema relative to that of the place itself."""
    return chosen.own_weight / node.own_weight if chosen is not node and node.own_weight else 1.0


def most_of(node: PlanNode, value: JsonValue, known: dict[tuple[PlanNode, int], float]) -> float:
    """Return the highest weighted score that anything compared with a value of actual can get.

    Whatever is right there is one of its leaves, or a container that is right as a whole.

    Args:
        node: its place, whose own weight is left out.
        value: any value.
        known: caches the results for containers.
    """
    return max(weight_chosen(node, variant) for variant in _variants(node)) * _most_in(node, value, known)


def _most_in(node: PlanNode, value: JsonValue, known: dict[tuple[PlanNode, int], float]) -> float:
    if type(value) is not dict and type(value) is not list:
        return 1.0
    ident = node, id(value)
    if ident not in known:
        most = 1.0
        for variant in _variants(node):
            total = 0.0
            for child, member in _members(variant, value):
                total += max(each.own_weight for each in _variants(child)) * _most_in(child, member, known)
            most = max(most, total)
        known[ident] = most
    return known[ident]


def _variants(node: PlanNode) -> list[PlanNode]:
    """Return a node and its alternatives by the schema, if they may weigh differently."""
    # Apart from their weights they count the same.
    number = len(node.branches or ()) if node.plan.weighted else 0
    return [node, *map(node.children.__getitem__, range(number))]


def _members(node: PlanNode, value: JsonValue) -> Iterator[tuple[PlanNode, JsonValue]]:
    if type(value) is dict:
        return zip(map(node.children.__getitem__, value), value.values())
    return zip(repeat(node.children[ELEMENT]), value)


def weight_between(base: PlanNode, node: PlanNode) -> float:
    """Return the weight of a node relative to that of its ancestor `base`."""
    if base.weight:
        return node.weight / base.weight
    weight, above = 1.0, node
    while above.depth > base.depth and above.parent is not None:
        weight *= above.own_weight
        above = above.parent
    return weight
