"""Read the records of several gold files, one after the other or joined by document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.text import render
from pytest_jsonmatch.records.pairing import read_gold
from pytest_jsonmatch.records.sources import RecordSource

if TYPE_CHECKING:
    from os import PathLike

    from pytest_jsonmatch.engine.value.convert import JsonValue

    Records: TypeAlias = Iterable[object] | Mapping[str, object] | str | PathLike[str]


class Record(NamedTuple):
    """A gold record."""

    gold: str
    """The name of its gold file."""
    id: str | int
    value: JsonValue


def read_records(sides: Mapping[str, Records], id: str | None) -> Iterator[Record]:
    """Yield the gold records of several files, one file after another.

    Args:
        sides: the gold records by name: a list or an iterator of records or of JSON texts, the path of a JSON
            Lines file, or a mapping of ids to records.
        id: the member that is a record's id and is removed from it; None uses its position or key.

    Raises:
        ConfigurationError: a file can't be read, or is not a corpus; a record has no id.
        GoldValidationError: a record is not JSON.
    """
    for gold, side in sides.items():
        with RecordSource(side, "gold") as source:
            for number, (where, given, _) in enumerate(source):
                name = source.get_id(number)
                yield _use_own_id(Record(gold, name, read_gold(given, name, where)), id, where)


def _use_own_id(record: Record, id: str | None, where: str | None) -> Record:
    """Return a record with the id from its member."""
    if id is None:
        return record
    value = record.value if type(record.value) is dict else {}
    name: Any = value.get(id)
    if type(name) not in {str, int}:
        place = where or f"{record.gold}: record {record.id!r}"
        raise ConfigurationError(f"{place} has no {id} that is a string or an integer")
    return Record(record.gold, name, {key: member for key, member in value.items() if key != id})


def split_cluster(record: JsonValue, member: str | None) -> tuple[str, JsonValue]:
    """Return the cluster that a record names, or "", and the record without that member.

    >>> split_cluster({"doc": 7, "total": 1}, "doc"), split_cluster({"total": 1}, "doc")
    (('7', {'total': 1}), ('', {'total': 1}))
    """
    if member is None or type(record) is not dict or record.get(member) is None:
        return "", record
    name = record[member]
    rest = {key: value for key, value in record.items() if key != member}
    return name if type(name) is str else render(name), rest


def join_records(sides: Mapping[str, Records], id: str | None) -> Iterator[tuple[str | int, list[JsonValue]]]:
    """Yield the id of each document with its record in each file, MISSING if a file has none.

    Raises:
        ConfigurationError: an id occurs twice in a file; or as for `read_records`.
    """
    documents: dict[str | int, dict[str, JsonValue]] = {}
    for record in read_records(sides, id):
        by_gold = documents.setdefault(record.id, {})
        if record.gold in by_gold:
            raise ConfigurationError(f"{record.gold}: the id {record.id!r} occurs twice")
        by_gold[record.gold] = record.value
    for name, by_gold in documents.items():
        yield name, [by_gold.get(gold, MISSING) for gold in sides]
