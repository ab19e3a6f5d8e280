"""Whose answer is it? Gold records and extracted ones brought together, by position or by id.

By id both sides are read in step, so that of two sides in the same order next to nothing is held. A record
whose counterpart has not come yet waits: it may be missing, it may come later, and only the end tells. Of
those that wait, a file's are held by their offset once there are more than a hundred.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from itertools import repeat
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

__all__ = ["Pair", "Pairing", "gold_error", "open_pairing", "plain_text"]

_HELD: Final = 100
"""So many waiting records of a file are held as they are."""

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
    """What reading the answer had to say already."""


def gold_error(record_id: str | int, where: str | None, error: JsonMatchError) -> GoldValidationError:
    """Return what is raised for a gold record with something wrong in it."""
    at = f"{where}: " if where else ""
    if where and isinstance(error, JsonParseError) and error.line == 1:
        # What the parser calls line 1 is a line of the file.
        near = f" near {error.excerpt!r}" if error.excerpt else ""
        reason = error.reason.replace(" opened at line 1", "")
        return GoldValidationError(f"{where}:{error.column}: not valid JSON: {reason}{near}", record_id)
    return GoldValidationError(f"{at}record {record_id!r}: {error}", record_id, getattr(error, "path", ""))


def plain_text(text: str | bytes | bytearray) -> str | bytes:
    """Return text as the parser takes it."""
    return bytes(text) if isinstance(text, bytearray) else text


@contextmanager
def open_pairing(gold: Any, extracted: Any, id_field: str | None, *, repair: bool) -> Iterator[Pairing]:
    """Open both sides; files are closed on the way out, however that comes.

    Raises:
        ConfigurationError: a side is no corpus, or a file that cannot be read.
    """
    with _Source(gold, "gold") as one, _Source(extracted, "extracted") as other:
        yield Pairing(one, other, id_field, repair=repair)


@final
class _Source:
    """Records of one side: a list, an iterator, or the lines of a file."""

    def __init__(self, records: Any, side: str) -> None:
        self.side = side
        self.is_held = isinstance(records, Sequence)
        self._records = records
        self._file: Any = None
        self._second: Any = None
        self._path: Path | None = None
        if isinstance(records, (str, os.PathLike)):
            self._path = Path(records)
            self.is_held = False
        elif isinstance(records, (bytes, bytearray, Mapping)) or not isinstance(records, Iterable):
            message = (
                f"{side} is a {type(records).__name__}; it is a list or an iterator of records, "
                "or the path of a JSON Lines file"
            )
            raise ConfigurationError(message)

    def __enter__(self) -> _Source:
        if self._path is not None:
            self._file = self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in (self._file, self._second):
            if file is not None:
                file.close()

    def _open(self) -> Any:
        assert self._path is not None  # noqa: S101 - for the type checker: the callers have looked
        try:
            return self._path.open("rb")
        except (OSError, ValueError) as error:
            why = (getattr(error, "strerror", None) or str(error)).lower()
            message = f"{self.side} {str(self._path)!r} can't be read: {why}"
            raise ConfigurationError(message) from None

    def __iter__(self) -> Iterator[tuple[str | None, Any, int | None]]:
        """Yield (file and line, record, offset in the file if it can be read from there again)."""
        if self._path is None:
            return zip(repeat(None), self._records, repeat(None))
        return self._lines()

    def _lines(self) -> Iterator[tuple[str | None, Any, int | None]]:
        offset = 0
        again = self._file.seekable()
        for number, line in enumerate(self._file, 1):
            if not line.isspace():
                yield f"{self._path}:{number}", line.rstrip(b"\r\n"), offset if again else None
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
    """An extracted record, as far as it is known whose it is."""

    record: Any
    warnings: tuple[str, ...] = ()


@final
class Pairing:
    """Gold records and their answers; once iterated over, the ids of those that found no other."""

    def __init__(self, gold: _Source, extracted: _Source, id_field: str | None, *, repair: bool) -> None:
        self.unmatched_gold: list[_Id] = []
        self.unmatched_extracted: list[_Id] = []
        self.unreadable: list[tuple[str, str]] = []
        """Answers of which nobody can tell whose they are: where each stands, and why."""
        self._gold = gold
        self._extracted = extracted
        self._id_field = id_field
        self._repair = repair

    def __iter__(self) -> Iterator[Pair]:
        return self._by_position() if self._id_field is None else self._by_id(self._id_field)

    def _by_position(self) -> Iterator[Pair]:
        answers = iter(self._extracted)
        nothing = (None, MISSING, None)
        for index, (where, record, _) in enumerate(self._gold):
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
        # Of those that wait, the ids read since the last two met: where both sides have the same order, all
        # before these are alone.
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
        seen: set[_Id] | None = set() if self._gold.is_held else None
        for index, (where, record, offset) in enumerate(self._gold):
            gold = _Gold(index, where, _parsed_gold(record, where, index), offset)
            record_id = _id_of(gold.record, name)
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
        for index, (where, record, offset) in enumerate(self._extracted):
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
            yield found, answer, offset

    def _note_unreadable(self, where: str, why: str) -> None:
        self.unmatched_extracted.append(where)
        self.unreadable.append((where, why))

    def _to_wait(self, gold: _Gold, others: int) -> _Gold:
        return gold if gold.offset is None or others < _HELD else gold._replace(record=MISSING)

    def _pair(self, record_id: _Id, gold: _Gold, answer: _Answer | int) -> Pair:
        if type(answer) is int:
            answer = self._read(self._extracted.line_at(answer))
        record = gold.record
        if record is MISSING and gold.offset is not None:
            record = _parsed_gold(self._gold.line_at(gold.offset), gold.where, gold.position)
        assert type(answer) is _Answer  # noqa: S101 - for the type checker: no offset any more
        return Pair(gold.position, record_id, record, answer.record, gold.where, answer.warnings)

    def _read(self, record: Any) -> _Answer:
        if not isinstance(record, (str, bytes, bytearray)):
            return _Answer(record)
        from pytest_jsonmatch.reading.extract import extract_json

        found = extract_json(plain_text(record), want="object", repair=self._repair)
        return _Answer(found.value, tuple(found.warnings))


def _met(record_id: _Id, own: OrderedDict[_Id, None], other: OrderedDict[_Id, None]) -> None:
    """Note that a record that waited on its `own` side has met the one just read on the `other`."""
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
        if not isinstance(record, (str, bytes, bytearray)):
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
