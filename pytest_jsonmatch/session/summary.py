"""The terminal summary at the end of a run."""

from __future__ import annotations

import os
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.comparing.running import FAILED_BEFORE
from pytest_jsonmatch.golden.files import OWN, is_golden
from pytest_jsonmatch.reading.datafiles import display_name
from pytest_jsonmatch.report.blocks import Report, Table
from pytest_jsonmatch.report.build import ReportRequest, build
from pytest_jsonmatch.report.styled import PLAIN, RED, YELLOW, StyledLine, guarded
from pytest_jsonmatch.report.terminal import blocks_lines, brief_blocks, joined_blocks
from pytest_jsonmatch.report.terminal_style import TerminalStyle
from pytest_jsonmatch.results.comparison import iter_comparisons
from pytest_jsonmatch.results.run import RunResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pytest

    from pytest_jsonmatch.results.comparison import Case
    from pytest_jsonmatch.session.session import Session

_MOST_SHOWN: Final = 5


def show(terminalreporter: pytest.TerminalReporter, session: Session) -> None:
    """Write the summary of a run: tables, judges, baseline and gates."""
    config, verdict = session.config, session.verdict
    # -qq means less than one line. Newer releases of pytest leave --no-summary to plugins.
    silent = (
        session.settings.summary == "none"
        or config.get_verbosity() < -1
        or bool(config.getoption("no_summary"))
    )
    _show_repeated(terminalreporter, session)
    cases = () if silent else session.finished.cases()
    comparisons = list(iter_comparisons(cases))
    failed = any(terminalreporter.stats.get(outcome) for outcome in ("failed", "error"))
    # A run that passes gets a line or two, unless more is requested.
    is_brief = None if failed else True
    if config.get_verbosity() > 0:
        is_brief = False
    style = _make_style(session)
    if not silent:
        lines = _lines(session, cases, style, is_brief=is_brief)
    else:  # gates are still shown
        checks = [] if verdict.report is None else verdict.report.blocks
        lines = joined_blocks(
            [block for block in checks if isinstance(block, Table) and block.level == "brief"], style
        )
    notes = [] if verdict.report is None else list(_notes(session))
    if len(lines) > 1 or notes or verdict.rule_errors:
        terminalreporter.section("jsonmatch")
    write_lines(terminalreporter, lines)
    if comparisons or not silent:
        write_lines(terminalreporter, _judge_lines(session))
    if comparisons and session.finished.left_out:
        counts = ", ".join(f"{number} {reason}" for reason, number in session.finished.left_out.items())
        terminalreporter.write_line(f"not counted above: {counts}")
    if comparisons and (number := session.finished.failed_before):
        terminalreporter.write_line(f"{number} {FAILED_BEFORE}, which counts as 0 in means over cases")
    if comparisons:
        config.hook.pytest_jsonmatch_summary(results=comparisons, terminalreporter=terminalreporter)
    if session.has_only_gates and not verdict.gates:
        text = "jsonmatch_fail is gate, and there is no gate: nothing can fail (--jsonmatch-gate adds one)"
        terminalreporter.write_line(text, yellow=True)
    if notes and len(lines) > 1:
        terminalreporter.line("")
    write_lines(
        terminalreporter,
        [[(line, RED)] for text in verdict.rule_errors for line in text.splitlines()],
    )
    write_lines(terminalreporter, notes)
    if verdict.report is not None:
        from pytest_jsonmatch.session import ci

        ci.show_annotations(terminalreporter, verdict.report, verdict.gates, unicode=session.look[1])


def _lines(
    session: Session, cases: Sequence[Case], style: TerminalStyle, *, is_brief: bool | None
) -> list[StyledLine]:
    """Return the lines of the report, which is built here if it does not exist yet."""
    if session.verdict.report is not None:
        return blocks_lines(session.verdict.report, style, is_brief=is_brief)
    single = _single_assertions(cases, session) if is_brief is None else set()
    tabled = _report(session, [case for case in cases if case.id not in single])
    lines = blocks_lines(tabled, style, is_brief=is_brief)
    if not single:
        return lines
    others = _report(session, [case for case in cases if case.id in single])
    return [*lines, *joined_blocks(brief_blocks(others), style)]


def _report(session: Session, cases: Sequence[Case]) -> Report:
    settings = session.settings
    results = RunResult.of_cases(tuple(cases), has_only_gates=session.has_only_gates)
    return build(results, ReportRequest(by=settings.by, confidence=settings.confidence))


def _notes(session: Session) -> Iterator[StyledLine]:
    """Yield lines about baselines that do not exist yet, and about the files that were written."""
    for baseline in session.baselines:
        if baseline.results is not None:
            continue
        is_named = baseline.path.parent == session.config.rootpath / session.settings.baselines
        option = f"--jsonmatch-{'save' if is_named else 'json'}={baseline.name}"
        where = display_name(baseline.path, session.config.invocation_params.dir)
        text = f"no baseline named {baseline.name!r} yet{baseline.hint}; create it with {option}"
        text += f" (writes {where})"
        yield [(text, YELLOW)]
    yield from session.verdict.notes


def _single_assertions(cases: Sequence[Case], session: Session) -> set[str]:
    """Return the ids of tests that compare once: a table of their fields would mix unrelated documents.

    The result is empty if the run needs all tests: for scores by tag, gates, or a report.
    """
    settings = session.settings
    if settings.summary != "auto" or settings.by or settings.asks_of_run:
        return set()
    # A parametrized test is one test.
    times = Counter(case.id.partition("[")[0] for case in cases for _ in iter_comparisons([case]))
    return {
        case.id
        for case in cases
        if times[case.id.partition("[")[0]] < 2
        and not is_golden(Path(case.id.partition("::")[0]), settings.files, explicit=True)
    }


_UPDATES: Final = frozenset({"update", "review"})
"""The options that assertions with files of expected values need, too."""


def show_missing(terminalreporter: pytest.TerminalReporter, session: Session) -> bool:
    """Name options that had no effect, and the patterns of golden files; return whether there were any."""
    settings = session.settings
    patterns = ", ".join((*(f"*{end}" for end in OWN), *settings.files))
    needing_cases = settings.needing_cases
    if session.finished.updates:  # of files that assertions compare with
        needing_cases = [name for name in needing_cases if name not in _UPDATES]
    if needing_cases and not session.finished.has_golden():
        needed, what = needing_cases, "a golden case, and none has run"
        if _UPDATES.issuperset(needed):
            what = "a golden case or an assertion with a file, and none has run"
    elif settings.needing_comparisons and not session.finished:
        needed, what = settings.needing_comparisons, "a comparison, and nothing was compared"
    else:
        return False
    options = ", ".join(f"--jsonmatch-{name}" for name in needed)
    text = f"{options} needs {what}; golden files are {patterns} (jsonmatch_files names more)"
    terminalreporter.write_line(text, yellow=True)
    return True


def _show_repeated(terminalreporter: pytest.TerminalReporter, session: Session) -> None:
    """Show the failure of the lowest-scoring run of each failed repeated case."""
    if session.config.getoption("tbstyle", "auto") == "no":
        return
    reports = session.finished.tolerated
    failed = {check.subject for check in session.verdict.repeated if check.passed is False}
    shown = [
        (case, runs)
        for case in (session.finished.cases() if failed else ())
        if case.id in failed and (runs := [run for run in case.runs if (case.id, run.number) in reports])
    ]
    if shown:
        terminalreporter.write_sep("=", "REPEATED CASES")
    for case, runs in shown[:_MOST_SHOWN]:
        number = min(runs, key=lambda run: run.mean("score")).number
        title = f"{case.id.rpartition('::')[2]}: run {number} of {case.of}, the lowest-scoring"
        terminalreporter.write_sep("_", title, red=True, bold=True)
        reports[case.id, number].toterminal(session.config.get_terminal_writer())
    if len(shown) > _MOST_SHOWN:
        terminalreporter.write_line(f"and {len(shown) - _MOST_SHOWN} more, named below")


def _make_style(session: Session) -> TerminalStyle:
    return TerminalStyle(
        *session.look, session.settings.summary, "--jsonmatch-summary=all", partial(_node_id, session.config)
    )


def _node_id(config: pytest.Config, nodeid: str) -> str:
    """Return a node id, which starts at the rootdir, relative to the folder that pytest was started in."""
    file, *names = nodeid.split("::")
    try:
        path = os.path.relpath(config.rootpath / file, config.invocation_params.dir)
    except ValueError:  # another drive of Windows
        return nodeid
    return "::".join([path.replace(os.sep, "/"), *names])


def _judge_lines(session: Session) -> Iterator[StyledLine]:
    """Yield lines about the usage of judges in all processes."""
    parts = session.finished.judge_usages
    if not parts:
        return
    from pytest_jsonmatch.semantic.bench import format_usage
    from pytest_jsonmatch.semantic.judging import JudgeUsage

    usage = sum(parts, JudgeUsage())
    yield from _make_style(session).folded(format_usage(usage), 2, YELLOW if usage.errors else PLAIN)


def show_verdict(config: pytest.Config, session: Session) -> None:
    """Write the failed gates as the very last line of a run: pytest's own last line counts only tests."""
    terminalreporter: pytest.TerminalReporter | None = config.pluginmanager.getplugin("terminalreporter")
    if session.verdict.report is None or terminalreporter is None:
        return
    from pytest_jsonmatch.report.checks import failed_line

    if line := failed_line(session.verdict.gates, session.verdict.repeated, _make_style(session)):
        write_lines(terminalreporter, [line])


def write_lines(terminalreporter: pytest.TerminalReporter, lines: Iterable[StyledLine]) -> None:
    """Write lines in their styles."""
    for line in lines:
        for text, markup in guarded(line):
            terminalreporter.write(text, **markup)
        terminalreporter.line("")
