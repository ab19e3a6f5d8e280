"""Parse JSON text to the events of a YAML parser, without the limits of YAML on keys and escapes."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

if TYPE_CHECKING:
    from collections.abc import Iterator

_BREAK: Final = re.compile(r"\r\n|\r|\n")
_TOKEN: Final = re.compile(
    r'([ \t\r\n]*)("[^"\\\0-\x1f]*(?:\\.[^"\\\0-\x1f]*)*"|[{}\[\]:,]|\Z'
    r"|(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![^ \t\r\n,\]}]))"
)


class NotJsonError(Exception):
    """The text is not JSON, for an unknown reason."""


class TextMark(NamedTuple):
    """A position in the text; all numbers start at 0."""

    index: int  # type: ignore[assignment]  # PyYAML calls it so
    line: int
    column: int


class StreamEndEvent(NamedTuple):
    """The end of the text."""


class AliasEvent(NamedTuple):
    """An alias, which JSON does not have."""


class ScalarEvent(NamedTuple):
    """A scalar or a key."""

    start_mark: TextMark
    end_mark: TextMark
    value: str
    style: str
    tag: None = None
    anchor: None = None


class MappingStartEvent(NamedTuple):
    """The beginning of an object."""

    start_mark: TextMark
    flow_style: bool = True
    tag: None = None
    anchor: None = None


class SequenceStartEvent(NamedTuple):
    """The beginning of an array."""

    start_mark: TextMark
    flow_style: bool = True
    tag: None = None
    anchor: None = None


class MappingEndEvent(NamedTuple):
    """The end of an object."""

    end_mark: TextMark


class SequenceEndEvent(NamedTuple):
    """The end of an array."""

    end_mark: TextMark


_STARTS: Final = {"{": MappingStartEvent, "[": SequenceStartEvent}
_ENDS: Final = {"}": MappingEndEvent, "]": SequenceEndEvent}
_ENDING: Final = {"{": "}", "[": "]"}


@final
class JsonParser:
    """A parser with those methods of PyYAML's parsers that are used here."""

    def __init__(self, text: str) -> None:
        self.get_event: Any = _events(_tokens(text)).__next__

    def dispose(self) -> None:
        """Do nothing."""


def _events(tokens: Iterator[tuple[str, TextMark, TextMark]]) -> Iterator[object]:
    """Yield the events; None for events of PyYAML without content."""
    yield None
    word, start, end = next(tokens)
    if not word:
        yield StreamEndEvent()
        return
    yield None
    opened: list[str] = []
    while True:
        # A value begins, or a member.
        if opened and opened[-1] == "{":
            yield _scalar(word, start, end, is_key=True)
            _check(next(tokens)[0] == ":")
            word, start, end = next(tokens)
        if word in _STARTS:
            opened.append(word)
            yield _STARTS[word](start)
            word, start, end = next(tokens)
            if word != _ENDING[opened[-1]]:
                continue
        else:
            yield _scalar(word, start, end)
            word, start, end = next(tokens)
        while opened and word == _ENDING[opened[-1]]:
            yield _ENDS[word](end)
            del opened[-1]
            word, start, end = next(tokens)
        if not opened:
            break
        _check(word == ",")
        word, start, end = next(tokens)
    _check(not word)
    yield None
    yield StreamEndEvent()


def _check(condition: bool) -> None:
    if not condition:
        raise NotJsonError


def _scalar(word: str, start: TextMark, end: TextMark, *, is_key: bool = False) -> ScalarEvent:
    if word[:1] != '"':
        _check(not is_key and word[:1] not in "{}[]:,")
        return ScalarEvent(start, end, word, "")
    try:
        return ScalarEvent(start, end, json.loads(word) if "\\" in word else word[1:-1], '"')
    except ValueError:
        raise NotJsonError from None


def _tokens(text: str) -> Iterator[tuple[str, TextMark, TextMark]]:
    """Yield each token with its start and end; the last one is empty."""
    position = line = line_start = 0
    while (found := _TOKEN.match(text, position)) is not None:
        blanks, word = found.groups()
        if blanks:
            for line_break in _BREAK.finditer(text, position, position + len(blanks)):
                line, line_start = line + 1, line_break.end()
        begin, position = position + len(blanks), found.end()
        yield word, TextMark(begin, line, begin - line_start), TextMark(position, line, position - line_start)
    raise NotJsonError
