"""The answer of a case: the recorded one, or the one that its producer returns."""

from __future__ import annotations

import asyncio
import inspect
import os
import sysconfig
from functools import cache
from time import perf_counter
from traceback import walk_tb
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean, format_error
from pytest_jsonmatch.engine.value.named import PATH_HINT, import_object
from pytest_jsonmatch.reading.errors import GoldenFileError
from pytest_jsonmatch.results.answer import Answer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from types import CodeType

    from pytest_jsonmatch.golden.cases import GoldenCase

_MACHINERY: Final = frozenset({"_pytest", "asyncio", "pluggy", "pytest_asyncio", "pytest_jsonmatch"})
"""The packages whose frames come before those of a user's fixture or producer."""


def default_actual(
    case: GoldenCase, produce: Callable[[GoldenCase], object], ask: Callable[[GoldenCase], object]
) -> object:
    """Return the answer of a case: the recorded one, or that of its producer, or that of `ask`.

    Args:
        case: the case.
        produce: `produce_answer`, or a function that returns the answer of an earlier call of it.
        ask: called last; it returns None if it has no answer.

    Raises:
        AssertionError: there is no answer, or a file or producer of the case can't be used; raised from the
            line of the YAML file that names it. Exceptions of the producer are not caught.
        RuntimeError: the producer raised a BaseException, after which pytest would fail all other tests.
    """
    __tracebackhide__ = True
    try:
        if case.has_actual:
            return case.actual
        if case.producer is not None:
            return produce(case)
        begun = perf_counter()
        answer = _add_seconds(ask(case), begun)
    except GoldenFileError as error:
        case.fail(str(error), error.position, error.__cause__)
    except (Exception, KeyboardInterrupt, pytest.skip.Exception, pytest.fail.Exception):
        raise
    except BaseException as error:  # noqa: BLE001 - such as SystemExit
        message = f"{format_error(error)} (a producer must raise an Exception)"
        raise RuntimeError(message).with_traceback(error.__traceback__) from None
    if answer is None:
        missing = case.error(
            f"the case {case.id!r} has nothing to compare: give it `actual`, `actual_file` or `producer`, "
            "override the fixture jsonmatch_actual, or implement the hook pytest_jsonmatch_actual"
        )
        case.fail(str(missing), missing.position)
    return answer


def _in_own_loop(answer: Awaitable[object]) -> object:
    """Run an awaitable in a new event loop, and return its value."""
    __tracebackhide__ = True
    return asyncio.run(_finish(answer))


def produce_answer(case: GoldenCase, wait: Callable[[Awaitable[object]], object] = _in_own_loop) -> object:
    """Return the answer of the producer of a case; `wait` returns the value of an awaitable."""
    __tracebackhide__ = True
    function, case_input = find_producer(case), case.input
    begun = perf_counter()
    answer = function(case_input)
    if inspect.isawaitable(answer):
        answer = wait(answer)
    return _add_seconds(answer, begun)


def _add_seconds(answer: object, begun: float) -> object:
    """Return the answer; an `Answer` without a time gets the seconds since `begun`."""
    return answer.add_seconds(perf_counter() - begun) if isinstance(answer, Answer) else answer


def find_producer(case: GoldenCase) -> Callable[[object], Any]:
    """Return the producer of a case; raise GoldenFileError if it can't be called."""
    __tracebackhide__ = True
    reference = case.producer or ""
    try:
        # At run time, when pytest's `pythonpath` and the conftest files have changed sys.path.
        found = import_object(reference, _suggest_function)
    except ConfigurationError as error:
        cause = error.__cause__
        missing = cause.name if isinstance(cause, ModuleNotFoundError) else None
        if missing is None or not f"{reference.partition(':')[0]}.".startswith(f"{missing}."):
            raise case.error(f"the producer {error}", "producer") from cause
        raise case.error(f"the producer {error}; {PATH_HINT}", "producer") from None
    if not callable(found):
        raise case.error(f"the producer {reference!r} is {type(found).__name__}, not a function", "producer")
    if not case.has_input:
        raise case.error(f"the producer {reference!r} needs an `input` or `input_file`", "producer")
    function: Callable[[object], Any] = found
    return function


def _suggest_function(holder: object, wrong_name: str) -> str:
    """Return the end of a message: the most similar function, or that there is none."""
    module = (
        getattr(holder, "__name__", None) if inspect.ismodule(holder) else getattr(holder, "__module__", None)
    )
    functions = [
        name
        for name, value in vars(holder).items()
        if not name.startswith("_") and callable(value) and getattr(value, "__module__", None) == module
    ]
    return did_you_mean(wrong_name, functions) if functions else "; it has no function of its own"


def start_at_case(error: BaseException, case: GoldenCase, fixture: CodeType | None) -> BaseException:
    """Return an error of a fixture or producer; its traceback begins at the YAML line of the case.

    The user's own frames follow. Those before the fixture are of hook wrappers, perhaps of other plugins;
    those of libraries are left out, and so are causes that come from libraries alone.
    """
    trace = error.__traceback__
    for entry in _entries(trace):
        if entry.tb_frame.f_code is fixture:
            trace = entry
    own = _own_trace(trace)
    if own is not None:
        _cut_causes(error)
    else:  # the producer is a function of a library
        entries = list(_entries(trace))
        own = next((entry for entry in entries if not _is_machinery(entry)), entries[0])
    try:
        case.fail("")
    except AssertionError as located:
        *_, (frame, line) = walk_tb(located.__traceback__)
    return error.with_traceback(TracebackType(own, frame, frame.f_lasti, line))


def _entries(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _is_machinery(entry: TracebackType) -> bool:
    """Return whether a frame is one of those that come before a user's fixture or producer."""
    return str(entry.tb_frame.f_globals.get("__name__", "")).partition(".")[0] in _MACHINERY


def _is_own(entry: TracebackType) -> bool:
    """Return whether a frame is of the user's code, not of Python or an installed package."""
    file = entry.tb_frame.f_code.co_filename
    return not (_is_machinery(entry) or file.startswith(("<frozen", *_library_folders())))


@cache
def _library_folders() -> tuple[str, ...]:
    """Return the folders of Python's library and of installed packages."""
    names = "stdlib", "platstdlib", "purelib", "platlib"
    return tuple({os.path.join(sysconfig.get_path(name), "") for name in names})  # noqa: PTH118 - a prefix


def _own_trace(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback with the user's own frames only; None if there are none."""
    own = None
    for entry in reversed([entry for entry in _entries(trace) if _is_own(entry)]):
        own = TracebackType(own, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return own


def _cut_causes(error: BaseException) -> None:
    """Leave the user's own frames in the causes of an error, up to the first one without any."""
    seen = {id(error)}
    while True:
        cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if cause is None or id(cause) in seen:
            return
        own = _own_trace(cause.__traceback__)
        if own is None:
            error.__cause__, error.__suppress_context__ = None, True
            return
        error = cause.with_traceback(own)
        seen.add(id(error))


async def _finish(answer: Awaitable[object]) -> object:
    return await answer
