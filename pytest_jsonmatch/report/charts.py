"""Compute the coordinates of charts for the template of a page: lines, bars and heat maps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.report.formatting import score_text
from pytest_jsonmatch.report.terminal import highest, place_text

if TYPE_CHECKING:
    from pytest_jsonmatch.report.blocks import Chart, Series

# The plot's box in a chart of 720 × 280.
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 700, 34, 236
_COLOURS: Final = 6
_MAX_DOTS: Final = 24
_TICKS: Final = 5
_CELL: Final = 20
"""The width and the height of a cell of a heat map."""
_NAMES: Final = 230
"""The width of the names of its rows."""
_SHADES: Final = 10


def chart_data(chart: Chart) -> dict[str, object]:
    """Return the data of a chart for the template; empty if there is nothing to draw."""
    if not any(y is not None for series in chart.series for _, y in series.points):
        return {}
    if chart.kind == "heat":
        return _heat(chart)
    xs = [x for series in chart.series for x, y in series.points if y is not None]
    first, last = (0.0, 1.0) if chart.kind == "bars" else (min(xs), max(xs))
    span = last - first or 1.0
    # Whole numbers, such as numbers of runs or cases, get no ticks between them.
    counts = [y for series in chart.series for _, y in series.points if y is not None]
    min_step = float(all(x == int(x) for x in xs)), float(all(y == int(y) for y in counts))
    top = highest(chart) if chart.kind == "lines" else max(counts)

    def across(x: float) -> float:
        return round(_LEFT + (_RIGHT - _LEFT) * (x - first) / span, 1)

    def up(y: float) -> float:
        return round(_BOTTOM - (_BOTTOM - _TOP) * min(max(y, 0.0), top) / top, 1)

    coloured = [series for series in chart.series if not series.is_guide]
    kinds = ["guide" if line.is_guide else f"s{coloured.index(line) % _COLOURS}" for line in chart.series]
    is_bars = chart.kind == "bars"
    return {
        "kind": chart.kind,
        "box": {"left": _LEFT, "right": _RIGHT, "top": _TOP, "bottom": _BOTTOM},
        "legend": [(kind, line.name) for kind, line in zip(kinds, chart.series, strict=True) if line.name],
        "x_ticks": [(across(x), place_text(x)) for x in _round_numbers(first, last, min_step[0])],
        "y_ticks": [(up(y), place_text(y)) for y in _round_numbers(0.0, top, min_step[1] * is_bars)],
        "marks": [(across(x), text) for x, text in chart.marks],
        "bars": _bars(chart.series[0], across, up) if is_bars else [],
        "lines": []
        if is_bars
        else [_series(line, kind, across, up) for kind, line in zip(kinds, chart.series, strict=True)],
    }


def _series(series: Series, kind: str, across: Any, up: Any) -> dict[str, object]:
    places = [(across(x), None if y is None else up(y)) for x, y in series.points]
    known = [(x, y) for x, y in series.points if y is not None]
    # Where there are many points, dots would hide the line.
    dots = known if len(known) <= _MAX_DOTS and not series.is_guide else []
    return {
        "kind": kind,
        "polylines": list(_polylines(places)),
        "dots": [(across(x), up(y), f"{place_text(x)}: {y:.4g}") for x, y in dots],
    }


def _bars(series: Series, across: Any, up: Any) -> list[dict[str, object]]:
    """Return the bars of a histogram with their coordinates and labels."""
    wide = across(1 / len(series.points)) - across(0.0)
    drawn = []
    for at, (_, y) in enumerate(series.points):
        left, right = at / len(series.points), (at + 1) / len(series.points)
        drawn.append(
            {
                "x": round(across(left) + 1, 1),
                "y": up(y or 0.0),
                "width": round(wide - 2, 1),
                "height": round(_BOTTOM - up(y or 0.0), 1),
                "label": f"{place_text(left)} to {place_text(right)}: {y or 0:.0f}",
                "count": f"{y:.0f}" if y else "",
                "middle": round(across(left) + wide / 2, 1),
            }
        )
    return drawn


def _heat(chart: Chart) -> dict[str, object]:
    rows = []
    for at, series in enumerate(chart.series):
        cells = [
            {
                "x": _NAMES + _CELL * int(x),
                "shade": _shade(y),
                "label": f"{series.name}, {chart.names[int(x)]}: {score_text(y)}",
            }
            for x, y in series.points
            if y is not None
        ]
        rows.append({"name": series.name, "y": _CELL * at, "cells": cells})
    return {
        "kind": "heat",
        "width": _NAMES + _CELL * len(chart.names),
        "height": _CELL * len(rows) + 6,
        "rows": rows,
        "cell": _CELL,
        "left": _NAMES - 8,
    }


def _shade(score: float | None) -> str:
    """Return the CSS class of a score; h10 is only for 1."""
    return "none" if score is None else f"h{floor(score * _SHADES)}"


def _polylines(places: Sequence[tuple[float, float | None]]) -> Iterator[str]:
    """Yield the points of each line between two gaps, as SVG coordinates."""
    run: list[tuple[float, float]] = []
    for x, y in [*places, (0.0, None)]:
        if y is not None:
            run.append((x, y))
        elif run:
            yield " ".join(f"{x:g},{y:g}" for x, y in run)
            run = []


def _round_numbers(first: float, last: float, min_step: float = 0.0) -> list[float]:
    """Return about five round numbers from first to last, at least `min_step` apart.

    >>> _round_numbers(0.0, 1.0), _round_numbers(3, 48), _round_numbers(1, 3, min_step=1)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [10.0, 20.0, 30.0, 40.0], [1.0, 2.0, 3.0])
    """
    rough = max((last - first) / _TICKS, min_step) or 1.0
    unit = 10.0 ** floor(log10(rough))
    step = next(factor * unit for factor in (1, 2, 5, 10) if factor * unit >= rough * 0.999)
    return [round(at * step, 12) for at in range(ceil(first / step - 1e-9), floor(last / step + 1e-9) + 1)]
