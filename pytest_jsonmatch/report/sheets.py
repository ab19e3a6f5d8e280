"""Blocks: sentences, figures, tables and charts, built once and laid out as text, Markdown and pages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.checks import gate_lines
from pytest_jsonmatch.report.figures import score_text
from pytest_jsonmatch.report.look import Look, joined, table_lines
from pytest_jsonmatch.report.styled import BOLD, DIM, PLAIN, TONES, Markup, StyledLine, line_width, score_tone

if TYPE_CHECKING:
    from pytest_jsonmatch.gate.session import Check

_SMALL: Final = 0.2
"""Charts whose scale ends at or below this show one more decimal."""
_MOST_POINTS: Final = 12
_MOST_ROWS: Final = 20
_ROWS_OF_TEXT: Final = 6
MAX_TITLE: Final = 20
"""The most columns for the title of a column of figures."""


class Sentence(NamedTuple):
    """A sentence or a paragraph; its tone is one of `TONES`.

    If there are names, the text has a `{}` for each of them.
    """

    text: str
    tone: str = ""
    names: Sequence[str] = ()

    def quoting(self, quoted: Callable[[str], str] = "`{}`".format) -> str:
        """Return the whole text, with quoted names."""
        return self.text.format(*map(quoted, self.names)) if self.names else self.text


class SheetFigure(NamedTuple):
    """A single figure: its name, its value, and a note, such as its interval."""

    name: str
    value: str
    note: str = ""


class SheetFigures(NamedTuple):
    """Figures of the same things, which the title names: cards on a page, lines in a terminal."""

    figures: Sequence[SheetFigure]
    title: str = ""


class SheetCell(NamedTuple):
    """A cell of text with a tone."""

    text: str
    tone: str = ""


AnySheetCell: TypeAlias = "str | SheetCell"


def score_cell(score: float | None) -> SheetCell:
    """Return a cell for a score, with its tone.

    >>> score_cell(1.0), score_cell(0.9), score_cell(None)
    (SheetCell(text='1.00', tone='good'), SheetCell(text='0.90', tone='open'), SheetCell(text='–', tone=''))
    """
    return SheetCell(score_text(score), score_tone(score))


@final
@dataclass(frozen=True, slots=True)
class Rows:
    """A table. The first column has names, such as paths of fields.

    Args:
        columns: the title of each; at least one. If all are empty, the rows are a list without a header.
        rows: each with one cell per column.
        title: the text above the table.
        noun: what a row is, for "… 280 more fields".
        most: how many rows a terminal shows without `-v`; a page shows all.
        text: columns that hold text, not figures: left-aligned, and cut where room is short.
        spare: columns that a narrow terminal may leave out, the one with the greatest number first.
        hidden: how many further rows were left out before.
        total: the last row, below a rule, with the figures of all rows.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[AnySheetCell]]
    title: str = ""
    noun: str = "field"
    most: int = _MOST_ROWS
    text: Collection[str] = ()
    spare: Mapping[str, int] = field(default_factory=dict)
    hidden: int = 0
    total: Sequence[AnySheetCell] = ()


class Series(NamedTuple):
    """A line of a chart.

    Args:
        name: its name in the legend.
        points: places from left to right; y None is a gap.
        is_guide: whether it is only a reference, such as a diagonal: dashed, and not in terminals.
    """

    name: str
    points: Sequence[tuple[float, float | None]]
    is_guide: bool = False


@final
@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of lines.

    Args:
        title: the text above the chart.
        x: the label of the horizontal axis.
        y: the label of the vertical axis.
        series: the lines; a terminal shows the points of the first in a table.
    """

    title: str
    x: str
    y: str
    series: Sequence[Series]


class Gates(NamedTuple):
    """Gates with their outcomes, and what they were evaluated on, such as "1,200 answers"."""

    checks: Sequence[Check]
    on: str


SheetBlock: TypeAlias = "Sentence | SheetFigures | Rows | Chart | Gates"


@final
@dataclass(frozen=True, slots=True)
class Sheet:
    """What a study found.

    Args:
        command: the command, such as "jsonmatch plan"; it is the title of a page.
        about: what was studied, in a line.
        blocks: from top to bottom; those without content are left out.

    >>> from pytest_jsonmatch.report.look import Look
    >>> table = Rows(["field", "auroc"], [["total", "0.91"], ["date", "0.70"]])
    >>> for line in sheet_lines(Sheet("jsonmatch x", "80 answers", [Sentence("It is fine."), table]), Look()):
    ...     print("".join(text for text, _ in line))
    80 answers
    <BLANKLINE>
    It is fine.
    <BLANKLINE>
    field  auroc
    total   0.91
    date    0.70
    """

    command: str
    about: str
    blocks: Sequence[SheetBlock]


def sheet_lines(sheet: Sheet, look: Look) -> list[StyledLine]:
    """Return a sheet as lines for a terminal."""
    return joined([_told(sheet.about, look, BOLD), *(block_lines(block, look) for block in sheet.blocks)])


def block_lines(block: SheetBlock, look: Look) -> list[StyledLine]:
    """Return a block as lines for a terminal."""
    if isinstance(block, Sentence):
        return _told(block.quoting(), look, TONES[block.tone])
    if isinstance(block, SheetFigures):
        rows = [
            [(each.name, PLAIN), (look.printable(each.value), BOLD), (look.printable(each.note), DIM)]
            for each in block.figures
        ]
        lines = table_lines(rows, look, texts={0: 0.5, 1: 1, 2: 1}, indent="  ")
        return [*_told(block.title, look, BOLD), *lines]
    if isinstance(block, Rows):
        return _table_lines(block, look)
    if isinstance(block, Gates):
        return gate_lines(block.checks, look, on=block.on)
    return _chart_lines(block, look)


def _told(text: str, look: Look, markup: Markup) -> list[StyledLine]:
    return look.folded(look.printable(text), _ROWS_OF_TEXT, markup) if text else []


# -- tables ------------------------------------------------------------------------------------------------


def _table_lines(block: Rows, look: Look) -> list[StyledLine]:
    if not block.rows:
        return []
    shown, _ = look.cut(block.rows, block.most)
    has_header = any(block.columns)
    places = list(enumerate(block.columns))
    texts = {at: 1.0 if at else 0.5 for at, title in places if title in block.text or not at}
    header = [(look.middle(title, look.width if at in texts else MAX_TITLE), BOLD) for at, title in places]
    rows: list[StyledLine] = [header] if has_header else []
    rows += [[_cell(cell, look) for cell in row] for row in (*shown, block.total) if row]
    spare = [at for at, title in places if title in block.spare]
    spare.sort(key=lambda at: -block.spare[block.columns[at]])
    lines = table_lines(rows, look, texts=texts, spare=spare, indent="" if has_header else "  ")
    rule: StyledLine = [(("─" if look.unicode else "-") * max(map(line_width, lines)), DIM)]
    below = [rule, lines.pop()] if block.total else []
    hidden = block.hidden + len(block.rows) - len(shown)
    more = [look.more(count(hidden, f"more {block.noun}"))] if hidden else []
    return [*_told(block.title, look, BOLD), *lines, *more, *below]


def _cell(cell: AnySheetCell, look: Look) -> tuple[str, Markup]:
    told = cell if isinstance(cell, SheetCell) else SheetCell(cell)
    is_dash = told.text == score_text(None)
    return look.score(None) if is_dash else look.printable(told.text), TONES[told.tone]


# -- charts ------------------------------------------------------------------------------------------------


def _chart_lines(chart: Chart, look: Look) -> list[StyledLine]:
    """Return the points of the first line of a chart as a table."""
    first = next((series.points for series in chart.series if not series.is_guide), ())
    digits = 2 if highest(chart) > _SMALL else 3
    rows: list[list[AnySheetCell]] = [
        [place_text(x), score_text(y, digits)] for x, y in first if y is not None
    ]
    return block_lines(Rows((chart.x, chart.y), rows, chart.title, "point", _MOST_POINTS), look)


def highest(chart: Chart) -> float:
    """Return the top of a chart's scale: 1 for shares that reach more than half of it.

    >>> highest(Chart("", "x", "y", [Series("", [(0, 0.1), (1, 0.8)])]))
    1.0
    """
    values = [y for series in chart.series for _, y in series.points if y is not None]
    most = max(values, default=1.0)
    return 1.0 if 0.5 < most <= 1 else most * 1.1 or 1.0


def place_text(x: float) -> str:
    """Return a place on an axis: a count, or up to three significant digits.

    >>> place_text(1200), place_text(0.25), place_text(1.0)
    ('1,200', '0.25', '1')
    """
    return count(int(x)) if x == int(x) else f"{x:.3g}"
