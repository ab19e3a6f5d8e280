"""JSON from text: the strict reading for expected data, and the search for JSON in a model's output.

Both take the C decoder of the standard library first. What it cannot do or cannot say (100,000 levels,
integers beyond Python's digit limit, the line of a duplicate key, a helpful error) is read again by a reader
of our own, which keeps an explicit stack. Every scan here is driven by regular expressions that look at each
character a bounded number of times, so that hostile text costs linear time.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, NoReturn, TypeAlias, final

from pytest_jsonmatch.engine.value.convert import MAX_INTEGER_DIGITS, json_type, to_json_value
from pytest_jsonmatch.engine.value.errors import (
    ConfigurationError,
    JsonExtractionError,
    JsonParseError,
    did_you_mean,
)
from pytest_jsonmatch.engine.value.text import parse_number, render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pytest_jsonmatch.engine.value.convert import JsonValue

__all__ = ["Extraction", "extract_json", "parse_json"]

Want: TypeAlias = Literal["object", "array"]
Method: TypeAlias = Literal["whole", "stripped", "fence", "span", "repair"]

_MAX_WARNINGS: Final = 20
_EXCERPT: Final = 60


@final
@dataclass(frozen=True, slots=True, repr=False)
class Extraction:
    """JSON found in a text.

    Attributes:
        value: the JSON value.
        method: the step that found it: "whole" (the text is JSON), "stripped" (JSON once a byte-order mark,
            white space and reasoning blocks are off), "fence" (the body of a Markdown fence), "span" (a
            balanced object or array in prose), "repair" (the json-repair library).
        span: (start, end) of its text in the text given, in characters (for bytes: in the decoded text).
        warnings: what was tolerated, one sentence each: duplicate keys, NaN, repairs, a truncated rest.

    >>> extract_json('Here it is: {"total": 12} as asked')
    Extraction({"total": 12}, method='span', span=(12, 25), warnings=())
    """

    value: JsonValue
    method: Method
    span: tuple[int, int]
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        # Not the dataclass's own: repr() of a deep value would end in a RecursionError.
        value = render(self.value, limit=_EXCERPT)
        return f"Extraction({value}, method={self.method!r}, span={self.span}, warnings={self.warnings})"


def parse_json(text: str | bytes) -> JsonValue:
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
    body = _decoded(text).removeprefix("\ufeff")
    try:
        return _decode(body)
    except (_IrregularError, ValueError, RecursionError):
        return _Reader(body, strict=True).read()


def extract_json(text: str | bytes, *, want: Want | None = None, repair: bool = False) -> Extraction:
    """Find the JSON value in a model's output.

    The first step that succeeds wins, and at each the value must be what is wanted:

    1. The whole text is JSON.
    2. The same without a byte-order mark, white space and reasoning blocks (`<think>...</think>` and such)
       around it. A closing tag that was never opened ends a block that began with the text (some chat
       templates keep the opening tag to themselves). Reasoning is never looked into, at any step; a block
       that opens at a line's start and never closes runs to the end of the text.
    3. The body of a Markdown fence (three or more backticks or tildes) that opens at a line's start:
       `json`-tagged ones first, of those the last that parses. A fence that never closes ends at the end of
       the text.
    4. A balanced object or array outside the fences: the largest that parses, the last among equals. A `{`
       opens one only before `"` or `}`, a `[` only before a JSON value or `]`. Nothing is ever looked for
       inside one that does not close: a truncated answer is an error, and not its inner fragment.
    5. With `repair=True` only: the json-repair library, and each fix is a warning.

    The text is not always strict JSON, and is taken as it is meant: of duplicate keys the last wins; NaN,
    Infinity and -Infinity become floats, which equal nothing. Each is a warning. Steps 1 to 4 take linear
    time on any text; json-repair makes no such promise.

    Args:
        text: a model's output; bytes are UTF-8.
        want: "object" or "array": take nothing else, also where it comes first. None takes any value.
        repair: try step 5; needs `pip install "pytest-jsonmatch[repair]"`.

    Raises:
        JsonExtractionError: (a ValueError) no step succeeded; `reason` says why, `excerpt` shows the text.
        ConfigurationError: (a ValueError) `want` is something else, or json-repair is missing.

    >>> found = extract_json('The total is 12, so: {"total": 12}. Anything else?')
    >>> found.value, found.method, found.span
    ({'total': 12}, 'span', (21, 34))
    >>> extract_json('<think>12? 13?</think>[12]')
    Extraction([12], method='stripped', span=(22, 26), warnings=())
    """
    if want not in (None, "object", "array"):
        raise ConfigurationError(
            f"want has to be 'object', 'array' or None, not {want!r}"
            f"{did_you_mean(str(want), ('object', 'array'))}"
        )
    try:
        body = _decoded(text)
    except JsonParseError as error:
        raise JsonExtractionError(
            f"{error.reason} (line {error.line}, column {error.column})", excerpt=error.excerpt
        ) from None
    return _Search(body, want).run(repair=repair)


# --- the fast road: the C decoder ---------------------------------------------------------------------------


class _IrregularError(Exception):
    """The C decoder met what it cannot judge: a duplicate key, or NaN and its like."""


def _unique(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    fresh = dict(pairs)
    if len(fresh) != len(pairs):
        raise _IrregularError
    return fresh


def _double(literal: str) -> JsonValue:
    number = float(literal)
    return number if number - number == 0.0 else parse_number(literal)


def _refuse(_: str) -> NoReturn:
    raise _IrregularError


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_double, parse_constant=_refuse)
# For interpreters whose limit on integer digits is off, or beyond ours: int() would take quadratic time.
_CAREFUL_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_unique, parse_float=_double, parse_int=parse_number, parse_constant=_refuse
)
_integer_limit: Final[Callable[[], int]] = getattr(sys, "get_int_max_str_digits", lambda: 0)


def _decode(body: str) -> JsonValue:
    """Decode with the C decoder.

    A JSONDecodeError means that `body` is not JSON in any reading; another ValueError (an integer beyond
    Python's limit), a RecursionError and an _IrregularError mean that `_Reader` has to decide.
    """
    decoder = _DECODER if 0 < _integer_limit() <= MAX_INTEGER_DIGITS else _CAREFUL_DECODER
    return decoder.decode(body)


def _decoded(text: str | bytes) -> str:
    """Return text as it is, and bytes decoded as UTF-8, a byte-order mark kept."""
    if isinstance(text, str):
        return text
    if not isinstance(text, (bytes, bytearray)):
        raise TypeError(f"JSON text has to be str or bytes, not {type(text).__name__}")
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        if text[:2] in {b"\xff\xfe", b"\xfe\xff"}:
            raise JsonParseError("the bytes are UTF-16; decode them, or save the text as UTF-8") from None
        before = bytes(text[: error.start]).decode("utf-8")
        line, column = _place(before, len(before))
        nearby = bytes(text[max(0, error.start - 10) : error.start + 10])
        raise JsonParseError(
            f"byte 0x{text[error.start]:02x} is not valid UTF-8; decode the bytes, or save the text as UTF-8",
            line=line,
            column=column,
            excerpt=nearby.decode("utf-8", "backslashreplace"),
        ) from None


def _place(text: str, pos: int) -> tuple[int, int]:
    """Line and column of an offset, both counted from 1."""
    return text.count("\n", 0, pos) + 1, pos - text.rfind("\n", 0, pos)


# --- the sure road: a reader with an explicit stack ---------------------------------------------------------

_SPACES: Final = re.compile(r"[ \t\n\r]*")
_PLAIN_STRING: Final = re.compile(r'"([^"\\\x00-\x1f]*)"')
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORD: Final = re.compile(r"[-+]?[A-Za-z_]+")
_LITERALS: Final[dict[str, bool | None]] = {"true": True, "false": False, "null": None}
_NON_FINITE: Final = {
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
}
_STRING_DECODER: Final = json.JSONDecoder()
_KIND_OF_OPENER: Final = {"{": "an object", "[": "an array"}


@final
class _Reader:
    """Reads a text as one JSON value; slower than C, without its limits, and with better errors."""

    __slots__ = ("_opened", "_strict", "_text", "_tolerated", "_uncounted")

    def __init__(self, text: str, *, strict: bool) -> None:
        self._text = text
        self._strict = strict
        self._opened: list[int] = []
        self._tolerated: list[tuple[int, str]] = []
        self._uncounted = 0

    def warnings(self, first_line: int) -> Iterator[str]:
        """What was tolerated, for a text that begins on the line `first_line`."""
        for pos, sentence in self._tolerated:
            yield f"line {_place(self._text, pos)[0] + first_line - 1}: {sentence}"
        if self._uncounted:
            yield f"and {self._uncounted} more of this kind"

    def read(self) -> JsonValue:
        """Return the value; raises JsonParseError."""
        text = self._text
        pos = 0
        spaces = _SPACES.match
        containers: list[JsonValue] = []
        keys: list[str] = []
        opened = self._opened
        value: JsonValue
        while True:
            pos = _end(spaces(text, pos))
            head = text[pos : pos + 1]
            if head == "[":
                opened.append(pos)
                pos = _end(spaces(text, pos + 1))
                if text[pos : pos + 1] != "]":
                    containers.append([])
                    continue
                opened.pop()
                value = []
                pos += 1
            elif head == "{":
                opened.append(pos)
                pos = _end(spaces(text, pos + 1))
                if text[pos : pos + 1] != "}":
                    fresh: dict[str, JsonValue] = {}
                    containers.append(fresh)
                    pos = self._key(pos, fresh, keys)
                    continue
                opened.pop()
                value = {}
                pos += 1
            elif head == '"':
                value, pos = self._string(pos)
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
                pos = _end(spaces(text, pos))
                head = text[pos : pos + 1]
                if head == ",":
                    pos = _end(spaces(text, pos + 1))
                    if closing == "}":
                        pos = self._key(pos, top, keys)
                    break
                if head != closing:
                    raise self._error(pos, self._missing_comma(pos, closing))
                value = containers.pop()
                opened.pop()
                pos += 1
            else:
                pos = _end(spaces(text, pos))
                if pos < len(text):
                    raise self._error(pos, self._missing_comma(pos, None))
                return value

    def _key(self, pos: int, owner: dict[str, JsonValue], keys: list[str]) -> int:
        """Read `"key":` and return where its value starts."""
        text = self._text
        if text[pos : pos + 1] != '"':
            raise self._error(pos, self._bad_key(pos))
        key, after = self._string(pos)
        if key in owner:
            shown = _shown(key)
            if self._strict:
                raise self._error(pos, f"the key {shown} stands twice in one object; keep one")
            self._tolerate(pos, f"the key {shown} stands twice in one object; the last one counts")
        keys.append(key)
        after = _end(_SPACES.match(text, after))
        if text[after : after + 1] != ":":
            reason = "a key has to be followed by ':'" if after < len(text) else self._truncated()
            raise self._error(after, reason)
        return after + 1

    def _string(self, pos: int) -> tuple[str, int]:
        plain = _PLAIN_STRING.match(self._text, pos)
        if plain is not None:
            return plain[1], plain.end()
        try:
            value, end = _STRING_DECODER.raw_decode(self._text, pos)
        except json.JSONDecodeError as error:
            raise self._error(error.pos, self._bad_string(error)) from None
        text: str = value
        return text, end

    def _scalar(self, pos: int) -> tuple[JsonValue, int]:
        text = self._text
        number = _NUMBER.match(text, pos)
        if number is not None:
            follower = text[number.end() : number.end() + 1]
            if follower.isalnum() or follower in {".", "_"}:
                raise self._error(pos, self._bad_number(number[0], follower))
            try:
                return parse_number(number[0]), number.end()
            except ValueError as error:
                raise self._error(pos, str(error)) from None
        word = _WORD.match(text, pos)
        if word is not None:
            if word[0] in _LITERALS:
                return _LITERALS[word[0]], word.end()
            if word[0] in _NON_FINITE and not self._strict:
                self._tolerate(pos, f"{word[0]} is not JSON; it equals nothing")
                return _NON_FINITE[word[0]], word.end()
        raise self._error(pos, self._bad_value(pos, word[0] if word is not None else ""))

    # What is wrong, in words.

    def _error(self, pos: int, reason: str) -> JsonParseError:
        line, column = _place(self._text, pos)
        excerpt = self._text[max(0, pos - 20) : pos + 20]
        return JsonParseError(reason, line=line, column=column, excerpt=excerpt)

    def _truncated(self) -> str:
        if not self._opened:
            return "the text is empty"
        start = self._opened[-1]
        kind = _KIND_OF_OPENER[self._text[start]]
        return f"the text ends inside {kind} opened at line {_place(self._text, start)[0]}"

    def _bad_value(self, pos: int, word: str) -> str:
        head = self._text[pos : pos + 1]
        if not head:
            return self._truncated()
        if word in _NON_FINITE:
            return f"{word} is not JSON; write null, or a number"
        if word.lower() in _LITERALS or word == "None":
            return f"{word} is not JSON, which writes true, false and null in lower case"
        if head in "]}" and self._text[:pos].rstrip().endswith(","):
            return f"nothing stands between a comma and {head!r}; remove the comma"
        return _HINTS.get(head) or f"a value should stand here, not {_shown(word or head)}"

    def _bad_key(self, pos: int) -> str:
        head = self._text[pos : pos + 1]
        if not head:
            return self._truncated()
        if head == "}":
            return "nothing stands between a comma and '}'; remove the comma"
        if head in _HINTS and head not in "+.":
            return _HINTS[head]
        return f"a key in double quotes should stand here, not {_shown(head)}"

    def _missing_comma(self, pos: int, closing: str | None) -> str:
        head = self._text[pos : pos + 1]
        if not head:
            return self._truncated()
        if head in "/#":
            return _HINTS[head]
        if closing is None:
            return "there is more text after the end of the JSON value; remove it"
        if head in "]}":
            start = self._opened[-1]
            kind = _KIND_OF_OPENER[self._text[start]]
            return f"{head!r} cannot close {kind} opened at line {_place(self._text, start)[0]}"
        return f"a comma or {closing!r} should stand here, not {_shown(head)}"

    def _bad_number(self, number: str, follower: str) -> str:
        if number.lstrip("-") == "0" and follower.isdigit():
            return "a number cannot begin with 0; remove the zero, or make it a string"
        if follower == ".":
            return "a number needs digits after its decimal point"
        return f"a number cannot go on with {_shown(follower)}"

    def _bad_string(self, error: json.JSONDecodeError) -> str:
        if error.msg.startswith("Unterminated"):
            return "a string that opens here never closes; add the closing quote"
        if error.msg.startswith("Invalid control"):
            return f"a string holds a raw {self._text[error.pos]!r}; write it as an escape"
        return "a backslash in a string has to begin one of the escapes of JSON; double it"

    def _tolerate(self, pos: int, sentence: str) -> None:
        if len(self._tolerated) < _MAX_WARNINGS:
            self._tolerated.append((pos, sentence))
        else:
            self._uncounted += 1


_HINTS: Final = {
    "'": "strings and keys are written in double quotes, not single ones",
    "/": "JSON has no comments; remove it",
    "#": "JSON has no comments; remove it",
    ",": "nothing stands before this comma",
    ":": "nothing stands before this ':'",
    "+": "a number cannot begin with '+'",
    ".": "a number cannot begin with '.'; write 0 before it",
    "\ufeff": "a byte-order mark can only stand at the beginning of the text",
}


def _shown(text: str) -> str:
    """Quote a piece of the text; repr() keeps control characters and lone surrogates out of messages."""
    return repr(text if len(text) <= _EXCERPT else text[: _EXCERPT - 1] + "…")


def _end(found: re.Match[str] | None) -> int:
    """The end of a match of a pattern that always matches."""
    return found.end() if found is not None else 0


def _lenient(body: str) -> tuple[JsonValue, _Reader | None] | None:
    """Read actual data: its value, and the reader that knows the warnings; None when it is not JSON."""
    try:
        return _decode(body), None
    except json.JSONDecodeError:
        return None
    except RecursionError:
        # The reader takes any depth; it is only asked when the brackets promise a value.
        closing = _close(body, _end(_SPACES.match(body)))
        if isinstance(closing, _Unclosed) or _SPACES.fullmatch(body, closing) is None:
            return None
    except (_IrregularError, ValueError):
        pass
    reader = _Reader(body, strict=False)
    try:
        return reader.read(), reader
    except JsonParseError:
        return None


# --- landmarks: reasoning blocks and fences -----------------------------------------------------------------

_TAGS: Final = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis"
_LANDMARK: Final = re.compile(
    rf"`{{3,}}|~{{3,}}|<(?P<closing>/?)(?P<tag>{_TAGS})(?:\s[^<>]*)?>", re.IGNORECASE
)
_CLOSING_TAG: Final = {tag: re.compile(rf"</{tag}\s*>", re.IGNORECASE) for tag in _TAGS.split("|")}
_MARGIN: Final = re.compile(r"[\s\ufeff]*")
_BLANK: Final = re.compile(r"[ \t\ufeff]*")
_AFTER_REASONING: Final = re.compile(r"[ \t]*(?:$|[\[{]|```)", re.MULTILINE)
# A run of the fence's own character at a line's end (else the second group is None): "]```" closes too, for
# models like to write it so, and a line of JSON never ends in three backticks.
_FENCE_END: Final = {
    "`": re.compile(r"(`{3,})[ \t\r]*($)?", re.MULTILINE),
    "~": re.compile(r"(~{3,})[ \t\r]*($)?", re.MULTILINE),
}
_INFO: Final = re.compile(r"[ \t]*([^\s{\[`]*)[ \t]*")
_JSON_TAGS: Final = frozenset({"json", "jsonc", "json5"})


class _Fence(NamedTuple):  # not a dataclass: a hostile text has a million, and these take a third of the time
    body: tuple[int, int]
    tagged: bool
    closed: bool


@final
class _Landmarks:
    """The reasoning blocks and fences of a text, found in one pass from left to right.

    Inside a block only its closing tag counts, inside a fence only its closing line. A tag within quotes on
    its line is text, not a block: JSON strings may well speak of `<think>`.
    """

    __slots__ = ("_done", "_fenced", "_fresh", "_quotes", "_text", "blocks", "fences", "open_block")

    def __init__(self, text: str) -> None:
        self._text = text
        self.blocks: list[tuple[int, int]] = []
        self.fences: list[_Fence] = []  # without the blank ones
        self._fenced: list[tuple[int, int]] = []
        self.open_block: tuple[int, str] | None = None
        # Where the last landmark ended, whether what follows counts as a line's start, and how many quotes
        # stood on its line up to there: kept, not counted again, so that an endless line costs linear time.
        self._done = 0
        self._fresh = True
        self._quotes = 0
        self._find()

    def masked(self) -> str:
        """The text with blocks and fences blotted out, every other character at its place."""
        regions = sorted([*self.blocks, *self._fenced])
        if not regions:
            return self._text
        parts: list[str] = []
        done = 0
        for start, end in regions:
            parts += (self._text[done:start], "\0" * (end - start))
            done = end
        parts.append(self._text[done:])
        return "".join(parts)

    def core(self) -> tuple[int, int]:
        """What is left without byte-order mark, white space and blocks at both ends."""
        text = self._text
        start, end = 0, len(text)
        first = 0
        for block_start, block_end in self.blocks:
            if not _MARGIN.fullmatch(text, start, block_start):
                break
            start = block_end
            first += 1
        for block_start, block_end in reversed(self.blocks[first:]):
            if not _MARGIN.fullmatch(text, block_end, end):
                break
            end = block_start
        start = _end(_MARGIN.match(text, start, end))
        return start, start + len(_rstrip(text[start:end]))

    def _find(self) -> None:
        text = self._text
        lost: set[str] = set()
        found = _LANDMARK.search(text)
        while found is not None:
            start, end = found.span()
            at_line_start = self._look_back(start)
            tag = found["tag"]
            fresh = False
            if tag is None:
                if at_line_start:
                    end = self._fence(start, end)
            elif at_line_start or self._quotes % 2 == 0:
                tag = tag.lower()
                if found["closing"]:
                    if at_line_start or _AFTER_REASONING.match(text, end):
                        self.blocks = [(0, end)]
                        self.fences.clear()
                        self._fenced.clear()
                        fresh = True
                elif tag not in lost:
                    closing = _CLOSING_TAG[tag].search(text, end)
                    if closing is not None:
                        end = closing.end()
                        fresh = True
                        self.blocks.append((start, end))
                    elif at_line_start:
                        self.open_block = (start, tag)
                        self.blocks.append((start, len(text)))
                        return
                    else:
                        lost.add(tag)
            if fresh:
                self._quotes = 0
            else:
                self._quotes += text.count('"', start, end)
            self._fresh = fresh
            self._done = end
            found = _LANDMARK.search(text, end)

    def _look_back(self, pos: int) -> bool:
        """Bring the count of quotes up to `pos`; tell whether a line begins there, but for white space."""
        text, start = self._text, self._done
        newline = text.rfind("\n", start, pos)
        if newline >= 0:
            start = newline + 1
            self._quotes = 0
        elif not self._fresh:
            self._quotes += text.count('"', start, pos) - text.count('\\"', start, pos)
            return False
        self._quotes += text.count('"', start, pos) - text.count('\\"', start, pos)
        return _BLANK.fullmatch(text, start, pos) is not None

    def _fence(self, start: int, end: int) -> int:
        """Take in the fence that text[start:end] opens; return where it ends, or `end` if it is none."""
        text = self._text
        size = end - start
        mark = text[start]
        line_end = len(text)
        if mark == "`" and (tick := text.find("`", end)) >= 0:
            line_end = tick  # no newline is looked for beyond it: of an endless line, nothing is read twice
        newline = text.find("\n", end, line_end)
        if newline < 0 and line_end < len(text):
            return end  # a code span of three backticks, not a fence
        line_end = newline if newline >= 0 else line_end
        info = _INFO.match(text, end, line_end)
        body_start = min(line_end + 1, len(text))
        if info is not None and _OPENER.match(text, info.end()):
            body_start = info.end()  # the JSON begins on the fence's own line
        body_end = fence_end = len(text)
        closed = False
        for closing in _FENCE_END[mark].finditer(text, body_start):
            if closing[2] is not None and closing.end(1) - closing.start(1) >= size:
                body_end, fence_end = closing.span()
                closed = True
                break
        self._fenced.append((start, fence_end))
        if _SPACES.fullmatch(text, body_start, body_end) is None:
            tagged = info is not None and info[1].lower() in _JSON_TAGS
            self.fences.append(_Fence((body_start, body_end), tagged, closed))
        return fence_end


def _rstrip(text: str) -> str:
    return text.rstrip().rstrip("\ufeff").rstrip()


# --- balanced spans -----------------------------------------------------------------------------------------

_OPENER: Final = re.compile(
    r'\{(?=[ \t\n\r]*["}])'
    r'|\[(?=[ \t\n\r]*(?:["{\[\]]|-?[0-9]|(?:true|false|null|NaN|-?Infinity)\b))'
)
# What repair may try to start from: JavaScript's and Python's way to write an object, too.
_LOOSE_OPENER: Final = re.compile(r"""\{(?=\s*["'}A-Za-z_“])|\[(?=\s*["'{\[\]0-9“-])""")
# A string takes at most 256 escapes at once: the engine of `re` remembers each, and gigabytes are no memory.
_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*){0,256}("?)|[\[{]+|[\]}]+', re.DOTALL)
_REST_OF_STRING: Final = re.compile(r'[^"\\]*(?:\\.[^"\\]*){0,4096}("?)', re.DOTALL)
_CLOSER: Final = re.compile(r"[\]}]")
_CLOSERS: Final = str.maketrans("[{", "]}")


@final
@dataclass(frozen=True, slots=True)
class _Unclosed:
    """A span opened at `start` that never closes, or meets the wrong bracket at `wrong`."""

    start: int
    wrong: int | None = None


def _close(text: str, start: int) -> int | _Unclosed:
    """Where the span that opens at `start` ends; strings are skipped, runs of brackets taken as one."""
    if _CLOSER.search(text, start) is None:
        return _Unclosed(start)  # the common hostile text, told apart ten times faster
    closers: list[str] = []
    pos = start
    while True:
        for found in _TOKEN.finditer(text, pos):
            token = found[0]
            head = token[0]
            if head == '"':
                if not found[1]:
                    pos = _string_end(text, found.end())
                    break
            elif head in "[{":
                if len(token) == 1:
                    closers.append("]" if head == "[" else "}")
                else:
                    closers.extend(token.translate(_CLOSERS))
            elif len(token) == 1:
                if closers.pop() != token:
                    return _Unclosed(start, found.start())
                if not closers:
                    return found.end()
            else:
                count = min(len(token), len(closers))
                if "".join(closers[: -count - 1 : -1]) != token[:count]:
                    wrong = next(i for i in range(count) if closers[-1 - i] != token[i])
                    return _Unclosed(start, found.start() + wrong)
                del closers[-count:]
                if not closers:
                    return found.start() + count
        else:
            return _Unclosed(start)
        if pos < 0:
            return _Unclosed(start)


def _string_end(text: str, pos: int) -> int:
    """The end of the string that we stand in, or -1."""
    while True:
        found = _REST_OF_STRING.match(text, pos)
        if found is None or found.end() == pos:
            return -1
        if found[1]:
            return found.end()
        pos = found.end()


def _spans(text: str) -> tuple[list[tuple[int, int]], _Unclosed | None]:
    """The balanced top-level spans, up to the first that does not close."""
    spans: list[tuple[int, int]] = []
    found = _OPENER.search(text)
    while found is not None:
        end = _close(text, found.start())
        if isinstance(end, _Unclosed):
            return spans, end
        spans.append((found.start(), end))
        found = _OPENER.search(text, end)
    return spans, None


# --- the search ---------------------------------------------------------------------------------------------


@final
class _Search:
    """One extraction: the text, what is wanted, and what was learnt on the way to word a failure."""

    __slots__ = ("_invalid", "_landmarks", "_text", "_tried", "_want", "_wrong_kind")

    def __init__(self, text: str, want: Want | None) -> None:
        self._text = text
        self._want = want
        self._tried: set[tuple[int, int]] = set()
        self._wrong_kind: tuple[int, str] | None = None
        self._invalid: tuple[int, int] | None = None
        self._landmarks: _Landmarks

    def run(self, *, repair: bool) -> Extraction:
        text = self._text
        found = self._attempt((0, len(text)), "whole")
        if found is not None:
            return found
        self._landmarks = landmarks = _Landmarks(text)
        notes: list[str] = []
        if landmarks.open_block is not None:
            start, tag = landmarks.open_block
            notes.append(f"output ends inside a <{tag}> block opened at line {self._line(start)}")
        core = landmarks.core()
        found = self._attempt(core, "stripped") or self._first(self._fences(), "fence")
        if found is not None:
            return self._with_notes(found, notes)
        masked = landmarks.masked()
        spans, unclosed = _spans(masked)
        if unclosed is not None:
            notes.append(self._unclosed_reason(unclosed))
        found = self._first(self._by_size(spans), "span")
        if found is not None:
            return self._with_notes(found, notes)
        reason = notes[0] if notes else self._reason(core)
        if repair:
            pieces = self._worth_repair(masked, spans, unclosed, core[1])
            found = self._repaired(pieces, reason)
            if found is not None:
                return found
            reason += "; json-repair could not mend it"
        raise JsonExtractionError(reason, excerpt=_shortened(text))

    # The steps.

    def _attempt(self, piece: tuple[int, int], method: Method) -> Extraction | None:
        """Read one piece of the text; None when it is not JSON, or not what is wanted."""
        if piece in self._tried:
            return None
        start, end = piece
        found = _lenient(self._text[start:end])
        if method in {"whole", "stripped"}:
            self._tried.add(piece)
        elif found is None and self._invalid is None:
            self._invalid = piece
        if found is None:
            return None
        value, reader = found
        kind = json_type(value)
        if self._want is not None and kind != self._want:
            self._wrong_kind = self._wrong_kind or (start, kind)
            return None
        warnings = () if reader is None else tuple(reader.warnings(self._line(start)))
        start = _end(_SPACES.match(self._text, start, end))
        end = start + len(self._text[start:end].rstrip(" \t\n\r"))
        return Extraction(value, method, (start, end), warnings)

    def _first(self, pieces: Iterable[tuple[int, int]], method: Method) -> Extraction | None:
        for piece in pieces:
            found = self._attempt(piece, method)
            if found is not None:
                return found
        return None

    def _fences(self) -> Iterator[tuple[int, int]]:
        fences = self._landmarks.fences
        for tagged in (True, False):
            for fence in reversed(fences):
                if fence.tagged is tagged:
                    yield fence.body

    def _by_size(self, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """The spans of the wanted kind, the largest first, the last first among equals."""
        if self._want is not None:
            opener = "{" if self._want == "object" else "["
            other = next((start for start, _ in spans if self._text[start] != opener), None)
            if other is not None and self._wrong_kind is None:
                self._wrong_kind = (other, "array" if opener == "{" else "object")
            spans = [span for span in spans if self._text[span[0]] == opener]
        last_first = spans[::-1]
        last_first.sort(key=_size, reverse=True)  # a reverse sort, too, keeps the order of equals
        return last_first

    def _repaired(self, pieces: Iterable[tuple[int, int]], reason: str) -> Extraction | None:
        mend = _repairer()
        for start, end in pieces:
            found = mend(self._text[start:end])
            if found is None:
                continue
            value, fixes = found
            kind = json_type(value)
            if kind != ("object" if self._text[start] == "{" else "array"):
                continue  # several values, run together by the library
            if self._want in {None, kind}:
                return Extraction(value, "repair", (start, end), (f"repaired: {reason}", *fixes))
        return None

    def _worth_repair(
        self, masked: str, spans: list[tuple[int, int]], unclosed: _Unclosed | None, last: int
    ) -> Iterator[tuple[int, int]]:
        """The pieces that look like JSON gone wrong: fences, the cut-off answer, spans, loose brackets."""
        text = self._text
        for start, end in self._fences():
            opening = _end(_SPACES.match(text, start, end))
            if text[opening : opening + 1] in {"{", "["}:
                yield opening, end
        if unclosed is not None:
            yield unclosed.start, last
        yield from self._by_size(spans)
        loose = _LOOSE_OPENER.search(masked)
        if loose is not None:
            closing = _close(masked, loose.start())
            yield loose.start(), last if isinstance(closing, _Unclosed) else closing

    # Words for the reader.

    def _with_notes(self, found: Extraction, notes: list[str]) -> Extraction:
        if not notes:
            return found
        warnings = (*found.warnings, *(f"{note}; the JSON before it was taken" for note in notes))
        return Extraction(found.value, found.method, found.span, warnings)

    def _reason(self, core: tuple[int, int]) -> str:
        text = self._text
        if core[0] == core[1]:
            blocks = self._landmarks.blocks
            if not blocks:
                return "the text is empty"
            return f"nothing follows the reasoning that ends at line {self._line(blocks[-1][1])}"
        if self._invalid is not None:
            return self._invalid_reason(self._invalid)
        if self._wrong_kind is not None:
            start, kind = self._wrong_kind
            wanted = _WITH_ARTICLE[self._want or "object"]
            return f"{wanted} is wanted, and there is only {_WITH_ARTICLE[kind]} at line {self._line(start)}"
        if text[core[0]] in _KIND_OF_OPENER:
            return self._invalid_reason(core)
        return f"there is no {self._want or 'object or array'} in the text"

    def _invalid_reason(self, piece: tuple[int, int]) -> str:
        text = self._text
        fence = next((fence for fence in self._landmarks.fences if fence.body == piece), None)
        start = _end(_SPACES.match(text, *piece))
        kind = _KIND_OF_OPENER.get(text[start])
        if fence is not None and not fence.closed and kind is not None:
            closing = _close(text, start)
            if isinstance(closing, _Unclosed):
                return self._unclosed_reason(closing)
        line, column = _place(text, start)
        what = "the fence" if fence is not None or kind is None else f"the {kind.split()[1]}"
        why = ""
        try:
            _Reader(text[start : piece[1]], strict=False).read()
        except JsonParseError as error:
            column = error.column + (column - 1 if error.line == 1 else 0)
            why = f": {error.reason} (line {line + error.line - 1}, column {column})"
        return f"{what} at line {line} is not JSON{why}"

    def _unclosed_reason(self, unclosed: _Unclosed) -> str:
        kind = _KIND_OF_OPENER[self._text[unclosed.start]]
        opened = f"{kind} opened at line {self._line(unclosed.start)}"
        if unclosed.wrong is None:
            return f"output ends inside {opened}"
        wrong = self._text[unclosed.wrong]
        return f"the brackets of {opened} do not match: {wrong!r} at line {self._line(unclosed.wrong)}"

    def _line(self, pos: int) -> int:
        return _place(self._text, pos)[0]


_WITH_ARTICLE: Final = {
    "null": "null",
    "boolean": "a boolean",
    "number": "a number",
    "string": "a string",
    "array": "an array",
    "object": "an object",
}


def _size(span: tuple[int, int]) -> int:
    return span[1] - span[0]


def _shortened(text: str) -> str:
    begin = text[_end(_MARGIN.match(text)) :][: _EXCERPT + 1]
    return begin if len(begin) <= _EXCERPT else begin[: _EXCERPT - 1] + "…"


def _repairer() -> Callable[[str], tuple[JsonValue, tuple[str, ...]] | None]:
    """Return a function that mends a piece of JSON; json-repair is imported here, by those who ask for it."""
    try:
        from json_repair import repair_json
    except ImportError:
        raise ConfigurationError(
            'repair=True needs the json-repair library; run: pip install "pytest-jsonmatch[repair]"'
        ) from None

    def mend(piece: str) -> tuple[JsonValue, tuple[str, ...]] | None:
        try:
            value, log = repair_json(piece, return_objects=True, skip_json_loads=True, logging=True)
            value = to_json_value(value)
        except Exception:  # noqa: BLE001 - whatever hostile text does to the library, the answer has no JSON
            return None
        fixes = [f"repaired: {entry['text']} (near {entry['context']!r})" for entry in log[:_MAX_WARNINGS]]
        if len(log) > _MAX_WARNINGS:
            fixes.append(f"and {len(log) - _MAX_WARNINGS} more of this kind")
        return value, tuple(fixes)

    return mend
