"""Render a report as one self-contained HTML file, which loads nothing."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from functools import partial
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.blocks import (
    AnyCell,
    Chart,
    Column,
    Heading,
    Report,
    ReportBlock,
    RowDetail,
    ShownDifference,
    Statistics,
    Table,
    TableCell,
    Text,
)
from pytest_jsonmatch.report.charts import chart_data
from pytest_jsonmatch.report.escape import clip, clip_middle, printable
from pytest_jsonmatch.report.formatting import score_text
from pytest_jsonmatch.report.textdiff import DiffSpan, spans
from pytest_jsonmatch.support.version import __version__

if TYPE_CHECKING:
    from markupsafe import Markup

_MAX_TEXT: Final = 1000
_MAX_TITLE: Final = 40
_MAX_NAME: Final = 32
"""The most characters in the name of a heat map's row."""
_SHORT: Final = 70
"""Expected and actual are shown on one line if they have at most this many characters together."""
_LONG: Final = re.compile(r"\S{13,}")
"""A word that a cell of a table may break."""
_PART: Final = re.compile(r"[^./:_\[\]-]{1,24}[./:_\[\]-]*|[./:_\[\]-]+")
"""A part of such a word, which ends behind a separator of paths."""
_FEW_ROWS: Final = 8
"""Tables with at most this many rows have no filters."""
_TONES: Final = {"passed": "good", "failed": "bad", "undecided": "open"}


def check_installed() -> None:
    """Raise `ConfigurationError` unless jinja2, which renders pages, is installed."""
    try:
        import jinja2  # noqa: F401 - to see whether it is installed
    except ImportError:
        message = "an HTML report needs jinja2; install it with: pip install 'pytest-jsonmatch[html]'"
        raise ConfigurationError(message) from None


def html_page(report: Report) -> str:
    """Return a report as an HTML page.

    Raises:
        ConfigurationError: jinja2 is not installed.
    """
    style, script = _file("blocks.css") + _file("report.css"), _file("report.js")
    environment = _environment()
    return str(
        environment.get_template("report.html.jinja").render(
            report=report,
            verdict=_TONES.get(report.verdict, ""),
            reasons=[_quoted(reason) for reason in report.reasons],
            sections=_sections(report.blocks),
            made_by=report.made_by or f"pytest-jsonmatch {__version__}",
            # Our own files, not to be escaped.
            style=_safe(style),
            script=_safe(script),
            policy=_policy(style, script),
        )
    )


def blocks_html(blocks: Iterable[ReportBlock]) -> str:
    """Return blocks as HTML for a part of another page, such as a notebook, with a style but no script.

    Raises:
        ConfigurationError: jinja2 is not installed.
    """
    module: Any = _environment().get_template("blocks.html.jinja").module
    drawn = [_without_script(block) for section in _sections(blocks) for block in section]
    return f'<div class="jsonmatch"><style>{_nested_style()}</style>{module.section(drawn)}</div>'


_HOSTED: Final = {
    ':root:not([data-theme="light"])': '&:not([data-jp-theme-light="true"] *, .vscode-light *)',
    ':root[data-theme="dark"]': ':is([data-jp-theme-light="false"], .vscode-dark) &',
    ":root": "&",
}
"""The selectors of our themes, and what replaces them in notebooks, which have their own themes."""


def _nested_style() -> str:
    """Return the style of blocks for a part of a page; the id gives it priority over the page's own style."""
    style = _file("blocks.css")
    for ours, theirs in _HOSTED.items():
        style = style.replace(ours, theirs)
    return f":is(.jsonmatch, #jsonmatch) {{\n{style}}}\n"


def _environment() -> Any:
    check_installed()
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_file),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Markup, a subclass of str, comes only from our own files, and is escaped.
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    environment.filters |= {
        "lines": _lines,
        "breakable": _breakable,
        "shortened": partial(clip_middle, width=_MAX_NAME),
    }
    return environment


def _file(name: str) -> str:
    text = resources.files("pytest_jsonmatch.report").joinpath("page", name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")  # browsers hash the text with these line breaks


def _safe(text: str) -> Markup:
    from markupsafe import Markup

    return Markup(text)  # noqa: S704 - one of our own files


def _policy(style: str, script: str) -> str:
    style_hash, script_hash = (
        f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in (style, script)
    )
    return (
        f"default-src 'none'; style-src {style_hash}; script-src {script_hash}; "
        "base-uri 'none'; form-action 'none'"
    )


def _lines(text: str) -> Markup:
    """Return a text of several lines, escaped and printable except for its line breaks."""
    from markupsafe import Markup, escape

    return Markup("\n").join(escape(printable(line)) for line in text.split("\n"))


def _breakable(text: str) -> Markup:
    """Return the text of a cell, escaped, with places where its long words may break.

    A column is at least as wide as its longest word, so paths that can break leave room for other columns.
    """
    from markupsafe import Markup, escape

    shown = printable(text)
    # Spaces before an indented name must not break; a printable text has no NUL.
    shown = shown.replace(" ", "\u00a0", len(shown) - len(shown.lstrip(" ")))
    parts = _LONG.sub(lambda word: "\0".join(_PART.findall(word[0])), shown).split("\0")
    return Markup("<wbr>").join(map(escape, parts))


def _quoted(text: Text) -> str | Markup:
    """Return a sentence with its names marked as code."""
    from markupsafe import Markup

    if not text.names:
        return clip(text.text, _MAX_TEXT)
    names = (Markup("<code>{}</code>").format(clip(name, _MAX_TEXT)) for name in text.names)
    return Markup(text.text).format(*names)  # noqa: S704 - our own text


# -- sections ----------------------------------------------------------------------------------------------


def _sections(blocks: Iterable[ReportBlock]) -> list[list[dict[str, Any]]]:
    """Return blocks as data for the template, in sections; each titled table, chart or heading starts one."""
    sections: list[list[dict[str, Any]]] = []
    for block in blocks:
        drawn = _drawn(block)
        if not drawn:
            continue
        begins = isinstance(block, (Table, Chart, Heading)) and drawn["title"]
        above = sections[-1][-1]["type"] if sections else ""
        if not sections or begins or (isinstance(block, Statistics) and above != "Statistics"):
            sections.append([])
        # Blocks are named by their position, for labels and filters.
        name = f"part-{sum(map(len, sections)) + 1}"
        sections[-1].append({"type": type(block).__name__, "id": name, "is_static": False, **drawn})
    return sections


def _drawn(block: ReportBlock) -> dict[str, Any]:
    """Return the data of a block for the template; empty if there is nothing to draw."""
    if isinstance(block, Heading):
        return {"title": block.text}
    if isinstance(block, Text):
        return {"text": _quoted(block), "tone": block.tone} if block.text else {}
    if isinstance(block, Statistics):
        statistics = [_statistic(statistic) for statistic in block.statistics]
        return {"title": _capital(block.title), "statistics": statistics} if statistics else {}
    if isinstance(block, Chart):
        data = chart_data(block)
        return data and {"title": _capital(block.title), "x": block.x, "y": block.y, "data": data}
    return _table(block) if block.rows else {}


def _capital(text: str) -> str:
    return clip(f"{text[:1].upper()}{text[1:]}", _MAX_TEXT)


def _statistic(statistic: Any) -> dict[str, Any]:
    if statistic.interval is None:
        return {"name": statistic.name, "value": statistic.value, "note": statistic.note, "low": None}
    low, value, high = statistic.interval
    return {
        "name": statistic.name,
        "value": statistic.value,
        "note": statistic.note,
        "low": f"{low * 100:.1f}",
        "width": f"{max(high - low, 0.005) * 100:.1f}",
        "point": f"{value * 98.8:.1f}",
    }


# -- tables ------------------------------------------------------------------------------------------------


def _table(block: Table) -> dict[str, Any]:
    values: dict[str, set[str]] = {}
    for row in block.rows if len(block.rows) > _FEW_ROWS else ():
        for title, marks in row.marks.items():
            values.setdefault(title, set()).update(marks)
    options = {title: sorted(found) for title, found in values.items() if len(found) > 1}
    places = {
        (title, value): place
        for place, (title, value) in enumerate(
            (title, value) for title in options for value in options[title]
        )
    }
    rows = []
    for row in block.rows:
        chip = next(iter(row.marks.get("status", ())), "")
        marks = [str(places[title, value]) for title in options for value in row.marks.get(title, ())]
        rows.append(
            {
                "cells": _cells(row.cells, block.columns),
                "marks": " ".join(marks),
                "chip": chip,
                "tone": _TONES.get(chip, ""),
                "details": [_detail(detail) for detail in row.details],
            }
        )
    return {
        # A title may start with the name of a run, whose case must not change.
        "title": block.titled() if block.title.startswith("{") else _capital(block.titled()),
        "size": count(len(block.rows), block.noun),
        "columns": [
            (clip_middle(column.title, _MAX_TEXT if column.is_text else _MAX_TITLE), _kind(column))
            for column in block.columns
        ],
        "rows": rows,
        "max_rows": block.max_rows,
        "noun": block.noun,
        "can_filter": len(block.rows) > _FEW_ROWS,
        "filters": [
            (title, [(places[title, value], value) for value in found]) for title, found in options.items()
        ],
        "total": _cells(block.total, block.columns) if block.total else [],
        "note": block.note,
        "below": [],
        "below_of": block.details_of,
        "left_out": "",
        "can_open": any(row.details for row in block.rows),
        "can_sort": len(rows) > 1,
    }


def _without_script(data: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a block for a page without a script, where details are below the table."""
    if data["type"] != "Table":
        return {**data, "is_static": True}
    shown = data["rows"][: data["max_rows"]]
    left_out = len(data["rows"]) - len(shown)
    return {
        **data,
        "is_static": True,
        "rows": [{**row, "details": []} for row in shown],
        "left_out": count(left_out, f"more {data['noun']}") if left_out else "",
        "below": [detail for row in shown for detail in row["details"]],
        **dict.fromkeys(("can_filter", "can_open", "can_sort"), False),
    }


def _cells(cells: Sequence[AnyCell], columns: Sequence[Column]) -> list[dict[str, Any]]:
    return [_cell(cell, _kind(column)) for cell, column in zip(cells, columns, strict=True)]


def _cell(content: AnyCell, kind: str) -> dict[str, Any]:
    cell = content if isinstance(content, TableCell) else TableCell(content)
    return {
        "text": clip(cell.text, _MAX_TEXT),
        "tone": cell.tone,
        "kind": kind,
        "value": cell.value,
        "width": f"{min(max(cell.value or 0.0, 0.0), 1.0) * 60:.1f}",
        "link": cell.link,
    }


def _kind(column: Column) -> str:
    """Return how the cells of a column are drawn."""
    return "text" if column.is_text and column.kind != "verdict" else column.kind


def _detail(detail: RowDetail) -> dict[str, Any]:
    return {
        "title": detail.title,
        "differences": [_difference(difference) for difference in detail.differences],
        "more": count(detail.more, "more difference") if detail.more else "",
        "texts": detail.texts,
        "notes": [clip(note, _MAX_TEXT) for note in detail.notes],
        "documents": detail.documents,
    }


def _difference(difference: ShownDifference) -> dict[str, Any]:
    expected, actual = _sides(difference.expected, difference.actual)
    return {
        "path": difference.path,
        "status": difference.status,
        "times": f"{count(difference.times)} times" if difference.times > 1 else "",
        "score": ""
        if difference.score is None or difference.status != "mismatch"
        else score_text(difference.score),
        "reason": difference.reason,
        "actual_path": difference.actual_path,
        "expected": expected,
        "actual": actual,
        "is_short": len(difference.expected or "") + len(difference.actual or "") <= _SHORT,
    }


def _sides(expected: str | None, actual: str | None) -> list[Sequence[DiffSpan] | None]:
    """Return the texts of both sides as spans; if both are strings, the parts of only one side are marked."""
    if expected is not None and actual is not None and expected[:1] == actual[:1] == '"':
        different = spans(expected, actual)
        return [[span for span in different if span[0] in {"=", kind}] for kind in "-+"]
    return [None if text is None else [("=", text)] for text in (expected, actual)]
