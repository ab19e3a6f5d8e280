"""Bring gold records and extracted records together, by position or by id.

By id both sides are read in step, so two sides in the same order take next to no memory. A record whose
counterpart has not come yet waits until the end: it may come later or be missing. Of a file, all but the
first hundred waiting records are held by their offset only.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import BytesIO
from itertools import islice, repeat
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple, TypeAlias, final

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

__all__ = [
    "TEXT",
    "Pair",
    "Pairing",
    "Place",
    "Reading",
    "Source",
    "gold_error",
    "in_chunks",
    "open_pairing",
    "plain_text",
    "read_gold",
]

_HELD: Final = 100
"""Up to this many waiting records of a file are held whole."""

TEXT: Final = (str, bytes, bytearray)
"""The types of records that have to be parsed."""

_Id: TypeAlias = "str | int"


@final
class Pair(NamedTuple):
    """A gold record and its answer, as they came."""

    position: int
    """In gold."""
    record_id: str | int
    gold: Any
    extracted: Any
    """MISSING if there is none."""
    where: str | None = None
    """The gold record's file and line."""
    warnings: tuple[str, ...] = ()
    """Warnings of reading the answer."""
    is_read: bool = False
    """Whether both sides are JSON values that belong to nobody else, without an id that is not scored."""


@final
class Unreadable(NamedTuple):
    """An answer that has no id, or cannot be read."""

    where: str
    reason: str


def gold_error(record_id: str | int, where: str | None, error: JsonMatchError) -> GoldValidationError:
    """Return the error that a wrong gold record raises."""
    at = f"{where}: " if where else ""
    if where and isinstance(error, JsonParseError) and error.line == 1:
        # The parser's line 1 is this line of the file.
        near = f" near {error.excerpt!r}" if error.excerpt else ""
        reason = error.reason.replace(" opened at line 1", "")
        return GoldValidationError(f"{where}:{error.column}: not valid JSON: {reason}{near}", record_id)
    return GoldValidationError(f"{at}record {record_id!r}: {error}", record_id, getattr(error, "path", ""))


def read_gold(record: Any, record_id: str | int, where: str | None) -> JsonValue:
    """Return a gold record as a JSON value.

    Raises:
        GoldValidationError: it is not JSON, or has no JSON form.
    """
    try:
        if isinstance(record, TEXT):
            return parse_json(plain_text(record))
        return to_json_value(record, side="expected")
    except JsonMatchError as error:
        raise gold_error(record_id, where, error) from None


def plain_text(text: str | bytes | bytearray) -> str | bytes:
    """Return text in a type that the parser takes."""
    return bytes(text) if isinstance(text, bytearray) else text


def in_chunks(pairs: Iterator[Pair], size: int) -> Iterator[list[Pair]]:
    """Yield pairs in chunks of a size, those of a chunk in the order of gold."""
    while chunk := list(islice(pairs, size)):
        chunk.sort(key=_POSITION)
        yield chunk


_POSITION: Final = attrgetter("position")


@final
@dataclass(frozen=True, slots=True)
class Reading:
    """How records are read, and brought together."""

    id_field: str | None = None
    """The member by which a record and its answer find each other; None: by position."""
    scores_id: bool = False
    """Whether the id is scored too."""
    repair: bool = False
    """Whether broken JSON in answers is repaired."""

    def without_id(self, record: dict[Any, Any]) -> dict[Any, Any]:
        """Return a record without an id that is not scored."""
        name = self.id_field
        if name is None or self.scores_id or name not in record:
            return record
        return {key: value for key, value in record.items() if key != name}


@contextmanager
def open_pairing(gold: Any, extracted: Any, reading: Reading, *, as_text: bool = False) -> Iterator[Pairing]:
    """Open both sides, and close their files at the end.

    Raises:
        ConfigurationError: a side is not a corpus, or a file cannot be read.
    """
    with ExitStack() as files:
        sides = Source(gold, "gold"), Source(extracted, "extracted")
        for side in sides:
            if side.path is not None:
                files.enter_context(side.open())
        yield Pairing(*sides, reading, as_text=as_text)


@final
class Place(NamedTuple):
    """A place between two lines of a file."""

    offset: int = 0
    lines: int = 0
    """Lines before it."""
    records: int = 0
    """Records before it: lines that are not blank."""


@final
class Source:
    """The records of one side: a list, an iterator, or the lines of a file."""

    def __init__(self, records: Any, side: str) -> None:
        self.is_held = isinstance(records, Sequence)
        self.path: Path | None = None
        self.file: Any = None
        self.place = Place()
        """Where iteration begins."""
        self._records = records
        self._side = side
        if isinstance(records, (str, os.PathLike)):
            self.path = Path(records)
            self.is_held = False
        elif isinstance(records, (bytes, bytearray, Mapping)) or not isinstance(records, Iterable):
            message = (
                f"{side} is a {type(records).__name__}; it is a list or an iterator of records, "
                "or the path of a JSON Lines file"
            )
            raise ConfigurationError(message)

    @classmethod
    def of_text(cls, text: bytes, path: Path, place: Place) -> Source:
        """Return a part of a file, already read, that begins at a place."""
        source = cls(path, "")
        source.file = BytesIO(text)
        source.place = place
        return source

    def open(self) -> BinaryIO:
        """Open the file, and return it to be closed."""
        assert self.path is not None  # noqa: S101 - for the type checker: the callers have looked
        try:
            self.file = file = self.path.open("rb")
        except (OSError, ValueError) as error:
            why = (getattr(error, "strerror", None) or str(error)).lower()
            message = f"{self._side} {str(self.path)!r} can't be read: {why}"
            raise ConfigurationError(message) from None
        return file

    def move_to(self, place: Place) -> None:
        """Let iteration over the file begin at a place."""
        self.file.seek(place.offset)
        self.place = place

    def __iter__(self) -> Iterator[tuple[str | None, Any, int | None]]:
        """Yield (file and line, record, offset if the file can be read again from there)."""
        if self.path is None:
            return zip(repeat(None), self._records, repeat(None))
        return self._lines()

    def _lines(self) -> Iterator[tuple[str | None, Any, int | None]]:
        offset = self.place.offset
        again = self.file.seekable()
        for number, line in enumerate(self.file, self.place.lines + 1):
            if not line.isspace():
                yield f"{self.path}:{number}", line.rstrip(b"\r\n"), offset if again else None
            offset += len(line)

    def line_at(self, offset: int) -> bytes:
        """Return the line of the file that begins at an offset; iteration goes on where it was."""
        here = self.file.tell()
        self.file.seek(offset)
        line: bytes = self.file.readline()
        self.file.seek(here)
        return line.rstrip(b"\r\n")


@final
class _Record(NamedTuple):
    """A record with an id."""

    record_id: _Id
    position: int
    where: str | None
    value: Any
    """MISSING if it has to be read again."""
    offset: int | None
    warnings: tuple[str, ...] = ()

    def to_wait(self, others: int) -> _Record:
        """Return the record as it waits for its counterpart, beside others of its side."""
        return self if self.offset is None or others < _HELD else self._replace(value=MISSING)


@final
class Pairing:
    """Gold records with their answers; after iteration, the ids that have no counterpart.

    With `as_text`, records that are text stay text in pairs by id, to be sent and parsed elsewhere.
    """

    def __init__(self, gold: Source, extracted: Source, reading: Reading, *, as_text: bool = False) -> None:
        self.gold = gold
        self.extracted = extracted
        self.unmatched_gold: list[_Id] = []
        self.unmatched_extracted: list[_Id] = []
        self.unreadable: list[Unreadable] = []
        self._reading = reading
        self._as_text = as_text
        self._reads = gold.path is not None and extracted.path is not None and not as_text

    def __iter__(self) -> Iterator[Pair]:
        name = self._reading.id_field
        return self._by_position() if name is None else self._by_id(name)

    def in_step(self) -> Iterator[Pair]:
        """Yield the pairs of the records that stand side by side, up to the first whose ids differ."""
        name = self._reading.id_field
        if name is None:
            yield from self._by_position()
            return
        answers = self._answers(name)
        for gold in self._golds(name):
            answer = next(answers, None)
            if answer is None or answer.record_id != gold.record_id or self.unreadable:
                return
            yield self._pair(gold, answer)

    def _by_position(self) -> Iterator[Pair]:
        answers = iter(self.extracted)
        nothing = (None, MISSING, None)
        for index, (where, record, _) in enumerate(self.gold, self.gold.place.records):
            answer = next(answers, nothing)[1]
            if answer is MISSING:
                self.unmatched_gold.append(index)
            yield Pair(index, index, record, answer, where)
        if next(answers, None) is not None:
            message = (
                "there are more extracted records than gold records; "
                "without id_field they are matched by their position"
            )
            raise ConfigurationError(message)

    # -- by id ---------------------------------------------------------------------------------------------

    def _by_id(self, name: str) -> Iterator[Pair]:
        golds, answers = self._golds(name), self._answers(name)
        waiting: dict[_Id, _Record] = {}
        early: dict[_Id, _Record] = {}
        # Of those that wait, the ids read since the last match. If both sides have the same order, all others
        # have no counterpart.
        fresh_golds: OrderedDict[_Id, None] = OrderedDict()
        fresh_answers: OrderedDict[_Id, None] = OrderedDict()
        more_golds = more_answers = True
        while more_golds or more_answers:
            if more_golds and (len(fresh_golds) <= len(fresh_answers) or not more_answers):
                gold = next(golds, None)
                if gold is None:
                    more_golds = False
                elif gold.record_id in early:
                    answer = early.pop(gold.record_id)
                    _met(gold.record_id, fresh_answers, fresh_golds)
                    yield self._pair(gold, answer)
                elif gold.record_id in waiting:
                    raise _twice(gold, name)
                else:
                    waiting[gold.record_id] = gold.to_wait(len(waiting))
                    fresh_golds[gold.record_id] = None
                continue
            found = next(answers, None)
            if found is None:
                more_answers = False
            elif found.record_id in waiting:
                _met(found.record_id, fresh_golds, fresh_answers)
                yield self._pair(waiting.pop(found.record_id), found)
            elif found.record_id in early:
                self.unmatched_extracted.append(found.record_id)
            else:
                early[found.record_id] = found.to_wait(len(early))
                fresh_answers[found.record_id] = None
        self.unmatched_gold.extend(waiting)
        self.unmatched_extracted.extend(early)
        for gold in waiting.values():
            yield self._pair(gold, _Record(gold.record_id, 0, None, MISSING, None))

    def _golds(self, name: str) -> Iterator[_Record]:
        seen: set[_Id] | None = set() if self.gold.is_held else None
        for index, (where, record, offset) in enumerate(self.gold, self.gold.place.records):
            parsed = _parsed_gold(record, where, index)
            record_id = _id_of(parsed, name)
            if record_id is None:
                told = f"at {where}" if where else f"record {index}"
                message = f"gold {told} has no {name}; it has to be a string or an integer"
                raise GoldValidationError(message, index, name)
            gold = _Record(record_id, index, where, self._kept(record, parsed), offset)
            if seen is not None:
                if record_id in seen:
                    raise _twice(gold, name)
                seen.add(record_id)
            yield gold

    def _answers(self, name: str) -> Iterator[_Record]:
        for index, (where, record, offset) in enumerate(self.extracted):
            why = None
            try:
                answer, warnings = self._read(record)
                found = _id_of(answer, name)
            except JsonMatchError as error:
                answer, warnings, found, why = None, (), None, str(error)
            if found is None:
                place = where or f"extracted[{index}]"
                why = (
                    why
                    or f"it has no {name} that is a string or an integer: nobody can tell whose answer it is"
                )
                self.unmatched_extracted.append(place)
                self.unreadable.append(Unreadable(place, why))
            else:
                yield _Record(found, index, where, self._kept(record, answer), offset, warnings)

    def _kept(self, record: Any, parsed: Any) -> Any:
        """Return a record as pairs hold it; one parsed here loses an id that is not scored."""
        if isinstance(record, TEXT):
            if self._as_text:
                return record
            if not self._reading.scores_id:
                del parsed[self._reading.id_field]
        return parsed

    def _pair(self, gold: _Record, answer: _Record) -> Pair:
        record, found, warnings = gold.value, answer.value, answer.warnings
        if record is MISSING and gold.offset is not None:
            line = self.gold.line_at(gold.offset)
            record = self._kept(line, _parsed_gold(line, gold.where, gold.position))
        if found is MISSING and answer.offset is not None:
            line = self.extracted.line_at(answer.offset)
            found, warnings = self._read(line)
            found = self._kept(line, found)
        is_read = self._reads and found is not MISSING
        return Pair(gold.position, gold.record_id, record, found, gold.where, warnings, is_read)

    def _read(self, record: Any) -> tuple[Any, tuple[str, ...]]:
        """Return an answer as a value, and the warnings of extracting it."""
        if not isinstance(record, TEXT):
            return record, ()
        found = extract_json(plain_text(record), want="object", repair=self._reading.repair)
        return found.value, tuple(found.warnings)


def _met(record_id: _Id, own: OrderedDict[_Id, None], other: OrderedDict[_Id, None]) -> None:
    """Note that a record that waited on its `own` side has met the one just read on the other."""
    other.clear()
    if record_id in own:
        while own.popitem(last=False)[0] != record_id:
            pass


def _twice(gold: _Record, name: str) -> GoldValidationError:
    told = f"at {gold.where}" if gold.where else f"record {gold.position}"
    message = f"gold {told} has the {name} {gold.record_id!r}, as an earlier record has"
    return GoldValidationError(message, gold.record_id, name)


def _parsed_gold(record: Any, where: str | None, index: int) -> Any:
    return record if type(record) is dict else read_gold(record, index, where)


def _id_of(record: Any, name: str) -> _Id | None:
    if type(record) is not dict:
        try:
            record = to_json_value(record)
        except JsonMatchError:
            return None
    found = record.get(name) if type(record) is dict else None
    return found if type(found) is str or type(found) is int else None
