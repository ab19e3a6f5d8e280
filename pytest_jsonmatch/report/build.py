"""A run becomes a report: verdict, failing cases, fields, statistics. Nothing is computed after this."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_jsonmatch._version import __version__
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.gate.repeats import repeats
from pytest_jsonmatch.limits import SCORES
from pytest_jsonmatch.report.blocks import (
    Heading,
    Report,
    ReportBlock,
    Statistic,
    Statistics,
    Table,
    Text,
)
from pytest_jsonmatch.report.case_tables import (
    Told,
    failed_cases,
    failed_table,
    repeat_blocks,
    repeated_checks,
)
from pytest_jsonmatch.report.checks import JUDGED, gate_table, repeated_table
from pytest_jsonmatch.report.fields import ALL_FIELDS, MetricFields, field_blocks, fields_of
from pytest_jsonmatch.report.formatting import (
    answers_note,
    change_text,
    commit_text,
    interval_texts,
    score_text,
)
from pytest_jsonmatch.results.comparison import comparisons_of
from pytest_jsonmatch.results.parts import candidates
from pytest_jsonmatch.results.run import MICRO, RunResult

if TYPE_CHECKING:
    from pytest_jsonmatch.gate.check import Check
    from pytest_jsonmatch.gate.headlines import Contest
    from pytest_jsonmatch.gate.intervals import Interval
    from pytest_jsonmatch.report.blocks import Chart
    from pytest_jsonmatch.report.case_tables import FailedCase
    from pytest_jsonmatch.report.cases_page import PageExtra
    from pytest_jsonmatch.results.comparison import Comparison

_SAME: Final = 1e-9
_MOST_RIVALS: Final = 8
"""If a parametrized fixture has more values, they are not compared with the first."""
TITLES_OF: Final = {name: "F1" if name == "f1" else name for name in SCORES}
"""The titles of statistics by their names."""


def build(
    results: RunResult,
    title: str = "jsonmatch",
    *,
    gates: Sequence[Check] = (),
    baseline: str = "",
    contest: Contest | None = None,
    rivals: Sequence[Contest] = (),
    confidence: float = 0.95,
    has_intervals: bool = False,
    by: Sequence[str] = (),
    told: Told | None = None,
    page: PageExtra | None = None,
    others_failed: int = 0,
    left_out: Sequence[tuple[str, int]] = (),
    notes: Sequence[str | Text] = (),
    also: Sequence[str] = (),
    link: str = "",
) -> Report:
    """Return the report of a run.

    Args:
        results: the run.
        title: the title of the report.
        gates: the gates and other checks of the whole run.
        baseline: the name of the run that it is compared with; empty without one.
        contest: the run against that; None if there is no such run yet.
        rivals: other runs against each other or this one, if these are not parts of it.
        confidence: the confidence of intervals and tests.
        has_intervals: whether statistics get their confidence intervals, which are costly.
        by: the names of tags by which statistics are shown.
        told: returns where a run of a case failed, and the test's message; None if that is not known.
        page: what a page shows beyond the rest; None without a page.
        others_failed: how many tests that compare nothing failed.
        left_out: how many tests do not count, by reason.
        notes: further notes.
        also: further things to say beside the verdict.
        link: the base of links to lines, to which a file and `#L12` are appended; empty if there is none.
    """
    failed, metrics = failed_cases(results, told), fields_of(results)
    repeated = repeats(results.cases)
    pending = [each for each in repeated_checks(results) if each.passed is not True]
    pending.sort(key=lambda each: each.passed is None)
    is_judged = _is_judged(results, [*gates, *pending])
    refused = any(each.passed is False for each in (*gates, *pending))
    fails = refused or bool(failed and not results.is_of_records and not results.has_only_gates)
    verdict, headline = _verdict(results, is_judged=is_judged, fails=fails)
    statistics = statistics_blocks(
        results, metrics, confidence, is_judged=is_judged, has_intervals=has_intervals
    )
    has_intervals = any(each.interval for block in statistics for each in block.statistics)
    reasons = [
        *_reasons(results, gates, failed, is_judged=is_judged, others_failed=others_failed),
        *(Text(f"not counted: {count(number)} {reason}") for reason, number in left_out),
        *map(Text, also),
        *_against(baseline, contest),
    ]
    before = _scores_before(contest)
    blocks: list[ReportBlock] = [
        gate_table(gates, extent(results)),
        repeated_table(pending),
        *_cases(results, failed, page, link, is_judged=is_judged),
        *field_blocks(results, metrics, before),
        *_sides(results, contest, rivals, by, confidence),
        *repeat_blocks(repeated),
        *statistics,
        *(Text(note, "open", level="brief") for note in _notes(results)),
        *(note if isinstance(note, Text) else Text(note, "open") for note in notes),
        *([Text(JUDGED, "open", level="brief")] if results.judged and (has_intervals or gates) else []),
        *([] if page is None else _charts(results, metrics)),
    ]
    origin = results.created.replace("T", " "), commit_text(results.commit)
    is_clean = not fails and not failed and not pending
    is_perfect = is_clean and all(each.is_perfect for each in metrics) and not repeated.is_mixed
    return Report(
        title,
        extent(results),
        blocks,
        verdict,
        headline,
        reasons,
        tuple(each.failure for each in failed) if not results.has_only_gates else (),
        is_clean=is_clean,
        is_perfect=is_perfect,
        origin=", ".join(filter(None, origin)),
        made_by=", ".join(f"{name} {text}" for name, text in results.versions.items())
        or f"pytest-jsonmatch {__version__}",
    )


def _cases(
    results: RunResult, failed: Sequence[FailedCase], page: PageExtra | None, link: str, *, is_judged: bool
) -> Iterator[Table]:
    if page is None:
        yield failed_table(results, failed, link)
    else:
        from pytest_jsonmatch.report.cases_page import case_table

        yield case_table(results, failed, page, link, is_judged=is_judged)


def _charts(results: RunResult, metrics: Sequence[MetricFields]) -> Iterator[Chart]:
    """Yield the charts of a page; a picture of some records would look like one of all."""
    if results.total_records > 1 and not results.is_partial:
        from pytest_jsonmatch.report.cases_page import heat_chart, score_chart

        yield score_chart(results)
        yield heat_chart(results, list(dict.fromkeys(path for each in metrics for path in each.fields)))


# -- the verdict -------------------------------------------------------------------------------------------


def _is_judged(results: RunResult, checks: Sequence[Check]) -> bool:
    """Return whether the run can pass or fail: two files may be compared without a threshold."""
    if checks:
        return True
    return not results.is_of_records and (
        any(case.verdict != "passed" for case in results.cases)
        or any(each.threshold for each in results.comparisons)
    )


def _verdict(results: RunResult, *, is_judged: bool, fails: bool) -> tuple[str, str]:
    """Return the kind of the run's verdict, and the words for it."""
    if fails:
        return "failed", "failed"
    if not results.total_records:
        return "", "nothing was compared"
    if not is_judged:
        return "", f"mean score {score_text(results.mean('score'))}"
    if {"interrupted", "stopped early"}.isdisjoint(results.narrowed):
        return "passed", "passed"
    return "undecided", "passed so far"


def _reasons(
    results: RunResult,
    gates: Sequence[Check],
    failed: Sequence[FailedCase],
    *,
    is_judged: bool,
    others_failed: int,
) -> Iterator[Text]:
    """Yield the reasons for the verdict; those against the run have the tone "bad"."""
    decided = [check for check in gates if check.passed is not None]
    if lost := sum(not check.passed for check in decided):
        yield Text(f"{lost} of {count(len(decided), 'gate')} failed", "bad")
    elif decided:
        yield Text(f"{count(len(decided), 'gate')} passed")
    cases = count(len(results.cases), "case")
    if results.is_of_records:
        yield Text(f"{count(results.total_perfect)} of {count(results.total_records, 'record')} with score 1")
        if results.total_errors:
            yield Text(count(results.total_errors, "error"))
    elif failed:
        what, tone = ("did not pass", "") if results.has_only_gates else ("failed", "bad")
        yield Text(f"{count(len(failed))} of {cases} {what}", tone)
    elif results.total_records:
        yield Text("no case failed" if is_judged else f"{cases}, without a threshold")
    if results.total_unanswered:
        yield Text(f"{count(results.total_unanswered)} unanswered")
    before = [each for each in failed if not each.run.comparisons and not each.run.unanswered]
    if not results.is_of_records and (unscored := len(before)):
        yield Text(f"{count(unscored)} before comparing, which counts as 0")
    if others_failed:
        yield Text(f"{count(others_failed, 'test')} that compared nothing failed too")


def _against(baseline: str, contest: Contest | None) -> Iterator[Text]:
    """Yield what a reader has to know of the comparison with the baseline first."""
    if contest is None:
        if baseline:
            yield Text("there is no baseline {} yet", names=[baseline])
    elif baseline and not contest.diff.is_comparable:
        yield Text("not comparable with {}: cases were scored differently", "bad", [baseline])
    elif baseline and contest.diff.score is not None:
        change = change_text(contest.diff.score.change)
        yield Text(f"mean score of the same cases against {{}}: {change}", names=[baseline])


# -- fields and parts of the run ---------------------------------------------------------------------------


def _scores_before(contest: Contest | None) -> dict[tuple[str, str], float | None]:
    """Return the scores of the fields in the baseline, by metric and path."""
    if contest is None or not contest.diff.is_comparable:
        return {}
    return {(each.metric, each.name): each.before for each in contest.diff.fields}


def _sides(
    results: RunResult,
    contest: Contest | None,
    rivals: Sequence[Contest],
    by: Sequence[str],
    confidence: float,
) -> Iterator[ReportBlock]:
    """Yield comparisons with other runs and between parts of this one, and tables by tag and by model."""
    from pytest_jsonmatch.report.baseline_report import contest_blocks
    from pytest_jsonmatch.report.tables import spent_blocks, tag_blocks

    if contest is not None:
        yield Heading("Against the baseline", "all")
        yield from (_brief(block, also=True) for block in contest_blocks([contest]))
    of_fixtures = candidates(results)
    parts = _contests(results, of_fixtures, by, confidence)
    for noun, several in ({"run": rivals} if rivals else parts).items():
        if several:
            yield Heading("Which is better", "all")
        yield from (_brief(block, also=by) for block in contest_blocks(several, noun))
    is_first = True
    for name in by or of_fixtures:
        for block in tag_blocks(results, name, fields=not parts.get(name)):
            yield _brief(block, also=by or is_first)
            is_first = False
    if not any(parts.values()):
        yield from spent_blocks(results.cases)


def _brief(block: ReportBlock, *, also: object) -> ReportBlock:
    """Return a block that a brief report shows, too, if it is a sentence or `also` is true."""
    if isinstance(block, Text):
        return block._replace(level="brief")
    return replace(block, level="brief") if also and isinstance(block, Table) else block


def _contests(
    results: RunResult, of_fixtures: Mapping[str, Sequence[str]], by: Sequence[str], confidence: float
) -> Mapping[str, Sequence[Contest]]:
    """Return the comparisons of its parts with each value of a parametrized fixture, by fixture."""
    if not of_fixtures:
        return {}
    from pytest_jsonmatch.gate.headlines import contests_of

    shown = {
        name: values
        for name, values in of_fixtures.items()
        if len(values) <= _MOST_RIVALS and name in (by or of_fixtures)
    }
    return contests_of(results, shown, confidence)


# -- statistics --------------------------------------------------------------------------------------------


class _Value(NamedTuple):
    name: str
    value: float | None
    interval: Interval | None = None

    def texts(self, least: int = 2) -> tuple[str, str]:
        """Return the value and its interval with the same decimals; without one its text is empty."""
        if self.value is None or self.interval is None:
            return score_text(self.value, least), ""
        return interval_texts(self.value, self.interval.low, self.interval.high, least)


def statistics_blocks(
    results: RunResult,
    metrics: Sequence[MetricFields],
    confidence: float,
    *,
    is_judged: bool,
    has_intervals: bool,
) -> list[Statistics]:
    """Return the statistics of the run: means over cases, and, for several cases, over all fields.

    Precision, recall and F1 are left out if all equal the score; F1 also if it alone does.
    """
    if not results.total_records:
        return []
    known: dict[str, Interval] = {}
    if has_intervals and not results.is_partial and len(results.cases) > 1:
        from pytest_jsonmatch.gate.headlines import headlines

        known = {each.name: each.interval for each in headlines(results, confidence)}
    noun, note = results.noun, _confidence(results, known)
    means = _distinct([_Value(TITLES_OF[name], results.mean(name), known.get(name)) for name in SCORES])
    if results.total_records > 1 and (results.is_of_records or is_judged):
        means = [*means, _Value("pass rate", results.pass_rate, known.get("pass_rate"))]
    of_cases = f"mean over {noun}s" if results.total_records > 1 else f"1 {noun}"
    scopes = [(of_cases, means)]
    if results.total_records > 1:
        total = metrics[0].total if len(metrics) == 1 else results.over()
        values = (total.mean_score, total.precision, total.recall, total.f1)
        over = [
            _Value(TITLES_OF[name], value, known.get(f"{MICRO}{name}"))
            for name, value in zip(SCORES, values, strict=True)
        ]
        several = ", all metrics" if len(metrics) > 1 else ""
        if any(each.value is not None for each in over):
            scopes.append((f"{ALL_FIELDS}{several}", _distinct(over)))
    # All have as many decimals as the one that needs most.
    shown = [each for _, values in scopes for each in values if each.value is not None]
    least = max((len(each.texts()[0].partition(".")[2]) for each in shown), default=2)
    blocks = [_block(title + note, values, least) for title, values in scopes]
    # For a single case the row over all fields says the same.
    return blocks if results.total_records > 1 else [block._replace(level="all") for block in blocks]


def _distinct(values: Sequence[_Value]) -> list[_Value]:
    score, *others = values
    value = score.value or 0.0
    is_other = [each.value is not None and abs(each.value - value) > _SAME for each in others]
    if not any(is_other):
        return [score]
    return [score, *(others if is_other[-1] else others[:-1])]


def _block(title: str, values: Sequence[_Value], least: int) -> Statistics:
    statistics = []
    for each in values:
        text, note = each.texts(least)
        ends = None
        if each.value is not None and each.interval is not None:
            ends = each.interval.low, each.value, each.interval.high
        statistics.append(Statistic(each.name, text, note, ends))
    return Statistics(statistics, title)


def _confidence(results: RunResult, known: Mapping[str, Interval]) -> str:
    """Return the confidence of intervals, and the number of clusters, if any; empty without intervals."""
    if not known:
        return ""
    first = next(iter(known.values()))
    by = f" in {count(first.clusters, 'cluster')}" if first.clusters < first.cases else ""
    of = count(results.total_records, results.noun)
    return f", with {first.confidence * 100:g} % confidence intervals ({of}{by})"


# -- notes -------------------------------------------------------------------------------------------------


def _notes(results: RunResult) -> Iterator[str]:
    """Yield notes on the statistics: cases without an answer, what is left out, errors, warnings."""
    if note := unanswered_note(results):
        yield note
    if results.floor is not None:
        yield f"an empty answer scores {score_text(results.floor)}"
    if note := left_out_note(results):
        yield note
    if results.is_partial:
        yield (
            f"statistics and fields are of all {count(results.total_records, 'record')}, but only "
            f"{count(len(results.cases))} are listed; with `keep` as `all` all are, and get intervals"
        )
    lists = {"violation": "violations", "comparator error": "errors", "warning": "warnings"}
    for noun, name in lists.items() if not results.is_of_records else ():
        # That an answer has no JSON is the only warning of its case, which is listed with it.
        told = [
            each for each in comparisons_of(results.tabled) if name != "warnings" or each.parsed is not False
        ]
        entries = [f"{entry} ({_name(each)})" for each in told for entry in getattr(each, name)]
        if entries:
            first = ", the first: " if len(entries) > 1 else ": "
            yield f"{count(len(entries), noun)}{first}{entries[0]}"


def _name(comparison: Comparison) -> str:
    """Return the id of a comparison; if it is the test's first and has no name, the test's, to be copied."""
    nodeid = comparison.nodeid
    return nodeid if comparison.id == f"{nodeid}#1" else comparison.id


def unanswered_note(results: RunResult) -> str:
    """Return how many cases are unanswered, why, and what they do to the mean score; empty if nothing.

    >>> from pytest_jsonmatch import compare_corpus
    >>> unanswered_note(compare_corpus([{"id": 1}], [{"id": 1}, {"id": 2}], id_field="id"))
    '1 unanswered; mean score 0.50 with it as 0, 1.00 without'
    """
    number = results.total_unanswered
    if not number:
        return ""
    why = ", ".join(f"{count(cases)} {name}" for name, cases in results.unanswered.items())
    told = f"{count(number)} unanswered{f': {why}' if why else ''}"
    mean, without = results.mean("score"), results.mean_of_answered("score")
    if without is None or score_text(mean) == score_text(without):
        return told if why else ""
    them = "it" if number == 1 else "them"
    return f"{told}; mean score {score_text(mean)} with {them} as 0, {score_text(without)} without"


def left_out_note(results: RunResult) -> str:
    """Return a note on what the statistics leave out; empty if they leave out nothing.

    >>> from pytest_jsonmatch.results.run import RunResult
    >>> left_out_note(RunResult.of_cases())
    ''
    """
    failed, unscored = results.total_batch_errors, results.total_unscored
    notes = [answers_note(results.answers)]
    if failed:
        notes.append(f"{count(failed, 'result')} left out of the statistics: the batch comparator failed")
    if unscored:
        notes.append(f"{count(unscored, results.noun)} without any score")
    return "; ".join(filter(None, notes))


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
