"""A plan: how many cases it takes, with its curve, as text and as a page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_jsonmatch.report.escape import printable
from pytest_jsonmatch.report.figures import count
from pytest_jsonmatch.report.styled import BOLD, DIM, PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_jsonmatch.report.look import Look
    from pytest_jsonmatch.report.styled import StyledLine

_BAR: Final = 40
_WIDTH, _HEIGHT = 480, 200
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


def plan_lines(about: str, curves: Sequence[Curve], look: Look) -> list[StyledLine]:
    """Return a plan as lines.

    >>> from pytest_jsonmatch.report.look import Look
    >>> for line in plan_lines("plan", [Curve("it takes 9 cases", "power", [(9, 0.8)])], Look(unicode=False)):
    ...     print("".join(text for text, _ in line).rstrip())
    plan
    it takes 9 cases
      cases  power
          9   0.80  ################################
    """
    lines: list[StyledLine] = look.folded(look.printable(about), 4)
    for curve in curves:
        lines += look.folded(look.printable(curve.answer), 4, BOLD)
        if curve.points:
            lines.append([(f"  cases  {curve.title}", DIM)])
        for cases, value in curve.points:
            bar = ("\u2588" if look.unicode else "#") * round(min(value, 1.0) * _BAR)
            lines.append([(f"  {count(cases):>5}  {value:5.2f}  {bar}", PLAIN)])
    if note := _note(curves):
        lines += look.folded(note, 4, DIM)
    return lines


def _note(curves: Sequence[Curve]) -> str:
    return _NOTE if any("a drop" in curve.answer for curve in curves) else ""


def plan_page(about: str, curves: Sequence[Curve]) -> str:
    """Return a plan as a page of HTML that needs nothing else."""
    parts = "\n".join(line for curve in curves for line in _section(curve))
    return f"""<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>jsonmatch plan</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 2rem auto; padding: 0 1rem }}
polyline {{ fill: none; stroke: #2563eb; stroke-width: 2 }}
text {{ font-size: 12px }}
line {{ stroke: #999 }}
</style>
<h1>jsonmatch plan</h1>
<p>{escape(printable(about))}</p>
{parts}
<p>{escape(_note(curves))}</p>
</html>
"""


def _section(curve: Curve) -> Iterator[str]:
    yield f"<h2>{escape(printable(curve.answer))}</h2>"
    if not curve.points:
        return
    most = max(cases for cases, _ in curve.points)
    highest = max(1.0 if value > 0.5 else 2 * value for _, value in curve.points) or 1.0
    places = [
        (40 + (_WIDTH - 60) * cases / most, _HEIGHT - 30 - (_HEIGHT - 50) * value / highest, cases, value)
        for cases, value in curve.points
    ]
    yield f"<p>{escape(curve.title)}, by number of cases</p>"
    yield f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(curve.title)}">'
    yield f'<line x1="40" y1="{_HEIGHT - 30}" x2="{_WIDTH}" y2="{_HEIGHT - 30}"/>'
    yield f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y, _, _ in places)}"/>'
    for x, y, cases, value in places:
        yield f'<text x="{x:.1f}" y="{y - 6:.1f}" text-anchor="middle">{value:.2f}</text>'
        yield f'<text x="{x:.1f}" y="{_HEIGHT - 12}" text-anchor="middle">{count(cases)}</text>'
    yield "</svg>"
