"""A session: one run of pytest in this process."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

import pytest

from pytest_jsonmatch.defaults import METRIC
from pytest_jsonmatch.running import CaseFiles
from pytest_jsonmatch.session.finished import FinishedTests
from pytest_jsonmatch.session.options import usage_errors
from pytest_jsonmatch.session.payload import TestPayload
from pytest_jsonmatch.session.running_test import CurrentTest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pytest_jsonmatch.gate.check import Check
    from pytest_jsonmatch.golden.collector import CaseRules
    from pytest_jsonmatch.golden.outputs import OutputWriter
    from pytest_jsonmatch.golden.update import FileUpdate
    from pytest_jsonmatch.report.blocks import Report
    from pytest_jsonmatch.report.styled import StyledLine
    from pytest_jsonmatch.results.run import RunResult
    from pytest_jsonmatch.running import WrittenRule
    from pytest_jsonmatch.semantic.bench import Bench, Memory
    from pytest_jsonmatch.session.ahead import Ahead
    from pytest_jsonmatch.session.options import Settings

_FIXTURES: Final = frozenset({"jsonmatch_case", "jsonmatch_actual"})


@final
class Baseline(NamedTuple):
    """The baseline of a run."""

    path: Path
    results: RunResult | None
    """None if there is no such file."""
    hint: str = ""
    """The end of a message, which names a baseline with nearly the same name."""


@final
class RunVerdict:
    """What a run has come to: filled by `verdict.finish`, read by the terminal summary."""

    def __init__(self) -> None:
        self.report: Report | None = None
        """The report of the run, if it is asked for."""
        self.gates: Sequence[Check] = ()
        """The gates of the run, and the checks against its baseline."""
        self.repeated: Sequence[Check] = ()
        """The checks of repeated cases that are judged as a whole."""
        self.notes: list[StyledLine] = []
        """Lines about the files that were written, or could not be."""
        self.rule_errors: list[str] = []
        """Rules that match no place, if a warning filter makes that an error."""
        self.updates: list[FileUpdate] | None = None
        """Which golden files were rewritten, and how."""


@final
class Session:
    """One run of pytest in this process; modules that do not import pytest see it as a `running.Run`.

    Args:
        config: pytest's.
        settings: ours.
        encoding: of the stream that pytest writes to.
    """

    def __init__(self, config: pytest.Config, settings: Settings, *, encoding: str) -> None:
        self.config = config
        self.settings = settings
        self.case_files: CaseFiles = CaseFiles((os.path.realpath(config.rootpath),), settings.repeat)
        self.has_only_gates: bool = settings.fail == "gate"
        """Whether gates alone decide: tests with low scores or without an answer pass."""
        self.finished: FinishedTests = FinishedTests(has_only_gates=self.has_only_gates)
        self.test: CurrentTest | None = None
        """The test that runs now."""
        self._rules: dict[WrittenRule, bool] = {}
        """Whether a pattern has matched anything in this process, of those seen so far."""
        self.case_rules: CaseRules | None = None
        """How golden cases are run, once it is known."""
        self.payload: TestPayload = TestPayload()
        """What the next report carries about the run."""
        self.baseline: Baseline | None = None
        """The baseline that the run is compared with; None without one."""
        self.ahead: Ahead | None = None
        """Calls producers of golden cases side by side, if requested."""
        self.verdict: RunVerdict = RunVerdict()
        """What the run has come to, once it has ended."""
        self.writer: OutputWriter | None = None
        """Saves the answers of golden cases to a file, if requested."""
        self._is_overridden = False
        self._looked_at: object = None
        self._encoding = encoding
        self._closing = ExitStack()
        self._registry_is_open = False

    # -- what was registered -------------------------------------------------------------------------------

    def open_registry(self) -> None:
        """Call `pytest_jsonmatch_register` once a plugin implements it; pytest calls later implementations.

        Call this whenever a plugin may have been added: a run without any need not import the engine.
        Raises the `ConfigurationError` of a wrong registration.
        """
        hook = self.config.hook.pytest_jsonmatch_register
        if self._registry_is_open or not hook.get_hookimpls():
            return
        from pytest_jsonmatch.engine.plan.registry import session_registry

        self._registry_is_open = True
        hook.call_historic(kwargs={"registry": self._closing.enter_context(session_registry())})

    def check_registered(self) -> None:
        """Open the registry; `pytest.UsageError` if that fails, or if the settings name an unknown metric."""
        hook = self.config.hook.pytest_jsonmatch_register
        if self.settings.metric == METRIC and not hook.get_hookimpls():
            return
        from pytest_jsonmatch.engine.plan.registry import get_active_registry

        with usage_errors("pytest_jsonmatch_register"):
            self.open_registry()
        with usage_errors("jsonmatch_metric"):
            get_active_registry().find_metric(self.settings.metric)

    def close(self) -> None:
        """Remove what was registered for this session, and close its judge."""
        self._closing.close()

    # -- tests ---------------------------------------------------------------------------------------------

    def look_for_overrides(self, holder: object) -> None:
        """Note whether a plugin, a module or a class overrides a fixture of golden cases."""
        self._is_overridden |= not _FIXTURES.isdisjoint(dir(holder))

    def look_for_overrides_in(self, collector: pytest.Module | pytest.Class) -> None:
        """Do the same for a module or a class, once."""
        if collector is not self._looked_at:
            self._looked_at = collector
            self.look_for_overrides(collector.obj)

    @property
    def has_own_fixtures(self) -> bool:
        """Whether the fixtures of golden cases are not overridden, and no option shows their setup."""
        option = self.config.option
        watched = ("setupshow", "setuponly", "setupplan", "show_fixtures_per_test")
        return not self._is_overridden and not any(getattr(option, name, False) for name in watched)

    @contextmanager
    def running(self, item: pytest.Item) -> Iterator[None]:
        """Make a test the one that runs now."""
        self.test = CurrentTest(item, self.settings, self._rules)
        try:
            yield
        finally:
            self.test = None

    def defaults(self) -> tuple[dict[str, Any], set[str]]:
        """Return the current defaults: the test's `jsonmatch` marks, closest first, then the ini options.

        And which of them a mark of the test itself gives.
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
            # As in the signature of the assertion, None means "not given".
            given = {key: value for key, value in mark.kwargs.items() if value is not None and key != "tags"}
            chosen.update(given)
            if isinstance(node, pytest.Item):
                own |= given.keys()
        return chosen, own

    @property
    def skipped(self) -> Sequence[str]:
        """The patterns of the ini option `jsonmatch_skip`."""
        return self.settings.skip

    # -- judges --------------------------------------------------------------------------------------------

    @cached_property
    def _memory(self) -> Memory:
        """What judges have said in this run."""
        from pytest_jsonmatch.semantic.bench import Memory

        memory = Memory()
        self._told = memory.usage
        return memory

    @cached_property
    def _judge(self) -> object:
        from pytest_jsonmatch.session.judge import configured_judge

        return configured_judge(self.settings, self.config.rootpath)

    def bench(self, judge: object) -> Bench:
        """Return the judges that comparators ask; `judge` is the comparison's own, or None."""
        from pytest_jsonmatch.semantic.bench import Bench

        mode = self.settings.judge_mode
        return Bench(judge, default=lambda: self._judge, memory=self._memory, mode=mode)

    def take_payload(self) -> TestPayload | None:
        """Return what is new about the run in this process since the last call; None if nothing is."""
        payload, self.payload = self.payload, TestPayload()
        if "_memory" in vars(self) and (usage := self._memory.usage) != self._told:
            payload.judged = usage - self._told
            self._told = usage
        return payload if payload.judged or payload.collected else None

    # -- the terminal --------------------------------------------------------------------------------------

    @property
    def verbosity(self) -> int:
        """How much a failure message says: `-v`, or the ini option `verbosity_assertions`."""
        return self.config.get_verbosity(pytest.Config.VERBOSITY_ASSERTIONS)

    @cached_property
    def look(self) -> tuple[bool, bool, int]:
        """How text for this run's terminal looks: in colour or not, beyond ASCII or not, columns."""
        told = getattr(self.config, "workerinput", {}).get("jsonmatch_look")
        if told is not None:
            color, unicode, width = told
            return color, unicode, width
        if not self.config.pluginmanager.has_plugin("terminalreporter"):
            return False, True, 80
        from pytest_jsonmatch.report.terminal_style import can_write

        writer = self.config.get_terminal_writer()
        return writer.hasmarkup, can_write(self._encoding), writer.fullwidth
