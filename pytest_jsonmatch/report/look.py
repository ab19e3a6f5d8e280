"""How lines of text may look, and the building blocks of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypeVar, final

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
from pytest_jsonmatch.report.figures import change_text, score_text
from pytest_jsonmatch.report.styled import BOLD, DIM, PLAIN, Markup, StyledLine

T = TypeVar("T")

_LEAST_NAME: Final = 8
"""Keep at least this many columns for the names of a table."""
_MAX_NAME: Final = 500
_LEAST: Final = 12
"""Keep at least this many columns for the cell that is cut to make a row fit."""


@final
@dataclass(frozen=True, slots=True)
class Look:
    """How text may look, and how much of it is wanted.

    Args:
        color: whether there are ANSI colours.
        unicode: False keeps to ASCII; other characters of the data become escapes.
        width: columns of the terminal.
        mode: "auto" shows the worst, "failed" only what is under 1 or below a limit, "all" everything,
            however long, "none" nothing.
        hint: the option that shows what is left out.
    """

    color: bool = False
    unicode: bool = True
    width: int = 80
    mode: str = "auto"
    hint: str = "-v"

    @property
    def mark(self) -> str:
        """The sign for text left out."""
        return mark(self.unicode)

    @property
    def arrow(self) -> str:
        """The sign between what was and what is."""
        return "→" if self.unicode else "->"

    def less(self, columns: int) -> Look:
        """Return the look of lines that are this many columns narrower."""
        return replace(self, width=self.width - columns)

    def most(self, number: int) -> int | None:
        """Return how many items of a list to show: this number, or None for all of them."""
        return None if self.mode == "all" else number

    def printable(self, text: str) -> str:
        """Return text with an escape for every character that can't be shown."""
        return printable(text, ascii_only=not self.unicode)

    def clip(self, text: str, width: int, head: float = 1.0) -> str:
        """Return text in at most `width` columns, cut at its end; at its start if `head` is 0."""
        return clip(text, width, unicode=self.unicode, head=head)

    def middle(self, text: str, width: int) -> str:
        """Return text in at most `width` columns, cut in its middle."""
        return clip_middle(text, width, unicode=self.unicode)

    def score(self, value: float | None, least: int = 2) -> str:
        """Return a score with at least `least` decimals, and as many as `score_text` needs."""
        return score_text(value, least, unicode=self.unicode)

    def change(self, value: float) -> str:
        """Return a change with its sign."""
        return change_text(value, unicode=self.unicode)

    def line(self, text: str, markup: Markup = PLAIN) -> StyledLine:
        """Return a line of text, cut to the width."""
        return [(self.clip(text, self.width), markup)]

    def title(self, text: str) -> StyledLine:
        """Return the title of the lines below it."""
        return self.line(text, BOLD)

    def more(self, what: str, indent: str = "  ") -> StyledLine:
        """Return the line that says how much is left out, and how to see it."""
        hint = f" ({self.hint})" if self.hint else ""
        return self.line(f"{indent}{self.mark} {what}{hint}", DIM)

    def cut(
        self, items: Sequence[T], number: int, noun: str = "", indent: str = "  "
    ) -> tuple[Sequence[T], list[StyledLine]]:
        """Return the items of a list to show, and a line that counts the hidden ones, if there are any."""
        shown = items[: self.most(number)]
        hidden = len(items) - len(shown)
        what = count(hidden, f"more {noun}") if noun else f"{count(hidden)} more"
        return shown, [self.more(what, indent)] if hidden else []

    def rule(self, columns: int) -> StyledLine:
        """Return a line below a table."""
        return [(("─" if self.unicode else "-") * min(columns, self.width), DIM)]

    def folded(self, text: str, rows: int, markup: Markup = PLAIN, indent: str = "") -> list[StyledLine]:
        """Return text on at most this many lines."""
        room = max(self.width - len(indent), 20)
        return [[(indent + line, markup)] for line in fold(text, room, rows, unicode=self.unicode)]

    def named(self, lead: str, markup: Markup, name: str) -> StyledLine:
        """Return a line of figures, and a name that is cut in its middle if there is no room for it."""
        return [(lead, markup), (self.middle(name, max(self.width - display_width(lead), 1)), PLAIN)]

    def rows(
        self, rows: Sequence[StyledLine], *, cut: int | None = -1, indent: str = "  "
    ) -> list[StyledLine]:
        """Return lines with their cells aligned in columns.

        Args:
            rows: the cells of each line, the same number in every line.
            cut: which column is cut in the middle so that the lines fit; None cuts lines at their end.
            indent: the text before each line.
        """
        shorten = self.clip if cut is None else self.middle
        shown = [[shorten(text, self.width) for text, _ in row] for row in rows]
        widths = [max(map(display_width, column)) for column in zip(*shown, strict=True)]
        if cut is not None and rows:
            others = len(indent) + sum(widths) - widths[cut] + 2 * (len(widths) - 1)
            widths[cut] = min(widths[cut], max(self.width - others, _LEAST))
        lines = []
        for row in rows:
            cells = [
                (pad(shorten(text, width), width) + "  ", markup)
                for (text, markup), width in zip(row, widths, strict=True)
            ]
            # No white space at the end of a line, whichever cells are empty.
            while len(cells) > 1 and not cells[-1][0].strip():
                cells.pop()
            cells[-1] = (cells[-1][0].rstrip(), cells[-1][1])
            lines.append(self.fitting([(indent, PLAIN), *cells]))
        return lines

    def fitting(self, line: StyledLine) -> StyledLine:
        """Return a line cut at its end, if it is too long."""
        room = self.width
        found: StyledLine = []
        for text, markup in line:
            found.append((self.clip(text, room), markup))
            room -= display_width(found[-1][0])
            if room <= 0:
                break
        return found


def can_write(encoding: str) -> bool:
    """Tell whether an encoding has the arrows and lines that tables are drawn with.

    >>> can_write("utf-8"), can_write("ascii")
    (True, False)
    """
    try:
        "…–→█─".encode(encoding)
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def joined(blocks: Iterable[Sequence[StyledLine]]) -> list[StyledLine]:
    """Return the lines of all blocks that have any, with an empty line between two blocks.

    >>> joined([[[("a", {})]], [], [[("b", {})]]])
    [[('a', {})], [], [('b', {})]]
    """
    lines: list[StyledLine] = []
    for block in filter(None, blocks):
        lines += [[], *block] if lines else block
    return lines


# -- tables of figures, beside names, which are cut where room is short ----------------------------------


class Name(NamedTuple):
    """What a row is about, and how far it is indented."""

    text: str
    markup: Markup = PLAIN
    indent: int = 0


class Table(NamedTuple):
    """A drawn table: titles and rows, the line above sums, and whether the names have room."""

    lines: list[StyledLine]
    rule: StyledLine
    fits: bool


def draw_table(
    names: Sequence[Name],
    columns: Sequence[StyledLine],
    look: Look,
    *,
    gap: int = 2,
    minimum: int = 0,
    enough: int = 16,
) -> Table:
    """Draw a table.

    Args:
        names: the title of the column of names, and then the names of the rows.
        columns: the title of each and then its cells, right-aligned, as wide as they need to be.
        look: how the lines may look.
        gap: how many spaces are before each column.
        minimum: the names get at least this many columns, if there is room.
        enough: a table fits if the names have this many columns, or all that they need.
    """
    widths = [max(display_width(text) for text, _ in column) for column in columns]
    room = look.width - sum(widths) - gap * len(widths)
    needed = max(each.indent + display_width(look.clip(each.text, _MAX_NAME)) for each in names)
    first = max(min(room, max(needed, minimum)), _LEAST_NAME)
    lines: list[StyledLine] = []
    for (text, markup, wanted), *cells in zip(names, *columns, strict=True):
        indent = " " * min(wanted, first // 2)
        line = [(pad(indent + look.middle(text, first - len(indent)), first), markup)]
        for (figure, its_markup), width in zip(cells, widths, strict=True):
            line.append((" " * gap + pad(figure, width, right=True), its_markup))
        line[-1] = line[-1][0].rstrip(" "), line[-1][1]
        lines.append(line)
    return Table(lines, look.rule(first + look.width - room), room >= min(needed, enough))


def roomiest(tables: Iterable[Table]) -> Table:
    """Return the first table that fits, else the last; tables after it are not drawn."""
    drawn: list[Table] = []
    for each in tables:
        drawn.append(each)
        if each.fits:
            break
    return drawn[-1]
