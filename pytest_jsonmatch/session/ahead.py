"""`--jsonmatch-concurrency`: producers of the next golden cases are called ahead, side by side."""

from __future__ import annotations

import asyncio
import logging
import sys
from contextvars import ContextVar, copy_context
from functools import cached_property, partial
from itertools import chain
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final, final

import pytest

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.golden.collector import case_to_produce
from pytest_jsonmatch.golden.producers import produced

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from pytest_jsonmatch.golden.cases import GoldenCase

_OWN: Final = "pytest_jsonmatch.plugin"
_SCHEDULES: Final = frozenset({"no", "loadfile", "loadscope"})
"""The schedules of pytest-xdist under which a process runs all cases of a file."""
_KEY: Final = "jsonmatch_concurrency"
"""What controller and workers of pytest-xdist tell each other goes by this name."""
_PATIENCE: Final = 1.0
"""Seconds that cancelled calls may take to end."""


@final
class _Call:
    """A call of a producer in a thread of its own; whether it is async is known once it has returned.

    Args:
        case: is answered.
        wait: runs an awaitable to its end.
    """

    _HERE: Final[ContextVar[_Call | None]] = ContextVar("jsonmatch_call", default=None)

    def __init__(self, case: GoldenCase, wait: Callable[[Awaitable[object]], object]) -> None:
        self.written: list[Callable[[], object]] = []
        """Writes again what the call has written."""
        self._ended = Event()
        self._answer: object = None
        self._error: BaseException | None = None
        self._thread = Thread(target=copy_context().run, args=(self._run, case, wait), daemon=True)

    @classmethod
    def here(cls) -> _Call | None:
        """Return the call of which this code is a part; None outside of calls."""
        return cls._HERE.get()

    def _run(self, case: GoldenCase, wait: Callable[[Awaitable[object]], object]) -> None:
        __tracebackhide__ = True
        self._HERE.set(self)
        try:
            self._answer = produced(case, wait)
        except BaseException as error:  # noqa: BLE001 - such as pytest.skip(); raised in the test
            self._error = error
        self._ended.set()

    def begin(self) -> None:
        """Begin to call, in the context of the test that runs now."""
        self._thread.start()

    def wait(self) -> None:
        """Wait for the end of the call."""
        while not self._ended.wait(timeout=1):
            pass  # on Windows, Ctrl-C ends no wait, but comes after it

    def result(self) -> object:
        """Write what the call has written, and return its answer or raise its error."""
        __tracebackhide__ = True
        for write in self.written:
            write()
        if self._error is not None:
            raise self._error
        return self._answer


@final
class _Loop:
    """The event loop of all calls, in a thread of its own."""

    def __init__(self) -> None:
        self._begun = Event()
        self._thread = Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        self._begun.wait()

    async def _serve(self) -> None:
        self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
        self._begun.set()
        await self._stopped.wait()

    def wait(self, answer: Awaitable[object]) -> object:
        """Run an awaitable to its end, and return its value or raise its error."""
        __tracebackhide__ = True
        value, error = asyncio.run_coroutine_threadsafe(_outcome(answer), self._loop).result()
        if error is not None:
            raise error
        return value

    def stop(self) -> None:
        """Cancel what still runs, and let it clean up, but not for long."""
        self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join(_PATIENCE)


async def _outcome(answer: Awaitable[object]) -> tuple[object, BaseException | None]:
    """Return an error rather than raise it: SystemExit, for example, would end the event loop."""
    __tracebackhide__ = True
    try:
        return await answer, None
    except BaseException as error:  # noqa: BLE001
        return None, error


@final
class Ahead:
    """Calls producers. Register it as a plugin.

    Args:
        config: pytest's.
        limit: the number of calls at once. It is 1 under schedules of pytest-xdist by which a worker does not
            know what it will run.
        has_golden: tells whether any golden case has run.
    """

    def __init__(self, config: pytest.Config, limit: int, has_golden: Callable[[], bool]) -> None:
        self._config = config
        self._has_golden = has_golden
        schedule: str = config.getoption("dist", "no")
        self._unknown = "" if schedule in _SCHEDULES else schedule
        """The schedule because of which the limit is 1."""
        input_of_worker: dict[str, Any] = getattr(config, "workerinput", {})
        self._limit: int = input_of_worker.get(_KEY, 1 if self._unknown else limit)
        self._calls: dict[pytest.Item, _Call] = {}
        """The calls whose answers were not taken yet."""
        self._thrown = 0
        """How many calls were thrown away."""
        self._answered: pytest.Item | None = None
        """The last test that has got its answer here."""
        self._narrow: set[str] = set()
        """The fixtures of function scope, but ours, that the running test has set up."""
        self._alone: dict[str, list[str]] = {}
        """Such fixtures of the tests that were answered one by one, by node id."""
        self._places: dict[pytest.Item, int] = {}
        self._patch = pytest.MonkeyPatch()
        self._diverted: list[object] = []

    # -- calls ---------------------------------------------------------------------------------------------

    def produced(self, item: pytest.Function, case: GoldenCase) -> object:
        """Return the producer's answer for a case, and let the calls of the next cases begin."""
        __tracebackhide__ = True
        if self._limit == 1 or self._narrow:
            self._alone[item.nodeid] = sorted(self._narrow)
            return produced(case)
        self._divert_streams()
        for waiting, its_case in chain([(item, case)], self._following(item)):
            if waiting not in self._calls:
                call = self._calls[waiting] = _Call(its_case, self._loop.wait)
                call.begin()
            if len(self._calls) >= self._limit:
                break
        call = self._calls[item]
        call.wait()
        del self._calls[item]
        self._answered = item
        return call.result()

    def _following(self, item: pytest.Function) -> Iterator[tuple[pytest.Item, GoldenCase]]:
        """Yield the next tests of the file whose producers are sure to be asked, with what is set up now."""
        items = item.session.items
        if not self._places:
            self._places = {each: place for place, each in enumerate(items)}
        file, fixtures = _file_of(item), frozenset(item.fixturenames)
        for place in range(self._places[item] + 1, len(items)):
            following = items[place]
            if _file_of(following) != file:
                return
            case = case_to_produce(following)
            if (
                case is not None
                and fixtures.issuperset(getattr(following, "fixturenames", ()))
                and _parameters_of(following) == _parameters_of(item)
            ):
                yield following, case

    @cached_property
    def _loop(self) -> _Loop:
        return _Loop()

    # -- what calls write ----------------------------------------------------------------------------------

    def _divert_streams(self) -> None:
        """Let calls keep what they write to the streams that stand in `sys` now."""
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if stream not in self._diverted:
                self._diverted.append(stream)
                self._patch.setattr(stream, "write", partial(_write, name, stream.write))

    def _divert_logging(self) -> None:
        """Let calls keep what they log, at the level that pytest sets while a test runs."""
        call_handlers = logging.Logger.callHandlers

        def handle(logger: logging.Logger, record: logging.LogRecord) -> None:
            call = _Call.here()
            if call is None:
                call_handlers(logger, record)
            else:
                call.written.append(partial(call_handlers, logger, record))

        self._patch.setattr(logging.Logger, "callHandlers", handle)
        if self._config.pluginmanager.has_plugin("logging-plugin"):
            level = self._config.getoption("log_level") or self._config.getini("log_level")
            if level:
                number = int(getattr(logging, str(level).upper(), level))
                self._patch.setattr(logging.root, "level", min(number, logging.root.level))

    # -- hooks ---------------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> None:
        """Divert the terminal's streams: between tests pytest captures nothing."""
        if self._limit > 1:
            self._divert_streams()
            self._divert_logging()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """Forget the fixtures of the test before."""
        self._narrow.clear()

    @pytest.hookimpl(tryfirst=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
    ) -> None:
        """Note fixtures that only this test has; they are set up before our `jsonmatch_actual`."""
        if fixturedef.scope == "function" and fixturedef.func.__module__ != _OWN:
            self._narrow.add(fixturedef.argname)
            if fixturedef.argname == "jsonmatch_actual" and request.node is not self._answered:
                self._alone[request.node.nodeid] = sorted(self._narrow)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Throw a call away whose answer the test did not take."""
        self._thrown += self._calls.pop(item, None) is not None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Cancel async calls, and abandon others: what they still write is not shown."""
        self._thrown += len(self._calls)
        if "_loop" in vars(self):
            self._loop.stop()
        if not self._thrown:
            self._patch.undo()
        output: dict[str, Any] | None = getattr(self._config, "workeroutput", None)
        if output is not None:
            output[_KEY] = self._thrown, self._alone

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker of pytest-xdist how many calls it may make at once."""
        node.workerinput[_KEY] = self._limit

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what a worker did."""
        thrown, alone = getattr(node, "workeroutput", {}).get(_KEY, (0, {}))
        self._thrown += thrown
        self._alone.update(alone)

    @pytest.hookimpl(trylast=True)  # below the tables
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was thrown away, and why calls were not made side by side."""
        lines = []
        if self._thrown:
            calls = count(self._thrown, "call")
            lines.append(f"{calls} of producers thrown away, begun ahead for cases that did not run")
        if self._unknown and self._has_golden():
            how = f"with --dist={self._unknown} a worker does not know what it will run; use --dist=loadfile"
            lines.append(f"producers are called one by one: {how}")
        elif self._alone and not self._unknown:
            used = ", ".join(sorted({name for names in self._alone.values() for name in names}))
            why = f"only producers run side by side, without fixtures of function scope ({used})"
            lines.append(f"{count(len(self._alone), 'case')} answered one by one: {why}")
        for line in lines:
            terminalreporter.write_line(f"jsonmatch_concurrency: {line}", yellow=True)


def _write(name: str, write: Callable[[str], int], text: str) -> int:
    """Write to a standard stream; inside a call, keep the text for later."""
    call = _Call.here()
    if call is None:
        return write(text)
    call.written.append(lambda: getattr(sys, name).write(text))
    return len(text)


def _file_of(item: pytest.Item) -> str:
    # What pytest-xdist goes by under `loadscope`, if a parameter has "::" in its label.
    return item.nodeid.rpartition("::")[0]


def _parameters_of(item: pytest.Item) -> str | None:
    return getattr(getattr(item, "callspec", None), "id", None)
