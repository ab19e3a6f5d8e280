"""Pair and order elements by their contents: equality keys, canonical texts, and key members.

At every depth only contents matter, not positions. The key and the text of a container are computed once and
cached by its identity: it is at one place of one document, and documents outlive the comparison.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from itertools import chain, repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.plan.options import ByKey
from pytest_jsonmatch.engine.value.convert import MISSING, NO_SCALARS, Matcher
from pytest_jsonmatch.engine.value.equality import make_json_key
from pytest_jsonmatch.engine.value.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from pytest_jsonmatch.engine.plan.absent import AbsentValues
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

_SKIPPED: Final = ("skipped",)
_MAX_GAPS: Final = 4
"""Objects that have fewer than one in this many of all keys are sorted by their canonical texts."""
_FEW_KEYS: Final = 6
"""If this many members distinguish all objects, the other members do not affect their order."""
_NO_KEYS: Final = NO_SCALARS | {bool}
"""The types of values by which elements can't be paired."""
_BOOLS: Final = repeat(bool)


@final
class EqualityKeys:
    """Makes equality keys and canonical texts under one plan; only those of one instance are comparable."""

    __slots__ = ("_absent", "_forms", "_keys", "_texts")

    def __init__(self, absent: AbsentValues | None) -> None:
        self._absent = absent
        self._forms: dict[Hashable, Hashable] = {}
        self._keys: dict[int, Hashable] = {}
        self._texts: dict[int, str] = {}

    # -- equality ------------------------------------------------------------------------------------------

    def make_keys(
        self, element: PlanNode, *sides: Sequence[JsonValue], plain: bool | None = None
    ) -> list[list[Hashable]]:
        """Return the keys of the elements of each side; elements that are equal under the plan share a key.

        Transforms are applied and skipped fields left out; unordered arrays in the elements are multisets.
        `plain` is the result of `are_plain` for all elements, if it has been called.
        """
        if not (self.are_plain(element, chain(*sides)) if plain is None else plain):
            return [[self.make_key(element.choose(value), value) for value in side] for side in sides]
        if any(side and type(side[0]) is str for side in sides):
            return [list(side) for side in sides]
        # True equals 1 in Python, but not in JSON.
        return [
            [frozenset(zip(value, value.values(), map(isinstance, value.values(), _BOOLS))) for value in side]
            for side in sides
        ]

    def are_plain(self, element: PlanNode, elements: Iterable[JsonValue]) -> bool:
        """Return whether elements are all strings or all objects of scalars, compared without transforms."""
        if self._absent is not None or not _is_compared_as_is(element):
            return False
        values = list(elements)
        kinds = set(map(type, values))
        if kinds != {dict}:
            return kinds == {str}
        keys = set(chain.from_iterable(values))
        inside = map(type, chain.from_iterable(map(dict.values, values)))
        return NO_SCALARS.isdisjoint(inside) and all(
            _is_compared_as_is(element.undecided[key]) for key in keys
        )

    def make_key(self, node: PlanNode, value: JsonValue) -> Hashable:
        """Return the key of a value at the node chosen for it; keys of containers are built bottom up."""
        if node.rules.skip:
            return _SKIPPED
        if node.rules.explicit_comparator is not None or (
            type(value) is not dict and type(value) is not list
        ):
            # If a comparator compares a container as a whole, no rule of the plan applies inside it.
            return make_json_key(node.rules.try_transform(value), strict=node.rules.strict_numbers)
        if id(value) not in self._keys:
            self._keys[id(value)] = self._forms.setdefault(self._make_container_key(node, value), object())
        return self._keys[id(value)]

    def _make_container_key(self, node: PlanNode, value: JsonValue) -> Hashable:
        """Return a key that combines the type of a container and the keys of its members."""
        is_object = type(value) is dict
        keys: list[Any]
        if is_object:
            members = value if self._absent is None else self._absent.remove(node, value)
            keys = [(name, self.make_key(child, item)) for name, child, item in node.iter_children(members)]
            parts = [key for key in keys if key[1] is not _SKIPPED]
        else:
            keys = [self.make_key(child, item) for _, child, item in node.iter_children(value)]
            parts = [key for key in keys if key is not _SKIPPED]
        if keys and not parts:
            # A container in which everything is skipped differs from an empty one.
            return _SKIPPED, type(value)
        if is_object:
            return frozenset(parts)
        return (
            ("multiset", frozenset(Counter(parts).items()))
            if node.rules.align == "unordered"
            else tuple(parts)
        )

    # -- order ---------------------------------------------------------------------------------------------

    def sort_positions(
        self, element: PlanNode, values: Sequence[JsonValue], positions: list[int], *, plain: bool
    ) -> list[int]:
        """Return positions of values in an order that depends only on the values' contents."""
        if len(positions) < 2:
            return positions
        selected = [values[at] for at in positions]
        if plain:
            if type(selected[0]) is str:
                return sorted(positions, key=values.__getitem__)
            keys = sorted(set(chain.from_iterable(selected)))
            if len(keys) * len(selected) <= _MAX_GAPS * sum(map(len, selected)):
                with suppress(ValueError):  # a program may limit the digits of integers as text
                    texts = [_make_texts(selected, key) for key in keys[:_FEW_KEYS]]
                    if len(set(zip(*texts))) < len(selected):
                        texts += [_make_texts(selected, key) for key in keys[_FEW_KEYS:]]
                    return [at for *_, at in sorted(zip(*texts, positions))]
        return sorted(positions, key=lambda at: self.make_text(element.choose(values[at]), values[at]))

    def make_text(self, node: PlanNode, value: JsonValue) -> str:
        """Return a canonical text, which values with equal contents share in spite of unordered arrays.

        Skipped members are left out, so that elements that differ only there are sorted by position.
        """
        if type(value) is not dict and type(value) is not list:
            return (
                repr(node.rules.try_transform(value))
                if node.rules.strict_numbers
                else _make_scalar_text(node.rules.try_transform(value))
            )
        text = self._texts.get(id(value))
        if text is None:
            text = self._texts[id(value)] = self._make_container_text(node, value)
        return text

    def _make_container_text(self, node: PlanNode, value: JsonValue) -> str:
        """Return the text of a container."""
        if type(value) is list:
            parts = [self.make_text(child, item) for _, child, item in node.iter_children(value)]
            if node.rules.align == "unordered":
                parts.sort()
            return f"[{','.join(parts)}]"
        members = value if self._absent is None else self._absent.remove(node, value)
        return ",".join(
            [
                f"{key!r}:{self.make_text(child, item)}"
                for key, child, item in sorted(node.iter_children(members), key=itemgetter(0))
                if not child.rules.skip
            ]
        ).join("{}")


def pair_equal(
    expected: Sequence[Hashable], actual: Sequence[Hashable]
) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """Pair equal elements by position; return the pairs and the unpaired positions of each side.

    Args:
        expected: the equality key of each element.
        actual: the equality key of each element of the other side.
    """
    unpaired: dict[Hashable, list[int]] = {}
    for at in range(len(actual) - 1, -1, -1):
        unpaired.setdefault(actual[at], []).append(at)
    pairs: list[tuple[int, int]] = []
    rows: list[int] = []
    for at, key in enumerate(expected):
        partners = unpaired.get(key)
        if partners:
            pairs.append((at, partners.pop()))
        else:
            rows.append(at)
    if not pairs:
        return pairs, rows, list(range(len(actual)))
    paired = {to for _, to in pairs}
    return pairs, rows, [at for at in range(len(actual)) if at not in paired]


def pair_by_key(
    element: PlanNode, key: str, expected: list[JsonValue], actual: list[JsonValue]
) -> list[tuple[int, int]]:
    """Pair the objects of two arrays by the transformed value of one member, compared as JSON.

    Null, boolean and container keys match nothing, and neither do duplicates after the first.
    """
    partners: dict[JsonValue, int] = {}
    for index, item in enumerate(actual):
        value = read_key_value(element, item, key)
        if value is not MISSING:
            partners.setdefault(value, index)
    pairs: list[tuple[int, int]] = []
    for index, item in enumerate(expected):
        value = read_key_value(element, item, key)
        partner = None if value is MISSING else partners.pop(value, None)
        if partner is not None:
            pairs.append((index, partner))
    return pairs


def find_key(node: PlanNode, expected: list[JsonValue], actual: list[JsonValue]) -> str | None:
    """Return the member by which the elements of two arrays are paired; None for pairing by position."""
    if not isinstance(node.rules.align, ByKey):
        return None
    kind, key = node.rules.align
    objects = all(type(item) is dict for item in chain(expected, actual))
    return None if kind == "if_objects" and not objects else key


def get_key_member(element: PlanNode, item: dict[str, JsonValue], key: str) -> PlanNode:
    """Return the node of the member by which an object is paired."""
    return element.choose(item).undecided[key].choose(item[key])


def read_key_value(element: PlanNode, item: JsonValue, key: str) -> JsonValue:
    """Return the value by which an element is paired; MISSING if it can't be paired."""
    if type(item) is not dict or key not in item:
        return MISSING
    member = get_key_member(element, item, key)
    absent = member.plan.absent
    if absent is not None and absent.is_absent(member, item[key]):
        return MISSING
    value = member.rules.try_transform(item[key])
    if value is MISSING or value is None or type(value) in _NO_KEYS:
        if type(value) is Matcher:
            raise ConfigurationError(
                f"{member.path}: elements are paired by this member, so expected must have a value there, "
                f"got the matcher {value!r}"
            )
        return MISSING
    # NaN and infinities equal nothing.
    if type(value) is float and value - value != 0.0:
        return MISSING
    return value


def _is_compared_as_is(node: PlanNode) -> bool:
    """Return whether scalars at a node are compared without transforms."""
    return not (node.rules.skip or node.rules.transforms or node.rules.strict_numbers) and not node.varies


def _make_texts(values: Sequence[dict[str, JsonValue]], key: str) -> list[str]:
    """Return the member of each object as text; "" for objects without it."""
    return [repr(value[key]) if key in value else "" for value in values]


def _make_scalar_text(value: object) -> str:
    """Return the text of a scalar, which equal scalars share, or of the result of a user's transform."""
    if type(value) is float and value.is_integer():
        value = int(value)
    # In hexadecimal, since a program may limit the digits of integers as text.
    return hex(value) if type(value) is int else repr(value)
