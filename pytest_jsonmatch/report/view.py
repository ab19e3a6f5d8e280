"""One view of a run, which terminal, Markdown, HTML and CI lay out, each in its own way."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.gate.repeats import check
from pytest_jsonmatch.limits import FIGURES
from pytest_jsonmatch.report.checks import JUDGED
from pytest_jsonmatch.report.escape import clip, mark
from pytest_jsonmatch.report.fieldtable import Section, sections_of
from pytest_jsonmatch.report.figures import answers_note, score_text
from pytest_jsonmatch.results.comparison import Case, CaseRun, merged_fields
from pytest_jsonmatch.results.model import MICRO, Corpus, ResultSet

if TYPE_CHECKING:
    from pytest_jsonmatch.gate.baseline import BaselineDiff, Delta
    from pytest_jsonmatch.gate.headlines import Headline, RunChange
    from pytest_jsonmatch.gate.intervals import Interval
    from pytest_jsonmatch.gate.session import Check
    from pytest_jsonmatch.report.spent import TextTable

# Our own colours in a failure message; those in the data have been escaped by then.
_COLORS: Final = re.compile(r"\x1b\[[0-9;]*m")
TITLES_OF: Final[dict[str, str]] = {"f1": "F1"}
"""The titles of figures that differ from their names."""


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
        r"""The first line of the message, without the name of the exception that every failure has.

        >>> Fault("a", "m", 0.5, message="AssertionError: m score 0.50 < 1.00\n2 fields").headline
        'm score 0.50 < 1.00'
        """
        first = next(message_lines(self.message, 1), "")
        return first.removeprefix("AssertionError: ")


class Headfigure(NamedTuple):
    """A figure of the run as a whole, with its interval if there is one."""

    title: str
    value: float | None
    interval: Interval | None

    @property
    def ends(self) -> tuple[str, ...]:
        """Both ends of the interval, with more decimals if they would look the same."""
        if self.interval is None:
            return ()
        ends = self.interval.low, self.interval.high
        is_narrow = ends[0] != ends[1] and score_text(ends[0]) == score_text(ends[1])
        return tuple(score_text(end, 4 if is_narrow else 2) for end in ends)


class Source(NamedTuple):
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
@dataclass(frozen=True, slots=True)
class RunView:
    """What is shown of a run.

    Args:
        results: the run.
        title: the title of the report.
        gates: the gates and other checks of the whole run.
        baseline: the name of the run that it is compared with; empty without one.
        diff: how it differs from that; None if there is no such run yet.
        proven: what the difference proves; None if that was not tested.
        headlines: its figures with their confidence intervals.
        faults: the cases that failed, the worst first.
        others_failed: how many tests that compare nothing failed.
        left_out: how many tests do not count, by reason.
        link: the base of links to lines, to which a file and `#L12` are appended; empty if there is none.
        differences: what differs, if only two values were compared; else empty.
        details: what `details_of` returned, by (node id, id) of the comparison.
        sources: what is known about tests, by node id.
        notes: further notes.
        by: the names of tags by which figures are shown.
    """

    results: ResultSet
    title: str = "jsonmatch"
    gates: Sequence[Check] = ()
    baseline: str = ""
    diff: BaselineDiff | None = None
    proven: RunChange | None = None
    headlines: Sequence[Headline] = ()
    faults: Sequence[Fault] = ()
    others_failed: int = 0
    left_out: Sequence[tuple[str, int]] = ()
    link: str = ""
    differences: str = ""
    details: Mapping[tuple[str, str], str] = field(default_factory=dict)
    sources: Mapping[str, Source] = field(default_factory=dict)
    notes: Sequence[str] = ()
    by: Sequence[str] = ()

    @property
    def repeated(self) -> tuple[Check, ...]:
        """The checks of repeated cases that are judged as a whole, by all of their runs."""
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
        return self.is_refused or (self.results.corpus is None and bool(self.faults))

    @property
    def is_judged(self) -> bool:
        """Whether the run can pass or fail: two files may be compared without a threshold."""
        if self.gates or self.unsettled:
            return True
        return self.results.corpus is None and (
            any(case.verdict != "passed" for case in self.results.cases)
            or any(each.threshold for each in self.results.comparisons)
        )

    @property
    def verdict(self) -> tuple[str, str]:
        """The kind of the run's verdict, and the words for it."""
        if self.failed:
            return "failed", "failed"
        if not self.results.number:
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
        corpus = self.results.corpus
        yield from _of_cases(self) if corpus is None else _of_corpus(corpus)
        if note := left_out_note(self.results):
            yield note, False
        if self.others_failed:
            yield f"{count(self.others_failed, 'test')} that compared nothing failed too", False
        if self.results.judged and self.headlines:
            yield JUDGED, False
        for reason, number in self.left_out:
            yield f"not counted: {count(number)} {reason}", False

    @property
    def tables(self) -> Iterator[TextTable]:
        """The figures of answers by model, if they are known, and those of cases by the tags `by`."""
        from pytest_jsonmatch.report.pivot import tag_table
        from pytest_jsonmatch.report.spent import spent_table

        if spent := spent_table(self.results.comparisons):
            yield spent
        yield from (tag_table(self.results, name) for name in self.by)

    @property
    def sections(self) -> Sequence[Section]:
        """The figures of fields, separately for each metric; for a corpus over all records, kept or not."""
        return sections_of(self.results.tabled) if self.results.number else ()

    @property
    def means_of(self) -> str:
        """What the figures of the run are means of; figures of fields are over leaves."""
        return f"mean of {self.results.noun}s"

    @property
    def figures(self) -> list[Headfigure]:
        """The mean figures of the run, or the score alone if all are equal, and then its pass rate."""
        intervals = {each.name: each.interval for each in self.headlines}
        means = [
            Headfigure(TITLES_OF.get(name, name), self.results.mean(name), intervals.get(name))
            for name in FIGURES
        ]
        if len({(score_text(each.value), each.ends) for each in means}) == 1:
            means = means[:1]
        return [*means, Headfigure("pass rate", self.results.pass_rate, intervals.get("pass_rate"))]

    @property
    def micro(self) -> tuple[Headfigure, ...]:
        """F1 of all fields together, where it has an interval; else nothing."""
        found = (each.interval for each in self.headlines if each.name == f"{MICRO}f1")
        return tuple(Headfigure("F1, all fields together", each.estimate, each) for each in found)

    @property
    def confidence(self) -> tuple[str, str]:
        """The confidence of its intervals, and the number of clusters, if any; empty without intervals."""
        if not self.headlines:
            return "", ""
        first = self.headlines[0].interval
        by = f", by {count(first.clusters, 'cluster')}" if first.clusters < first.cases else ""
        return f"{first.confidence * 100:g} % confidence", by


def _of_cases(view: RunView) -> Iterator[tuple[str, bool]]:
    cases = count(len(view.results.cases), "case")
    if view.faults:
        yield f"{count(len(view.faults))} of {cases} failed", True
    else:
        yield "no case failed" if view.is_judged else f"{cases}, without a threshold", False
    if unscored := sum(not fault.metric for fault in view.faults):
        yield f"{count(unscored)} before comparing, which counts as 0", False
    on = extent(view.results)
    if on != cases:
        yield f"evaluated on {on}", False


def _of_corpus(corpus: Corpus) -> Iterator[tuple[str, bool]]:
    yield f"{count(corpus.perfect)} of {count(corpus.records, 'record')} with score 1", False
    if missing := corpus.records - corpus.answered:
        yield f"{count(missing)} without an answer", False
    if corpus.errors:
        yield count(corpus.errors, "error"), False


# -- cases that failed -------------------------------------------------------------------------------------


def faults_of(
    results: ResultSet, told: Callable[[Case, CaseRun], tuple[str, int, str]] | None = None
) -> tuple[Fault, ...]:
    """Return the cases that failed, the worst first.

    Args:
        results: the run.
        told: returns the file and line at which a run of a case failed, and the test's message; without it
            only the errors of comparators are known.
    """
    found = []
    for case in results.cases:
        run = _failed_run(case)
        if run is not None:
            errors = "\n".join(error for each in run.comparisons for error in each.errors)
            found.append(_fault(case, run, *(("", 1, errors) if told is None else told(case, run))))
    return tuple(sorted(found, key=lambda fault: (fault.score, fault.case)))


def _fault(case: Case, run: CaseRun, path: str, line: int, message: str) -> Fault:
    return Fault(
        case.id,
        run.comparisons[0].metric if run.comparisons else "",
        case.figure("score"),
        tuple(worst_fields(Case(case.id, (run,)))),
        path,
        max(line, 1),
        message or run.error,
        "" if case.of == 1 else f"run {run.number} of {case.of}",
    )


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
    scores = ((path, figures.mean_score) for path, figures in merged_fields([case]).items())
    wrong = [(path, score) for path, score in scores if score is not None and score < 1]
    return sorted(wrong, key=lambda each: (each[1], each[0]))


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


# -- the extent of a run -----------------------------------------------------------------------------------


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


def left_out_note(results: ResultSet) -> str:
    """Return a note on what the figures leave out; empty if they leave out nothing.

    >>> from pytest_jsonmatch.results.model import ResultSet
    >>> left_out_note(ResultSet())
    ''
    """
    failed, unscored = results.batch_errors, results.unscored
    notes = [answers_note(results.answers)]
    if failed:
        notes.append(f"{count(failed, 'result')} left out of the figures: the batch comparator failed")
    if unscored:
        notes.append(f"{count(unscored, results.noun)} without any figure")
    return "; ".join(filter(None, notes))


# -- the baseline ------------------------------------------------------------------------------------------


def made_of(results: ResultSet) -> str:
    """Return the day and the commit of a run, as far as they are known."""
    return ", ".join(filter(None, [results.created[:10], results.commit[:10]]))


def commit_text(commit: str) -> str:
    """Return the commit of a run, as far as it is known.

    >>> commit_text("0123456789abcdef+"), commit_text("")
    ('commit 0123456789 with changes', '')
    """
    changed = " with changes" if commit.endswith("+") else ""
    return f"commit {commit.rstrip('+')[:10]}{changed}" if commit else ""


def gone(diff: BaselineDiff) -> str:
    """Return what happened to the cases that only the baseline has, as far as that is known."""
    after = diff.after
    return "not run" if after.narrowed or len(after.cases) < (after.collected or 0) else "vanished"


def baseline_extent(diff: BaselineDiff) -> list[str]:
    """Return how many cases two runs have in common, and how many only one of them has."""
    parts = [f"{count(len(diff.cases), 'case')} in both"]
    if diff.of_corpora:
        parts = [f"{count(diff.after.number, 'record')}, then {count(diff.before.number)}"]
    for what, names in (("new", diff.new), (gone(diff), diff.vanished)):
        parts += [f"{count(len(names))} {what}"] if names else []
    return parts


def baseline_changes(diff: BaselineDiff) -> Iterable[tuple[str, list[Delta]]]:
    """Return the fields and cases whose score has changed; fields with their metric if there are several."""
    several = len({each.metric for each in diff.fields}) > 1
    fields = [each for each in diff.fields if each.change]
    if several:
        fields = [each._replace(name=f"{each.name} ({each.metric})") for each in fields]
    return ("field", fields), ("case", list(diff.changed()))
