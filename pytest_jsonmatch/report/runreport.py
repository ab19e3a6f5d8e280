"""A run as reports for people and for services read it: verdict, cases that failed, and where they stand."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

from pytest_jsonmatch.report.escape import clip, mark
from pytest_jsonmatch.report.figures import count
from pytest_jsonmatch.results.comparison import Comparison
from pytest_jsonmatch.results.model import FIGURES, Case, merged_fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_jsonmatch.gate.baseline import BaselineDiff
    from pytest_jsonmatch.gate.headlines import Headline, RunChange
    from pytest_jsonmatch.gate.session import Checks
    from pytest_jsonmatch.results.model import CaseRun, Corpus, ResultSet

__all__ = [
    "Fault",
    "RunReport",
    "extent",
    "failed_run",
    "field_comparisons",
    "left_out_note",
    "make_fault",
    "message_lines",
    "whole_corpus",
]

# Colours of ours in a failure message; those of the data are escapes by then.
_COLORS: Final = re.compile(r"\x1b\[[0-9;]*m")


@final
@dataclass(frozen=True, slots=True)
class Fault:
    """A case that failed: how, and where to look.

    Args:
        case: the case's id.
        metric: by which it was compared; empty if it failed before.
        score: its score, the mean of its runs.
        fields: the scores of its fields below 1, the worst first, in the run that is shown.
        path: of the file in which it failed, from the root of the repository; empty if that is unknown.
        line: in that file, counted from 1.
        message: what the test said, as it was said.
        note: of which runs that is, such as "run 2 of 3"; empty for a case that runs once.
    """

    case: str
    metric: str
    score: float
    fields: tuple[tuple[str, float], ...] = ()
    path: str = ""
    line: int = 1
    message: str = ""
    note: str = ""

    @property
    def headline(self) -> str:
        r"""The first line of what the test said, without the name of the exception that every failure has.

        >>> Fault("a", "m", 0.5, message="AssertionError: m score 0.50 < 1.00\n2 fields").headline
        'm score 0.50 < 1.00'
        """
        first = next(message_lines(self.message, 1), "")
        return first.removeprefix("AssertionError: ")


@final
@dataclass(frozen=True, slots=True)
class RunReport:
    """What a report of a run is made of.

    Args:
        results: the run.
        verdict: what it was judged by.
        on: what was evaluated, such as "12 of 80 cases (-k)".
        faults: the cases that failed, the worst first.
        baseline: the name of the baseline; empty without one.
        diff: how the run differs from it; None if there is none yet.
        others_failed: how many tests failed that compare nothing.
        left_out: how many tests do not count, by reason.
        proven: what that difference proves; None if nothing was asked of it.
        headlines: figures of the run with their confidence intervals.
        link: an address that, with a file and `#L12` after it, leads to a line; empty if there is none.
        differences: what differs, where two values were compared and nothing else; else empty.
    """

    results: ResultSet
    verdict: Checks
    on: str
    faults: tuple[Fault, ...] = ()
    baseline: str = ""
    diff: BaselineDiff | None = None
    others_failed: int = 0
    left_out: tuple[tuple[str, int], ...] = ()
    link: str = ""
    proven: RunChange | None = None
    headlines: tuple[Headline, ...] = ()
    differences: str = ""

    @property
    def failed(self) -> bool:
        """Whether a gate or a case failed; a record of a corpus does not fail by not being perfect."""
        return self.verdict.failed or (self.results.corpus is None and bool(self.faults))

    @property
    def is_judged(self) -> bool:
        """Whether anything was asked of the run."""
        if self.verdict.gates or self.verdict.cases or self.failed:
            return True
        return self.results.corpus is None and any(each.threshold for each in self.results.comparisons)

    @property
    def is_cut_short(self) -> bool:
        """Whether the run did not come to its end."""
        return not {"interrupted", "stopped early"}.isdisjoint(self.results.narrowed)


def make_fault(case: Case, run: CaseRun, place: tuple[str, int], message: str) -> Fault:
    """Return what is to be said of a case that failed, by the run that is to be shown.

    Args:
        case: the case.
        run: one of its runs that did not pass.
        place: file and line at which it failed.
        message: what the test said.
    """
    alone = merged_fields([Case(case.id, (run,))])
    scores = {path: figures.mean_score for path, figures in alone.items()}
    fields = sorted((score, path) for path, score in scores.items() if score is not None and score < 1)
    note = "" if case.of == 1 else f"run {run.number} of {case.of}"
    metric = run.comparisons[0].metric if run.comparisons else ""
    return Fault(
        case.id,
        metric,
        case.figure("score"),
        tuple((path, score) for score, path in fields),
        place[0],
        max(place[1], 1),
        message or run.error,
        note,
    )


def failed_run(case: Case) -> CaseRun | None:
    """Return, of a case that failed, the run to show: of those that did not pass the one that scores least.

    None of a case that did not fail, or of which that is not settled yet.
    """
    is_judged_as_a_whole = case.min_pass_rate is not None and case.of > 1
    if case.verdict != "failed" if is_judged_as_a_whole else case.passed:
        return None
    return min(
        (run for run in case.runs if not run.passed), key=lambda run: run.figure("score"), default=None
    )


def extent(results: ResultSet) -> str:
    """Return what was evaluated.

    >>> from pytest_jsonmatch.results.model import ResultSet
    >>> extent(ResultSet(collected=3, narrowed=("-k",)))
    '0 of 3 cases (-k)'
    """
    if results.corpus is not None:
        return count(results.corpus.records, "record")
    there, of = len(results.cases), max(results.collected or 0, len(results.cases))
    on = count(there, "case") if there == of else f"{count(there)} of {count(of, 'case')}"
    return f"{on} ({', '.join(results.narrowed)})" if results.narrowed else on


def whole_corpus(corpus: Corpus) -> Comparison:
    """Return the figures of a corpus as one comparison, of which tables read the fields."""
    failed = sum(each.batch_errors for each in corpus.fields.values())
    score, precision, recall, f1 = (corpus.means.get(name, 0.0) for name in FIGURES)
    return Comparison(
        id="",
        nodeid="",
        metric=corpus.metric,
        signature=corpus.signature,
        score=score,
        precision=precision,
        recall=recall,
        f1=f1,
        passed=True,
        fields=corpus.fields,
        counts={"batch_error": failed} if failed else {},
    )


def field_comparisons(results: ResultSet) -> Sequence[Comparison]:
    """Return comparisons whose fields are those of the run: of a corpus of all records, kept or not."""
    if results.corpus is None:
        return list(results.comparisons)
    return [whole_corpus(results.corpus)] if results.corpus.records else []


def left_out_note(results: ResultSet) -> str:
    """Return what has to be said beside the figures of what they leave out; empty if that is nothing.

    >>> from pytest_jsonmatch.results.model import ResultSet
    >>> left_out_note(ResultSet())
    ''
    """
    failed = results.batch_errors
    return f"{count(failed, 'result')} left out of the figures: the batch comparator failed" if failed else ""


def message_lines(message: str, most: int, *, width: int = 200, unicode: bool = True) -> Iterator[str]:
    r"""Yield the first lines of a message, each printable and clipped.

    >>> list(message_lines("one\ntwo \x1b[31mred\x1b[0m\nthree", 2))
    ['one', 'two red', '…']
    """
    lines = _COLORS.sub("", message[: most * width * 20]).splitlines()
    for line in lines[:most]:
        yield clip(line.rstrip(), width, unicode=unicode)
    if len(lines) > most > 1:
        yield mark(unicode)
