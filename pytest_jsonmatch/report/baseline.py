"""A run beside its baseline, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.report.escape import clip, clip_middle, display_width, fold, mark, printable
from pytest_jsonmatch.report.figures import count, score_text
from pytest_jsonmatch.report.styled import BOLD, DIM, GREEN, PLAIN, RED, YELLOW

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_jsonmatch.gate.baseline import BaselineDiff, Delta
    from pytest_jsonmatch.gate.headlines import RunChange
    from pytest_jsonmatch.report.styled import StyledLine

__all__ = ["baseline_lines", "change_text"]

_MOST: Final = 10
_HINT: Final = "--jsonmatch-summary=all"


def change_text(change: float, *, unicode: bool = True) -> str:
    """Return a change with its sign, and enough decimals to be seen.

    >>> change_text(0.25), change_text(-0.0004), change_text(0.0)
    ('+0.25', '-0.0004', '0.00')
    """
    sign = "" if not change else "+" if change > 0 else "-"
    return sign + score_text(abs(change), unicode=unicode)


def baseline_lines(
    diff: BaselineDiff,
    *,
    name: str,
    verdict: RunChange | None = None,
    mode: str = "auto",
    width: int = 80,
    unicode: bool = True,
    hint: str = _HINT,
) -> list[StyledLine]:
    """Return the lines about a baseline.

    Args:
        diff: the two runs.
        name: what the baseline is called.
        verdict: what the difference proves.
        mode: "all" names every case and field that has changed, the others those that changed most.
        width: columns of the terminal; a line that is longer is clipped.
        unicode: False keeps to ASCII.
        hint: the option that shows what is left out here.
    """
    return list(_lines(diff, name, verdict, None if mode == "all" else _MOST, width, unicode, hint))


def _lines(
    diff: BaselineDiff,
    name: str,
    verdict: RunChange | None,
    most: int | None,
    width: int,
    unicode: bool,
    hint: str,
) -> Iterator[StyledLine]:
    made = ", ".join(filter(None, [diff.before.created[:10], diff.before.commit[:10]]))
    title = f"baseline {printable(name, ascii_only=not unicode)}{f' ({made})' if made else ''}: "
    parts = [f"{count(len(diff.cases), 'case')} in both"]
    if diff.of_corpora:
        parts = [f"{count(diff.after.number, 'record')}, then {count(diff.before.number)}"]
    if diff.new:
        parts.append(f"{count(len(diff.new))} new")
    if diff.vanished:
        parts.append(f"{count(len(diff.vanished))} {_gone(diff)}")
    yield [(clip(title + ", ".join(parts), width, unicode=unicode), BOLD)]
    if not diff.is_comparable:
        yield from _refusal(diff, most, width, unicode, hint)
        return
    if diff.score is not None:
        yield _delta(diff.score, width, unicode)
    if verdict is not None:
        yield from _words(verdict, width, unicode)
    for what, deltas in (
        ("fields", [each for each in diff.fields if each.change]),
        ("cases", list(diff.changed())),
    ):
        shown = deltas if most is None or len(deltas) <= most else _extremes(deltas, most)
        if shown:
            yield [(f"{what} that changed:", DIM)]
            yield from (_delta(each, width, unicode) for each in shown)
        if hidden := len(deltas) - len(shown):
            yield [(clip(f"  {mark(unicode)} {count(hidden)} more ({hint})", width, unicode=unicode), DIM)]
    for what, names in (("new", diff.new), (_gone(diff), diff.vanished)):
        shown_names = names if most is None else names[:most]
        for each in shown_names:
            yield [
                (f"  {what}: ", YELLOW),
                (clip_middle(each, max(width - len(what) - 4, 10), unicode=unicode), PLAIN),
            ]
        if hidden := len(names) - len(shown_names):
            yield [
                (
                    clip(f"  {mark(unicode)} {count(hidden)} more {what} ({hint})", width, unicode=unicode),
                    DIM,
                )
            ]


def _words(verdict: RunChange, width: int, unicode: bool) -> Iterator[StyledLine]:
    """Yield what the difference proves: of scores, of which cases pass, and of single fields."""
    for kind, words in verdict.sentences():
        markup = RED if kind == "regression" else GREEN if kind == "improvement" else PLAIN
        for line in fold(printable(words, ascii_only=not unicode), max(width - 2, 20), 4, unicode=unicode):
            yield [(f"  {line}", markup)]


def _gone(diff: BaselineDiff) -> str:
    """Return what has become of cases that only the baseline has, as far as that is known."""
    after = diff.after
    return "not run" if after.narrowed or len(after.cases) < (after.collected or 0) else "vanished"


def _extremes(deltas: Sequence[Delta], most: int) -> list[Delta]:
    """Return those that changed most, in their order."""
    kept = sorted(deltas, key=lambda each: -abs(each.change))[:most]
    return [each for each in deltas if each in kept]


def _delta(delta: Delta, width: int, unicode: bool) -> StyledLine:
    arrow = "→" if unicode else "->"
    change = change_text(delta.change, unicode=unicode)
    before, after = (score_text(score, unicode=unicode) for score in (delta.before, delta.after))
    figures = f"  {change:>6}  {before} {arrow} {after}  "
    markup = RED if delta.change < 0 else GREEN if delta.change > 0 else PLAIN
    room = max(width - display_width(figures), 1)
    return [(figures, markup), (clip_middle(delta.name, room, unicode=unicode), PLAIN)]


def _refusal(
    diff: BaselineDiff, most: int | None, width: int, unicode: bool, hint: str
) -> Iterator[StyledLine]:
    text = f"  {count(len(diff.mismatches), 'case')} not scored as they were then: no comparison is made"
    yield [(clip(text, width, unicode=unicode), RED)]
    for each in diff.mismatches[: most and 3]:
        yield [(f"  {printable(each.case, ascii_only=not unicode)}", PLAIN)]
        yield [(f"    {printable(each.difference, ascii_only=not unicode)}", PLAIN)]
    if hidden := len(diff.mismatches) - len(diff.mismatches[: most and 3]):
        yield [(clip(f"  {mark(unicode)} {count(hidden)} more ({hint})", width, unicode=unicode), DIM)]
