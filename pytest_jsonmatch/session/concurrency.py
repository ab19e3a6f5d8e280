"""`--jsonmatch-concurrency`: call the producers of the next golden cases in advance, in threads."""

from __future__ import annotations

import asyncio
import inspect
from concurrent.futures import Future, wait
from contextlib import suppress
from contextvars import copy_context
from functools import cached_property, partial
from itertools import chain, groupby, islice
from operator import attrgetter
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final, final

import pytest

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.golden.collector import case_to_answer, golden_case_of
from pytest_jsonmatch.golden.producers import produce_answer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from pytest_jsonmatch.golden.cases import GoldenCase

_OWN: Final = "pytest_jsonmatch.plugin"
_SCHEDULES: Final = frozenset({"no", "loadfile", "loadscope"})
"""The schedules of pytest-xdist under which one worker runs all cases of a file."""
_KEY: Final = "jsonmatch_concurrency"
_STOP_TIMEOUT: Final = 1.0
"""Seconds to wait for cancelled calls to end."""


@final
class _Loop:
    """The event loop of all async producers, in its own thread."""

    def __init__(self) -> None:
        self._loop, self._is_over = asyncio.new_event_loop(), Event()
        self._thread = Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while not self._is_over.is_set():  # a producer may stop the loop, or raise SystemExit in a task
            with suppress(SystemExit, KeyboardInterrupt):
                self._loop.run_forever()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        if tasks:
            self._loop.run_until_complete(asyncio.wait(tasks))
        self._loop.close()

    def call(self, produce: Callable[[], object], keep: Callable[[object], None]) -> Future[object]:
        """Call a producer in a new thread, in the context of the running test; `keep` saves its answer."""
        answer: Future[object] = Future()

        def run() -> None:
            __tracebackhide__ = True
            try:
                value = produce()
                keep(value)
                answer.set_result(value)
            except BaseException as error:  # noqa: BLE001 - such as pytest.skip(); raised in the test
                answer.set_exception(error)

        # A daemon thread: a call that hangs must not keep an interrupted run from ending.
        Thread(target=copy_context().run, args=(run,), daemon=True).start()
        return answer

    def wait(self, answer: Awaitable[object]) -> object:
        """Run an awaitable, and return its value or raise its error."""
        __tracebackhide__ = True
        value, error = asyncio.run_coroutine_threadsafe(_outcome(answer), self._loop).result()
        if error is not None:
            raise error
        return value

    def stop(self) -> None:
        """Cancel unfinished async calls, and give them a moment to clean up."""
        self._is_over.set()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_STOP_TIMEOUT)


async def _outcome(answer: Awaitable[object]) -> tuple[object, BaseException | None]:
    __tracebackhide__ = True
    try:
        return await answer, None
    except BaseException as error:  # noqa: BLE001 - `result` would add its frames to the traceback
        return None, error


@final
class ConcurrentProducers:
    """Calls producers of golden cases concurrently. Register it as a plugin.

    Args:
        config: pytest's configuration.
        limit: the number of concurrent calls. It is 1 under schedules of pytest-xdist by which a worker does
            not know which tests it will run.
        keep: saves the answer of a test at once, since the test may never run; gets the test, its case,
            whether the answer is from a fixture, and the answer.
    """

    def __init__(
        self,
        config: pytest.Config,
        limit: int,
        keep: Callable[[pytest.Item, GoldenCase, bool, object], None],
    ) -> None:
        self._config, self._keep = config, keep
        self._schedule: str = config.getoption("dist", "no")
        own_limit = limit if self._schedule in _SCHEDULES else 1
        self._limit: int = getattr(config, "workerinput", {}).get(_KEY, own_limit)
        self._calls: dict[pytest.Item, Future[object]] = {}
        """The calls whose answers no test has used yet, by test."""
        self._answered: pytest.Item | None = None
        """The last test that has received its answer from here."""
        self._function_fixtures: set[str] = set()
        """The function-scoped fixtures, except ours, that the running test has set up."""
        self._sequential: dict[str, list[str]] = {}
        """The function-scoped fixtures of tests whose producer was not called in advance, by node id."""

    def produce(self, item: pytest.Function, case: GoldenCase) -> object:
        """Return the producer's answer for a case, and start the calls for the next cases."""
        __tracebackhide__ = True
        if self._limit == 1 or self._function_fixtures:
            self._sequential[item.nodeid] = sorted(self._function_fixtures)
            return produce_answer(case)
        return self._answer(item, case, lambda case: produce_answer(case, self._loop.wait))

    def _answer(
        self,
        item: pytest.Function,
        case: GoldenCase,
        produce: Callable[[GoldenCase], object],
        *,
        is_fixture: bool = False,
    ) -> object:
        """Return the answer of `produce` for a case, and start the calls for the next cases."""
        __tracebackhide__ = True
        for next_item, next_case in chain([(item, case)], _next_cases(item, is_fixture=is_fixture)):
            if next_item not in self._calls:
                keep = partial(self._keep, next_item, next_case, is_fixture)
                self._calls[next_item] = self._loop.call(partial(produce, next_case), keep)
            if len(self._calls) >= self._limit:
                break
        call = self._calls[item]
        while not call.done():
            wait([call], timeout=1)  # on Windows, Ctrl-C has no effect before a wait ends
        del self._calls[item]
        self._answered = item
        error = call.exception()
        if error is not None:
            raise error
        return call.result()

    @cached_property
    def _loop(self) -> _Loop:
        return _Loop()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Put the cases of a file with the same parameters next to each other: they are called together."""
        if self._limit == 1:
            return
        start = 0
        for parent, group in groupby(list(items), key=attrgetter("parent")):
            part = list(group)
            if any(golden_case_of(item) is not None for item in part) and parent is not None:
                order: dict[object, int] = {}
                part.sort(key=lambda item: order.setdefault(_group(item), len(order)))
                items[start : start + len(part)] = part
            start += len(part)

    @pytest.hookimpl(tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any], request: Any) -> object:
        """Note function-scoped fixtures, which are set up before `jsonmatch_actual`; call that concurrently.

        A fixture that only chooses a parameter has the same value for all cases that are called together.
        """
        if fixturedef.scope != "function" or fixturedef.func.__module__ == _OWN or _is_choice(fixturedef):
            return None
        if fixturedef.argname == "jsonmatch_actual" and request.node is not self._answered:
            if self._limit > 1 and not self._function_fixtures and _is_plain(fixturedef):
                return self._call_fixture(fixturedef, request)
            self._sequential[request.node.nodeid] = sorted({*self._function_fixtures, "jsonmatch_actual"})
        self._function_fixtures.add(fixturedef.argname)
        return None

    def _call_fixture(self, fixturedef: pytest.FixtureDef[Any], request: Any) -> object:
        """Return the value of the user's `jsonmatch_actual`, and call it for the next cases, too."""
        __tracebackhide__ = True
        key = fixturedef.cache_key(request)
        try:
            values = {name: request.getfixturevalue(name) for name in fixturedef.argnames}
            answer = self._answer(
                request.node,
                values["jsonmatch_case"],
                lambda case: fixturedef.func(**{**values, "jsonmatch_case": case}),
                is_fixture=True,
            )
        except BaseException as error:
            # pytest does this if the fixture itself raises; without it, pytest would not finish the fixture.
            fixturedef.cached_result = (None, key, (error, error.__traceback__))
            raise
        fixturedef.cached_result = (answer, key, None)
        return answer

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Clear the fixtures of the test, and drop a call whose answer it did not use."""
        self._function_fixtures.clear()
        self._calls.pop(item, None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Cancel async calls, and abandon the threads of others."""
        if "_loop" in vars(self):
            self._loop.stop()
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput[_KEY] = self._sequential

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Send the number of concurrent calls to a worker of pytest-xdist."""
        node.workerinput[_KEY] = self._limit

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Add the tests of a worker whose producers were not called in advance."""
        self._sequential.update(getattr(node, "workeroutput", {}).get(_KEY, {}))

    @pytest.hookimpl(trylast=True)  # below the tables
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the reason why producers were not called concurrently."""
        if not self._sequential:
            return
        if self._schedule not in _SCHEDULES:
            reason = (
                f"with --dist={self._schedule} a worker does not know its next tests; use --dist=loadfile"
            )
            line = f"producers are called one by one: {reason}"
        else:
            fixtures = ", ".join(sorted({name for names in self._sequential.values() for name in names}))
            reason = f"only producers without function-scoped fixtures are called concurrently ({fixtures})"
            line = f"{count(len(self._sequential), 'case')} answered one by one: {reason}"
        terminalreporter.write_line(f"jsonmatch_concurrency: {line}", yellow=True)


def _is_choice(fixturedef: pytest.FixtureDef[Any]) -> bool:
    """Return whether a fixture only chooses a parameter: it needs nothing else, and has no teardown."""
    has_only_params = fixturedef.params is not None and {*fixturedef.argnames} <= {"request"}
    return has_only_params and not inspect.isgeneratorfunction(fixturedef.func)


def _is_plain(fixturedef: pytest.FixtureDef[Any]) -> bool:
    """Return whether a fixture is a plain function of the case, which can be called in a thread."""
    names, function = {*fixturedef.argnames}, fixturedef.func
    others = inspect.isgeneratorfunction, inspect.iscoroutinefunction, inspect.isasyncgenfunction
    has_case = "jsonmatch_case" in names and names.isdisjoint({"request", "jsonmatch_actual"})
    return has_case and fixturedef.params is None and not any(is_other(function) for is_other in others)


def _next_cases(item: pytest.Function, *, is_fixture: bool) -> Iterator[tuple[pytest.Item, GoldenCase]]:
    """Yield the next tests of the file that are answered for sure, with the current fixtures.

    With `is_fixture` by the fixture `jsonmatch_actual`, otherwise by their producers.
    """
    items, fixtures = item.session.items, frozenset(item.fixturenames)
    for next_item in islice(items, items.index(item) + 1, None):
        if _group(next_item) != _group(item):
            return
        case = case_to_answer(next_item, is_fixture=is_fixture)
        if case is not None and fixtures.issuperset(getattr(next_item, "fixturenames", ())):
            yield next_item, case


def _group(item: pytest.Item) -> tuple[str, str | None]:
    """Return the file and the parameters of a test."""
    # As pytest-xdist groups tests under `loadscope`: a label of a parameter may contain "::".
    return item.nodeid.rpartition("::")[0], getattr(getattr(item, "callspec", None), "id", None)
