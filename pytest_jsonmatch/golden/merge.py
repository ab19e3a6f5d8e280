"""The differences between two values, one by one: members and elements that stay, come or go."""

from __future__ import annotations

import json
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.equality import json_equal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.golden.errors import Steps

Chooses: TypeAlias = "Callable[[Steps, JsonValue, JsonValue], JsonValue]"


def merge(old: JsonValue, new: JsonValue, choose: Chooses, trail: Steps = ()) -> JsonValue:
    """Return the old value with those changes towards the new one that are chosen.

    Args:
        old: a value.
        new: what it might become.
        choose: called with the trail of a change, the old value and the new one (MISSING if there is none);
            returns the value to take: one of them, or another.
        trail: where the values are.

    >>> merge({"a": 1, "b": 2}, {"a": 3, "c": 4}, lambda trail, old, new: old if trail == ("a",) else new)
    {'a': 1, 'c': 4}
    """
    if json_equal(old, new, strict=True):
        return old
    if not old or not new or type(old) is not type(new) or type(old) not in {dict, list}:
        return choose(trail, old, new)
    merged: list[tuple[Any, Any]] = []
    for key, before, after in _members(old, new) if type(old) is dict else _elements(old, new):
        below = (*trail, key)
        if before is not MISSING and after is not MISSING:
            merged.append((key, merge(before, after, choose, below)))
        else:
            kept = choose(below, before, after)
            if kept is not MISSING:
                merged.append((key, kept))
    return dict(merged) if type(old) is dict else [value for _, value in merged]


def _members(old: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for key in {**old, **new}:
        yield key, old.get(key, MISSING), new.get(key, MISSING)


def _elements(old: list[Any], new: list[Any]) -> Iterator[tuple[int, Any, Any]]:
    """Yield the elements of two arrays in pairs, those that are equal first; each with its index in `old`."""
    matcher = SequenceMatcher(None, list(map(_key, old)), list(map(_key, new)))
    for _, start, end, first, last in matcher.get_opcodes():
        pairs = zip_longest(old[start:end], new[first:last], fillvalue=MISSING)
        for index, (before, after) in enumerate(pairs, start):
            yield min(index, end), before, after


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=lambda number: {"\0": str(number)})
