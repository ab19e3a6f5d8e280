"""Make any text safe for a terminal: no character moves the cursor, is invisible, or reorders text."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

# `str.isprintable` is False for every control, format, surrogate, private, unassigned and separator character
# (so for ANSI, bidi controls, zero-width joiners and no-break spaces). It is True for these, although they
# are invisible: variation selectors, fillers, blanks.
_INVISIBLE: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_IDEOGRAPHIC_SPACE: Final = "\u3000"
# Marks that stack on one character spill over the lines above and below.
_MAX_MARKS: Final = 4
# A printed character has at most this many code points: itself and its marks.
_POINTS_PER_COLUMN: Final = 1 + _MAX_MARKS
_COMMANDS: Final = ("::", "##[", "##vso[")
"""The starts of lines that GitHub Actions and Azure Pipelines take for commands."""


def printable(text: str, *, ascii_only: bool = False) -> str:
    r"""Return `text` with an escape for every character that is not plainly visible.

    Control characters (ANSI sequences too), bidi controls, zero-width characters, line and paragraph
    separators, unusual spaces, lone surrogates and unassigned code points become `\n`, `\x1b`, `\u202e` ...;
    with `ascii_only` all other non-ASCII characters, too. Existing backslashes are not escaped, so the result
    cannot be decoded.

    >>> print(printable("red \x1b[31m, wide\u200b, two\nlines"))
    red \x1b[31m, wide\u200b, two\nlines
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_atoms(text, ascii_only))


def no_command(line: str) -> str:
    r"""Return a line with its first character escaped if a CI service would take it for a command.

    >>> print(no_command("  ::stop-commands::x"), no_command("##[error]x"), no_command("a::b"))
      \x3a:stop-commands::x \x23#[error]x a::b
    """
    start = line.lstrip()
    if not start.startswith(_COMMANDS):
        return line
    return f"{line[: len(line) - len(start)]}\\x{ord(start[0]):02x}{start[1:]}"


def _atoms(text: str, ascii_only: bool) -> list[str]:
    """Return the printed form of each character; combining marks stay with their base."""
    if text.isascii() and text.isprintable():
        return list(text)
    atoms: list[str] = []
    marks = _MAX_MARKS  # a mark at the very start would combine with the character before the text
    for character in text:
        if " " <= character <= "~":
            atoms.append(character)
            marks = 0
        elif ascii_only or not _is_visible(character):
            atoms.append(_escape(character))
            marks = _MAX_MARKS
        elif unicodedata.category(character) in {"Mn", "Me"}:
            if marks < _MAX_MARKS:
                atoms[-1] += character
                marks += 1
            else:
                atoms.append(_escape(character))
        else:
            atoms.append(character)
            marks = 0
    return atoms


def _is_visible(character: str) -> bool:
    if character.isprintable():
        return not _INVISIBLE.match(character)
    return character == _IDEOGRAPHIC_SPACE


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def display_width(text: str) -> int:
    """Return the number of columns of printable text in a terminal.

    >>> display_width("abc"), display_width("日本")
    (3, 4)
    """
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.east_asian_width(character) in {"W", "F"}:
        return 2
    return 0 if unicodedata.category(character) in {"Mn", "Me"} else 1


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Pad printable text with spaces on the right or, with `right`, on the left.

    >>> pad("日本", 6) + "|", pad("12", 4, right=True)
    ('日本  |', '  12')
    """
    fill = " " * (width - display_width(text))
    return fill + text if right else text + fill


def clip(text: str, width: int, *, unicode: bool = True, head: float = 1.0) -> str:
    """Return `text`, printable, in at most `width` columns; an ellipsis replaces what is cut.

    `head` is the share of the columns that the start of the text gets: 1 cuts at the end, 0 at the start.

    >>> clip("completed successfully", 10), clip("completed successfully", 10, head=0)
    ('completed…', '…cessfully')
    """
    reach = width * _POINTS_PER_COLUMN + 1
    if len(text) <= 2 * reach:
        front = back = _atoms(text, not unicode)
        if _columns_of(front) <= width:
            return "".join(front)
    else:
        front, back = _atoms(text[:reach], not unicode), _atoms(text[-reach:], not unicode)
    room = width - len(mark(unicode))
    shown = _fit(front, int(room * head))
    tail = _fit(back[::-1], room - _columns_of(shown) if head < 1 else 0)[::-1]
    return "".join(shown) + mark(unicode)[: max(width, 0)] + "".join(tail)


def clip_middle(text: str, width: int, *, unicode: bool = True) -> str:
    """Return `text`, printable, in at most `width` columns, cut in the middle.

    >>> clip_middle("customer.addresses[].postal_code", 21)
    'customer.a…ostal_code'
    """
    return clip(text, width, unicode=unicode, head=0.5)


def fold(text: str, width: int, rows: int, *, unicode: bool = True) -> list[str]:
    """Return `text`, printable, on at most `rows` lines of `width` columns, broken at spaces if possible.

    >>> fold("a comparator raised something", 14, 2)
    ['a comparator', 'raised someth…']
    """
    atoms = _atoms(text[: rows * width * _POINTS_PER_COLUMN + 1], not unicode)
    lines: list[str] = []
    while len(lines) < rows - 1 and _columns_of(atoms) > width:
        line = _fit(atoms, width)
        if " " in line and atoms[len(line)] != " ":
            line = line[: len(line) - line[::-1].index(" ")]
        lines.append("".join(line).rstrip(" "))
        atoms = atoms[len(line) :]
        if atoms[:1] == [" "]:
            del atoms[0]
    if _columns_of(atoms) > width:
        return [*lines, "".join(_fit(atoms, width - len(mark(unicode)))) + mark(unicode)]
    return [*lines, "".join(atoms)]


def mark(unicode: bool) -> str:
    """Return the ellipsis."""
    return "…" if unicode else "..."


def _columns_of(atoms: list[str]) -> int:
    return sum(map(display_width, atoms))


def _fit(atoms: list[str], width: int) -> list[str]:
    used = 0
    for count, atom in enumerate(atoms):
        used += display_width(atom)
        if used > width:
            return atoms[:count]
    return atoms
