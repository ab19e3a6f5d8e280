"""Blocks: what a report consists of. They are built once, and rendered as text, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeAlias, final

from pytest_jsonmatch.report.formatting import score_text, tone_of

Level: TypeAlias = Literal["brief", "normal", "all"]
"""How much of a report is shown: a line or two, what needs attention, or everything (on a page)."""
_MOST_ROWS: Final = 20


class Heading(NamedTuple):
    """The title of the blocks that follow."""

    text: str
    level: Level = "normal"


class Text(NamedTuple):
    """A sentence or a paragraph; if there are names, the text has a `{}` for each of them."""

    text: str
    tone: str = ""
    names: Sequence[str] = ()
    level: Level = "normal"

    def quoting(self, quoted: Callable[[str], str] = "`{}`".format) -> str:
        """Return the whole text, with quoted names."""
        return self.text.format(*map(quoted, self.names)) if self.names else self.text


class Statistic(NamedTuple):
    """A single statistic: its name, its value, and a note, such as its interval."""

    name: str
    value: str
    note: str = ""
    interval: tuple[float, float, float] | None = None
    """The lower end, the value and the upper end, from 0 to 1."""


class Statistics(NamedTuple):
    """Statistics of the same things, which the title names: cards on a page, lines in a terminal."""

    statistics: Sequence[Statistic]
    title: str = ""
    level: Level = "normal"


# -- tables ------------------------------------------------------------------------------------------------


class TableCell(NamedTuple):
    """A cell of text with a tone, sorted by its value if it has one."""

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
    """An expected and an actual value that differ, as JSON text; None for a side that is not there."""

    path: str
    status: str
    expected: str | None
    actual: str | None
    times: int = 1
    score: float | None = None
    reason: str = ""
    actual_path: str = ""


@final
@dataclass(frozen=True, slots=True)
class RowDetail:
    """What a row of a table unfolds to.

    Args:
        title: what it is about, such as "run 2 of 3".
        differences: the values that differ.
        more: how many differences were left out.
        message: the failure message of a test.
        texts: titles and texts, such as the input and the raw answer.
        notes: errors and warnings.
        documents: expected and actual as JSON text; None for a side that is not there.
    """

    title: str = ""
    differences: Sequence[ShownDifference] = ()
    more: int = 0
    message: str = ""
    texts: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()
    documents: tuple[str | None, str | None] | None = None


@final
@dataclass(frozen=True, slots=True)
class Table:
    """A table. The first column has names, such as paths of fields.

    Args:
        columns: the title of each; at least one. If all are empty, the rows are a list without a header.
        rows: each with one cell per column, in the order in which they are shown.
        title: the text above the table, with a `{}` for each of the names.
        noun: what a row is, for "… 280 more fields".
        most: how many rows are shown at first.
        text: columns that hold text, not numbers: left-aligned, and cut where room is short.
        spare: columns that a narrow terminal may leave out, the one with the greatest number first.
        not_in_terminal: columns that a terminal never shows: pytest has shown these places.
        bars: columns of numbers from 0 to 1 for which a page draws bars.
        hidden: how many further rows were left out before.
        total: the last row, below a rule, with the statistics of all rows.
        note: a sentence on the rows, right below them.
        fine: how many rows at the end have nothing wrong in them.
        fine_level: the level from which these are shown.
        details: what each row unfolds to; shorter than the rows if the last ones have no details.
        details_of: what the details cover, if that is not everything.
        filters: what rows can be filtered by: a title, and the values of each row.
        names: what the title quotes.
        brief: the sentence that stands for the table in a brief report.
        node_ids: whether the first column has node ids, which a terminal shows as pytest takes them.
        uncut: whether texts are never cut: node ids are there to be copied.
        level: the level from which it is shown.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[AnyCell]]
    title: str = ""
    noun: str = "field"
    most: int = _MOST_ROWS
    text: Collection[str] = ()
    spare: Mapping[str, int] = field(default_factory=dict)
    not_in_terminal: Collection[str] = ()
    bars: Collection[str] = ()
    hidden: int = 0
    total: Sequence[AnyCell] = ()
    note: str = ""
    fine: int = 0
    fine_level: Level = "normal"
    details: Sequence[Sequence[RowDetail]] = ()
    details_of: str = ""
    filters: Mapping[str, Sequence[Collection[str]]] = field(default_factory=dict)
    names: Sequence[str] = ()
    brief: Text | None = None
    node_ids: bool = False
    uncut: bool = False
    level: Level = "normal"

    def titled(self, quoted: Callable[[str], str] = str) -> str:
        """Return the title, with quoted names."""
        return self.title.format(*map(quoted, self.names)) if self.names else self.title

    def is_text(self, column: int) -> bool:
        """Return whether a column holds text."""
        return not column or self.columns[column] in self.text


# -- charts ------------------------------------------------------------------------------------------------


class Series(NamedTuple):
    """A line of a chart, or a row of a heat map.

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
    """A chart.

    Args:
        title: the text above the chart.
        x: the label of the horizontal axis.
        y: the label of the vertical axis.
        series: what is drawn; a terminal shows the points of the first line in a table.
        kind: lines; bars, as of a histogram; or a heat map, with a series for each of its rows.
        names: of the columns of a heat map.
        marks: places on the horizontal axis to be marked, such as a threshold, with their labels.
        level: the level from which it is shown.
    """

    title: str
    x: str
    y: str
    series: Sequence[Series]
    kind: Literal["lines", "bars", "heat"] = "lines"
    names: Sequence[str] = ()
    marks: Sequence[tuple[float, str]] = ()
    level: Level = "normal"


# -- reports -----------------------------------------------------------------------------------------------

ReportBlock: TypeAlias = "Heading | Text | Statistics | Table | Chart"


@final
@dataclass(frozen=True, slots=True)
class Failure:
    """A case that failed: how, and where to look.

    Args:
        case: the case's id.
        score: its score, the mean of its runs.
        path: the file in which it failed, from the root of the repository; empty if that is unknown.
        line: the line in that file, counted from 1.
        message: the failure message of the test, unchanged.
        note: the run that is shown, such as "run 2 of 3"; empty for a case that runs once.
    """

    case: str
    score: float
    path: str = ""
    line: int = 1
    message: str = ""
    note: str = ""


@final
@dataclass(frozen=True, slots=True)
class Report:
    """A report of a run or of a study: blocks, in the order verdict, failing cases, fields, statistics.

    Args:
        title: the title of a page, such as "jsonmatch plan".
        about: what the report covers, in a line.
        blocks: from top to bottom; those without content are left out.
        verdict: "passed", "failed", "undecided", or "" if nothing could fail.
        headline: the verdict in words; empty for a study.
        reasons: the reasons for the verdict; those that count against the run have the tone "bad".
        failures: the cases that failed, the lowest score first.
        origin: when and from which commit the run was made, as far as that is known.
        is_clean: whether nothing failed and nothing is undecided.
        is_perfect: whether all scores are 1, too.
        made_by: the versions that the run was made with.

    >>> from pytest_jsonmatch.report.terminal_style import TerminalStyle
    >>> from pytest_jsonmatch.report.terminal import report_lines
    >>> table = Table(["field", "auroc"], [["total", "0.91"], ["date", "0.70"]])
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

    title: str
    about: str
    blocks: Sequence[ReportBlock]
    verdict: str = ""
    headline: str = ""
    reasons: Sequence[Text] = ()
    failures: Sequence[Failure] = ()
    is_clean: bool = True
    is_perfect: bool = False
    origin: str = ""
    made_by: str = ""
