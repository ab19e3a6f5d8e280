"""Records of several golds: one after the other, joined by document, or looked up by number."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, final

from pytest_jsonmatch.corpus.records import Source, read_gold
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.text import render
from pytest_jsonmatch.reading.strict import parse_json

if TYPE_CHECKING:
    from os import PathLike

    from pytest_jsonmatch.engine.value.convert import JsonValue

    Side: TypeAlias = Iterable[object] | Mapping[str, object] | str | PathLike[str]


class Record(NamedTuple):
    """A record of a gold."""

    gold: str
    """The name of its gold."""
    id: str | int
    value: JsonValue


def read_records(sides: Mapping[str, Side], id_field: str | None) -> Iterator[Record]:
    """Yield the records of several golds, one gold after another.

    Args:
        sides: by the name of each gold a list or an iterator of records or of JSON texts, the path of a JSON
            Lines file, or a mapping of ids to records.
        id_field: the member that is a record's id, and is left out of it; None: its position, or its key.

    Raises:
        ConfigurationError: a gold can't be read, or is not a corpus; a record has no id.
        GoldValidationError: a record is not JSON.
    """
    for gold, side in sides.items():
        with Source(side, "gold") as source:
            for number, (where, given, _) in enumerate(source):
                name = source.id_at(number)
                yield _named(Record(gold, name, read_gold(given, name, where)), id_field, where)


def _named(record: Record, id_field: str | None, where: str | None) -> Record:
    """Return a record with its own id."""
    if id_field is None:
        return record
    value = record.value if type(record.value) is dict else {}
    name: Any = value.get(id_field)
    if type(name) not in {str, int}:
        place = where or f"{record.gold}: record {record.id!r}"
        raise ConfigurationError(f"{place} has no {id_field} that is a string or an integer")
    return Record(record.gold, name, {key: each for key, each in value.items() if key != id_field})


@contextmanager
def temporary_database() -> Iterator[sqlite3.Connection]:
    """Open a temporary database on disk, for data that grows with the number of records.

    Raises:
        ConfigurationError: there is no room for it.
    """
    with closing(sqlite3.connect("")) as database:
        database.execute("PRAGMA journal_mode = OFF")
        try:
            yield database
        except sqlite3.OperationalError as error:
            message = f"a temporary file can't be written: {error}; SQLITE_TMPDIR names a folder with room"
            raise ConfigurationError(message) from None


@final
class Kept:
    """Records in a database, by their numbers."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        database.execute("CREATE TABLE records (number INTEGER PRIMARY KEY, gold TEXT, id TEXT, value BLOB)")

    def keep(self, records: Iterable[Record]) -> Iterator[Record]:
        """Keep records as they pass, numbered from 0."""
        for number, record in enumerate(records):
            # As JSON, in which a lone surrogate is an escape.
            text = render(record.value).encode("utf-8", "backslashreplace")
            row = number, json.dumps(record.gold), json.dumps(record.id), text
            self._database.execute("INSERT INTO records VALUES (?, ?, ?, ?)", row)
            yield record

    def __getitem__(self, number: int) -> Record:
        query = "SELECT gold, id, value FROM records WHERE number = ?"
        gold, name, value = self._database.execute(query, (number,)).fetchone()
        return Record(json.loads(gold), json.loads(name), parse_json(value))


def joined(sides: Mapping[str, Side], id_field: str | None) -> Iterator[tuple[str | int, list[JsonValue]]]:
    """Yield the documents that any gold has: the id, and the record of each gold, MISSING where it has none.

    Raises:
        ConfigurationError: an id occurs twice in a gold; and what `read_records` raises.
    """
    with temporary_database() as database:
        kept = Kept(database)
        for _ in kept.keep(read_records(sides, id_field)):
            pass
        query = "SELECT group_concat(number) FROM records GROUP BY id ORDER BY min(number)"
        for (numbers,) in database.execute(query):
            found = [kept[int(number)] for number in numbers.split(",")]
            (gold, times), *_ = Counter(record.gold for record in found).most_common(1)
            if times > 1:
                raise ConfigurationError(f"{gold}: the id {found[0].id!r} occurs twice")
            by_gold = {record.gold: record.value for record in found}
            yield found[0].id, [by_gold.get(name, MISSING) for name in sides]
