"""Plain aligned tables that are Markdown too."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def render(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the table as aligned text; every column but the first is right-aligned, the last left."""
    widths = [max(len(row[index]) for row in (header, *rows)) for index in range(len(header))]
    last = len(header) - 1

    def line(cells: Sequence[str]) -> str:
        parts = [
            cell.ljust(width) if index in {0, last} else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return "| " + " | ".join(parts) + " |"

    rule = (
        "|"
        + "|".join(
            "-" * (width + 1) + ("-" if index in {0, last} else ":") for index, width in enumerate(widths)
        )
        + "|"
    )
    return "\n".join([line(header), rule, *map(line, rows)])


def seconds(value: float | None) -> str:
    """Return a duration with three significant digits."""
    if value is None:
        return "–"
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if value * factor >= 1:
            return f"{_three(value * factor)} {unit}"
    return f"{_three(value * 1e6)} µs"


def ratio(value: float | None) -> str:
    """Return a ratio as `12.3×`."""
    return "–" if value is None else f"{_three(value)}×"


def rate(value: float | None) -> str:
    """Return a rate a second as `1.2 M`, `34 k` or `56`."""
    if value is None:
        return "–"
    for limit, suffix in ((1e6, " M"), (1e3, " k")):
        if value >= limit:
            return f"{_three(value / limit)}{suffix}"
    return _three(value)


def plain(value: float | None, digits: int) -> str:
    """Return a number with so many decimals, or a dash."""
    return "–" if value is None else f"{value:.{digits}f}"


def _three(value: float) -> str:
    if value <= 0:
        return "0"
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}"
