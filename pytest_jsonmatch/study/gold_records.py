"""Read the records of several gold files, one after the other or joined by document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.records.columns import (
    ColumnError,
    describe_missing_id,
    find_cluster,
    find_column,
    remove_column,
)
from pytest_jsonmatch.records.pairing import make_gold_error, read_gold
from pytest_jsonmatch.records.sources import RecordSource
from pytest_jsonmatch.support.frozen import replace

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.records.pairing import Reading

    Records: TypeAlias = (
        Iterable[object] | Mapping[str, object] | Callable[[], Iterable[object]] | str | PathLike[str]
    )


class Record(NamedTuple):
    """A gold record, with what is expected."""

    gold: str
    """The name of its gold file."""
    id: str | int
    value: JsonValue
    cluster: str = ""


def read_records(
    sides: Mapping[str, Records],
    reading: Reading,
    cluster: str | None = None,
    schema: SchemaNode | None = None,
) -> Iterator[Record]:
    """Yield the gold records of several files, one file after another.

    Args:
        sides: the gold records by name, as for `compare_corpus`.
        reading: the columns of the id and of what is expected. Without an id, records have their position or
            key. The columns of the id and the cluster are removed, unless the schema lists them.
        cluster: the column that names a record's cluster.
        schema: the schema that gives the cells of CSV files their types.

    Raises:
        ConfigurationError: a file can't be read, or is not a corpus; a record has no id.
        GoldValidationError: a record is not JSON, or lacks a column.
    """
    unscored = tuple(reading.unscored(schema, cluster).values()) if reading.expected is None else ()
    with ExitStack() as files:
        sources = {
            gold: files.enter_context(RecordSource(side, "gold", delimiter=reading.delimiter))
            for gold, side in sides.items()
        }
        has_cells = any(source.form == "csv" for source in sources.values())
        for gold, source in sources.items():
            tables = frozenset({"expected"} if source.form == "csv" else ())
            own = replace(reading, tables=tables)
            for number, (where, given, _) in enumerate(source):
                name = source.get_id(number)
                record = read_gold(given, name, where)
                if reading.id is not None:
                    name = _find_id(record, reading.id, where or f"{gold}: record {name!r}")
                    name = str(name) if has_cells else name  # the cells of a CSV file are text
                named = find_cluster(record, cluster)
                try:
                    value = own.select_expected(record, schema)
                except ColumnError as error:
                    raise make_gold_error(name, where, error) from None
                for column in unscored:
                    remove_column(value, column)
                yield Record(gold, name, value, named)


def _find_id(record: JsonValue, column: str, place: str) -> str | int:
    found: Any = find_column(record, column) if type(record) is dict else MISSING
    if type(found) is str or type(found) is int:
        return found
    raise ConfigurationError(f"{place} {describe_missing_id(record, column)}")


class AnnotatedDocument(NamedTuple):
    """A document with its gold record in each of several files."""

    id: str | int
    values: list[JsonValue]
    """The value in each file; MISSING if a file has none."""
    cluster: str


def join_records(
    sides: Mapping[str, Records],
    reading: Reading,
    cluster: str | None = None,
    schema: SchemaNode | None = None,
) -> Iterator[AnnotatedDocument]:
    """Yield each document with its record in each file.

    Raises:
        ConfigurationError: an id occurs twice in a file; or as for `read_records`.
    """
    documents: dict[str | int, dict[str, Record]] = {}
    for record in read_records(sides, reading, cluster, schema):
        by_gold = documents.setdefault(record.id, {})
        if record.gold in by_gold:
            raise ConfigurationError(f"{record.gold}: the id {record.id!r} occurs twice")
        by_gold[record.gold] = record
    for name, by_gold in documents.items():
        values = [by_gold[gold].value if gold in by_gold else MISSING for gold in sides]
        yield AnnotatedDocument(
            name, values, next(filter(None, (record.cluster for record in by_gold.values())), "")
        )
