"""The one error of the golden room: a sentence that begins with file:line:column."""

from __future__ import annotations

from typing import Final, final

from pytest_jsonmatch.engine.value.errors import JsonMatchError

__all__ = ["GoldenFileError", "shortened"]

_LONGEST: Final = 1_000


@final
class GoldenFileError(JsonMatchError, ValueError):
    """A golden YAML file, or a file that one of its cases names, is not what it should be.

    Args:
        name: the file as a person would name it (relative to where they stand).
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


def shortened(reason: str) -> str:
    """Return a reason without the middle of what nobody would read: a key of a megabyte, quoted.

    >>> shortened("unknown key 'a'; did you mean 'b'?")
    "unknown key 'a'; did you mean 'b'?"
    >>> shortened(f"unknown key {'x' * 50_000!r}; did you mean 'b'?").endswith("xxx'; did you mean 'b'?")
    True
    """
    half = _LONGEST // 2
    return reason if len(reason) <= _LONGEST else f"{reason[:half]} … {reason[-half:]}"
