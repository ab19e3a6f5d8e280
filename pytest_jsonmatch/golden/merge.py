"""Merge two values, one difference at a time: changed, added and removed members and elements."""

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
    from pytest_jsonmatch.reading.errors import Steps

Chooser: TypeAlias = "Callable[[Steps, JsonValue, JsonValue], JsonValue]"


def merge(old: JsonValue, new: JsonValue, choose: Chooser, steps: Steps = ()) -> JsonValue:
    """Return the old value with the changes to the new one that `choose` selects.

    Args:
        old: the old value.
        new: the new value.
        choose: called with the steps to a change, the old value and the new one (MISSING if there is none);
            returns the merged value: one of them, or another.
        steps: the steps to the values.

    >>> merge({"a": 1, "b": 2}, {"a": 3, "c": 4}, lambda steps, old, new: old if steps == ("a",) else new)
    {'a': 1, 'c': 4}
    """
    if json_equal(old, new, strict=True):
        return old
    if not old or not new or type(old) is not type(new) or type(old) not in {dict, list}:
        return choose(steps, old, new)
    merged: list[tuple[Any, Any]] = []
    for key, before, after in _members(old, new) if type(old) is dict else _elements(old, new):
        inner_steps = (*steps, key)
        if before is not MISSING and after is not MISSING:
            merged.append((key, merge(before, after, choose, inner_steps)))
        else:
            chosen = choose(inner_steps, before, after)
            if chosen is not MISSING:
                merged.append((key, chosen))
    return dict(merged) if type(old) is dict else [value for _, value in merged]


def _members(old: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for key in {**old, **new}:
        yield key, old.get(key, MISSING), new.get(key, MISSING)


def _elements(old: list[Any], new: list[Any]) -> Iterator[tuple[int, Any, Any]]:
    """Yield the elements of two arrays in pairs, matched by equality; each with its index in `old`."""
    matcher = SequenceMatcher(None, list(map(_key, old)), list(map(_key, new)))
    for _, start, end, first, last in matcher.get_opcodes():
        pairs = zip_longest(old[start:end], new[first:last], fillvalue=MISSING)
        for index, (before, after) in enumerate(pairs, start):
            yield min(index, end), before, after


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=lambda number: {"\0": str(number)})
