"""The files that a run writes: results, reports, and output for GitHub Actions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pytest

    from pytest_jsonmatch.gate.check import Check
    from pytest_jsonmatch.report.blocks import Report
    from pytest_jsonmatch.report.case_tables import LocateFailure
    from pytest_jsonmatch.results.comparison import Case, CaseRun
    from pytest_jsonmatch.results.run import RunResult
    from pytest_jsonmatch.session.payload import Crash
    from pytest_jsonmatch.session.session import Session

_STEP_BYTES: Final = (1 << 20) - 1_000
"""The maximum size of a step summary: GitHub's limit is 1 MiB, and this is a little less, to be safe."""


def link() -> str:
    """Return the URL of the commit's files on GitHub; empty outside GitHub Actions."""
    names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_SHA")
    parts = [os.environ.get(name, "") for name in names]
    return f"{parts[0]}/{parts[1]}/blob/{parts[2]}/" if all(parts) else ""


# -- locations of failures ---------------------------------------------------------------------------------


def failure_locator(session: Session) -> LocateFailure:
    """Return a function that returns the file and line of a failure in the repository, and its message."""
    crashes, rootdir = session.finished.crashes, session.config.rootpath
    root = _repository(rootdir)

    def locate(case: Case, run: CaseRun) -> tuple[str, int, str]:
        crash = crashes.get((case.id, run.number))
        return ("", 1, "") if crash is None else (*_find_location(crash, rootdir, root), crash.message)

    return locate


def _repository(folder: Path) -> Path:
    """Return the root of the repository; paths for CI services are relative to it."""
    folder = Path(os.path.realpath(folder))
    workspace = os.environ.get("GITHUB_WORKSPACE")
    if workspace and folder.is_relative_to(os.path.realpath(workspace)):
        return Path(os.path.realpath(workspace))
    return next((parent for parent in (folder, *folder.parents) if (parent / ".git").exists()), folder)


def _find_location(crash: Crash, rootdir: Path, root: Path) -> tuple[str, int]:
    """Return file and line of a crash, relative to the repository; of the test if the crash is outside."""
    path = Path(os.path.realpath(rootdir / crash.path))
    if crash.path and path.is_relative_to(root):
        return path.relative_to(root).as_posix(), crash.line
    path = Path(os.path.realpath(rootdir / crash.test[0]))
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix(), crash.test[1]


# -- files and lines ---------------------------------------------------------------------------------------


def write_files(session: Session, results: RunResult, report: Report) -> bool:
    """Write the requested files, even if one fails; note each, and return whether all were written."""
    from pytest_jsonmatch.reading.datafiles import display_name
    from pytest_jsonmatch.report.styled import PLAIN, RED, YELLOW
    from pytest_jsonmatch.support.atomic import write_file

    notes, are_written = session.verdict.notes, True
    if session.settings.save is not None and not session.is_complete:
        notes.append([(f"baseline {session.settings.save} is not written: the run did not finish", YELLOW)])
    for path, kind, data in _files(session, results, report):
        name = display_name(path, session.config.invocation_params.dir)
        try:
            write_file(path, data)
        except OSError as error:
            are_written = False
            notes.append([(f"{name} can't be written: {(error.strerror or str(error)).lower()}", RED)])
        else:
            notes.append([(f"{kind} written to {name}", PLAIN)])
    if problem := _write_step_summary(report):
        notes.append([(problem, YELLOW)])
    return are_written


def _files(session: Session, results: RunResult, report: Report) -> Iterator[tuple[Path, str, bytes]]:
    """Yield the path, the kind and the content of each requested file."""
    settings, rootdir = session.settings, session.config.rootpath
    here = session.config.invocation_params.dir
    targets = []
    if settings.json is not None:
        targets.append(here / settings.json)
    if settings.save is not None and session.is_complete:
        targets.append(rootdir / settings.baselines / f"{settings.save}.jsonl")
    if targets:
        from pytest_jsonmatch.results.file import to_text

        data = to_text(results).encode("ascii")
        yield from ((path, "results", data) for path in targets)
    if settings.markdown is not None:
        from pytest_jsonmatch.report.markdown import COMMENT_BYTES, markdown

        yield here / settings.markdown, "report", markdown(report, COMMENT_BYTES).encode()
    if settings.html is not None:
        from pytest_jsonmatch.report.html import html_page

        yield here / settings.html, "report", html_page(report).encode()


def _write_step_summary(report: Report) -> str:
    """Append the report to the step summary of GitHub Actions, if there is one; return the error, if any.

    No option requests it, so a failure here does not fail the run.
    """
    name = os.environ.get("GITHUB_STEP_SUMMARY")
    if not name or not report.blocks:
        return ""
    from pytest_jsonmatch.report.markdown import markdown

    path = Path(name)
    try:
        space = _STEP_BYTES - (path.stat().st_size if path.exists() else 0)
        text = f"\n{markdown(report, space - 1)}".encode()
        if len(text) > space:
            return f"{path} has no space left for a summary: GitHub allows 1 MiB per step"
        with path.open("ab", buffering=0) as file:
            file.write(text)  # in one call, since other processes may append, too
    except OSError as error:
        return f"{path} can't be written: {(error.strerror or str(error)).lower()}"
    return ""


def show_annotations(
    terminalreporter: pytest.TerminalReporter, report: Report, gates: Iterable[Check], *, unicode: bool
) -> None:
    """Write annotations if the run is in GitHub Actions."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return
    from pytest_jsonmatch.report.ci import workflow_commands

    lines = list(workflow_commands(report, gates, unicode=unicode))
    if lines:
        terminalreporter.ensure_newline()
    for line in lines:
        terminalreporter.write_line(line)
