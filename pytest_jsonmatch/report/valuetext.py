"""Render an expected and an actual value as lines of text that show where they differ."""

from __future__ import annotations

import unicodedata
from typing import Final, NamedTuple

from pytest_jsonmatch.engine.value.convert import MISSING, JsonValue
from pytest_jsonmatch.engine.value.text import render
from pytest_jsonmatch.report.escape import display_width
from pytest_jsonmatch.report.styled import DIM, GREEN, PLAIN, RED, StyledLine, line_width
from pytest_jsonmatch.report.terminal_style import TerminalStyle
from pytest_jsonmatch.report.textdiff import DiffSpan, spans
from pytest_jsonmatch.support.frozen import replace

_LABELS: Final = ("expected ", "actual   ")
_MARKS: Final = {"-": ("[-", "-]", RED), "+": ("{+", "+}", GREEN)}
_MAX_CHANGES: Final = 8  # a replacement counts as two: a removal and an addition
# Render at most this many characters of a container, before it is cut around the first difference.
_RENDER_LIMIT: Final = 20_000
# Two texts with more characters than this per column of the line never fit on the line.
_MAX_PAIR: Final = 5
_CONTEXTS: Final = (40, 32, 26, 22, 18, 14, 11, 8, 5)


class Space(NamedTuple):
    """The space for values: the style of a line, and the columns of a value on several (None: no limit)."""

    style: TerminalStyle
    reach: int | None


def value_lines(
    expected: JsonValue, actual: JsonValue, space: Space, *, marks: bool = True
) -> list[StyledLine]:
    """Return expected and actual on one or two lines; similar strings become one string with marks.

    >>> from pytest_jsonmatch.report.terminal_style import TerminalStyle
    >>> from pytest_jsonmatch.report.styled import line_text
    >>> space = Space(TerminalStyle(width=60), 50)
    >>> show = lambda e, a: [line_text(line) for line in value_lines(e, a, space)]
    >>> show("completed successfully", "completed sucessfully"), show(20.3, "20.5"), show(None, MISSING)
    (['"completed suc[-c-]essfully"'], ['20.3 → "20.5"'], ['null → (missing)'])
    """
    if marks and type(expected) is str and type(actual) is str:
        line = _marked_line(expected, actual, space)
        if line is not None:
            return [line]
    texts = _text(expected, "(nothing)", space), _text(actual, "(missing)", space)
    if type(expected) is type(actual) and _look_equal(*texts):
        space = Space(replace(space.style, unicode=False), space.reach)
    sides = f" {space.style.arrow} "
    if expected is MISSING or actual is MISSING:
        room = space.style.width - len(sides) - len("(missing)")
        return [_side_by_side(*(_cut(text, 0, room, space) for text in texts), sign=sides)]
    if len(texts[0]) + len(texts[1]) <= _MAX_PAIR * space.style.width:
        printed = [space.style.printable(text) for text in texts]
        if sum(map(display_width, (*printed, sides))) <= space.style.width:
            return [_side_by_side(*printed, sign=sides)]
    from rapidfuzz.distance import Prefix

    shared = Prefix.similarity(*texts)
    room = space.style.width - len(_LABELS[0])
    return [
        [(label, DIM), (_cut(text, shared, room, space), PLAIN)]
        for label, text in zip(_LABELS, texts, strict=True)
    ]


def value_text(expected: JsonValue, actual: JsonValue, style: TerminalStyle, width: int) -> str:
    """Return expected → actual in at most `width` columns, each cut around the first difference.

    >>> value_text(11.0, "11.00", TerminalStyle(), 30)
    '11.0 → "11.00"'
    >>> value_text("completed successfully", "completed sucessfully", TerminalStyle(), 30)
    '…successfull… → …sucessfully"'
    """
    space = Space(style, 0)
    texts = _text(expected, "(nothing)", space), _text(actual, "(missing)", space)
    if type(expected) is type(actual) and _look_equal(*texts):
        space = Space(replace(style, unicode=False), 0)
    sign = f" {space.style.arrow} "
    are_short = all(len(text) <= _MAX_PAIR * width for text in texts)
    printed = [*map(space.style.printable, texts)] if are_short else texts
    widths = [*map(display_width, printed)]
    if are_short and sum(widths) + len(sign) <= width:
        return sign.join(printed)
    from rapidfuzz.distance import Prefix

    shared, room = Prefix.similarity(*texts), width - len(sign)
    sizes = [max(room // 2, room - other) for other in reversed(widths)]
    return sign.join(_cut(text, shared, size, space) for text, size in zip(texts, sizes, strict=True))


def short_texts(old: JsonValue, new: JsonValue, width: int, style: TerminalStyle) -> tuple[str, str]:
    """Return two values as texts of at most a width, both cut around their first difference.

    >>> from pytest_jsonmatch.report.terminal_style import TerminalStyle
    >>> short_texts("x" * 50 + "a", "x" * 50 + "b", 12, TerminalStyle())
    ('…xxxa"', '…xxxb"')
    """
    from rapidfuzz.distance import Prefix

    space = Space(style, width)
    texts = _text(old, "(nothing)", space), _text(new, "(nothing)", space)
    shared = Prefix.similarity(*texts)
    before, after = (_cut(text, shared, width, space) for text in texts)
    return before, after


def _look_equal(expected: str, actual: str) -> bool:
    """Return whether texts that differ look equal (é as one code point or two), and are shown in ASCII."""
    if len(expected) + len(actual) > 2 * _RENDER_LIMIT or expected == actual:
        return False
    return unicodedata.normalize("NFC", expected) == unicodedata.normalize("NFC", actual)


def has_marks(line: StyledLine) -> bool:
    """Return whether a line contains marks for text of only one side."""
    return any(text in {"[-", "{+"} for text, _ in line)


def _side_by_side(expected: str, actual: str, *, sign: str) -> StyledLine:
    return [(expected, PLAIN), (sign, DIM), (actual, PLAIN)]


def _text(value: JsonValue, absent: str, space: Space) -> str:
    if value is MISSING:
        return absent
    if type(value) is str:
        return f'"{_quoted(value)}"'
    return render(value, None if space.reach is None else max(_RENDER_LIMIT, 2 * space.reach))


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _cut(text: str, shared: int, room: int, space: Space) -> str:
    """Return `text`, printable, cut to the reach around the first difference, which is at index `shared`."""
    if space.reach is None:
        return space.style.printable(text)
    reach = max(space.reach, room)
    printed = space.style.printable(text) if len(text) <= reach else None
    if printed is not None and display_width(printed) <= reach:
        return printed
    if shared <= reach // 2:
        return space.style.clip(text, reach)
    before = space.style.clip(text[:shared], reach // 3, head=0)
    return before + space.style.clip(text[shared:], reach - display_width(before))


def _marked_line(expected: str, actual: str, space: Space) -> StyledLine | None:
    """Return one string with the differences marked in it, or None if that would be hard to read."""
    pieces = spans(expected, actual)
    changes = sum(1 for kind, _ in pieces if kind != "=")
    shared = sum(len(text) for kind, text in pieces if kind == "=")
    if (
        changes > _MAX_CHANGES
        or 2 * shared < max(len(expected), len(actual))
        or any(sign in text for text in (expected, actual) for sign in ("[-", "-]", "{+", "+}"))
        or any(kind != "=" and kind in {text[0], text[-1]} for kind, text in pieces)  # `[---]` is unreadable
    ):
        return None
    style = replace(space.style, unicode=space.style.unicode and not _look_equal(expected, actual))
    if space.reach is None:
        return _assemble(pieces, None, style)
    for context in _CONTEXTS:
        line = _assemble(pieces, context * max(1, space.reach // space.style.width), style)
        if line_width(line) <= max(space.reach, space.style.width):
            return line
    return None


def _assemble(found: list[DiffSpan], context: int | None, style: TerminalStyle) -> StyledLine:
    line: StyledLine = [('"', PLAIN)]
    for index, (kind, text) in enumerate(found):
        quoted = _quoted(text)
        if kind != "=":
            before, after, markup = _MARKS[kind]
            line += [(before, markup), (_middle(quoted, context, style), markup), (after, markup)]
        elif context is not None and index in {0, len(found) - 1}:
            line.append((style.clip(quoted, context, head=1 if index else 0), PLAIN))
        else:
            line.append((_middle(quoted, context, style), PLAIN))
    line.append(('"', PLAIN))
    return line


def _middle(text: str, width: int | None, style: TerminalStyle) -> str:
    if width is None:
        return style.printable(text)
    return style.middle(text, max(width, 2 * len(style.mark) + 1))
