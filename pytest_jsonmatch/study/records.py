"""Records of several golds: one after the other, those of one document together, and again when asked for."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from sqlite3 import connect
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.corpus.records import Place, Source, read_gold
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.errors import ConfigurationError

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


@final
class Gold:
    """One gold, of which no record is held: after it has been read once, it knows where each stands.

    Args:
        name: what it is called.
        side: a list of records or of JSON texts, the path of a JSON Lines file, or a mapping of ids to
            records; anything else that can be iterated is held as a list.
        id_field: the member that is a record's id, and is left out of it; None: its place, or its key.
        files: closes the file in the end.

    Raises:
        ConfigurationError: it can't be read, or is no corpus.
    """

    def __init__(self, name: str, side: Side, id_field: str | None, files: ExitStack) -> None:
        self.name = name
        self._id_field = id_field
        given: Any = side
        self._places: Sequence[Any] = ()
        source = None if isinstance(side, Mapping) else Source(side, "gold")
        self._source = source if source is not None and source.path is not None else None
        if self._source is not None:
            files.enter_context(self._source.open())
        if isinstance(side, Mapping):
            self._places = sorted(side)
        elif self._source is None:
            given = side if isinstance(side, Sequence) else list(given)
            self._places = range(len(given))
        self._held = given

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Record]:
        """Yield all records.

        Raises:
            ConfigurationError: a record has no id.
            GoldValidationError: a record is not JSON.
        """
        if self._source is None:
            yield from map(self.__getitem__, range(len(self)))
            return
        self._places = offsets = array("q")
        self._source.move_to(Place())
        for number, (where, line, offset) in enumerate(self._source):
            offsets.append(offset or 0)
            yield self._named(number, read_gold(line, number, where), where or "")

    def __getitem__(self, number: int) -> Record:
        place = self._places[number]
        if self._source is not None:
            return self._named(number, read_gold(self._source.line_at(place), number, None))
        name = place if isinstance(self._held, Mapping) else number
        return self._named(name, read_gold(self._held[place], name, None))

    def _named(self, name: str | int, value: JsonValue, where: str = "") -> Record:
        if self._id_field is None:
            return Record(self.name, name, value)
        found: Any = value.get(self._id_field) if type(value) is dict else None
        if type(found) not in {str, int}:
            place = where or f"{self.name}: record {name!r}"
            raise ConfigurationError(f"{place} has no {self._id_field} that is a string or an integer")
        assert type(value) is dict  # noqa: S101 - for the type checker: it has an id
        return Record(self.name, found, {key: each for key, each in value.items() if key != self._id_field})


@contextmanager
def opened(sides: Mapping[str, Side], id_field: str | None = None) -> Iterator[list[Gold]]:
    """Open several golds, given by name, and close their files at the end."""
    with ExitStack() as files:
        yield [Gold(name, side, id_field, files) for name, side in sides.items()]


def record_at(golds: Sequence[Gold], number: int) -> Record:
    """Return a record by its number, counted through all golds, which have been read once."""
    for gold in golds:
        if number < len(gold):
            return gold[number]
        number -= len(gold)
    raise IndexError(number)


def joined(golds: Sequence[Gold]) -> Iterator[tuple[str | int, list[JsonValue]]]:
    """Yield the documents that any gold has: the id, and the record of each gold, MISSING where it has none.

    Neither records nor their ids are held: these stand in a database on disk.

    Raises:
        ConfigurationError: an id comes twice in a gold; and what `Gold` raises.
    """
    with closing(connect("")) as database:
        database.executescript(
            "PRAGMA journal_mode = OFF; CREATE TABLE records (id TEXT, gold INT, number INT)"
        )
        for at, gold in enumerate(golds):
            rows = ((json.dumps(record.id), at, number) for number, record in enumerate(gold))
            database.executemany("INSERT INTO records VALUES (?, ?, ?)", rows)
        for written, places in database.execute(_DOCUMENTS):
            name = json.loads(written)
            records: list[JsonValue] = [MISSING] * len(golds)
            for at, number in json.loads(places):
                if records[at] is not MISSING:
                    raise ConfigurationError(f"{golds[at].name}: the id {name!r} comes twice")
                records[at] = golds[at][number].value
            yield name, records


_DOCUMENTS: Final = """
    SELECT id, '[' || group_concat('[' || gold || ',' || number || ']') || ']' FROM records
    GROUP BY id ORDER BY min(rowid)
"""
"""Of each id in which golds it stands, and with what number, as JSON."""
