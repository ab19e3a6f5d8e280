"""Records of several golds: those of one document together, or one after the other, to be read again."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.corpus.records import Source, read_gold
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike

    from pytest_jsonmatch.engine.value.convert import JsonValue

    Side: TypeAlias = Iterable[object] | Mapping[str, object] | str | PathLike[str]

_HELD: Final = 100
"""Up to this many documents of a file wait whole; of more only the place in the file is kept."""


class Document(NamedTuple):
    """What all annotators say of one document."""

    id: str | int
    records: list[JsonValue]
    """In the order of the annotators; MISSING of one who has not described it."""


def joined_documents(sides: Sequence[Side], id_field: str | None = None) -> Iterator[Document]:
    """Yield the documents that any side has.

    Args:
        sides: each a list or an iterator of records or of JSON text, the path of a JSON Lines file, or a
            mapping of ids to records (by id: all sides are mappings).
        id_field: the member by which records find each other, and which is left out of them; None: by
            position.

    Raises:
        ConfigurationError: a side is no corpus, can't be read, or only some are mappings; an id comes twice.
        GoldValidationError: a record is not JSON, or has no id.
    """
    mappings = [side for side in sides if isinstance(side, Mapping)]
    if mappings:
        if len(mappings) < len(sides) or id_field is not None:
            raise ConfigurationError("files in folders, and mappings, find each other by name: give no other")
        for name in sorted({name for side in mappings for name in side}):
            yield Document(name, [_read(side.get(name, MISSING), name) for side in mappings])
        return
    sources = [Source(side, "a side") for side in sides]
    opened = [source.open() for source in sources if source.path is not None]
    try:
        yield from _by_position(sources) if id_field is None else _by_id(sources, id_field)
    finally:
        for file in opened:
            file.close()


def _read(record: Any, name: str | int, where: str | None = None) -> JsonValue:
    return MISSING if record is MISSING else read_gold(record, name, where)


def _by_position(sources: Sequence[Source]) -> Iterator[Document]:
    for index, row in enumerate(zip_longest(*sources, fillvalue=(None, MISSING, None))):
        yield Document(index, [_read(record, index, where) for where, record, _ in row])


def _by_id(sources: Sequence[Source], name: str) -> Iterator[Document]:
    waiting: dict[str | int, dict[int, tuple[Any, int | None]]] = {}
    coming = dict(enumerate(map(iter, sources)))

    def whole(record_id: str | int) -> Document:
        found = waiting.pop(record_id)
        records: list[JsonValue] = []
        for side, source in enumerate(sources):
            record, offset = found.get(side, (MISSING, None))
            if record is MISSING and offset is not None:
                record = read_gold(source.line_at(offset), record_id, None)
            if type(record) is dict:
                record = {key: value for key, value in record.items() if key != name}
            records.append(record)
        return Document(record_id, records)

    while coming:
        for side in list(coming):
            taken = next(coming[side], None)
            if taken is None:
                del coming[side]
                continue
            where, content, offset = taken
            record = read_gold(content, "?", where)
            record_id = record.get(name) if type(record) is dict else None
            if type(record_id) not in {str, int}:
                raise ConfigurationError(f"{where or f'side {side + 1}'}: a record has no {name} of its own")
            slots = waiting.setdefault(record_id, {})
            if side in slots:
                raise ConfigurationError(
                    f"{where or f'side {side + 1}'}: the {name} {record_id!r} comes twice"
                )
            keeps = offset is None or len(waiting) <= _HELD
            slots[side] = (record if keeps else MISSING, offset)
            if len(slots) == len(sources):
                yield whole(record_id)
    yield from map(whole, list(waiting))


@final
class Records:
    """The records of several golds one after the other. They are read again when they are asked for.

    Args:
        golds: by name, each a list of records or JSON texts, the path of a JSON Lines file, or a mapping of
            ids to records.
        id_field: the member that is a record's id, and is left out of it; None: its place is.
    """

    def __init__(self, golds: Mapping[str, Side], id_field: str | None = None) -> None:
        self._id_field = id_field
        self._golds = [(name, _Gold(side)) for name, side in golds.items()]

    def __iter__(self) -> Iterator[JsonValue]:
        for _, gold in self._golds:
            for record in gold:
                yield self._named(record, 0)[1]

    def at(self, number: int) -> tuple[str, str | int, JsonValue]:
        """Return the name of a record's gold, its id, and the record."""
        for split, gold in self._golds:
            if number < len(gold.places):
                name, record = gold.at(number)
                return split, *self._named(record, name)
            number -= len(gold.places)
        raise IndexError(number)

    def _named(self, record: JsonValue, name: str | int) -> tuple[str | int, JsonValue]:
        if self._id_field is None or type(record) is not dict:
            return name, record
        found: Any = record.pop(self._id_field, name)
        return found if type(found) in {str, int} else str(found), record


@final
class _Gold:
    """One gold: after it has been read once, where each record stands."""

    def __init__(self, side: Side) -> None:
        self._source: Source | None = None
        self._held: Any = side
        self.places: Sequence[Any] = ()
        if isinstance(side, Mapping):
            self.places = list(side)
        else:
            self._source = Source(side, "gold")
            if self._source.path is None:
                self._held = side if isinstance(side, Sequence) else list(self._held)
                self._source, self.places = None, range(len(self._held))

    def __iter__(self) -> Iterator[JsonValue]:
        if self._source is None:
            for number in range(len(self.places)):
                yield self.at(number)[1]
            return
        self._source.open()
        self.places = offsets = array("q")
        for number, (where, line, offset) in enumerate(self._source):
            offsets.append(offset or 0)
            yield read_gold(line, number, where)

    def at(self, number: int) -> tuple[str | int, JsonValue]:
        """Return a record, and what it is called without an id of its own."""
        place = self.places[number]
        if self._source is None:
            name = place if isinstance(self._held, Mapping) else number
            return name, read_gold(self._held[place], name, None)
        return number, read_gold(self._source.line_at(place), number, None)
