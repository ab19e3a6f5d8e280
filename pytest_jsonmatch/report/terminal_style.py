"""The style of lines for a terminal, and functions that lay them out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, TypeVar, final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.escape import (
    clip,
    clip_middle,
    display_width,
    fold,
    mark,
    pad,
    printable,
)
from pytest_jsonmatch.report.formatting import score_text
from pytest_jsonmatch.report.styled import BOLD, DIM, PLAIN, Markup, StyledLine
from pytest_jsonmatch.support.frozen import Frozen, replace

T = TypeVar("T")

_LONGEST_TEXT: Final = 500
_MIN_TEXT: Final = 16
"""Texts are not cut to fewer columns than this."""
_MIN_HEADING: Final = 8
"""Headings of columns of numbers are not cut to fewer columns than this."""
_MIN_CELL: Final = 6
"""The least columns of a text if nothing else fits."""
_MAX_NOTE_LINES: Final = 6
_GAP: Final = 2
_LAYOUTS: Final = (
    (_GAP, _LONGEST_TEXT, False),
    (1, _LONGEST_TEXT, False),
    (_GAP, _MIN_TEXT, False),
    (1, _MIN_TEXT, False),
    (1, _MIN_TEXT, True),
)
"""The gap between columns, the least width of texts, and whether headings are cut, in the order of trial."""


@final
class TerminalStyle(Frozen):
    """The style and the amount of text for a terminal.

    Args:
        color: whether ANSI colours are used.
        unicode: whether characters beyond ASCII are allowed; if not, they become escapes.
        width: the number of columns of the terminal.
        mode: "auto" shows the lowest-scoring rows, "failed" only what is below 1 or a limit, "all" everything
            uncut, "none" nothing.
        hint: the option that shows what is left out.
        node_id: returns a node id in the form that pytest accepts in the folder in which it was started.
    """

    __slots__ = ("color", "hint", "mode", "node_id", "unicode", "width")

    def __init__(
        self,
        color: bool = False,
        unicode: bool = True,
        width: int = 80,
        mode: str = "auto",
        hint: str = "-v",
        node_id: Callable[[str], str] = str,
    ) -> None:
        self.color: Final = color
        self.unicode: Final = unicode
        self.width: Final = width
        self.mode: Final = mode
        self.hint: Final = hint
        self.node_id: Final = node_id

    @property
    def mark(self) -> str:
        """The ellipsis."""
        return mark(self.unicode)

    @property
    def arrow(self) -> str:
        """The arrow between two values, such as expected and actual."""
        return "→" if self.unicode else "->"

    @property
    def times(self) -> str:
        """The sign before a number of times."""
        return "×" if self.unicode else "x"

    def less(self, columns: int) -> TerminalStyle:
        """Return a style for lines that are this many columns narrower."""
        return replace(self, width=self.width - columns)

    def printable(self, text: str) -> str:
        """Return text with escapes for the characters that can't be shown."""
        return printable(text, ascii_only=not self.unicode)

    def clip(self, text: str, width: int, head: float = 1.0) -> str:
        """Return text in at most `width` columns, cut at its end; at its start if `head` is 0."""
        return clip(text, width, unicode=self.unicode, head=head)

    def middle(self, text: str, width: int) -> str:
        """Return text in at most `width` columns, cut in its middle."""
        return clip_middle(text, width, unicode=self.unicode)

    def name(self, node_id: str, width: int) -> str:
        """Return a node id in at most `width` columns; its file is cut first, at its start.

        >>> TerminalStyle().name("invoices.golden.yaml::bread", 17)
        '…lden.yaml::bread'
        """
        path, separator, case = self.printable(node_id).partition("::")
        if not separator or display_width(node_id) <= width:
            return self.middle(node_id, width)
        room = width - display_width(f"{separator}{case}")
        if room < len(self.mark):
            return self.middle(case, width)
        return f"{self.clip(path, room, head=0)}{separator}{case}"

    def score(self, value: float | None, min_decimals: int = 2) -> str:
        """Return a score with at least `min_decimals` decimals, and as many as `score_text` needs."""
        return score_text(value, min_decimals, unicode=self.unicode)

    def line(self, text: str, markup: Markup = PLAIN) -> StyledLine:
        """Return a line of text, cut to the width."""
        return [(self.clip(text, self.width), markup)]

    def title(self, text: str) -> StyledLine:
        """Return the title of the lines below it."""
        return self.line(text, BOLD)

    def more(self, what: str, indent: str = "  ") -> StyledLine:
        """Return a line on what is left out, with a hint on how to see it."""
        hint = f" ({self.hint})" if self.hint else ""
        return self.line(f"{indent}{self.mark} {what}{hint}", DIM)

    def cut(
        self, items: Sequence[T], number: int, noun: str = "", indent: str = "  "
    ) -> tuple[Sequence[T], list[StyledLine]]:
        """Return the first items of a list, and a line that counts the hidden ones, if there are any."""
        shown = items[: None if self.mode == "all" else number]
        hidden = len(items) - len(shown)
        what = count(hidden, f"more {noun}") if noun else f"{count(hidden)} more"
        return shown, [self.more(what, indent)] if hidden else []

    def folded(self, text: str, rows: int, markup: Markup = PLAIN, indent: str = "") -> list[StyledLine]:
        """Return text folded into at most `rows` lines."""
        room = max(self.width, 20) - len(indent)
        return [[(indent + line, markup)] for line in fold(text, room, rows, unicode=self.unicode)]

    def fitting(self, line: StyledLine) -> StyledLine:
        """Return a line, cut at its end if it is too long."""
        room = self.width
        parts: StyledLine = []
        for text, markup in line:
            parts.append((self.clip(text, room), markup))
            room -= display_width(parts[-1][0])
            if room <= 0:
                break
        return parts


def can_write(encoding: str) -> bool:
    """Return whether an encoding has the arrows and lines of tables.

    >>> can_write("utf-8"), can_write("ascii")
    (True, False)
    """
    try:
        "…–→█─".encode(encoding)
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def joined(blocks: Iterable[Sequence[StyledLine]]) -> list[StyledLine]:
    """Return the lines of all blocks, with an empty line between two blocks that have lines.

    >>> joined([[[("a", {})]], [], [[("b", {})]]])
    [[('a', {})], [], [('b', {})]]
    """
    lines: list[StyledLine] = []
    for block in filter(None, blocks):
        lines += [[], *block] if lines else block
    return lines


# -- tables ------------------------------------------------------------------------------------------------


@final
class Layout:
    """The columns of a table for a terminal, and how they fit into its width.

    Args:
        rows: the cells of each line, the same number in every line.
        style: the style of the lines.
        texts: the columns of text, which are left-aligned and may be cut, with the `head` of `clip` for each.
            All other columns hold numbers, which are right-aligned.
        uncut: the columns of text that are never cut.
        has_header: whether the first row has headings. Those of numbers may be cut.
        indent: the text before each line.
    """

    __slots__ = ("_cells", "_has_header", "_indent", "_style", "_texts", "_uncut", "columns")

    def __init__(
        self,
        rows: Sequence[StyledLine],
        style: TerminalStyle,
        *,
        texts: Mapping[int, float],
        uncut: Collection[int] = (),
        has_header: bool = False,
        indent: str = "",
    ) -> None:
        self._cells = dict(enumerate(zip(*rows, strict=True)))
        for at, head in texts.items():
            if at not in uncut and at in self._cells:
                self._cells[at] = tuple(
                    (style.clip(text, _LONGEST_TEXT, head), markup) for text, markup in self._cells[at]
                )
        self._style, self._texts, self._uncut = style, texts, uncut
        self._has_header, self._indent = has_header, indent
        self.columns: list[int] = list(self._cells)
        """The columns that are shown."""

    @property
    def full_width(self) -> int:
        """The width of the shown columns if nothing is cut."""
        return self._width(_GAP, self._least_widths(_LONGEST_TEXT, cuts_headings=False))

    def leave_out(self, spare: Iterable[int]) -> list[int]:
        """Leave out columns in `spare`, one after the other, until the rest fits; return those left out."""
        left_out = []
        for at in spare:
            if self._width(1, self._least_widths(_MIN_TEXT, cuts_headings=True)) <= self._style.width:
                break
            self.columns.remove(at)
            left_out.append(at)
        return sorted(left_out)

    def lines(self, *, node_ids: bool = False) -> list[StyledLine]:
        """Return the rows as lines; with `node_ids`, the files of names in the first column are cut first."""
        if not self.columns:
            return []
        gap, widths = self._choose_widths()
        lines = []
        for cells in zip(*(self._cells[at] for at in self.columns), strict=True):
            line: StyledLine = []
            for at, (text, markup) in zip(self.columns, cells, strict=True):
                shown = self._cut(text, at, widths[at], is_name=node_ids and not at)
                padded = pad(shown, widths[at], right=at not in self._texts)
                line.append(((" " * gap if line else self._indent) + padded, markup))
            lines.append(self._style.fitting(_without_trailing_space(line)))
        return lines

    def uncut_lines(self) -> list[StyledLine]:
        """Return the rows as lines that may be copied: no name and no note is cut.

        A note (in the last column) that is too long is below its row, a name that is too long above it.
        """
        style, (first, *others) = self._style, self.columns
        notes = self._cells[others.pop()] if others and others[-1] in self._texts else ()
        widths = self._least_widths(_LONGEST_TEXT, cuts_headings=False)
        rest = sum(widths[at] + _GAP for at in others)
        names = [display_width(text) for text, _ in self._cells[first]]
        widths[first] = max((width for width in names if width <= style.width - rest), default=0)
        # Notes that fit stay in their column.
        most = style.width - widths[first] - rest - _GAP
        fits = [display_width(note) <= most for note, _ in notes]
        shows_heading = all(fits) or any(fit and note for fit, (note, _) in zip(fits[1:], notes[1:]))
        lines: list[StyledLine] = []
        for at, (name, markup) in enumerate(self._cells[first]):
            line: StyledLine = [(pad(name, widths[first]), markup)]
            if names[at] > widths[first]:
                lines.append([(name, markup)])
                line = [(" " * widths[first], PLAIN)]
            for column in others:
                text, cell_markup = self._cells[column][at]
                padded = pad(text, widths[column], right=column not in self._texts)
                line.append((" " * _GAP + padded, cell_markup))
            is_heading = self._has_header and not at
            note, note_markup = notes[at] if notes else ("", PLAIN)
            if note and (shows_heading if is_heading else fits[at]):
                line.append((" " * _GAP + note, note_markup))
            lines.append(_without_trailing_space(line))
            if note and not (is_heading or fits[at]):
                lines += style.folded(note, _MAX_NOTE_LINES, note_markup, indent="  ")
        return lines

    def _cut(self, text: str, at: int, width: int, *, is_name: bool) -> str:
        if at in self._uncut:
            return text
        if is_name:
            return self._style.name(text, width)
        if at in self._texts:
            return self._style.clip(text, width, self._texts[at])
        return self._style.middle(text, width)

    def _choose_widths(self) -> tuple[int, dict[int, int]]:
        """Return the gap between columns, and their widths: the first layout that fits."""
        layouts = _LAYOUTS if self._has_header else _LAYOUTS[:1]
        for gap, least_text, cuts_headings in layouts:
            least = self._least_widths(least_text, cuts_headings=cuts_headings)
            if self._width(gap, least) <= self._style.width:
                break
        else:
            gap = layouts[-1][0]
            least = self._least_widths(_MIN_CELL, cuts_headings=self._has_header)
        widths = self._least_widths(_LONGEST_TEXT, cuts_headings=False)
        for _ in range(self._width(gap, widths) - self._style.width):
            able = [at for at in widths if widths[at] > least[at]]
            if not able:
                break
            texts = [at for at in able if at in self._texts and widths[at] > _MIN_TEXT]
            widths[max(texts or able, key=widths.__getitem__)] -= 1
        return gap, widths

    def _least_widths(self, least_text: int, *, cuts_headings: bool) -> dict[int, int]:
        """Return the widths of the shown columns if texts, and perhaps headings of numbers, are cut."""
        widths = {}
        for at in self.columns:
            sizes = [display_width(text) for text, _ in self._cells[at]]
            widths[at] = max(sizes)
            if at in self._uncut:
                continue
            if at in self._texts:
                widths[at] = min(widths[at], least_text)
            elif cuts_headings:
                widths[at] = min(widths[at], max(*sizes[1:], _MIN_HEADING))
        return widths

    def _width(self, gap: int, widths: Mapping[int, int]) -> int:
        return len(self._indent) + sum(widths.values()) + gap * (len(widths) - 1)


def _without_trailing_space(line: StyledLine) -> StyledLine:
    """Return a line without empty cells at its end."""
    while len(line) > 1 and not line[-1][0].strip():
        line.pop()
    return [*line[:-1], (line[-1][0].rstrip(), line[-1][1])]
