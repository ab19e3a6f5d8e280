"""Tables of figures for the terminal: columns of figures beside names, which are cut where room is short."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from pytest_jsonmatch.report.escape import display_width, pad
from pytest_jsonmatch.report.look import Look
from pytest_jsonmatch.report.styled import PLAIN, Markup, StyledLine

LEAST_NAME: Final = 8
"""So many columns are kept for the names, whatever else there is."""
_MAX_NAME: Final = 500


class Name(NamedTuple):
    """What a row is about, and how far it is indented."""

    text: str
    markup: Markup = PLAIN
    indent: int = 0


class Table(NamedTuple):
    """A table as it is drawn: titles and rows, the line above sums, and whether the names have room."""

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
        names: the title of the names, and then those of the rows.
        columns: each its title and then its cells, set to the right, as wide as they need to be.
        look: how the lines may look.
        gap: how many spaces are before each column.
        minimum: the names get so many columns even if they need less, if there is room.
        enough: a table fits if the names have so many columns, or all that they need.
    """
    widths = [max(display_width(text) for text, _ in column) for column in columns]
    room = look.width - sum(widths) - gap * len(widths)
    needed = max(each.indent + display_width(look.clip(each.text, _MAX_NAME)) for each in names)
    first = max(min(room, max(needed, minimum)), LEAST_NAME)
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
    """Return the first table that fits, else the last; those after it are not drawn."""
    drawn: list[Table] = []
    for each in tables:
        drawn.append(each)
        if each.fits:
            break
    return drawn[-1]
