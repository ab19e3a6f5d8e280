"""Repeated cases, for the terminal: how often they pass, and which fields differ from run to run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.look import Look, table_lines
from pytest_jsonmatch.report.styled import DIM, PLAIN, StyledLine, score_markup

if TYPE_CHECKING:
    from pytest_jsonmatch.gate.repeats import Repeats

_MAX_CASES: Final = 20
_MAX_FIELDS: Final = 10


def repeat_blocks(repeats: Repeats, look: Look) -> list[list[StyledLine]]:
    """Return the lines about repeated cases, in blocks: what differs between runs, or all in mode "all"."""
    if not repeats:
        return []
    return [[*repeat_head(repeats, look), *_cases(repeats, look)], list(_fields(repeats, look))]


def repeat_head(repeats: Repeats, look: Look) -> Iterator[StyledLine]:
    """Yield the figures over all repeated cases."""
    runs = sum(len(case.runs) for case in repeats.cases)
    yield look.title(f"repeats: {count(len(repeats.cases), 'case')} in {count(runs, 'run')}")
    k = repeats.k
    figures = [("pass@1", repeats.pass_at(1))]
    if k > 1:
        figures += [(f"pass@{k}", repeats.pass_at(k)), (f"pass^{k}", repeats.pass_all(k))]
    if repeats.flip_rate is not None:
        figures.append(("flip rate", repeats.flip_rate))
    yield look.line("  " + "  ".join(f"{name} {look.score(value)}" for name, value in figures))


def _cases(repeats: Repeats, look: Look) -> Iterator[StyledLine]:
    cases = sorted(repeats.cases, key=lambda case: (case.pass_rate, case.id))
    if look.mode != "all":
        cases = [case for case in cases if case.passed_runs < len(case.runs)]
    if not cases:
        return
    shown, more = look.cut(cases, _MAX_CASES, "case")
    rows: list[StyledLine] = [[("passed", DIM), ("score", DIM), ("", PLAIN)]]
    for case in shown:
        of_runs = [run.figure("score") for run in case.runs]
        scores = " to ".join(dict.fromkeys(look.score(score) for score in (min(of_runs), max(of_runs))))
        markup = score_markup(case.pass_rate)
        passed = f"{count(case.passed_runs)} of {count(len(case.runs))}"
        rows.append([(passed, markup), (scores, markup), (case.id, PLAIN)])
    yield from [*table_lines(rows, look, texts={0: 1, 1: 1, 2: 0.5}, indent="  "), *more]


def _fields(repeats: Repeats, look: Look) -> Iterator[StyledLine]:
    fields = [field for field in repeats.fields if look.mode == "all" or field.stability < 1]
    if not fields:
        return
    shown, more = look.cut(fields, _MAX_FIELDS, "field")
    several = len({field.metric for field in repeats.fields}) > 1
    yield look.title("stability of fields (1 minus the mean difference of a score between two runs):")
    for field in shown:
        path = f"{field.path}  ({field.metric})" if several else field.path
        figure = look.score(field.stability)
        yield look.named(f"  {figure}  ", score_markup(field.stability), path)
    yield from more
