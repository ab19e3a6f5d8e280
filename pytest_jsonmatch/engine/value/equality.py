"""Equality of JSON values: as JSON means it, strictly by kind of number, and by hash."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final, final

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from pytest_jsonmatch.engine.value.convert import JsonValue

__all__ = ["json_equal", "json_key", "scalar_key", "strict_equal"]

_NUMBERS: Final = frozenset({int, float, Decimal})
_TRUE: Final = object()
_FALSE: Final = object()


def json_equal(expected: JsonValue, actual: JsonValue) -> bool:
    """Tell whether two JSON values are equal: `True` is not `1`, `1` is `1.0`, NaN equals nothing.

    >>> json_equal([1, {"a": True}], [1.0, {"a": True}]), json_equal([True], [1])
    (True, False)
    """
    return _all_equal(expected, actual, _scalars_equal)


def strict_equal(expected: JsonValue, actual: JsonValue) -> bool:
    """Tell whether two JSON values are equal and their numbers of one kind: 42 is not 42.0, at any depth.

    >>> strict_equal({"n": [42]}, {"n": [42]}), strict_equal({"n": [42]}, {"n": [42.0]})
    (True, False)
    """
    return _all_equal(expected, actual, _same_kind_and_equal)


def scalar_key(value: JsonValue) -> object:
    """Return a hashable key that is equal for equal JSON scalars, and for no others.

    >>> scalar_key(1) == scalar_key(1.0), scalar_key(1) == scalar_key(True)
    (True, False)
    """
    kind = type(value)
    if kind is bool:
        return _TRUE if value else _FALSE
    if kind is float and value - value != 0.0:
        return object()  # NaN and infinities equal nothing
    key: object = value
    return key


def _all_equal(expected: JsonValue, actual: JsonValue, same: Callable[[JsonValue, JsonValue], bool]) -> bool:
    """Compare values of any depth; `same` compares a scalar of expected with any value."""
    stack = [(expected, actual)]
    while stack:
        left, right = stack.pop()
        kind = type(left)
        if kind is dict:
            if type(right) is not dict or left.keys() != right.keys():
                return False
            stack.extend((item, right[key]) for key, item in left.items())
        elif kind is list:
            if type(right) is not list or len(left) != len(right):
                return False
            stack.extend(zip(left, right))
        elif not same(left, right):
            return False
    return True


def _scalars_equal(left: JsonValue, right: JsonValue) -> bool:
    kind, other = type(left), type(right)
    if (kind is not other and (kind not in _NUMBERS or other not in _NUMBERS)) or left != right:
        return False
    # Infinities equal each other in Python; they are not JSON, so here they equal nothing.
    return not (kind is float and left - left != 0.0)


def _same_kind_and_equal(left: JsonValue, right: JsonValue) -> bool:
    return type(left) is type(right) and _scalars_equal(left, right)


def json_key(value: JsonValue, *, strict: bool = False) -> Hashable:
    """Return a hashable key that is equal for equal JSON values, and for no others.

    Args:
        value: any JSON value.
        strict: numbers of two kinds are never equal: 42 is not 42.0, at any depth.

    >>> json_key([1, {"a": "x"}]) == json_key([1.0, {"a": "x"}]), json_key([1]) == json_key([True])
    (True, False)
    """
    kind = type(value)
    if kind is str or kind is int:
        atom: Hashable = value
        return atom
    if kind is dict or kind is list:
        return _Container(value, strict=strict)
    return (kind, scalar_key(value)) if strict else scalar_key(value)


@final
class _Container:
    """An array or object as a key; its hash looks at two levels only, so that no depth is too deep."""

    __slots__ = ("_strict", "_value")

    def __init__(self, value: JsonValue, *, strict: bool) -> None:
        self._value = value
        self._strict = strict

    def __eq__(self, other: object) -> bool:
        equal = strict_equal if self._strict else json_equal
        return isinstance(other, _Container) and equal(self._value, other._value)

    def __hash__(self) -> int:
        if type(self._value) is dict:
            return hash(frozenset((name, self._outline(item)) for name, item in self._value.items()))
        return hash(tuple(map(self._outline, self._value)))

    def _outline(self, value: JsonValue) -> Hashable:
        kind = type(value)
        return (kind, len(value)) if kind is list or kind is dict else json_key(value, strict=self._strict)
