"""Cases from a table: each row of a JSON Lines or CSV file, or of a function, is a case."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from io import StringIO
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast, final

from pytest_jsonmatch.atomic import read_file
from pytest_jsonmatch.engine.value.convert import fits_types, to_json_value
from pytest_jsonmatch.engine.value.errors import (
    ConfigurationError,
    JsonMatchError,
    JsonParseError,
    did_you_mean,
    format_error,
)
from pytest_jsonmatch.engine.value.named import import_object
from pytest_jsonmatch.engine.value.text import count, render
from pytest_jsonmatch.golden.errors import GoldenFileError, InvalidValueError, shortened
from pytest_jsonmatch.golden.keys import as_id
from pytest_jsonmatch.golden.yamlevents import HALF
from pytest_jsonmatch.reading.frames import to_rows
from pytest_jsonmatch.reading.strict import parse_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
    from pytest_jsonmatch.engine.value.convert import JsonValue, Side
    from pytest_jsonmatch.golden.errors import Position

# Line (or number), text, and a function that returns the columns of the row or raises GoldenFileError.
_Unread: TypeAlias = "tuple[int, str, Callable[[], Mapping[str, JsonValue]]]"

UNREADABLE: Final = "unreadable"
"""The tag of a row whose cell can't be read."""
VALUES: Final = ("input", "actual", "expected")
"""The keys of a case that a row can set; with the suffix `_file`, as the path of a file."""
_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")
_SHOWN: Final = 200
"""The maximum number of characters of a row to show when its case fails."""


_KEYS: Final[dict[str, str]] = {
    "file": "the path of a .jsonl or .csv file, relative to this one",
    "rows": 'the name of a function that returns dicts, "module:function"',
    "id": "the name of the column that names the cases",
    **dict.fromkeys(
        [f"{name}_file" for name in VALUES],
        "a path, relative to this file, in which {name} is the value of the column `name`",
    ),
}


def check_cases_from(value: JsonValue) -> None:
    """Raise InvalidValueError for an invalid value of `cases_from`."""
    if type(value) is not dict:
        raise InvalidValueError("must be a mapping with `file` or `rows`, and what its columns are for")
    if type(value.get("tags", {})) is not dict or value.get("tags") == {}:
        raise InvalidValueError(': `tags` must map names to texts, such as source: "{source}"', "tags")
    for steps, text in _iter_leaves(value):
        key, name = steps[0], steps[-1]
        if key in _KEYS:
            reason = f"`{key}` must be {_KEYS[key]}"
        elif key == "tags":
            reason = f"the tag {name!r} must be a text, with {{column}} for the value of a column"
        elif key in VALUES:
            reason = f"`{name}` must name a column, or map fields to columns"
        else:
            known = sorted({*_KEYS, *VALUES, "tags"})
            raise InvalidValueError(f": unknown key {key!r}{did_you_mean(key, known)}", key)
        deepest = 2 if key == "tags" else len(steps) if key in VALUES else 1
        if type(text) is not str or not text or len(steps) > deepest:
            raise InvalidValueError(f": {reason}", *steps)
    if "rows" in value:
        if "file" in value:
            raise InvalidValueError(": both `file` and `rows`; keep one", "rows")
        if not all(value["rows"].partition(":")):
            raise InvalidValueError(f": `rows` must be {_KEYS['rows']}", "rows")
    elif not value.get("file", "").lower().endswith((".jsonl", ".csv")):
        raise InvalidValueError(": `file` must name a .jsonl or .csv file", "file")
    for name in VALUES:
        if name in value and f"{name}_file" in value:
            raise InvalidValueError(f": both `{name}` and `{name}_file`; keep one", f"{name}_file")


def _iter_leaves(columns: Any, steps: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the leaves of nested mappings with the steps to them; an empty mapping is a leaf, too."""
    if type(columns) is dict and (columns or not steps):
        for name, item in columns.items():
            yield from _iter_leaves(item, (*steps, name))
    else:
        yield steps, columns


@final
@dataclass(frozen=True, slots=True)
class CaseTable:
    """Rows of a file or a function, and the use of their columns.

    Args:
        path: the file; for a function the golden file.
        name: the display name of the file.
        folder: the folder of the golden file; paths in cases are relative to it.
        columns: the value of `cases_from`.
        defaults: the keys that all cases have in addition to those of their rows.
        schema: the eval schema that gives cells of a CSV file their types; None without one.
        position: the position of the name of the function in the golden file; None for a file.
    """

    path: Path
    name: str
    folder: Path
    columns: Mapping[str, Any]
    defaults: Mapping[str, Any]
    schema: SchemaNode | None
    position: Position | None = None

    @property
    def is_csv(self) -> bool:
        """Whether the rows are CSV rather than JSON."""
        return self.path.suffix.lower() == ".csv"

    @property
    def keys(self) -> frozenset[str]:
        """The keys of a case that its row sets."""
        given = self.columns.keys() - {"file", "rows", "id"}
        return frozenset(given if "expected_file" in given else {*given, "expected"})

    def rows(self) -> Iterator[TableRow]:
        """Yield the rows; an invalid row has a `fault`.

        Raises:
            GoldenFileError: the first row of a CSV file does not name its columns.
            InvalidValueError: a column of `cases_from` does not exist, or the function fails.
            OSError: the file can't be read.
        """
        for line, text, read in self._unread():
            row = TableRow(self, line, text)
            try:
                row.read_columns(read())
            except GoldenFileError as error:
                row.fault = error
            yield row

    def _unread(self) -> Iterator[_Unread]:
        if self.position is not None:
            return self._read_function(self.columns["rows"])
        data = read_file(self.path).removeprefix(b"\xef\xbb\xbf")
        return self._read_csv(data) if self.is_csv else self._read_json_lines(data)

    def _read_function(self, reference: str) -> Iterator[_Unread]:
        try:
            found = import_object(reference)
            for number, row in enumerate(to_rows(found() if callable(found) else found), 1):
                yield number, "", partial(self._check_row, row, number)
        except ConfigurationError as error:
            raise InvalidValueError(f": `rows`: {error}", "rows") from error.__cause__
        except Exception as error:  # a user's function can raise anything
            raise InvalidValueError(
                f": `rows`: {reference!r} failed: {format_error(error)}", "rows"
            ) from error

    def _check_row(self, row: object, number: int) -> Mapping[str, Any]:
        if not isinstance(row, Mapping):
            raise self.error(number, f"the row must be a dict, got {type(row).__name__}")
        return cast("Mapping[str, Any]", row)

    def _read_json_lines(self, data: bytes) -> Iterator[_Unread]:
        for line, record in enumerate(data.split(b"\n"), 1):
            if record.strip():
                yield line, record.decode("utf-8", "replace"), partial(self._parse_record, record, line)

    def _parse_record(self, record: bytes, line: int) -> dict[str, JsonValue]:
        try:
            value = parse_json(record)
        except JsonParseError as error:
            raise self.error(line, f"the row is not JSON: {error.reason}", error.column) from None
        if type(value) is not dict:
            raise self.error(line, f"the row is {render(value, 40)}, not an object")
        return value

    def _read_csv(self, data: bytes) -> Iterator[_Unread]:
        # Bytes that are not UTF-8 become lone surrogates, which are errors of their rows.
        lines = list(StringIO(data.decode("utf-8", "surrogateescape"), newline=""))
        reader = csv.reader(lines, strict=True)
        header: tuple[str, ...] = ()
        while (line := reader.line_num + 1) <= len(lines):
            cells, problem = [""], ""
            try:
                cells = next(reader)
            except csv.Error as error:
                problem = f"not CSV: {error}"
            if any(map(HALF.search, cells)):
                problem = "not UTF-8 text; save the file as UTF-8"
            if not header:
                header = self._check_header(cells, line, problem)
            elif problem or cells[1:] or "".join(cells).strip():
                yield line, lines[line - 1], partial(self._zip_cells, header, cells, line, problem)

    def _zip_cells(
        self, header: tuple[str, ...], cells: list[str], line: int, problem: str
    ) -> dict[str, JsonValue]:
        if not problem and len(cells) != len(header):
            problem = (
                f"the row must have a cell for each of {count(len(header), 'column')}, but has {len(cells)}"
            )
        if problem:
            raise self.error(line, problem)
        return dict(zip(header, cells))

    def _check_header(self, cells: list[str], line: int, problem: str) -> tuple[str, ...]:
        header = tuple(cells)
        if not problem and ("" in header or not header):
            problem = "a column has no name"
        elif len(set(header)) < len(header):
            problem = f"two columns have the name {max(header, key=header.count)!r}"
        if problem:
            raise self.error(line, f"{problem}; the first row of a .csv file names the columns")
        for steps, text in _iter_leaves(self.columns):
            has_places = steps[0] in {"file", "tags"} or steps[0].endswith("_file")
            for column in _PLACEHOLDER.findall(text) if has_places else [text]:
                if steps != ("file",) and column not in header:
                    raise InvalidValueError(
                        f": {self.name} has no column {column!r}{did_you_mean(column, header)}", *steps
                    )
        return header

    def error(self, line: int, reason: str, column: int = 1) -> GoldenFileError:
        """Return an error with a reason, at a row; for a row of a function, at the name of the function."""
        if self.position is not None:
            return GoldenFileError(self.name, *self.position, shortened(f"row {line}: {reason}"))
        return GoldenFileError(self.name, line, column, shortened(reason))


@final
@dataclass(slots=True)
class TableRow:
    """A row, and the keys that it sets for its case.

    Args:
        table: the table of the row.
        number: the first line of the row in the file; for a function, the number of the row, from 1.
        text: the text of the line.
        name: the id of its case.
        fault: the error if the row can't be a case; None if it can.
        given: the keys of its case: those of the row, and those that the golden file has for all cases.
    """

    table: CaseTable
    number: int
    text: str
    name: str = field(init=False)
    fault: GoldenFileError | None = None
    given: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.name = self.place.replace(" ", "-")
        tags = {**self.table.defaults.get("tags", {}), **dict.fromkeys(self._templates(), UNREADABLE)}
        self.given = {**self.table.defaults, **({"tags": tags} if tags else {})}

    def _templates(self) -> Mapping[str, str]:
        templates: Mapping[str, str] = self.table.columns.get("tags", {})
        return templates

    def read_columns(self, members: Mapping[str, JsonValue]) -> None:
        """Set the keys of the case from the columns; raise GoldenFileError for the first invalid column."""
        problems: list[GoldenFileError] = []
        for name, text in self._templates().items():
            try:
                self.given["tags"][name] = self._fill(text, members, "be a tag")
            except GoldenFileError as error:
                problems.append(error)
        columns = self.table.columns
        if "id" in columns:
            text = self._text(members, columns["id"], "name a case")
            self.name = as_id(text) or self.name
            if not as_id(text):
                raise self.error(f"{columns['id']!r} is {render(text, 40)}, which can't name a case")
        if problems:
            raise problems[0]
        for key in sorted(self.table.keys - {"tags"}):
            value = self._value(key, members)
            # An input may be a Python object without a JSON form, such as an image.
            side: Side = "actual" if key == "actual" else "expected"
            self.given[key] = value if key == "input" else self._as_json(value, side)

    @property
    def place(self) -> str:
        """The line of the row in its file, or its number among the rows of its function."""
        return f"line {self.number}" if self.table.position is None else f"row {self.number}"

    @property
    def line(self) -> int:
        """The line of its case in `table.path`."""
        return self.number if self.table.position is None else self.table.position.line

    @property
    def remedy(self) -> str:
        """The reason why its expected value is not written, and where to change it."""
        if self.table.position is None:
            return f"it is a row of {self.table.name}; change {self.place} there"
        return f"it is {self.place} of {self.table.columns['rows']}; change it where that function reads it"

    def refuse(self, reason: str) -> None:
        """Turn the row into a failing case, named after its line."""
        self.fault = self.error(reason)
        self.name = self.place.replace(" ", "-")

    def lines(self) -> list[str] | None:
        """Return the lines for tracebacks, all blank except the row: pytest would read the whole file."""
        return None if self.table.position is not None else ["\n"] * (self.number - 1) + [self.text]

    def error(self, reason: str) -> GoldenFileError:
        """Return an error with a reason, at the row."""
        return self.table.error(self.number, reason)

    def _fill(self, template: str, members: Mapping[str, JsonValue], purpose: str) -> str:
        return _PLACEHOLDER.sub(lambda match: self._text(members, match[1], purpose), template)

    def _text(self, members: Mapping[str, JsonValue], column: str, purpose: str) -> str:
        """Return the value of a column as part of a name."""
        value = self._as_json(self._get_column(members, column), "expected")
        if value is None or value == "" or type(value) in {dict, list}:
            raise self.error(f"{column!r} is {render(value, 40)}, which can't {purpose}")
        return value if type(value) is str else render(value, _SHOWN)

    def _as_json(self, value: object, side: Side) -> JsonValue:
        try:
            return value if self.table.position is None else to_json_value(value, side=side)
        except JsonMatchError as error:
            raise self.error(str(error)) from None

    def _get_column(self, members: Mapping[str, JsonValue], column: str) -> JsonValue:
        if column not in members:
            raise self.error(f"the row has no {column!r}{did_you_mean(column, list(members))}")
        return members[column]

    def _value(self, key: str, members: Mapping[str, JsonValue]) -> JsonValue:
        """Return the value that the row sets for a key of its case."""
        columns = self.table.columns
        selected: Any = columns.get(key)
        if key.endswith("_file"):
            return self._fill(selected, members, "be part of a path")
        if selected is None:
            used = [column for name, column in columns.items() if name in {"id", *VALUES}]
            used += [column for text in self._templates().values() for column in _PLACEHOLDER.findall(text)]
            selected = {column: column for column in members if column not in used}
        # `actual` from one column is the output of a model as text; the schema is about values.
        is_typed = self.table.is_csv and (key == "expected" or (key == "actual" and type(selected) is dict))
        return self._select(members, selected, self.table.schema if is_typed else None)

    def _select(self, members: Mapping[str, JsonValue], column: Any, node: SchemaNode | None) -> JsonValue:
        """Return the value of a column, or an object of such values for a mapping of columns."""
        if type(column) is dict:
            nodes = (node and node.properties) or {}
            return {field: self._select(members, inner, nodes.get(field)) for field, inner in column.items()}
        value = self._get_column(members, column)
        return self._convert(value, column, node.types) if node and node.types else value

    def _convert(self, cell: str, column: str, types: frozenset[str]) -> JsonValue:
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
            raise self.error(f"{column!r} is {render(cell, 40)}, but the schema requires {expected} there")
        return value
