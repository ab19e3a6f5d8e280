"""Tables of failed cases and of repeated cases."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.value.text import count, natural_key
from pytest_jsonmatch.gate.repeats import Repeats, check
from pytest_jsonmatch.report.blocks import (
    AnyCell,
    Column,
    Failure,
    Level,
    Row,
    RowDetail,
    Statistic,
    Statistics,
    Table,
    TableCell,
    score_cell,
)
from pytest_jsonmatch.report.escape import clip, mark, no_command
from pytest_jsonmatch.report.formatting import dash, limit_texts, score_text, tone_of
from pytest_jsonmatch.results.comparison import (
    Case,
    CaseRun,
    Comparison,
)
from pytest_jsonmatch.results.limits import ScoreCheck, check_scores

if TYPE_CHECKING:
    from pytest_jsonmatch.gate.check import Check
    from pytest_jsonmatch.report.blocks import ColumnKind
    from pytest_jsonmatch.results.run import RunResult

_FIRST: Final = 5
"""The number of failed cases at the top that are of different clusters."""
_MAX_NAMED: Final = 3
"""At most this many fields of a case are named."""
# Colours that we added to a failure message; those in the data have been escaped.
_COLORS: Final = re.compile(r"\x1b\[[0-9;]*m")
LocateFailure = Callable[[Case, CaseRun], "tuple[str, int, str]"]
"""A function that returns the file and the line at which a run of a case failed, and the test's message."""


# -- cases that failed -------------------------------------------------------------------------------------


def failed_cases(results: RunResult, locate_failure: LocateFailure | None = None) -> list[Failure]:
    """Return the cases that failed, the lowest score first.

    Records with errors come last, since many records without an answer would hide the others. Without
    `locate_failure` only the errors of comparators are known.
    """
    found = []
    for case in results.cases:
        run = _failed_run(case)
        if run is not None:
            path, line, message = ("", 1, "") if locate_failure is None else locate_failure(case, run)
            found.append(Failure(case, run, path, max(line, 1), message or "\n".join(run.errors)))

    def order(failed_case: Failure) -> tuple[object, ...]:
        return (
            not results.has_thresholds and bool(failed_case.run.errors),
            failed_case.score,
            natural_key(failed_case.case.id),
        )

    return _documents_first(sorted(found, key=order))


def _documents_first(ranked: list[Failure]) -> list[Failure]:
    """Return failed cases so that the first ones are of different clusters, such as documents.

    Otherwise the runs or fields of one document could fill a table that shows only its first rows.
    """
    if len(ranked) <= _FIRST:
        return ranked
    lowest: dict[str, Failure] = {}
    for failed_case in ranked:
        lowest.setdefault(failed_case.case.unit, failed_case)
    first = list(lowest.values())[:_FIRST]
    chosen = {failed_case.case.id for failed_case in first}
    return [*first, *(failed_case for failed_case in ranked if failed_case.case.id not in chosen)]


def _failed_run(case: Case) -> CaseRun | None:
    """Return the run with the lowest score of those that did not pass.

    None for a case that did not fail or is not decided yet.
    """
    is_judged_once = case.min_pass_rate is not None and case.of > 1
    if case.verdict != "failed" if is_judged_once else case.passed:
        return None
    return min((run for run in case.runs if not run.passed), key=lambda run: run.mean("score"), default=None)


def comparator_errors(run: CaseRun) -> list[str]:
    """Return the errors that comparators raised in a run."""
    return [error for comparison in run.comparisons for error in comparison.errors]


def lowest_fields(case: Case) -> list[tuple[str, float]]:
    """Return the fields of a case that score below 1, the lowest score first."""
    scores = ((path, sums.rate("score")) for path, sums in case.totals.fields.items())
    wrong = [(path, score) for path, score in scores if score is not None and score < 1]
    return sorted(wrong, key=lambda field: (field[1], natural_key(field[0])))


def failure_cell(run: CaseRun, score: float) -> TableCell:
    """Return why a run of a case failed: an error, or a score and its limit with enough decimals."""
    failed = [comparison for comparison in run.comparisons if not comparison.passed]
    if run.error or not failed:
        return score_cell(score)
    return min(
        (_comparison_cell(comparison) for comparison in failed),
        key=lambda why: (why.value is not None, why.value or 0.0),
    )


def _comparison_cell(comparison: Comparison) -> TableCell:
    """Return why a comparison failed: the score below its limit, else the lowest other one, or an error."""
    missed = [score_check for score_check in _check_scores(comparison) if not score_check.is_reached]
    if not comparison.has_figures:
        return TableCell("nothing but batch errors")
    if comparison.parsed is False:
        return TableCell("no JSON found")
    if missed:
        is_score = missed[0].name == "score"
        found = missed[0] if is_score else min(missed, key=lambda score_check: score_check.value or 0.0)
        value, limit = limit_texts(found.value or 0.0, found.limit)
        name = found.field or found.name
        what = {"score": "", "f1": "F1 "}.get(name, f"{name} ")
        text = f"{what}{dash(True) if found.value is None else value} < {limit}"
        return TableCell(text, tone_of(found.value), found.value)
    if comparison.validity == "invalid":
        return TableCell("not valid by the schema")
    if comparison.errors and comparison.threshold:
        return TableCell("comparator error")
    return score_cell(comparison.score)


def _check_scores(comparison: Comparison) -> Iterator[ScoreCheck]:
    return check_scores(
        dict(comparison.threshold),
        partial(getattr, comparison),
        lambda: {path: aggregation.mean_score for path, aggregation in comparison.fields.items()},
    )


def headline_of(message: str) -> str:
    r"""Return the first line of a message without "AssertionError: ".

    >>> headline_of("AssertionError: n 1 → 2 (m 0.50 < 1.00)\n2 fields")
    'n 1 → 2 (m 0.50 < 1.00)'
    """
    return next(message_lines(message, 1), "").removeprefix("AssertionError: ")


def message_lines(message: str, max_lines: int, *, width: int = 200, unicode: bool = True) -> Iterator[str]:
    r"""Yield the first lines of a message, each printable and clipped.

    >>> list(message_lines("one\ntwo \x1b[31mred\x1b[0m\nthree", 2))
    ['one', 'two red', '…']
    """
    lines = _COLORS.sub("", message[: max_lines * width * 20]).splitlines()
    for line in lines[:max_lines]:
        yield no_command(clip(line.rstrip(), width, unicode=unicode))
    if len(lines) > max_lines > 1:
        yield mark(unicode)


# -- tables of cases ---------------------------------------------------------------------------------------


def failed_table(results: RunResult, failed: Sequence[Failure], link: str = "") -> Table:
    """Return a table of the failed cases; `link` is the base of links to lines."""
    noun = results.noun
    have_places = any(failed_case.path for failed_case in failed)
    # Each error is shown once, since a service that is down fails all cases with the same error.
    groups: dict[tuple[str, str], list[Failure]] = {}
    for failed_case in failed:
        same = ("", failed_case.message) if failed_case.run.error else (failed_case.case.id, "")
        groups.setdefault(same, []).append(failed_case)
    rows = []
    for first, *others in groups.values():
        name, *cells = case_cells(first, link, have_places=have_places)
        also = f" and {count(len(others))} more" if others else ""
        detail = RowDetail(first.note, message=first.message)
        rows.append(Row([f"{name}{also}", *cells], [detail]))
    return Table(case_columns(noun, "number", have_places=have_places), rows, failed_title(results), noun)


def case_columns(noun: str, kind: ColumnKind, *, have_places: bool) -> list[Column]:
    """Return the columns of a table of cases; `kind` is that of their scores."""
    columns = [Column(noun, "node id"), Column("score", kind), Column("lowest-scoring fields", "text", 1)]
    return [*columns, *([Column("at", "place")] if have_places else [])]


def case_cells(failed_case: Failure, link: str, *, have_places: bool) -> list[AnyCell]:
    """Return the cells of a failed case."""
    score = failure_cell(failed_case.run, failed_case.score)._replace(value=failed_case.score)
    place = [_place(failed_case, link)] if have_places else []
    return [_name(failed_case), score, _describe_fields(failed_case), *place]


def failed_title(results: RunResult) -> str:
    """Return the title of the table of failed cases."""
    if not results.has_thresholds:
        return f"lowest-scoring {results.noun}s, those with errors last"
    return "cases that did not pass" if results.has_only_gates else "failed cases"


def _name(failed_case: Failure) -> str:
    return failed_case.case.id + (f" ({failed_case.note})" if failed_case.note else "")


def _place(failure: Failure, link: str) -> TableCell:
    if not failure.path:
        return TableCell(dash(True))
    target = ""
    if link and not failure.path.startswith("/"):
        from urllib.parse import quote

        target = f"{link}{quote(failure.path, errors='backslashreplace')}#L{failure.line}"
    return TableCell(f"{failure.path}:{failure.line}", link=target)


def _describe_fields(failed_case: Failure) -> str:
    """Return the lowest-scoring fields of a case as text, or why there are none."""
    if errors := comparator_errors(failed_case.run):
        return errors[0]
    # The cell of the score says that there is no JSON.
    refused = any(made.unreadable and made.parsed is not False for made in failed_case.run.comparisons)
    if failed_case.run.error or refused:
        return headline_of(failed_case.message)
    fields = lowest_fields(Case(failed_case.case.id, (failed_case.run,)))
    if not fields:
        return headline_of(failed_case.message)
    return named_fields(fields)


def named_fields(fields: Sequence[tuple[str, float]]) -> str:
    """Return the first three fields with their scores, and the number of the others.

    >>> named_fields([("a", 0.5), ("b", 0.0)])
    'a 0.50, b 0.00'
    """
    more = f" and {count(len(fields) - _MAX_NAMED)} more" if len(fields) > _MAX_NAMED else ""
    return ", ".join(f"{path} {score_text(score)}" for path, score in fields[:_MAX_NAMED]) + more


# -- repeated cases ----------------------------------------------------------------------------------------


def repeated_checks(results: RunResult) -> tuple[Check, ...]:
    """Return the checks of repeated cases that are judged by their pass rate over all runs."""
    if results.has_only_gates:
        return ()
    return tuple(found for case in results.cases if (found := check(case)) is not None)


def repeat_blocks(repeated: Repeats) -> Iterator[Statistics | Table]:
    """Yield the statistics over all repeated cases, and a table of these cases."""
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
    """Return a table of the repeated cases, the lowest pass rate first."""
    cases = sorted(repeated.cases, key=lambda case: (case.pass_rate, natural_key(case.id)))
    rows = []
    for case in cases:
        scores = [run.mean("score") for run in case.runs]
        ends = dict.fromkeys(map(score_text, (min(scores), max(scores))))
        passed = f"{count(case.passed_runs)} of {count(len(case.runs))}"
        rate = TableCell(passed, tone_of(case.pass_rate), case.pass_rate)
        rows.append(Row([case.id, rate, " to ".join(ends)]))
    return Table(
        (Column("case", "node id"), Column("passed"), Column("scores of runs")),
        rows,
        noun="case",
        perfect_rows=sum(case.passed_runs == len(case.runs) for case in cases),
        perfect_level="all",
    )
