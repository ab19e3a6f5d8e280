"""Which element of expected's array meets which of actual's."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from pytest_jsonmatch.engine.values import MISSING

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.plan import PlanNode
    from pytest_jsonmatch.engine.values import JsonValue

__all__ = ["Pairing", "pair_by_key"]

Pairing: TypeAlias = "list[tuple[int, int]]"
"""Pairs of (index in expected, index in actual), in the order of expected."""


def pair_by_key(element: PlanNode, key: str, expected: list[JsonValue], actual: list[JsonValue]) -> Pairing:
    """Pair the objects of two arrays by the transformed value of one member, compared as JSON.

    Null, boolean and container keys match nothing, nor do duplicates after the first.
    """
    member = element.children[key]
    partners: dict[JsonValue, int] = {}
    for index, item in enumerate(actual):
        value = _key_value(member, item, key)
        if value is not MISSING:
            partners.setdefault(value, index)
    pairs: Pairing = []
    for index, item in enumerate(expected):
        value = _key_value(member, item, key)
        partner = None if value is MISSING else partners.pop(value, None)
        if partner is not None:
            pairs.append((index, partner))
    return pairs


def _key_value(member: PlanNode, item: JsonValue, key: str) -> JsonValue:
    """Return what an element is paired by, or MISSING where that can match nothing."""
    if type(item) is not dict:
        return MISSING
    value = member.prepare(item.get(key, MISSING))
    if value is MISSING or value is None or type(value) in {bool, dict, list}:
        return MISSING
    # Not a finite number: equals nothing. (A string is never equal to itself minus itself: types first.)
    if type(value) is float and value - value != 0.0:
        return MISSING
    return value
