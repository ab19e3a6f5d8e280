"""Read CSV files row by row."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from pytest_jsonmatch.engine.value.errors import JsonMatchError
from pytest_jsonmatch.engine.value.text import count

if TYPE_CHECKING:
    from typing import BinaryIO

_HALF: Final = re.compile("[\ud800-\udfff]")
_BOM: Final = "\ufeff"


@final
class RowError(JsonMatchError):
    """A row can't be read; the message is the reason, without a place.

    Args:
        reason: what is wrong.
        line: the line of the row in its file; None if the reader of the message knows it.
    """

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.line = line


@final
class CsvRow(NamedTuple):
    """A row of a CSV file."""

    line: int
    """Its first line in the file, from 1."""
    text: str
    """The text of that line."""
    header: tuple[str, ...]
    cells: list[str]
    problem: str
    """The reason why the row can't be read; empty if it can."""
    offset: int
    """The offset of the row in the file."""

    def read(self) -> dict[str, Any]:
        """Return the cells by column.

        Raises:
            RowError: the row is not CSV, not UTF-8, or has more or fewer cells than there are columns.
        """
        problem = self.problem
        if not problem and len(self.cells) != len(self.header):
            columns = count(len(self.header), "column")
            problem = f"the row must have a cell for each of {columns}, but has {len(self.cells)}"
        if problem:
            raise RowError(problem)
        return dict(zip(self.header, self.cells))


@final
class _Lines:
    """Yields the lines of a file; keeps the text of a row's first line, and the offset after the last."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self.number = 0
        self.offset = 0
        self.first = ""

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.offset += len(line.encode("utf-8", "surrogateescape"))
        self.number += 1
        self.first = self.first or line
        return line.removeprefix(_BOM) if self.number == 1 else line


def read_csv(stream: BinaryIO, delimiter: str, header: tuple[str, ...] = ()) -> Iterator[CsvRow]:
    r"""Yield the rows of a CSV file; the first row names the columns, unless they are given.

    Raises:
        RowError: the first row does not name the columns.

    >>> from io import BytesIO
    >>> [row.read() for row in read_csv(BytesIO(b"no,total\n7,12.5\n"), ",")]
    [{'no': '7', 'total': '12.5'}]
    """
    # Bytes that are not UTF-8 become lone surrogates, which are errors of their rows.
    text = TextIOWrapper(stream, "utf-8", "surrogateescape", newline="")
    lines = _Lines(iter(text))
    reader = csv.reader(lines, strict=True, delimiter=delimiter)
    try:
        while True:
            start, offset, lines.first = lines.number + 1, lines.offset, ""
            cells, problem = [""], ""
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                if lines.number < start:  # a NUL on Python 3.10 ends the reader
                    return
                problem = f"not CSV: {error}"
            if any(map(_HALF.search, cells)):
                problem = "not UTF-8 text; save the file as UTF-8"
            if not header:
                header = _check_header(cells, start, problem)
            elif problem or cells[1:] or "".join(cells).strip():
                yield CsvRow(start, lines.first, header, cells, problem, offset)
    finally:
        text.detach()


def _check_header(cells: list[str], line: int, problem: str) -> tuple[str, ...]:
    header = tuple(cells)
    if not problem and ("" in header or not header):
        problem = "a column has no name"
    elif len(set(header)) < len(header):
        problem = f"two columns have the name {max(header, key=header.count)!r}"
    if problem:
        raise RowError(f"{problem}; the first row of a .csv file names the columns", line)
    return header


def delimiter_hint(header: tuple[str, ...]) -> str:
    """Return a hint if the only column of a file seems to be several with another delimiter.

    >>> delimiter_hint(("no;total",)), delimiter_hint(("no", "total"))
    ("; is the delimiter ';'?", '')
    """
    others = [mark for mark in (";", "\t", "|", ",") if len(header) == 1 and mark in header[0]]
    return f"; is the delimiter {others[0]!r}?" if others else ""
