"""The blocks of a report. They are built once, and rendered as text, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, final

from pytest_jsonmatch.report.formatting import score_text, tone_of
from pytest_jsonmatch.support.frozen import Frozen

if TYPE_CHECKING:
    from pytest_jsonmatch.results.comparison import Case, CaseRun

Level: TypeAlias = Literal["brief", "normal", "more", "all"]
"""The amount of a report that is shown: a line or two, what needs attention, what a command shows and a test
run shows with `-v`, or everything (on a page)."""
_MAX_ROWS: Final = 20


class Heading(NamedTuple):
    """The title of the blocks that follow."""

    text: str
    level: Level = "normal"


class Text(NamedTuple):
    """A sentence or a paragraph. The text has a `{}` for each of the names, if there are any."""

    text: str
    tone: str = ""
    names: Sequence[str] = ()
    level: Level = "normal"

    def quoting(self, quoted: Callable[[str], str] = "`{}`".format) -> str:
        """Return the text with quoted names."""
        return self.text.format(*map(quoted, self.names)) if self.names else self.text


class Statistic(NamedTuple):
    """A single statistic: its name, its value as text, and a note such as its interval."""

    name: str
    value: str
    note: str = ""
    interval: tuple[float, float, float] | None = None
    """The lower end, the value and the upper end, from 0 to 1."""


class Statistics(NamedTuple):
    """Statistics of one population, which the title names: cards on a page, lines in a terminal."""

    statistics: Sequence[Statistic]
    title: str = ""
    level: Level = "normal"


# -- tables ------------------------------------------------------------------------------------------------


class TableCell(NamedTuple):
    """A cell: text with a tone; columns are sorted by the value of cells that have one."""

    text: str
    tone: str = ""
    value: float | None = None
    link: str = ""


AnyCell: TypeAlias = "str | TableCell"


def score_cell(score: float | None) -> TableCell:
    """Return a cell for a score.

    >>> score_cell(1.0)
    TableCell(text='1.00', tone='good', value=1.0, link='')
    >>> score_cell(None)
    TableCell(text='–', tone='', value=None, link='')
    """
    return TableCell(score_text(score), tone_of(score), score)


class ShownDifference(NamedTuple):
    """An expected and an actual value that differ, as JSON text; None for a missing side."""

    path: str
    status: str
    expected: str | None
    actual: str | None
    times: int = 1
    score: float | None = None
    reason: str = ""
    actual_path: str = ""


@final
class RowDetail(Frozen):
    """The details of a table row, which are shown when it is unfolded.

    Args:
        title: the title of the details, such as "run 2 of 3".
        differences: the values that differ.
        more: how many differences were left out.
        message: the failure message of a test.
        texts: titles and texts, such as the input and the raw answer.
        notes: errors and warnings.
        documents: expected and actual as JSON text; None for a missing side.
    """

    __slots__ = ("differences", "documents", "message", "more", "notes", "texts", "title")

    def __init__(
        self,
        title: str = "",
        differences: Sequence[ShownDifference] = (),
        more: int = 0,
        message: str = "",
        texts: Sequence[tuple[str, str]] = (),
        notes: Sequence[str] = (),
        documents: tuple[str | None, str | None] | None = None,
    ) -> None:
        self.title: Final = title
        self.differences: Final = differences
        self.more: Final = more
        self.message: Final = message
        self.texts: Final = texts
        self.notes: Final = notes
        self.documents: Final = documents


ColumnKind: TypeAlias = Literal["name", "node id", "number", "bar", "text", "note", "verdict", "place"]
"""What a column holds.

- "name": the names of the rows, such as paths of fields, always in the first column.
- "node id": names that a terminal shows in a form that pytest accepts.
- "number": right-aligned.
- "bar": numbers from 0 to 1 for which a page draws bars.
- "text": left-aligned, and cut where room is short.
- "note": a text that contains no data.
- "verdict": a text that is never cut, which Markdown and pages mark by its tone.
- "place": a text that terminals leave out, since pytest has shown these places.
"""


class Column(NamedTuple):
    """A column of a table.

    Args:
        title: the title.
        kind: what the column holds.
        spare: narrow terminals leave out the column with the greatest number first; None for one that stays.
        uncut: whether its texts are never cut, such as names that are copied.
    """

    title: str
    kind: ColumnKind = "number"
    spare: int | None = None
    uncut: bool = False

    @property
    def is_name(self) -> bool:
        """Whether the column has the names of the rows."""
        return self.kind in {"name", "node id"}

    @property
    def is_text(self) -> bool:
        """Whether the column holds text, not numbers."""
        return self.kind not in {"number", "bar"}


class Row(NamedTuple):
    """A row of a table.

    Args:
        cells: one cell per column.
        details: what is shown when the row is unfolded.
        marks: the values by which a page filters rows, by the title of the filter.
    """

    cells: Sequence[AnyCell]
    details: Sequence[RowDetail] = ()
    marks: Mapping[str, Collection[str]] = MappingProxyType({})


@final
class Table(Frozen):
    """A table.

    Args:
        columns: the columns, at least one. If no column has a title, it is a list without header.
        rows: the rows in the order in which they are shown.
        title: the text above the table, with a `{}` for each of the names.
        noun: the noun for a row, for "… 280 more fields".
        max_rows: how many rows are shown at first.
        total: the last row, below a rule, with the statistics of all rows.
        note: a sentence on the rows, right below them.
        perfect_rows: how many rows at the end have no mistakes.
        perfect_level: the level from which rows without mistakes are shown.
        details_of: a suffix of the title of the details if they do not cover everything.
        names: the names that the title quotes.
        brief: the sentence that replaces the table in a brief report.
        level: the level from which the table is shown.
    """

    __slots__ = (
        "brief",
        "columns",
        "details_of",
        "level",
        "max_rows",
        "names",
        "note",
        "noun",
        "perfect_level",
        "perfect_rows",
        "rows",
        "title",
        "total",
    )

    def __init__(
        self,
        columns: Sequence[Column],
        rows: Sequence[Row],
        title: str = "",
        noun: str = "field",
        max_rows: int = _MAX_ROWS,
        total: Sequence[AnyCell] = (),
        note: str = "",
        perfect_rows: int = 0,
        perfect_level: Level = "normal",
        details_of: str = "",
        names: Sequence[str] = (),
        brief: Text | None = None,
        level: Level = "normal",
    ) -> None:
        self.columns: Final = columns
        self.rows: Final = rows
        self.title: Final = title
        self.noun: Final = noun
        self.max_rows: Final = max_rows
        self.total: Final = total
        self.note: Final = note
        self.perfect_rows: Final = perfect_rows
        self.perfect_level: Final = perfect_level
        self.details_of: Final = details_of
        self.names: Final = names
        self.brief: Final = brief
        self.level: Final = level

    @property
    def has_header(self) -> bool:
        """Whether any column has a title."""
        return any(column.title for column in self.columns)

    def titled(self, quoted: Callable[[str], str] = str) -> str:
        """Return the title with quoted names."""
        return self.title.format(*map(quoted, self.names)) if self.names else self.title


# -- charts ------------------------------------------------------------------------------------------------


class Series(NamedTuple):
    """A line of a chart, or a row of a heat map.

    Args:
        name: the name in the legend.
        points: x and y of the points from left to right; y None is a gap.
        is_guide: whether the line is only a reference, such as a diagonal: dashed, and not in terminals.
    """

    name: str
    points: Sequence[tuple[float, float | None]]
    is_guide: bool = False


@final
class Chart(Frozen):
    """A chart.

    Args:
        title: the text above the chart.
        x: the label of the horizontal axis.
        y: the label of the vertical axis.
        series: the lines or rows; a terminal shows the points of the first line in a table.
        kind: lines, the bars of a histogram, or a heat map with a series for each row.
        names: the names of the columns of a heat map.
        marks: positions on the horizontal axis to be marked, such as a threshold, with their labels.
        level: the level from which the chart is shown.
    """

    __slots__ = ("kind", "level", "marks", "names", "series", "title", "x", "y")

    def __init__(
        self,
        title: str,
        x: str,
        y: str,
        series: Sequence[Series],
        kind: Literal["lines", "bars", "heat"] = "lines",
        names: Sequence[str] = (),
        marks: Sequence[tuple[float, str]] = (),
        level: Level = "normal",
    ) -> None:
        self.title: Final = title
        self.x: Final = x
        self.y: Final = y
        self.series: Final = series
        self.kind: Final = kind
        self.names: Final = names
        self.marks: Final = marks
        self.level: Final = level


# -- reports -----------------------------------------------------------------------------------------------

ReportBlock: TypeAlias = "Heading | Text | Statistics | Table | Chart"


@final
class Failure(Frozen):
    """A case that did not pass, with the location and the message of the failure.

    Args:
        case: the case.
        run: the run of the case that is shown.
        path: the file in which it failed, relative to the root of the repository; empty if unknown.
        line: the line in that file, counted from 1.
        message: the failure message of the test, unchanged.
    """

    __slots__ = ("case", "line", "message", "path", "run", "score")

    def __init__(self, case: Case, run: CaseRun, path: str = "", line: int = 1, message: str = "") -> None:
        self.case: Final = case
        self.run: Final = run
        self.score: Final = case.mean("score")
        """The mean of the runs of the case."""
        self.path: Final = path
        self.line: Final = line
        self.message: Final = message

    @property
    def note(self) -> str:
        """Which run is shown, such as "run 2 of 3"; empty for a case that runs once."""
        return "" if self.case.of == 1 else f"run {self.run.number} of {self.case.of}"


@final
class Report(Frozen):
    """A report of a run or a study: blocks in the order verdict, failed cases, fields, statistics.

    Args:
        title: the title of a page, such as "jsonmatch plan".
        about: a line on what the report covers.
        blocks: the blocks from top to bottom; blocks without content are not rendered.
        verdict: "passed", "failed", "undecided", or "" if nothing could fail.
        headline: the verdict in words; empty for a study.
        reasons: the reasons for the verdict; those that count against the run have the tone "bad".
        failures: the cases that failed, the lowest score first.
        origin: the time and the commit of the run, as far as known.
        is_clean: whether nothing failed and nothing is undecided.
        is_perfect: whether the report is clean and all scores are 1.
        made_by: the versions of the packages that made the run.

    >>> from pytest_jsonmatch.report.terminal_style import TerminalStyle
    >>> from pytest_jsonmatch.report.terminal import report_lines
    >>> columns = [Column("field", "name"), Column("auroc")]
    >>> table = Table(columns, [Row(["total", "0.91"]), Row(["date", "0.70"])])
    >>> report = Report("jsonmatch x", "80 answers", [Text("It is fine."), table])
    >>> for line in report_lines(report, TerminalStyle()):
    ...     print("".join(text for text, _ in line))
    80 answers
    <BLANKLINE>
    It is fine.
    <BLANKLINE>
    field  auroc
    total   0.91
    date    0.70
    """

    __slots__ = (
        "about",
        "blocks",
        "failures",
        "headline",
        "is_clean",
        "is_perfect",
        "made_by",
        "origin",
        "reasons",
        "title",
        "verdict",
    )

    def __init__(
        self,
        title: str,
        about: str,
        blocks: Sequence[ReportBlock],
        verdict: str = "",
        headline: str = "",
        reasons: Sequence[Text] = (),
        failures: Sequence[Failure] = (),
        is_clean: bool = True,
        is_perfect: bool = False,
        origin: str = "",
        made_by: str = "",
    ) -> None:
        self.title: Final = title
        self.about: Final = about
        self.blocks: Final = blocks
        self.verdict: Final = verdict
        self.headline: Final = headline
        self.reasons: Final = reasons
        self.failures: Final = failures
        self.is_clean: Final = is_clean
        self.is_perfect: Final = is_perfect
        self.origin: Final = origin
        self.made_by: Final = made_by
