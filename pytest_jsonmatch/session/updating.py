"""Rewrite golden files, for `--jsonmatch-update` and `--jsonmatch-review`."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, final

import pytest

from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.golden import update
from pytest_jsonmatch.golden.review import review_on_terminal, update_lines
from pytest_jsonmatch.report.terminal_style import TerminalStyle
from pytest_jsonmatch.session.summary import write_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_jsonmatch.comparing.fileupdater import ComparedFile
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.session.session import Session


def write(session: Session) -> list[update.FileUpdate]:
    """Write the golden files of a run that has ended; return the update of each."""
    requests = session.finished.updates
    if session.settings.review:
        with _terminal(session.config):
            requests = review_on_terminal(requests)
    updates = update.plan_updates(requests)
    if not session.settings.dry_run:
        for file_update in updates:
            update.write(file_update)
    return updates


def make_updater(session: Session) -> update.Updater:
    """Return the object that decides which expected values to update."""

    def ask(request: update.Request) -> None:
        test = session.test
        if test is not None:
            with test.adding() as payload:
                payload.updates.append(request)

    def is_exempt() -> bool:
        test = session.test
        if test is None or session.config.getoption("runxfail", default=False):
            return False
        return test.item.get_closest_marker("xfail") is not None

    settings = session.settings
    return update.Updater(
        settings.update or "failed",
        dry_run=settings.dry_run or settings.review,
        ask=ask,
        is_exempt=is_exempt,
    )


@final
class ExpectedFileUpdater:
    """Requests updates of the files that assertions of the running test compare with.

    Args:
        session: the run.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._updater = make_updater(session)

    @property
    def writes_new(self) -> bool:
        """Whether files that do not exist yet are written."""
        return self._updater.writes_new

    def request_first(self, file: ComparedFile, answer: JsonValue) -> str | None:
        """Request a file that does not exist; return the reason why the test still fails, or None."""
        return self._updater.request_first(self._make_target(file), answer)

    def request_after_failure(
        self, file: ComparedFile, result: MatchResult, answer: Callable[[], JsonValue]
    ) -> str | None:
        """Request a new value after a failed comparison; return a text to add to the failure, or None."""
        return self._updater.request_after_failure(self._keep_target(file), result, answer)

    def request_after_pass(
        self, file: ComparedFile, result: MatchResult, answer: Callable[[], JsonValue]
    ) -> None:
        """Request that the value stays or, in mode "all", the new one.

        Unlike for golden cases, the mode "new" requests something, too: it shows that a file was compared.
        """
        self._updater.request_after_pass(self._keep_target(file), result, answer)

    def _keep_target(self, file: ComparedFile) -> update.Target:
        """Return the target of a file; in mode "new", request that its value stays."""
        target = self._make_target(file)
        if self._updater.mode == "new" and target.obstacle is None:
            self._updater.keep(target)
        return target

    def _make_target(self, file: ComparedFile) -> update.Target:
        test = self._session.test
        return update.Target(
            file.path,
            file.name,
            "" if test is None else test.nodeid,
            (),
            update.digest_of(file.data),
            MISSING if file.data is None else file.read(),
            has_matchers=True,
            obstacle=update.refuse_suffix(file.path),
        )


def show(terminalreporter: pytest.TerminalReporter, session: Session) -> None:
    """Show the updates of golden files."""
    settings = session.settings
    terminalreporter.section("jsonmatch review" if settings.review else "jsonmatch update")
    if session.verdict.updates is None:
        terminalreporter.write("the run did not finish: nothing was written\n")
        return
    style = TerminalStyle(*session.look, "all" if session.config.get_verbosity() > 0 else "auto", "-v: all")
    write_lines(terminalreporter, update_lines(session.verdict.updates, style, dry_run=settings.dry_run))


def check_terminal(config: pytest.Config) -> None:
    """Raise `pytest.UsageError` for a review without a terminal."""
    option = config.option
    if hasattr(config, "workerinput") or getattr(option, "dist", "no") != "no" or getattr(option, "tx", None):
        raise pytest.UsageError("--jsonmatch-review asks on the terminal, one test at a time; leave out -n")
    with _terminal(config):
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise pytest.UsageError(
                "--jsonmatch-review asks on the terminal, and there is none; use --jsonmatch-update"
            )


@contextmanager
def _terminal(config: pytest.Config) -> Iterator[None]:
    """Suspend pytest's capture while questions are asked on the terminal."""
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.suspend(in_=True)
    try:
        yield
    finally:
        if capture is not None:
            capture.resume()
            # Outside tests pytest does not capture output.
            capture.suspend_global_capture()
