"""The end of a session: the verdict on what only all tests together can tell, and the summary.

The verdict is made once; what the terminal says and the exit status both go by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_jsonmatch.engine.records import Comparison
    from pytest_jsonmatch.gate.repeats import Repeats
    from pytest_jsonmatch.gate.session import SessionVerdict
    from pytest_jsonmatch.recording import Run, Session
    from pytest_jsonmatch.report.styled import StyledLine

__all__ = ["judge", "show"]

_VERDICT: pytest.StashKey[SessionVerdict] = pytest.StashKey()
_REPEATS: pytest.StashKey[Repeats] = pytest.StashKey()
_LAST_FAILED: Final = "cache/lastfailed"
_MOST_SHOWN: Final = 5


def judge(config: pytest.Config, session: Session) -> bool:
    """Judge the session, now that all tests have reported; return whether it has failed.

    What failed is remembered for `--lf`, as pytest remembers tests.
    """
    from pytest_jsonmatch.gate.repeats import repeats
    from pytest_jsonmatch.gate.session import SessionVerdict

    found = config.stash[_REPEATS] = repeats(session.outcomes.cases())
    verdict = config.stash[_VERDICT] = SessionVerdict.of(found.checks)
    _remember(config, session, verdict)
    return verdict.failed


def _remember(config: pytest.Config, session: Session, verdict: SessionVerdict) -> None:
    """Add the runs of failed cases to the tests that `--lf` runs again: to pytest they had not failed."""
    cache = getattr(config, "cache", None)
    runs = session.outcomes.run_ids
    failed = [check.subject for check in verdict.checks if check.passed is False and check.subject in runs]
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
    checks = _verdict(session, verdict)
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


def _verdict(session: Session, verdict: SessionVerdict | None) -> Sequence[StyledLine]:
    if verdict is None or not verdict.unsettled:
        return []
    from pytest_jsonmatch.report.checks import check_lines

    return check_lines(verdict.unsettled, unicode=session.look.unicode)


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
    failed = [check.subject for check in verdict.checks if check.passed is False and check.subject in worst]
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
