"""Raise failures at lines of files that are not Python, so that pytest shows these lines."""

from __future__ import annotations

import ast
import linecache
from functools import partial
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Final, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_jsonmatch.reading.errors import Position

_CONTEXT: Final = 5
"""The maximum number of lines above the failing one in a traceback."""
_WIDTH: Final = 200
"""The maximum number of characters of a line in a traceback."""


def raise_at(
    message: str,
    *,
    path: str,
    position: Position,
    first: int = 1,
    name: str = "case",
    cause: BaseException | None = None,
    lines: Sequence[str] | None = None,
    inner: tuple[str, Position] | None = None,
) -> NoReturn:
    """Raise `AssertionError(message)` from a line of a file, with code that is compiled for that line.

    The error is a plain AssertionError: editors show other types as an error of the test, not as a failure.

    Args:
        message: the text of the error.
        path: the file.
        position: the line in the file, and the column around which a long line is cut.
        first: the first line to show in tracebacks, unless the failing line is above it.
        name: the name of the function in tracebacks.
        cause: the cause of the error, if it should be shown, too.
        lines: the lines of the file for tracebacks; None to read them.
        inner: the path of another file, and a position in it, from which the error is raised below this line.

    >>> from pytest_jsonmatch.reading.errors import Position
    >>> try:
    ...     raise_at("no good", path="a.yaml", position=Position(3, 1), first=2)
    ... except AssertionError as error:
    ...     print(error, error.__traceback__.tb_next.tb_next.tb_lineno)
    no good 3
    """
    __tracebackhide__ = True
    start = max(min(first, position.line), position.line - _CONTEXT)
    shown = _make_quotable(linecache.updatecache(path) if lines is None else lines, start, position)
    # Without a modification time, an entry is never looked up on disk.
    linecache.cache[path] = (sum(map(len, shown)), None, shown, path)
    statement = "raise AssertionError(message) from cause" if inner is None else "raise_inside()"
    function = ast.parse(f"def case():\n    {statement}").body[0]
    for node in ast.walk(function):
        # Without columns: those of the statement above would put carets at wrong positions below the YAML.
        location = {
            "lineno": position.line,
            "end_lineno": position.line,
            "col_offset": -1,
            "end_col_offset": -1,
        }
        vars(node).update(location)
    vars(function).update(lineno=start)
    module = compile(ast.Module(body=[function], type_ignores=[]), path, "exec")
    code = next(constant for constant in module.co_consts if isinstance(constant, CodeType))
    # The message is a global, not an argument: pytest shows the arguments and locals of a frame.
    names: dict[str, Any] = {"AssertionError": AssertionError, "message": message, "cause": cause}
    if inner is not None:
        path, position = inner
        names["raise_inside"] = partial(
            raise_at, message, path=path, position=position, name="expected_file", cause=cause
        )
    run: Callable[[], NoReturn] = FunctionType(code.replace(co_name=name), names)
    run()


def _make_quotable(lines: Sequence[str], start: int, position: Position) -> list[str]:
    """Return the lines of a file so that pytest can quote those from `start` to that of `position`.

    Long lines are cut. pytest parses quoted lines as Python: it fails on NUL characters, on surrogates and
    (Python's parser itself) on some 100 nested brackets, and it quotes whole statements. So such characters
    are replaced, and the lines to quote, and the first one, begin with a blank: that is a syntax error in
    Python, at which it stops parsing.
    """
    quoted = [
        line.replace("\0", "\N{SYMBOL FOR NULL}").encode("utf-8", "backslashreplace").decode()
        for line in lines
    ]
    first = next((index for index, line in enumerate(quoted) if line.strip() and line.lstrip()[0] != "#"), 0)
    for index in {first, *range(start - 1, position.line)} & {*range(len(quoted))}:
        text = quoted[index].rstrip("\r\n")
        offset = max(
            0, min(position.column - 1 if index == position.line - 1 else 0, len(text)) - _WIDTH // 2
        )
        part = text[offset : offset + _WIDTH]
        quoted[index] = f" {'… ' if offset else ''}{part}{' …' if offset + _WIDTH < len(text) else ''}\n"
    return quoted
