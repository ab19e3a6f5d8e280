"""Find the places in a model's answer that may be JSON: fences and balanced brackets outside reasoning.

All scans use regular expressions that visit each character a bounded number of times, so hostile text
takes linear time.
"""

from __future__ import annotations

import re
from heapq import heappush, heapreplace
from itertools import chain
from typing import Final, NamedTuple, TypeAlias, final

Span: TypeAlias = tuple[int, int]
"""The start and end of a piece of the text."""

_SPACES: Final = re.compile(r"[ \t\n\r]*")


def skip_spaces(text: str, pos: int = 0) -> int:
    """Return the end of the JSON white space that begins at `pos`."""
    found = _SPACES.match(text, pos)
    return pos if found is None else found.end()


# Balanced brackets.

# White space and short comments. Longer ones would make hostile text slow.
_GAP: Final = r"[ \t\n\r]*(?:(?://[^\n]{0,120}\n|\#[^\n]{0,120}\n|/\*[^*]{0,120}\*+/)[ \t\n\r]*){0,8}"
_STRING: Final = r'"[^"\\]*(?:\\.[^"\\]*){0,256}'
"""A string without its closing quote, or its beginning."""
_OPENER: Final = re.compile(
    rf"""
      \{{(?={_GAP}(?: \}} | \Z | {_STRING}(?: \Z | "[ \t\n\r]*(?: : | \Z ))))
    | \[(?={_GAP}(?: [\{{\[\]] | -?[0-9] | (?:true|false|null|NaN|-?Infinity)\b
                  | {_STRING}(?: \Z | "[ \t\n\r]*(?: [,\]] | \Z ))))
    """,
    re.VERBOSE | re.DOTALL,
)
LOOSE_OPENER: Final = re.compile(
    r"""
      \{(?=\s*(?: ["'`“‘A-Za-z0-9_$,] | // | /\* | \# | \\[nrt"'] | \.\.\. | … ))
    | \[(?=\s*(?: ["'`“‘\{\[\]0-9,-] | // | /\* | \# | \\[nrt"'] | \.[0-9]
                | (?:true|false|null|True|False|None|NaN|undefined)\b ))
    """,
    re.VERBOSE,
)
"""Matches the start of possibly damaged JSON: JavaScript, Python, with comments or with escaped quotes."""

# At most 256 escapes are matched at a time: `re` stores each, so a long string would take gigabytes.
_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*){0,256}("?)|[\[{]+|[\]}]+', re.DOTALL)
_REST_OF_STRING: Final = re.compile(r'[^"\\]*(?:\\.[^"\\]*){0,4096}("?)', re.DOTALL)
_CLOSER: Final = re.compile(r"[\]}]")
_CLOSERS: Final = str.maketrans("[{", "]}")


class Unclosed(NamedTuple):
    """A span that opens at `start` and never closes, or has a wrong closing bracket at `wrong`."""

    start: int
    wrong: int | None = None
    at_end: bool = True
    """Whether the whole text ends inside the span, not only a closed fence."""


def find_span_end(text: str, start: int, last: int) -> int | Unclosed:
    """Return the end of the span that opens at `start`, before `last`; brackets in strings do not count."""
    if _CLOSER.search(text, start, last) is None:
        return Unclosed(start)  # a shortcut, ten times faster, for the most common hostile text
    closers: list[str] = []
    pos = start
    while (match := _TOKEN.search(text, pos, last)) is not None:
        token, pos = match[0], match.end()
        if token[0] == '"':
            closed = match[1]
            while not closed:
                rest = _REST_OF_STRING.match(text, pos, last)
                if rest is None or rest.end() == pos:
                    return Unclosed(start)
                closed, pos = rest[1], rest.end()
        elif token[0] in "[{":
            closers.extend(token.translate(_CLOSERS))
        elif token == closers[-1] and len(closers) > 1:
            closers.pop()
        else:
            count = min(len(token), len(closers))
            if "".join(closers[: -count - 1 : -1]) != token[:count]:
                wrong = next(i for i in range(count) if closers[-1 - i] != token[i])
                return Unclosed(start, match.start() + wrong)
            del closers[-count:]
            if not closers:
                return match.start() + count
    return Unclosed(start)


MAX_SPANS: Final = 1000
"""The maximum number of balanced spans of a text to keep; the largest are kept."""


@final
class Spans(NamedTuple):
    """The balanced top-level spans of a text up to the first that does not close."""

    largest: list[Span]
    """Up to `MAX_SPANS` spans, the largest first; of equally large ones the last first."""
    end: int
    """The end of the last span; 0 if there is none."""
    unclosed: Unclosed | None
    """The span that does not close; None if all close."""


def find_balanced_spans(text: str, opener: re.Pattern[str] = _OPENER, *, within: Span | None = None) -> Spans:
    """Return the balanced top-level spans up to the first that does not close.

    Args:
        text: the text to search.
        opener: matches the start of a span.
        within: the part of the text to search; None for all of it.
    """
    first, last = within or (0, len(text))
    by_size: list[tuple[int, int]] = []  # a heap of sizes and starts, the smallest first
    last_end, unclosed = 0, None
    match = opener.search(text, first, last)
    while match is not None:
        start = match.start()
        end = find_span_end(text, start, last)
        if isinstance(end, Unclosed):
            unclosed = end._replace(at_end=end.wrong is None and last == len(text))
            break
        size = end - start
        if len(by_size) < MAX_SPANS:
            heappush(by_size, (size, start))
        elif size >= by_size[0][0]:
            heapreplace(by_size, (size, start))
        last_end = end
        match = opener.search(text, end, last)
    return Spans([(start, start + size) for size, start in sorted(by_size, reverse=True)], last_end, unclosed)


# Reasoning blocks and fences.

_MARGIN: Final = re.compile(r"[\s\ufeff]*")
_CORE: Final = re.compile(r"[^\s\ufeff](?:.*[^\s\ufeff])?", re.DOTALL)
_TAGS: Final = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis"
_LANDMARK: Final = re.compile(
    rf"`{{3,}}|~{{3,}}|<(?P<closing>/?)(?P<tag>{_TAGS})(?:\s[^<>]*)?>", re.IGNORECASE
)
_CLOSING_TAG: Final = {tag: re.compile(rf"</{tag}\s*>", re.IGNORECASE) for tag in _TAGS.split("|")}
_BLANK: Final = re.compile(r"[ \t\ufeff]*")
_AFTER_REASONING: Final = re.compile(r"[ \t]*(?:$|[\[{]|```)", re.MULTILINE)
# A run of the fence's own character. It closes a fence at the start of a line, even if prose follows, and at
# the end of a line: models often write "]```", and a line of JSON never ends in three backticks.
_FENCE_END: Final = {
    mark: re.compile(
        rf"(?P<starts>^[ \t]*)?(?P<run>{mark}{{3,}})(?P<blank>[ \t\r]+)?(?P<ends>$)?", re.MULTILINE
    )
    for mark in "`~"
}
_INFO: Final = re.compile(r"[ \t]*([^\s{\[`]*)[ \t]*")
_JSON_TAGS: Final = frozenset({"json", "jsonc", "json5"})


_FINAL: Final = re.compile(r"<\|channel\|>final<\|message\|>|assistantfinal")


def _find_answer_start(text: str) -> int:
    """Return the end of the last mark that begins a final answer after the reasoning; 0 without one."""
    start = position = quotes = 0
    for mark in _FINAL.finditer(text):
        newline = text.rfind("\n", position, mark.start())
        if newline >= 0:
            quotes, position = 0, newline
        quotes += text.count('"', position, mark.start()) - text.count('\\"', position, mark.start())
        position = mark.start()
        # The word may also occur in a JSON string.
        if mark[0] != "assistantfinal" or quotes % 2 == 0:
            start = mark.end()
    return start


@final
class Landmarks:
    """The reasoning blocks and fences of a text, found in one pass from left to right.

    Inside a block only its closing tag is recognised, inside a fence only its closing line. A tag within
    quotes on its line is text and opens no block, since JSON strings may contain `<think>`.

    Attributes:
        blocks: the spans of the reasoning blocks.
        open_block: the start and the tag of a block that never closes.
    """

    def __init__(self, text: str) -> None:
        # Replace the tags of some models by the usual ones, which have the same length.
        self._text = text.replace("◁think▷", "<think>").replace("◁/think▷", "</think>")
        start = _find_answer_start(text)
        self.blocks: list[Span] = [(0, start)] if start else []
        self._bodies: list[tuple[bool, Span]] = []
        self._fenced: list[Span] = []
        self._body_of: dict[Span, Span] = {}
        self.open_block: tuple[int, str] | None = None
        # The end of the last landmark, whether a line is considered to start there, and the number of quotes
        # on its line so far. Recounting them would take quadratic time on an endless line.
        self._position = start
        self._at_line_start = True
        self._quotes = 0
        self._find(start)

    def mask(self) -> str:
        """Return the text with blocks and fences blanked out; all other characters keep their positions."""
        parts: list[str] = []
        position = 0
        for start, end in sorted([*self.blocks, *self._fenced]):
            parts += (self._text[position:start], "\0" * (end - start))
            position = end
        return "".join((*parts, self._text[position:]))

    def list_bodies(self) -> list[Span]:
        """Return the bodies of fences in the order to try them: JSON-tagged ones first, later ones first.

        Blank bodies are left out. The body of a fence that never closes ends with the text.
        """
        return [body for tagged in (True, False) for is_json, body in self._bodies[::-1] if is_json is tagged]

    def find_core(self) -> Span:
        """Return the span without the byte-order mark, white space and blocks at both ends."""
        text = self._text
        start, end = 0, len(text)
        for block_start, block_end in self.blocks:
            if not _MARGIN.fullmatch(text, start, block_start):
                break
            start = block_end
        for block_start, block_end in reversed(self.blocks):
            if block_start < start or not _MARGIN.fullmatch(text, block_end, end):
                break
            end = block_start
        found = _CORE.search(text, start, end)
        return (start, start) if found is None else found.span()

    def find_content(self) -> list[Span]:
        """Return the parts of the text outside blocks; only the body if one fence encloses them."""
        start, end = self.find_core()
        for (fence_start, fence_end), body in self._body_of.items():
            if fence_start == start and fence_end >= end:
                return [body]
        inner = [(first, last) for first, last in self.blocks if start < first and last < end]
        borders = [start, *chain.from_iterable(inner), end]
        return list(zip(borders[::2], borders[1::2], strict=True))

    def _find(self, start: int) -> None:
        text = self._text
        unclosed_tags: set[str] = set()
        mark = _LANDMARK.search(text, start)
        while mark is not None:
            start, end = mark.span()
            at_line_start = self._look_back(start)
            tag = (mark["tag"] or "").lower()
            self._at_line_start = False
            if not tag:
                if at_line_start:
                    end = self._add_fence(start, end)
            elif at_line_start or self._quotes % 2 == 0:
                if mark["closing"]:
                    if at_line_start or _AFTER_REASONING.match(text, end):
                        self.blocks = [(0, end)]
                        self._fenced, self._bodies = [], []
                        self._at_line_start = True
                elif tag not in unclosed_tags:
                    closing = _CLOSING_TAG[tag].search(text, end)
                    if closing is not None:
                        end = closing.end()
                        self.blocks.append((start, end))
                        self._at_line_start = True
                    elif at_line_start:
                        self.open_block = (start, tag)
                        self.blocks.append((start, len(text)))
                        return
                    else:
                        unclosed_tags.add(tag)
            self._quotes = 0 if self._at_line_start else self._quotes + text.count('"', start, end)
            self._position = end
            mark = _LANDMARK.search(text, end)

    def _look_back(self, pos: int) -> bool:
        """Count quotes up to `pos`; return whether only white space precedes `pos` on its line."""
        text, start = self._text, self._position
        newline = text.rfind("\n", start, pos)
        if newline >= 0:
            start = newline + 1
            self._quotes = 0
        self._quotes += text.count('"', start, pos) - text.count('\\"', start, pos)
        return (newline >= 0 or self._at_line_start) and _BLANK.fullmatch(text, start, pos) is not None

    def _add_fence(self, start: int, end: int) -> int:
        """Add the fence that text[start:end] opens; return its end, or `end` if it is not a fence."""
        text = self._text
        size = end - start
        # Search no newline beyond another backtick, so that an endless line is not read many times.
        tick = text.find("`", end) if text[start] == "`" else -1
        newline = text.find("\n", end, tick if tick >= 0 else len(text))
        if newline < 0 <= tick:
            return end  # a code span of three backticks, not a fence
        line_end = newline if newline >= 0 else len(text)
        info = _INFO.match(text, end, line_end)
        body_start = min(line_end + 1, len(text))
        if info is not None and _OPENER.match(text, info.end()):
            body_start = info.end()  # the JSON begins on the fence's own line
        body_end = fence_end = len(text)
        for run in _FENCE_END[text[start]].finditer(text, body_start):
            closes = run["ends"] is not None or (run["starts"] is not None and run["blank"] is not None)
            if closes and len(run["run"]) >= size:
                body_end, fence_end = run.start(), run.end("run")
                break
        self._fenced.append((start, fence_end))
        if skip_spaces(text, body_start) < body_end:
            is_json = info is not None and info[1].lower() in _JSON_TAGS
            self._bodies.append((is_json, (body_start, body_end)))
            self._body_of[start, fence_end] = body_start, body_end
        return fence_end
