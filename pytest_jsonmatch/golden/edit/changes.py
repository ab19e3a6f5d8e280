"""What changes between two values: members and elements that stay, come and go."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from pytest_jsonmatch.engine.value.convert import MISSING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_jsonmatch.engine.value.convert import JsonValue

__all__ = ["Changes", "Trail", "identical", "merge", "of_elements", "of_members"]

Trail: TypeAlias = "tuple[str | int, ...]"
"""Where a value stands: object keys and array indices, from the root of the document."""
Accept: TypeAlias = "Callable[[Trail, JsonValue, JsonValue], bool]"

# Lists that differ in more than this (length by length) are paired element by element, in their order.
_SEARCHED: Final = 1_000_000


def merge(old: JsonValue, new: JsonValue, accept: Accept, trail: Trail = ()) -> JsonValue:
    """Return the old value with those changes towards the new one that are accepted.

    Args:
        old: a value.
        new: what it might become.
        accept: called with the trail of a change, the old value there and the new one (MISSING for what
            comes or goes); it tells whether to make the change.
        trail: where the values stand.

    >>> merge({"a": 1, "b": 2}, {"a": 3, "c": 4}, lambda trail, old, new: trail != ("a",))
    {'a': 1, 'c': 4}
    """
    if identical(old, new):
        return old
    if old and new and type(old) is type(new) is dict:
        merged = {}
        for key, value in old.items():
            if key in new:
                merged[key] = merge(value, new[key], accept, (*trail, key))
            elif not accept((*trail, key), value, MISSING):
                merged[key] = value
        comes = {key: value for key, value in new.items() if key not in old}
        return merged | {key: value for key, value in comes.items() if accept((*trail, key), MISSING, value)}
    if old and new and type(old) is type(new) is list:
        elements: list[Any] = []
        changes = of_elements(old, new)
        for index in range(len(old) + 1):
            for _, value in changes.added.get(index, ()):
                if accept((*trail, index), MISSING, value):
                    elements.append(value)
            if index < len(old):
                kept = changes.kept[index]
                if kept is not None:
                    elements.append(merge(old[index], kept[0], accept, (*trail, index)))
                elif not accept((*trail, index), old[index], MISSING):
                    elements.append(old[index])
        return elements
    return new if accept(trail, old, new) else old


def identical(one: JsonValue, other: JsonValue) -> bool:
    """Tell whether two JSON values are the same to the letter: 1 is not 1.0, and -0.0 is not 0.0.

    >>> identical({"a": 1, "b": 2}, {"b": 2, "a": 1}), identical([1], [1.0]), identical(True, 1)
    (True, False, False)
    """
    waiting: list[tuple[Any, Any]] = [(one, other)]
    while waiting:
        left, right = waiting.pop()
        if left is right:
            continue
        if type(left) is not type(right):
            return False
        if type(left) is dict:
            if left.keys() != right.keys():
                return False
            waiting += [(each, right[key]) for key, each in left.items()]
        elif type(left) is list:
            if len(left) != len(right):
                return False
            waiting += zip(left, right)
        elif left != right or (type(left) is float and str(left) != str(right)):
            return False
    return True


@final
@dataclass(slots=True)
class Changes:
    """How the items of a container become others.

    Args:
        kept: for each old item, its new value in a one-element list, or None if it goes.
        added: new items by the index of the old item that they come before, or by the count of old items.
    """

    kept: list[list[Any] | None]
    added: dict[int, list[tuple[str | None, Any]]] = field(default_factory=dict)

    @property
    def is_structural(self) -> bool:
        """Whether items come or go."""
        return bool(self.added) or None in self.kept

    @property
    def all_added(self) -> list[tuple[str | None, Any]]:
        """The new items in their order."""
        return [each for index in sorted(self.added) for each in self.added[index]]


def of_members(old: dict[str, Any], new: dict[str, Any]) -> Changes:
    """Return how the members of an object become those of another."""
    found = Changes([[new[key]] if key in new else None for key in old])
    added: list[tuple[str | None, Any]] = [(key, value) for key, value in new.items() if key not in old]
    if added:
        found.added[len(old)] = added
    return found


def of_elements(old: list[Any], new: list[Any]) -> Changes:
    """Return how the elements of an array become those of another: as few as can be come and go."""
    found = Changes([None] * len(old))
    ours, theirs = [_key(each) for each in old], [_key(each) for each in new]
    # What both begin with and end with is most of a long list; the rest is all that has to be searched.
    shorter = min(len(old), len(new))
    head = next((index for index in range(shorter) if ours[index] != theirs[index]), shorter)
    tail = next(
        (index for index in range(shorter - head) if ours[-1 - index] != theirs[-1 - index]), shorter - head
    )
    for index in range(head):
        found.kept[index] = [new[index]]
    for index in range(1, tail + 1):
        found.kept[-index] = [new[-index]]
    ours, theirs = ours[head : len(old) - tail], theirs[head : len(new) - tail]
    if len(ours) * len(theirs) > _SEARCHED:
        _pair(found, old, new, (head, len(old) - tail, head, len(new) - tail))
        return found
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    for kind, *bounds in matcher.get_opcodes():
        start, end, first, last = (head + bound for bound in bounds)
        if kind == "equal" or end - start == last - first:
            for index in range(end - start):
                found.kept[start + index] = [new[first + index]]
        elif kind == "insert":
            found.added[start] = [(None, each) for each in new[first:last]]
        elif kind == "replace":
            _pair(found, old, new, (start, end, first, last))
    return found


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=lambda number: {"\0": str(number)})


def _pair(found: Changes, old: list[Any], new: list[Any], span: tuple[int, int, int, int]) -> None:
    """Pair elements of two runs, in their order and as like each other as can be."""
    start, end, first, last = span
    rows, columns = end - start, last - first
    if rows * columns > 10_000:
        pairs = [(start + index, first + index) for index in range(min(rows, columns))]
    else:
        best = [[0] * (columns + 1) for _ in range(rows + 1)]
        for row in reversed(range(rows)):
            for column in reversed(range(columns)):
                paired = best[row + 1][column + 1] + _likeness(old[start + row], new[first + column])
                best[row][column] = max(paired, best[row + 1][column], best[row][column + 1])
        pairs = []
        row = column = 0
        while row < rows and column < columns:
            paired = best[row + 1][column + 1] + _likeness(old[start + row], new[first + column])
            # All of the shorter run are paired: what is left over may be skipped, and no more.
            if best[row][column] == paired or (rows - row == columns - column):
                pairs.append((start + row, first + column))
                row, column = row + 1, column + 1
            elif rows - row > columns - column:
                row += 1
            else:
                column += 1
    partners = dict(pairs)
    taken = set(partners.values())
    for one, other in pairs:
        found.kept[one] = [new[other]]
    following = end
    by_partner = {other: one for one, other in pairs}
    for index in reversed(range(first, last)):
        if index in taken:
            following = by_partner[index]
        else:
            found.added.setdefault(following, []).insert(0, (None, new[index]))


def _likeness(one: Any, other: Any) -> int:
    if type(one) is not type(other):
        return 1
    if type(one) is dict:
        return 2 + 4 * sum(key in other and _key(other[key]) == _key(each) for key, each in one.items())
    return 2
