"""Render a run or a comparison for notebooks: its statistics and fields, as blocks of a report."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.blocks import Text
from pytest_jsonmatch.report.build import left_out_note, statistics_blocks, unanswered_note
from pytest_jsonmatch.report.fields import field_blocks
from pytest_jsonmatch.report.html import blocks_html
from pytest_jsonmatch.report.styled import line_text
from pytest_jsonmatch.report.tables import tag_blocks
from pytest_jsonmatch.report.terminal import joined_blocks
from pytest_jsonmatch.report.terminal_style import TerminalStyle
from pytest_jsonmatch.results.comparison import Case, Comparison
from pytest_jsonmatch.results.run import RunResult
from pytest_jsonmatch.support.frozen import replace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.report.blocks import ReportBlock

_WIDTH: Final = 120
"""The width of text in columns."""
_MAX_CASES: Final = 1_000
"""If more records are kept, only the lowest-scoring ones become cases, to save time."""


def run_html(run: RunResult) -> str:
    """Return a run as HTML; if jinja2 is not installed, as text in HTML."""
    blocks = list(_blocks(run))
    try:
        return blocks_html(blocks)
    except ConfigurationError:
        text = "\n".join(map(line_text, joined_blocks(blocks, TerminalStyle(width=_WIDTH))))
        return f"<pre>{escape(text)}</pre>"


def match_html(result: MatchResult) -> str:
    """Return a comparison as HTML: a run of a single case."""
    comparison = Comparison.of(result, id="", nodeid="", threshold={}, passed=True)
    return run_html(RunResult.of_cases([Case.single(comparison)]))


def _blocks(run: RunResult) -> Iterator[ReportBlock]:
    if len(run.records) > _MAX_CASES:
        run = replace(run, records=run.worst)
    if not run.total_records:
        yield Text("nothing was compared")
    yield from statistics_blocks(run, 0.95, has_intervals=True)
    if run.total_unanswered:
        yield Text(unanswered_note(run) or f"{count(run.total_unanswered)} unanswered", "open")
    yield from field_blocks(run, {})
    for name in dict.fromkeys(tag.partition("=")[0] for tag in run.tags):
        yield from tag_blocks(run, name)
    yield Text(left_out_note(run), "open")
