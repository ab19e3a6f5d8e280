"""A run's verdict on the terminal: intervals, the baseline, gates, repeated cases that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.gate.headlines import field_headlines
from pytest_jsonmatch.golden.files import display_name
from pytest_jsonmatch.report.baseline import baseline_lines
from pytest_jsonmatch.report.checks import (
    check_lines,
    doubt_blocks,
    gate_lines,
    headline_blocks,
    interval_lines,
)
from pytest_jsonmatch.report.styled import PLAIN, YELLOW, StyledLine
from pytest_jsonmatch.report.view import extent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pytest

    from pytest_jsonmatch.report.look import Look
    from pytest_jsonmatch.running import Turn
    from pytest_jsonmatch.session.session import FinishedRun, Session

_MOST_SHOWN: Final = 5


def verdict_blocks(
    session: Session, run: FinishedRun, look: Look, *, is_brief: bool, has_figures: bool
) -> Iterator[Sequence[StyledLine]]:
    """Yield blocks of lines: headline figures, the baseline, files, gates and cases that failed.

    Args:
        session: of the run.
        run: the finished run.
        look: of the summary.
        is_brief: whether intervals are shown only if the run is refused.
        has_figures: whether anything was compared.
    """
    if has_figures and session.settings.asks_of_run:
        if not is_brief or run.view.is_refused or session.settings.summary == "all":
            yield from _intervals(session, run, look)
        yield from doubt_blocks(run.view.results, look, session.outcomes.input_files)
    yield _baseline(session, run, look)
    yield from _notes_and_checks(session, run, look)


def _intervals(session: Session, run: FinishedRun, look: Look) -> Iterator[Sequence[StyledLine]]:
    """Yield the headline figures with their intervals."""
    yield from headline_blocks(run.view.headlines, look)
    if session.settings.summary == "all":
        fields = field_headlines(run.view.results, session.settings.confidence)
        yield interval_lines(fields, look, title="fields")


def _baseline(session: Session, run: FinishedRun, look: Look) -> Sequence[StyledLine]:
    """Return the lines about the baseline."""
    baseline = session.baseline
    if baseline is not None and baseline.results is None:
        is_named = baseline.path.parent == session.config.rootpath / session.settings.baselines
        how = f"--jsonmatch-{'save' if is_named else 'json'}={baseline.name}"
        where = display_name(baseline.path, session.config.invocation_params.dir)
        text = f"baseline {baseline.name}: there is none yet; {how} saves this run as {where}"
        return [[(text, YELLOW)]]
    if baseline is None or run.view.diff is None:
        return []
    return baseline_lines(run.view.diff, look, verdict=run.view.proven, name=baseline.name)


def _notes_and_checks(session: Session, run: FinishedRun, look: Look) -> Iterator[Sequence[StyledLine]]:
    """Yield a line for each file that was written, or could not be; then gates, and cases that failed."""
    on, stopper = extent(run.view.results), session.stopper
    if stopper is not None and stopper.reason is not None:
        on += f"; decided, {count(stopper.saved, 'test')} saved"
    notes: list[StyledLine] = [[(text, {color: True} if color else PLAIN)] for text, color in run.notes]
    yield [*notes, *gate_lines(run.view.gates, look, on=on)]
    yield check_lines(run.view.unsettled, look)


def show_failures(terminalreporter: pytest.TerminalReporter, session: Session, run: FinishedRun) -> None:
    """Show for each failed repeated case why its worst run is not good enough."""
    if session.config.getoption("tbstyle", "auto") == "no":
        return
    scores = {
        (case.id, each.number): each.figure("score") for case in run.view.results.cases for each in case.runs
    }
    worst: dict[str, tuple[float, Turn, pytest.TestReport]] = {}
    for turn, report in session.outcomes.tolerated:
        score = scores[turn.case, turn.number]
        if turn.case not in worst or score < worst[turn.case][0]:
            worst[turn.case] = score, turn, report
    failed = [
        check.subject for check in run.view.unsettled if check.passed is False and check.subject in worst
    ]
    if not failed:
        return
    terminalreporter.write_sep("=", "REPEATED CASES")
    for case in failed[:_MOST_SHOWN]:
        _, turn, report = worst[case]
        name = case.rpartition("::")[2]
        terminalreporter.write_sep(
            "_", f"{name}: run {turn.number} of {turn.of}, the worst", red=True, bold=True
        )
        report.toterminal(session.config.get_terminal_writer())
    if len(failed) > _MOST_SHOWN:
        terminalreporter.write_line(f"and {len(failed) - _MOST_SHOWN} more, named below")
