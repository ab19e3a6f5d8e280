"""Render a report as lines of text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.blocks import (
    AnyCell,
    Chart,
    Column,
    Heading,
    Report,
    ReportBlock,
    Row,
    ShownDifference,
    Statistics,
    Table,
    TableCell,
    Text,
)
from pytest_jsonmatch.report.escape import display_width
from pytest_jsonmatch.report.formatting import score_text
from pytest_jsonmatch.report.styled import BOLD, DIM, PLAIN, TONES, StyledLine, line_width
from pytest_jsonmatch.report.terminal_style import Layout, TerminalStyle
from pytest_jsonmatch.results.comparison import Difference
from pytest_jsonmatch.support.frozen import replace

_SMALL: Final = 0.2
"""Charts whose scale ends at or below this show one more decimal."""
_MAX_POINTS: Final = 12
_ROWS_OF_TEXT: Final = 6
_MAX_TITLE: Final = 20
"""The most columns for the title of a column of numbers."""
_MIN_WIDTH: Final = 20
_DIFFERENCES: Final = 3
"""At most this many differences of a row are shown."""
_MAX_DIFFERING: Final = 30
"""With `-v`, the differences of at most this many rows are shown."""
_GAPS: Final = 4
"""The columns around the path of a difference."""


def report_lines(report: Report, style: TerminalStyle) -> list[StyledLine]:
    """Return a report as lines: its extent, its verdict, and its blocks."""
    lines = _text_lines(", ".join(filter(None, (report.about, report.origin))), style, BOLD)
    if style.mode == "all" and report.headline:
        lines += _text_lines(report.made_by, style, DIM)
    if report.headline:
        reasons = "; ".join(reason.quoting() for reason in report.reasons)
        text = f"{report.headline}: {reasons}" if reasons else report.headline
        lines += _text_lines(text, style, TONES[_VERDICT_TONES.get(report.verdict, "")])
    below = blocks_lines(report, style, is_of_command=True)
    return [*lines, *([[]] if lines and below else []), *below]


_VERDICT_TONES: Final = {"failed": "bad", "passed": "good", "undecided": "open"}


def blocks_lines(
    report: Report, style: TerminalStyle, *, is_brief: bool | None = None, is_of_command: bool = False
) -> list[StyledLine]:
    """Return the blocks of a report as lines.

    In mode "auto" a report with nothing to fix is brief: one line for each metric.

    Args:
        report: the report.
        style: the style of the lines; none is wider than the terminal, or than 20 columns if it is narrower.
        is_brief: whether to be brief if nothing failed; None: only if all scores are 1, too.
        is_of_command: whether the report is the output of a command, which shows more than a test run.
    """
    if style.mode == "none":
        return []
    style = replace(style, width=max(style.width, _MIN_WIDTH))
    if style.mode == "failed" and report.is_perfect:
        return joined_blocks((block for block in report.blocks if block.level == "brief"), style)
    enough = report.is_perfect or (is_brief and report.is_clean)
    if style.mode == "auto" and is_brief is not False and enough:
        return joined_blocks(brief_blocks(report, has_intervals=is_brief is None), style)
    shows_all = is_brief is False or style.mode == "all"
    levels = {"brief", "normal", *(("more",) if shows_all or is_of_command else ())}
    shown = (
        block for block in report.blocks if block.level in levels or (shows_all and isinstance(block, Text))
    )
    return joined_blocks(shown, style, shows_all=shows_all)


def brief_blocks(report: Report, *, has_intervals: bool = False) -> Iterator[ReportBlock]:
    """Yield the blocks of a brief report: a sentence for each table, and the blocks that are always shown."""
    for block in report.blocks:
        is_sure = isinstance(block, Statistics) and any(statistic.note for statistic in block.statistics)
        if block.level == "brief" or (has_intervals and is_sure):
            yield block
        elif isinstance(block, Table) and block.brief is not None:
            yield block.brief


def joined_blocks(
    blocks: Iterable[ReportBlock], style: TerminalStyle, *, shows_all: bool = False
) -> list[StyledLine]:
    """Return blocks as lines, with an empty line between blocks except for sentences and single lines.

    With `shows_all`, the differences in several rows of a table are shown, not only those in the first.
    """
    lines: list[StyledLine] = []
    above: tuple[type[ReportBlock], bool] | None = None
    for block in blocks:
        if block_text := block_lines(block, style, shows_all=shows_all):
            # Sentences follow each other without a gap, and so do statistics on a single line.
            kind = (
                type(block),
                isinstance(block, Text) or (isinstance(block, Statistics) and len(block_text) == 1),
            )
            lines += block_text if not lines or (kind == above and kind[1]) else [[], *block_text]
            above = kind
    return lines


def block_lines(block: ReportBlock, style: TerminalStyle, *, shows_all: bool = False) -> list[StyledLine]:
    """Return a block as lines for a terminal."""
    if isinstance(block, Heading):
        return _text_lines(block.text, style, BOLD)
    if isinstance(block, Text):
        return _text_lines(block.quoting(), style, TONES[block.tone])
    if isinstance(block, Statistics):
        return _statistics_lines(block, style)
    if isinstance(block, Table):
        return _table_lines(block, style, shows_all=shows_all)
    return _chart_lines(block, style)


def _text_lines(text: str, style: TerminalStyle, markup: dict[str, bool]) -> list[StyledLine]:
    return style.folded(style.printable(text), _ROWS_OF_TEXT, markup) if text else []


def _statistics_lines(block: Statistics, style: TerminalStyle) -> list[StyledLine]:
    if not any(statistic.note for statistic in block.statistics) and block.title:
        values = ", ".join(
            f"{statistic.name} {style.printable(statistic.value)}" for statistic in block.statistics
        )
        return _text_lines(f"{block.title}: {values}", style, PLAIN)
    rows = [
        [
            (statistic.name, PLAIN),
            (style.printable(statistic.value), BOLD),
            (style.printable(statistic.note), DIM),
        ]
        for statistic in block.statistics
    ]
    lines = Layout(rows, style, texts={0: 0.5, 1: 1, 2: 1}, indent="  ").lines()
    return [*_text_lines(f"{block.title}:" if block.title else "", style, BOLD), *lines]


# -- tables ------------------------------------------------------------------------------------------------


def _table_lines(block: Table, style: TerminalStyle, *, shows_all: bool) -> list[StyledLine]:
    rows = block.rows
    if style.mode == "failed" or (block.perfect_level == "all" and style.mode != "all"):
        rows = rows[: len(rows) - block.perfect_rows]
    if not rows:
        return []
    shown = rows[: None if style.mode == "all" else block.max_rows]
    has_header = block.has_header
    columns = [column for column in block.columns if column.kind != "place"]
    header = [
        (style.middle(column.title, style.width if column.is_text else _MAX_TITLE), BOLD)
        for column in columns
    ]
    cells: list[StyledLine] = [header] if has_header else []
    cells += [_cells(row.cells, block.columns, style) for row in shown]
    cells += [_cells(block.total, block.columns, style)] if block.total else []
    layout = Layout(
        cells,
        style,
        texts={at: 0.5 if column.is_name else 1.0 for at, column in enumerate(columns) if column.is_text},
        uncut=[at for at, column in enumerate(columns) if column.uncut or column.kind == "verdict"],
        has_header=has_header,
        indent="" if has_header else "  ",
    )
    spare = {at: column.spare for at, column in enumerate(columns) if column.spare is not None}
    needed = layout.full_width
    left_out = layout.leave_out(sorted(spare, key=lambda at: -spare[at]))
    lines = layout.uncut_lines() if columns[0].uncut else layout.lines(node_ids=columns[0].kind == "node id")
    rule: StyledLine = [(("─" if style.unicode else "-") * max(map(line_width, lines)), DIM)]
    below = [rule, lines.pop()] if block.total else []
    hidden = len(rows) - len(shown)
    more = [style.more(count(hidden, f"more {block.noun}"))] if hidden else []
    title = block.titled()
    title += ":" if title and not has_header else ""
    below += _text_lines(block.note, style, PLAIN)
    if left_out:
        names = ", ".join(style.middle(columns[at].title, _MAX_TITLE) for at in left_out)
        text = f"{style.mark} {count(len(left_out), 'more column')}: {names} ({needed} columns wide)"
        below += style.folded(text, 2, DIM, indent="  ")
    return [
        *_text_lines(title, style, BOLD),
        *lines,
        *more,
        *below,
        *_differences(block, style, shows_all=shows_all),
    ]


def _cells(cells: Sequence[AnyCell], columns: Sequence[Column], style: TerminalStyle) -> StyledLine:
    """Return the cells of a row in the columns that a terminal shows."""
    return [
        _cell(cell, column, style)
        for cell, column in zip(cells, columns, strict=True)
        if column.kind != "place"
    ]


def _cell(cell: AnyCell, column: Column, style: TerminalStyle) -> tuple[str, dict[str, bool]]:
    known = cell if isinstance(cell, TableCell) else TableCell(cell)
    if column.kind == "node id":
        return style.printable(style.node_id(known.text)), TONES[known.tone]
    is_dash = known.text == score_text(None)
    return style.score(None) if is_dash else style.printable(known.text), TONES[known.tone]


# -- differences -------------------------------------------------------------------------------------------


def _differences(block: Table, style: TerminalStyle, *, shows_all: bool) -> list[StyledLine]:
    """Return the most frequent differences in the first row that has any, or in several rows."""
    # A page lists the differences of each case; in a terminal, the failure message shows them.
    rows = () if block.perfect_level == "all" else block.rows
    with_any = [found for row in rows for detail in row.details if (found := detail.differences)]
    number = None if style.mode == "all" else _MAX_DIFFERING if shows_all else 1
    found = [difference for several in with_any[:number] for difference in several[:_DIFFERENCES]]
    if not found:
        return []
    paths = [style.middle(difference.path, style.width // 3) for difference in found]
    room = max(style.width - max(map(display_width, paths)) - _GAPS, _MIN_WIDTH)
    lines: list[StyledLine] = [
        [
            ("" if path == above else path, PLAIN),
            (style.printable(difference_text(difference, style, room)), PLAIN),
        ]
        for above, path, difference in zip(["", *paths], paths, found, strict=False)
    ]
    title = f"differences, expected {style.arrow} actual{block.details_of}:"
    lines = Layout(lines, style, texts={0: 0.5, 1: 1.0}, indent="  ").lines()
    hidden = len(with_any[number:]) if number else 0
    more = [style.more(count(hidden, f"more {block.noun}"))] if hidden else []
    return [[], *_text_lines(title, style, BOLD), *lines, *more]


def difference_text(difference: ShownDifference, style: TerminalStyle, room: int) -> str:
    """Return both values in at most `room` columns, or the only value and its status."""
    times = f"  {style.times}{count(difference.times)}" if difference.times > 1 else ""
    room -= len(times)
    sides = [side for side in (difference.expected, difference.actual) if side is not None]
    if len(sides) == 1:
        return f"{_side(sides[0], style, room - len(difference.status) - 1)} {difference.status}{times}"
    room -= len(f" {style.arrow} ")
    limit = max(room // 2, room - min(map(len, sides)))
    if sum(map(len, sides)) > room:
        cut = Difference(difference.expected, difference.actual).cut(limit - 2 * len(style.mark) + 2)
        sides = [side or "" for side in cut[:2]]
    return f" {style.arrow} ".join(_side(side, style, limit) for side in sides) + times


def _side(text: str, style: TerminalStyle, room: int) -> str:
    return style.clip(text.replace("…", style.mark), room)


# -- charts ------------------------------------------------------------------------------------------------


def _chart_lines(chart: Chart, style: TerminalStyle) -> list[StyledLine]:
    return [] if chart.level == "all" else block_lines(chart_table(chart), style)


def chart_table(chart: Chart) -> Table:
    """Return the points of the first line of a chart as a table."""
    first = next((series.points for series in chart.series if not series.is_guide), ())
    digits = 2 if highest(chart) > _SMALL else 3
    points = [(x, y) for x, y in first if y is not None]
    places = [place_text(x) for x, _ in points]
    decimals = max((len(text.partition(".")[2]) for text in places), default=0)
    rows = [
        Row([f"{x:.{decimals}f}" if decimals else text, score_text(y, digits)])
        for text, (x, y) in zip(places, points, strict=True)
    ]
    return Table((Column(chart.x, "name"), Column(chart.y)), rows, chart.title, "point", _MAX_POINTS)


def highest(chart: Chart) -> float:
    """Return the top of the vertical scale of a chart: 1 if the highest value is between 0.5 and 1.

    >>> from pytest_jsonmatch.report.blocks import Series
    >>> highest(Chart("", "x", "y", [Series("", [(0, 0.1), (1, 0.8)])]))
    1.0
    """
    values = [y for series in chart.series for _, y in series.points if y is not None]
    max_rows = max(values, default=1.0)
    return 1.0 if 0.5 < max_rows <= 1 else max_rows * 1.1 or 1.0


def place_text(x: float) -> str:
    """Return a position on an axis as text: a whole number, or up to three significant digits.

    >>> place_text(1200), place_text(0.25), place_text(1.0)
    ('1,200', '0.25', '1')
    """
    return count(int(x)) if x == int(x) else f"{x:.3g}"
