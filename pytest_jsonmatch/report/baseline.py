"""A run compared with its baseline, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.look import Look
from pytest_jsonmatch.report.styled import DIM, GREEN, PLAIN, RED, YELLOW, StyledLine
from pytest_jsonmatch.report.view import baseline_changes, baseline_extent, gone, made_of

if TYPE_CHECKING:
    from pytest_jsonmatch.gate.baseline import BaselineDiff, Delta
    from pytest_jsonmatch.gate.headlines import RunChange

MARKUPS: Final = {"worse": RED, "better": GREEN, "no worse": GREEN}
"""The colour of each kind of proven change."""
_MOST: Final = 10
_MOST_REFUSED: Final = 3


def baseline_lines(
    diff: BaselineDiff, look: Look, *, name: str, verdict: RunChange | None = None
) -> list[StyledLine]:
    """Return the lines about a baseline, with the cases and fields that changed most, or all in mode "all".

    Args:
        diff: the two runs.
        look: how the lines may look.
        name: the baseline's name.
        verdict: what the difference proves.
    """
    made = made_of(diff.before)
    title = f"baseline {look.printable(name)}{f' ({made})' if made else ''}: "
    lines = [look.title(title + ", ".join(baseline_extent(diff)))]
    if not diff.is_comparable:
        return [*lines, *_refusal(diff, look)]
    if diff.score is not None:
        lines.append(_delta(diff.score, look))
    for kind, words in () if verdict is None else verdict.sentences():
        lines += look.folded(look.printable(words), 4, MARKUPS.get(kind, PLAIN), indent="  ")
    most = look.most(_MOST)
    for what, deltas in baseline_changes(diff):
        widest = sorted(deltas, key=lambda each: -abs(each.change))[:most]
        shown = [each for each in deltas if each in widest]
        if shown:
            lines.append([(f"{what}s that changed:", DIM)])
            lines += [_delta(each, look) for each in shown]
        if hidden := len(deltas) - len(shown):
            lines.append(look.more(f"{count(hidden)} more"))
    for what, names in (("new", diff.new), (gone(diff), diff.vanished)):
        lines += [look.named(f"  {what}: ", YELLOW, each) for each in names[:most]]
        if hidden := len(names) - len(names[:most]):
            lines.append(look.more(f"{count(hidden)} more {what}"))
    return lines


def _delta(delta: Delta, look: Look) -> StyledLine:
    change = look.change(delta.change)
    markup = RED if delta.change < 0 else GREEN if delta.change > 0 else PLAIN
    figures = f"  {change:>6}  {look.score(delta.before)} {look.arrow} {look.score(delta.after)}  "
    return look.named(figures, markup, delta.name)


def _refusal(diff: BaselineDiff, look: Look) -> Iterator[StyledLine]:
    number = count(len(diff.mismatches), "case")
    yield look.line(f"  {number} scored differently in the baseline: no comparison is made", RED)
    shown, more = look.cut(diff.mismatches, _MOST_REFUSED)
    for each in shown:
        yield [(f"  {look.printable(each.case)}", PLAIN)]
        yield [(f"    {look.printable(each.difference)}", PLAIN)]
    yield from more
