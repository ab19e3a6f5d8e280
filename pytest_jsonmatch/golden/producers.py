"""What a case is compared with: its recorded answer, or what its producer makes of its input."""

from __future__ import annotations

import asyncio
import importlib
import inspect
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.value.errors import nearest
from pytest_jsonmatch.golden.errors import GoldenFileError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pytest_jsonmatch.golden.cases import GoldenCase


_MOST_FUNCTIONS: Final = 20


def default_actual(case: GoldenCase, ask: Callable[[GoldenCase], object] | None = None) -> object:
    """Return what a case is compared with: its recorded answer, else its producer's, else what `ask` says.

    Args:
        case: the case.
        ask: asked last; None as its answer means that it has none.

    Raises:
        AssertionError: there is no answer, or a file or producer that the case names can't be had. It is
            raised from the line of the YAML file that it is about. What a producer raises passes through.
    """
    __tracebackhide__ = True
    try:
        return _answer(case, ask)
    except GoldenFileError as error:
        fail = case.raiser(str(error), error.line, error.__cause__)
    return fail()


def _answer(case: GoldenCase, ask: Callable[[GoldenCase], object] | None) -> object:
    __tracebackhide__ = True
    if case.has_actual:
        return case.actual
    if case.producer is not None:
        return produce(case)
    answer = None if ask is None else ask(case)
    if answer is None:
        raise case.error(
            f"the case {case.id!r} has nothing to compare: give it `actual`, `actual_file` or `producer`, "
            "override the fixture jsonmatch_actual, or implement the hook pytest_jsonmatch_actual"
        )
    return answer


def produce(case: GoldenCase) -> object:
    """Call the case's producer with the case's input and return its answer.

    A coroutine function (or whatever returns an awaitable) is run to its end in an event loop of its own.
    What the producer itself raises passes through.

    Raises:
        GoldenFileError: the producer can't be imported or called; the error stands at `producer`.
    """
    __tracebackhide__ = True
    function = _find(case)
    if not case.has_input:
        raise case.error(f"the producer {case.producer!r} needs an `input` or `input_file`", "producer")
    answer = function(case.input)
    if inspect.isawaitable(answer):
        return _wait_for(case, answer)
    return answer


def _find(case: GoldenCase) -> Callable[[object], Any]:
    __tracebackhide__ = True
    written = case.producer or ""
    module_name, _, attributes = written.partition(":")
    try:
        # At run time: pytest's `pythonpath` and the conftest files have had their say on sys.path.
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{module_name}.".startswith(f"{error.name}."):
            raise _not_found(case, module_name, error.name) from None
        raise _broken(case, module_name, error) from error
    except Exception as error:
        raise _broken(case, module_name, error) from error
    for attribute in attributes.split("."):
        try:
            found = getattr(found, attribute)
        except AttributeError:
            reason = f"the producer {written!r}: {module_name!r} has no {attribute!r}"
            raise case.error(reason + _functions_in(found, attribute), "producer") from None
    if not callable(found):
        raise case.error(f"the producer {written!r} is {type(found).__name__}, not a function", "producer")
    function: Callable[[object], Any] = found
    return function


def _functions_in(holder: object, meant: str) -> str:
    """Return, as the end of a message, which function may have been meant, and which there are."""
    home = (
        getattr(holder, "__name__", None) if inspect.ismodule(holder) else getattr(holder, "__module__", None)
    )
    functions = [
        name
        for name, value in vars(holder).items()
        if not name.startswith("_") and callable(value) and getattr(value, "__module__", None) == home
    ]
    if not functions:
        return "; it has no function of its own"
    listed = ", ".join(functions[:_MOST_FUNCTIONS]) + (", …" if len(functions) > _MOST_FUNCTIONS else "")
    near = nearest(meant, functions)
    return f"; {'' if near is None else f'did you mean {near!r}? '}functions there: {listed}"


def _not_found(case: GoldenCase, module_name: str, missing: str) -> GoldenFileError:
    what = f"there is no module {missing!r}" + (
        f" (wanted by {module_name!r})" if missing != module_name else ""
    )
    return case.error(
        f"the producer {case.producer!r} can't be imported: {what}; "
        "add the folder that holds it to pytest's ini option `pythonpath`, or install it",
        "producer",
    )


def _broken(case: GoldenCase, module_name: str, error: Exception) -> GoldenFileError:
    what = f"importing {module_name!r} raised {type(error).__name__}: {error}"
    return case.error(f"the producer {case.producer!r} can't be imported: {what}", "producer")


def _wait_for(case: GoldenCase, answer: Awaitable[object]) -> object:
    __tracebackhide__ = True
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_finish(answer))
    if inspect.iscoroutine(answer):
        answer.close()
    raise case.error(
        f"the producer {case.producer!r} is asynchronous and an event loop is already running; "
        "override the fixture jsonmatch_actual with an async one that awaits it",
        "producer",
    )


async def _finish(answer: Awaitable[object]) -> object:
    return await answer
