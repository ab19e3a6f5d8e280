"""The errors of JSON and YAML files: messages with file:line:column."""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.value.errors import JsonMatchError

Steps: TypeAlias = "tuple[str | int, ...]"
"""The path to a value: object keys and array indices, from the root of the document."""

_LONGEST: Final = 1_000


class Position(NamedTuple):
    """A position in a text: line and column, both from 1."""

    line: int
    column: int


@final
class GoldenFileError(JsonMatchError, ValueError):
    """A golden YAML file, or a file that one of its cases names, is not valid.

    Args:
        name: the display name of the file, relative to the working folder.
        line: the line, from 1.
        column: the column in characters, from 1.
        reason: what is wrong, and how to correct it.

    >>> str(GoldenFileError("a.golden.yaml", 12, 5, "the key 'id' is here twice"))
    "a.golden.yaml:12:5: the key 'id' is here twice"
    """

    def __init__(self, name: str, line: int, column: int, reason: str) -> None:
        super().__init__(f"{name}:{line}:{column}: {reason}")
        self.name = name
        self.line = line
        self.column = column
        self.reason = reason

    @property
    def position(self) -> Position:
        """The position of the error in the file."""
        return Position(self.line, self.column)

    def __reduce__(self) -> tuple[object, ...]:
        return GoldenFileError, (self.name, self.line, self.column, self.reason)


@final
class InvalidValueError(Exception):
    """A value that is not valid for a key: the reason, to follow the name of the key, and the steps to it."""

    def __init__(self, reason: str, *steps: str | int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.steps: Steps = steps


def shortened(reason: str) -> str:
    """Return a reason without its middle if it is too long to read: it may quote a key of a megabyte.

    >>> shortened("unknown key 'a'; did you mean 'b'?")
    "unknown key 'a'; did you mean 'b'?"
    >>> shortened(f"unknown key {'x' * 50_000!r}; did you mean 'b'?").endswith("xxx'; did you mean 'b'?")
    True
    """
    half = _LONGEST // 2
    return reason if len(reason) <= _LONGEST else f"{reason[:half]} … {reason[-half:]}"
