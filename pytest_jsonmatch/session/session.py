"""A session: one pytest run in this process."""

from __future__ import annotations

import os
from contextlib import ExitStack
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, final

import pytest

from pytest_jsonmatch.comparing.running import CaseFiles, plain_nodeid
from pytest_jsonmatch.session import ATTRIBUTE
from pytest_jsonmatch.session.options import usage_errors
from pytest_jsonmatch.support.defaults import METRIC

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    from pytest_jsonmatch.comparing.fileupdater import FileUpdater
    from pytest_jsonmatch.comparing.running import RuleKey
    from pytest_jsonmatch.gate.check import Check
    from pytest_jsonmatch.golden.cases import GoldenCase
    from pytest_jsonmatch.golden.collector import CaseRules
    from pytest_jsonmatch.golden.outputs import AnswerRecorder, OutputWriter
    from pytest_jsonmatch.golden.update import FileUpdate
    from pytest_jsonmatch.report.blocks import Report
    from pytest_jsonmatch.report.styled import StyledLine
    from pytest_jsonmatch.results.run import RunResult
    from pytest_jsonmatch.semantic.bench import Bench, Memory
    from pytest_jsonmatch.session.concurrency import ConcurrentProducers
    from pytest_jsonmatch.session.finished import FinishedTests
    from pytest_jsonmatch.session.options import Settings
    from pytest_jsonmatch.session.payload import TestPayload
    from pytest_jsonmatch.session.running_test import CurrentTest

_FIXTURES: Final = frozenset({"jsonmatch_case", "jsonmatch_actual"})


@final
class Baseline:
    """A baseline of a run."""

    __slots__ = ("hint", "name", "path", "results")

    def __init__(self, name: str, path: Path, results: RunResult | None, hint: str = "") -> None:
        self.name: Final = name
        """The name or path that was given."""
        self.path: Final = path
        self.results: Final = results
        """The results of the baseline; None if the file does not exist."""
        self.hint: Final = hint
        """The end of a message, with the most similar name of a baseline; may be empty."""


@final
class RunVerdict:
    """The verdict on a run: set by `verdict.finish`, read by the terminal summary."""

    def __init__(self) -> None:
        self.report: Report | None = None
        """The report of the run, if it is requested."""
        self.gates: Sequence[Check] = ()
        """The gates of the run, and the checks against its baselines."""
        self.repeated: Sequence[Check] = ()
        """The checks of repeated cases that are judged as a whole."""
        self.notes: list[StyledLine] = []
        """Lines about the files that were or could not be written."""
        self.rule_errors: list[str] = []
        """Rules that match nothing, if a warning filter turns that into an error."""
        self.updates: list[FileUpdate] | None = None
        """The updates of golden files."""


@final
class Session:
    """One pytest run in this process; modules that do not import pytest see it as a `running.Run`.

    Args:
        config: pytest's configuration.
        settings: the options of the plugin.
        encoding: the encoding of the stream that pytest writes to.
    """

    def __init__(self, config: pytest.Config, settings: Settings, *, encoding: str) -> None:
        self.config = config
        self.settings = settings
        self.case_files: CaseFiles = CaseFiles((os.path.realpath(config.rootpath),), settings.repeat)
        self.has_only_gates: bool = settings.fail == "gate"
        """Whether only gates fail a run: tests with low scores or without an answer pass."""
        self.is_complete: bool = False
        """Whether all tests have run: the run was neither interrupted nor stopped early."""
        self.item: pytest.Item | None = None
        """The item of the running test."""
        self.used_test: CurrentTest | None = None
        """The running test, if anything has asked for it."""
        self._lock = Lock()
        self._rules: dict[RuleKey, bool] = {}
        """By the key of a rule, whether it has matched anything in this process so far."""
        self.case_rules: CaseRules | None = None
        """The rules of golden cases, once they are created."""
        self.file_updater: FileUpdater | None = None
        """Requests updates of files with expected values, if requested."""
        self.collected: list[str] = []
        """The ids of the collected cases, for the next report."""
        self.baselines: Sequence[Baseline] = ()
        """The baselines that the run is compared with."""
        self.concurrent_producers: ConcurrentProducers | None = None
        """Calls producers of golden cases concurrently, if requested."""
        self.verdict: RunVerdict = RunVerdict()
        """The verdict on the run, once it has ended."""
        self.writer: OutputWriter | None = None
        """The file of new answers, if they are saved; None in workers of pytest-xdist."""
        self.recorder: AnswerRecorder | None = None
        """Saves the answers of golden cases to a file, if requested."""
        self._overriding: set[int] = set()
        """The ids of the plugins, modules and classes that override fixtures of golden cases."""
        self._unread: list[object] = []
        """The plugins that may do so, too: their names are read only if there are golden cases."""
        self._last_collector: object = None
        self._encoding = encoding
        self._closing = ExitStack()
        self._registry_is_open = False

    # -- the registry --------------------------------------------------------------------------------------

    def open_registry(self) -> None:
        """Call `pytest_jsonmatch_register` once a plugin implements it; pytest calls later implementations.

        Call this whenever a plugin may have been added. A run without such a plugin does not import the
        engine. Raises the `ConfigurationError` of an invalid registration.
        """
        hook = self.config.hook.pytest_jsonmatch_register
        if self._registry_is_open or not hook.get_hookimpls():
            return
        from pytest_jsonmatch.engine.plan.registry import session_registry

        self._registry_is_open = True
        hook.call_historic(kwargs={"registry": self._closing.enter_context(session_registry())})

    def check_registered(self) -> None:
        """Open the registry; raise `pytest.UsageError` if that fails, or if the metric is unknown."""
        hook = self.config.hook.pytest_jsonmatch_register
        if self.settings.metric == METRIC and not hook.get_hookimpls():
            return
        from pytest_jsonmatch.engine.plan.registry import get_active_registry

        with usage_errors("pytest_jsonmatch_register"):
            self.open_registry()
        with usage_errors("jsonmatch_metric"):
            get_active_registry().find_metric(self.settings.metric)

    def close(self) -> None:
        """Remove the registrations of this session, and close its judge."""
        self._closing.close()

    # -- tests ---------------------------------------------------------------------------------------------

    def note_plugins(self, *plugins: object) -> None:
        """Note plugins, which may override fixtures of golden cases."""
        self._unread += plugins

    def _note_overrides(self, holder: object) -> None:
        """Note whether a plugin, a module or a class overrides a fixture of golden cases."""
        if not _FIXTURES.isdisjoint(dir(holder)):
            self._overriding.add(id(holder))

    def _find_overriding(self) -> set[int]:
        """Return the ids of the plugins, modules and classes that override fixtures of golden cases."""
        with self._lock:
            while self._unread:
                self._note_overrides(self._unread.pop())
        return self._overriding

    def note_overrides_in(self, collector: pytest.Module | pytest.Class) -> None:
        """Note, once for each module or class, whether it overrides a fixture of golden cases."""
        if collector is not self._last_collector:
            self._last_collector = collector
            self._note_overrides(collector.obj)

    @property
    def has_own_fixtures(self) -> bool:
        """Whether the fixtures of golden cases are not overridden, and no option shows their setup."""
        option = self.config.option
        watched = ("setupshow", "setuponly", "setupplan", "show_fixtures_per_test")
        return not self._find_overriding() and not any(getattr(option, name, False) for name in watched)

    def begin_test(self, item: pytest.Item) -> None:
        """Make a test the running one, until `end_test`."""
        self.item, self.used_test = item, None

    def end_test(self) -> None:
        """Forget the running test."""
        self.item = self.used_test = None

    @property
    def test(self) -> CurrentTest | None:
        """The running test. It is made when it is first used, which may be in any thread."""
        item = self.item
        if item is None or self.used_test is not None:
            return self.used_test
        from pytest_jsonmatch.session.running_test import CurrentTest

        with self._lock:
            if self.used_test is None:
                self.used_test = CurrentTest(item, self.settings, self._rules)
            return self.used_test

    def get_defaults(self) -> tuple[dict[str, Any], set[str]]:
        """Return the current defaults, and the names of those that a mark of the test itself sets.

        Defaults are from the `jsonmatch` marks of the test, closest first, then from the ini options.
        """
        settings = self.settings
        chosen: dict[str, Any] = {"metric": settings.metric, "threshold": settings.threshold}
        own: set[str] = set()
        test = self.test
        for node, mark in () if test is None else [*test.item.iter_markers_with_node("jsonmatch")][::-1]:
            if mark.args:
                from pytest_jsonmatch.engine.value.errors import ConfigurationError

                raise ConfigurationError(
                    "@pytest.mark.jsonmatch takes keywords only: metric=, threshold=, tags=, and options of "
                    f"the metric; got {', '.join(map(repr, mark.args))}"
                )
            # None means "not given", as in the signature of the assertion.
            given = {key: value for key, value in mark.kwargs.items() if value is not None and key != "tags"}
            chosen.update(given)
            if isinstance(node, pytest.Item):
                own |= given.keys()
        return chosen, own

    @property
    def skipped(self) -> Sequence[str]:
        """The patterns of the ini option `jsonmatch_skip`."""
        return self.settings.skip

    def keep_early(
        self,
        item: pytest.Item,
        case: GoldenCase,
        is_fixture: bool,
        actual: object,
    ) -> None:
        """Save an answer that the test has not received yet; called from any thread."""
        if self.recorder is None:
            return
        overriding = self._find_overriding()
        if is_fixture and len(overriding) > 1:
            return  # another fixture may change the answer
        is_final = is_fixture or not overriding
        self.recorder.keep_early(plain_nodeid(item), case, actual, is_final=is_final)

    # -- reports -------------------------------------------------------------------------------------------

    @cached_property
    def finished(self) -> FinishedTests:
        """The tests that have reported."""
        from pytest_jsonmatch.session.finished import FinishedTests

        return FinishedTests(has_only_gates=self.has_only_gates, files=self.settings.files)

    @property
    def has_compared(self) -> bool:
        """Whether any test has reported that compares, or was meant to."""
        return "finished" in vars(self) and bool(self.finished)

    def add_report(self, report: pytest.TestReport) -> None:
        """Add a report, unless it says only that a test that does not compare has passed or was skipped."""
        if "finished" in vars(self) or report.failed or hasattr(report, ATTRIBUTE):
            self.finished.add(report)

    # -- judges --------------------------------------------------------------------------------------------

    @cached_property
    def _memory(self) -> Memory:
        """The verdicts of judges in this run."""
        from pytest_jsonmatch.semantic.bench import Memory

        memory = Memory()
        self._sent_usage = memory.usage
        return memory

    @cached_property
    def _judge(self) -> object:
        from pytest_jsonmatch.session.judge import configured_judge

        return configured_judge(self.settings, self.config.rootpath)

    def get_bench(self, judge: object) -> Bench:
        """Return the judges for comparators; `judge` is the comparison's own, or None."""
        from pytest_jsonmatch.semantic.bench import Bench

        mode = self.settings.judge_mode
        return Bench(judge, default=lambda: self._judge, memory=self._memory, mode=mode)

    def pop_payload(self) -> TestPayload | None:
        """Return the new data about the run in this process since the last call; None if there is none."""
        usage = self._memory.usage if "_memory" in vars(self) else None
        is_new = usage is not None and usage != self._sent_usage
        if not is_new and not self.collected:
            return None
        from pytest_jsonmatch.session.payload import TestPayload

        payload = TestPayload()
        payload.collected, self.collected = self.collected, []
        if usage is not None and is_new:
            payload.judge_usage, self._sent_usage = usage - self._sent_usage, usage
        return payload

    # -- the terminal --------------------------------------------------------------------------------------

    @property
    def verbosity(self) -> int:
        """The verbosity of failure messages: `-v`, or the ini option `verbosity_assertions`."""
        return self.config.get_verbosity(pytest.Config.VERBOSITY_ASSERTIONS)

    @cached_property
    def look(self) -> tuple[bool, bool, int]:
        """The style of the terminal: whether it has colours and non-ASCII characters, and its width."""
        sent = getattr(self.config, "workerinput", {}).get("jsonmatch_look")
        if sent is not None:
            color, unicode, width = sent
            return color, unicode, width
        if not self.config.pluginmanager.has_plugin("terminalreporter"):
            return False, True, 80
        from pytest_jsonmatch.report.terminal_style import can_write

        writer = self.config.get_terminal_writer()
        return writer.hasmarkup, can_write(self._encoding), writer.fullwidth


@final
class Reports:
    """Hands reports to a session. As a registered plugin, it receives only those of its own run."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Note that all tests have run.

        The exit status does not show it: after a second Ctrl-C it is that of a run that passed.
        """
        result = yield
        self._session.is_complete = True
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add a report to the session."""
        self._session.add_report(report)
