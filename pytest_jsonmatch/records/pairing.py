"""Pair gold records with their answers, by position or by id.

By id, both sides are read in parallel, so that two sides in the same order need little memory. A record waits
until its counterpart is read, or until the end. Of the waiting records of a file, only the first hundred are
kept in memory; the others are kept as offsets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice, zip_longest
from operator import attrgetter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final
from unicodedata import normalize

from pytest_jsonmatch.comparing.comparer import TEXT, read_expected_text
from pytest_jsonmatch.engine.value.convert import MISSING, to_json_value
from pytest_jsonmatch.engine.value.errors import (
    ConfigurationError,
    GoldValidationError,
    JsonMatchError,
    JsonParseError,
    name_argument,
)
from pytest_jsonmatch.engine.value.text import count, render
from pytest_jsonmatch.reading.extract import extract_json
from pytest_jsonmatch.reading.strict import parse_json
from pytest_jsonmatch.records.columns import (
    ColumnError,
    ColumnSelection,
    check_selection,
    convert_cells,
    describe_missing_id,
    find_column,
    is_listed,
    select,
    split_column,
)
from pytest_jsonmatch.records.csvrows import CsvRow
from pytest_jsonmatch.records.sources import RecordSource, as_gold_text
from pytest_jsonmatch.results.answer import Answer, Spent
from pytest_jsonmatch.results.idkeys import IdKeys, make_key
from pytest_jsonmatch.support.frozen import replace

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
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
    spent: Spent | None = None
    """The cost and latency of the answer, if it was given as an `Answer`."""


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
        if type(record) is CsvRow:
            return record.read()
        return to_json_value(record, side="expected")
    except JsonMatchError as error:
        raise make_gold_error(record_id, where, error) from None


def iter_records(records: Any, *, delimiter: str | None = None) -> Iterator[JsonValue]:
    """Yield the gold records of one side as JSON values; a .json file may have a single one.

    Raises:
        ConfigurationError: the side is not a corpus, or its file cannot be read.
        GoldValidationError: a record is not JSON, or has no JSON form.
    """
    with RecordSource(records, "expected", delimiter=delimiter, is_single_allowed=True) as source:
        for number, (where, record, _) in enumerate(source):
            yield read_gold(record, source.get_id(number), where)


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
    """The column by which records and answers are paired; None pairs by position, and files by name."""
    repair: bool = False
    """Whether broken JSON in answers is repaired."""
    expected: ColumnSelection | None = None
    """What is expected of a gold record; None for the whole record."""
    actual: ColumnSelection | None = None
    """What is the answer of a record of answers; None for the whole record."""
    delimiter: str | None = None
    """The delimiter of CSV files; None for that of their suffix."""
    tables: frozenset[str] = frozenset()
    """The sides that are CSV files, whose cells get the types of the schema."""

    @property
    def is_plain(self) -> bool:
        """Whether whole records are compared as they are."""
        return self.expected is None and self.actual is None and not self.tables

    def unscored(self, schema: SchemaNode | None, cluster: str | None = None) -> dict[str, str]:
        """Return the columns that are not scored because the schema does not list them, by argument name."""
        if self.expected is not None and self.actual is not None:
            return {}
        named = {"cluster": cluster, "id": self.id}
        return {
            what: name for what, name in named.items() if name and not is_listed(schema, split_column(name))
        }

    def select_expected(self, record: JsonValue, schema: SchemaNode | None) -> JsonValue:
        """Return what is expected of a gold record; raise ColumnError if it lacks a column."""
        return _select(record, self.expected, schema if "expected" in self.tables else None)

    def select_actual(self, record: JsonValue, schema: SchemaNode | None) -> JsonValue:
        """Return the answer of a record: a str is the output of a model; raise ColumnError if it has none."""
        is_typed = "actual" in self.tables and not isinstance(self.actual, str)
        return _select(record, self.actual, schema if is_typed else None)

    def __post_init__(self) -> None:
        """Check the arguments of the caller."""
        if self.id is not None and (type(self.id) is not str or not self.id):
            raise ConfigurationError(
                f"{name_argument('id')} must name a column of both sides, got {self.id!r}"
            )
        for what, given in (("expected", self.expected), ("actual", self.actual)):
            if given is not None:
                check_selection(name_argument(what), given)
        if self.delimiter is not None and (type(self.delimiter) is not str or len(self.delimiter) != 1):
            raise ConfigurationError(
                f"{name_argument('delimiter')} must be one character, got {self.delimiter!r}"
            )


def _select(record: JsonValue, selection: ColumnSelection | None, schema: SchemaNode | None) -> JsonValue:
    if type(record) is dict:
        if selection is not None:
            return select(record, selection, schema)
        return record if schema is None else convert_cells(record, schema)
    if selection is not None:
        raise ColumnError(f"is {render(record, 40)}, not an object with columns")
    return record


@contextmanager
def open_pairing(actual: Any, expected: Any, reading: Reading) -> Iterator[RecordPairing]:
    """Open both sides, and close their files at the end.

    Raises:
        ConfigurationError: a side is not a corpus, or its file cannot be read.
    """
    with (
        RecordSource(actual, "actual", delimiter=reading.delimiter, repair=reading.repair) as answers,
        RecordSource(expected, "expected", delimiter=reading.delimiter) as gold_records,
    ):
        sides = {"actual": answers, "expected": gold_records}
        tables = frozenset(side for side, source in sides.items() if source.form == "csv")
        yield RecordPairing(answers, gold_records, replace(reading, tables=tables) if tables else reading)


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
    spent: Spent | None = None

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
        _check_forms(actual, expected, reading)
        self.unmatched_expected: list[_Id] = []
        self.unmatched_actual: list[_Id] = []
        self.unreadable: list[Unreadable] = []
        self.gold_keys = IdKeys()
        """The keys of the ids of gold records that are not in memory, which may repeat one another."""
        self._held_ids: set[_Id] = set()
        self.reading = reading
        self._reads = actual.is_in_file and expected.is_in_file
        # A string of a file is a value, not text, if the gold record is a number, a boolean or null.
        self._has_values = actual.form == expected.form == "array" and reading.actual is None

    def __iter__(self) -> Iterator[Pair]:
        if self.actual.form == self.expected.form == "files":
            return self._pair_by_name()
        name = self.reading.id
        return self._pair_by_position() if name is None else self._pair_by_id(name)

    def pair_in_step(self) -> Iterator[Pair]:
        """Yield the pairs of records at equal positions, up to the first whose ids differ."""
        name = self.reading.id
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
        nothing: tuple[Any, Any, Any] = (None, MISSING, None)
        for index, (where, record, _) in enumerate(self.expected, self.expected.start.records):
            answer, record_id = next(answers, nothing)[1], self.expected.get_id(index)
            if answer is MISSING:
                self.unmatched_expected.append(record_id)
            spent: Spent | None = None
            if isinstance(answer, Answer):
                spent, answer = answer.spent, answer.value
            if self._has_values and type(record) not in {dict, list, str}:
                answer = as_gold_text(answer)
            is_text = isinstance(answer, TEXT)
            yield Pair(index, record_id, answer, record, where, is_text=is_text, spent=spent)
        if next(answers, None) is not None:
            message = (
                "there are more answers than gold records; without "
                f"{name_argument('id')} they are paired by position"
            )
            raise ConfigurationError(message)

    def _pair_by_name(self) -> Iterator[Pair]:
        """Yield the records of files with their answers: of the same name, or the same but for the suffix."""
        others = {_stem(name): name for name in reversed(self.actual.paths)}
        answered: set[str] = set()
        for index, name in enumerate(self.expected.paths):
            found = name if name in self.actual.paths else others.get(_stem(name))
            answer = MISSING
            if found is None:
                self.unmatched_expected.append(name)
            else:
                answered.add(found)
                answer = self.actual.read_named(found)
            yield Pair(index, name, answer, self.expected.read_named(name), is_text=isinstance(answer, TEXT))
        if not answered and self.expected.paths:
            raise ConfigurationError(
                f"no file in {self.actual.name} has the name of a file in {self.expected.name}"
            )
        self.unmatched_actual += sorted(self.actual.paths.keys() - answered)

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
        self._refuse_repeated_ids(name)
        self.unmatched_expected.extend(gold_records)
        self.unmatched_actual.extend(answers)
        for gold in gold_records.values():
            yield self._make_pair(gold, _NamedRecord(gold.record_id, 0, None, MISSING, None))

    def _iter_gold_records(self, name: str) -> Iterator[_NamedRecord]:
        seen = self._held_ids if self.expected.is_held else None
        for index, (where, record, offset) in enumerate(self.expected, self.expected.start.records):
            record_id, value, _ = self._read_gold_record(record, where, index)
            if record_id is None:
                location = f"at {where}" if where else f"record {index + 1}"
                reason = describe_missing_id(value, name)
                raise GoldValidationError(f"gold {location} {reason}", index, name)
            gold = _NamedRecord(record_id, index, where, value, offset)
            if seen is not None:
                if record_id in seen:
                    raise _duplicate_error(gold, name)
                seen.add(record_id)
            else:
                self.gold_keys.add(record_id)
            yield gold

    def collect_keys(self) -> IdKeys:
        """Return the keys of all gold records, once they are read; none if records are only numbered."""
        names = self._held_ids if self.reading.id is not None else self.expected.names or ()
        for name in names:
            self.gold_keys.add(name)
        return self.gold_keys

    def _refuse_repeated_ids(self, name: str) -> None:
        """Raise GoldValidationError if two gold records that were read have the same id."""
        repeated = self.gold_keys.find_repeated()
        if not repeated:
            return
        if not self.expected.is_file:
            first, second, *_ = self.gold_keys.positions(min(repeated))
            message = f"gold record {second + 1} has the same {name} as record {first + 1}"
            raise GoldValidationError(message, second + 1, name)
        seen: set[_Id] = set()
        with RecordSource(self.expected.path, "expected", delimiter=self.reading.delimiter) as source:
            for index, (where, record, _) in enumerate(source):
                record_id = self._read_gold_record(record, where, index)[0]
                if record_id is None or make_key(record_id) not in repeated:
                    continue
                if record_id in seen:
                    raise _duplicate_error(_NamedRecord(record_id, index, where, record, None), name)
                seen.add(record_id)

    def _iter_answers(self, name: str) -> Iterator[_NamedRecord]:
        for index, (where, record, offset) in enumerate(self.actual, self.actual.start.records):
            spent: Spent | None = None
            if isinstance(record, Answer):
                spent, record = record.spent, record.value  # noqa: PLW2901 - the answer without its cost
            is_text = isinstance(record, TEXT)
            parsed = True if is_text else None
            try:
                record_id, value, warnings = self._read_answer(record)
            except JsonMatchError as error:
                record_id, value, warnings, reason = None, None, (), str(error)
                parsed = False if is_text else None
            else:
                reason = "" if record_id is not None else f"the answer {describe_missing_id(value, name)}"
            if record_id is None:
                location = where or f"actual[{index}]"
                self.unmatched_actual.append(location)
                self.unreadable.append(Unreadable(location, reason, parsed))
            else:
                yield _NamedRecord(record_id, index, where, value, offset, warnings, is_text, spent)

    def _make_pair(self, gold: _NamedRecord, answer: _NamedRecord) -> Pair:
        expected, actual, warnings = gold.value, answer.value, answer.warnings
        if expected is MISSING and gold.offset is not None:
            _, expected, _ = self._read_gold_record(
                self.expected.read_again(gold.offset), gold.where, gold.position
            )
        if actual is MISSING and answer.offset is not None:
            _, actual, warnings = self._read_answer(self.actual.read_again(answer.offset))
        is_read = self._reads and actual is not MISSING
        key = gold.position, gold.record_id
        return Pair(*key, actual, expected, gold.where, warnings, is_read, answer.is_text, answer.spent)

    def _read_gold_record(self, record: Any, where: str | None, index: int) -> _Content:
        return self._make_content(record if type(record) is dict else read_gold(record, index + 1, where))

    def _read_answer(self, record: Any) -> _Content:
        if type(record) is CsvRow:
            return self._make_content(record.read())
        if not isinstance(record, TEXT):
            return self._make_content(record)
        found = extract_json(record, want="object", repair=self.reading.repair)
        return self._make_content(found.value, found.warnings)

    def _make_content(self, parsed: Any, warnings: tuple[str, ...] = ()) -> _Content:
        """Return a parsed record with its id."""
        name = self.reading.id
        plain = parsed
        if type(parsed) is not dict:
            try:
                plain = to_json_value(parsed)
            except JsonMatchError:
                plain = None
        record_id = None
        if type(plain) is dict and name is not None:
            record_id = plain.get(name)
            if record_id is None:
                record_id = find_column(plain, name)
            if self.reading.tables and type(record_id) is int:
                record_id = str(record_id)  # the cells of a CSV file are text
        if type(record_id) is not str and type(record_id) is not int:
            record_id = None
        return record_id, parsed, warnings


def _duplicate_error(gold: _NamedRecord, name: str) -> GoldValidationError:
    location = f"at {gold.where}" if gold.where else f"record {gold.position + 1}"
    message = f"gold {location} has the same {name} as an earlier record: {gold.record_id!r}"
    return GoldValidationError(message, gold.record_id, name)


def find_similar_ids(expected: Sequence[_Id], actual: Sequence[_Id]) -> str | None:
    """Return a message about unpaired ids that differ only in type or Unicode form; None without any.

    >>> find_similar_ids([7, 8], ["x", "7"])
    "1 id differs only in type or Unicode form, such as 7 and '7': write ids alike on both sides"
    """
    if not expected or not actual:
        return None
    by_form = {normalize("NFC", str(name)): name for name in actual}
    pairs = [(name, by_form.get(normalize("NFC", str(name)))) for name in expected]
    similar = [(one, other) for one, other in pairs if other is not None]
    if not similar:
        return None
    differ = "differs" if len(similar) == 1 else "differ"
    # Two Unicode forms of a text look alike.
    one, other = map(ascii if type(similar[0][0]) is type(similar[0][1]) else repr, similar[0])
    return (
        f"{count(len(similar), 'id')} {differ} only in type or Unicode form, such as {one} and {other}: "
        "write ids alike on both sides"
    )


def _stem(name: str) -> str:
    """Return the name of a file without its suffix."""
    return str(PurePosixPath(name).with_suffix(""))


def _check_forms(actual: RecordSource, expected: RecordSource, reading: Reading) -> None:
    """Raise ConfigurationError if only one side is a folder or a glob, or files are paired by a column."""
    are_files = [source.form == "files" for source in (actual, expected)]
    if any(are_files) and reading.id is not None:
        raise ConfigurationError(
            f"files in folders are paired by their names; {name_argument('id')} is for records in one file"
        )
    if are_files == [True, False] or (are_files == [False, True] and actual.name):
        one, other = (actual, expected) if are_files[0] else (expected, actual)
        which = other.name or "the other side"
        raise ConfigurationError(f"{one.name} is a folder and {which} is not; give two folders or two files")
