"""Equality of JSON values: by JSON's rules, strictly by type of number, and by hashable keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_jsonmatch.engine.value.convert import NUMBERS, Matcher

if TYPE_CHECKING:
    from collections.abc import Hashable

    from pytest_jsonmatch.engine.value.convert import JsonValue


def json_equal(expected: JsonValue, actual: JsonValue, *, strict: bool = False) -> bool:
    """Return whether two JSON values are equal: `True` is not `1`, `1` is `1.0`, and NaN equals nothing.

    Args:
        expected: a JSON value of any depth.
        actual: a JSON value.
        strict: whether numbers of different types are unequal at any depth: 42 is not 42.0.

    >>> json_equal([1, {"a": True}], [1.0, {"a": True}]), json_equal([True], [1])
    (True, False)
    """
    kind = type(expected)
    if kind is dict:
        if type(actual) is not dict or expected.keys() != actual.keys():
            return False
        for key, item in expected.items():  # noqa: SIM110 - all() takes another stack frame for each level
            if not json_equal(item, actual[key], strict=strict):
                return False
        return True
    if kind is list:
        if type(actual) is not list or len(expected) != len(actual):
            return False
        for one, other in zip(expected, actual):  # noqa: SIM110 - as above
            if not json_equal(one, other, strict=strict):
                return False
        return True
    return (kind is type(actual) or not strict) and _are_scalars_equal(expected, actual)


def _are_scalars_equal(left: JsonValue, right: JsonValue) -> bool:
    kind, other = type(left), type(right)
    if (kind is not other and (kind not in NUMBERS or other not in NUMBERS)) or left != right:
        return False
    # Infinities equal each other in Python, but they are not JSON, so here they equal nothing.
    return not (kind is float and left - left != 0.0)


def make_json_key(value: JsonValue, *, strict: bool = False) -> Hashable:
    """Return a hashable key; two JSON values have equal keys if and only if they are equal.

    Args:
        value: any JSON value.
        strict: whether numbers of different types are unequal at any depth: 42 is not 42.0.

    >>> make_json_key([1, {"a": "x"}]) == make_json_key([1.0, {"a": "x"}])
    True
    >>> make_json_key([1]) == make_json_key([True])
    False
    """
    kind = type(value)
    key: Hashable = value
    if kind is str or (kind is int and not strict):
        return key
    if kind is dict:
        return kind, frozenset([(name, make_json_key(item, strict=strict)) for name, item in value.items()])
    if kind is list:
        return kind, *[make_json_key(item, strict=strict) for item in value]
    if kind is Matcher or (kind is float and value - value != 0.0):
        return object()  # matchers, NaN and infinities equal nothing
    return (kind, key) if strict or kind is bool else key
