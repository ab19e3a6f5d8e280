"""The difference between two values: members and elements that stay, are added or are removed."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.equality import json_equal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.golden.errors import Trail

New: TypeAlias = "tuple[str | None, Any]"
"""An added item: a member's key, None for an element, and the value."""
Accept: TypeAlias = "Callable[[Trail, JsonValue, JsonValue], bool]"

# Above this size (the product of both lengths) lists are paired element by element, from their beginning.
_SEARCHED: Final = 1_000_000


def merge(old: JsonValue, new: JsonValue, accept: Accept, trail: Trail = ()) -> JsonValue:
    """Return the old value with the accepted changes towards the new one.

    Args:
        old: a value.
        new: what it might become.
        accept: called with the trail of a change, the old value and the new one (MISSING if there is none);
            tells whether to make the change.
        trail: where the values are.

    >>> merge({"a": 1, "b": 2}, {"a": 3, "c": 4}, lambda trail, old, new: trail != ("a",))
    {'a': 1, 'c': 4}
    """
    if json_equal(old, new, strict=True):
        return old
    changes = changes_between(old, new)
    if changes is None:
        return new if accept(trail, old, new) else old
    merged: list[tuple[Any, Any]] = []
    items: list[tuple[Any, Any]] = [*(old.items() if type(old) is dict else enumerate(old))]
    for index in range(len(items) + 1):
        for key, value in changes.added.get(index, ()):
            if accept((*trail, index if key is None else key), MISSING, value):
                merged.append((key, value))
        if index < len(items):
            (key, value), kept = items[index], changes.kept[index]
            if kept is not MISSING:
                merged.append((key, merge(value, kept, accept, (*trail, key))))
            elif not accept((*trail, key), value, MISSING):
                merged.append((key, value))
    return dict(merged) if type(old) is dict else [value for _, value in merged]


@final
@dataclass(slots=True)
class Changes:
    """The changes of a container's items.

    Args:
        kept: for each old item, its new value; MISSING if it is removed.
        added: new items by the index of the old item that follows them, or by the number of old items.
    """

    kept: list[Any]
    added: dict[int, list[New]] = field(default_factory=dict)

    @property
    def is_structural(self) -> bool:
        """Whether items are added or removed."""
        return bool(self.added) or any(each is MISSING for each in self.kept)


def changes_between(old: Any, new: Any) -> Changes | None:
    """Return the changes from one container to another; None if it is replaced as a whole.

    >>> changes_between({"a": 1}, {"a": 2, "b": 3})
    Changes(kept=[2], added={1: [('b', 3)]})
    """
    if not old or not new or type(old) is not type(new) or type(old) not in {dict, list}:
        return None
    return _of_members(old, new) if type(old) is dict else _of_elements(old, new)


def _of_members(old: dict[str, Any], new: dict[str, Any]) -> Changes:
    added: list[New] = [(key, value) for key, value in new.items() if key not in old]
    return Changes([new.get(key, MISSING) for key in old], {len(old): added} if added else {})


def _of_elements(old: list[Any], new: list[Any]) -> Changes:
    """Pair elements so that as few as possible are added and removed."""
    found = Changes([MISSING] * len(old))
    ours, theirs = [_key(each) for each in old], [_key(each) for each in new]
    # A common head and tail make up most of a long list; only the rest must be searched.
    shorter = min(len(old), len(new))
    head = next((index for index in range(shorter) if ours[index] != theirs[index]), shorter)
    tail = next(
        (index for index in range(shorter - head) if ours[-1 - index] != theirs[-1 - index]), shorter - head
    )
    end, last = len(old) - tail, len(new) - tail
    _pair(found, old, new, (0, head, 0, head))
    if (end - head) * (last - head) > _SEARCHED:
        _pair(found, old, new, (head, end, head, last))
    else:
        matcher = SequenceMatcher(None, ours[head:end], theirs[head:last], autojunk=False)
        for _, *span in matcher.get_opcodes():
            _pair(found, old, new, [head + each for each in span])
    _pair(found, old, new, (end, len(old), last, len(new)))
    return found


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=lambda number: {"\0": str(number)})


def _pair(found: Changes, old: list[Any], new: list[Any], span: Sequence[int]) -> None:
    """Pair the elements of two runs in order; the rest of the longer run is added or removed."""
    start, end, first, last = span
    count = min(end - start, last - first)
    going = _skipped(new[first:last], old[start:end]) if end - start > count else 0
    coming = _skipped(old[start:end], new[first:last]) if last - first > count else 0
    for index in range(count):
        found.kept[start + going + index] = new[first + coming + index]
    for place, added in ((start, new[first : first + coming]), (end, new[first + coming + count : last])):
        if added:
            found.added.setdefault(place, []).extend((None, each) for each in added)


def _skipped(shorter: list[Any], longer: list[Any]) -> int:
    """Return the offset in the longer run at which the shorter one is most similar to it."""
    spare = len(longer) - len(shorter)
    if len(shorter) * spare > _SEARCHED // 100:
        return 0
    likeness = [sum(map(_likeness, shorter, longer[skipped:])) for skipped in range(spare + 1)]
    return likeness.index(max(likeness))


def _likeness(one: Any, other: Any) -> int:
    if type(one) is not type(other):
        return 1
    if type(one) is dict:
        return 2 + 4 * sum(key in other and _key(other[key]) == _key(each) for key, each in one.items())
    return 2
