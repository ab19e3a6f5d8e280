"""The answer of a case: the recorded one, or what its producer makes from its input."""

from __future__ import annotations

import asyncio
import inspect
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_jsonmatch.answer import Answer
from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean, format_error
from pytest_jsonmatch.engine.value.named import import_object
from pytest_jsonmatch.golden.errors import GoldenFileError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pytest_jsonmatch.golden.cases import GoldenCase

_PATH: Final = "add the folder that holds it to pytest's ini option `pythonpath`, or install it"


def default_actual(
    case: GoldenCase, produce: Callable[[GoldenCase], object], ask: Callable[[GoldenCase], object]
) -> object:
    """Return the answer of a case: the recorded one, else its producer's, else that of `ask`.

    Args:
        case: the case.
        produce: `produced`, or what returns an answer for which it was called before.
        ask: called last; it returns None if it has no answer.

    Raises:
        AssertionError: there is no answer, or a file or producer of the case can't be used; raised from the
            line of the YAML file that names it. Exceptions of the producer pass through.
        RuntimeError: the producer raised a BaseException, after which pytest would fail all other tests.
    """
    __tracebackhide__ = True
    try:
        if case.has_actual:
            return case.actual
        if case.producer is not None:
            return produce(case)
        begun = perf_counter()
        answer = _measured(ask(case), begun)
    except GoldenFileError as error:
        case.fail(str(error), error.at, error.__cause__)
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
        case.fail(str(missing), missing.at)
    return answer


def _in_own_loop(answer: Awaitable[object]) -> object:
    """Run an awaitable to its end in a new event loop."""
    __tracebackhide__ = True
    return asyncio.run(_finish(answer))


def produced(case: GoldenCase, wait: Callable[[Awaitable[object]], object] = _in_own_loop) -> object:
    """Return the answer of the case's producer; `wait` runs an awaitable to its end."""
    __tracebackhide__ = True
    function, given = find_producer(case), case.input
    begun = perf_counter()
    answer = function(given)
    if inspect.isawaitable(answer):
        answer = wait(answer)
    return _measured(answer, begun)


def _measured(answer: object, begun: float) -> object:
    """Return the answer; an `Answer` that does not say how long it took gets the time since `begun`."""
    return answer.add_seconds(perf_counter() - begun) if isinstance(answer, Answer) else answer


def find_producer(case: GoldenCase) -> Callable[[object], Any]:
    """Return the producer of a case; raise GoldenFileError if there is none that can be called."""
    __tracebackhide__ = True
    written = case.producer or ""
    try:
        # At run time, when pytest's `pythonpath` and the conftest files have changed sys.path.
        found = import_object(written, _functions_in)
    except ConfigurationError as error:
        cause = error.__cause__
        missing = cause.name if isinstance(cause, ModuleNotFoundError) else None
        if missing is None or not f"{written.partition(':')[0]}.".startswith(f"{missing}."):
            raise case.error(f"the producer {error}", "producer") from cause
        raise case.error(f"the producer {error}; {_PATH}", "producer") from None
    if not callable(found):
        raise case.error(f"the producer {written!r} is {type(found).__name__}, not a function", "producer")
    if not case.has_input:
        raise case.error(f"the producer {written!r} needs an `input` or `input_file`", "producer")
    function: Callable[[object], Any] = found
    return function


def _functions_in(holder: object, meant: str) -> str:
    """Return the end of a message: which function may have been meant, and which exist."""
    home = (
        getattr(holder, "__name__", None) if inspect.ismodule(holder) else getattr(holder, "__module__", None)
    )
    functions = [
        name
        for name, value in vars(holder).items()
        if not name.startswith("_") and callable(value) and getattr(value, "__module__", None) == home
    ]
    return did_you_mean(meant, functions) if functions else "; it has no function of its own"


async def _finish(answer: Awaitable[object]) -> object:
    return await answer
