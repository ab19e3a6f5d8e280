"""Render a report as Markdown for pull requests and job summaries: readable both as text and rendered.

Everything that comes from data is escaped in code spans or fences, so that it mentions no user and cannot
break a table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from typing import Final, TypeVar

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.blocks import (
    AnyCell,
    Chart,
    Column,
    Heading,
    Report,
    ReportBlock,
    Row,
    Statistics,
    Table,
    TableCell,
    Text,
)
from pytest_jsonmatch.report.case_tables import message_lines
from pytest_jsonmatch.report.escape import clip_middle

T = TypeVar("T")

COMMENT_BYTES: Final = 65_000
"""The most bytes of a report for a comment; GitHub accepts 65,536 characters."""
_OPEN: Final = 15
"""The number of rows of a table that are always visible; the others are folded."""
_STEPS: Final = (10_000, 3_000, 1_000, 300, 100, 30, 10, 3, 1)
"""The limits of rows per table that are tried until the report is short enough."""
_MARKS: Final = {"failed": "❌ ", "passed": "✅ ", "undecided": "⚠️ "}
_SIGNS: Final = {"good": "✅ {}", "bad": "❌ **{}**", "open": "➖ {}"}
"""The text of a verdict, by its tone."""
_MESSAGES: Final = 50
_MESSAGE_LINES: Final = 40
_WIDTH: Final = 120
_NAME_WIDTH: Final = 80
_PLAIN: Final = re.compile(r"(?:[A-Za-z0-9 ,;()%+–-]|\.(?=\d|$)|:(?= |$))+")


def markdown(report: Report, limit: int) -> str:
    """Return a report as Markdown.

    Args:
        report: the report.
        limit: the most bytes of UTF-8; tables are cut to their first rows, and a line counts the others.
    """
    text = ""
    for max_rows in _STEPS:
        text = "\n".join(_lines(report, max_rows)) + "\n"
        if len(text.encode()) <= limit:
            break
    return text


def code(text: str, width: int = _WIDTH) -> str:
    r"""Return text as a code span for use outside of tables, whatever characters it contains.

    >>> print(code("a|b"), code("one `two`"), code("line\nbreak"))
    `a|b` `` one `two` `` `line\nbreak`
    """
    return _span(clip_middle(text, width))


def cell(text: str, width: int = _WIDTH) -> str:
    r"""Return text as a code span for a table, where pipes need a backslash.

    A pipe after a backslash, on which renderers do not agree, is written as an escape.

    >>> print(cell("a|b"), cell("a\\|b"))
    `a\|b` `a\\x7cb`
    """
    shown = re.sub(r"(?<=\\)\|", r"\\x7c", clip_middle(text, width))
    return _span(shown.replace("|", "\\|"))


def _span(shown: str) -> str:
    if not shown.strip():
        shown = f'"{shown}"'
    ticks = "`" * (_longest_ticks(shown) + 1)
    space = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{ticks}{space}{shown}{space}{ticks}"


def _longest_ticks(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _prose(text: str, quote: Callable[[str, int], str] = cell) -> str:
    """Return a note unchanged, or as code if it may contain data."""
    return text if not text or _PLAIN.fullmatch(text) else quote(text, 200)


def _lines(report: Report, max_rows: int) -> Iterator[str]:
    yield f"## {_MARKS.get(report.verdict, '')}jsonmatch: {report.headline}"
    yield ""
    if report.reasons:
        yield "; ".join(map(_reason, report.reasons)) + "."
        yield ""
    if report.about:
        yield from [_prose(report.about, code), ""]
    for block in report.blocks:
        if block.level != "all":
            yield from _block(block, max_rows)


def _reason(reason: Text) -> str:
    text = _sentence(reason)
    return f"**{text}**" if reason.tone == "bad" else text


def _sentence(text: Text) -> str:
    if text.names:
        return text.quoting(code)
    return text.text if _PLAIN.fullmatch(text.text.replace(": ", " ")) else code(text.text, 200)


def _block(block: ReportBlock, max_rows: int) -> Iterator[str]:
    if isinstance(block, Text):
        yield from [_sentence(block), ""] if block.text else []
    elif isinstance(block, Heading):
        yield from [f"### {_prose(block.text, code)}", ""]
    elif isinstance(block, Statistics):
        yield from _statistics(block)
    elif isinstance(block, Table):
        yield from _rows(block, max_rows)
    else:
        yield from _points(block, max_rows)


def _statistics(block: Statistics) -> Iterator[str]:
    if block.title:
        yield from [f"### {_capital(block.title)}", ""]
    rows = [[statistic.value for statistic in block.statistics]]
    if any(statistic.note for statistic in block.statistics):
        rows.append([statistic.note for statistic in block.statistics])
    yield from _table([f"{statistic.name}:" for statistic in block.statistics], rows)


def _points(block: Chart, max_rows: int) -> Iterator[str]:
    """Yield the points of the first line of a chart as a table."""
    from pytest_jsonmatch.report.terminal import chart_table

    yield from _rows(chart_table(block), max_rows)


# -- tables ------------------------------------------------------------------------------------------------


def _headed(title: str, lines: Iterable[str]) -> Iterator[str]:
    yield f"### {title}"
    yield ""
    yield from lines


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a table; columns whose titles end in a colon hold numbers."""
    yield f"| {' | '.join(title.removesuffix(':') for title in header)} |"
    yield f"| {' | '.join('---:' if title.endswith(':') else '---' for title in header)} |"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def _listed(
    header: Sequence[str],
    items: Sequence[T],
    row: Callable[[T], Sequence[str]],
    max_rows: int,
    noun: str,
    *,
    context: str = "",
    total: Sequence[str] | None = None,
) -> Iterator[str]:
    """Yield a table of the first items, a folded table of the others, and a line that counts those cut."""
    shown = items[: min(_OPEN, max_rows)]
    yield from _table(header, [*map(row, shown), *([] if total is None else [total])])
    if more := items[len(shown) : max_rows]:
        yield from _folded(f"{count(len(more))} more", _table(header, map(row, more)))
    if len(items) > max_rows:
        yield from _cut(f"{count(len(items) - max_rows)} of {count(len(items), noun)}{context}")


def _rows(block: Table, max_rows: int) -> Iterator[str]:
    """Yield a table or a list; rows without mistakes and the messages of rows are folded."""
    rows = block.rows[: len(block.rows) - block.perfect_rows]
    perfect_rows = block.rows[len(rows) :] if block.perfect_level != "all" else ()
    if not rows and not perfect_rows:
        return
    if not block.has_header:
        yield from [f"{_capital(_titled(block))}:", ""]
        yield from (
            f"- {' '.join(code(str(table_cell)) for table_cell in row.cells)}" for row in rows[:max_rows]
        )
        yield ""
        if len(rows) > max_rows:
            yield from _cut(count(len(rows) - max_rows))
        return
    if block.title:
        yield from [f"### {_capital(_titled(block))}", ""]

    def cells(row: Row) -> list[str]:
        return [_cell(*pair) for pair in zip(row.cells, block.columns, strict=True)]

    header = [_prose(column.title) + ("" if column.is_text else ":") for column in block.columns]
    total = cells(Row(block.total)) if block.total else None
    yield from _listed(header, rows, cells, max_rows, block.noun, total=total)
    yield from [_prose(block.note, code), ""] if block.note else []
    if perfect_rows:
        summary = f"{count(len(perfect_rows), block.noun)} with score 1"
        if len(perfect_rows) > max_rows:
            summary += f", {count(len(perfect_rows) - max_rows)} of them not shown"
        yield from _folded(summary, _table(header, map(cells, perfect_rows[:max_rows])))
    for row in rows[: min(max_rows, _MESSAGES)]:
        for detail in row.details:
            if detail.message:
                # A summary is HTML, in which Markdown is not rendered.
                name = f"<code>{escape(clip_middle(_text(row.cells[0]), _WIDTH))}</code>"
                yield from _folded(name, _fenced(message_lines(detail.message, _MESSAGE_LINES)))


def _titled(block: Table) -> str:
    return block.titled(code) if block.names else _prose(block.title, code)


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _text(table_cell: AnyCell) -> str:
    return table_cell.text if isinstance(table_cell, TableCell) else table_cell


def _cell(table_cell: AnyCell, column: Column) -> str:
    text, tone = _text(table_cell).lstrip(), table_cell.tone if isinstance(table_cell, TableCell) else ""
    if column.kind == "verdict":  # never data
        return _SIGNS.get(tone, "{}").format(text)
    if column.is_name and tone == "strong":
        return f"**{text}**"
    if not column.is_text or not text or column.kind == "note":
        return _prose(text)
    shown = cell(text, _NAME_WIDTH if column.is_name else _WIDTH)
    return f"[{shown}]({table_cell.link})" if isinstance(table_cell, TableCell) and table_cell.link else shown


def _cut(what: str) -> Iterator[str]:
    yield f"*Cut to keep this short: {what} not shown.*"
    yield ""


def _folded(summary: str, lines: Iterable[str]) -> Iterator[str]:
    yield f"<details><summary>{summary}</summary>"
    yield ""
    yield from lines
    yield "</details>"
    yield ""


def _fenced(lines: Iterable[str]) -> list[str]:
    shown = list(lines)
    fence = "`" * max(3, _longest_ticks("\n".join(shown)) + 1)
    return [f"{fence}text", *shown, fence, ""]
