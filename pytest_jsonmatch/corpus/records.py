"""Bring gold records and extracted records together, by position or by id.

By id both sides are read in step, so two sides in the same order take next to no memory. A record whose
counterpart has not come yet waits until the end: it may come later or be missing. Of a file, all but the
first hundred waiting records are held by their offset only.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from itertools import islice, repeat
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.value.convert import MISSING, to_json_value
from pytest_jsonmatch.engine.value.errors import (
    ConfigurationError,
    GoldValidationError,
    JsonMatchError,
    JsonParseError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

__all__ = ["Pair", "Pairing", "Place", "Source", "gold_error", "in_chunks", "open_pairing", "plain_text"]

_HELD: Final = 100
"""Up to this many waiting records of a file are held whole."""

_TEXT: Final = (str, bytes, bytearray)

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


def plain_text(text: str | bytes | bytearray) -> str | bytes:
    """Return text in a type that the parser takes."""
    return bytes(text) if isinstance(text, bytearray) else text


def in_chunks(pairs: Iterator[Pair], size: int) -> Iterator[list[Pair]]:
    """Yield pairs in chunks of a size, those of a chunk in the order of gold."""
    while chunk := list(islice(pairs, size)):
        chunk.sort(key=_POSITION)
        yield chunk


_POSITION: Final = attrgetter("position")


@contextmanager
def open_pairing(
    gold: Any, extracted: Any, id_field: str | None, *, repair: bool, as_text: bool = False
) -> Iterator[Pairing]:
    """Open both sides, and close their files at the end.

    Raises:
        ConfigurationError: a side is not a corpus, or a file cannot be read.
    """
    with Source(gold, "gold") as one, Source(extracted, "extracted") as other:
        yield Pairing(one, other, id_field, repair=repair, as_text=as_text)


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
        self.side = side
        self.is_held = isinstance(records, Sequence)
        self.path: Path | None = None
        self.file: Any = None
        self.place = Place()
        """Where iteration begins."""
        self._records = records
        self._second: Any = None
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

    def move_to(self, place: Place) -> None:
        """Let iteration over the file begin at a place."""
        self.file.seek(place.offset)
        self.place = place

    def __enter__(self) -> Source:
        if self.path is not None:
            self.file = self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in (self.file, self._second):
            if file is not None:
                file.close()

    def _open(self) -> Any:
        assert self.path is not None  # noqa: S101 - for the type checker: the callers have looked
        try:
            return self.path.open("rb")
        except (OSError, ValueError) as error:
            why = (getattr(error, "strerror", None) or str(error)).lower()
            message = f"{self.side} {str(self.path)!r} can't be read: {why}"
            raise ConfigurationError(message) from None

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
        """Return the line of the file that begins at an offset."""
        if self._second is None:
            self._second = self._open()
        self._second.seek(offset)
        line: bytes = self._second.readline()
        return line.rstrip(b"\r\n")


@final
class _Gold(NamedTuple):
    """A gold record that waits for its answer."""

    position: int
    where: str | None
    record: Any
    """MISSING if it has to be read again."""
    offset: int | None


@final
class _Answer(NamedTuple):
    """An extracted record."""

    record: Any
    warnings: tuple[str, ...] = ()


@final
class Pairing:
    """Gold records with their answers; after iteration, the ids that have no counterpart.

    With `as_text`, records that are text stay text in pairs by id: to be sent, it is a tenth of the work.
    """

    def __init__(
        self, gold: Source, extracted: Source, id_field: str | None, *, repair: bool, as_text: bool = False
    ) -> None:
        self.gold = gold
        self.extracted = extracted
        self.unmatched_gold: list[_Id] = []
        self.unmatched_extracted: list[_Id] = []
        self.unreadable: list[Unreadable] = []
        self._id_field = id_field
        self._repair = repair
        self._as_text = as_text

    def __iter__(self) -> Iterator[Pair]:
        return self._by_position() if self._id_field is None else self._by_id(self._id_field)

    def in_step(self) -> Iterator[Pair]:
        """Yield the pairs of the records that stand side by side, up to the first whose ids differ."""
        name = self._id_field
        if name is None:
            yield from self._by_position()
            return
        answers = self._answers(name)
        for record_id, gold in self._golds(name):
            found, answer, _ = next(answers, (None, None, None))
            if answer is None or found != record_id or self.unreadable:
                return
            yield self._pair(record_id, gold, answer)

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
        waiting: dict[_Id, _Gold] = {}
        early: dict[_Id, _Answer | int] = {}
        # Of those that wait, the ids read since the last match. If both sides have the same order, all others
        # have no counterpart.
        fresh_golds: OrderedDict[_Id, None] = OrderedDict()
        fresh_answers: OrderedDict[_Id, None] = OrderedDict()
        more_golds = more_answers = True
        while more_golds or more_answers:
            if more_golds and (len(fresh_golds) <= len(fresh_answers) or not more_answers):
                record_id, gold = next(golds, (None, None))
                if record_id is None or gold is None:
                    more_golds = False
                    continue
                if record_id in early:
                    answer = early.pop(record_id)
                    _met(record_id, fresh_answers, fresh_golds)
                    yield self._pair(record_id, gold, answer)
                elif record_id in waiting:
                    raise _twice(gold, record_id, name)
                else:
                    waiting[record_id] = self._to_wait(gold, len(waiting))
                    fresh_golds[record_id] = None
                continue
            found, fresh, offset = next(answers, (None, None, None))
            if found is None or fresh is None:
                more_answers = False
            elif found in waiting:
                _met(found, fresh_golds, fresh_answers)
                yield self._pair(found, waiting.pop(found), fresh)
            elif found in early:
                self.unmatched_extracted.append(found)
            else:
                early[found] = fresh if offset is None or len(early) < _HELD else offset
                fresh_answers[found] = None
        self.unmatched_gold.extend(waiting)
        self.unmatched_extracted.extend(early)
        for record_id, gold in waiting.items():
            yield self._pair(record_id, gold, _Answer(MISSING))

    def _golds(self, name: str) -> Iterator[tuple[_Id, _Gold]]:
        seen: set[_Id] | None = set() if self.gold.is_held else None
        for index, (where, record, offset) in enumerate(self.gold, self.gold.place.records):
            parsed = _parsed_gold(record, where, index)
            gold = _Gold(index, where, record if self._stays_text(record) else parsed, offset)
            record_id = _id_of(parsed, name)
            if record_id is None:
                told = f"at {where}" if where else f"record {index}"
                message = f"gold {told} has no {name}; it has to be a string or an integer"
                raise GoldValidationError(message, index, name)
            if seen is not None:
                if record_id in seen:
                    raise _twice(gold, record_id, name)
                seen.add(record_id)
            yield record_id, gold

    def _answers(self, name: str) -> Iterator[tuple[_Id, _Answer, int | None]]:
        for index, (where, record, offset) in enumerate(self.extracted):
            try:
                answer = self._read(record)
            except JsonMatchError as error:
                self._note_unreadable(where or f"extracted[{index}]", str(error))
                continue
            found = _id_of(answer.record, name)
            if found is None:
                why = f"it has no {name} that is a string or an integer: nobody can tell whose answer it is"
                self._note_unreadable(where or f"extracted[{index}]", why)
                continue
            yield found, _Answer(record) if self._stays_text(record) else answer, offset

    def _stays_text(self, record: Any) -> bool:
        return self._as_text and isinstance(record, _TEXT)

    def _note_unreadable(self, where: str, why: str) -> None:
        self.unmatched_extracted.append(where)
        self.unreadable.append(Unreadable(where, why))

    def _to_wait(self, gold: _Gold, others: int) -> _Gold:
        return gold if gold.offset is None or others < _HELD else gold._replace(record=MISSING)

    def _pair(self, record_id: _Id, gold: _Gold, answer: _Answer | int) -> Pair:
        if not isinstance(answer, _Answer):
            line = self.extracted.line_at(answer)
            answer = _Answer(line) if self._as_text else self._read(line)
        record = gold.record
        if record is MISSING and gold.offset is not None:
            line = self.gold.line_at(gold.offset)
            record = line if self._as_text else _parsed_gold(line, gold.where, gold.position)
        return Pair(gold.position, record_id, record, answer.record, gold.where, answer.warnings)

    def _read(self, record: Any) -> _Answer:
        if not isinstance(record, _TEXT):
            return _Answer(record)
        from pytest_jsonmatch.reading.extract import extract_json

        found = extract_json(plain_text(record), want="object", repair=self._repair)
        return _Answer(found.value, tuple(found.warnings))


def _met(record_id: _Id, own: OrderedDict[_Id, None], other: OrderedDict[_Id, None]) -> None:
    """Note that a record that waited on its `own` side has met the one just read on the other."""
    other.clear()
    if record_id in own:
        while own.popitem(last=False)[0] != record_id:
            pass


def _twice(gold: _Gold, record_id: _Id, name: str) -> GoldValidationError:
    told = f"at {gold.where}" if gold.where else f"record {gold.position}"
    message = f"gold {told} has the {name} {record_id!r}, as an earlier record has"
    return GoldValidationError(message, record_id, name)


def _parsed_gold(record: Any, where: str | None, index: int) -> Any:
    if type(record) is dict:
        return record
    try:
        if not isinstance(record, _TEXT):
            return to_json_value(record, side="expected")
        from pytest_jsonmatch.reading.strict import parse_json

        return parse_json(plain_text(record))
    except JsonMatchError as error:
        raise gold_error(index, where, error) from None


def _id_of(record: Any, name: str) -> _Id | None:
    if type(record) is not dict:
        try:
            record = to_json_value(record)
        except JsonMatchError:
            return None
    found = record.get(name) if type(record) is dict else None
    return found if type(found) is str or type(found) is int else None
