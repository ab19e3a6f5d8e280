"""The pytest plugin: hooks and fixtures that hand over to the rooms and import nothing heavy themselves."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from pytest_jsonmatch import hooks
from pytest_jsonmatch.golden.claims import is_golden
from pytest_jsonmatch.session.options import DEFAULT_METRIC, Settings, add_options
from pytest_jsonmatch.session.recorder import parameters, tell_usage
from pytest_jsonmatch.session.session import Session, current_session, enter, leave

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.golden.cases import GoldenCase
    from pytest_jsonmatch.golden.outputs import Outputs
    from pytest_jsonmatch.golden.update import Updater

_SESSION = pytest.StashKey[Session]()
_OUTPUTS: pytest.StashKey[Outputs] = pytest.StashKey()
_UPDATER: pytest.StashKey[Updater] = pytest.StashKey()
_COLLECTOR = "pytest_jsonmatch.golden.collector"
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
    session = Session(config, settings, encoding=getattr(sys.stdout, "encoding", None) or "ascii")
    config.stash[_SESSION] = session
    enter(session)
    if settings.metric != DEFAULT_METRIC or config.hook.pytest_jsonmatch_register.get_hookimpls():
        from pytest_jsonmatch.engine.value.errors import ConfigurationError

        what = "pytest_jsonmatch_register"
        try:
            session.open_registry()
            what = "jsonmatch_metric"
            session.check_metric()
        except ConfigurationError as error:
            raise pytest.UsageError(f"{what}: {error}") from error
    if settings.embedding_cache:
        from pytest_jsonmatch.semantic.vectorcache import use_cache_folder

        config.add_cleanup(use_cache_folder(settings.embedding_cache, below=config.rootpath))
    if settings.update or settings.review:
        from pytest_jsonmatch.session import updating

        if settings.review:
            updating.check_terminal(config)
        config.stash[_UPDATER] = updating.make_updater(session)
    if not hasattr(config, "workerinput"):  # a worker's reports are counted in the controller
        config.pluginmanager.register(session.outcomes, "jsonmatch-outcomes")
        if settings.judges or settings.stop_when_decided:
            from pytest_jsonmatch.session import verdict

            verdict.prepare(config, session)
    if settings.record is not None or settings.replay is not None:
        _open_outputs(config, settings)


def _open_outputs(config: pytest.Config, settings: Settings) -> None:
    """Open the file of `--jsonmatch-record`, or that of `--jsonmatch-replay`."""
    from pytest_jsonmatch.engine.value.errors import ConfigurationError
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
        except ConfigurationError as error:
            raise pytest.UsageError(f"--jsonmatch-record: {error}") from None
        config.pluginmanager.register(writer, "jsonmatch-record")


def pytest_plugin_registered(manager: pytest.PytestPluginManager) -> None:
    """Let a plugin or a conftest.py register that pytest loads when it collects."""
    session = current_session()
    if session is not None and session.config.pluginmanager is manager:
        session.open_registry()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close the session."""
    session = config.stash.get(_SESSION, None)
    if session is not None:
        leave(session)


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
    from pytest_jsonmatch.golden.collector import collect_file

    updater = parent.config.stash.get(_UPDATER, None)
    return collect_file(file_path, parent, settings=session.settings, judge=judge_case, updater=updater)


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
    pivot = item.config.stash[_SESSION].settings.pivot
    if pivot is not None and pivot in getattr(getattr(item, "callspec", None), "params", ()):
        recorder.params = parameters(item)
    if _COLLECTOR in sys.modules:  # else there is no golden case
        from pytest_jsonmatch.golden.collector import prepare

        prepare(item, recorder)
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
        recorder.hand_over(report)
        usage_since = item.config.stash[_SESSION].usage_since
        if usage_since is not None and (used := usage_since()) is not None:
            tell_usage(report, used)
        if call.when == "call" and call.excinfo is not None and report.failed and recorder.run is not None:
            recorder.tolerate(report, call.excinfo.value)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take note of all cases, before some are chosen."""
    session = config.stash[_SESSION]
    if session.settings.judges or session.settings.reports:
        from pytest_jsonmatch.session import verdict

        verdict.take_collected(session, items)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Take note of the cases that will run."""
    own = session.config.stash[_SESSION]
    if own.settings.stop_when_decided and session.items:
        from pytest_jsonmatch.session import verdict

        verdict.take_planned(own, session.items)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Hear from a worker of pytest-xdist which cases it has collected: the controller collects none."""
    collected = getattr(node, "workeroutput", {}).get("jsonmatch_collected", ())
    node.config.stash[_SESSION].collected.update(collected)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Judge the session and write golden files, all in this process: pytest-xdist's workers only asked."""
    config = session.config
    own = config.stash[_SESSION]
    if hasattr(config, "workerinput"):
        output: dict[str, Any] = getattr(config, "workeroutput")  # noqa: B009 - pytest-xdist's
        output["jsonmatch_collected"] = sorted(own.collected)
        return
    failed = False
    if own.settings.judges or own.outcomes.has_runs or (own.outcomes and own.settings.reports):
        from pytest_jsonmatch.session import verdict

        failed = verdict.judge(session, own)
    # Interrupted, or nothing ran: then nothing is written.
    if _UPDATER in config.stash and exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
        from pytest_jsonmatch.session import updating

        failed |= updating.write(config, own)
    if failed and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Write what was updated, the table of scores by field, and what the session is judged by."""
    session = config.stash[_SESSION]
    if _UPDATER in config.stash:
        from pytest_jsonmatch.session import updating

        updating.show(terminalreporter, config, session)
    if session.outcomes or session.settings.judges:
        from pytest_jsonmatch.session import verdict

        verdict.show(terminalreporter, config, session)


@pytest.fixture(scope="session")
def assert_json_match() -> Callable[..., MatchResult]:
    """Compare JSON with JSON and fail below a threshold: `assert_json_match(actual, expected, ...)`."""
    from pytest_jsonmatch.assertions import assert_json_match

    return assert_json_match


@pytest.fixture(scope="session")
def jsonmatch_judge(request: pytest.FixtureRequest) -> object:
    """Whom the comparator `semantic` asks: the judge of the settings, or None for the registered one.

    It is made when the first comparison needs it. Override it in a conftest.py, with any scope, to return a
    judge or a function of one item.
    """
    from pytest_jsonmatch.session.judge import configured_judge

    return configured_judge(request.config.stash[_SESSION])


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
