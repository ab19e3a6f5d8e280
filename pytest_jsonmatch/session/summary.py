"""What the terminal shows at the end of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.gate.headlines import field_headlines
from pytest_jsonmatch.golden.filenames import OWN, display_name
from pytest_jsonmatch.report.baseline import baseline_lines
from pytest_jsonmatch.report.bytag import tag_blocks
from pytest_jsonmatch.report.checks import (
    check_lines,
    failed_line,
    gate_lines,
    headline_blocks,
    interval_lines,
)
from pytest_jsonmatch.report.doubts import doubt_blocks
from pytest_jsonmatch.report.look import Look, joined
from pytest_jsonmatch.report.styled import PLAIN, RED, YELLOW, StyledLine
from pytest_jsonmatch.report.terminal import summary_lines
from pytest_jsonmatch.report.view import extent
from pytest_jsonmatch.results.comparison import comparisons_of
from pytest_jsonmatch.results.model import ResultSet
from pytest_jsonmatch.session import ci

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pytest

    from pytest_jsonmatch.results.comparison import Case
    from pytest_jsonmatch.running import Turn
    from pytest_jsonmatch.session.finished import FinishedRun
    from pytest_jsonmatch.session.session import Session

_NO_TRIAGE: Final = (
    "judge_triage is off in this run: gates, baselines and files of results need every verdict "
    "for their figures"
)
_MOST_SHOWN: Final = 5


def show(terminalreporter: pytest.TerminalReporter, session: Session) -> None:
    """Write the summary of a run in which something was compared, and what it was held against."""
    config, run = session.config, session.finished
    # -qq asks for less than one line. --no-summary is ours to heed: newer releases of pytest leave it to us.
    silent = (
        session.settings.summary == "none"
        or config.get_verbosity() < -1
        or bool(config.getoption("no_summary"))
    )
    if run is not None and run.view.is_refused:
        _show_failures(terminalreporter, session, run)
    cases = () if silent else session.outcomes.cases()
    comparisons = list(comparisons_of(cases))
    failed = any(terminalreporter.stats.get(outcome) for outcome in ("failed", "error"))
    # A run that passes says so in a line or two, unless more is asked for.
    is_brief = None if failed else True
    if config.get_verbosity() > 0:
        is_brief = False
    lines = joined(_tables(session, cases, is_brief=is_brief)) if comparisons else []
    blocks: list[Sequence[StyledLine]] = [
        [[(line, RED)] for text in session.rule_errors for line in text.splitlines()]
    ]
    if run is not None:
        if comparisons and session.settings.asks_of_run:
            if not is_brief or run.view.is_refused or session.settings.summary == "all":
                blocks += _intervals(session, run)
            blocks += doubt_blocks(run.view.results, _look(session), session.outcomes.input_files)
        blocks += [_baseline(session, run), *_notes_and_checks(session, run)]
    checks = joined(blocks)
    if len(lines) > 1 or checks:
        terminalreporter.section("jsonmatch")
    write_lines(terminalreporter, lines)
    if comparisons or not silent:
        write_lines(terminalreporter, _judged(session))
    if comparisons and session.outcomes.left_out:
        counts = ", ".join(f"{number} {reason}" for reason, number in session.outcomes.left_out.items())
        terminalreporter.write_line(f"not counted above: {counts}")
    if comparisons:
        config.hook.pytest_jsonmatch_summary(results=comparisons, terminalreporter=terminalreporter)
    if checks and len(lines) > 1:
        terminalreporter.line("")
    write_lines(terminalreporter, checks)
    if run is not None:
        ci.show_annotations(terminalreporter, run, unicode=session.look[1])


def show_missing(terminalreporter: pytest.TerminalReporter, session: Session) -> bool:
    """Say which option had nothing to work on, and where golden cases were looked for; return whether any."""
    settings = session.settings
    patterns = ", ".join((*(f"*{end}" for end in OWN), *settings.files))
    if settings.needing_cases and not session.outcomes.has_golden(settings.files):
        needed, what = settings.needing_cases, "a golden case, and none has run"
    elif settings.needing_comparisons and not session.outcomes:
        needed, what = settings.needing_comparisons, "a comparison, and nothing was compared"
    else:
        return False
    text = f"{', '.join(needed)} needs {what}; golden files are {patterns} (jsonmatch_files names more)"
    terminalreporter.write_line(text, yellow=True)
    return True


def _tables(
    session: Session, cases: tuple[Case, ...], *, is_brief: bool | None
) -> Iterator[Sequence[StyledLine]]:
    """Yield the tables of fields, and those by tags that are asked for."""
    look, pivot = _look(session), session.settings.pivot
    yield summary_lines(cases, look, pivot=pivot, pivot_option="--jsonmatch-pivot", is_brief=is_brief)
    for name in session.settings.by:
        yield from tag_blocks(ResultSet(cases), name, look, option="--jsonmatch-by")


def _look(session: Session) -> Look:
    return Look(*session.look, session.settings.summary, "--jsonmatch-summary=all")


def _judged(session: Session) -> Iterator[StyledLine]:
    """Yield what judges did in all processes, and that triage was off if it was."""
    parts = session.outcomes.judged
    if not parts:
        return
    from pytest_jsonmatch.semantic.bench import usage_text
    from pytest_jsonmatch.session.judge import total_usage

    usage, saved, is_aside = total_usage(parts)
    yield from _look(session).folded(usage_text(usage, saved), 2, YELLOW if usage.errors else PLAIN)
    if is_aside:
        yield from _look(session).folded(_NO_TRIAGE, 2, YELLOW)


def _intervals(session: Session, run: FinishedRun) -> Iterator[Sequence[StyledLine]]:
    """Yield the headline figures with their intervals."""
    look = _look(session)
    yield from headline_blocks(run.view.headlines, look)
    if session.settings.summary == "all":
        fields = field_headlines(run.view.results, session.settings.confidence)
        yield interval_lines(fields, look, title="fields")


def _baseline(session: Session, run: FinishedRun) -> Sequence[StyledLine]:
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
    return baseline_lines(run.view.diff, _look(session), verdict=run.view.proven, name=baseline.name)


def _notes_and_checks(session: Session, run: FinishedRun) -> Iterator[Sequence[StyledLine]]:
    """Yield a line for each file that was written, or could not be; then gates, and cases that failed."""
    on, look, stopper = extent(run.view.results), _look(session), session.stopper
    if stopper is not None and stopper.reason is not None:
        on += f"; decided, {count(stopper.saved, 'test')} saved"
    notes: list[StyledLine] = [[(text, {color: True} if color else PLAIN)] for text, color in run.notes]
    yield [*notes, *gate_lines(run.view.gates, look, on=on)]
    yield check_lines(run.view.unsettled, look)


def _show_failures(terminalreporter: pytest.TerminalReporter, session: Session, run: FinishedRun) -> None:
    """Show, of each repeated case that has failed, why its worst run is not good enough."""
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


def show_verdict(config: pytest.Config, session: Session) -> None:
    """Write, as the very last line of a run, which gates failed: pytest's own last line counts only tests."""
    terminalreporter: pytest.TerminalReporter | None = config.pluginmanager.getplugin("terminalreporter")
    if session.finished is None or terminalreporter is None:
        return
    if line := failed_line(session.finished.view, _look(session)):
        write_lines(terminalreporter, [line])


def write_lines(terminalreporter: pytest.TerminalReporter, lines: Iterable[StyledLine]) -> None:
    """Write lines in their styles."""
    for line in lines:
        for text, markup in line:
            terminalreporter.write(text, **markup)
        terminalreporter.line("")
