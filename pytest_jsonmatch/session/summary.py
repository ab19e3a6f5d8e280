"""What the terminal shows at the end of a run."""

from __future__ import annotations

import os
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.golden.files import OWN, display_name, is_golden
from pytest_jsonmatch.report.look import Look, joined
from pytest_jsonmatch.report.sheets import block_lines
from pytest_jsonmatch.report.styled import PLAIN, RED, YELLOW, StyledLine, guarded
from pytest_jsonmatch.report.terminal import blocks_lines, brief_lines, summary_lines, unscored_lines
from pytest_jsonmatch.report.view import RunView
from pytest_jsonmatch.results.comparison import comparisons_of
from pytest_jsonmatch.results.run import RunResult
from pytest_jsonmatch.running import FAILED_BEFORE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pytest

    from pytest_jsonmatch.results.comparison import Case
    from pytest_jsonmatch.session.session import Session

_MOST_SHOWN: Final = 5


def show(terminalreporter: pytest.TerminalReporter, session: Session) -> None:
    """Write the summary of a run: tables, judges, baseline and gates."""
    config, run = session.config, session.view
    # -qq means less than one line. Newer releases of pytest leave it to plugins to heed --no-summary.
    silent = (
        session.settings.summary == "none"
        or config.get_verbosity() < -1
        or bool(config.getoption("no_summary"))
    )
    if run is not None and run.is_refused:
        _show_repeated(terminalreporter, session, run)
    cases = () if silent else session.finished.cases()
    comparisons = list(comparisons_of(cases))
    failed = any(terminalreporter.stats.get(outcome) for outcome in ("failed", "error"))
    # A run that passes gets a line or two, unless more is requested.
    is_brief = None if failed else True
    if config.get_verbosity() > 0:
        is_brief = False
    single = _single_assertions(cases, session) if is_brief is None else set()
    tabled = tuple(case for case in cases if case.id not in single)
    results = RunResult.of_cases(tabled)
    view = RunView(results, by=session.settings.by, level=session.settings.confidence)
    lines = summary_lines(view, _look(session), is_brief=is_brief)
    others = tuple(case for case in cases if case.id in single)
    lines += brief_lines(RunView(RunResult.of_cases(others)), _look(session))
    blocks: list[Sequence[StyledLine]] = [
        [[(line, RED)] for text in session.rule_errors for line in text.splitlines()]
    ]
    if run is not None:
        blocks += _verdict(session, run, is_brief=bool(is_brief), has_figures=bool(comparisons))
    checks = joined(blocks)
    if len(lines) > 1 or checks:
        terminalreporter.section("jsonmatch")
    write_lines(terminalreporter, lines)
    if comparisons or not silent:
        write_lines(terminalreporter, _judged(session))
    if comparisons and session.finished.left_out:
        counts = ", ".join(f"{number} {reason}" for reason, number in session.finished.left_out.items())
        terminalreporter.write_line(f"not counted above: {counts}")
    raised = [case for case in cases if {run.error for run in case.runs} - {"", FAILED_BEFORE}]
    write_lines(terminalreporter, unscored_lines(raised, _look(session)))
    if comparisons:
        config.hook.pytest_jsonmatch_summary(results=comparisons, terminalreporter=terminalreporter)
    if session.has_only_gates and not (run and run.gates):
        text = "jsonmatch_fail is gate, and there is no gate: nothing can fail (--jsonmatch-gate adds one)"
        terminalreporter.write_line(text, yellow=True)
    if checks and len(lines) > 1:
        terminalreporter.line("")
    write_lines(terminalreporter, checks)
    if run is not None:
        from pytest_jsonmatch.session import ci

        ci.show_annotations(terminalreporter, run, unicode=session.look[1])


def _single_assertions(cases: Sequence[Case], session: Session) -> set[str]:
    """Return the ids of tests that compare once: a table of their fields would mix unrelated documents.

    There are none if more is asked of the run: figures by tag, gates, a report.
    """
    settings = session.settings
    if settings.summary != "auto" or settings.by or settings.asks_of_run:
        return set()
    # A parametrized test is one test.
    times = Counter(case.id.partition("[")[0] for case in cases for _ in comparisons_of([case]))
    return {
        case.id
        for case in cases
        if times[case.id.partition("[")[0]] < 2
        and not is_golden(Path(case.id.partition("::")[0]), settings.files, explicit=True)
    }


def show_missing(terminalreporter: pytest.TerminalReporter, session: Session) -> bool:
    """Name options that had nothing to work on, and the patterns of golden files; return whether any did."""
    settings = session.settings
    patterns = ", ".join((*(f"*{end}" for end in OWN), *settings.files))
    if settings.needing_cases and not session.finished.has_golden(settings.files):
        needed, what = settings.needing_cases, "a golden case, and none has run"
    elif settings.needing_comparisons and not session.finished:
        needed, what = settings.needing_comparisons, "a comparison, and nothing was compared"
    else:
        return False
    options = ", ".join(f"--jsonmatch-{name}" for name in needed)
    text = f"{options} needs {what}; golden files are {patterns} (jsonmatch_files names more)"
    terminalreporter.write_line(text, yellow=True)
    return True


def _verdict(
    session: Session, run: RunView, *, is_brief: bool, has_figures: bool
) -> Iterator[Sequence[StyledLine]]:
    """Yield blocks of lines: headline figures, the baseline, files, gates and cases that failed.

    Args:
        session: of the run.
        run: the run, which has ended.
        is_brief: whether intervals are shown only if the run is refused.
        has_figures: whether anything was compared.
    """
    from pytest_jsonmatch.report.checks import check_lines, doubt_lines, gate_lines
    from pytest_jsonmatch.report.view import extent

    settings, look = session.settings, _look(session)
    if has_figures and settings.asks_of_run:
        if not is_brief or run.is_refused or settings.summary == "all":
            yield from (block_lines(block, look) for block in run.figure_blocks)
        yield doubt_lines(run.results, look)
    baseline = session.baseline
    if baseline is not None and baseline.results is None:
        is_named = baseline.path.parent == session.config.rootpath / settings.baselines
        how = f"--jsonmatch-{'save' if is_named else 'json'}={settings.baseline}"
        where = display_name(baseline.path, session.config.invocation_params.dir)
        text = (
            f"baseline {settings.baseline}: there is none yet{baseline.hint}; {how} saves this run as {where}"
        )
        yield [[(text, YELLOW)]]
    elif run.contest is not None:
        yield blocks_lines(iter(run.against), look)
    yield [*session.notes, *gate_lines(run.gates, look, on=extent(run.results))]
    yield check_lines(run.unsettled, look)


def _show_repeated(terminalreporter: pytest.TerminalReporter, session: Session, run: RunView) -> None:
    """Show for each failed repeated case why its worst run is not good enough."""
    if session.config.getoption("tbstyle", "auto") == "no":
        return
    reports = session.finished.tolerated
    failed = {check.subject for check in run.repeated if check.passed is False}
    told = [
        (case, runs)
        for case in run.results.cases
        if case.id in failed and (runs := [each for each in case.runs if (case.id, each.number) in reports])
    ]
    if told:
        terminalreporter.write_sep("=", "REPEATED CASES")
    for case, runs in told[:_MOST_SHOWN]:
        number = min(runs, key=lambda each: each.figure("score")).number
        title = f"{case.id.rpartition('::')[2]}: run {number} of {case.of}, the worst"
        terminalreporter.write_sep("_", title, red=True, bold=True)
        reports[case.id, number].toterminal(session.config.get_terminal_writer())
    if len(told) > _MOST_SHOWN:
        terminalreporter.write_line(f"and {len(told) - _MOST_SHOWN} more, named below")


def _look(session: Session) -> Look:
    return Look(
        *session.look, session.settings.summary, "--jsonmatch-summary=all", partial(_node_id, session.config)
    )


def _node_id(config: pytest.Config, nodeid: str) -> str:
    """Return a node id, which starts at the rootdir, as pytest takes it in the folder it was started in."""
    file, *names = nodeid.split("::")
    try:
        path = os.path.relpath(config.rootpath / file, config.invocation_params.dir)
    except ValueError:  # another drive of Windows
        return nodeid
    return "::".join([path.replace(os.sep, "/"), *names])


def _judged(session: Session) -> Iterator[StyledLine]:
    """Yield lines about what judges did in all processes."""
    parts = session.finished.judged
    if not parts:
        return
    from pytest_jsonmatch.semantic.bench import usage_text
    from pytest_jsonmatch.semantic.judging import JudgeUsage

    usage = sum(parts, JudgeUsage())
    yield from _look(session).folded(usage_text(usage), 2, YELLOW if usage.errors else PLAIN)


def show_verdict(config: pytest.Config, session: Session) -> None:
    """Write which gates failed as the very last line of a run: pytest's own last line counts only tests."""
    terminalreporter: pytest.TerminalReporter | None = config.pluginmanager.getplugin("terminalreporter")
    if session.view is None or terminalreporter is None:
        return
    from pytest_jsonmatch.report.checks import failed_line

    if line := failed_line(session.view.gates, session.view.repeated, _look(session)):
        write_lines(terminalreporter, [line])


def write_lines(terminalreporter: pytest.TerminalReporter, lines: Iterable[StyledLine]) -> None:
    """Write lines in their styles."""
    for line in lines:
        for text, markup in guarded(line):
            terminalreporter.write(text, **markup)
        terminalreporter.line("")
