"""Read numbers from text, and write JSON values and counts as text, exactly at any size and depth."""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal
from itertools import repeat
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.value.convert import MAX_DIGITS, MISSING, TOO_LONG, Matcher
from pytest_jsonmatch.engine.value.paths import has_usual_form

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_jsonmatch.engine.value.convert import JsonValue

# The group of both patterns is the fraction and exponent; it is empty for integers.
_LITERAL: Final = re.compile(r"-?(?:0|[1-9]\d*)((?:\.\d+)?(?:[eE][+-]?\d+)?)", re.ASCII)
_NUMERAL: Final = re.compile(r"[+-]?(?=\.?\d)\d*((?:\.\d*)?(?:[eE][+-]?\d+)?)", re.ASCII)
_LOWEST_PERCENTAGE: Final = 10
# The longest integer with a sign and some white space; longer text is not read as a number.
_LONGEST_NUMERAL: Final = MAX_DIGITS + 10
# Programs may limit str(int) and int(str) in Python to 640 digits. Decimal has no such limit.
_PLAIN_DIGITS: Final = 600
_DIGITS: Final = re.compile("([0-9]+)")
_MAX_NAMED: Final = 10
_encode_string: Final = json.JSONEncoder(ensure_ascii=False).encode


def parse_number(text: str) -> int | float | Decimal:
    """Read a JSON number literal.

    Integers are exact. A literal with a fraction or an exponent is the nearest double; one too large for a
    double is a Decimal, which is never expanded.

    Raises:
        ValueError: `text` is not a JSON number, is an integer of more than 4,300 digits, or has an exponent
            of more than 18 digits.

    >>> parse_number("1e3"), parse_number("9007199254740993"), parse_number("1e400")
    (1000.0, 9007199254740993, Decimal('1E+400'))
    """
    literal = _LITERAL.fullmatch(text)
    if literal is None:
        raise ValueError(f"{text[:40]!r} is not a JSON number")
    return read_real(text) if literal[1] else _read_integer(text)


def to_number(value: JsonValue) -> int | float | Decimal | None:
    """Return the finite number of a number or numeric string; None for anything else, including booleans.

    A numeric string is digits with an optional sign, decimal point and exponent; white space around it is
    allowed: "42", "-3.50", " 1e3 ". Thousands separators, units and "NaN" are not read.

    >>> to_number("+3.50"), to_number(7), to_number("1,000"), to_number(True)
    (3.5, 7, None, None)
    """
    kind = type(value)
    if kind is int or kind is Decimal or (kind is float and value - value == 0.0):
        number: int | float | Decimal = value
        return number
    if kind is not str or len(value) > _LONGEST_NUMERAL:
        return None
    numeral = _NUMERAL.fullmatch(value.strip())
    if numeral is None:
        return None
    try:
        return read_real(numeral[0]) if numeral[1] else _read_integer(numeral[0])
    except ValueError:
        return None


def _read_integer(text: str) -> int:
    if len(text) <= _PLAIN_DIGITS:
        return int(text)
    if len(text.lstrip("+-0")) > MAX_DIGITS:
        raise ValueError(TOO_LONG)
    return int(Decimal(text))


def read_real(text: str) -> float | Decimal:
    """Read a number with a fraction or exponent as the nearest double, or as a Decimal if a double overflows.

    >>> read_real("1.50"), read_real("1e400")
    (1.5, Decimal('1E+400'))
    """
    number = float(text)
    if not math.isinf(number):
        return number
    try:
        if (decimal := Decimal(text)).is_finite():
            return decimal
    except ArithmeticError:
        pass  # programs may configure Decimal to return NaN or an infinity instead
    raise ValueError("a number with an exponent of more than 18 digits; give it as a string")


def format_number(number: float | Decimal) -> str:
    """Return a number of any size as JSON text.

    >>> format_number(10**4000)[:3], format_number(1.0), format_number(float("nan"))
    ('100', '1.0', 'NaN')
    """
    if type(number) is int and number.bit_length() >= 2 * _PLAIN_DIGITS:
        return str(Decimal(number))
    if type(number) is float and not math.isfinite(number):
        return "NaN" if math.isnan(number) else ("Infinity" if number > 0 else "-Infinity")
    return str(number)


def natural_key(text: str) -> tuple[tuple[int, str], ...]:
    """Return a sort key for names, by which numbers in them are sorted as numbers.

    >>> sorted(["a[10]", "a[9]", "104498", "4498", "a"], key=natural_key)
    ['4498', '104498', 'a', 'a[9]', 'a[10]']
    """
    pieces = _DIGITS.split(text)
    return tuple(
        (len(digits := piece.lstrip("0")), digits) if at % 2 else (0, piece)
        for at, piece in enumerate(pieces)
    )


def shorten(text: str, limit: int) -> str:
    """Return a text of at most `limit` characters; a longer text is cut and ends in "…".

    >>> shorten("Saint-Malo", 10), shorten("Saint-Malo", 6)
    ('Saint-Malo', 'Saint…')
    """
    return text if len(text) <= limit else text[: limit - 1] + "…"


def render(value: JsonValue, limit: int | None = None) -> str:
    """Return a value of any depth as compact JSON text of at most `limit` characters; a longer text is cut.

    >>> render({"a": [1, None, "é"]}), render(["long"] * 9, limit=12)
    ('{"a": [1, null, "é"]}', '["long", "l…')
    """
    parts: list[str] = []
    _append_text(value, parts, math.inf if limit is None else limit)
    text = "".join(parts)
    return text if limit is None else shorten(text, limit)


def _append_text(value: JsonValue, parts: list[str], room: float) -> float:
    """Append the text of a value in pieces while there is room for it; return the remaining room."""
    is_object = type(value) is dict
    if not is_object and type(value) is not list:
        parts.append(_format_scalar(value, room))
        return room - len(parts[-1])
    parts.append("{" if is_object else "[")
    separator = ""
    for key, item in value.items() if is_object else zip(repeat(None), value):
        parts.append(f"{separator}{_format_key(key, room)}: " if is_object else separator)
        room = _append_text(item, parts, room - len(parts[-1]))
        if room < 0:
            return room
        separator = ", "
    parts.append("}" if is_object else "]")
    return room - 2


def _format_key(key: JsonValue, room: float) -> str:
    return _format_scalar(key, room) if has_usual_form(key) else json.dumps(key)


def _format_scalar(value: JsonValue, room: float) -> str:
    if type(value) is str:
        # The rest of a long string would be cut anyway.
        return _encode_string(value if len(value) <= room else value[: max(int(room), 0) + 1])
    if value is None:
        return "null"
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is Matcher:
        return value.text
    return "(missing)" if value is MISSING else format_number(value)


def count(number: int, noun: str | None = None, plural: str | None = None) -> str:
    """Return a number with thousands separators, followed by its noun in the singular or plural.

    >>> count(9990), count(1, "case"), count(2, "leaf", "leaves")
    ('9,990', '1 case', '2 leaves')
    """
    text = f"{number:,}"
    if noun is None:
        return text
    return f"{text} {noun if number == 1 else plural or noun + 's'}"


def join_names(names: Sequence[str], max_names: int = _MAX_NAMED, between: str = ", ") -> str:
    """Return the first names of a list as text, by default ten, and the number of the others.

    >>> join_names([f"n{number}" for number in range(12)])
    'n0, n1, n2, n3, n4, n5, n6, n7, n8, n9 and 2 more'
    """
    more = f" and {count(len(names) - max_names)} more" if len(names) > max_names else ""
    return between.join(names[:max_names]) + more


def suggest_share(value: object) -> str:
    """Return a hint if a number that must be from 0 to 1 seems to be a percentage, else "".

    >>> suggest_share(90), suggest_share("85 %"), suggest_share(1.5)
    (' (for 90 % write 0.9)', ' (for 85 % write 0.85)', '')
    """
    number = to_number(value.strip().removesuffix("%") if isinstance(value, str) else value)
    if number is None or not _LOWEST_PERCENTAGE <= number <= 100:
        return ""
    return f" (for {number:g} % write {number / 100:g})"


def add_article(kind: str) -> str:
    """Return the name of a JSON type with its article.

    >>> add_article("object"), add_article("string"), add_article("null")
    ('an object', 'a string', 'null')
    """
    return kind if kind == "null" else f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"
