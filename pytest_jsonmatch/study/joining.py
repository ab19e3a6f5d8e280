"""Bring together what several annotators say of the same documents."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pytest_jsonmatch.corpus.records import Source, read_gold
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from os import PathLike

    from pytest_jsonmatch.engine.value.convert import JsonValue

    Side: TypeAlias = Iterable[object] | Mapping[str, object] | str | PathLike[str]

_HELD = 100
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
