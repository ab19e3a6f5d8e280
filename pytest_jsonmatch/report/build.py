"""Build the report of a run: verdict, failed cases, fields, statistics. Renderers compute nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, final

from pytest_jsonmatch.engine.value.errors import write_argument
from pytest_jsonmatch.engine.value.text import count, join_names
from pytest_jsonmatch.gate.repeats import repeats
from pytest_jsonmatch.report.acceptable import acceptable_blocks
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
    LocateFailure,
    failed_cases,
    failed_table,
    repeat_blocks,
    repeated_checks,
)
from pytest_jsonmatch.report.checks import JUDGED, gate_table, repeated_table
from pytest_jsonmatch.report.fields import ALL_FIELDS, field_blocks, is_perfect, shown_fields
from pytest_jsonmatch.report.formatting import (
    answers_note,
    change_text,
    commit_text,
    interval_texts,
    score_text,
)
from pytest_jsonmatch.report.kind_tables import kind_blocks
from pytest_jsonmatch.results.limits import SCORES
from pytest_jsonmatch.results.parts import find_variants
from pytest_jsonmatch.results.run import MICRO, RunResult
from pytest_jsonmatch.support.frozen import Frozen, replace
from pytest_jsonmatch.support.version import __version__

if TYPE_CHECKING:
    from pytest_jsonmatch.gate.baseline import BaselineDiff
    from pytest_jsonmatch.gate.check import Check
    from pytest_jsonmatch.gate.headlines import Contest
    from pytest_jsonmatch.report.blocks import Chart, Failure
    from pytest_jsonmatch.report.cases_page import PageExtra
    from pytest_jsonmatch.results.comparison import Comparison
    from pytest_jsonmatch.results.statistics import Interval

_SAME: Final = 1e-9
_MAX_RIVALS: Final = 8
"""The values of a parametrized fixture are compared with the first value if there are at most this many."""
TITLES_OF: Final = {name: "F1" if name == "f1" else name for name in SCORES}
"""The titles of statistics by their names."""


@final
class ReportRequest(Frozen):
    """What the report of a run shows.

    Args:
        title: the title of the report.
        gates: the gates and other checks of the run.
        baselines: by name, the comparison with each baseline; None if there is no such run yet.
        earlier: the difference from an earlier run whose scores the table of fields shows, too.
        confidence: the confidence of intervals and tests.
        has_intervals: whether statistics get their confidence intervals, which are costly.
        by: the names of tags by which statistics are shown.
        locate_failure: returns the location and the message of a failed run of a case; None if unknown.
        page: the content that only a page shows; None without a page.
        others_failed: how many tests that compare nothing failed.
        left_out: the reasons for which tests do not count, and the number of tests for each.
        notes: further notes.
        also: further sentences in the line of the verdict.
        link: the base of links to lines, to which a file and `#L12` are appended; empty without links.
        names_errors: whether notes name the first errors and warnings; the caller may list them all.
    """

    __slots__ = (
        "also",
        "baselines",
        "by",
        "confidence",
        "earlier",
        "gates",
        "has_intervals",
        "left_out",
        "link",
        "locate_failure",
        "names_errors",
        "notes",
        "others_failed",
        "page",
        "title",
    )

    def __init__(
        self,
        title: str = "jsonmatch",
        gates: Sequence[Check] = (),
        baselines: Mapping[str, Contest | None] = MappingProxyType({}),
        earlier: BaselineDiff | None = None,
        confidence: float = 0.95,
        has_intervals: bool = False,
        by: Sequence[str] = (),
        locate_failure: LocateFailure | None = None,
        page: PageExtra | None = None,
        others_failed: int = 0,
        left_out: Sequence[tuple[str, int]] = (),
        notes: Sequence[str | Text] = (),
        also: Sequence[str] = (),
        link: str = "",
        names_errors: bool = True,
    ) -> None:
        self.title: Final = title
        self.gates: Final = gates
        self.baselines: Final = baselines
        self.earlier: Final = earlier
        self.confidence: Final = confidence
        self.has_intervals: Final = has_intervals
        self.by: Final = by
        self.locate_failure: Final = locate_failure
        self.page: Final = page
        self.others_failed: Final = others_failed
        self.left_out: Final = left_out
        self.notes: Final = notes
        self.also: Final = also
        self.link: Final = link
        self.names_errors: Final = names_errors


_DEFAULT: Final = ReportRequest()


def build(results: RunResult, request: ReportRequest = _DEFAULT) -> Report:
    """Return the report of a run."""
    gates = request.gates
    failed = failed_cases(results, request.locate_failure)
    repeated = repeats(results.cases)
    pending = [check for check in repeated_checks(results) if check.passed is not True]
    pending.sort(key=lambda check: check.passed is None)
    is_judged = _is_judged(results, [*gates, *pending])
    refused = any(check.passed is False for check in (*gates, *pending))
    fails = refused or bool(failed and results.has_thresholds and not results.has_only_gates)
    verdict, headline = _verdict(results, is_judged=is_judged, fails=fails)
    statistics = statistics_blocks(results, request.confidence, has_intervals=request.has_intervals)
    has_intervals = any(statistic.interval for block in statistics for statistic in block.statistics)
    reasons = [
        *_reasons(results, request, failed),
        *(Text(f"not counted: {count(number)} {reason}") for reason, number in request.left_out),
        *map(Text, request.also),
        *_baseline_reasons(request.baselines),
    ]
    contests = [contest for contest in request.baselines.values() if contest is not None]
    earlier = contests[0].diff if contests else request.earlier
    blocks: list[ReportBlock] = [
        gate_table(gates, extent(results)),
        repeated_table(pending),
        _case_table(results, failed, request),
        *field_blocks(results, _scores_before(earlier)),
        *kind_blocks(results),
        *acceptable_blocks(results),
        *_comparison_blocks(results, contests, request),
        *repeat_blocks(repeated),
        *statistics,
        *(Text(note, "open", level="brief") for note in _notes(results, names_errors=request.names_errors)),
        *(note if isinstance(note, Text) else Text(note, "open") for note in request.notes),
        *([Text(JUDGED, "open", level="brief")] if results.judged and (has_intervals or gates) else []),
        *([] if request.page is None else _charts(results)),
    ]
    origin = results.created.replace("T", " "), commit_text(results.commit)
    is_clean = not fails and not failed and not pending
    are_perfect = all(map(is_perfect, results.all_fields.values())) and not repeated.is_mixed
    return Report(
        request.title,
        extent(results),
        blocks,
        verdict,
        headline,
        reasons,
        tuple(failed) if not results.has_only_gates else (),
        is_clean=is_clean,
        is_perfect=is_clean and are_perfect,
        origin=", ".join(filter(None, origin)),
        made_by=", ".join(f"{name} {text}" for name, text in results.versions.items())
        or f"pytest-jsonmatch {__version__}",
    )


def build_comparison(
    contests: Sequence[Contest], *, gates: Sequence[Check] = (), page: PageExtra | None = None
) -> Report:
    """Return the report of a comparison of runs: verdicts, statistics, changed cases, then one of the runs.

    Args:
        contests: the comparison of each later run with the earliest one, at least one.
        gates: the gates of the comparison.
        page: the content that only a page shows; None without a page.
    """
    from pytest_jsonmatch.report.baseline_report import contest_tables, systems_table, verdict

    first, is_one = contests[0], len(contests) == 1
    name, results = (first.after, first.diff.after) if is_one else (first.before, first.diff.before)
    earlier = first.diff if is_one else None
    run = build(results, ReportRequest(has_intervals=True, page=page, earlier=earlier))
    about = [run.headline, *(reason.text for reason in run.reasons)]
    about += results.created[:10], commit_text(results.commit)
    failed = any(check.passed is False for check in gates)
    score = first.diff.score
    if gates:
        headline = "failed" if failed else "passed"
    elif not is_one:
        headline = f"{count(len(contests))} runs compared"
    else:
        headline = "nothing was compared" if score is None else f"mean score {change_text(score.change)}"
    return replace(
        run,
        title=f"{', '.join(contest.after for contest in contests)} against {first.before}",
        origin="",
        blocks=[
            gate_table(gates, run.about),
            *([] if is_one else [systems_table(contests)]),
            *contest_tables(contests),
            Heading(name),
            Text("; ".join(filter(None, about))),
            *run.blocks,
        ],
        verdict=headline if gates else "",
        headline=headline,
        reasons=[*_gate_reasons(gates), *map(verdict, contests)],
        failures=(),
        is_clean=not failed,
    )


def _case_table(results: RunResult, failed: Sequence[Failure], request: ReportRequest) -> Table:
    if request.page is None:
        return failed_table(results, failed, request.link)
    from pytest_jsonmatch.report.cases_page import case_table

    return case_table(results, failed, request.page, request.link)


def _charts(results: RunResult) -> Iterator[Chart]:
    """Yield the charts of a page; none if only some records are kept, since charts would suggest all."""
    if results.total_records > 1 and not results.is_partial:
        from pytest_jsonmatch.report.cases_page import heat_chart, score_chart

        yield score_chart(results)
        shown = map(shown_fields, results.totals_by_metric.values())
        yield heat_chart(results, list(dict.fromkeys(path for fields in shown for path in fields)))


# -- the verdict -------------------------------------------------------------------------------------------


def _is_judged(results: RunResult, checks: Sequence[Check]) -> bool:
    """Return whether the run can pass or fail; files that are compared without a threshold cannot."""
    return bool(checks) or results.has_thresholds


def _verdict(results: RunResult, *, is_judged: bool, fails: bool) -> tuple[str, str]:
    """Return the verdict of the run as a keyword and in words."""
    if fails:
        return "failed", "failed"
    if not results.total_records:
        return "", "nothing was compared"
    if not is_judged:
        return "", f"mean score {score_text(results.mean('score'))}"
    if {"interrupted", "stopped early"}.isdisjoint(results.narrowed):
        return "passed", "passed"
    return "undecided", "passed so far"


def _reasons(results: RunResult, request: ReportRequest, failed: Sequence[Failure]) -> Iterator[Text]:
    """Yield the reasons for the verdict; those against the run have the tone "bad"."""
    yield from _gate_reasons(request.gates)
    cases = count(results.total_records, results.noun)
    if not results.has_thresholds and results.total_records:
        yield Text(f"{count(results.total_perfect)} of {cases} with score 1")
        if results.total_errors:
            yield Text(count(results.total_errors, "error"))
    elif failed:
        what, tone = ("did not pass", "") if results.has_only_gates else ("failed", "bad")
        yield Text(f"{count(len(failed))} of {cases} {what}", tone)
    elif results.total_records:
        yield Text("no case failed")
    if results.total_unanswered:
        yield Text(f"{count(results.total_unanswered)} unanswered")
    before = [
        failed_case
        for failed_case in failed
        if not failed_case.run.comparisons and not failed_case.run.unanswered
    ]
    if unscored := len(before):
        yield Text(f"{count(unscored)} before comparing, which counts as 0")
    if request.others_failed:
        yield Text(f"{count(request.others_failed, 'test')} that compared nothing failed too")


def _gate_reasons(gates: Sequence[Check]) -> Iterator[Text]:
    decided = [check for check in gates if check.passed is not None]
    if failed_gates := sum(not check.passed for check in decided):
        yield Text(f"{failed_gates} of {count(len(decided), 'gate')} failed", "bad")
    elif decided:
        yield Text(f"{count(len(decided), 'gate')} passed")


def _baseline_reasons(baselines: Mapping[str, Contest | None]) -> Iterator[Text]:
    """Yield the result of the comparison with each baseline in a sentence."""
    for name, contest in baselines.items():
        if contest is None:
            yield Text("there is no baseline {} yet", names=[name])
        elif not contest.diff.is_comparable:
            yield Text("not comparable with {}: cases were scored differently", "bad", [name])
        elif contest.diff.score is not None:
            change = change_text(contest.diff.score.change)
            yield Text(f"mean score of the same cases against {{}}: {change}", names=[name])


# -- fields and parts of the run ---------------------------------------------------------------------------


def _scores_before(diff: BaselineDiff | None) -> dict[tuple[str, str], float | None]:
    """Return the scores of the fields in the earlier run, by metric and path."""
    if diff is None or not diff.is_comparable:
        return {}
    return {(delta.metric, delta.name): delta.before for delta in diff.fields}


def _comparison_blocks(
    results: RunResult, contests: Sequence[Contest], request: ReportRequest
) -> Iterator[ReportBlock]:
    """Yield comparisons with baselines and between parts of this run, and tables by tag and by model."""
    from pytest_jsonmatch.report.tables import cost_blocks, tag_blocks

    if contests:
        from pytest_jsonmatch.report.baseline_report import contest_blocks

        yield Heading("Against the baselines" if len(contests) > 1 else "Against the baseline", "all")
        yield from (_as_brief(block, also=True) for block in contest_blocks(contests))
    by, fixture_values = request.by, find_variants(results)
    parts = _contests(results, fixture_values, by, request.confidence)
    for noun, several in parts.items():
        from pytest_jsonmatch.report.baseline_report import contest_blocks

        if several:
            yield Heading("Which is better", "all")
        yield from (_as_brief(block, also=by) for block in contest_blocks(several, noun))
    is_first = True
    for name in by or fixture_values:
        for block in tag_blocks(results, name, fields=not parts.get(name)):
            yield _as_brief(block, also=by or is_first)
            is_first = False
    if not any(parts.values()):
        yield from cost_blocks(results.totals.costs)


def _as_brief(block: ReportBlock, *, also: object) -> ReportBlock:
    """Return a block at the level "brief" if it is a sentence, or a table and `also` is true."""
    if isinstance(block, Text):
        return block._replace(level="brief")
    return replace(block, level="brief") if also and isinstance(block, Table) else block


def _contests(
    results: RunResult, fixture_values: Mapping[str, Sequence[str]], by: Sequence[str], confidence: float
) -> Mapping[str, Sequence[Contest]]:
    """Return the comparisons between the parts of a run by the values of each parametrized fixture."""
    if not fixture_values:
        return {}
    from pytest_jsonmatch.gate.headlines import contests_of

    shown = {
        name: values
        for name, values in fixture_values.items()
        if len(values) <= _MAX_RIVALS and name in (by or fixture_values)
    }
    return contests_of(results, shown, confidence)


# -- statistics --------------------------------------------------------------------------------------------


class _Value(NamedTuple):
    name: str
    value: float | None
    interval: Interval | None = None

    def texts(self, min_decimals: int = 2) -> tuple[str, str]:
        """Return the value and its interval with the same number of decimals; "" without an interval."""
        if self.value is None or self.interval is None:
            return score_text(self.value, min_decimals), ""
        return interval_texts(self.value, self.interval.low, self.interval.high, min_decimals)


def statistics_blocks(
    results: RunResult,
    confidence: float,
    *,
    has_intervals: bool,
) -> list[Statistics]:
    """Return the statistics of the run: means over cases and, for several cases, scores over all fields.

    Precision, recall and F1 are left out if all of them equal the score, and F1 if it equals the score.
    """
    if not results.total_records:
        return []
    known: dict[str, Interval] = {}
    if has_intervals and not results.is_partial and len(results.cases) > 1:
        from pytest_jsonmatch.gate.headlines import headlines

        known = {headline.name: headline.interval for headline in headlines(results, confidence)}
    noun, note = results.noun, _confidence(results, known)
    means = _distinct([_Value(TITLES_OF[name], results.mean(name), known.get(name)) for name in SCORES])
    if results.total_records > 1:
        means = [*means, _Value("pass rate", results.pass_rate, known.get("pass_rate"))]
    scope = f"mean over {noun}s" if results.total_records > 1 else f"1 {noun}"
    scopes = [(scope, means)]
    if results.total_records > 1:
        total = results.totals.over()
        over = [_Value(TITLES_OF[name], total.rate(name), known.get(f"{MICRO}{name}")) for name in SCORES]
        several = ", all metrics" if len({*results.totals.metrics.values()}) > 1 else ""
        if any(statistic.value is not None for statistic in over):
            scopes.append((f"{ALL_FIELDS}{several}", _distinct(over)))
    # All values get as many decimals as the one that needs most.
    shown = [statistic for _, values in scopes for statistic in values if statistic.value is not None]
    min_decimals = max((len(statistic.texts()[0].partition(".")[2]) for statistic in shown), default=2)
    blocks = [_block(title + note, values, min_decimals) for title, values in scopes]
    # For a single case the row over all fields has the same values.
    return blocks if results.total_records > 1 else [block._replace(level="all") for block in blocks]


def _distinct(values: Sequence[_Value]) -> list[_Value]:
    score, *others = values
    value = score.value or 0.0
    is_other = [other.value is not None and abs(other.value - value) > _SAME for other in others]
    if not any(is_other):
        return [score]
    return [score, *(others if is_other[-1] else others[:-1])]


def _block(title: str, values: Sequence[_Value], min_decimals: int) -> Statistics:
    statistics = []
    for named_value in values:
        text, note = named_value.texts(min_decimals)
        ends = None
        if named_value.value is not None and named_value.interval is not None:
            ends = named_value.interval.low, named_value.value, named_value.interval.high
        statistics.append(Statistic(named_value.name, text, note, ends))
    return Statistics(statistics, title)


def _confidence(results: RunResult, known: Mapping[str, Interval]) -> str:
    """Return a note on the confidence of intervals and the number of clusters; empty without intervals."""
    if not known:
        return ""
    first = next(iter(known.values()))
    by = ""
    if first.clusters < first.cases:
        by = f" in {count(first.clusters, 'cluster')}; they allow for unseen clusters"
    size = count(results.total_records, results.noun)
    return f", with {first.confidence * 100:g} % confidence intervals ({size}{by})"


# -- notes -------------------------------------------------------------------------------------------------


def _notes(results: RunResult, *, names_errors: bool) -> Iterator[str]:
    """Yield notes on the statistics: unanswered cases, results that are left out, errors, warnings."""
    if note := unanswered_note(results):
        yield note
    if results.floor is not None:
        yield f"an empty answer scores {score_text(results.floor)}"
    if note := left_out_note(results):
        yield note
    if results.total_empty:
        names = join_names([case.id for case in results.cases if case.totals.counts["empty"]])
        verb, which = "compares" if results.total_empty == 1 else "compare", f": {names}" if names else ""
        yield f"{count(results.total_empty, results.noun)} {verb} nothing{which}"
    if results.is_partial:
        keeping = write_argument("keep", "all")
        yield (
            f"statistics and fields are of all {count(results.total_records, 'record')}, but only "
            f"{count(len(results.cases))} are listed; `{keeping}` lists all and computes intervals"
        )
    if names_errors and results.has_thresholds:  # other errors are listed with their failed cases
        for noun, name in {
            "violation": "violations",
            "comparator error": "errors",
            "warning": "warnings",
        }.items():
            entries = [
                f"{entry} ({_name(comparison)})"
                for comparison in results.comparisons
                for entry in getattr(comparison, name)
            ]
            yield from _first(noun, len(entries), entries)
    elif names_errors:
        yield from _first("error", results.total_errors, results.errors)
        yield from _first("warning", results.total_warnings, results.warnings)


def _first(noun: str, number: int, entries: Sequence[object]) -> Iterator[str]:
    """Yield the number of errors or warnings, and the first of them."""
    if entries:
        yield f"{count(number, noun)}{', the first: ' if number > 1 else ': '}{entries[0]}"


def _name(comparison: Comparison) -> str:
    """Return the id of a comparison, or the node id of its test if it is the first and has no name."""
    nodeid = comparison.nodeid
    return nodeid if comparison.id == f"{nodeid}#1" else comparison.id


def unanswered_note(results: RunResult) -> str:
    """Return how many cases are unanswered, why, and their effect on the mean score; empty if there is none.

    >>> from pytest_jsonmatch import compare_corpus
    >>> unanswered_note(compare_corpus([{"id": 1}], [{"id": 1}, {"id": 2}], id="id"))
    '1 unanswered; mean score 0.50 with it as 0, 1.00 without'
    """
    number = results.total_unanswered
    if not number:
        return ""
    why = ", ".join(f"{count(cases)} {name}" for name, cases in results.unanswered.items())
    note = f"{count(number)} unanswered{f': {why}' if why else ''}"
    mean, without = results.mean("score"), results.mean_of_answered
    if without is None or score_text(mean) == score_text(without):
        return note if why else ""
    them = "it" if number == 1 else "them"
    return f"{note}; mean score {score_text(mean)} with {them} as 0, {score_text(without)} without"


def left_out_note(results: RunResult) -> str:
    """Return a note on results that the statistics leave out; empty if there are none.

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
    """Return the number of cases or records that were evaluated, as text.

    >>> from pytest_jsonmatch.results.run import RunResult
    >>> extent(RunResult.of_cases(collected=3, narrowed=("-k",)))
    '0 of 3 cases (-k)'
    """
    present, noun = results.total_records, results.noun
    total = max(results.collected or 0, present)
    on = count(present, noun) if present == total else f"{count(present)} of {count(total, noun)}"
    return f"{on} ({', '.join(results.narrowed)})" if results.narrowed else on
