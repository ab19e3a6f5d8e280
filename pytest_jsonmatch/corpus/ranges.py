"""Byte ranges of two JSON Lines files with equal numbers of records, which workers read themselves.

A range is sent as a path, offsets and a checksum. The checksum tells a worker if it has another file under
that path, or if the file has changed meanwhile.
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
"""A file with enough chunks is cut into at least this many ranges, so that no worker waits long."""


@final
@dataclass(frozen=True, slots=True)
class _ByteRange:
    """Whole lines of a file."""

    path: Path
    """As the caller gave it."""
    absolute: Path
    start: Place
    end: Place
    checksum: int

    def read(self) -> Source | None:
        """Return its records; None if the file is missing here, or has other bytes."""
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
    """Ranges of both files with equally many records."""

    actual: _ByteRange
    expected: _ByteRange

    @property
    def records(self) -> int:
        """The number of records on each side."""
        return self.expected.end.records - self.expected.start.records

    def read(self, reading: Reading) -> Pairing | None:
        """Return the records of both sides; None if the files here are not the ones that were cut."""
        actual, expected = self.actual.read(), self.expected.read()
        return None if actual is None or expected is None else Pairing(actual, expected, reading)


def cut_ranges(pairing: Pairing, chunk_size: int) -> Iterator[RangePair]:
    """Yield ranges of whole chunks while both files have records; nothing if a side is not a file.

    Both sides are left at the end of the last range yielded, or before one that lacks records on a side.
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
    """Return the next lines of a file with up to this many records, and how many they contain."""
    lines: list[bytes] = []
    missing = records
    while missing and (more := list(islice(source.file, missing))):
        lines += more
        missing -= len(more) - sum(map(bytes.isspace, more))
    return lines, records - missing


def _range(source: Source, lines: list[bytes], records: int) -> _ByteRange:
    """Return lines read from the place of a source as a range, and move the place behind them."""
    text = b"".join(lines)
    start = source.place
    end = Place(start.offset + len(text), start.lines + len(lines), start.records + records)
    source.place = end
    assert source.path is not None  # noqa: S101 - for the type checker: only files are cut
    return _ByteRange(source.path, source.path.absolute(), start, end, crc32(text))
