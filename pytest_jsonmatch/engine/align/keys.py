"""Pair and order elements by their contents: equality keys, canonical texts, and key members.

At every depth only contents matter, not positions. The key and the text of a container are computed once, and
found by its identity: it is at one place of one document, and documents outlive the comparison.
"""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from hashlib import blake2b
from itertools import chain, repeat
from typing import TYPE_CHECKING, Final, final

from pytest_jsonmatch.engine.compare.transforms import map_scalars
from pytest_jsonmatch.engine.value.convert import CONTAINERS, MISSING, NUMBERS
from pytest_jsonmatch.engine.value.equality import json_key
from pytest_jsonmatch.engine.value.paths import ELEMENT
from pytest_jsonmatch.engine.value.text import number_text

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

_SKIPPED: Final = ("skipped",)
_LONGEST_TEXT: Final = 100
"""Longer texts of nested containers are replaced by a digest, so that depth costs linear time."""
_MOST_MEMBERS: Final = 8
"""Elements that this many members do not distinguish are ordered by their whole contents."""


@final
class Canon:
    """Makes canonical forms under one plan. Only forms of the same Canon can be compared."""

    __slots__ = ("_forms", "_keys", "_nulls_absent", "_texts")

    def __init__(self, *, nulls_absent: bool) -> None:
        self._nulls_absent = nulls_absent
        self._forms: dict[Hashable, Hashable] = {}
        self._keys: dict[int, Hashable] = {}
        self._texts: dict[int, str] = {}

    # -- equality ------------------------------------------------------------------------------------------

    def keys(self, element: PlanNode, *sides: Sequence[JsonValue]) -> list[list[Hashable]]:
        """Return the keys of the elements of each side: elements that are equal under the plan share a key.

        Transforms are applied and skipped fields left out; unordered arrays in the elements are multisets.
        """
        if not self._nulls_absent and element.explicit is None and _compared_as_is(element):
            kinds = {type(value) for side in sides for value in side}
            if kinds == {str}:
                return [list(side) for side in sides]
            if kinds == {dict} and all(
                _compared_as_is(element.children[key]) for key in set(chain.from_iterable(chain(*sides)))
            ):
                return self._of_equal(element, sides)
        return [[self.key(element, value) for value in side] for side in sides]

    def _of_equal(
        self, element: PlanNode, sides: Sequence[Sequence[dict[str, JsonValue]]]
    ) -> list[list[Hashable]]:
        """Return the keys of objects on both sides whose members are compared as they are."""
        rough: list[list[Hashable]]
        try:
            rough = [[frozenset(value.items()) for value in side] for side in sides]
        except TypeError:  # there are containers in them
            return [[self.key(element, value) for value in side] for side in sides]
        shared = set(rough[0]).intersection(*rough[1:])
        alike = [value for keys, side in zip(rough, sides) for key, value in zip(keys, side) if key in shared]
        if not _flags_and_numbers(alike):
            return rough
        return [
            [self.key(element, value) if key in shared else key for key, value in zip(keys, side)]
            for keys, side in zip(rough, sides)
        ]

    def key(self, node: PlanNode, value: JsonValue) -> Hashable:
        """Return the key of a value, which equal values share; containers are done from the leaves up."""
        if node.branches is not None:
            node = node.chosen(value, MISSING)
        if node.skip:
            return _SKIPPED
        if type(value) is not dict and type(value) is not list:
            return json_key(node.prepare(value))
        if id(value) not in self._keys:
            # If a comparator takes it whole, no rule of the plan applies inside it.
            is_whole = node.explicit is not None
            form = json_key(node.prepare(value)) if is_whole else self._form(node, value)
            self._keys[id(value)] = form
        return self._keys[id(value)]

    def _form(self, node: PlanNode, value: JsonValue) -> Hashable:
        """Return the key of a container, made of the keys of its members."""
        is_object = type(value) is dict
        nulls_absent = self._nulls_absent and is_object
        keys: list[object] = []
        parts: list[Hashable] = []
        skipped = False
        for key, item in value.items() if is_object else zip(repeat(ELEMENT), value):
            if item is None and nulls_absent:
                continue
            below = node.children[key]
            if below.branches is not None:
                below = below.chosen(item, MISSING)
            if below.skip:
                skipped = True
                continue
            is_container = type(item) is dict or type(item) is list
            keys.append(key)
            parts.append(self.key(below, item) if is_container else json_key(below.prepare(item)))
        flat: Hashable
        if skipped and not parts:
            # Everything in it is skipped: that differs from an empty container.
            flat = _SKIPPED, type(value)
        elif is_object:
            flat = frozenset(zip(keys, parts))
        elif node.align == "unordered":
            flat = "multiset", frozenset(Counter(parts).items())
        else:
            flat = "array", *parts
        return self._forms.setdefault(flat, object())

    # -- order ---------------------------------------------------------------------------------------------

    def order(self, element: PlanNode, values: Sequence[JsonValue], places: list[int]) -> list[int]:
        """Return places of values in an order that depends only on the contents of the values."""
        if len(places) < 2:
            return places
        kinds = {type(values[at]) for at in places}
        if kinds == {str} and _compared_as_is(element):
            return sorted(places, key=values.__getitem__)
        objects = [values[at] for at in places]
        inside = chain.from_iterable(map(dict.values, objects)) if kinds == {dict} else ()
        if kinds == {dict} and not self._nulls_absent and CONTAINERS.isdisjoint(map(type, inside)):
            keys = Counter(chain.from_iterable(objects))
            if element.branches is None and all(_compared_as_is(element.children[key]) for key in keys):
                # Members that most objects have distinguish most objects.
                return _by_members(objects, places, sorted(keys, key=lambda key: (-keys[key], key)))
        return sorted(places, key=lambda at: self.text(element, values[at]))

    def text(self, node: PlanNode, value: JsonValue) -> str:
        """Return a text that values of equal contents share; the order of their unordered arrays is ignored.

        Skipped members are left out: twins take the first of elements that differ only there.
        """
        if type(value) is not dict and type(value) is not list:
            return _encoded(_canonical(node, value))
        if id(value) not in self._texts:
            node = node if node.branches is None else node.chosen(value, MISSING)
            self._texts[id(value)] = self._text_of(node, value)
        return self._texts[id(value)]

    def _text_of(self, node: PlanNode, value: JsonValue) -> str:
        """Return the text of a container."""
        children = node.children
        if type(value) is dict:
            members = {}
            for key, item in value.items():
                if not (children[key].skip or (item is None and self._nulls_absent)):
                    members[key] = self._stub(children[key], item)
            return _encoded(members)
        parts = [self._stub(children[ELEMENT], item) for item in value]
        if node.align == "unordered":
            parts.sort(key=None if set(map(type, parts)) == {str} else _encoded)
        return _encoded(parts)

    def _stub(self, node: PlanNode, value: JsonValue) -> JsonValue:
        """Return a scalar as equal ones are written, and a short text for a container."""
        if type(value) is not dict and type(value) is not list:
            return _canonical(node, value)
        text = self.text(node, value)
        if len(text) <= _LONGEST_TEXT:
            return text
        return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def twins(
    expected: Sequence[Hashable], actual: Sequence[Hashable]
) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """Pair equal elements in order of position; return the pairs, and the unpaired positions of each side.

    Args:
        expected: the equality key of each element.
        actual: likewise for the other side.
    """
    free: dict[Hashable, list[int]] = {}
    for at in range(len(actual) - 1, -1, -1):
        free.setdefault(actual[at], []).append(at)
    pairs: list[tuple[int, int]] = []
    rows: list[int] = []
    for at, key in enumerate(expected):
        found = free.get(key)
        if found:
            pairs.append((at, found.pop()))
        else:
            rows.append(at)
    if not pairs:
        return pairs, rows, list(range(len(actual)))
    taken = {to for _, to in pairs}
    return pairs, rows, [at for at in range(len(actual)) if at not in taken]


def pair_by_key(
    element: PlanNode, key: str, expected: list[JsonValue], actual: list[JsonValue]
) -> list[tuple[int, int]]:
    """Pair the objects of two arrays by the transformed value of one member, compared as JSON.

    Null, boolean and container keys match nothing, nor do duplicates after the first.
    """
    member = element.children[key]
    partners: dict[JsonValue, int] = {}
    for index, item in enumerate(actual):
        value = key_value(member, item, key)
        if value is not MISSING:
            partners.setdefault(value, index)
    pairs: list[tuple[int, int]] = []
    for index, item in enumerate(expected):
        value = key_value(member, item, key)
        partner = None if value is MISSING else partners.pop(value, None)
        if partner is not None:
            pairs.append((index, partner))
    return pairs


def key_of(node: PlanNode, expected: list[JsonValue], actual: list[JsonValue]) -> str | None:
    """Return the member by which the elements of two arrays pair; None: by position."""
    if isinstance(node.align, str):
        return None
    kind, key = node.align
    objects = all(type(item) is dict for item in chain(expected, actual))
    return None if kind == "if_objects" and not objects else key


def key_value(member: PlanNode, item: JsonValue, key: str) -> JsonValue:
    """Return the value by which an element is paired; MISSING if it can match nothing."""
    if type(item) is not dict:
        return MISSING
    value = member.prepare(item.get(key, MISSING))
    if value is MISSING or value is None or type(value) in {bool, dict, list}:
        return MISSING
    # NaN and infinities equal nothing.
    if type(value) is float and value - value != 0.0:
        return MISSING
    return value


def _flags_and_numbers(values: Sequence[dict[str, JsonValue]]) -> bool:
    """Tell whether a member is a boolean in one object and a number in another, equal to Python."""
    types = set(map(type, chain.from_iterable(map(dict.values, values))))
    if bool not in types or NUMBERS.isdisjoint(types):
        return False
    flags = {key for value in values for key, item in value.items() if type(item) is bool}
    return any(type(value.get(key)) in NUMBERS for value in values for key in flags)


def _compared_as_is(node: PlanNode) -> bool:
    """Tell whether scalars at a node are compared without transforms."""
    return not (node.skip or node.transforms) and node.branches is None


def _canonical(node: PlanNode, value: JsonValue) -> JsonValue:
    """Return a scalar as all that are equal to it are written: after transforms, 1.0 as 1."""
    value = node.chosen(value, MISSING).prepare(value)
    return int(value) if type(value) is float and value.is_integer() else value


def _text_of_other(value: object) -> str:
    """Return the text of a large number, or of an object that a user's transform returned."""
    return number_text(value) if type(value) is Decimal else repr(value)


# json.dumps makes an encoder at each call.
_encode: Final = json.JSONEncoder(sort_keys=True, ensure_ascii=False, default=_text_of_other).encode


def _encoded(value: JsonValue) -> str:
    """Return JSON text with sorted keys of a scalar, or of a container of scalars."""
    try:
        return _encode(value)
    except ValueError:
        # Python refuses to make decimal text of very long integers, but not hexadecimal text.
        return _encode(map_scalars(value, lambda each: hex(each) if type(each) is int else each))


def _scalar_text(value: JsonValue) -> str:
    """Return a text that identifies a scalar, faster than JSON."""
    if type(value) is str:
        return '"' + value
    if type(value) is float and value.is_integer():
        value = int(value)
    # Decimal digits of long integers take long, or are refused.
    return hex(value) if type(value) is int else repr(value)


def _by_members(values: list[dict[str, JsonValue]], places: list[int], keys: list[str]) -> list[int]:
    """Return the places of objects of scalars, ordered by as many members as distinguish them."""
    columns: list[list[str]] = []
    for key in keys[:_MOST_MEMBERS]:
        columns.append([_scalar_text(value[key]) if key in value else "" for value in values])
        if len(set(zip(*columns))) == len(values):
            break
    else:
        columns.append(list(map(_encoded, values)))
    return [at for *_, at in sorted(zip(*columns, places))]
