"""Errors raised from a line of a file that is not Python, so that every traceback shows that line."""

from __future__ import annotations

import ast
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

CONTEXT: Final = 5
"""How many lines stand above the failing one in a traceback, at most."""


def raise_at(
    message: str,
    *,
    path: str,
    line: int,
    first: int = 1,
    name: str = "case",
    cause: BaseException | None = None,
) -> NoReturn:
    """Raise `AssertionError(message)` from a line of a file, by code that is compiled as if it were there.

    The error is a plain AssertionError: editors show others as an error of the test, not as a failure.

    Args:
        message: the error's text.
        path: the file.
        line: the line in it, counted from 1.
        first: no line above this one is shown, unless it is the one that fails.
        name: what tracebacks call the function.
        cause: the cause of the error, if it should be shown too.

    >>> try:
    ...     raise_at("no good", path="a.yaml", line=3, first=2)
    ... except AssertionError as error:
    ...     print(error, error.__traceback__.tb_next.tb_next.tb_lineno)
    no good 3
    """
    __tracebackhide__ = True
    function = ast.parse("def case():\n    raise AssertionError(message) from cause").body[0]
    for node in ast.walk(function):
        # Without columns: those of the statement above would put carets in wrong places below the YAML.
        place = {"lineno": line, "end_lineno": line, "col_offset": -1, "end_col_offset": -1}
        vars(node).update(place)
    vars(function).update(lineno=max(min(first, line), line - CONTEXT))
    module = compile(ast.Module(body=[function], type_ignores=[]), path, "exec")
    code = next(constant for constant in module.co_consts if isinstance(constant, CodeType))
    # The message is a global, not an argument: pytest shows the arguments and locals of a frame.
    names = {"AssertionError": AssertionError, "message": message, "cause": cause}
    run: Callable[[], NoReturn] = FunctionType(code.replace(co_name=name), names)
    run()
