"""What the terminal shows at the end of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.golden.filenames import OWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pytest

    from pytest_jsonmatch.report.look import Look
    from pytest_jsonmatch.report.styled import StyledLine
    from pytest_jsonmatch.results.model import Case
    from pytest_jsonmatch.running import Turn
    from pytest_jsonmatch.session.finished import FinishedRun
    from pytest_jsonmatch.session.session import Session

_MOST_SHOWN: Final = 5


def show(terminalreporter: pytest.TerminalReporter, session: Session) -> None:
    """Write the summary of a run in which something was compared, and what it was held against."""
    from pytest_jsonmatch.results.model import comparisons_of

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
    lines = _table(session, cases, is_brief=is_brief) if comparisons else []
    for block in _by_tags(session, cases) if comparisons else ():
        lines = [*lines, *([[]] if lines else []), *block]
    checks: list[StyledLine] = []
    checks += [[(line, {"red": True})] for text in session.rule_errors for line in text.splitlines()]
    if run is not None:
        if comparisons and session.settings.asks_of_run:
            from pytest_jsonmatch.report.doubts import doubt_blocks

            if not is_brief or run.view.is_refused or session.settings.summary == "all":
                checks += _intervals(session, run)
            for block in doubt_blocks(run.view.results, _look(session), session.outcomes.input_files):
                checks += [*block, []]
        checks += [*_baseline(session, run), *_notes(run), *_checks(session, run)]
        while checks and not checks[-1]:
            checks.pop()
    if len(lines) > 1 or checks:
        terminalreporter.section("jsonmatch")
    write_lines(terminalreporter, lines)
    if comparisons or not silent:
        write_lines(terminalreporter, _judged(session))
    if comparisons and session.outcomes.left_out:
        counts = ", ".join(f"{count} {reason}" for reason, count in session.outcomes.left_out.items())
        terminalreporter.write_line(f"not counted above: {counts}")
    if comparisons:
        config.hook.pytest_jsonmatch_summary(results=comparisons, terminalreporter=terminalreporter)
    if checks and len(lines) > 1:
        terminalreporter.line("")
    write_lines(terminalreporter, checks)
    if run is not None:
        from pytest_jsonmatch.session import ci

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


def _table(session: Session, cases: Sequence[Case], *, is_brief: bool | None) -> Sequence[StyledLine]:
    from pytest_jsonmatch.report.terminal import summary_lines

    return summary_lines(
        cases,
        _look(session),
        pivot=session.settings.pivot,
        pivot_option="--jsonmatch-pivot",
        is_brief=is_brief,
    )


def _by_tags(session: Session, cases: tuple[Case, ...]) -> Iterator[list[StyledLine]]:
    """Yield the tables by tags that are asked for."""
    if session.settings.by:
        from pytest_jsonmatch.report.bytag import tag_blocks
        from pytest_jsonmatch.results.model import ResultSet

        results = ResultSet(cases)
        for name in session.settings.by:
            yield from tag_blocks(results, name, _look(session), option="--jsonmatch-by")


def _look(session: Session) -> Look:
    from pytest_jsonmatch.report.look import Look

    return Look(*session.look, session.settings.summary, "--jsonmatch-summary=all")


def _judged(session: Session) -> Iterator[StyledLine]:
    """Yield what judges did in all processes."""
    parts = session.outcomes.judged
    if not parts:
        return
    from pytest_jsonmatch.semantic.bench import usage_text
    from pytest_jsonmatch.session.judge import total_usage

    usage, saved = total_usage(parts)
    yield from _look(session).folded(usage_text(usage, saved), 2, {"yellow": True} if usage.errors else {})


def _intervals(session: Session, run: FinishedRun) -> Iterator[StyledLine]:
    """Yield the headline figures with their intervals."""
    from pytest_jsonmatch.gate.headlines import field_headlines
    from pytest_jsonmatch.report.checks import headline_blocks, interval_lines

    look = _look(session)
    blocks = [*headline_blocks(run.view.headlines, look)]
    if session.settings.summary == "all":
        fields = field_headlines(run.view.results, session.settings.confidence)
        blocks.append(interval_lines(fields, look, title="fields"))
    for block in blocks:
        yield from [*block, []]


def _baseline(session: Session, run: FinishedRun) -> Iterator[StyledLine]:
    """Yield the lines about the baseline."""
    baseline = session.baseline
    if baseline is None:
        return
    if baseline.results is None:
        from pytest_jsonmatch.golden.filenames import display_name

        is_named = baseline.path.parent == session.config.rootpath / session.settings.baselines
        how = f"--jsonmatch-{'save' if is_named else 'json'}={baseline.name}"
        where = display_name(baseline.path, session.config.invocation_params.dir)
        text = f"baseline {baseline.name}: there is none yet; {how} saves this run as {where}"
        yield [(text, {"yellow": True})]
    elif run.view.diff is not None:
        from pytest_jsonmatch.report.baseline import baseline_lines

        yield from baseline_lines(run.view.diff, _look(session), verdict=run.view.proven, name=baseline.name)
    yield []


def _notes(run: FinishedRun) -> Iterator[StyledLine]:
    """Yield a line for each file that was written, or could not be."""
    for text, color in run.notes:
        yield [(text, {color: True} if color else {})]


def _checks(session: Session, run: FinishedRun) -> Sequence[StyledLine]:
    """Return the lines of all gates, and of the cases that failed as a whole."""
    from pytest_jsonmatch.engine.value.text import count
    from pytest_jsonmatch.report.checks import check_lines, gate_lines
    from pytest_jsonmatch.report.view import extent

    on, look, stopper = extent(run.view.results), _look(session), session.stopper
    if stopper is not None and stopper.reason is not None:
        on += f"; decided, {count(stopper.saved, 'test')} saved"
    gates = gate_lines(run.view.gates, look, on=on)
    cases = check_lines(run.view.unsettled, look)
    return [*gates, *([[]] if gates and cases else []), *cases]


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
    from pytest_jsonmatch.report.checks import failed_line

    if line := failed_line(session.finished.view, _look(session)):
        write_lines(terminalreporter, [line])


def write_lines(terminalreporter: pytest.TerminalReporter, lines: Iterable[StyledLine]) -> None:
    """Write lines in their styles."""
    for line in lines:
        for text, markup in line:
            terminalreporter.write(text, **markup)
        terminalreporter.line("")
