"""The JSON value model: conversion from Python, equality, and text for people to read.

Inside the engine a JSON value is None, bool, int, float, str, list or dict, and Decimal for the one kind of
number that has no double: a literal that overflows. Everything here keeps an explicit stack, so that no depth
of nesting ends in a RecursionError.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import json
import math
import pathlib
import re
import uuid
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import repeat
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, final

from pytest_jsonmatch.engine.value.collector import DEEP, CollectorPause
from pytest_jsonmatch.engine.value.errors import InvalidExpectedError, UnsupportedValueError
from pytest_jsonmatch.engine.value.paths import format_path

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "MAX_INTEGER_DIGITS",
    "MISSING",
    "JsonValue",
    "flat_copy",
    "json_equal",
    "json_type",
    "number_text",
    "parse_number",
    "render",
    "to_json_value",
]

# `Any`: a recursive alias of JSON would make every walk cast at every step, and mypy no wiser.
JsonValue: TypeAlias = Any
Side: TypeAlias = Literal["expected", "actual"]

MAX_INTEGER_DIGITS: Final = 100_000
_INTEGER_LIMIT: Final = 10**MAX_INTEGER_DIGITS
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
# Python refuses str(int) and int(str) beyond 4,300 digits (or less, if a program says so); below this many
# digits the limit can never be met, above it Decimal does the same exactly and without a limit.
_PLAIN_DIGITS: Final = 600

_TEXT_AND_ATOMS: Final = frozenset({str, bool, NoneType})


@final
class _Missing:
    """The type of `MISSING`: there is no value at this place."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> Literal[False]:
        return False

    def __reduce__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()


def json_type(value: JsonValue) -> str:
    """Return the JSON type name of a JSON value: null, boolean, number, string, array or object.

    >>> [json_type(v) for v in (None, True, 1, 1.5, "x", [], {})]
    ['null', 'boolean', 'number', 'number', 'string', 'array', 'object']
    """
    return _TYPE_NAMES[type(value)]


_TYPE_NAMES: Final[dict[type, str]] = {
    NoneType: "null",
    bool: "boolean",
    int: "number",
    float: "number",
    Decimal: "number",
    str: "string",
    list: "array",
    dict: "object",
}


def to_json_value(value: object, *, side: Side = "actual") -> JsonValue:
    """Convert a Python value to a JSON value that shares no container with it.

    Args:
        value: dict, list, tuple, str, int, float, bool, None, any Mapping or Sequence, a pydantic model, a
            dataclass or attrs instance, an Enum (its value), Decimal, date, datetime, time (ISO 8601 text),
            UUID or Path (text); at any depth.
        side: "expected" refuses NaN and infinities; in "actual" they stay, and equal nothing.

    Raises:
        UnsupportedValueError: (a TypeError) something has no JSON form; the message names its path.
        InvalidExpectedError: (a ValueError) expected holds NaN or an infinity.

    >>> to_json_value({"when": dt.date(2026, 1, 31), "tags": ("a", "b")})
    {'when': '2026-01-31', 'tags': ['a', 'b']}
    """
    if type(value) is dict and (flat := flat_copy(value)) is not None:
        return flat
    return _convert(value, side)


def flat_copy(value: dict[Any, Any]) -> dict[str, JsonValue] | None:
    """Copy a dict of plain scalars as fast as Python can; None for anything that needs a closer look."""
    total = 0.0
    for item in value.values():
        kind = type(item)
        if kind is str or kind is bool or item is None:
            continue
        if kind is float:
            total += item
        elif kind is not int or not -_EVERYDAY_INTEGER < item < _EVERYDAY_INTEGER:
            return None
    # The sum tells, at one test for all, whether a number was NaN or infinite. (Or overflowed: look closer.)
    if total - total != 0.0:
        return None
    try:
        "".join(value)
    except TypeError:
        return None
    return value.copy()


_EVERYDAY_INTEGER: Final = 2**63


def _convert(value: object, side: Side) -> JsonValue:
    """Convert any value with an explicit stack; `open_ids` are the containers we stand in."""
    holder: list[JsonValue] = [None]
    # A frame: (keys and values still to convert, where the results go, path so far, id of the source).
    stack: list[tuple[Iterator[tuple[Any, Any]], Any, _Trail | None, int]] = [
        (iter([(0, value)]), holder, None, 0)
    ]
    open_ids: set[int] = set()
    pause = CollectorPause()
    try:
        _convert_all(stack, open_ids, side, pause)
    finally:
        pause.end()
    return holder[0]


def _convert_all(
    stack: list[tuple[Iterator[tuple[Any, Any]], Any, _Trail | None, int]],
    open_ids: set[int],
    side: Side,
    pause: CollectorPause,
) -> None:
    """Work the stack of `_convert` off."""
    while stack:
        if len(stack) == DEEP:
            pause.begin()
        pairs, target, trail, source_id = stack[-1]
        for key, item in pairs:
            kind = type(item)
            if kind is str or kind is bool or item is None:
                plain: Any = item
            else:
                if (
                    len(stack) > 1
                    and type(target) is dict
                    and type(key) is not str
                    and not isinstance(key, str)
                ):
                    raise _bad_key(key, trail)
                if kind is dict and item and (flat := flat_copy(item)) is not None:
                    _put(target, key, flat)
                    continue
                if kind is list and set(map(type, item)) == {str}:
                    _put(target, key, item.copy())
                    continue
                here = (trail, key) if len(stack) > 1 else None
                plain = _plain(item, kind, side, here)
                if type(plain) is dict or type(plain) is list:
                    ident = id(item)
                    if ident in open_ids:
                        message = f"{side} contains itself at {_trail_path(here)}; JSON has no cycles"
                        raise UnsupportedValueError(message)
                    open_ids.add(ident)
                    fresh: Any
                    if type(plain) is dict:
                        fresh = {}
                        source: Iterator[tuple[Any, Any]] = iter(plain.items())
                    else:
                        fresh = []
                        source = zip(range(len(plain)), plain)
                    _put(target, key, fresh)
                    # `plain` may be made from a model on the spot: `source` keeps it alive.
                    stack.append((source, fresh, here, ident))
                    break
            if type(target) is dict:
                if type(key) is not str:
                    if not isinstance(key, str):
                        raise _bad_key(key, trail)
                    key = str.__str__(key)  # noqa: PLW2901 - a str subclass, made plain
                target[key] = plain
            else:
                _put(target, key, plain)
        else:
            stack.pop()
            open_ids.discard(source_id)


_Trail: TypeAlias = "tuple[Any, Any]"


def _put(target: Any, key: Any, value: JsonValue) -> None:
    if type(target) is dict:
        target[key if type(key) is str else str.__str__(key)] = value
    elif len(target) > key:
        target[key] = value
    else:
        target.append(value)


def _trail_path(trail: _Trail | None) -> str:
    segments: list[Any] = []
    while trail is not None:
        trail, key = trail
        segments.append(key)
    return format_path(tuple(reversed(segments)), limit=200)


def _bad_key(key: object, trail: _Trail | None) -> UnsupportedValueError:
    return UnsupportedValueError(
        f"the object at {_trail_path(trail)} has the key {key!r} ({type(key).__name__}); "
        "JSON keys are strings: convert it before comparing"
    )


def _plain(item: object, kind: type, side: Side, trail: _Trail | None) -> Any:
    """Return `item` as a scalar, or as a dict or list whose members are still to be converted."""
    if kind is dict or kind is list:
        return item
    if kind is int:
        return _checked_int(item, side, trail)
    if kind is float:
        return _checked_float(item, side, trail)
    return _unusual(item, side, trail)


def _checked_int(item: Any, side: Side, trail: _Trail | None) -> int:
    number: int = item
    if -_INTEGER_LIMIT < number < _INTEGER_LIMIT:
        return number
    message = (
        f"{side} has an integer of more than {MAX_INTEGER_DIGITS:,} digits at {_trail_path(trail)}; "
        "give it as a string"
    )
    raise (InvalidExpectedError if side == "expected" else UnsupportedValueError)(message)


def _checked_float(item: Any, side: Side, trail: _Trail | None) -> float:
    number: float = item
    if side == "expected" and not math.isfinite(number):
        message = f"expected holds {number!r} at {_trail_path(trail)}; JSON has no such number"
        raise InvalidExpectedError(message)
    return number


def _unusual(item: Any, side: Side, trail: _Trail | None) -> Any:
    """Convert what is not one of Python's own JSON types."""
    if isinstance(item, enum.Enum):
        value = item.value
        return _plain(value, type(value), side, trail) if type(value) not in _TEXT_AND_ATOMS else value
    if isinstance(item, str):
        return str.__str__(item)
    if isinstance(item, int):
        return _checked_int(int(item), side, trail)
    if isinstance(item, float):
        return _checked_float(float(item), side, trail)
    if isinstance(item, Decimal):
        return _from_decimal(item, side, trail)
    if isinstance(item, (dt.date, dt.time)):
        return item.isoformat()
    if isinstance(item, (uuid.UUID, pathlib.PurePath)):
        return str(item)
    if isinstance(item, Mapping):
        return dict(item.items())
    if not isinstance(item, type):
        if callable(dump := getattr(item, "model_dump", None)):
            return dump()
        if dataclasses.is_dataclass(item):
            return {field.name: getattr(item, field.name) for field in dataclasses.fields(item)}
        if (attributes := getattr(type(item), "__attrs_attrs__", None)) is not None:
            return {attribute.name: getattr(item, attribute.name) for attribute in attributes}
    if isinstance(item, Sequence) and not isinstance(item, (bytes, bytearray, memoryview)):
        return list(item)
    message = f"{side} has a {type(item).__name__} at {_trail_path(trail)}, which has no JSON form"
    if isinstance(item, (bytes, bytearray)):
        message += "; decode it first"
    elif isinstance(item, (set, frozenset)):
        message += "; give a list"
    raise UnsupportedValueError(message)


def _from_decimal(number: Decimal, side: Side, trail: _Trail | None) -> int | float | Decimal:
    if not number.is_finite():
        return _checked_float(float("nan") if number.is_nan() else float(number), side, trail)
    if number.is_zero():
        return 0
    if number.adjusted() > 400:
        return number
    nearest_double = float(number)
    if number == number.to_integral_value():
        return int(number) if math.isfinite(nearest_double) else number
    return nearest_double if math.isfinite(nearest_double) else number


def parse_number(text: str) -> int | float | Decimal:
    """Read a JSON number literal.

    A literal with a fraction or an exponent is the nearest double; one that overflows a double stays a
    Decimal and is never expanded; an integer is exact.

    Raises:
        ValueError: `text` is no JSON number, an integer of more than 100,000 digits, or has an exponent of
            more than 18.

    >>> parse_number("1e3"), parse_number("9007199254740993"), parse_number("1e400")
    (1000.0, 9007199254740993, Decimal('1E+400'))
    """
    literal = _NUMBER.fullmatch(text)
    if literal is None:
        message = f"{text[:40]!r} is not a JSON number"
        raise ValueError(message)
    if literal.group(1) is None and literal.group(2) is None:
        if len(text) <= _PLAIN_DIGITS:
            return int(text)
        if len(text.lstrip("-")) > MAX_INTEGER_DIGITS:
            message = f"an integer of more than {MAX_INTEGER_DIGITS:,} digits; give it as a string"
            raise ValueError(message)
        return -_long_integer(text[1:]) if text.startswith("-") else _long_integer(text)
    number = float(text)
    return _overflowing(text) if math.isinf(number) else number


def _long_integer(digits: str) -> int:
    """Read many digits by halves, each short enough for Python's limit."""
    if len(digits) <= _PLAIN_DIGITS:
        return int(digits)
    low = len(digits) // 2
    shifted: int = _long_integer(digits[:-low]) * 10**low
    return shifted + _long_integer(digits[-low:])


def _overflowing(text: str) -> Decimal:
    """A literal beyond the doubles, as a Decimal."""
    try:
        number = Decimal(text)
    except ArithmeticError:
        number = _TOO_LARGE
    if number.is_finite():
        return number
    message = "a number with an exponent of more than 18 digits; give it as a string"
    raise ValueError(message)


_TOO_LARGE: Final = Decimal("Infinity")


def number_text(number: float | Decimal) -> str:
    """Return a number as JSON text, whatever its size.

    >>> number_text(10**5000)[:3], number_text(1.0), number_text(float("nan"))
    ('100', '1.0', 'NaN')
    """
    if type(number) is int:
        return str(number) if number.bit_length() < 2 * _PLAIN_DIGITS else str(Decimal(number))
    if type(number) is float and not math.isfinite(number):
        return "NaN" if number != number else ("Infinity" if number > 0 else "-Infinity")  # noqa: PLR0124
    return str(number)


def json_equal(expected: JsonValue, actual: JsonValue) -> bool:
    """Tell whether two JSON values are equal: `True` is not `1`, `1` is `1.0`, NaN equals nothing.

    >>> json_equal([1, {"a": True}], [1.0, {"a": True}]), json_equal([True], [1])
    (True, False)
    """
    stack = [(expected, actual)]
    while stack:
        left, right = stack.pop()
        kind = type(left)
        if kind is dict:
            if type(right) is not dict or len(left) != len(right):
                return False
            for key, item in left.items():
                other = right.get(key, MISSING)
                if other is MISSING:
                    return False
                stack.append((item, other))
        elif kind is list:
            if type(right) is not list or len(left) != len(right):
                return False
            stack.extend(zip(left, right))
        elif not scalar_equal(left, right):
            return False
    return True


def scalar_equal(left: JsonValue, right: JsonValue) -> bool:
    """Tell whether two JSON scalars are equal; containers and infinities equal nothing here."""
    kind, other = type(left), type(right)
    if kind is not other and (kind not in _NUMBERS or other not in _NUMBERS):
        return False
    if kind is dict or kind is list or left != right:
        return False
    # Infinities equal each other in Python; they are not JSON, so here they equal nothing.
    return not (kind is float and left - left != 0.0)


_NUMBERS: Final = frozenset({int, float, Decimal})


def render(value: JsonValue, limit: int | None = None) -> str:
    """Return compact JSON text of any depth, cut with "…" after `limit` characters.

    >>> render({"a": [1, None, "é"]}), render(["long"] * 9, limit=12)
    ('{"a": [1, null, "é"]}', '["long", "l…')
    """
    parts: list[str] = []
    length = 0
    for part in _tokens(value, limit):
        parts.append(part)
        length += len(part)
        if limit is not None and length > limit:
            return "".join(parts)[: limit - 1] + "…"
    return "".join(parts)


def _tokens(value: JsonValue, limit: int | None) -> Iterator[str]:
    """Yield the text of a JSON value piece by piece."""
    if type(value) is not dict and type(value) is not list:
        yield _scalar_text(value, limit)
        return
    stack: list[tuple[Iterator[tuple[Any, Any]], str]] = []
    opened: Any = value
    first = True
    while True:
        if opened is not None:
            if type(opened) is dict:
                yield "{"
                stack.append((iter(opened.items()), "}"))
            else:
                yield "["
                stack.append((zip(repeat(None), opened), "]"))
            opened, first = None, True
        pairs, closing = stack[-1]
        for key, item in pairs:
            lead = "" if first else ", "
            first = False
            if key is not None:
                lead += _string_text(key, limit) + ": "
            if type(item) is dict or type(item) is list:
                yield lead
                opened = item
                break
            yield lead + _scalar_text(item, limit)
        else:
            yield closing
            first = False
            stack.pop()
            if not stack:
                return


def _scalar_text(value: JsonValue, limit: int | None) -> str:
    if type(value) is str:
        return _string_text(value, limit)
    if value is None:
        return "null"
    if type(value) is bool:
        return "true" if value else "false"
    if value is MISSING:
        return "(missing)"
    return number_text(value)


def _string_text(text: str, limit: int | None) -> str:
    # A string much longer than the limit need not be quoted to its end.
    return json.dumps(text if limit is None else text[: limit + 1], ensure_ascii=False)
