"""The end of a session: the verdict on what only all tests together can tell, and the summary.

The verdict is made once; what the terminal says and the exit status both go by it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_jsonmatch import publishing
from pytest_jsonmatch.recording import is_there_to_compare

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from pytest_jsonmatch.engine.records import Comparison
    from pytest_jsonmatch.gate.baseline import BaselineDiff
    from pytest_jsonmatch.gate.expressions import Gate
    from pytest_jsonmatch.gate.repeats import Repeats
    from pytest_jsonmatch.gate.session import Check, SessionVerdict
    from pytest_jsonmatch.recording import Run, Session
    from pytest_jsonmatch.report.styled import StyledLine
    from pytest_jsonmatch.results.model import ResultSet
    from pytest_jsonmatch.settings import Settings

__all__ = ["judge", "read_baseline", "read_gates", "show", "take_collected"]

_GATES: pytest.StashKey[list[tuple[Gate, bool]]] = pytest.StashKey()
_BASELINE: pytest.StashKey[tuple[str, ResultSet | None]] = pytest.StashKey()
_DIFF: pytest.StashKey[BaselineDiff] = pytest.StashKey()
_NOTES: pytest.StashKey[list[tuple[str, str]]] = pytest.StashKey()
_VERDICT: pytest.StashKey[SessionVerdict] = pytest.StashKey()
_RESULTS: pytest.StashKey[ResultSet] = pytest.StashKey()
_REPEATS: pytest.StashKey[Repeats] = pytest.StashKey()
_LAST_FAILED: Final = "cache/lastfailed"
_MOST_SHOWN: Final = 5
_HIDING: Final = frozenset({"--lf", "node ids"})
"""What keeps cases from being collected at all, so that nobody knows how many there are."""


def read_gates(config: pytest.Config, session: Session) -> None:
    """Read the gates of a session; a usage error for one that is wrong."""
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


def read_baseline(config: pytest.Config, session: Session) -> None:
    """Read the baseline before anything runs; a usage error if it is wrong, or is missing and must not be."""
    from pytest_jsonmatch.engine.errors import ConfigurationError
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


def judge(config: pytest.Config, session: Session, narrowed: tuple[str, ...]) -> bool:
    """Judge the session, now that all tests have reported; return whether it has failed.

    What failed is remembered for `--lf`, as pytest remembers tests.

    Args:
        config: pytest's.
        session: ours.
        narrowed: why not all cases may have run.
    """
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
    baseline = [*_compare(config, results)]
    verdict = config.stash[_VERDICT] = SessionVerdict((*gates, *baseline), found.checks)
    _remember(config, session, verdict)
    if publishing.is_asked(session):
        _report(config, session)
    written = _write_files(config, session, results)
    return verdict.failed or not written


def _compare(config: pytest.Config, results: ResultSet) -> Iterator[Check]:
    """Compare the run with its baseline; yield what it is judged by."""
    from pytest_jsonmatch.gate.baseline import compare_runs
    from pytest_jsonmatch.gate.session import Check

    name, baseline = config.stash.get(_BASELINE, ("", None))
    if baseline is None:
        return
    diff = config.stash[_DIFF] = compare_runs(baseline, results)
    if not diff.is_comparable:
        number = len(diff.mismatches)
        note = f"{number} {'case' if number == 1 else 'cases'} scored in another way"
        yield Check(f"--jsonmatch-baseline={name}", "comparable", None, 1.0, passed=False, note=note)


def _report(config: pytest.Config, session: Session) -> None:
    """Make the report that files and annotations are made of."""
    results = config.stash[_RESULTS]
    publishing.make_report(
        config,
        session,
        results,
        config.stash[_VERDICT],
        on=_extent(results),
        baseline=session.settings.baseline or "",
        diff=config.stash.get(_DIFF, None),
    )


def _write_files(config: pytest.Config, session: Session, results: ResultSet) -> bool:
    """Write the files that were asked for, each whatever becomes of the others; tell if all are there."""
    from pytest_jsonmatch.results.atomic import write_file

    notes = config.stash[_NOTES] = []
    written = True
    for path, what, data in _files(config, session, results):
        try:
            write_file(path, data, make_folders=True)
        except OSError as error:
            written = False
            notes.append((f"{path} can't be written: {(error.strerror or str(error)).lower()}", "red"))
        else:
            notes.append((f"{what} written to {path}", ""))
    if publishing.is_asked(session) and (problem := publishing.write_step_summary(config)):
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
    if publishing.is_asked(session):
        yield from publishing.reports(config, session)


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
    checks = [] if verdict is None else [*_notes(config, session), *_verdict(config, session, verdict)]
    if len(lines) > 1 or checks:
        terminalreporter.section("jsonmatch")
    _write(terminalreporter, lines)
    if comparisons and session.outcomes.left_out:
        counts = ", ".join(f"{count} {reason}" for reason, count in session.outcomes.left_out.items())
        terminalreporter.write_line(f"not counted above: {counts}")
    if comparisons:
        config.hook.pytest_jsonmatch_summary(results=comparisons, terminalreporter=terminalreporter)
    if checks and len(lines) > 1:
        terminalreporter.line("")
    _write(terminalreporter, checks)
    publishing.show_annotations(terminalreporter, config, unicode=session.look.unicode)


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

    on = _extent(config.stash[_RESULTS])
    unicode = session.look.unicode
    gates = gate_lines(verdict.gates, on=on, unicode=unicode)
    cases = check_lines(verdict.unsettled_cases, unicode=unicode)
    return [*gates, *([[]] if gates and cases else []), *cases]


def _extent(results: ResultSet) -> str:
    """Return what was evaluated, such as "12 of 80 cases (-k)"."""
    from pytest_jsonmatch.report.figures import count

    there, of = len(results.cases), max(results.collected or 0, len(results.cases))
    on = count(there, "case") if there == of else f"{count(there)} of {count(of, 'case')}"
    return f"{on} ({', '.join(results.narrowed)})" if results.narrowed else on


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
