"""Cases from a table: a JSON Lines or CSV file in which each row is a case, read when the case runs."""

from __future__ import annotations

import csv
import linecache
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NoReturn, final

from pytest_jsonmatch.engine.value.convert import fits_types
from pytest_jsonmatch.engine.value.errors import JsonParseError, did_you_mean
from pytest_jsonmatch.engine.value.text import count, render
from pytest_jsonmatch.golden.errors import GoldenFileError, InvalidValueError, shortened
from pytest_jsonmatch.golden.keys import as_id
from pytest_jsonmatch.reading.strict import parse_json, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

VALUES: Final = ("input", "actual", "expected")
"""What a row can give to its case; with the suffix `_file`, as the path of a file."""
_PLACE: Final = re.compile(r"\{([^{}]*)\}")
_SHOWN: Final = 200
"""At most this many characters of a row are shown when its case fails."""


_KEYS: Final[dict[str, str]] = {
    "file": "the path of a .jsonl or .csv file, relative to this one",
    "id": "the name of the column that names the cases",
    **dict.fromkeys(
        [f"{name}_file" for name in VALUES],
        "a path, relative to this file, in which {name} is the value of the column `name`",
    ),
}


def check_cases_from(value: JsonValue) -> None:
    """Refuse invalid values of `cases_from`."""
    if type(value) is not dict:
        raise InvalidValueError("must be a mapping with `file` and what its columns are for")
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
    if not value.get("file", "").lower().endswith((".jsonl", ".csv")):
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
@dataclass(slots=True)
class CaseTable:
    """A file of rows, and what its columns are for.

    Args:
        path: the file.
        name: the file as a person would name it.
        folder: the folder of the golden file; paths in cases are relative to it.
        columns: the value of `cases_from`.
        defaults: the keys that all cases have beside those of their rows.
        source: returns the eval schema of the cases as it is written; None if there is none.
        header: the names of the columns of a CSV file.
        keys: the keys of a case that its row gives.
    """

    path: Path
    name: str
    folder: Path
    columns: Mapping[str, Any]
    defaults: Mapping[str, Any]
    source: Callable[[], Path | dict[str, Any] | None]
    header: tuple[str, ...] = ()
    keys: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        given = self.columns.keys() - {"file", "id"}
        self.keys = frozenset(given if "expected_file" in given else {*given, "expected"})

    @property
    def is_csv(self) -> bool:
        """Whether the rows are CSV, and not JSON."""
        return self.path.suffix.lower() == ".csv"

    def schema(self) -> SchemaNode | None:
        """Return the eval schema, by which cells of a CSV file get their types; None without one."""
        from pytest_jsonmatch.schema.parsing import parse_eval_schema

        source = self.source()
        return None if source is None else parse_eval_schema(source)

    def rows(self) -> Iterator[TableRow]:
        """Yield the rows; one that is not valid has a `fault`.

        Raises:
            GoldenFileError: the first row of a CSV file does not name its columns.
            InvalidValueError: a column of `cases_from` is not among them.
            OSError: the file can't be read.
        """
        with self.path.open("rb") as file:
            line, offset = 1, 0
            for pieces in _csv_records(file) if self.is_csv else ([each] for each in file):
                data = b"".join(pieces)
                if self.is_csv and not self.header:
                    self.header = self._header(data, line)
                elif data.strip():
                    yield TableRow(self, line, offset, data)
                line += len(pieces)
                offset += len(data)

    def _header(self, data: bytes, line: int) -> tuple[str, ...]:
        header = tuple(self.cells(data.removeprefix(b"\xef\xbb\xbf"), line))
        reason = "a column has no name" if "" in header or not header else ""
        if len(set(header)) < len(header):
            reason = f"two columns have the name {max(header, key=header.count)!r}"
        if reason:
            raise self.error(line, f"{reason}; the first row of a .csv file names the columns")
        for at, text in _texts(self.columns):
            has_places = at[0] in {"file", "tags"} or at[0].endswith("_file")
            for column in _PLACE.findall(text) if has_places else [text]:
                if at != ("file",) and column not in header:
                    raise InvalidValueError(
                        f": {self.name} has no column {column!r}{did_you_mean(column, header)}", *at
                    )
        return header

    def cells(self, data: bytes, line: int) -> list[str]:
        """Return the cells of one row of a CSV file.

        Raises:
            GoldenFileError: it is not a valid row.
        """
        try:
            lines = [f"{each}\n" for each in text_of(data).split("\n")]
            return next(csv.reader(lines, strict=True))
        except JsonParseError as error:
            raise self.error(line, error.reason) from None
        except csv.Error as error:
            raise self.error(line, f"not CSV: {error}") from None

    def error(self, line: int, reason: str, column: int = 1) -> GoldenFileError:
        """Return the error that says `reason` about a row."""
        return GoldenFileError(self.name, line, column, shortened(reason))


def _csv_records(file: BinaryIO) -> Iterator[list[bytes]]:
    """Yield the lines of each row: a cell in quotes may have line breaks."""
    lines: list[bytes] = []

    def taken() -> Iterator[str]:
        for data in file:
            lines.append(data)
            yield data.decode("utf-8", "replace")

    reader = csv.reader(taken(), strict=True)
    while True:
        try:
            next(reader)
        except StopIteration:
            return
        except csv.Error:  # reported when the row is read
            pass
        yield lines
        lines.clear()


@final
class TableRow(Mapping[str, Any]):
    """The keys of the case of one row: its own, and those that the golden file has for all cases.

    Only the place of the row is kept; it is read when one of its values is needed, and again each time.
    """

    __slots__ = ("_digest", "_offset", "_size", "fault", "line", "name", "table")

    def __init__(self, table: CaseTable, line: int, offset: int, data: bytes) -> None:
        self.table: CaseTable = table
        self.line: int = line
        self._offset, self._size, self._digest = offset, len(data), hash(data)
        self.name: str = f"line-{line}"
        """The id of its case."""
        self.fault: GoldenFileError | None = None
        """Why it can't be a case."""
        try:
            members = self._members(data)
            if "id" in table.columns:
                self.name = self._named(members, table.columns["id"])
        except GoldenFileError as error:
            self.fault = error

    def __getitem__(self, key: str) -> Any:
        return self._value(key, self._read()) if key in self.table.keys else self.table.defaults[key]

    def __contains__(self, key: object) -> bool:
        return key in self.table.keys or key in self.table.defaults

    def __iter__(self) -> Iterator[str]:
        return iter(self.table.keys | self.table.defaults.keys())

    def __len__(self) -> int:
        return len(self.table.keys | self.table.defaults.keys())

    def refuse(self, reason: str) -> None:
        """Make it a failing case, named by its line."""
        self.fault = self.error(reason)
        self.name = f"line-{self.line}"

    def check(self) -> None:
        """Raise GoldenFileError, at the line of the row, for what is wrong with any of its values."""
        members = self._read()
        for key in self.table.keys:
            self._value(key, members)

    def show(self) -> None:
        """Let tracebacks show the beginning of the row; otherwise pytest would read the whole file."""
        try:
            text = self._data().decode("utf-8", "replace").partition("\n")[0].rstrip("\r")
        except OSError:
            text = ""
        if len(text) > _SHOWN:
            text = f"{text[:_SHOWN]} …"
        path = str(self.table.path)
        lines = ["\n"] * (self.line - 1) + [text.replace("\0", "\N{SYMBOL FOR NULL}") + "\n"]
        # Without a modification time, an entry is never looked up on disk.
        linecache.cache[path] = (self._size, None, lines, path)

    def error(self, reason: str) -> GoldenFileError:
        """Return the error that says `reason` about the row."""
        return self.table.error(self.line, reason)

    def _data(self) -> bytes:
        with self.table.path.open("rb") as file:
            file.seek(self._offset)
            return file.read(self._size)

    def _read(self) -> dict[str, JsonValue]:
        if self.fault is not None:
            raise self.fault
        try:
            data = self._data()
        except OSError as error:
            raise self.error(f"the file can't be read: {(error.strerror or str(error)).lower()}") from None
        if hash(data) != self._digest:
            raise self.error("the file has changed since its rows were collected; run again")
        return self._members(data)

    def _members(self, data: bytes) -> dict[str, JsonValue]:
        """Return the columns of the row."""
        if self.table.is_csv:
            cells = self.table.cells(data, self.line)
            header = self.table.header
            if len(cells) != len(header):
                wanted = f"a cell for each of {count(len(header), 'column')}"
                raise self.error(f"the row must have {wanted}, but has {len(cells)}")
            return dict(zip(header, cells))
        try:
            value = parse_json(data)
        except JsonParseError:
            self._explain(data)
        if type(value) is not dict:
            raise self.error(f"the row is {render(value, 40)}, not an object")
        return value

    def _explain(self, data: bytes) -> NoReturn:
        """Raise what is wrong with a row of JSON; the message counts lines as the file does."""
        try:
            parse_json(b"\n" * (self.line - 1) + data)
        except JsonParseError as error:
            raise self.table.error(self.line, f"the row is not JSON: {error.reason}", error.column) from None
        raise AssertionError  # pragma: no cover - empty lines above make nothing valid

    def _named(self, members: Mapping[str, JsonValue], column: str) -> str:
        text = self._text(members, column, "name a case")
        name = as_id(text)
        if not name:
            raise self.error(f"{column!r} is {render(text, 40)}, which can't name a case")
        return name

    def _text(self, members: Mapping[str, JsonValue], column: str, purpose: str) -> str:
        """Return the value of a column as part of a name."""
        value = self._of_column(members, column)
        if value is None or value == "" or type(value) in {dict, list}:
            raise self.error(f"{column!r} is {render(value, 40)}, which can't {purpose}")
        return value if type(value) is str else render(value, _SHOWN)

    def _of_column(self, members: Mapping[str, JsonValue], column: str) -> JsonValue:
        if column not in members:
            raise self.error(f"the row has no {column!r}{did_you_mean(column, list(members))}")
        return members[column]

    def _value(self, key: str, members: Mapping[str, JsonValue]) -> JsonValue:
        """Return the value that the row gives to a key of its case."""
        said: Any = self.table.columns.get(key)
        if key.endswith("_file"):
            return _PLACE.sub(lambda place: self._text(members, place[1], "be part of a path"), said)
        if key == "tags":
            own = {
                name: _PLACE.sub(lambda place: self._text(members, place[1], "be a tag"), text)
                for name, text in said.items()
            }
            return {**self.table.defaults.get("tags", {}), **own}
        if said is None:
            tags = self.table.columns.get("tags", {}).values()
            taken = [said for name, said in self.table.columns.items() if name in {"id", *VALUES}]
            taken += [column for text in tags for column in _PLACE.findall(text)]
            said = {column: column for column in members if column not in taken}
        # `actual` from one column is a model's output as text; the schema is about values.
        is_typed = self.table.is_csv and (key == "expected" or (key == "actual" and type(said) is dict))
        return self._taken(members, said, self.table.schema() if is_typed else None)

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
