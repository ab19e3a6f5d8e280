"""Repeated cases, for the terminal: how often they pass, and which fields differ from run to run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.report.escape import clip, clip_middle, display_width, mark, pad
from pytest_jsonmatch.report.figures import count, fixed_figure, score_text
from pytest_jsonmatch.report.styled import BOLD, DIM, PLAIN, score_markup

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_jsonmatch.gate.repeats import Repeats
    from pytest_jsonmatch.report.styled import StyledLine

__all__ = ["repeat_blocks"]

_MAX_CASES: Final = 20
_MAX_FIELDS: Final = 10
_HINT: Final = "--jsonmatch-summary=all"


def repeat_blocks(
    repeats: Repeats, *, mode: str = "auto", width: int = 80, unicode: bool = True, hint: str = _HINT
) -> list[list[StyledLine]]:
    """Return the lines about repeated cases, in blocks; none wider than `width`.

    Args:
        repeats: what the runs came to.
        mode: "all" shows every case and field; the others those that are not the same in all runs.
        width: columns of the terminal.
        unicode: False keeps to ASCII.
        hint: the option that shows what is left out here.
    """
    if not repeats:
        return []
    return [
        block
        for block in (
            [*_head(repeats, width, unicode), *_cases(repeats, mode, width, unicode, hint)],
            list(_fields(repeats, mode, width, unicode, hint)),
        )
        if block
    ]


def _head(repeats: Repeats, width: int, unicode: bool) -> Iterator[StyledLine]:
    runs = sum(len(case.runs) for case in repeats.cases)
    yield [
        (
            clip(
                f"repeats: {count(len(repeats.cases), 'case')} in {count(runs, 'run')}",
                width,
                unicode=unicode,
            ),
            BOLD,
        )
    ]
    k = repeats.k
    figures = [("pass@1", repeats.pass_at(1))]
    if k > 1:
        figures += [(f"pass@{k}", repeats.pass_at(k)), (f"pass^{k}", repeats.pass_all(k))]
    line = "  ".join(f"{name} {score_text(value, unicode=unicode)}" for name, value in figures)
    if repeats.flip_rate is not None:
        line += f"  flip rate {score_text(repeats.flip_rate, unicode=unicode)}"
    yield [(clip(f"  {line}", width, unicode=unicode), PLAIN)]


def _cases(repeats: Repeats, mode: str, width: int, unicode: bool, hint: str) -> Iterator[StyledLine]:
    cases = sorted(repeats.cases, key=lambda case: (case.pass_rate, case.id))
    if mode != "all":
        cases = [case for case in cases if case.passed_runs < len(case.runs)]
    shown = cases if mode == "all" else cases[:_MAX_CASES]
    rows = []
    for case in shown:
        passed = f"{count(case.passed_runs)} of {count(len(case.runs))}"
        of_runs = [run.figure("score") for run in case.runs]
        least, most = (score_text(score, unicode=unicode) for score in (min(of_runs), max(of_runs)))
        scores = least if least == most else f"{least} to {most}"
        rows.append((case, passed, scores))
    if not rows:
        return
    first = max(6, *(len(passed) for _, passed, _ in rows))
    second = max(5, *(len(scores) for _, _, scores in rows))
    yield [(clip(f"  {pad('passed', first)}  score", width, unicode=unicode), DIM)]
    for case, passed, scores in rows:
        figures = f"  {pad(passed, first)}  {pad(scores, second)}  "
        room = max(width - display_width(figures), 1)
        yield [
            (clip(figures, width, unicode=unicode), score_markup(case.pass_rate)),
            (clip_middle(case.id, room, unicode=unicode), PLAIN),
        ]
    if hidden := len(cases) - len(shown):
        yield [
            (clip(f"  {mark(unicode)} {count(hidden, 'more case')} ({hint})", width, unicode=unicode), DIM)
        ]


def _fields(repeats: Repeats, mode: str, width: int, unicode: bool, hint: str) -> Iterator[StyledLine]:
    fields = [field for field in repeats.fields if mode == "all" or field.stability < 1]
    if not fields:
        return
    shown = fields if mode == "all" else fields[:_MAX_FIELDS]
    several = len({field.metric for field in repeats.fields}) > 1
    title = "stability of fields (1 less the mean difference of a score between two runs):"
    yield [(clip(title, width, unicode=unicode), BOLD)]
    for field in shown:
        figure = fixed_figure(field.stability, unicode=unicode)
        lead = f"  {pad(figure, 4)}  "
        path = f"{field.path}  ({field.metric})" if several else field.path
        yield [
            (clip(lead, width, unicode=unicode), score_markup(field.stability)),
            (clip_middle(path, max(width - display_width(lead), 1), unicode=unicode), PLAIN),
        ]
    if hidden := len(fields) - len(shown):
        yield [
            (clip(f"  {mark(unicode)} {count(hidden, 'more field')} ({hint})", width, unicode=unicode), DIM)
        ]
