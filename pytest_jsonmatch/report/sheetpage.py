"""Sheets as one HTML file each: no network, no other file, no script."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import ceil, floor, log10
from typing import Any, Final

from pytest_jsonmatch._version import __version__
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.escape import clip, clip_middle
from pytest_jsonmatch.report.pages import check_cells, rendered
from pytest_jsonmatch.report.sheets import (
    MAX_TITLE,
    AnySheetCell,
    Chart,
    Gates,
    Rows,
    Sentence,
    Series,
    Sheet,
    SheetBlock,
    SheetCell,
    highest,
    place_text,
)

# The plot's box in the template's chart of 720 × 280.
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 700, 34, 236
_COLOURS: Final = 6
_MOST_DOTS: Final = 24
_TICKS: Final = 5
_MAX_TEXT: Final = 1000


def sheet_page(sheet: Sheet) -> str:
    """Return a sheet as HTML text.

    Raises:
        ConfigurationError: jinja2 is not installed.
    """
    return rendered(
        "sheet.html.jinja",
        styles=("report.css", "sheet.css"),
        sheet=sheet,
        sections=sections_of_page(sheet.blocks),
        made=f"pytest-jsonmatch {__version__}",
    )


def sections_of_page(blocks: Iterable[SheetBlock]) -> list[list[tuple[str, Any]]]:
    """Return blocks as data for the templates, in sections: a block with a title begins a new one."""
    sections: list[list[tuple[str, Any]]] = []
    for block in blocks:
        drawn = _drawn(block)
        if not drawn:
            continue
        if not sections or isinstance(block, Gates) or (isinstance(block, (Rows, Chart)) and block.title):
            sections.append([])
        sections[-1].append((type(block).__name__, drawn))
    return sections


def _drawn(block: SheetBlock) -> Any:
    """Return the data of a block for the template; empty if there is nothing to draw."""
    if isinstance(block, Gates):
        return block.checks and {"on": block.on, "checks": [check_cells(check) for check in block.checks]}
    if isinstance(block, Rows):
        return block.rows and _table(block)
    if isinstance(block, Chart):
        return _chart(block)
    if isinstance(block, Sentence):
        return block.text and {"text": _said(block), "tone": block.tone}
    return block.figures


def _said(block: Sentence) -> str:
    """Return the text of a sentence, with its names as code."""
    from markupsafe import Markup

    if not block.names:
        return clip(block.text, _MAX_TEXT)
    names = (Markup("<code>{}</code>").format(clip(name, _MAX_TEXT)) for name in block.names)
    return Markup(block.text).format(*names)  # noqa: S704 - our own text


# -- tables ------------------------------------------------------------------------------------------------


def _table(block: Rows) -> dict[str, object]:
    is_text = [title in block.text or not at for at, title in enumerate(block.columns)]
    return {
        "title": clip(f"{block.title[:1].upper()}{block.title[1:]}", _MAX_TEXT),
        "size": count(len(block.rows), block.noun),
        "columns": [
            (clip_middle(title, _MAX_TEXT if text else MAX_TITLE), text)
            for title, text in zip(block.columns, is_text, strict=True)
        ],
        "rows": [list(map(_cell, row, is_text)) for row in (*block.rows, block.total) if row],
    }


def _cell(cell: AnySheetCell, is_text: bool) -> dict[str, object]:
    told = cell if isinstance(cell, SheetCell) else SheetCell(cell)
    return {"text": clip(told.text, _MAX_TEXT), "tone": told.tone, "is_text": is_text}


# -- charts ------------------------------------------------------------------------------------------------


def _chart(chart: Chart) -> dict[str, object]:
    every = [x for series in chart.series for x, y in series.points if y is not None]
    if not every:
        return {}
    first, last = min(every), max(every)
    span = last - first or 1.0
    # No ticks between whole numbers, such as those of runs.
    least = float(all(x == int(x) for x in every))
    top = highest(chart)

    def across(x: float) -> float:
        return round(_LEFT + (_RIGHT - _LEFT) * (x - first) / span, 1)

    def up(y: float) -> float:
        return round(_BOTTOM - (_BOTTOM - _TOP) * min(max(y, 0.0), top) / top, 1)

    coloured = [series for series in chart.series if not series.is_guide]
    kinds = ["guide" if each.is_guide else f"s{coloured.index(each) % _COLOURS}" for each in chart.series]
    return {
        "chart": chart,
        "box": {"left": _LEFT, "right": _RIGHT, "top": _TOP, "bottom": _BOTTOM},
        "legend": [(kind, each.name) for kind, each in zip(kinds, chart.series, strict=True) if each.name],
        "x_ticks": [(across(x), place_text(x)) for x in _round_numbers(first, last, least)],
        "y_ticks": [(up(y), place_text(y)) for y in _round_numbers(0.0, top)],
        "lines": [_series(each, kind, across, up) for kind, each in zip(kinds, chart.series, strict=True)],
    }


def _series(series: Series, kind: str, across: Any, up: Any) -> dict[str, object]:
    places = [(across(x), None if y is None else up(y)) for x, y in series.points]
    known = [(x, y) for x, y in series.points if y is not None]
    # Where points are close together, dots would hide the line.
    dots = known if len(known) <= _MOST_DOTS and not series.is_guide else []
    return {
        "kind": kind,
        "polylines": list(_polylines(places)),
        "dots": [(across(x), up(y), f"{place_text(x)}: {y:.4g}") for x, y in dots],
    }


def _polylines(places: Sequence[tuple[float, float | None]]) -> Iterator[str]:
    """Yield the lines between gaps."""
    run: list[tuple[float, float]] = []
    for x, y in [*places, (0.0, None)]:
        if y is not None:
            run.append((x, y))
        elif run:
            yield " ".join(f"{x:g},{y:g}" for x, y in run)
            run = []


def _round_numbers(first: float, last: float, least: float = 0.0) -> list[float]:
    """Return about five round numbers from first to last, at least `least` apart.

    >>> _round_numbers(0.0, 1.0), _round_numbers(3, 48), _round_numbers(1, 3, least=1)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [10.0, 20.0, 30.0, 40.0], [1.0, 2.0, 3.0])
    """
    rough = max((last - first) / _TICKS, least) or 1.0
    unit = 10.0 ** floor(log10(rough))
    step = next(each * unit for each in (1, 2, 5, 10) if each * unit >= rough * 0.999)
    return [round(at * step, 12) for at in range(ceil(first / step - 1e-9), floor(last / step + 1e-9) + 1)]
