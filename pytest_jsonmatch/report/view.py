"""One view of a run: what terminal, Markdown, HTML and CI show, each in its own layout."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.gate.repeats import check
from pytest_jsonmatch.limits import FIGURES
from pytest_jsonmatch.report.checks import JUDGED
from pytest_jsonmatch.report.escape import clip, mark, no_command
from pytest_jsonmatch.report.fieldtable import ALL_LEAVES, Section, badness, sections_of
from pytest_jsonmatch.report.figures import (
    answers_note,
    compare_figures,
    interval_texts,
    score_text,
)
from pytest_jsonmatch.report.sheets import (
    SheetBlock,
    SheetFigure,
    SheetFigures,
)
from pytest_jsonmatch.results.comparison import Case, CaseRun, Comparison, merged_fields
from pytest_jsonmatch.results.parts import candidates
from pytest_jsonmatch.results.run import MICRO, RunResult

if TYPE_CHECKING:
    from pytest_jsonmatch.gate.headlines import Contest, Headline
    from pytest_jsonmatch.gate.intervals import Interval
    from pytest_jsonmatch.gate.session import Check

# Our own colours in a failure message; those in the data have been escaped by then.
_COLORS: Final = re.compile(r"\x1b\[[0-9;]*m")
_SAME: Final = 1e-9
_MOST_RIVALS: Final = 8
"""If a parametrized fixture has more values, they are not compared with the first."""
TITLES_OF: Final = {name: "F1" if name == "f1" else name for name in FIGURES}
"""The titles of figures by their names."""


@final
@dataclass(frozen=True, slots=True)
class Fault:
    """A case that failed: how, and where to look.

    Args:
        case: the case's id.
        metric: the metric by which it was compared; empty if it failed before comparing.
        score: its score, the mean of its runs.
        fields: the scores of its fields below 1, the worst first, in the run that is shown.
        path: the file in which it failed, from the root of the repository; empty if that is unknown.
        line: the line in that file, counted from 1.
        message: the failure message of the test, unchanged.
        note: the run that is shown, such as "run 2 of 3"; empty for a case that runs once.
        limit: the score that it had to reach; None if there is no such limit, or it was reached.
    """

    case: str
    metric: str
    score: float
    fields: tuple[tuple[str, float], ...] = ()
    path: str = ""
    line: int = 1
    message: str = ""
    note: str = ""
    limit: float | None = None

    @property
    def score_text(self) -> str:
        """The score, with enough decimals to see that it is below its limit."""
        return score_text(self.score) if self.limit is None else compare_figures(self.score, self.limit)[0]

    @property
    def headline(self) -> str:
        r"""The first line of the message, without the name of the exception that every failure has.

        >>> Fault("a", "m", 0.5, message="AssertionError: m score 0.50 < 1.00\n2 fields").headline
        'm score 0.50 < 1.00'
        """
        first = next(message_lines(self.message, 1), "")
        return first.removeprefix("AssertionError: ")


class Headfigure(NamedTuple):
    """A figure of the run as a whole, with its interval if there is one."""

    name: str
    value: float | None
    interval: Interval | None = None
    least: int = 2
    """At least this many decimals: as many as the other figures of the run have."""

    @property
    def texts(self) -> tuple[str, str]:
        """The value and its interval, with the same decimals; the interval is empty if there is none."""
        if self.value is None or self.interval is None:
            return score_text(self.value, self.least), ""
        return interval_texts(self.value, self.interval.low, self.interval.high, self.least)


class Scope(NamedTuple):
    """Figures of the same things: of all leaves, or means of cases."""

    title: str
    figures: tuple[Headfigure, ...]


class CaseText(NamedTuple):
    """What is known about a test beyond what it compared.

    Args:
        place: where it is written, as "file:line".
        input: the input that was to be answered, as text.
        answer: the raw answer, if it is text.
    """

    place: str = ""
    input: str = ""
    answer: str = ""


@final
@dataclass(frozen=True)
class RunView:
    """What is shown of a run.

    Args:
        results: the run.
        title: the title of the report.
        gates: the gates and other checks of the whole run.
        baseline: the name of the run that it is compared with; empty without one.
        contest: the run against that; None if there is no such run yet.
        rivals: other runs against each other or this one, if these are not parts of it.
        level: the confidence of comparisons between parts of it.
        headlines: its figures with their confidence intervals.
        faults: the cases that failed, the worst first.
        others_failed: how many tests that compare nothing failed.
        left_out: how many tests do not count, by reason.
        link: the base of links to lines, to which a file and `#L12` are appended; empty if there is none.
        details: what `details_of` returned, by (node id, id) of the comparison.
        sources: what is known about tests, by node id.
        notes: further notes.
        by: the names of tags by which figures are shown.
    """

    results: RunResult
    title: str = "jsonmatch"
    gates: Sequence[Check] = ()
    baseline: str = ""
    contest: Contest | None = None
    rivals: Sequence[Contest] = ()
    level: float = 0.95
    headlines: Sequence[Headline] = ()
    faults: Sequence[Fault] = ()
    others_failed: int = 0
    left_out: Sequence[tuple[str, int]] = ()
    link: str = ""
    details: Mapping[tuple[str, str], str] = field(default_factory=dict)
    sources: Mapping[str, CaseText] = field(default_factory=dict)
    notes: Sequence[str] = ()
    by: Sequence[str] = ()

    @property
    def repeated(self) -> tuple[Check, ...]:
        """The checks of repeated cases that are judged as a whole, by all of their runs."""
        if self.results.has_only_gates:
            return ()
        return tuple(found for case in self.results.cases if (found := check(case)) is not None)

    @property
    def unsettled(self) -> tuple[Check, ...]:
        """The repeated cases that failed, and then those that could not be decided."""
        open_ones = [check for check in self.repeated if check.passed is not True]
        return tuple(sorted(open_ones, key=lambda check: check.passed is None))

    @property
    def is_refused(self) -> bool:
        """Whether a check failed. The banner and the exit status both depend on it, so they can't differ."""
        return any(check.passed is False for check in (*self.gates, *self.repeated))

    @property
    def failed(self) -> bool:
        """Whether a gate or a case failed; a record of a corpus does not fail by not being perfect."""
        return self.is_refused or (not self._has_only_figures and bool(self.faults))

    def completed(self) -> RunView:
        """Return a view with everything derived from its results: intervals, failures, what is left out."""
        from pytest_jsonmatch.gate.headlines import headlines

        results = self.results
        notes = [*filter(None, [left_out_note(results)]), *self.notes]
        if results.is_partial:
            of = count(results.total_records, "record")
            notes.append(
                f"Figures and fields are of all {of}, but only {count(len(results.cases))} are listed as "
                "cases. With `keep` as `all` all are, and figures have intervals."
            )
        return replace(
            self,
            headlines=() if results.is_partial or len(results.cases) < 2 else headlines(results),
            faults=faults_of(results),
            notes=notes,
        )

    @property
    def _has_only_figures(self) -> bool:
        """Whether cases or records can't fail the run: gates alone decide."""
        return self.results.is_of_records or self.results.has_only_gates

    @property
    def is_judged(self) -> bool:
        """Whether the run can pass or fail: two files may be compared without a threshold."""
        if self.gates or self.unsettled:
            return True
        return not self.results.is_of_records and (
            any(case.verdict != "passed" for case in self.results.cases)
            or any(each.threshold for each in self.results.comparisons)
        )

    @property
    def judges_cases(self) -> bool:
        """Whether single cases pass or fail: records of a corpus have no threshold, only runs have gates."""
        return not self.results.is_of_records and self.is_judged

    @property
    def verdict(self) -> tuple[str, str]:
        """The kind of the run's verdict, and the words for it."""
        if self.failed:
            return "failed", "failed"
        if not self.results.total_records:
            return "none", "nothing was compared"
        if not self.is_judged:
            return "none", f"score {score_text(self.results.mean('score'))}"
        if {"interrupted", "stopped early"}.isdisjoint(self.results.narrowed):
            return "passed", "passed"
        return "undecided", "passed so far"

    @property
    def reasons(self) -> Iterator[tuple[str, bool]]:
        """The reasons for the verdict, each with whether it counts against the run."""
        gates = [check for check in self.gates if check.passed is not None]
        if failed := sum(not check.passed for check in gates):
            yield f"{failed} of {count(len(gates), 'gate')} failed", True
        elif gates:
            yield f"{count(len(gates), 'gate')} passed", False
        yield from of_records(self.results) if self.results.is_of_records else _of_cases(self)
        if note := left_out_note(self.results):
            yield note, False
        if self.others_failed:
            yield f"{count(self.others_failed, 'test')} that compared nothing failed too", False
        if self.results.judged and self.headlines:
            yield JUDGED, False
        for reason, number in self.left_out:
            yield f"not counted: {count(number)} {reason}", False

    @cached_property
    def tables(self) -> tuple[SheetBlock, ...]:
        """The figures of cases by the tags in `by`, else by parametrized fixtures; of answers by model."""
        from pytest_jsonmatch.report.tables import spent_blocks, tag_blocks

        names = self.by or self.candidates
        by_tag = (
            block
            for name in names
            for block in tag_blocks(self.results, name, fields=not self.contests.get(name))
        )
        return *by_tag, *(() if any(self.contests.values()) else spent_blocks(self.results.cases))

    @cached_property
    def contests(self) -> Mapping[str, Sequence[Contest]]:
        """The comparisons of its parts with each value of a parametrized fixture, by fixture."""
        from pytest_jsonmatch.gate.headlines import contests_of

        shown = {
            name: values
            for name, values in self.candidates.items()
            if len(values) <= _MOST_RIVALS and name in (self.by or self.candidates)
        }
        return contests_of(self.results, shown, self.level)

    @cached_property
    def sides(self) -> tuple[SheetBlock, ...]:
        """Which of its parts with values of a parametrized fixture is better, or which of its `rivals`."""
        from pytest_jsonmatch.report.against import contest_blocks

        several = {"run": self.rivals} if self.rivals else self.contests
        return tuple(block for noun, each in several.items() for block in contest_blocks(each, noun))

    @property
    def against(self) -> tuple[SheetBlock, ...]:
        """The comparison with the baseline, if there is one."""
        from pytest_jsonmatch.report.against import contest_blocks

        return () if self.contest is None else tuple(contest_blocks([self.contest]))

    @cached_property
    def candidates(self) -> Mapping[str, Sequence[str]]:
        """The values of parametrized fixtures that have several, by fixture."""
        return candidates(self.results)

    @cached_property
    def sections(self) -> Sequence[Section]:
        """The figures of fields, separately for each metric; for a corpus over all records, kept or not."""
        results = self.results
        sections = sections_of(results.tabled) if results.total_records else ()
        if not results.is_of_records:
            return sections
        of = results.total_records
        return [
            replace(each, cases=of, noun=results.noun, uncounted=0 if each.extra else of) for each in sections
        ]

    @cached_property
    def scopes(self) -> list[Scope]:
        """The figures of the run: means of cases, and, for several cases, figures over all leaves.

        Precision, recall and F1 are left out if all equal the score; F1 also if it alone does.
        """
        results = self.results
        if not results.total_records:
            return []
        known = {each.name: each.interval for each in self.headlines}
        means = [Headfigure(TITLES_OF[name], results.mean(name), known.get(name)) for name in FIGURES]
        rate = Headfigure("pass rate", results.pass_rate, known.get("pass_rate"))
        is_judged = results.total_records > 1 and (results.is_of_records or self.is_judged)
        title = f"mean of {results.noun}s" if results.total_records > 1 else f"1 {results.noun}"
        scopes = [Scope(title, (*_distinct(means), *([rate] if is_judged else [])))]
        if results.total_records > 1 and results.total_unscored < results.total_records:
            total = self.sections[0].total if len(self.sections) == 1 else results.over()
            values = (total.mean_score, total.precision, total.recall, total.f1)
            leaves = [
                Headfigure(TITLES_OF[name], value, known.get(f"{MICRO}{name}"))
                for name, value in zip(FIGURES, values, strict=True)
            ]
            several = len({each.metric for each in results.comparisons}) > 1
            scopes.append(Scope(f"{ALL_LEAVES}{', all metrics' if several else ''}", _distinct(leaves)))
        shown = [each for scope in scopes for each in scope.figures if each.value is not None]
        least = max((len(each.texts[0].partition(".")[2]) for each in shown), default=2)
        return [
            Scope(scope.title, tuple(each._replace(least=least) for each in scope.figures))
            for scope in scopes
        ]

    @property
    def figure_blocks(self) -> list[SheetFigures]:
        """The figures as blocks, with their intervals if they have any."""
        sure, clusters = self.confidence
        of = count(self.results.total_records, self.results.noun)
        title = f", with {sure} ({of}{clusters}):" if sure else ":"
        return [
            SheetFigures([SheetFigure(each.name, *each.texts) for each in scope.figures], scope.title + title)
            for scope in self.scopes
        ]

    @property
    def confidence(self) -> tuple[str, str]:
        """The confidence of its intervals, and the number of clusters, if any; empty without intervals."""
        if not self.headlines:
            return "", ""
        first = self.headlines[0].interval
        by = f" in {count(first.clusters, 'cluster')}" if first.clusters < first.cases else ""
        return f"{first.confidence * 100:g} % confidence intervals", by


def _distinct(figures: Sequence[Headfigure]) -> tuple[Headfigure, ...]:
    score, *others = figures
    value = score.value or 0.0
    is_other = [each.value is not None and abs(each.value - value) > _SAME for each in others]
    if not any(is_other):
        return (score,)
    return (score, *(others if is_other[-1] else others[:-1]))


def _of_cases(view: RunView) -> Iterator[tuple[str, bool]]:
    cases = count(len(view.results.cases), "case")
    if view.faults:
        is_bad = not view.results.has_only_gates
        yield f"{count(len(view.faults))} of {cases} {'failed' if is_bad else 'did not pass'}", is_bad
    else:
        yield "no case failed" if view.is_judged else f"{cases}, without a threshold", False
    if unscored := sum(not fault.metric for fault in view.faults):
        yield f"{count(unscored)} before comparing, which counts as 0", False
    on = extent(view.results)
    if on != cases:
        yield f"evaluated on {on}", False


def of_records(results: RunResult) -> Iterator[tuple[str, bool]]:
    """Yield how many records are right, or have no answer, as `RunView.reasons` does."""
    yield f"{count(results.total_perfect)} of {count(results.total_records, 'record')} with score 1", False
    if results.total_unanswered:
        yield f"{count(results.total_unanswered)} without an answer", False
    if results.total_errors:
        yield count(results.total_errors, "error"), False


# -- cases that failed -------------------------------------------------------------------------------------


def faults_of(
    results: RunResult, told: Callable[[Case, CaseRun], tuple[str, int, str]] | None = None
) -> tuple[Fault, ...]:
    """Return the cases that failed, the worst first.

    Args:
        results: the run.
        told: returns the file and line at which a run of a case failed, and the test's message; without it
            only the errors of comparators are known.
    """
    faults = []
    for case in results.cases:
        run = _failed_run(case)
        if run is not None:
            errors = "\n".join(error for each in run.comparisons for error in each.errors)
            faults.append(_fault(case, run, *(("", 1, errors) if told is None else told(case, run))))
    return tuple(sorted(faults, key=lambda fault: (fault.score, fault.case)))


def _fault(case: Case, run: CaseRun, path: str, line: int, message: str) -> Fault:
    score = case.figure("score")
    return Fault(
        case.id,
        run.comparisons[0].metric if run.comparisons else "",
        score,
        tuple(worst_fields(Case(case.id, (run,)))),
        path,
        max(line, 1),
        message or run.error,
        "" if case.of == 1 else f"run {run.number} of {case.of}",
        missed_limit(score, run.comparisons),
    )


def missed_limit(score: float, comparisons: Iterable[Comparison]) -> float | None:
    """Return the first limit of comparisons that a score is below; None if there is none."""
    limits = (each.threshold.get("score") for each in comparisons)
    return next((limit for limit in limits if limit is not None and score < limit), None)


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


def worst_fields(case: Case) -> list[tuple[str, float]]:
    """Return the fields of a case that score below 1, the worst first."""
    wrong = [
        (badness(figures), path, score)
        for path, figures in merged_fields([case]).items()
        if (score := figures.mean_score) is not None and score < 1
    ]
    return [(path, score) for _, path, score in sorted(wrong)]


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


# -- the extent of a run -----------------------------------------------------------------------------------


def extent(results: RunResult) -> str:
    """Return what was evaluated.

    >>> from pytest_jsonmatch.results.run import RunResult
    >>> extent(RunResult.of_cases(collected=3, narrowed=("-k",)))
    '0 of 3 cases (-k)'
    """
    if results.is_of_records:
        return count(results.total_records, "record")
    there, of = len(results.cases), max(results.collected or 0, len(results.cases))
    on = count(there, "case") if there == of else f"{count(there)} of {count(of, 'case')}"
    return f"{on} ({', '.join(results.narrowed)})" if results.narrowed else on


def left_out_note(results: RunResult) -> str:
    """Return a note on what the figures leave out; empty if they leave out nothing.

    >>> from pytest_jsonmatch.results.run import RunResult
    >>> left_out_note(RunResult.of_cases())
    ''
    """
    failed, unscored = results.total_batch_errors, results.total_unscored
    notes = [answers_note(results.answers)]
    if failed:
        notes.append(f"{count(failed, 'result')} left out of the figures: the batch comparator failed")
    if unscored:
        notes.append(f"{count(unscored, results.noun)} without any figure")
    return "; ".join(filter(None, notes))
