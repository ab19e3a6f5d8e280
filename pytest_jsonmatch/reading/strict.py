"""Read JSON text with the standard library's decoder, within our limits and with helpful errors."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn, final

from pytest_jsonmatch.engine.value.convert import CONTAINERS, MAX_DEPTH, MAX_DIGITS, TOO_DEEP
from pytest_jsonmatch.engine.value.errors import JsonParseError
from pytest_jsonmatch.engine.value.text import parse_number, read_real, shorten
from pytest_jsonmatch.reading.landmarks import skip_spaces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_jsonmatch.engine.value.convert import JsonValue

MAX_WARNINGS: Final = 20
"""The maximum number of warnings of a kind for one answer."""
SPACES: Final = " \t\n\r"
"""The white-space characters of JSON."""
EXCERPT: Final = 60
"""The maximum number of characters of a text that a message shows."""
_WORD: Final = re.compile(r"\w+")
_COLON: Final = re.compile(r"[ \t\n\r]*:")
# Every fault in a text that the decoder accepts begins with one of these.
_MARK: Final = re.compile(r'["\[\]{}]|NaN|-?Infinity|-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?')
_NON_FINITE: Final = ("NaN", "Infinity", "-Infinity")
_OPENED: Final = {"{": "an object", "[": "an array"}
_HINTS: Final = {
    "'": "strings and keys are written in double quotes, not single ones",
    "/": "JSON has no comments; remove it",
    "#": "JSON has no comments; remove it",
}
"""Hints for common mistakes, by the character at which the decoder stops."""


def parse_json(text: str | bytes | bytearray) -> JsonValue:
    """Parse a whole text as strict JSON.

    Only RFC 8259 is accepted: no NaN or Infinity, no comments, no trailing commas, no duplicate keys.
    One leading byte-order mark is skipped, as section 8.1 of the RFC allows. Lone surrogate escapes are kept.

    Args:
        text: JSON text with at most 128 levels and integers of at most 4,300 digits; bytes are UTF-8.

    Returns:
        None, bool, str, list, dict, an exact int, the nearest float, or a Decimal if a float would overflow.

    Raises:
        JsonParseError: (a ValueError) with `reason`, and `line` and `column` counted from 1.

    >>> parse_json('{"id": 9007199254740993, "total": 1e400}')
    {'id': 9007199254740993, 'total': Decimal('1E+400')}
    >>> parse_json('{"total": 12,}')  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    pytest_jsonmatch.JsonParseError: not valid JSON...
    """
    return read(decode_text(text).removeprefix("\ufeff"), strict=True).value


def decode_text(text: str | bytes | bytearray) -> str:
    """Return text unchanged, and bytes decoded as UTF-8; a byte-order mark is kept.

    Raises:
        JsonParseError: the bytes are not UTF-8; the message says where.
    """
    if isinstance(text, str):
        return text
    if not isinstance(text, (bytes, bytearray)):
        raise TypeError(f"JSON text must be str or bytes, got {type(text).__name__}")
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        decoded = text.decode("utf-8", "backslashreplace")
        reason = (
            f"byte 0x{text[error.start]:02x} is not valid UTF-8; decode the bytes, or save the text as UTF-8"
        )
        raise _make_error(decoded, len(text[: error.start].decode("utf-8")), reason) from None


def find_line_and_column(text: str, pos: int) -> tuple[int, int]:
    """Return the line and column of an offset, both counted from 1."""
    return text.count("\n", 0, pos) + 1, pos - text.rfind("\n", 0, pos)


def count_levels(value: JsonValue) -> int:
    """Return the number of levels of arrays and objects in a value; counting stops beyond `MAX_DEPTH`.

    >>> count_levels(1), count_levels([]), count_levels({"a": [1, {}]})
    (0, 1, 3)
    """
    containers, depth = [value] if type(value) in CONTAINERS else [], 0
    while containers and depth <= MAX_DEPTH:
        depth += 1
        containers = [
            item
            for container in containers
            for item in (container.values() if type(container) is dict else container)
            if type(item) is dict or type(item) is list
        ]
    return depth


@final
class TextFault(NamedTuple):
    """Something in a text that the decoder accepts, but that is not JSON or exceeds our limits."""

    pos: int
    reason: str
    remedy: str
    tolerated: str | None = None
    """How it is treated in a model's answer; None if it is an error there, too."""


@final
class ReadText(NamedTuple):
    """The value of a text, and the tolerated faults in it."""

    value: JsonValue
    tolerated: list[TextFault]
    """The first faults, up to `MAX_WARNINGS`."""


def read(text: str, *, strict: bool) -> ReadText:
    """Read a whole text as JSON; if not `strict`, duplicate keys, NaN and infinities are tolerated.

    Raises:
        JsonParseError: the text is not JSON, or it exceeds our limits.
    """
    try:
        return ReadText(_decode(text, _PLAIN if _integer_limit() == MAX_DIGITS else _CAREFUL), [])
    except json.JSONDecodeError as error:
        raise _make_syntax_error(text, error) from None
    except (ValueError, RecursionError):
        pass
    tolerated: list[TextFault] = []
    try:
        for fault in _find_faults(text):
            if strict or fault.tolerated is None:
                raise _make_error(text, fault.pos, f"{fault.reason}; {fault.remedy}")
            if len(tolerated) < MAX_WARNINGS:
                tolerated.append(fault)
        return ReadText(_decode(text, _LENIENT), tolerated)
    except json.JSONDecodeError as error:
        raise _make_syntax_error(text, error) from None
    except RecursionError:
        raise JsonParseError("it is nested too deep for the stack that the program has left") from None


def _check_unique(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError
    return members


def _refuse(_: str) -> NoReturn:
    raise ValueError


_PLAIN: Final = json.JSONDecoder(
    object_pairs_hook=_check_unique, parse_float=read_real, parse_constant=_refuse
)
# For programs that have changed Python's limit on integer digits.
_CAREFUL: Final = json.JSONDecoder(
    object_pairs_hook=_check_unique, parse_float=read_real, parse_int=parse_number, parse_constant=_refuse
)
_LENIENT: Final = json.JSONDecoder(parse_float=read_real, parse_int=parse_number)
_integer_limit: Final[Callable[[], int]] = getattr(sys, "get_int_max_str_digits", lambda: 0)


def _decode(text: str, decoder: json.JSONDecoder) -> JsonValue:
    """Decode a whole text; for a ValueError other than JSONDecodeError, `_find_faults` yields the reason."""
    value, end = decoder.raw_decode(text, 0 if text[:1] > " " else skip_spaces(text))
    if end < len(text) and (end := skip_spaces(text, end)) < len(text):
        raise json.JSONDecodeError("Extra data", text, end)
    if (
        text.count("[") + text.count("{") > MAX_DEPTH
        and not _is_flat(text)
        and count_levels(value) > MAX_DEPTH
    ):
        raise ValueError(TOO_DEEP)
    return value


_NO_MARKS: Final = bytes(set(range(256)).difference(b'[]{}"'))


def _is_flat(text: str) -> bool:
    """Return whether the brackets of valid JSON show that it is not too deep; False if strings contain any.

    This is faster than `count_levels`, above all for texts with few strings. Each round removes at most two
    levels.
    """
    marks = text.encode("utf-8", "surrogatepass").translate(None, _NO_MARKS).replace(b'""', b"")
    for _ in range(MAX_DEPTH // 2):
        marks = marks.replace(b"{}", b"").replace(b"[]", b"")
    return not marks and ("\\" not in text or '\\"' not in text)


def _find_faults(text: str) -> Iterator[TextFault]:
    """Yield the faults of a text that the decoder accepts, or accepts up to where it is too deep."""
    objects: list[set[str] | None] = []  # the keys of each open object; None for an array
    pos = 0
    while (match := _MARK.search(text, pos)) is not None:
        start, pos, mark = match.start(), match.end(), match[0]
        if mark == '"':
            string, pos = _PLAIN.raw_decode(text, start)
            keys = objects[-1] if objects else None
            if keys is not None and _COLON.match(text, pos):
                if string in keys:
                    reason = f"the key {_quote(string)} occurs twice in one object"
                    yield TextFault(start, reason, "keep one", "the last one counts")
                keys.add(string)
        elif mark in {"[", "{"}:
            if len(objects) == MAX_DEPTH:
                yield TextFault(start, TOO_DEEP, "compare its parts one by one")
                return
            objects.append(set() if mark == "{" else None)
        elif mark in {"]", "}"}:
            del objects[-1:]
        elif mark in _NON_FINITE:
            yield TextFault(start, f"{mark} is not JSON", "write null, or a number", "it equals nothing")
        else:
            try:
                parse_number(mark)
            except ValueError as error:
                reason, _, remedy = str(error).partition("; ")
                yield TextFault(start, reason, remedy)


def _make_syntax_error(text: str, error: json.JSONDecodeError) -> JsonParseError:
    """Return our error for an error of the decoder: in its words, with hints for the most common mistakes."""
    pos = error.pos + error.msg.startswith("Illegal trailing comma")  # in newer versions of Python
    is_in_string = error.msg.startswith(("Unterminated", "Invalid"))
    if not is_in_string:
        pos = skip_spaces(text, pos)
    head, word = text[pos : pos + 1], _WORD.match(text, pos)
    if is_in_string or head:
        reason = error.msg.rstrip(": ").removesuffix(" at").replace("Expecting", "expected")
        reason = reason[0].lower() + reason[1:]
    else:
        opening = text[skip_spaces(text) :][:1]
        reason = f"the text ends inside {_OPENED[opening]}" if opening in _OPENED else "the text is empty"
    if is_in_string:
        pass
    elif head in {"]", "}"} and text[:pos].rstrip(SPACES).endswith(","):
        reason = f"nothing between a comma and {head!r}; remove the comma"
    elif word is not None and word[0].lower() in {"true", "false", "null", "none"}:
        reason = f"{word[0]} is not JSON, which writes true, false and null in lower case"
    return _make_error(text, pos, reason if is_in_string else _HINTS.get(head, reason))


def _make_error(text: str, pos: int, reason: str) -> JsonParseError:
    line, column = find_line_and_column(text, pos)
    return JsonParseError(reason, line=line, column=column, excerpt=text[max(0, pos - 20) : pos + 20])


def _quote(text: str) -> str:
    """Return a quoted excerpt; repr() keeps control characters and lone surrogates out of messages."""
    return repr(shorten(text, EXCERPT))
