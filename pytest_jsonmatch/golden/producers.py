"""The answer of a case: the recorded one, or the one that its producer returns."""

from __future__ import annotations

import asyncio
import inspect
from time import perf_counter
from traceback import walk_tb
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_jsonmatch.answer import Answer
from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean, format_error
from pytest_jsonmatch.engine.value.named import PATH_HINT, import_object
from pytest_jsonmatch.golden.errors import GoldenFileError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
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

    The user's own frames follow: those before the fixture are of hook wrappers, perhaps of other plugins.
    """
    trace: TracebackType | None = error.__traceback__
    entries: list[TracebackType] = []
    while trace is not None:
        entries = [] if trace.tb_frame.f_code is fixture else entries
        entries.append(trace)
        trace = trace.tb_next
    names = (entry.tb_frame.f_globals.get("__name__", "").partition(".")[0] for entry in entries)
    own = [entry for entry, name in zip(entries, names, strict=True) if name not in _MACHINERY]
    try:
        case.fail("")
    except AssertionError as located:
        *_, (frame, line) = walk_tb(located.__traceback__)
    return error.with_traceback(TracebackType((own or entries)[0], frame, frame.f_lasti, line))


async def _finish(answer: Awaitable[object]) -> object:
    return await answer
