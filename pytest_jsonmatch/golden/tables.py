"""Cases from a table: a JSON Lines or CSV file, or a function, each row of which is a case."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from io import StringIO
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast, final

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

# Line (or number), text, and the function that reads the columns of the row or raises GoldenFileError.
_Unread: TypeAlias = "tuple[int, str, Callable[[], Mapping[str, JsonValue]]]"

UNREADABLE: Final = "unreadable"
"""The tag of a row whose cell for it can't be read."""
VALUES: Final = ("input", "actual", "expected")
"""What a row can give to its case; with the suffix `_file`, as the path of a file."""
_PLACE: Final = re.compile(r"\{([^{}]*)\}")
_SHOWN: Final = 200
"""At most this many characters of a row are shown when its case fails."""


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
    """Refuse invalid values of `cases_from`."""
    if type(value) is not dict:
        raise InvalidValueError("must be a mapping with `file` or `rows`, and what its columns are for")
    if type(value.get("tags", {})) is not dict or value.get("tags") == {}:
        raise InvalidValueError(': `tags` must map names to texts, such as source: "{source}"', "tags")
    for at, text in _texts(value):
        key, name = at[0], at[-1]
        if key in _KEYS:
            reason = f"`{key}` must be {_KEYS[key]}"
        elif key == "tags":
            reason = f"the tag {name!r} must be a text, in which {{column}} stands for a value"
        elif key in VALUES:
            reason = f"`{name}` must name a column, or map fields to columns"
        else:
            known = sorted({*_KEYS, *VALUES, "tags"})
            raise InvalidValueError(f": unknown key {key!r}{did_you_mean(key, known)}", key)
        deepest = 2 if key == "tags" else len(at) if key in VALUES else 1
        if type(text) is not str or not text or len(at) > deepest:
            raise InvalidValueError(f": {reason}", *at)
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


def _texts(said: Any, at: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the leaves of nested mappings with their places; an empty mapping is a leaf, too."""
    if type(said) is dict and (said or not at):
        for name, below in said.items():
            yield from _texts(below, (*at, name))
    else:
        yield at, said


@final
@dataclass(frozen=True, slots=True)
class CaseTable:
    """Rows of a file or a function, and what their columns are for.

    Args:
        path: the file; for a function the golden file.
        name: the file as a person would name it.
        folder: the folder of the golden file; paths in cases are relative to it.
        columns: the value of `cases_from`.
        defaults: the keys that all cases have beside those of their rows.
        schema: the eval schema, by which cells of a CSV file get their types; None without one.
        at: where the golden file names the function; None for a file.
    """

    path: Path
    name: str
    folder: Path
    columns: Mapping[str, Any]
    defaults: Mapping[str, Any]
    schema: SchemaNode | None
    at: Position | None = None

    @property
    def is_csv(self) -> bool:
        """Whether the rows are CSV, and not JSON."""
        return self.path.suffix.lower() == ".csv"

    @property
    def keys(self) -> frozenset[str]:
        """The keys of a case that its row gives."""
        given = self.columns.keys() - {"file", "rows", "id"}
        return frozenset(given if "expected_file" in given else {*given, "expected"})

    def rows(self) -> Iterator[TableRow]:
        """Yield the rows; one that is not valid has a `fault`.

        Raises:
            GoldenFileError: the first row of a CSV file does not name its columns.
            InvalidValueError: a column of `cases_from` is not among them, or the function fails.
            OSError: the file can't be read.
        """
        for line, text, read in self._unread():
            row = TableRow(self, line, text)
            try:
                row.take(read())
            except GoldenFileError as error:
                row.fault = error
            yield row

    def _unread(self) -> Iterator[_Unread]:
        if self.at is not None:
            return self._of_function(self.columns["rows"])
        data = self.path.read_bytes().removeprefix(b"\xef\xbb\xbf")
        return self._csv(data) if self.is_csv else self._json_lines(data)

    def _of_function(self, written: str) -> Iterator[_Unread]:
        try:
            found = import_object(written)
            for number, row in enumerate(to_rows(found() if callable(found) else found), 1):
                yield number, "", partial(self._of_row, row, number)
        except ConfigurationError as error:
            raise InvalidValueError(f": `rows`: {error}", "rows") from error.__cause__
        except Exception as error:  # a function of the user's can raise anything
            raise InvalidValueError(f": `rows`: {written!r} failed: {format_error(error)}", "rows") from error

    def _of_row(self, row: object, number: int) -> Mapping[str, Any]:
        if not isinstance(row, Mapping):
            raise self.error(number, f"the row must be a dict, got {type(row).__name__}")
        return cast("Mapping[str, Any]", row)

    def _json_lines(self, data: bytes) -> Iterator[_Unread]:
        for line, record in enumerate(data.split(b"\n"), 1):
            if record.strip():
                yield line, record.decode("utf-8", "replace"), partial(self._of_json, record, line)

    def _of_json(self, record: bytes, line: int) -> dict[str, JsonValue]:
        try:
            value = parse_json(record)
        except JsonParseError as error:
            raise self.error(line, f"the row is not JSON: {error.reason}", error.column) from None
        if type(value) is not dict:
            raise self.error(line, f"the row is {render(value, 40)}, not an object")
        return value

    def _csv(self, data: bytes) -> Iterator[_Unread]:
        # Bytes that are not UTF-8 become halves of characters, which are errors of their rows.
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
                header = self._header(cells, line, problem)
            elif problem or cells[1:] or "".join(cells).strip():
                yield line, lines[line - 1], partial(self._of_cells, header, cells, line, problem)

    def _of_cells(
        self, header: tuple[str, ...], cells: list[str], line: int, problem: str
    ) -> dict[str, JsonValue]:
        if not problem and len(cells) != len(header):
            problem = (
                f"the row must have a cell for each of {count(len(header), 'column')}, but has {len(cells)}"
            )
        if problem:
            raise self.error(line, problem)
        return dict(zip(header, cells))

    def _header(self, cells: list[str], line: int, problem: str) -> tuple[str, ...]:
        header = tuple(cells)
        if not problem and ("" in header or not header):
            problem = "a column has no name"
        elif len(set(header)) < len(header):
            problem = f"two columns have the name {max(header, key=header.count)!r}"
        if problem:
            raise self.error(line, f"{problem}; the first row of a .csv file names the columns")
        for at, text in _texts(self.columns):
            has_places = at[0] in {"file", "tags"} or at[0].endswith("_file")
            for column in _PLACE.findall(text) if has_places else [text]:
                if at != ("file",) and column not in header:
                    raise InvalidValueError(
                        f": {self.name} has no column {column!r}{did_you_mean(column, header)}", *at
                    )
        return header

    def error(self, line: int, reason: str, column: int = 1) -> GoldenFileError:
        """Return the error that says `reason` about a row; of a function, at the name of the function."""
        if self.at is not None:
            return GoldenFileError(self.name, *self.at, shortened(f"row {line}: {reason}"))
        return GoldenFileError(self.name, line, column, shortened(reason))


@final
@dataclass(slots=True)
class TableRow:
    """A row, and what it gives to its case.

    Args:
        table: the file it is in.
        number: its first line there; its number from 1 if it comes from a function.
        text: that line.
        name: the id of its case.
        fault: why it can't be a case; None if it can.
        given: the keys of its case: the row's own, and those that the golden file has for all cases.
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

    def take(self, members: Mapping[str, JsonValue]) -> None:
        """Take the columns of the row; raise GoldenFileError for the first that can't be used."""
        problems: list[GoldenFileError] = []
        for name, text in self._templates().items():
            try:
                self.given["tags"][name] = self._filled(text, members, "be a tag")
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
            # An input may be what only Python has, such as an image.
            side: Side = "actual" if key == "actual" else "expected"
            self.given[key] = value if key == "input" else self._as_json(value, side)

    @property
    def place(self) -> str:
        """Where it is in its file, or among the rows of its function."""
        return f"line {self.number}" if self.table.at is None else f"row {self.number}"

    @property
    def line(self) -> int:
        """The line of `table.path` that its case is at."""
        return self.number if self.table.at is None else self.table.at.line

    @property
    def remedy(self) -> str:
        """Why its expected value is not written, and where to change it."""
        if self.table.at is None:
            return f"it is a row of {self.table.name}; change {self.place} there"
        return f"it is {self.place} of {self.table.columns['rows']}; change it where that function reads it"

    def refuse(self, reason: str) -> None:
        """Make it a failing case, named by its line."""
        self.fault = self.error(reason)
        self.name = self.place.replace(" ", "-")

    def lines(self) -> list[str] | None:
        """Return the row as a line of its file, for tracebacks: pytest would read the whole file."""
        return None if self.table.at is not None else ["\n"] * (self.number - 1) + [self.text]

    def error(self, reason: str) -> GoldenFileError:
        """Return the error that says `reason` about the row."""
        return self.table.error(self.number, reason)

    def _filled(self, template: str, members: Mapping[str, JsonValue], purpose: str) -> str:
        return _PLACE.sub(lambda place: self._text(members, place[1], purpose), template)

    def _text(self, members: Mapping[str, JsonValue], column: str, purpose: str) -> str:
        """Return the value of a column as part of a name."""
        value = self._as_json(self._of_column(members, column), "expected")
        if value is None or value == "" or type(value) in {dict, list}:
            raise self.error(f"{column!r} is {render(value, 40)}, which can't {purpose}")
        return value if type(value) is str else render(value, _SHOWN)

    def _as_json(self, value: object, side: Side) -> JsonValue:
        try:
            return value if self.table.at is None else to_json_value(value, side=side)
        except JsonMatchError as error:
            raise self.error(str(error)) from None

    def _of_column(self, members: Mapping[str, JsonValue], column: str) -> JsonValue:
        if column not in members:
            raise self.error(f"the row has no {column!r}{did_you_mean(column, list(members))}")
        return members[column]

    def _value(self, key: str, members: Mapping[str, JsonValue]) -> JsonValue:
        """Return the value that the row gives to a key of its case."""
        columns = self.table.columns
        said: Any = columns.get(key)
        if key.endswith("_file"):
            return self._filled(said, members, "be part of a path")
        if said is None:
            taken = [said for name, said in columns.items() if name in {"id", *VALUES}]
            taken += [column for text in self._templates().values() for column in _PLACE.findall(text)]
            said = {column: column for column in members if column not in taken}
        # `actual` from one column is a model's output as text; the schema is about values.
        is_typed = self.table.is_csv and (key == "expected" or (key == "actual" and type(said) is dict))
        return self._taken(members, said, self.table.schema if is_typed else None)

    def _taken(self, members: Mapping[str, JsonValue], said: Any, node: SchemaNode | None) -> JsonValue:
        """Return the value of a column, or an object of such values."""
        if type(said) is dict:
            nodes = (node and node.properties) or {}
            return {field: self._taken(members, below, nodes.get(field)) for field, below in said.items()}
        value = self._of_column(members, said)
        return self._typed(value, said, node.types) if node and node.types else value

    def _typed(self, cell: str, column: str, types: frozenset[str]) -> JsonValue:
        """Return a cell as a value of one of these JSON Schema types."""
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
            wanted = " or ".join(sorted(types))
            raise self.error(f"{column!r} is {render(cell, 40)}, but the schema requires {wanted} there")
        return value
