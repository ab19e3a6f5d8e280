"""Cases in a report: which failed and why, repeated cases, and all of them for a page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, final
from urllib.parse import quote

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.gate.repeats import Repeats, check
from pytest_jsonmatch.limits import ScoreCheck, check_scores
from pytest_jsonmatch.report.blocks import (
    AnyCell,
    Failure,
    Level,
    RowDetail,
    Statistic,
    Statistics,
    Table,
    TableCell,
    score_cell,
)
from pytest_jsonmatch.report.escape import clip, mark, no_command
from pytest_jsonmatch.report.formatting import compare_figures, dash, score_text, tone_of
from pytest_jsonmatch.results.comparison import (
    Case,
    CaseRun,
    Comparison,
    merged_fields,
)

if TYPE_CHECKING:
    from pytest_jsonmatch.gate.check import Check
    from pytest_jsonmatch.results.run import RunResult

_MOST_NAMED: Final = 3
"""At most this many fields of a case are named."""
# Our own colours in a failure message; those in the data have been escaped by then.
_COLORS: Final = re.compile(r"\x1b\[[0-9;]*m")
Told = Callable[[Case, CaseRun], "tuple[str, int, str]"]
"""Returns the file and the line at which a run of a case failed, and the test's message."""


# -- cases that failed -------------------------------------------------------------------------------------


@final
class FailedCase(NamedTuple):
    """A case that did not pass, and the run of it that is shown."""

    case: Case
    run: CaseRun
    failure: Failure


def failed_cases(results: RunResult, told: Told | None = None) -> list[FailedCase]:
    """Return the cases that failed, the lowest score first.

    Records with errors come last: many without an answer would hide the others. Without `told` only the
    errors of comparators are known.
    """
    found = []
    for case in results.cases:
        run = _failed_run(case)
        if run is not None:
            errors = "\n".join(errors_of(run))
            path, line, message = ("", 1, errors) if told is None else told(case, run)
            note = "" if case.of == 1 else f"run {run.number} of {case.of}"
            score = case.figure("score")
            failure = Failure(case.id, score, path, max(line, 1), message or run.error, note)
            found.append(FailedCase(case, run, failure))

    def order(each: FailedCase) -> tuple[bool, float, str]:
        return results.is_of_records and bool(errors_of(each.run)), each.failure.score, each.case.id

    return sorted(found, key=order)


def _failed_run(case: Case) -> CaseRun | None:
    """Return the run of a failed case to show: the one with the lowest score of those that did not pass.

    None for a case that did not fail, or is not decided yet.
    """
    is_judged_as_a_whole = case.min_pass_rate is not None and case.of > 1
    if case.verdict != "failed" if is_judged_as_a_whole else case.passed:
        return None
    return min(
        (run for run in case.runs if not run.passed), key=lambda run: run.figure("score"), default=None
    )


def errors_of(run: CaseRun) -> list[str]:
    """Return the errors of the comparators of a run."""
    return [error for each in run.comparisons for error in each.errors]


def lowest_fields(case: Case) -> list[tuple[str, float]]:
    """Return the fields of a case that score below 1, the lowest score first."""
    scores = ((path, figures.mean_score) for path, figures in merged_fields([case]).items())
    wrong = [(path, score) for path, score in scores if score is not None and score < 1]
    return sorted(wrong, key=lambda each: (each[1], each[0]))


def why_failed(run: CaseRun, score: float) -> TableCell:
    """Return why a run of a case failed: a score below its limit, with enough decimals to see it."""
    failed = [each for each in run.comparisons if not each.passed]
    if run.error or not failed:
        return score_cell(score)
    return min((_why(each) for each in failed), key=lambda why: (why.value is not None, why.value or 0.0))


def _why(comparison: Comparison) -> TableCell:
    """Return why a comparison failed: what is below its limit (the score, else the lowest), or an error."""
    missed = [each for each in _measured(comparison) if not each.is_reached]
    if not comparison.has_figures:
        return TableCell("nothing but batch errors")
    if comparison.parsed is False:
        return TableCell("no JSON found")
    if missed:
        is_score = missed[0].name == "score"
        found = missed[0] if is_score else min(missed, key=lambda each: each.value or 0.0)
        value, limit = compare_figures(found.value or 0.0, found.limit)
        name = found.field or found.name
        what = {"score": "", "f1": "F1 "}.get(name, f"{name} ")
        text = f"{what}{dash(True) if found.value is None else value} < {limit}"
        return TableCell(text, tone_of(found.value), found.value)
    if comparison.validity == "invalid":
        return TableCell("not valid by the schema")
    if comparison.errors and comparison.threshold:
        return TableCell("comparator error")
    return score_cell(comparison.score)


def _measured(comparison: Comparison) -> Iterator[ScoreCheck]:
    return check_scores(
        dict(comparison.threshold),
        partial(getattr, comparison),
        lambda: {path: figures.mean_score for path, figures in comparison.fields.items()},
    )


def headline_of(message: str) -> str:
    r"""Return the first line of a message, without the name of the exception that every failure has.

    >>> headline_of("AssertionError: m score 0.50 < 1.00\n2 fields")
    'm score 0.50 < 1.00'
    """
    return next(message_lines(message, 1), "").removeprefix("AssertionError: ")


def message_lines(message: str, most: int, *, width: int = 200, unicode: bool = True) -> Iterator[str]:
    r"""Yield the first lines of a message, each printable and clipped.

    >>> list(message_lines("one\ntwo \x1b[31mred\x1b[0m\nthree", 2))
    ['one', 'two red', '…']
    """
    lines = _COLORS.sub("", message[: most * width * 20]).splitlines()
    for line in lines[:most]:
        yield no_command(clip(line.rstrip(), width, unicode=unicode))
    if len(lines) > most > 1:
        yield mark(unicode)


# -- tables of cases ---------------------------------------------------------------------------------------


def failed_table(results: RunResult, failed: Sequence[FailedCase], link: str = "") -> Table:
    """Return a table of the cases that failed; `link` is the base of links to lines."""
    noun = results.noun
    have_places = any(each.failure.path for each in failed)
    # Each error once: a service that is down fails all cases alike.
    groups: dict[tuple[str, str], list[FailedCase]] = {}
    for each in failed:
        same = ("", each.failure.message) if not each.run.comparisons else (each.case.id, "")
        groups.setdefault(same, []).append(each)
    rows = []
    for first, *others in groups.values():
        row = case_row(first, link, have_places=have_places)
        also = f" and {count(len(others))} more" if others else ""
        rows.append([f"{row[0]}{also}", *row[1:]])
    failed = [first for first, *_ in groups.values()]
    return Table(
        (noun, "score", "lowest-scoring fields", *(["at"] if have_places else [])),
        rows,
        title_of(results),
        noun,
        text={"lowest-scoring fields", "at"},
        spare={"lowest-scoring fields": 1},
        not_in_terminal={"at"},
        details=[[RowDetail(each.failure.note, message=each.failure.message)] for each in failed],
        node_ids=not results.is_of_records,
    )


def case_row(each: FailedCase, link: str, *, have_places: bool) -> list[AnyCell]:
    """Return the row of a case that failed."""
    score = why_failed(each.run, each.failure.score)._replace(value=each.failure.score)
    place = [_place(each.failure, link)] if have_places else []
    return [_name(each), score, _complaint(each), *place]


def title_of(results: RunResult) -> str:
    """Return the title of the cases that failed."""
    if results.is_of_records:
        return "lowest-scoring records, those with errors last"
    return "cases that did not pass" if results.has_only_gates else "failed cases"


def _name(each: FailedCase) -> str:
    return each.case.id + (f" ({each.failure.note})" if each.failure.note else "")


def _place(failure: Failure, link: str) -> TableCell:
    if not failure.path:
        return TableCell(dash(True))
    target = ""
    if link and not failure.path.startswith("/"):
        target = f"{link}{quote(failure.path, errors='backslashreplace')}#L{failure.line}"
    return TableCell(f"{failure.path}:{failure.line}", link=target)


def _complaint(each: FailedCase) -> str:
    """Return the lowest-scoring fields of a case, or why it has no score."""
    if errors := errors_of(each.run):
        return errors[0]
    fields = lowest_fields(Case(each.case.id, (each.run,)))
    if not fields:
        return headline_of(each.failure.message)
    return named_fields(fields)


def named_fields(fields: Sequence[tuple[str, float]]) -> str:
    """Return the first fields with their scores, and the number of the others.

    >>> named_fields([("a", 0.5), ("b", 0.0)])
    'a 0.50, b 0.00'
    """
    more = f" and {count(len(fields) - _MOST_NAMED)} more" if len(fields) > _MOST_NAMED else ""
    return ", ".join(f"{path} {score_text(score)}" for path, score in fields[:_MOST_NAMED]) + more


# -- repeated cases ----------------------------------------------------------------------------------------


def repeated_checks(results: RunResult) -> tuple[Check, ...]:
    """Return the checks of repeated cases that are judged as a whole, by all of their runs."""
    if results.has_only_gates:
        return ()
    return tuple(found for case in results.cases if (found := check(case)) is not None)


def repeat_blocks(repeated: Repeats) -> Iterator[Statistics | Table]:
    """Yield the statistics over all repeated cases, and these cases."""
    if repeated:
        yield _repeat_statistics(repeated)
        yield _repeat_table(repeated)


def _repeat_statistics(repeated: Repeats) -> Statistics:
    runs, k = sum(len(case.runs) for case in repeated.cases), repeated.k
    values = {"pass@1": repeated.pass_at(1)}
    if k > 1:
        values |= {f"pass@{k}": repeated.pass_at(k), f"pass^{k}": repeated.pass_all(k)}
    if repeated.flip_rate is not None:
        values["flip rate"] = repeated.flip_rate
    title = f"repeats of {count(len(repeated.cases), 'case')} in {count(runs, 'run')}"
    level: Level = "brief" if repeated.is_mixed else "normal"
    return Statistics([Statistic(name, score_text(value)) for name, value in values.items()], title, level)


def _repeat_table(repeated: Repeats) -> Table:
    """Return the repeated cases, those that passed least often first."""
    cases = sorted(repeated.cases, key=lambda case: (case.pass_rate, case.id))
    rows: list[list[AnyCell]] = []
    for case in cases:
        of_runs = [run.figure("score") for run in case.runs]
        ends = dict.fromkeys(map(score_text, (min(of_runs), max(of_runs))))
        passed = f"{count(case.passed_runs)} of {count(len(case.runs))}"
        rows.append([case.id, TableCell(passed, tone_of(case.pass_rate), case.pass_rate), " to ".join(ends)])
    return Table(
        ("case", "passed", "scores of runs"),
        rows,
        noun="case",
        fine=sum(case.passed_runs == len(case.runs) for case in cases),
        fine_level="all",
        node_ids=True,
    )
