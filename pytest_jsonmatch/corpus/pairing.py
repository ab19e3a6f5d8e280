"""Pair gold records with their answers, by position or by id.

By id, both sides are read in parallel, so that two sides in the same order need little memory. A record waits
until its counterpart is read, or until the end. Of the waiting records of a file, only the first hundred are
kept in memory; the others are kept as offsets.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from itertools import islice, repeat, zip_longest
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.comparer import TEXT, read_expected_text
from pytest_jsonmatch.engine.value.convert import MISSING, to_json_value
from pytest_jsonmatch.engine.value.errors import (
    ConfigurationError,
    GoldValidationError,
    JsonMatchError,
    JsonParseError,
)
from pytest_jsonmatch.reading.extract import extract_json
from pytest_jsonmatch.reading.strict import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_jsonmatch.engine.value.convert import JsonValue

_MAX_WAITING: Final = 100
"""At most this many waiting records of a file are kept in memory."""

_Id: TypeAlias = "str | int"


@final
class Pair(NamedTuple):
    """A gold record and its answer, as given by the caller."""

    position: int
    """The position among the gold records."""
    record_id: str | int
    actual: Any
    """The answer; MISSING if there is none."""
    expected: Any
    where: str | None = None
    """The file and line of the gold record."""
    warnings: tuple[str, ...] = ()
    """Warnings from reading the answer."""
    is_read: bool = False
    """Whether both sides are JSON values that no caller holds, so that they may be changed."""
    is_text: bool = False
    """Whether the answer was given as text."""


@final
class Unreadable(NamedTuple):
    """An answer that has no id, or cannot be read."""

    where: str
    reason: str
    parsed: bool | None = None
    """Whether the answer contains JSON; None if it is not text."""


def make_gold_error(record_id: str | int, where: str | None, error: JsonMatchError) -> GoldValidationError:
    """Return the error to raise for an invalid gold record."""
    at = f"{where}: " if where else ""
    if where and isinstance(error, JsonParseError) and error.line == 1:
        # Line 1 of the parser is this line of the file.
        near = f" near {error.excerpt!r}" if error.excerpt else ""
        return GoldValidationError(f"{where}:{error.column}: not valid JSON: {error.reason}{near}", record_id)
    return GoldValidationError(f"{at}record {record_id!r}: {error}", record_id, getattr(error, "path", ""))


def read_gold(record: Any, record_id: str | int, where: str | None) -> JsonValue:
    """Return a gold record as a JSON value; a line of a file (`where`) is strict JSON.

    Raises:
        GoldValidationError: the record is not JSON, or has no JSON form.
    """
    try:
        if isinstance(record, TEXT):
            return parse_json(record) if where else read_expected_text(record)
        return to_json_value(record, side="expected")
    except JsonMatchError as error:
        raise make_gold_error(record_id, where, error) from None


def split_pairs(pairs: Iterator[Pair], size: int) -> Iterator[list[Pair]]:
    """Yield pairs in chunks of a size, each in the order of the gold records."""
    while chunk := list(islice(pairs, size)):
        chunk.sort(key=attrgetter("position"))
        yield chunk


@final
@dataclass(frozen=True, slots=True)
class Reading:
    """The options for reading and pairing records."""

    id: str | None = None
    """The member by which records and answers are paired; None pairs by position."""
    repair: bool = False
    """Whether broken JSON in answers is repaired."""


@contextmanager
def open_pairing(actual: Any, expected: Any, reading: Reading) -> Iterator[RecordPairing]:
    """Open both sides, and close their files at the end.

    Raises:
        ConfigurationError: a side is not a corpus, or its file cannot be read.
    """
    with RecordSource(actual, "actual") as answers, RecordSource(expected, "expected") as gold_records:
        yield RecordPairing(answers, gold_records, reading)


@final
class FileOffset(NamedTuple):
    """An offset between two lines of a file."""

    offset: int = 0
    lines: int = 0
    """The number of lines before it."""
    records: int = 0
    """The number of records before it: lines that are not blank."""


@final
class FilePart(NamedTuple):
    """Several lines of a file."""

    path: Path
    text: bytes
    start: FileOffset
    end: FileOffset

    @property
    def records(self) -> int:
        """The number of records in the lines."""
        return self.end.records - self.start.records


@final
class RecordSource:
    """The records of one side: a list, an iterator, the lines of a file, or gold records by their ids.

    It is a context manager that opens and closes the file.
    """

    def __init__(self, records: Any, side: str) -> None:
        self.is_held: bool = isinstance(records, Sequence)
        self.names: Sequence[str | int] | None = None
        """The ids of the records, if they are given as a mapping."""
        self.path: Path | None = None
        self.file: Any = None
        self.start: FileOffset = FileOffset()
        """The offset at which iteration starts."""
        self._records = records
        self._side = side
        if isinstance(records, (str, os.PathLike)):
            self.path = Path(records)
            self.is_held = False
        elif isinstance(records, Mapping) and side != "actual":
            self.names, self._records = tuple(records), records.values()
        elif isinstance(records, (bytes, bytearray, Mapping)) or not isinstance(records, Iterable):
            message = (
                f"{side} must be a list or an iterator of records, or the path of a JSON Lines file, "
                f"got {type(records).__name__}"
            )
            raise ConfigurationError(message)

    @classmethod
    def of_part(cls, part: FilePart) -> RecordSource:
        """Return a source for lines that have been read."""
        source = cls(part.path, "")
        source.file = BytesIO(part.text)
        source.start = part.start
        return source

    def __enter__(self) -> RecordSource:
        if self.path is not None:
            try:
                self.file = self.path.open("rb")
            except (OSError, ValueError) as error:
                why = (getattr(error, "strerror", None) or str(error)).lower()
                message = f"{self._side} {str(self.path)!r} can't be read: {why}"
                raise ConfigurationError(message) from None
        return self

    def __exit__(self, *_: object) -> None:
        if self.file is not None:
            self.file.close()

    def get_id(self, position: int) -> str | int:
        """Return the id of the record at a position; without ids, its number, counted from 1 like lines."""
        return position + 1 if self.names is None else self.names[position]

    def move_to(self, offset: FileOffset) -> None:
        """Make iteration over the file start at an offset."""
        self.file.seek(offset.offset)
        self.start = offset

    def read_part(self, records: int) -> FilePart:
        """Read the next lines of the file, with up to this many records; iteration starts after them."""
        lines: list[bytes] = []
        missing = records
        while missing and (more := list(islice(self.file, missing))):
            lines += more
            missing -= len(more) - sum(map(bytes.isspace, more))
        assert self.path is not None  # noqa: S101 - for the type checker, since only files are read in parts
        text, start, found = b"".join(lines), self.start, records - missing
        self.start = FileOffset(start.offset + len(text), start.lines + len(lines), start.records + found)
        return FilePart(self.path, text, start, self.start)

    def __iter__(self) -> Iterator[tuple[str | None, Any, int | None]]:
        """Yield (file and line, record, offset if the file is seekable)."""
        if self.path is None:
            return zip(repeat(None), self._records, repeat(None))
        return self._lines()

    def _lines(self) -> Iterator[tuple[str | None, Any, int | None]]:
        offset = self.start.offset
        is_seekable = self.file.seekable()
        name = str(self.path)
        for number, line in enumerate(self.file, self.start.lines + 1):
            if not line.isspace():
                yield f"{name}:{number}", line.rstrip(b"\r\n"), offset if is_seekable else None
            offset += len(line)

    def read_line(self, offset: int) -> bytes:
        """Return the line of the file that starts at an offset, without affecting iteration."""
        here = self.file.tell()
        self.file.seek(offset)
        line: bytes = self.file.readline()
        self.file.seek(here)
        return line.rstrip(b"\r\n")


@final
class _NamedRecord(NamedTuple):
    """A record with an id."""

    record_id: _Id
    position: int
    where: str | None
    value: Any
    """The record; MISSING if it must be read again from its offset."""
    offset: int | None
    warnings: tuple[str, ...] = ()
    is_text: bool = False

    def shrink_waiting(self, others: int) -> _NamedRecord:
        """Return the record to keep while it waits; without its value if too many others wait on its side."""
        return self if self.offset is None or others < _MAX_WAITING else self._replace(value=MISSING)


_Content: TypeAlias = "tuple[_Id | None, Any, tuple[str, ...]]"
"""The id of a record if it has one, its value for the pair, and warnings from reading it."""


@final
class RecordPairing:
    """Iterates over pairs of gold records and answers; afterwards, it has the ids without a counterpart."""

    def __init__(self, actual: RecordSource, expected: RecordSource, reading: Reading) -> None:
        self.actual = actual
        self.expected = expected
        self.unmatched_expected: list[_Id] = []
        self.unmatched_actual: list[_Id] = []
        self.unreadable: list[Unreadable] = []
        self._reading = reading
        self._reads = actual.path is not None and expected.path is not None

    def __iter__(self) -> Iterator[Pair]:
        name = self._reading.id
        return self._pair_by_position() if name is None else self._pair_by_id(name)

    def pair_in_step(self) -> Iterator[Pair]:
        """Yield the pairs of records at equal positions, up to the first whose ids differ."""
        name = self._reading.id
        if name is None:
            yield from self._pair_by_position()
            return
        answers = self._iter_answers(name)
        for gold in self._iter_gold_records(name):
            answer = next(answers, None)
            if answer is None or answer.record_id != gold.record_id or self.unreadable:
                return
            yield self._make_pair(gold, answer)

    def _pair_by_position(self) -> Iterator[Pair]:
        answers = iter(self.actual)
        nothing = (None, MISSING, None)
        for index, (where, record, _) in enumerate(self.expected, self.expected.start.records):
            answer, record_id = next(answers, nothing)[1], self.expected.get_id(index)
            if answer is MISSING:
                self.unmatched_expected.append(record_id)
            yield Pair(index, record_id, answer, record, where, is_text=isinstance(answer, TEXT))
        if next(answers, None) is not None:
            message = (
                "there are more answers than expected records; without `id` they are matched by position"
            )
            raise ConfigurationError(message)

    # -- by id ---------------------------------------------------------------------------------------------

    def _pair_by_id(self, name: str) -> Iterator[Pair]:
        gold_records: dict[_Id, _NamedRecord] = {}
        answers: dict[_Id, _NamedRecord] = {}
        for gold, answer in zip_longest(self._iter_gold_records(name), self._iter_answers(name)):
            if gold is not None:
                if (waiting := answers.pop(gold.record_id, None)) is not None:
                    yield self._make_pair(gold, waiting)
                elif gold.record_id in gold_records:
                    raise _duplicate_error(gold, name)
                else:
                    gold_records[gold.record_id] = gold.shrink_waiting(len(gold_records))
            if answer is not None:
                if (waiting := gold_records.pop(answer.record_id, None)) is not None:
                    yield self._make_pair(waiting, answer)
                elif answer.record_id in answers:
                    self.unmatched_actual.append(answer.record_id)
                else:
                    answers[answer.record_id] = answer.shrink_waiting(len(answers))
        self.unmatched_expected.extend(gold_records)
        self.unmatched_actual.extend(answers)
        for gold in gold_records.values():
            yield self._make_pair(gold, _NamedRecord(gold.record_id, 0, None, MISSING, None))

    def _iter_gold_records(self, name: str) -> Iterator[_NamedRecord]:
        seen: set[_Id] | None = set() if self.expected.is_held else None
        for index, (where, record, offset) in enumerate(self.expected, self.expected.start.records):
            record_id, value, _ = self._read_gold_record(record, where, index)
            if record_id is None:
                location = f"at {where}" if where else f"record {index + 1}"
                message = f"gold {location} has no {name} that is a string or an integer"
                raise GoldValidationError(message, index, name)
            gold = _NamedRecord(record_id, index, where, value, offset)
            if seen is not None:
                if record_id in seen:
                    raise _duplicate_error(gold, name)
                seen.add(record_id)
            yield gold

    def _iter_answers(self, name: str) -> Iterator[_NamedRecord]:
        for index, (where, record, offset) in enumerate(self.actual, self.actual.start.records):
            why = f"it has no {name} that is a string or an integer, so it can't be matched to a record"
            is_text = isinstance(record, TEXT)
            parsed = True if is_text else None
            try:
                record_id, value, warnings = self._read_answer(record)
            except JsonMatchError as error:
                record_id, value, warnings, why = None, None, (), str(error)
                parsed = False if is_text else None
            if record_id is None:
                location = where or f"actual[{index}]"
                self.unmatched_actual.append(location)
                self.unreadable.append(Unreadable(location, why, parsed))
            else:
                yield _NamedRecord(record_id, index, where, value, offset, warnings, is_text)

    def _make_pair(self, gold: _NamedRecord, answer: _NamedRecord) -> Pair:
        expected, actual, warnings = gold.value, answer.value, answer.warnings
        if expected is MISSING and gold.offset is not None:
            _, expected, _ = self._read_gold_record(
                self.expected.read_line(gold.offset), gold.where, gold.position
            )
        if actual is MISSING and answer.offset is not None:
            _, actual, warnings = self._read_answer(self.actual.read_line(answer.offset))
        is_read = self._reads and actual is not MISSING
        key = gold.position, gold.record_id
        return Pair(*key, actual, expected, gold.where, warnings, is_read, answer.is_text)

    def _read_gold_record(self, record: Any, where: str | None, index: int) -> _Content:
        return self._make_content(record if type(record) is dict else read_gold(record, index + 1, where))

    def _read_answer(self, record: Any) -> _Content:
        if not isinstance(record, TEXT):
            return self._make_content(record)
        found = extract_json(record, want="object", repair=self._reading.repair)
        return self._make_content(found.value, found.warnings)

    def _make_content(self, parsed: Any, warnings: tuple[str, ...] = ()) -> _Content:
        """Return a parsed record with its id."""
        name = self._reading.id
        plain = parsed
        if type(parsed) is not dict:
            try:
                plain = to_json_value(parsed)
            except JsonMatchError:
                plain = None
        record_id = plain.get(name) if type(plain) is dict else None
        if type(record_id) is not str and type(record_id) is not int:
            record_id = None
        return record_id, parsed, warnings


def _duplicate_error(gold: _NamedRecord, name: str) -> GoldValidationError:
    location = f"at {gold.where}" if gold.where else f"record {gold.position + 1}"
    message = f"gold {location} has the same {name} as an earlier record: {gold.record_id!r}"
    return GoldValidationError(message, gold.record_id, name)
