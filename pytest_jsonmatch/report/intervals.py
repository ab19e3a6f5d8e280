"""Figures with their confidence intervals, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_jsonmatch.report.escape import clip, clip_middle, display_width, pad
from pytest_jsonmatch.report.figures import count, score_text
from pytest_jsonmatch.report.styled import BOLD, PLAIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_jsonmatch.gate.headlines import Headline
    from pytest_jsonmatch.report.styled import StyledLine

__all__ = ["interval_lines"]


def interval_lines(
    headlines: Sequence[Headline], *, title: str, seed: int, width: int = 80, unicode: bool = True
) -> list[StyledLine]:
    """Return a line for each figure, below one that says how the intervals were made.

    Args:
        headlines: the figures.
        title: what they are figures of.
        seed: of the bootstrap.
        width: columns of the terminal.
        unicode: False keeps to ASCII.
    """
    if not headlines:
        return []
    first = headlines[0].interval
    text = f"{title}, with {first.confidence * 100:g} % confidence intervals ({count(first.cases, 'case')}):"
    lines: list[StyledLine] = [[(clip(text, width, unicode=unicode), BOLD)]]
    longest = min(max(display_width(each.name) for each in headlines), max(width // 2, 12))
    for each in headlines:
        interval = each.interval
        figures = " to ".join(score_text(value, unicode=unicode) for value in (interval.low, interval.high))
        how = {
            "bootstrap": f"bootstrap, seed {seed}",
            "bounded": "bounded: few cases differ",
        }.get(interval.method, interval.method)
        name = pad(clip_middle(each.name.replace("_", " "), longest, unicode=unicode), longest)
        line = f"  {name}  {score_text(interval.estimate, unicode=unicode)}  {figures}  ({how})"
        lines.append([(clip(line, width, unicode=unicode), PLAIN)])
    return lines
