"""A plan: how many cases it takes, with its curve, as a sheet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from pytest_jsonmatch.report.sheets import Block, Chart, Said, Series, Sheet

_NOTE: Final = (
    "The drop is taken to come from cases that fall to score 0, which is the hardest to see; one that all "
    "cases share is proven with fewer."
)


class Curve(NamedTuple):
    """An answer, and what fewer or more cases come to."""

    answer: str
    title: str
    """What the values are."""
    points: Sequence[tuple[int, float]]
    """Numbers of cases with their values, from 0 to 1."""


def plan_sheet(about: str, curves: Sequence[Curve]) -> Sheet:
    """Return a plan as a sheet."""
    blocks: list[Block] = []
    for curve in curves:
        chart = Chart(curve.answer, "cases", curve.title, [Series("", curve.points)])
        blocks.append(chart if curve.points else Said(curve.answer, "strong"))
    if any("a drop" in curve.answer for curve in curves):
        blocks.append(Said(_NOTE, "faint"))
    return Sheet("jsonmatch plan", about, blocks)
