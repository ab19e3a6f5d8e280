"""Read JSON: first with the C decoder, then with a reader that has no limits and explains errors.

The reader takes over where the decoder of the standard library fails or says too little: 100,000 levels,
integers beyond Python's digit limit, the line of a duplicate key, a helpful error.
"""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Final, NoReturn, final

from pytest_jsonmatch.engine.value.convert import MAX_DIGITS
from pytest_jsonmatch.engine.value.errors import JsonParseError
from pytest_jsonmatch.engine.value.text import parse_number, read_real, shortened
from pytest_jsonmatch.reading.landmarks import Unclosed, skip_spaces, span_end

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from pytest_jsonmatch.engine.value.convert import JsonValue

MAX_WARNINGS: Final = 20
"""At most this many warnings are listed; more are only counted."""
SPACES: Final = " \t\n\r"
"""The white space of JSON."""
EXCERPT: Final = 60
"""A message shows at most this many characters of a text."""
_CLOSER_OF: Final = {"{": "}", "[": "]"}
_WORD: Final = re.compile(r"[-+]?[A-Za-z_]+")
_LITERALS: Final[dict[str, bool | None]] = {"true": True, "false": False, "null": None}
_NON_FINITE: Final = {name: float(name) for name in ("NaN", "Infinity", "-Infinity")}
_HINTS: Final = {
    "'": "strings and keys are written in double quotes, not single ones",
    "/": "JSON has no comments; remove it",
    "#": "JSON has no comments; remove it",
    ",": "nothing stands before this comma",
    ":": "nothing stands before this ':'",
    "+": "a number cannot begin with '+'",
    ".": "a number cannot begin with '.'; write 0 before it",
    "\ufeff": "a byte-order mark is only allowed at the beginning of the text",
}


def parse_json(text: str | bytes | bytearray) -> JsonValue:
    """Read a whole text as strict JSON, of any depth.

    Nothing beyond RFC 8259 passes: no NaN or Infinity, no comments, no trailing commas, no duplicate keys.
    One leading byte-order mark is skipped, as section 8.1 of the RFC allows. Lone surrogate escapes are kept.

    Args:
        text: JSON text; bytes are UTF-8.

    Returns:
        None, bool, str, list, dict, an exact int, the nearest float, or Decimal for what overflows it.

    Raises:
        JsonParseError: (a ValueError) with `reason`, and `line` and `column` counted from 1.

    >>> parse_json('{"id": 9007199254740993, "total": 1e400}')
    {'id': 9007199254740993, 'total': Decimal('1E+400')}
    >>> parse_json('{"total": 12,}')  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    pytest_jsonmatch.JsonParseError: not valid JSON...
    """
    body = text_of(text).removeprefix("\ufeff")
    try:
        return decode(body)
    except (ValueError, RecursionError):
        return Reader(body, strict=True).read()


def text_of(text: str | bytes | bytearray) -> str:
    """Return text as it is, and bytes decoded as UTF-8; a byte-order mark is kept.

    Raises:
        JsonParseError: the bytes are not UTF-8; the message says where.
    """
    if isinstance(text, str):
        return text
    if not isinstance(text, (bytes, bytearray)):
        raise TypeError(f"JSON text must be str or bytes, not {type(text).__name__}")
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        if text.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise JsonParseError("the bytes are UTF-16; decode them, or save the text as UTF-8") from None
        whole = text.decode("utf-8", "backslashreplace")
        reason = (
            f"byte 0x{text[error.start]:02x} is not valid UTF-8; decode the bytes, or save the text as UTF-8"
        )
        raise _error(whole, len(text[: error.start].decode("utf-8")), reason) from None


def line_and_column(text: str, pos: int) -> tuple[int, int]:
    """Return the line and column of an offset, both counted from 1."""
    return text.count("\n", 0, pos) + 1, pos - text.rfind("\n", 0, pos)


def opened_at(text: str, pos: int) -> str:
    """Return words that name the object or array that opens at `pos`, and its line."""
    kind = "an object" if text[pos] == "{" else "an array"
    return f"{kind} opened at line {line_and_column(text, pos)[0]}"


def _unique(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    fresh = dict(pairs)
    if len(fresh) != len(pairs):
        raise ValueError
    return fresh


def _refuse(_: str) -> NoReturn:
    raise ValueError


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_unique, parse_float=read_real, parse_constant=_refuse)
# For interpreters whose limit on integer digits is off, or beyond ours: int() would take quadratic time.
_CAREFUL_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_unique, parse_float=read_real, parse_int=parse_number, parse_constant=_refuse
)
_integer_limit: Final[Callable[[], int]] = getattr(sys, "get_int_max_str_digits", lambda: 0)


def decode(body: str) -> JsonValue:
    """Decode with the C decoder, up to its limits.

    A JSONDecodeError means that `body` is not JSON by any reading. Another ValueError (a duplicate key, NaN,
    an integer beyond Python's limit) or a RecursionError means that `Reader` must decide.
    """
    decoder = _DECODER if 0 < _integer_limit() <= MAX_DIGITS else _CAREFUL_DECODER
    text = body.strip(SPACES)
    value, end = decoder.raw_decode(text)
    if end < len(text):
        raise json.JSONDecodeError("Extra data", text, end)
    return value


def read_leniently(body: str) -> tuple[JsonValue, Reader | None] | None:
    """Read JSON that may have duplicate keys, NaN and infinities; return None for anything else.

    Returns:
        The value, and the reader that knows the warnings (None if there are none).
    """
    try:
        return decode(body), None
    except json.JSONDecodeError:
        return None
    except RecursionError:
        # The reader takes any depth, but is slow: it is used only if the brackets promise a value.
        end = span_end(body, skip_spaces(body))
        if isinstance(end, Unclosed) or skip_spaces(body, end) < len(body):
            return None
    except ValueError:
        pass
    reader = Reader(body, strict=False)
    try:
        return reader.read(), reader
    except JsonParseError:
        return None


@final
class Reader:
    """Reads a text as one JSON value, of any depth: slower than the C decoder, and with better errors.

    If not `strict`, it accepts duplicate keys, NaN and infinities, and `warnings` lists them.
    """

    def __init__(self, text: str, *, strict: bool) -> None:
        self._text = text
        self._strict = strict
        self._opened: list[int] = []
        self._tolerated: list[tuple[int, str]] = []
        self._uncounted = 0

    def warnings(self, first_line: int) -> Iterator[str]:
        """Yield what was tolerated, for a text that begins on the line `first_line`."""
        for pos, sentence in self._tolerated:
            yield f"line {line_and_column(self._text, pos)[0] + first_line - 1}: {sentence}"
        if self._uncounted:
            yield f"and {self._uncounted} more of this kind"

    def read(self, pos: int = 0) -> JsonValue:
        """Return the value of the text from `pos` to the end; raises JsonParseError."""
        text, opened = self._text, self._opened
        containers: list[JsonValue] = []
        keys: list[str] = []
        value: JsonValue
        while True:
            pos = skip_spaces(text, pos)
            head = text[pos : pos + 1]
            if head in _CLOSER_OF:
                value = {} if head == "{" else []
                opened.append(pos)
                pos = skip_spaces(text, pos + 1)
                if text[pos : pos + 1] != _CLOSER_OF[head]:
                    containers.append(value)
                    if head == "{":
                        pos = self._key(pos, value, keys)
                    continue
                opened.pop()
                pos += 1
            else:
                value, pos = self._scalar(pos)
            while containers:
                top = containers[-1]
                if type(top) is list:
                    top.append(value)
                    closing = "]"
                else:
                    top[keys.pop()] = value
                    closing = "}"
                pos = skip_spaces(text, pos)
                head = text[pos : pos + 1]
                if head == ",":
                    pos = skip_spaces(text, pos + 1)
                    if closing == "}":
                        pos = self._key(pos, top, keys)
                    break
                if head != closing:
                    reason = f"expected a comma or {closing!r} here, not {_shown(head)}"
                    if head in {"]", "}"}:
                        reason = f"{head!r} cannot close {opened_at(text, opened[-1])}"
                    raise self._misplaced(pos, "/#", reason)
                value = containers.pop()
                opened.pop()
                pos += 1
            else:
                pos = skip_spaces(text, pos)
                if pos < len(text):
                    reason = "there is more text after the end of the JSON value; remove it"
                    raise self._misplaced(pos, "/#", reason)
                return value

    def _key(self, pos: int, owner: dict[str, JsonValue], keys: list[str]) -> int:
        """Read `"key":` and return where its value starts."""
        text = self._text
        head = text[pos : pos + 1]
        if head != '"':
            reason = f"expected a key in double quotes here, not {_shown(head)}"
            raise self._misplaced(pos, "'/#,:\ufeff", reason)
        key, after = self._scalar(pos)
        if key in owner:
            twice = f"the key {_shown(key)} occurs twice in one object"
            if self._strict:
                raise _error(text, pos, f"{twice}; keep one")
            self._tolerate(pos, f"{twice}; the last one counts")
        keys.append(key)
        after = skip_spaces(text, after)
        if text[after : after + 1] != ":":
            raise self._misplaced(after, "", "a key must be followed by ':'")
        return after + 1

    def _scalar(self, pos: int) -> tuple[JsonValue, int]:
        """Read a string, a number or a word; return it and where it ends."""
        text = self._text
        found = _WORD.match(text, pos)
        if found is not None:
            word = found[0]
            if word in _LITERALS:
                return _LITERALS[word], found.end()
            if word in _NON_FINITE and not self._strict:
                self._tolerate(pos, f"{word} is not JSON; it equals nothing")
                return _NON_FINITE[word], found.end()
            raise self._misplaced(pos, "+", _bad_word(word))
        try:
            value, end = _CAREFUL_DECODER.raw_decode(text, pos)
        except json.JSONDecodeError as error:
            head = text[pos : pos + 1]
            if head == '"':
                raise _error(
                    text, error.pos, _bad_string(error.msg, text[error.pos : error.pos + 1])
                ) from None
            reason = f"expected a value here, not {_shown(head)}"
            raise self._misplaced(pos, _HINTS, reason) from None
        except ValueError as error:
            raise _error(text, pos, str(error)) from None
        follower = text[end : end + 1]
        if type(value) is not str and (follower.isalnum() or follower in {".", "_"}):
            raise _error(text, pos, _bad_number(text[pos:end], follower))
        return value, end

    def _tolerate(self, pos: int, sentence: str) -> None:
        if len(self._tolerated) < MAX_WARNINGS:
            self._tolerated.append((pos, sentence))
        else:
            self._uncounted += 1

    def _misplaced(self, pos: int, hints: Collection[str], otherwise: str) -> JsonParseError:
        """Return the error for a character not allowed at `pos`; `hints` have better words for some."""
        head = self._text[pos : pos + 1]
        if not head:
            reason = "the text is empty"
            if self._opened:
                reason = f"the text ends inside {opened_at(self._text, self._opened[-1])}"
        elif head in "]}" and self._text[:pos].rstrip().endswith(","):
            reason = f"nothing stands between a comma and {head!r}; remove the comma"
        else:
            reason = _HINTS[head] if head in hints else otherwise
        return _error(self._text, pos, reason)


def _error(text: str, pos: int, reason: str) -> JsonParseError:
    line, column = line_and_column(text, pos)
    return JsonParseError(reason, line=line, column=column, excerpt=text[max(0, pos - 20) : pos + 20])


def _bad_word(word: str) -> str:
    if word in _NON_FINITE:
        return f"{word} is not JSON; write null, or a number"
    if word.lower() in _LITERALS or word == "None":
        return f"{word} is not JSON, which writes true, false and null in lower case"
    return f"expected a value here, not {_shown(word)}"


def _bad_number(number: str, follower: str) -> str:
    if number.lstrip("-") == "0" and follower.isdigit():
        return "a number cannot begin with 0; remove the zero, or make it a string"
    if follower == ".":
        return "a number needs digits after its decimal point"
    return f"a number cannot go on with {_shown(follower)}"


def _bad_string(message: str, character: str) -> str:
    if message.startswith("Unterminated"):
        return "a string that opens here never closes; add the closing quote"
    if message.startswith("Invalid control"):
        return f"a string holds a raw {character!r}; write it as an escape"
    return "a backslash in a string must begin a JSON escape; double it"


def _shown(text: str) -> str:
    """Quote a piece of the text; repr() keeps control characters and lone surrogates out of messages."""
    return repr(shortened(text, EXCERPT))
