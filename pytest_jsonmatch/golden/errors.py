"""The errors of golden files: sentences with file:line:column, raised from lines that are not Python."""

from __future__ import annotations

import ast
import linecache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Final, NoReturn, TypeAlias, final

from pytest_jsonmatch.engine.value.errors import JsonMatchError

if TYPE_CHECKING:
    from collections.abc import Callable

Trail: TypeAlias = "tuple[str | int, ...]"
"""Where a value is: object keys and array indices, from the root of the document."""

_LONGEST: Final = 1_000
_CONTEXT: Final = 5
"""At most this many lines are shown above the failing one in a traceback."""
_BRACKETS: Final = 50


@final
class GoldenFileError(JsonMatchError, ValueError):
    """A golden YAML file, or a file that one of its cases names, is not what it should be.

    Args:
        name: the file as a person would name it (relative to the working folder).
        line: counted from 1.
        column: counted from 1, in characters.
        reason: what is wrong and what to do.

    >>> str(GoldenFileError("a.golden.yaml", 12, 5, "the key 'id' is here twice"))
    "a.golden.yaml:12:5: the key 'id' is here twice"
    """

    def __init__(self, name: str, line: int, column: int, reason: str) -> None:
        super().__init__(f"{name}:{line}:{column}: {reason}")
        self.name = name
        self.line = line
        self.column = column
        self.reason = reason

    def __reduce__(self) -> tuple[object, ...]:
        return GoldenFileError, (self.name, self.line, self.column, self.reason)


@final
class InvalidValueError(Exception):
    """A value that a key can't have: a reason to be read after the key's name, and where in the value."""

    def __init__(self, reason: str, *at: str | int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.at: Trail = at


def shortened(reason: str) -> str:
    """Return a reason, without its middle if it is too long to read: it may quote a key of a megabyte.

    >>> shortened("unknown key 'a'; did you mean 'b'?")
    "unknown key 'a'; did you mean 'b'?"
    >>> shortened(f"unknown key {'x' * 50_000!r}; did you mean 'b'?").endswith("xxx'; did you mean 'b'?")
    True
    """
    half = _LONGEST // 2
    return reason if len(reason) <= _LONGEST else f"{reason[:half]} … {reason[-half:]}"


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
    _make_quotable(path)
    function = ast.parse("def case():\n    raise AssertionError(message) from cause").body[0]
    for node in ast.walk(function):
        # Without columns: those of the statement above would put carets in wrong places below the YAML.
        place = {"lineno": line, "end_lineno": line, "col_offset": -1, "end_col_offset": -1}
        vars(node).update(place)
    vars(function).update(lineno=max(min(first, line), line - _CONTEXT))
    module = compile(ast.Module(body=[function], type_ignores=[]), path, "exec")
    code = next(constant for constant in module.co_consts if isinstance(constant, CodeType))
    # The message is a global, not an argument: pytest shows the arguments and locals of a frame.
    names = {"AssertionError": AssertionError, "message": message, "cause": cause}
    run: Callable[[], NoReturn] = FunctionType(code.replace(co_name=name), names)
    run()


def _make_quotable(path: str) -> None:
    """Keep a file from ending the run when pytest quotes it.

    pytest reads what it quotes as Python. NUL characters, and from some 100 brackets inside each other on
    Python's parser itself, are more than it survives. So NUL characters are replaced, and files with many
    brackets begin, as far as quoting goes, with a blank that is wrong in Python: it reads no further.
    """
    lines = linecache.getlines(path)
    text = "".join(lines)
    if "\0" not in text and text.count("[") + text.count("{") < _BRACKETS:
        return
    shown = [line.replace("\0", "\N{SYMBOL FOR NULL}") for line in lines]
    first = next((at for at, line in enumerate(shown) if line.strip() and line.lstrip()[0] != "#"), 0)
    shown[first] = f" {shown[first].lstrip()}"
    # Without a modification time, an entry is never looked up on disk.
    linecache.cache[path] = (len(text), None, shown, path)
