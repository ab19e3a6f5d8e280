"""Columns of records: by name, by a path such as `gold.calls`, or as a mapping of fields to columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias, cast, final

from pytest_jsonmatch.engine.value.convert import MISSING, fits_types, get_value, to_json_value
from pytest_jsonmatch.engine.value.errors import (
    ConfigurationError,
    JsonMatchError,
    JsonParseError,
    did_you_mean,
)
from pytest_jsonmatch.engine.value.paths import Segment, parse_path
from pytest_jsonmatch.engine.value.text import render
from pytest_jsonmatch.reading.strict import parse_json

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

ColumnSelection: TypeAlias = "str | Mapping[str, Any]"
"""A column, a path to a value in one, or a mapping of fields to such selections."""


@final
class ColumnError(JsonMatchError):
    """A record lacks a column, or its cell has another type than the schema requires.

    The message has no subject: "has no 'gold'", to follow "the row" or "the answer".
    """


def check_selection(what: str, given: object) -> None:
    """Raise ConfigurationError for a selection that is not valid; `what` names it in the message.

    >>> check_selection("expected", {"total": "gold.total"})
    """
    if isinstance(given, str) and given:
        return
    if isinstance(given, Mapping) and given and all(isinstance(name, str) for name in given):
        for name, inner in given.items():
            check_selection(f"{what}[{name!r}]", inner)
        return
    raise ConfigurationError(f"{what} must name a column, or map fields to columns, got {given!r}")


@lru_cache(maxsize=1024)
def split_column(column: str) -> tuple[Segment, ...]:
    """Return the steps of a column: those of a path, or its name if that is not a path.

    >>> split_column("gold.calls"), split_column("unit price")
    (('gold', 'calls'), ('unit price',))
    """
    try:
        return parse_path(column)
    except ConfigurationError:
        return (column,)


def find_column(record: Mapping[str, Any], column: str) -> Any:
    """Return the value of a column: the member with its name, or else the value at its path; or MISSING.

    >>> find_column({"gold": {"n": 1}, "a.b": 2}, "gold.n"), find_column({"a.b": 2}, "a.b")
    (1, 2)
    """
    if column in record:
        return record[column]
    first, *steps = split_column(column) or (column,)
    return get_value(record[first], steps) if steps and first in record else MISSING  # type: ignore[index]


def remove_column(record: JsonValue, column: str) -> None:
    """Remove a column from a record, if it has one.

    >>> record = {"meta": {"id": 7, "page": 1}}
    >>> remove_column(record, "meta.id"), record
    (None, {'meta': {'page': 1}})
    """
    if type(record) is not dict:
        return
    if column in record:
        del record[column]
        return
    *steps, last = split_column(column)
    inner = get_value(record, steps) if steps else record
    if type(inner) is dict:
        inner.pop(last, None)


def find_cluster(record: JsonValue, column: str | None) -> str:
    """Return the name of the cluster of a record; empty if it is in none.

    >>> find_cluster({"doc": 7}, "doc"), find_cluster({"total": 1}, "doc"), find_cluster({"doc": 7}, None)
    ('7', '', '')
    """
    if column is None or type(record) is not dict:
        return ""
    found = find_column(record, column)
    return found if type(found) is str else "" if found is None or found is MISSING else render(found)


def is_listed(schema: SchemaNode | None, steps: Sequence[Segment]) -> bool:
    """Return whether a schema, or one of its alternatives, lists the member at a path."""
    if schema is None or not steps:
        return schema is not None
    inner = (schema.properties or {}).get(cast("str", steps[0]))
    if inner is not None and (len(steps) == 1 or is_listed(inner, steps[1:])):
        return True
    return any(is_listed(branch, steps) for _, branch in schema.branches)


def get_column(record: Mapping[str, Any], column: str) -> Any:
    """Return the value of a column; raise ColumnError if the record has none."""
    value = find_column(record, column)
    if value is MISSING:
        from pytest_jsonmatch.records.csvrows import delimiter_hint

        names = list(iter_members(record)) if len(split_column(column)) > 1 else list(record)
        raise ColumnError(f"has no {column!r}{delimiter_hint(tuple(names)) or did_you_mean(column, names)}")
    return value


def describe_missing_id(record: Any, column: str) -> str:
    """Return why a record has no valid id in a column, to follow "the answer".

    >>> describe_missing_id({"no": 7}, "nr"), describe_missing_id({"no": 1.5}, "no")
    ("has no 'nr'; known: no", "must have a string or an integer as 'no', got 1.5")
    """
    plain = record
    if type(record) is not dict:
        with suppress(JsonMatchError):
            plain = to_json_value(record)
    if type(plain) is not dict:
        return f"must be an object with the id {column!r}, got {render(plain, 40)}"
    try:
        value = get_column(plain, column)
    except ColumnError as error:
        return str(error)
    return f"must have a string or an integer as {column!r}, got {render(value, 40)}"


def iter_members(record: Any, prefix: str = "") -> Iterator[str]:
    """Yield the paths of the members of a record and of its objects, but not of objects in arrays.

    >>> list(iter_members({"gold": {"n": 1}}))
    ['gold', 'gold.n']
    """
    for name, value in record.items() if isinstance(record, Mapping) else ():
        yield f"{prefix}{name}"
        yield from iter_members(value, f"{prefix}{name}.")


def iter_columns(selection: Any) -> Iterator[str]:
    """Yield the columns of a selection."""
    if isinstance(selection, Mapping):
        for inner in selection.values():
            yield from iter_columns(inner)
    elif selection is not None:
        yield selection


def select(record: Mapping[str, Any], selection: ColumnSelection, node: SchemaNode | None = None) -> Any:
    """Return the value of a column, or an object of such values for a mapping.

    Args:
        record: the record.
        selection: a column, or a mapping of fields to selections.
        node: the schema that gives cells of a CSV file their types; None leaves values as they are.

    Raises:
        ColumnError: the record lacks a column, or a cell does not have the type.

    >>> select({"a": 1, "b": {"c": 2}}, {"total": "a", "vendor": {"no": "b.c"}})
    {'total': 1, 'vendor': {'no': 2}}
    """
    if isinstance(selection, Mapping):
        nodes = (node and node.properties) or {}
        return {name: select(record, inner, nodes.get(name)) for name, inner in selection.items()}
    value = get_column(record, selection)
    is_cell = node is not None and node.types and type(value) is str
    return _convert_cell(value, selection, node.types) if is_cell and node is not None else value


def convert_cells(record: Mapping[str, Any], node: SchemaNode | None) -> dict[str, JsonValue]:
    """Return a row of a CSV file with the types of a schema."""
    return select(record, {name: name for name in record}, node)  # type: ignore[no-any-return]


def _convert_cell(cell: str, column: str, types: frozenset[str]) -> JsonValue:
    """Return a cell as a value of one of the JSON Schema types."""
    if cell == "" and ("null" in types or "string" not in types):
        return None
    if "string" in types:
        return cell
    try:
        # Spreadsheets write TRUE and FALSE.
        value = parse_json(cell.lower() if "boolean" in types else cell)
    except JsonParseError:
        value = cell
    if not fits_types(value, types):
        expected = " or ".join(sorted(types))
        raise ColumnError(f"{column!r} is {render(cell, 40)}, but the schema requires {expected} there")
    return value
