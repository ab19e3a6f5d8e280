"""The pytest plugin: hooks and fixtures that hand over to the rooms and import nothing heavy themselves."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from pytest_jsonmatch import hooks, recording
from pytest_jsonmatch.golden.claims import is_golden
from pytest_jsonmatch.settings import DEFAULT_METRIC, Settings, add_options

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from pathlib import Path

    from pytest_jsonmatch.engine.results import MatchResult
    from pytest_jsonmatch.golden.cases import GoldenCase
    from pytest_jsonmatch.golden.outputs import Outputs
    from pytest_jsonmatch.golden.update import Request, Updater

_SESSION = pytest.StashKey[recording.Session]()
_OUTPUTS: pytest.StashKey[Outputs] = pytest.StashKey()
_UPDATER = pytest.StashKey[Any]()
_UPDATES = pytest.StashKey[Any]()
_MARKER = "jsonmatch(metric=None, threshold=None, **options): defaults for the JSON comparisons of a test."


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the plugin's options."""
    add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Let conftest files and plugins implement our hooks."""
    pluginmanager.add_hookspecs(hooks)


def pytest_configure(config: pytest.Config) -> None:
    """Read the settings and open the session."""
    config.addinivalue_line("markers", _MARKER)
    settings = Settings.read(config)
    # `sys.stdout` is what pytest's terminal reporter is about to get; later on it may be capture's.
    session = recording.Session(config, settings, encoding=getattr(sys.stdout, "encoding", None) or "ascii")
    config.stash[_SESSION] = session
    recording.enter(session)
    if settings.metric != DEFAULT_METRIC or config.hook.pytest_jsonmatch_register.get_hookimpls():
        from pytest_jsonmatch.engine.errors import ConfigurationError

        what = "pytest_jsonmatch_register"
        try:
            session.open_registry()
            what = "jsonmatch_metric"
            session.check_metric()
        except ConfigurationError as error:
            raise pytest.UsageError(f"{what}: {error}") from error
    if settings.review:
        _check_terminal(config)
    if settings.update or settings.review:
        config.stash[_UPDATER] = _make_updater(session)
    if not hasattr(config, "workerinput"):  # a worker's reports are counted in the controller
        config.pluginmanager.register(session.outcomes, "jsonmatch-outcomes")
    if settings.record is not None or settings.replay is not None:
        _open_outputs(config, settings)


def _open_outputs(config: pytest.Config, settings: Settings) -> None:
    """Open the file of `--jsonmatch-record`, or that of `--jsonmatch-replay`."""
    from pytest_jsonmatch.engine.errors import ConfigurationError
    from pytest_jsonmatch.golden.outputs import Outputs, OutputWriter

    if settings.record is not None and settings.replay is not None:
        message = "--jsonmatch-record and --jsonmatch-replay: choose one; a replay makes no new answers"
        raise pytest.UsageError(message)
    folder = config.invocation_params.dir
    if settings.replay is not None:
        try:
            config.stash[_OUTPUTS] = Outputs(folder / settings.replay)
        except ConfigurationError as error:
            raise pytest.UsageError(f"--jsonmatch-replay: {error}") from None
    elif settings.record is not None and not hasattr(config, "workerinput"):
        try:
            writer = OutputWriter(folder / settings.record)
        except OSError as error:
            raise pytest.UsageError(f"--jsonmatch-record: {error}") from None
        config.pluginmanager.register(writer, "jsonmatch-record")


def pytest_plugin_registered(manager: pytest.PytestPluginManager) -> None:
    """Let a plugin or a conftest.py register that pytest loads when it collects."""
    session = recording.current_session()
    if session is not None and session.config.pluginmanager is manager:
        session.open_registry()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close the session."""
    session = config.stash.get(_SESSION, None)
    if session is not None:
        recording.leave(session)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist how its messages may look: it has no terminal to ask."""
    look = node.config.stash[_SESSION].look
    node.workerinput["jsonmatch_look"] = (look.color, look.unicode, look.width)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a file of golden cases."""
    session = parent.config.stash[_SESSION]
    named = parent.session.isinitpath(file_path)
    if not is_golden(file_path, session.settings.files, explicit=named):
        return None
    from pytest_jsonmatch.assertions import judge_case
    from pytest_jsonmatch.golden.bounds import Bounds
    from pytest_jsonmatch.golden.collector import collect_file

    updater = parent.config.stash.get(_UPDATER, None)
    bounds = Bounds.of(session.settings)
    return collect_file(file_path, parent, judge=judge_case, bounds=bounds, updater=updater)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Know which test is running."""
    session = item.config.stash[_SESSION]
    recorder = session.start(item)
    try:
        return (yield)
    finally:
        session.stop(recorder)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin anew: pytest-rerunfailures and the like run a test several times within one protocol."""
    recorder = item.config.stash[_SESSION].running
    if recorder is None:
        return
    recorder.restart()
    outputs = item.config.stash.get(_OUTPUTS, None)
    if outputs is not None and getattr(item.parent, "compares", False):
        from pytest_jsonmatch.golden.collector import replay

        replay(item, outputs, recorder.nodeid)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put on the report what was compared since the last one."""
    report = yield
    recorder = item.config.stash[_SESSION].running
    if recorder is not None:
        if call.when == "setup":
            recorder.setup_seconds = call.duration
        elif recorder.outputs:
            from pytest_jsonmatch.golden.outputs import REPORT_ATTRIBUTE

            setattr(report, REPORT_ATTRIBUTE, recorder.outputs)
            recorder.outputs = []
        payloads = recorder.hand_over()
        if payloads or (not report.passed and recorder.is_missed()):
            setattr(report, recording.REPORT_ATTRIBUTE, payloads)
        if recorder.updates:
            setattr(report, recording.UPDATE_ATTRIBUTE, list(recorder.updates))
            recorder.updates.clear()
    return report


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Write golden files, all in this process: workers of pytest-xdist have only asked for it."""
    config = session.config
    if _UPDATER not in config.stash or hasattr(config, "workerinput"):
        return
    if exitstatus not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
        return  # interrupted, or nothing ran
    from pytest_jsonmatch.golden import update

    own = config.stash[_SESSION]
    requests = [update.Request.from_text(text) for _, text in own.outcomes.updates]
    if own.settings.review:
        requests = _review(config, requests)
    updates = config.stash[_UPDATES] = update.plan_updates(requests)
    if own.settings.dry_run:
        return
    for each in updates:
        update.write(each)
    if any(each.refused for each in updates) and session.exitstatus == pytest.ExitCode.OK:
        # A test may have passed because its case was about to be updated.
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Write what was updated, and the table of scores by field."""
    session = config.stash[_SESSION]
    if _UPDATER in config.stash:
        _show_updates(terminalreporter, config)
    mode = session.settings.summary
    # -qq asks for less than one line. --no-summary is ours to heed: newer releases of pytest leave it to us.
    if (
        not session.outcomes
        or mode == "none"
        or config.get_verbosity() < -1
        or config.getoption("no_summary")
    ):
        return
    comparisons = session.outcomes.comparisons()
    if not comparisons:
        return
    from pytest_jsonmatch.report.terminal import summary_lines

    look = session.look
    lines = summary_lines(comparisons, mode=mode, width=look.width, unicode=look.unicode)
    if len(lines) > 1:
        terminalreporter.section("jsonmatch")
    for line in lines:
        for text, markup in line:
            terminalreporter.write(text, **markup)
        terminalreporter.line("")
    if session.outcomes.left_out:
        counts = ", ".join(f"{count} {reason}" for reason, count in session.outcomes.left_out.items())
        terminalreporter.write_line(f"not counted above: {counts}")
    config.hook.pytest_jsonmatch_summary(results=comparisons, terminalreporter=terminalreporter)


def _make_updater(session: recording.Session) -> Updater:
    from pytest_jsonmatch.assertions import answer_of_case
    from pytest_jsonmatch.golden.update import Updater

    def ask(request: Request) -> None:
        if session.running is not None:
            session.running.updates.append(request.to_text())

    def is_exempt() -> bool:
        running = session.running
        return (
            running is not None
            and running.item.get_closest_marker("xfail") is not None
            and not session.config.getoption("runxfail", default=False)
        )

    settings = session.settings
    return Updater(
        settings.update or "failed",
        dry_run=settings.dry_run or settings.review,
        answer=answer_of_case,
        ask=ask,
        is_exempt=is_exempt,
    )


def _show_updates(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    from pytest_jsonmatch.golden.update import summary_lines
    from pytest_jsonmatch.report.escape import printable

    settings = config.stash[_SESSION].settings
    terminalreporter.section("jsonmatch review" if settings.review else "jsonmatch update")
    updates = config.stash.get(_UPDATES, None)
    if updates is None:
        terminalreporter.write("the run did not come to its end: nothing was written\n")
        return
    for line, color in summary_lines(updates, dry_run=settings.dry_run):
        terminalreporter.write(f"{printable(line)}\n", **({color: True} if color else {}))


def _check_terminal(config: pytest.Config) -> None:
    """Refuse to review where nobody can be asked."""
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
    """Give the terminal back to whom it belongs, as long as something is asked there."""
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.suspend(in_=True)
    try:
        yield
    finally:
        if capture is not None:
            capture.resume()


def _review(config: pytest.Config, requests: list[Request]) -> list[Request]:
    from pytest_jsonmatch.golden.review import review
    from pytest_jsonmatch.report.escape import printable

    with _terminal(config):

        def show(text: str) -> None:
            sys.stdout.write("".join(f"{printable(line)}\n" for line in text.splitlines()))

        def ask(question: str) -> str:
            sys.stdout.write(question)
            sys.stdout.flush()
            return sys.stdin.readline()

        return review(requests, show=show, ask=ask)


@pytest.fixture(scope="session")
def assert_json_match() -> Callable[..., MatchResult]:
    """Compare JSON with JSON and fail below a threshold: `assert_json_match(actual, expected, ...)`."""
    from pytest_jsonmatch.assertions import assert_json_match

    return assert_json_match


@pytest.fixture
def jsonmatch_case(request: pytest.FixtureRequest) -> GoldenCase:
    """The golden case that runs: its `id`, `input`, `expected` and the rest of its YAML."""
    from pytest_jsonmatch.golden.collector import case_of

    return case_of(request)


@pytest.fixture
def jsonmatch_actual(request: pytest.FixtureRequest, jsonmatch_case: GoldenCase) -> object:
    """The answer for the golden case: the recorded one, else its producer's. Override it in a conftest.py."""
    __tracebackhide__ = True
    from pytest_jsonmatch.golden.cases import default_actual

    return default_actual(jsonmatch_case, lambda case: request.node.ihook.pytest_jsonmatch_actual(case=case))
