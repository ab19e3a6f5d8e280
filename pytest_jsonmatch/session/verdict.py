"""The end of a session: the verdict on what only all tests together can tell, and the summary.

The verdict is made once; what the terminal says and the exit status both go by it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_jsonmatch.session import ci
from pytest_jsonmatch.session.recorder import is_there_to_compare

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from pytest_jsonmatch.gate.baseline import BaselineDiff
    from pytest_jsonmatch.gate.expressions import Gate
    from pytest_jsonmatch.gate.headlines import Headline, RunVerdict
    from pytest_jsonmatch.gate.repeats import Repeats
    from pytest_jsonmatch.gate.session import Check, SessionVerdict
    from pytest_jsonmatch.report.styled import StyledLine
    from pytest_jsonmatch.results.comparison import Comparison
    from pytest_jsonmatch.results.model import ResultSet
    from pytest_jsonmatch.session.options import Settings
    from pytest_jsonmatch.session.recorder import Run
    from pytest_jsonmatch.session.session import Session
    from pytest_jsonmatch.session.stopping import Stopper

__all__ = ["judge", "prepare", "show", "take_collected", "take_planned"]

_GATES: pytest.StashKey[list[tuple[Gate, bool]]] = pytest.StashKey()
_BASELINE: pytest.StashKey[tuple[str, ResultSet | None]] = pytest.StashKey()
_DIFF: pytest.StashKey[BaselineDiff] = pytest.StashKey()
_RUN_VERDICT: pytest.StashKey[RunVerdict] = pytest.StashKey()
_STOPPER: pytest.StashKey[Stopper] = pytest.StashKey()
_HEADLINES: pytest.StashKey[list[Headline]] = pytest.StashKey()
_NOTES: pytest.StashKey[list[tuple[str, str]]] = pytest.StashKey()
_VERDICT: pytest.StashKey[SessionVerdict] = pytest.StashKey()
_RESULTS: pytest.StashKey[ResultSet] = pytest.StashKey()
_REPEATS: pytest.StashKey[Repeats] = pytest.StashKey()
_LAST_FAILED: Final = "cache/lastfailed"
_MOST_SHOWN: Final = 5
_HIDING: Final = frozenset({"--lf", "node ids"})
"""What keeps cases from being collected at all, so that nobody knows how many there are."""


def prepare(config: pytest.Config, session: Session) -> None:
    """Read gates and baseline before anything runs; a usage error for what is wrong."""
    settings = session.settings
    if settings.gates or settings.asked_gates:
        _read_gates(config, session)
    if settings.baseline is not None:
        _read_baseline(config, session)
    if settings.stop_when_decided:
        _stop_when_decided(config, session)
    if settings.html is not None:
        _check_html()


def _check_html() -> None:
    from pytest_jsonmatch.engine.value.errors import ConfigurationError
    from pytest_jsonmatch.report.html import check_installed

    try:
        check_installed()
    except ConfigurationError as error:
        raise pytest.UsageError(f"--jsonmatch-html: {error}") from None


def _read_gates(config: pytest.Config, session: Session) -> None:
    from pytest_jsonmatch.gate.expressions import GateError, parse_gate

    gates = config.stash[_GATES] = []
    settings = session.settings
    for texts, where, asked in (
        (settings.gates, "jsonmatch_gates", False),
        (settings.asked_gates, "--jsonmatch-gate", True),
    ):
        for text in texts:
            try:
                gates.append((parse_gate(text), asked))
            except GateError as error:
                raise pytest.UsageError(f"{where}: {error}") from None


def _read_baseline(config: pytest.Config, session: Session) -> None:
    from pytest_jsonmatch.engine.value.errors import ConfigurationError
    from pytest_jsonmatch.results.file import read_results

    settings = session.settings
    name = settings.baseline or ""
    path = _baseline_path(config, settings)
    found = None
    if path.exists() or settings.baseline_required:
        try:
            found = read_results(path)
        except ConfigurationError as error:
            raise pytest.UsageError(f"--jsonmatch-baseline: {error}") from None
    config.stash[_BASELINE] = name, found


def _baseline_path(config: pytest.Config, settings: Settings) -> Path:
    """Return the file that a baseline's name stands for; what looks like a path is one."""
    name = settings.baseline or ""
    if name.endswith(".json") or "/" in name or os.sep in name:
        return config.invocation_params.dir / name
    return config.rootpath / settings.baselines / f"{name}.json"


def take_collected(session: Session, items: Iterable[pytest.Item]) -> None:
    """Take note of the cases among all tests that were collected, before some are chosen."""
    for item in items:
        if is_there_to_compare(item):
            from pytest_jsonmatch.golden.collector import run_of  # there may be none

            run = run_of(item, item.nodeid)
            session.collected.add(item.nodeid if run is None else run.case)


def take_planned(session: Session, items: Iterable[pytest.Item]) -> None:
    """Take note of the cases that are chosen to run."""
    from pytest_jsonmatch.golden.collector import run_of

    planned: dict[str, int] = {}
    for item in items:
        if is_there_to_compare(item):
            run = run_of(item, item.nodeid)
            name = item.nodeid if run is None else run.case
            planned[name] = planned.get(name, 0) + 1
    session.planned = planned


def _stop_when_decided(config: pytest.Config, session: Session) -> None:
    from pytest_jsonmatch.session.stopping import Stopper

    gates = [gate for gate, _ in config.stash.get(_GATES, ())]
    settings = session.settings
    _, baseline = config.stash.get(_BASELINE, ("", None))
    if not gates and settings.max_drop is None:
        raise pytest.UsageError(
            "--jsonmatch-stop-when-decided needs a gate: --jsonmatch-gate, --jsonmatch-fail-under, "
            "jsonmatch_gates or --jsonmatch-max-drop"
        )
    stopper = config.stash[_STOPPER] = Stopper(session, gates, baseline, settings.max_drop)
    config.pluginmanager.register(stopper, "jsonmatch-stopper")


def judge(session: pytest.Session, own: Session) -> bool:
    """Judge a session, now that all tests have reported; return whether it has failed.

    What failed is remembered for `--lf`, as pytest remembers tests. A run that ended because its gates were
    settled is no less than a whole one.
    """
    config = session.config
    if session.exitstatus in _NOT_JUDGED or any(
        getattr(config.option, name, False) for name in ("collectonly", "setuponly", "setupplan")
    ):
        return False
    stopper = config.stash.get(_STOPPER, None)
    is_decided = stopper is not None and stopper.reason is not None
    failed = _judge(config, own, _narrowed(session, is_decided=is_decided))
    if is_decided and session.exitstatus == pytest.ExitCode.INTERRUPTED:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED if session.testsfailed else pytest.ExitCode.OK
    return failed


# Any other number may come from `pytest.exit(returncode=...)`, which ends a run like an interrupt.
_NOT_JUDGED: Final = frozenset(
    {pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED}
)
_NARROWING: Final = (
    ("keyword", "-k"),
    ("markexpr", "-m"),
    ("lf", "--lf"),
    ("deselect", "--deselect"),
    ("stepwise", "--stepwise"),
)


def _narrowed(session: pytest.Session, *, is_decided: bool) -> tuple[str, ...]:
    """Return what may have kept cases from running, as one would write it."""
    option = session.config.option
    reasons = [written for name, written in _NARROWING if getattr(option, name, None)]
    if any("::" in argument for argument in session.config.args):
        reasons.append("node ids")
    if is_decided:
        return tuple(reasons)
    if session.exitstatus not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
        reasons.append("interrupted")
    elif session.shouldfail or session.shouldstop:
        reasons.append("stopped early")
    return tuple(reasons)


def _judge(config: pytest.Config, session: Session, narrowed: tuple[str, ...]) -> bool:
    from pytest_jsonmatch.gate.gates import check_gate
    from pytest_jsonmatch.gate.repeats import repeats
    from pytest_jsonmatch.gate.session import SessionVerdict
    from pytest_jsonmatch.results.model import ResultSet

    cases = session.outcomes.cases()
    collected = session.collected - session.outcomes.cases_left_out
    results = config.stash[_RESULTS] = ResultSet(
        cases,
        collected=len(collected) if collected and _HIDING.isdisjoint(narrowed) else None,
        narrowed=narrowed,
    )
    found = config.stash[_REPEATS] = repeats(cases)
    gates = [check_gate(gate, results, required=asked) for gate, asked in config.stash.get(_GATES, ())]
    baseline = [*_compare(config, session, results)]
    verdict = config.stash[_VERDICT] = SessionVerdict((*gates, *baseline), found.checks)
    _remember(config, session, verdict)
    if session.settings.reports:
        _report(config, session)
    written = _write_files(config, session, results)
    return verdict.failed or not written


def _compare(config: pytest.Config, session: Session, results: ResultSet) -> Iterator[Check]:
    """Compare the run with its baseline; yield what it is judged by."""
    from pytest_jsonmatch.gate.baseline import compare_runs
    from pytest_jsonmatch.gate.session import Check

    name, baseline = config.stash.get(_BASELINE, ("", None))
    settings = session.settings
    subject = f"--jsonmatch-baseline={name}"
    if settings.max_drop is not None:
        subject = f"--jsonmatch-max-drop={settings.max_drop:g}"
        if settings.drop_mode != "regression":
            subject += f" ({settings.drop_mode})"
    if baseline is None:
        if settings.max_drop is not None:
            yield Check(
                subject, "drop", None, settings.max_drop, passed=None, note="there is no baseline yet"
            )
        return
    diff = config.stash[_DIFF] = compare_runs(baseline, results)
    if not diff.is_comparable:
        number = len(diff.mismatches)
        note = f"{number} {'case' if number == 1 else 'cases'} scored in another way"
        yield Check(subject, "comparable", None, 1.0, passed=False, note=note)
        return
    stopper = config.stash.get(_STOPPER, None)
    if stopper is not None:
        # A test that may be looked at after each case stands in for the usual one: two would err more often.
        decision = stopper.decision
        if decision is not None and settings.max_drop is not None:
            yield Check(
                subject, "drop", None, settings.max_drop, passed=decision.passed, note=decision.reason
            )
        return
    from pytest_jsonmatch.gate.headlines import judge_runs

    verdict = config.stash[_RUN_VERDICT] = judge_runs(
        baseline,
        results,
        max_drop=settings.max_drop or 0.0,
        confidence=settings.confidence,
        mode=settings.drop_mode,
    )
    if settings.max_drop is not None:
        scores = verdict.scores
        words = scores.gate_words.partition(": ")[2]
        yield Check(subject, "drop", None, settings.max_drop, passed=scores.passed, note=words)


def _report(config: pytest.Config, session: Session) -> None:
    """Make the report that files and annotations are made of."""
    from pytest_jsonmatch.report.runreport import extent

    results = config.stash[_RESULTS]
    ci.make_report(
        config,
        session,
        results,
        config.stash[_VERDICT],
        on=extent(results),
        baseline=session.settings.baseline or "",
        diff=config.stash.get(_DIFF, None),
        proven=config.stash.get(_RUN_VERDICT, None),
        headlines=_headlines(config, session),
    )


def _write_files(config: pytest.Config, session: Session, results: ResultSet) -> bool:
    """Write the files that were asked for, each whatever becomes of the others; tell if all are there."""
    from pytest_jsonmatch.golden.naming import display_name
    from pytest_jsonmatch.results.atomic import write_file

    notes = config.stash[_NOTES] = []
    written = True
    for path, what, data in _files(config, session, results):
        name = display_name(path, config.invocation_params.dir)
        try:
            write_file(path, data, make_folders=True)
        except OSError as error:
            written = False
            notes.append((f"{name} can't be written: {(error.strerror or str(error)).lower()}", "red"))
        else:
            notes.append((f"{what} written to {name}", ""))
    if session.settings.reports and (problem := ci.write_step_summary(config)):
        notes.append((problem, "yellow"))
    return written


def _files(config: pytest.Config, session: Session, results: ResultSet) -> Iterator[tuple[Path, str, bytes]]:
    """Yield the files that were asked for: where, what it is, and its content."""
    settings = session.settings
    targets = []
    if settings.json is not None:
        targets.append(config.invocation_params.dir / settings.json)
    if settings.save is not None:
        targets.append(config.rootpath / settings.baselines / f"{settings.save}.json")
    if targets:
        from pytest_jsonmatch.results.file import to_text
        from pytest_jsonmatch.results.origin import with_origin

        data = to_text(with_origin(results, config.rootpath)).encode("ascii")
        yield from ((path, "results", data) for path in targets)
    if session.settings.reports:
        yield from ci.reports(config, session)
    if settings.html is not None:
        yield config.invocation_params.dir / settings.html, "report", _page(config, session, results)


def _headlines(config: pytest.Config, session: Session) -> list[Headline]:
    """Return the figures of the run with their intervals, made once for all that show them."""
    found = config.stash.get(_HEADLINES, None)
    if found is None:
        from pytest_jsonmatch.gate.headlines import headlines

        found = config.stash[_HEADLINES] = headlines(config.stash[_RESULTS], session.settings.confidence)
    return found


def _page(config: pytest.Config, session: Session, results: ResultSet) -> bytes:
    """Return the page of `--jsonmatch-html`."""
    from pytest_jsonmatch.report.html import Page, html_page
    from pytest_jsonmatch.report.runreport import left_out_note
    from pytest_jsonmatch.results.origin import with_origin

    verdict = config.stash[_VERDICT]
    page = Page(
        with_origin(results, config.rootpath),
        title=config.rootpath.name or "jsonmatch",
        headlines=_headlines(config, session),
        checks=(*verdict.gates, *verdict.unsettled_cases),
        baseline=config.stash.get(_BASELINE, ("", None))[0],
        diff=config.stash.get(_DIFF, None),
        verdict=config.stash.get(_RUN_VERDICT, None),
        details=session.outcomes.details(),
        notes=[
            *filter(None, [left_out_note(results)]),
            *(f"{number} {reason}, not among the cases" for reason, number in ci.left_out(session)),
        ],
    )
    return html_page(page).encode()


def _remember(config: pytest.Config, session: Session, verdict: SessionVerdict) -> None:
    """Add the runs of failed cases to the tests that `--lf` runs again: to pytest they had not failed."""
    cache = getattr(config, "cache", None)
    runs = session.outcomes.run_ids
    failed = [check.subject for check in verdict.cases if check.passed is False]
    if cache is not None and failed:
        remembered: dict[str, Any] = cache.get(_LAST_FAILED, {})
        remembered.update((nodeid, True) for case in failed for nodeid in runs[case])
        cache.set(_LAST_FAILED, remembered)


def show(terminalreporter: pytest.TerminalReporter, config: pytest.Config, session: Session) -> None:
    """Write the summary of a session in which something was compared, and what it is judged by."""
    verdict = config.stash.get(_VERDICT, None)
    # -qq asks for less than one line. --no-summary is ours to heed: newer releases of pytest leave it to us.
    silent = (
        session.settings.summary == "none"
        or config.get_verbosity() < -1
        or bool(config.getoption("no_summary"))
    )
    if verdict is not None and verdict.failed:
        _show_failures(terminalreporter, config, session, verdict)
    comparisons = [] if silent else session.outcomes.comparisons()
    lines = _summary(config, session, comparisons) if comparisons else []
    checks: list[StyledLine] = []
    if verdict is not None:
        if comparisons:
            checks += _intervals(config, session)
        checks += [*_notes(config, session), *_verdict(config, session, verdict)]
        while checks and not checks[-1]:
            checks.pop()
    if len(lines) > 1 or checks:
        terminalreporter.section("jsonmatch")
    _write(terminalreporter, lines)
    if comparisons or not silent:
        _write(terminalreporter, _judged(session))
    if comparisons and session.outcomes.left_out:
        counts = ", ".join(f"{count} {reason}" for reason, count in session.outcomes.left_out.items())
        terminalreporter.write_line(f"not counted above: {counts}")
    if comparisons:
        config.hook.pytest_jsonmatch_summary(results=comparisons, terminalreporter=terminalreporter)
    if checks and len(lines) > 1:
        terminalreporter.line("")
    _write(terminalreporter, checks)
    ci.show_annotations(terminalreporter, config, unicode=session.look.unicode)


def _summary(
    config: pytest.Config, session: Session, comparisons: Sequence[Comparison]
) -> Sequence[StyledLine]:
    from pytest_jsonmatch.report.terminal import summary_lines

    look = session.look
    return summary_lines(
        comparisons,
        mode=session.settings.summary,
        width=look.width,
        unicode=look.unicode,
        repeats=config.stash.get(_REPEATS, None),
        pivot=session.settings.pivot,
    )


def _judged(session: Session) -> Iterator[StyledLine]:
    """Yield what judges did in all processes, in a line, and that triage was off if it was."""
    parts = session.outcomes.judged
    if not parts:
        return
    from pytest_jsonmatch.report.escape import fold
    from pytest_jsonmatch.semantic.bench import usage_text
    from pytest_jsonmatch.session.judge import total_usage

    usage, saved, set_aside = total_usage(parts)
    told = [(usage_text(usage, saved), bool(usage.errors)), *([(_NO_TRIAGE, True)] if set_aside else [])]
    for text, odd in told:
        for line in fold(text, session.look.width, 2, unicode=session.look.unicode):
            yield [(line, {"yellow": True} if odd else {})]


_NO_TRIAGE: Final = (
    "judge_triage is off in this run: gates, baselines and files of results need every verdict "
    "for their figures"
)


def _intervals(config: pytest.Config, session: Session) -> Iterator[StyledLine]:
    """Yield the headline figures with their intervals, where something is asked of the run as a whole."""
    if not session.settings.judges:
        return
    from pytest_jsonmatch.gate.headlines import field_headlines
    from pytest_jsonmatch.gate.intervals import SEED
    from pytest_jsonmatch.report.intervals import interval_lines

    results, confidence, look = config.stash[_RESULTS], session.settings.confidence, session.look
    blocks = [("figures", _headlines(config, session))]
    if session.settings.summary == "all":
        blocks.append(("fields", field_headlines(results, confidence)))
    for title, found in blocks:
        yield from interval_lines(found, title=title, seed=SEED, width=look.width, unicode=look.unicode)
        yield []


def _notes(config: pytest.Config, session: Session) -> Iterator[StyledLine]:
    """Yield the lines about the baseline, and the files that were written."""
    look = session.look
    if _BASELINE in config.stash:
        name, found = config.stash[_BASELINE]
        if found is None:
            path = _baseline_path(config, session.settings)
            yield [
                (
                    f"baseline {name}: there is none yet ({path}); --jsonmatch-save=NAME writes one",
                    {"yellow": True},
                )
            ]
        elif _DIFF in config.stash:
            from pytest_jsonmatch.report.baseline import baseline_lines

            yield from baseline_lines(
                config.stash[_DIFF],
                verdict=config.stash.get(_RUN_VERDICT, None),
                name=name,
                mode=session.settings.summary,
                width=look.width,
                unicode=look.unicode,
            )
        yield []
    for text, color in config.stash.get(_NOTES, ()):
        yield [(text, {color: True} if color else {})]


def _verdict(config: pytest.Config, session: Session, verdict: SessionVerdict) -> Sequence[StyledLine]:
    """Return the lines of all gates, and of the cases that failed as a whole."""
    from pytest_jsonmatch.report.checks import check_lines, gate_lines
    from pytest_jsonmatch.report.figures import count
    from pytest_jsonmatch.report.runreport import extent

    on = extent(config.stash[_RESULTS])
    unicode = session.look.unicode
    stopper = config.stash.get(_STOPPER, None)
    if stopper is not None and stopper.reason is not None:
        on += f"; decided, {count(stopper.saved, 'run')} of cases saved"
    gates = gate_lines(verdict.gates, on=on, unicode=unicode)
    cases = check_lines(verdict.unsettled_cases, unicode=unicode)
    return [*gates, *([[]] if gates and cases else []), *cases]


def _show_failures(
    terminalreporter: pytest.TerminalReporter,
    config: pytest.Config,
    session: Session,
    verdict: SessionVerdict,
) -> None:
    """Show, of each repeated case that has failed, why its worst run is not good enough."""
    if config.getoption("tbstyle", "auto") == "no":
        return
    scores = {
        (case.id, run.number): run.figure("score")
        for case in config.stash[_REPEATS].cases
        for run in case.runs
    }
    worst: dict[str, tuple[float, Run, pytest.TestReport]] = {}
    for _, run, report in session.outcomes.tolerated:
        score = scores[run.case, run.number]
        if run.case not in worst or score < worst[run.case][0]:
            worst[run.case] = score, run, report
    failed = [check.subject for check in verdict.cases if check.passed is False and check.subject in worst]
    if not failed:
        return
    terminalreporter.write_sep("=", "REPEATED CASES")
    for case in failed[:_MOST_SHOWN]:
        _, run, report = worst[case]
        name = case.rpartition("::")[2]
        terminalreporter.write_sep(
            "_", f"{name}: run {run.number} of {run.of}, the worst", red=True, bold=True
        )
        report.toterminal(config.get_terminal_writer())
    if len(failed) > _MOST_SHOWN:
        terminalreporter.write_line(f"and {len(failed) - _MOST_SHOWN} more, named below")


def _write(terminalreporter: pytest.TerminalReporter, lines: Iterable[StyledLine]) -> None:
    for line in lines:
        for text, markup in line:
            terminalreporter.write(text, **markup)
        terminalreporter.line("")
