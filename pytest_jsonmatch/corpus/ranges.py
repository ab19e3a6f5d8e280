"""Byte ranges of two JSON Lines files with equal numbers of records: a worker reads them for itself.

A range travels as a path, an offset and a checksum. A worker that has no such file, or another one, finds out
by the checksum, and so it notices a file that has changed meanwhile.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, final
from zlib import crc32

from pytest_jsonmatch.corpus.records import Pairing, Place, Source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_jsonmatch.corpus.records import Reading

_LARGEST: Final = 1 << 20
"""Ranges of the expected side end at the first chunk boundary beyond this many bytes."""
_FEWEST: Final = 64
"""Into at least this many ranges a file is cut if it has as many chunks, so that no worker waits long."""


@final
@dataclass(frozen=True, slots=True)
class _ByteRange:
    """Whole lines of a file."""

    path: Path
    """As the caller has named it."""
    absolute: Path
    start: Place
    end: Place
    checksum: int

    def read(self) -> Source | None:
        """Return its records, or None if there is no such file here, or one with other bytes."""
        try:
            with self.absolute.open("rb") as file:
                file.seek(self.start.offset)
                text = file.read(self.end.offset - self.start.offset)
        except OSError:
            return None
        return Source.of_text(text, self.path, self.start) if crc32(text) == self.checksum else None


@final
@dataclass(frozen=True, slots=True)
class RangePair:
    """Ranges of both files that hold equally many records."""

    actual: _ByteRange
    expected: _ByteRange

    @property
    def records(self) -> int:
        """The number of records on each side."""
        return self.expected.end.records - self.expected.start.records

    def read(self, reading: Reading) -> Pairing | None:
        """Return the records of both sides, or None if the files here are not those that were cut."""
        actual, expected = self.actual.read(), self.expected.read()
        return None if actual is None or expected is None else Pairing(actual, expected, reading)


def cut_ranges(pairing: Pairing, chunk_size: int) -> Iterator[RangePair]:
    """Yield ranges of whole chunks as long as both files have records; nothing if a side is not a file.

    The sides are left where the last range ends, or has begun if one side had too few records for it.
    """
    sides = pairing.actual, pairing.expected
    if any(side.path is None or not side.path.is_file() for side in sides):
        return
    size = min(_LARGEST, os.fstat(pairing.expected.file.fileno()).st_size // _FEWEST)
    while True:
        expected: list[bytes] = []
        room, records, found = size, 0, chunk_size
        while room >= 0 and found == chunk_size:
            lines, found = _lines(pairing.expected, chunk_size)
            room -= sum(map(len, lines))
            expected += lines
            records += found
        actual, answers = _lines(pairing.actual, records)
        if not records or answers < records:
            for side in sides:
                side.move_to(side.place)
            return
        yield RangePair(_range(pairing.actual, actual, records), _range(pairing.expected, expected, records))


def _lines(source: Source, records: int) -> tuple[list[bytes], int]:
    """Return the next lines of a file that hold this many records, and how many they hold if it ends."""
    lines: list[bytes] = []
    missing = records
    while missing and (more := list(islice(source.file, missing))):
        lines += more
        missing -= len(more) - sum(map(bytes.isspace, more))
    return lines, records - missing


def _range(source: Source, lines: list[bytes], records: int) -> _ByteRange:
    """Return lines that were read from the place of a source as a range, and move the place behind them."""
    text = b"".join(lines)
    start = source.place
    end = Place(start.offset + len(text), start.lines + len(lines), start.records + records)
    source.place = end
    assert source.path is not None  # noqa: S101 - for the type checker: only files are cut
    return _ByteRange(source.path, source.path.absolute(), start, end, crc32(text))
