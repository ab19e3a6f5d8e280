"""Find the JSON value in a model's answer; report what was tolerated, or why none was found."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, final

from pytest_jsonmatch.engine.value.convert import json_type, to_json_value
from pytest_jsonmatch.engine.value.equality import json_equal
from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonExtractionError, JsonParseError
from pytest_jsonmatch.engine.value.text import add_article, count, shorten
from pytest_jsonmatch.reading import landmarks, strict
from pytest_jsonmatch.support.frozen import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_jsonmatch.engine.value.convert import JsonValue

Want: TypeAlias = Literal["object", "array"]
Method: TypeAlias = Literal["whole", "stripped", "fence", "span", "repair"]


def kind_of(expected: JsonValue, target: Sequence[object] = ()) -> Want | None:
    """Return the kind of value to look for in an answer, given the expected value; None for any.

    If only the place `target` in the documents is compared, its first step determines the kind.

    >>> kind_of({"total": 12}), kind_of("a string"), kind_of(None, ["items", 0])
    ('object', None, 'object')
    """
    if target:
        return "object" if isinstance(target[0], str) else "array"
    if type(expected) is dict:
        return "object"
    return "array" if type(expected) is list else None


@final
@dataclass(frozen=True, slots=True)
class Extraction:
    """JSON found in a text.

    Attributes:
        value: the JSON value.
        method: the step that found it: "whole" (the text is JSON), "stripped" (JSON after a byte-order mark,
            white space and reasoning blocks are removed), "fence" (the body of a Markdown fence), "span" (a
            balanced object or array in prose), "repair" (the json-repair library).
        span: (start, end) of the JSON in the text, in characters (for bytes: in the decoded text).
        warnings: a sentence for each thing tolerated: duplicate keys, NaN, repairs, a truncated rest.

    >>> extract_json('Here it is: {"total": 12} as asked')
    Extraction(value={'total': 12}, method='span', span=(12, 25), warnings=())
    """

    value: JsonValue
    method: Method
    span: tuple[int, int]
    warnings: tuple[str, ...] = ()


def extract_json(
    text: str | bytes | bytearray, *, want: Want | None = None, repair: bool = False
) -> Extraction:
    """Find the JSON value in a model's output.

    The first step that finds a value of the requested kind wins:

    1. The whole text is JSON.
    2. The text is JSON without the byte-order mark, white space and reasoning blocks (such as
       `<think>...</think>`) around it. A closing tag without an opening one ends a block that began with the
       text (some chat templates omit the opening tag from the output). No step looks into reasoning; a block
       that opens at a line's start and never closes runs to the end of the text.
    3. The body of a Markdown fence (three or more backticks or tildes) that opens at a line's start:
       `json`-tagged ones first, and the last one that parses. A fence that never closes ends at the end of
       the text.
    4. A balanced object or array outside the fences: the largest that parses, and the last of equally large
       ones; if it is not the only one, a warning says so. If there are more than 1,000, the largest 1,000 are
       tried. A `{` opens an object only before a key with its colon or `}`, a `[` an array only before a JSON
       value or `]`; comments between them do not matter. An object or array that does not close is not
       searched for inner values: a truncated answer is an error, not its inner fragment.
    5. Only with `repair=True`: the json-repair library; each fix is a warning.

    The text may deviate from strict JSON: the last of duplicate keys wins; NaN, Infinity and -Infinity become
    floats, which equal nothing. Each of these is a warning. Steps 1 to 4 take linear time on any text;
    json-repair does not guarantee that.

    Args:
        text: a model's output; bytes are UTF-8.
        want: "object" or "array" ignores all other values, even if they come first; None accepts any value.
        repair: whether to try step 5; needs `pip install "pytest-jsonmatch[repair]"`.

    Raises:
        JsonExtractionError: (a ValueError) no step succeeded; `reason` says why, `excerpt` shows the text.
        ConfigurationError: (a ValueError) `want` is invalid, or json-repair is missing.

    >>> found = extract_json('The total is 12, so: {"total": 12}. Anything else?')
    >>> found.value, found.method, found.span
    ({'total': 12}, 'span', (21, 34))
    >>> extract_json('<think>12? 13?</think>[12]')
    Extraction(value=[12], method='stripped', span=(22, 26), warnings=())
    """
    if want not in (None, "object", "array"):
        raise ConfigurationError(f"want must be 'object', 'array' or None, got {want!r}")
    return _AnswerSearch(decode_answer(text), want).run(repair=repair)


def decode_answer(text: str | bytes | bytearray) -> str:
    """Return the text of an answer; bytes are UTF-8.

    Raises:
        JsonExtractionError: the bytes are not UTF-8.
    """
    try:
        return strict.decode_text(text)
    except JsonParseError as error:
        raise JsonExtractionError(
            f"{error.reason} (line {error.line}, column {error.column})", excerpt=error.excerpt
        ) from None


_OPENERS: Final = {"{": "object", "[": "array"}
_ESCAPED_QUOTE: Final = re.compile(r"""[{\[]\s*(?:\\[nrt]\s*)*\\["']""")
_ESCAPE: Final = re.compile(r"""\\(["'\\/nrt])""")
_UNESCAPED: Final = {"n": "\n", "r": "\r", "t": "\t"}
_PATH: Final = re.compile(r"\s*[^\s{}\[\]\"]{1,250}\.\w{2,6}\s*")
"""Matches a text that looks like a path: one word with a file extension."""


def _unescape_quotes(piece: str) -> tuple[str, list[str]]:
    """Return damaged JSON with its quotes unescaped if all are escaped, and a note on that."""
    if not _ESCAPED_QUOTE.match(piece):
        return piece, []
    text = _ESCAPE.sub(lambda escape: _UNESCAPED.get(escape[1], escape[1]), piece)
    end = landmarks.find_span_end(text, 0, len(text))
    return text[:end] if isinstance(end, int) else text, ["unescaped the quotes"]


@final
class _AnswerSearch:
    """One extraction: the text, the requested kind, and the findings that explain a failure."""

    def __init__(self, text: str, want: Want | None) -> None:
        self._text = text
        self._want = want
        self._notes: list[str] = []
        self._wrong_kinds: dict[int, str] = {}
        """The kinds of values that are not of the requested kind, by where they start."""
        self._invalid: tuple[landmarks.Span, JsonParseError] | None = None
        """The first fence or span that is not JSON, and its error."""
        self._landmarks: landmarks.Landmarks

    def run(self, *, repair: bool) -> Extraction:
        """Return the first candidate of the requested kind; raise JsonExtractionError if there is none."""
        for piece, method, spans in self._candidates():
            extraction = self._attempt(piece, method)
            if extraction is not None:
                notes = [f"{note}; the JSON before it was used" for note in self._notes]
                notes += self._mention_other(piece, spans, extraction)
                return replace(extraction, warnings=(*extraction.warnings, *notes)) if notes else extraction
        reason = self._notes[0] if self._notes else self._explain()
        if repair:
            extraction = self._repair(reason)
            if extraction is not None:
                return extraction
            reason += "; json-repair could not repair it"
        if _PATH.fullmatch(self._text):
            reason += "; it looks like a path: pass the content of the file"
        beginning = self._text.lstrip().lstrip("\ufeff").lstrip()
        raise JsonExtractionError(reason, excerpt=shorten(beginning, strict.EXCERPT))

    def _candidates(self) -> Iterator[tuple[landmarks.Span, Method, Sequence[landmarks.Span]]]:
        """Yield the pieces of the text that may be the answer, with the step and the spans that it found."""
        yield (0, len(self._text)), "whole", ()
        self._landmarks = places = landmarks.Landmarks(self._text)
        if places.open_block is not None:
            start, tag = places.open_block
            self._notes.append(f"output ends inside a <{tag}> block opened at line {self._get_line(start)}")
        yield places.find_core(), "stripped", ()
        outside = landmarks.find_balanced_spans(places.mask())
        cut = self._find_cut(outside, places.list_bodies())
        if cut is not None:
            self._notes.insert(0, self._explain_unclosed(cut))
            return
        for body in places.list_bodies():
            yield body, "fence", ()
            spans = landmarks.find_balanced_spans(self._text, within=body).largest
            for span in spans:
                yield span, "fence", spans
        if outside.unclosed is not None:
            self._notes.append(self._explain_unclosed(outside.unclosed))
        for span in outside.largest:
            yield span, "span", outside.largest

    def _find_cut(
        self, outside: landmarks.Spans, bodies: Iterable[landmarks.Span]
    ) -> landmarks.Unclosed | None:
        """Return the object or array in which the text ends, if no complete one follows its opening."""
        end, last = 0, None
        for spans in chain(
            [outside], (landmarks.find_balanced_spans(self._text, within=body) for body in bodies)
        ):
            end = max(end, spans.end)
            if spans.unclosed is not None and spans.unclosed.at_end:
                last = spans.unclosed if last is None else max(last, spans.unclosed)
        return last if last is not None and end <= last.start else None

    def _attempt(self, piece: landmarks.Span, method: Method) -> Extraction | None:
        """Read one piece of the text; return None if it is not JSON or not of the requested kind."""
        start, end = piece
        try:
            read = strict.read(self._text[start:end], strict=False)
        except JsonParseError as error:
            if method in {"fence", "span"}:
                self._invalid = self._invalid or (piece, error)
            return None
        kind = json_type(read.value)
        if self._want is not None and kind != self._want:
            self._wrong_kinds[landmarks.skip_spaces(self._text, start)] = kind
            return None
        warnings = [
            f"line {self._get_line(start + fault.pos)}: {fault.reason}; {fault.tolerated}"
            for fault in read.tolerated
        ]
        start = landmarks.skip_spaces(self._text, start)
        end = start + len(self._text[start:end].rstrip(strict.SPACES))
        return Extraction(read.value, method, (start, end), tuple(warnings))

    def _mention_other(
        self, chosen: landmarks.Span, spans: Sequence[landmarks.Span], extraction: Extraction
    ) -> Iterator[str]:
        """Yield a warning if another value of the requested kind was not used, unless they are equal."""
        for span in spans:
            if span == chosen:
                continue
            try:
                other = strict.read(self._text[slice(*span)], strict=False).value
            except JsonParseError:
                continue
            if self._want in {None, json_type(other)} and not json_equal(other, extraction.value):
                at, beside = (strict.find_line_and_column(self._text, start) for start, _ in (chosen, span))
                used, left = (
                    f"{json_type(value)} at line {line}"
                    + (f", column {column}" if at[0] == beside[0] else "")
                    for value, (line, column) in ((extraction.value, at), (other, beside))
                )
                choice = "if there are several, the largest is used, on a tie the last"
                yield f"the {used} was used, not the {left}; {choice}"
                return

    def _find_repairable(self) -> Iterator[landmarks.Span]:
        """Yield the pieces that look like damaged JSON: fences, the truncated answer, loose brackets."""
        text, last = self._text, self._landmarks.find_core()[1]
        for start, end in self._landmarks.list_bodies():
            opening = landmarks.skip_spaces(text, start)
            if text[opening] in _OPENERS:
                yield opening, end
        loose = landmarks.find_balanced_spans(self._landmarks.mask(), landmarks.LOOSE_OPENER)
        if loose.unclosed is not None:
            yield loose.unclosed.start, last
        yield from loose.largest
        start, end = self._landmarks.find_core()
        if text[start:end].startswith(tuple(_OPENERS)):
            yield start, end

    def _repair(self, reason: str) -> Extraction | None:
        try:
            from json_repair import repair_json
        except ImportError:
            raise ConfigurationError(
                'repair=True needs the json-repair library; run: pip install "pytest-jsonmatch[repair]"'
            ) from None
        for start, end in self._find_repairable():
            piece, fixes = _unescape_quotes(self._text[start:end])
            try:
                value, log = repair_json(piece, return_objects=True, skip_json_loads=True, logging=True)
                value = to_json_value(value)
            except Exception:  # noqa: BLE001, S112 - whatever the library raises on hostile text: no JSON
                continue
            kind = json_type(value)
            # If the kind is not that of the opening bracket, the library has combined several values.
            if kind == _OPENERS[piece[0]] and self._want in {None, kind}:
                fixes += [f"{fix['text']} (near {fix['context']!r})" for fix in log[: strict.MAX_WARNINGS]]
                warnings = tuple(f"repaired: {note}" for note in (reason, *fixes))
                return Extraction(value, "repair", (start, end), warnings)
        return None

    # The reasons why there is no JSON.

    def _explain(self) -> str:
        start, end = self._landmarks.find_core()
        if start == end:
            return "the text contains only reasoning" if self._landmarks.blocks else "the text is empty"
        if self._text[start] in _OPENERS and self._invalid is None and start not in self._wrong_kinds:
            self._attempt((start, end), "span")  # to note the error in it
        if self._invalid is not None:
            return self._explain_invalid(*self._invalid)
        if self._wrong_kinds:
            return f"expected an {self._want}, got {self._list_wrong_kinds()}"
        return f"there is no {self._want or 'object or array'} in the text"

    def _list_wrong_kinds(self) -> str:
        starts = sorted(self._wrong_kinds)
        line, last_line = (self._get_line(starts[at]) for at in (0, -1))
        if len(starts) == 1:
            return f"{add_article(self._wrong_kinds[starts[0]])} (line {line})"
        kinds = sorted(set(self._wrong_kinds.values()))
        advice = "; put them into one array" if self._want == "array" else ""
        values = count(len(starts), kinds[0] if len(kinds) == 1 else "value")
        return f"{values} (from line {line} to line {last_line}){advice}"

    def _explain_invalid(self, piece: landmarks.Span, error: JsonParseError) -> str:
        start = landmarks.skip_spaces(self._text, piece[0])
        is_fence = piece in self._landmarks.list_bodies()
        place = "fence" if is_fence else _OPENERS[self._text[start]]
        line, column = strict.find_line_and_column(self._text, piece[0])
        column = error.column + (column - 1 if error.line == 1 else 0)
        reason = f"{error.reason} (line {line + error.line - 1}, column {column})"
        return f"the {place} at line {self._get_line(start)} is not JSON: {reason}"

    def _explain_unclosed(self, unclosed: landmarks.Unclosed) -> str:
        opened = f"an {_OPENERS[self._text[unclosed.start]]} opened at line {self._get_line(unclosed.start)}"
        if unclosed.wrong is None:
            return f"output ends inside {opened}"
        wrong = self._text[unclosed.wrong]
        return f"the brackets of {opened} do not match: {wrong!r} at line {self._get_line(unclosed.wrong)}"

    def _get_line(self, pos: int) -> int:
        return strict.find_line_and_column(self._text, pos)[0]
