"""A report as one self-contained HTML file: no network, no other file."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from functools import partial
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch._version import __version__
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.blocks import (
    AnyCell,
    Chart,
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

if TYPE_CHECKING:
    from markupsafe import Markup

_MAX_TEXT: Final = 1000
_MAX_TITLE: Final = 40
_MAX_NAME: Final = 32
"""The most characters of the name of a row of a heat map."""
_SHORT: Final = 70
"""Values with at most this many characters together are shown on a line."""
_FEW_ROWS: Final = 8
"""Tables with no more rows can't be filtered."""
_TONES: Final = {"passed": "good", "failed": "bad", "undecided": "open"}


def check_installed() -> None:
    """Raise `ConfigurationError` unless jinja2, which renders pages, is installed."""
    try:
        import jinja2  # noqa: F401 - is it there?
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
    """Return blocks as HTML for a page of others, such as a notebook, with a style but no script.

    Raises:
        ConfigurationError: jinja2 is not installed.
    """
    module: Any = _environment().get_template("blocks.html.jinja").module
    drawn = [_without_script(each) for section in _sections(blocks) for each in section]
    return f'<div class="jsonmatch"><style>{_nested_style()}</style>{module.section(drawn)}</div>'


_HOSTED: Final = {
    ':root:not([data-theme="light"])': '&:not([data-jp-theme-light="true"] *, .vscode-light *)',
    ':root[data-theme="dark"]': ':is([data-jp-theme-light="false"], .vscode-dark) &',
    ":root": "&",
}
"""What selectors of our themes become in notebooks, which have themes of their own."""


def _nested_style() -> str:
    """Return the style of blocks for a part of a page; the id makes it win over the page's own style."""
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
    environment.filters |= {"lines": _lines, "shortened": partial(clip_middle, width=_MAX_NAME)}
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
    """Return a text of several lines, escaped and printable but for its line breaks."""
    from markupsafe import Markup, escape

    return Markup("\n").join(escape(printable(line)) for line in text.split("\n"))


def _quoted(text: Text) -> str | Markup:
    """Return a sentence with its names as code."""
    from markupsafe import Markup

    if not text.names:
        return clip(text.text, _MAX_TEXT)
    names = (Markup("<code>{}</code>").format(clip(name, _MAX_TEXT)) for name in text.names)
    return Markup(text.text).format(*names)  # noqa: S704 - our own text


# -- sections ----------------------------------------------------------------------------------------------


def _sections(blocks: Iterable[ReportBlock]) -> list[list[dict[str, Any]]]:
    """Return blocks as data for the template, in sections: a table or chart with a title begins one."""
    sections: list[list[dict[str, Any]]] = []
    for block in blocks:
        drawn = _drawn(block)
        if not drawn:
            continue
        begins = isinstance(block, (Table, Chart, Heading)) and drawn["title"]
        above = sections[-1][-1]["type"] if sections else ""
        if not sections or begins or (isinstance(block, Statistics) and above != "Statistics"):
            sections.append([])
        # Tables are named by their place, for labels and filters.
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
        statistics = [_statistic(each) for each in block.statistics]
        return {"title": _capital(block.title), "statistics": statistics} if statistics else {}
    if isinstance(block, Chart):
        data = chart_data(block)
        return data and {"title": _capital(block.title), "x": block.x, "y": block.y, "data": data}
    return _table(block) if block.rows else {}


def _capital(text: str) -> str:
    return clip(f"{text[:1].upper()}{text[1:]}", _MAX_TEXT)


def _statistic(of: Any) -> dict[str, Any]:
    if of.interval is None:
        return {"name": of.name, "value": of.value, "note": of.note, "low": None}
    low, value, high = of.interval
    return {
        "name": of.name,
        "value": of.value,
        "note": of.note,
        "low": f"{low * 100:.1f}",
        "width": f"{max(high - low, 0.005) * 100:.1f}",
        "point": f"{value * 98.8:.1f}",
    }


# -- tables ------------------------------------------------------------------------------------------------


def _table(block: Table) -> dict[str, Any]:
    filters = block.filters if len(block.rows) > _FEW_ROWS else {}
    options = {title: sorted({each for row in rows for each in row}) for title, rows in filters.items()}
    options = {title: found for title, found in options.items() if len(found) > 1}
    places = {
        (title, each): place
        for place, (title, each) in enumerate((title, each) for title in options for each in options[title])
    }
    status = block.filters.get("status", ())
    rows = []
    for at, row in enumerate(block.rows):
        chip = next(iter(status[at]), "") if at < len(status) else ""
        rows.append(
            {
                "cells": [_cell(each, block, column) for column, each in enumerate(row)],
                "marks": " ".join(
                    str(places[title, each]) for title in options for each in filters[title][at]
                ),
                "chip": chip,
                "tone": _TONES.get(chip, ""),
                "details": [_detail(each) for each in block.details[at]] if at < len(block.details) else [],
            }
        )
    return {
        # A title may begin with the name of a run, which stays as it is.
        "title": block.titled() if block.title.startswith("{") else _capital(block.titled()),
        "size": count(len(block.rows) + block.hidden, block.noun),
        "columns": [
            (clip_middle(title, _MAX_TEXT if block.is_text(at) else _MAX_TITLE), _kind(block, at))
            for at, title in enumerate(block.columns)
        ],
        "rows": rows,
        "most": block.most,
        "noun": block.noun,
        "can_filter": len(block.rows) > _FEW_ROWS,
        "filters": [
            (title, [(places[title, each], each) for each in found]) for title, found in options.items()
        ],
        "total": [_cell(each, block, column) for column, each in enumerate(block.total)],
        "note": block.note,
        "below": [],
        "below_of": block.details_of,
        "left_out": "",
        "can_open": any(block.details),
        "can_sort": len(rows) > 1,
    }


def _without_script(of: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a block as it is drawn where no script runs: details are below the table."""
    if of["type"] != "Table":
        return {**of, "is_static": True}
    shown = of["rows"][: of["most"]]
    left_out = len(of["rows"]) - len(shown)
    return {
        **of,
        "is_static": True,
        "rows": [{**row, "details": []} for row in shown],
        "left_out": count(left_out, f"more {of['noun']}") if left_out else "",
        "below": [detail for row in shown for detail in row["details"]],
        **dict.fromkeys(("can_filter", "can_open", "can_sort"), False),
    }


def _cell(each: AnyCell, block: Table, column: int) -> dict[str, Any]:
    cell = each if isinstance(each, TableCell) else TableCell(each)
    kind = _kind(block, column)
    return {
        "text": clip(cell.text, _MAX_TEXT),
        "tone": cell.tone,
        "kind": kind,
        "value": cell.value,
        "width": f"{min(max(cell.value or 0.0, 0.0), 1.0) * 60:.1f}",
        "link": cell.link,
    }


def _kind(block: Table, column: int) -> str:
    """Return how the cells of a column are drawn."""
    title = block.columns[column]
    if title == "verdict" or title in block.bars:
        return "verdict" if title == "verdict" else "bar"
    return "text" if block.is_text(column) else "number"


def _detail(of: RowDetail) -> dict[str, Any]:
    return {
        "title": of.title,
        "differences": [_difference(each) for each in of.differences],
        "more": count(of.more, "more difference") if of.more else "",
        "texts": of.texts,
        "notes": [clip(note, _MAX_TEXT) for note in of.notes],
        "documents": of.documents,
    }


def _difference(of: ShownDifference) -> dict[str, Any]:
    expected, actual = _sides(of.expected, of.actual)
    return {
        "path": of.path,
        "status": of.status,
        "times": f"{count(of.times)} times" if of.times > 1 else "",
        "score": "" if of.score is None or of.status != "mismatch" else score_text(of.score),
        "reason": of.reason,
        "actual_path": of.actual_path,
        "expected": expected,
        "actual": actual,
        "is_short": len(of.expected or "") + len(of.actual or "") <= _SHORT,
    }


def _sides(expected: str | None, actual: str | None) -> list[Sequence[DiffSpan] | None]:
    """Return the texts of both sides as spans; in two strings, what only one has is marked."""
    if expected is not None and actual is not None and expected[:1] == actual[:1] == '"':
        different = spans(expected, actual)
        return [[each for each in different if each[0] in {"=", own}] for own in "-+"]
    return [None if text is None else [("=", text)] for text in (expected, actual)]
