"""What a run leaves for others to read: reports for pull requests, GitHub Actions and GitLab."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_jsonmatch.gate.baseline import BaselineDiff
    from pytest_jsonmatch.gate.headlines import Headline, RunVerdict
    from pytest_jsonmatch.gate.session import SessionVerdict
    from pytest_jsonmatch.report.runreport import Fault, RunReport
    from pytest_jsonmatch.results.model import ResultSet
    from pytest_jsonmatch.session.outcomes import Crash
    from pytest_jsonmatch.session.session import Session

__all__ = ["left_out", "make_report", "reports", "show_annotations", "write_step_summary"]

_REPORT: pytest.StashKey[RunReport] = pytest.StashKey()
_STEP_BYTES: Final = (1 << 20) - 1_000
"""How much GitHub takes for the summary of a step: 1 MiB, and less is on the safe side."""


def _on_github() -> bool:
    return os.environ.get("GITHUB_ACTIONS") == "true"


def make_report(
    config: pytest.Config,
    session: Session,
    results: ResultSet,
    verdict: SessionVerdict,
    *,
    on: str,
    baseline: str,
    diff: BaselineDiff | None,
    proven: RunVerdict | None,
    headlines: Sequence[Headline],
) -> None:
    """Make the report of a session that has been judged, once for all who read it.

    Args:
        config: pytest's.
        session: ours.
        results: the run.
        verdict: what it was judged by.
        on: what was evaluated, such as "12 of 80 cases (-k)".
        baseline: the name of the baseline; empty without one.
        diff: how the run differs from it.
        proven: what that proves.
        headlines: the figures of the run, with their intervals.
    """
    from pytest_jsonmatch.report.runreport import RunReport

    config.stash[_REPORT] = RunReport(
        results,
        verdict,
        on,
        tuple(sorted(_faults(config, session, results), key=lambda fault: (fault.score, fault.case))),
        baseline,
        diff,
        session.outcomes.failed_otherwise,
        tuple(left_out(session)),
        _link(),
        proven,
        tuple(headlines),
    )


def left_out(session: Session) -> Iterator[tuple[str, int]]:
    """Yield how many tests are no cases of the run, by reason."""
    counts = session.outcomes.left_out
    # What failed before it compared is missing in tables of fields only: its case counts as 0.
    return ((reason, counts[reason]) for reason in ("skipped", "expected to fail") if reason in counts)


def _link() -> str:
    names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_SHA")
    parts = [os.environ.get(name, "") for name in names]
    return f"{parts[0]}/{parts[1]}/blob/{parts[2]}/" if all(parts) else ""


# -- where cases failed ------------------------------------------------------------------------------------


def _faults(config: pytest.Config, session: Session, results: ResultSet) -> Iterator[Fault]:
    from pytest_jsonmatch.report.runreport import failed_run, make_fault

    crashes = session.outcomes.crashes
    root = _repository(config.rootpath)
    for case in results.cases:
        run = failed_run(case)
        if run is not None:
            crash = crashes.get((case.id, run.number))
            place = ("", 1) if crash is None else _place(crash, config.rootpath, root)
            yield make_fault(case, run, place, "" if crash is None else crash.message)


def _repository(folder: Path) -> Path:
    """Return the folder from which a service counts paths: the repository's."""
    folder = Path(os.path.realpath(folder))
    for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        told = os.environ.get(name)
        if told and folder.is_relative_to(os.path.realpath(told)):
            return Path(os.path.realpath(told))
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), folder)


def _place(crash: Crash, rootdir: Path, root: Path) -> tuple[str, int]:
    """Return file and line of a crash, from the root of the repository; outside of it those of the test."""
    path = Path(os.path.realpath(rootdir / crash.path))
    if crash.path and path.is_relative_to(root):
        return path.relative_to(root).as_posix(), crash.line
    path = Path(os.path.realpath(rootdir / crash.test[0]))
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix(), crash.test[1]


# -- files and lines ---------------------------------------------------------------------------------------


def reports(config: pytest.Config, session: Session) -> Iterator[tuple[Path, str, bytes]]:
    """Yield the reports that are to be written: where, what it is, and its text."""
    report, settings = config.stash[_REPORT], session.settings
    if settings.markdown is not None:
        from pytest_jsonmatch.report.markdown import COMMENT_BYTES, markdown

        text = markdown(report, COMMENT_BYTES)
        yield config.invocation_params.dir / settings.markdown, "report", text.encode()
    if settings.gitlab is not None:
        from pytest_jsonmatch.report.gitlab import code_quality

        data = code_quality(report.faults).encode("ascii")
        yield config.invocation_params.dir / settings.gitlab, "code quality report", data


def write_step_summary(config: pytest.Config) -> str:
    """Append the report to the summary of a step of GitHub Actions, if there is one; return what went wrong.

    Nobody asked for it on the command line, so a run does not fail by it.
    """
    name = os.environ.get("GITHUB_STEP_SUMMARY")
    report = config.stash[_REPORT]
    if not name or not report.results.cases:
        return ""
    from pytest_jsonmatch.report.markdown import markdown

    path = Path(name)
    try:
        room = _STEP_BYTES - (path.stat().st_size if path.exists() else 0)
        text = f"\n{markdown(report, room - 1)}".encode()
        if len(text) > room:
            return f"{path} has no room for a summary: GitHub takes 1 MiB for each step"
        with path.open("ab", buffering=0) as file:
            file.write(text)  # at once: others may append too
    except OSError as error:
        return f"{path} can't be written: {(error.strerror or str(error)).lower()}"
    return ""


def show_annotations(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config, *, unicode: bool
) -> None:
    """Write the annotations of GitHub Actions, where these are read."""
    report = config.stash.get(_REPORT, None)
    if report is None or not _on_github():
        return
    from pytest_jsonmatch.report.github import workflow_commands

    lines = list(workflow_commands(report, unicode=unicode))
    if lines:
        terminalreporter.ensure_newline()
    for line in lines:
        terminalreporter.write_line(line)
