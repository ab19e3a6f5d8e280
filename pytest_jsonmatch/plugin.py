"""The pytest plugin: hooks and fixtures that delegate to the subpackages, without heavy imports."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from pytest_jsonmatch import hooks
from pytest_jsonmatch.comparing import running
from pytest_jsonmatch.session import ATTRIBUTE
from pytest_jsonmatch.session.options import Settings, add_options, refuse_unknown
from pytest_jsonmatch.session.session import Reports, Session

if TYPE_CHECKING:
    import warnings
    from collections.abc import Callable, Generator
    from pathlib import Path

    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.golden.cases import GoldenCase

_SESSION = pytest.StashKey[Session]()
_DATA_FILES = (".yaml", ".yml", ".json")
_COLLECTOR = "pytest_jsonmatch.golden.collector"
_MARKER = "jsonmatch(metric=None, threshold=None, **options): defaults for the JSON comparisons of a test."


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the plugin's options."""
    add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Register our hooks, so that conftest files and plugins can implement them."""
    pluginmanager.add_hookspecs(hooks)


def pytest_configure(config: pytest.Config) -> None:
    """Read the settings and open the session."""
    config.addinivalue_line("markers", _MARKER)
    settings = Settings.read(config)
    # Now `sys.stdout` is still the stream of pytest's terminal reporter; later it may be a capture.
    session = Session(config, settings, encoding=getattr(sys.stdout, "encoding", None) or "ascii")
    config.stash[_SESSION] = session
    running.enter(session)
    session.note_plugins(*config.pluginmanager.get_plugins() - {sys.modules[__name__]})
    session.check_registered()
    if settings.concurrency > 1:
        from pytest_jsonmatch.session.concurrency import ConcurrentProducers

        session.concurrent_producers = ConcurrentProducers(config, settings.concurrency, session.keep_early)
        config.pluginmanager.register(session.concurrent_producers, "jsonmatch-concurrency")
    if settings.writes_cases:
        from pytest_jsonmatch.session import updating

        if settings.review:
            updating.check_terminal(config)
        session.file_updater = updating.ExpectedFileUpdater(session)
    if settings.replay is not None:
        from pytest_jsonmatch.session.golden_cases import case_rules

        case_rules(session)  # so that errors in the file are reported now
    if settings.record is not None or settings.replay is not None:
        from pytest_jsonmatch.session.golden_cases import open_recorder

        open_recorder(session)
    if hasattr(config, "workerinput"):  # the controller counts the reports of workers
        return
    config.pluginmanager.register(Reports(session), "jsonmatch-reports")
    if settings.asks_of_run:
        from pytest_jsonmatch.session import verdict

        verdict.prepare(session)


def pytest_plugin_registered(plugin: object, manager: pytest.PytestPluginManager) -> None:
    """Let plugins and conftest.py files loaded during collection register; check them for overrides."""
    for session in running.list_runs():
        if isinstance(session, Session) and session.config.pluginmanager is manager:
            session.open_registry()
            session.note_plugins(plugin)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Print the failed gates below all of pytest's output, and close the session."""
    session = config.stash.get(_SESSION, None)
    if session is not None:
        if session.verdict.report is not None:
            from pytest_jsonmatch.session import summary

            summary.show_verdict(config, session)
        running.leave(session)
        session.close()


def pytest_warning_recorded(warning_message: warnings.WarningMessage, when: str) -> None:
    """Raise an error for an unknown ini option of this plugin, for which pytest only warns."""
    if when == "config":
        session = running.current_run()
        if isinstance(session, Session):
            refuse_unknown(session.config, warning_message.message)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Send the style of messages to a worker of pytest-xdist, which has no terminal."""
    node.workerinput["jsonmatch_look"] = node.config.stash[_SESSION].look


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a file of golden cases."""
    globs = parent.config.stash[_SESSION].settings.files
    if not globs and file_path.suffix not in _DATA_FILES:
        return None
    from pytest_jsonmatch.golden.files import holds_cases, is_golden

    is_named = parent.session.isinitpath(file_path)
    if not is_golden(file_path, globs, explicit=is_named):
        return None
    if not (is_golden(file_path, globs) or holds_cases(file_path)):
        return None  # of another plugin
    from pytest_jsonmatch.golden.collector import collect_file
    from pytest_jsonmatch.session.golden_cases import case_rules

    return collect_file(file_path, parent, case_rules(parent.config.stash[_SESSION]))


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Module | pytest.Class) -> None:
    """Check whether a module or a class overrides a fixture, before its first test is created."""
    collector.config.stash[_SESSION].note_overrides_in(collector)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Keep track of the running test."""
    session = item.config.stash[_SESSION]
    session.begin_test(item)
    try:
        return (yield)
    finally:
        session.end_test()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Reset the running test: pytest-rerunfailures and others run a test several times in one protocol."""
    __tracebackhide__ = True
    session = item.config.stash[_SESSION]
    has_tags = session.settings.by or item.get_closest_marker("jsonmatch") is not None
    test = session.test if has_tags or _COLLECTOR in sys.modules else session.used_test
    if test is None:
        return
    from pytest_jsonmatch.session.running_test import tags_of_marks

    test.restart()
    test.tags = tags_of_marks(item)
    test.add_parameter_tags(session.settings.by)
    if _COLLECTOR in sys.modules:  # else there are no golden cases
        from pytest_jsonmatch.golden.collector import GoldenFile, golden_case_of, repetition_of

        test.repetition = repetition_of(item)
        case = golden_case_of(item)
        if case is not None:
            test.cluster, test.document = case.cluster, case.shared_input
            test.tags = {**test.tags, **case.tags}
        if isinstance(item, pytest.Function) and isinstance(item.parent, GoldenFile):
            test.add_parameter_tags()
            item.parent.refuse(item)
            try:
                item.parent.replay(item)
            except AssertionError as error:
                message = str(error)
                is_other = running.OTHER_INPUT in message
                reason = running.OTHER_INPUT if is_other else running.NOT_RECORDED
                test.note_unanswered(error, reason, message)
                raise


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest) -> None:
    """Raise an error for a fixture that would override a golden case's producer."""
    __tracebackhide__ = True
    if fixturedef.argname == "jsonmatch_actual" and fixturedef.func.__module__ != __name__:
        from pytest_jsonmatch.golden.collector import check_override

        check_override(fixturedef, request)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the comparisons made since the last report."""
    report = yield
    session = item.config.stash[_SESSION]
    of_run = None if session.item is None else session.pop_payload()
    test = session.used_test if report.passed and of_run is None else session.test
    if test is not None:
        error = None if call.excinfo is None else call.excinfo.value
        test.attach_payload(report, of_run, error)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_report_to_serializable(
    report: pytest.CollectReport | pytest.TestReport,
) -> Generator[None, dict[str, Any] | None, dict[str, Any] | None]:
    """Encode the payload of a report, for example for the controller of pytest-xdist."""
    data = yield
    payload = getattr(report, ATTRIBUTE, None)
    if data is not None and payload is not None:
        from pytest_jsonmatch.session.payload import encode

        data[ATTRIBUTE] = encode(payload)
    return data


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_report_from_serializable() -> Generator[None, Any, Any]:
    """Decode the payload of a report."""
    report = yield
    text = getattr(report, ATTRIBUTE, None)
    if isinstance(text, str):
        from pytest_jsonmatch.session.payload import decode

        setattr(report, ATTRIBUTE, decode(text))
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None, object, object]:
    """Note all cases before some are deselected; check golden cases before the first test runs."""
    session = config.stash[_SESSION]
    if session.settings.asks_of_run or session.settings.reports:
        from pytest_jsonmatch.session import verdict

        verdict.note_collected_cases(session, items)
    result = yield
    if _COLLECTOR in sys.modules and not config.option.collectonly:
        from pytest_jsonmatch.session.golden_cases import broken_first

        items[:] = broken_first(session, items)
    return result


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Check gates and write golden files, in the controller only; xdist's workers only send requests."""
    jsonmatch = session.config.stash[_SESSION]
    is_worker = hasattr(session.config, "workerinput")
    if not is_worker and (
        jsonmatch.settings.asks_of_run or jsonmatch.settings.writes_cases or jsonmatch.has_compared
    ):
        from pytest_jsonmatch.session import verdict

        verdict.finish(session, jsonmatch)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the updates, the table of scores by field, the gates and the comparison with the baseline."""
    session = config.stash[_SESSION]
    settings, is_missing = session.settings, False
    if settings.needing_cases or settings.needing_comparisons:
        from pytest_jsonmatch.session import summary

        is_missing = summary.show_missing(terminalreporter, session)
    if settings.writes_cases and not is_missing:
        from pytest_jsonmatch.session import updating

        updating.show(terminalreporter, session)
    if session.has_compared or settings.asks_of_run:
        from pytest_jsonmatch.session import summary

        summary.show(terminalreporter, session)


@pytest.fixture(scope="session")
def assert_json_match() -> Callable[..., MatchResult]:
    """Compare JSON with JSON and fail below a threshold: `assert_json_match(actual, expected, ...)`."""
    from pytest_jsonmatch.comparing.assertions import assert_json_match

    return assert_json_match


@pytest.fixture
def expected_json(request: pytest.FixtureRequest) -> Path:
    """A file named after the test, for `assert_json_match(actual, expected_json)`.

    It is `expected/MODULE/TEST.json` next to the test's file. `--jsonmatch-update=new` writes it.
    """
    test = request.config.stash[_SESSION].test
    assert test is not None  # noqa: S101 - for the type checker
    return test.expected_file


@pytest.fixture
def jsonmatch_case(request: pytest.FixtureRequest) -> GoldenCase:
    """The running golden case, with its `id`, `input`, `expected` and the rest of its YAML."""
    from pytest_jsonmatch.golden.collector import case_of

    return case_of(request)


@pytest.fixture
def jsonmatch_actual(request: pytest.FixtureRequest, jsonmatch_case: GoldenCase) -> object:
    """The golden case's answer: the recorded one, else its producer's. Can be overridden in a conftest.py."""
    __tracebackhide__ = True
    from pytest_jsonmatch.golden.producers import default_actual
    from pytest_jsonmatch.session.golden_cases import producing

    item = request.node
    produce = producing(request.config.stash[_SESSION], item)
    return default_actual(jsonmatch_case, produce, lambda case: item.ihook.pytest_jsonmatch_actual(case=case))
