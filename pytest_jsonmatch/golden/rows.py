"""`cases_from`: each row of a file, of a function, or each file of a glob is a case."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast, final

from pytest_jsonmatch.engine.value.convert import to_json_value
from pytest_jsonmatch.engine.value.errors import (
    ConfigurationError,
    JsonMatchError,
    JsonParseError,
    did_you_mean,
    format_error,
)
from pytest_jsonmatch.engine.value.named import import_object
from pytest_jsonmatch.engine.value.text import render
from pytest_jsonmatch.golden.keys import KEYS, as_id
from pytest_jsonmatch.reading.errors import GoldenFileError, InvalidValueError, shortened
from pytest_jsonmatch.reading.frames import to_rows
from pytest_jsonmatch.reading.strict import parse_json
from pytest_jsonmatch.records.columns import ColumnError, convert_cells, get_column, iter_columns, select
from pytest_jsonmatch.records.csvrows import CsvRow, RowError, delimiter_hint
from pytest_jsonmatch.records.files import find_files, glob_root
from pytest_jsonmatch.records.sources import DELIMITERS, LINES, RecordSource
from pytest_jsonmatch.support.atomic import open_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
    from pytest_jsonmatch.engine.value.convert import JsonValue, Side
    from pytest_jsonmatch.reading.errors import Position
    from pytest_jsonmatch.records.answers import AnswerFile

# Line (or number), text, and a function that returns the columns of the row or raises GoldenFileError.
_Unread: TypeAlias = "tuple[int, str, Callable[[], Mapping[str, JsonValue]]]"

UNREADABLE: Final = "unreadable"
"""The tag of a row whose cell can't be read."""
VALUES: Final = ("input", "actual", "expected")
"""The keys of a case that a row can set; with the suffix `_file`, as the path of a file."""
SETTINGS: Final = ("title", "cluster", "threshold", "fields", "skip")
"""The settings of a case that a row can set."""
_SOURCES: Final = ("file", "files", "rows")
_SUFFIXES: Final = (*LINES, ".json", *DELIMITERS)
_OF_FILES: Final = ("path", "dir", "stem", "name", "parent")
"""The columns of the files of a glob."""
_OF_ANSWERS: Final = ("file", "id", "column")
_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")
_SHOWN: Final = 200
"""The maximum number of characters of a row to show when its case fails."""
_FILE: Final = f"a .jsonl, {', '.join(DELIMITERS)} or .json file"


_KEYS: Final[dict[str, str]] = {
    "file": f"the path of {_FILE}, relative to this one",
    "files": "a glob of files, relative to this one, such as data/**/*.json; each is a case",
    "rows": 'the name of a function that returns dicts, "module:function"',
    "delimiter": "the character between the cells of a CSV file",
    "id": "the name of the column that names the cases",
    **dict.fromkeys(SETTINGS, "the name of a column"),
    **dict.fromkeys(
        [f"{name}_file" for name in VALUES],
        "a path, relative to this file, in which {name} is the value of the column `name`",
    ),
}


def check_cases_from(value: JsonValue) -> None:
    """Raise InvalidValueError for an invalid value of `cases_from`."""
    if type(value) is not dict:
        raise InvalidValueError(
            "must be a mapping with `file`, `files` or `rows`, and what its columns are for"
        )
    if type(value.get("tags", {})) is not dict or value.get("tags") == {}:
        raise InvalidValueError(': `tags` must map names to texts, such as source: "{source}"', "tags")
    for steps, text in _iter_leaves(value):
        _check_leaf(steps, text)
    given = [key for key in _SOURCES if key in value]
    if len(given) > 1:
        raise InvalidValueError(f": both `{given[0]}` and `{given[1]}`; keep one", given[-1])
    if "rows" in value and not all(value["rows"].partition(":")):
        raise InvalidValueError(f": `rows` must be {_KEYS['rows']}", "rows")
    if "rows" not in value and "files" not in value and not _is_table(value.get("file")):
        raise InvalidValueError(f": `file` must name {_FILE}", "file")
    if len(value.get("delimiter", ",")) != 1:
        raise InvalidValueError(f": `delimiter` must be {_KEYS['delimiter']}", "delimiter")
    for name in VALUES:
        if name in value and f"{name}_file" in value:
            raise InvalidValueError(f": both `{name}` and `{name}_file`; keep one", f"{name}_file")
    if "files" in value:
        _check_columns_of_files(value)
    if is_answer_file(value.get("actual")):
        _check_answer_file(value)


def _is_table(name: Any) -> bool:
    return type(name) is str and name.lower().endswith(_SUFFIXES)


def _check_leaf(steps: tuple[str, ...], text: Any) -> None:
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


def is_answer_file(actual: Any) -> bool:
    """Return whether `actual` names a second file rather than columns."""
    return type(actual) is dict and "file" in actual and actual.keys() <= set(_OF_ANSWERS)


def _check_answer_file(value: dict[str, Any]) -> None:
    actual = value["actual"]
    if type(actual["file"]) is not str or not _is_table(actual["file"]):
        raise InvalidValueError(f": the `file` of `actual` must name {_FILE}", "actual", "file")
    if ("id" in actual) != ("id" in value):
        has, lacks = ("actual", "cases_from") if "id" in actual else ("cases_from", "actual")
        raise InvalidValueError(
            f": `{has}` has an `id` and `{lacks}` has none; give both, or none to pair rows by position",
            "actual",
        )


def _check_columns_of_files(value: dict[str, Any]) -> None:
    """Raise InvalidValueError for a key that files of a glob do not have, or an unknown column of theirs."""
    for steps, text in _iter_leaves(value):
        key = steps[0]
        if key in {"files", "rows", "file"}:
            continue
        if key in {"expected", "expected_file", "delimiter"}:
            raise InvalidValueError(f": with `files`, each file is `expected`; leave out `{key}`", key)
        if key not in {"id", "tags", *SETTINGS, "input_file", "actual_file"}:
            hint = f"; use `{key}_file`" if key in VALUES else ""
            raise InvalidValueError(f": `files` has no columns for `{key}`{hint}", key)
        is_column = key in SETTINGS and "{" not in text
        for column in [text] if is_column else _PLACEHOLDER.findall(text):
            if column not in _OF_FILES:
                raise InvalidValueError(
                    f": a file has no {column!r}{did_you_mean(column, _OF_FILES)}", *steps
                )


def _return_columns(columns: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    return columns


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
    """Rows of a file or a function, or files of a glob, and the use of their columns.

    Args:
        path: the file; for a function or a glob the golden file.
        name: the display name of the file.
        folder: the folder of the golden file; paths in cases are relative to it.
        columns: the value of `cases_from`.
        defaults: the keys that all cases have in addition to those of their rows.
        schema: the eval schema that gives cells of a CSV file their types; None without one.
        position: the position of the function or glob in the golden file; None for a file.
        answers: the answers of a second file; None without one.
    """

    path: Path
    name: str
    folder: Path
    columns: Mapping[str, Any]
    defaults: Mapping[str, Any]
    schema: SchemaNode | None
    position: Position | None = None
    answers: AnswerFile | None = None

    @property
    def is_csv(self) -> bool:
        """Whether the rows are CSV rather than JSON."""
        return self.position is None and self.path.suffix.lower() in DELIMITERS

    @property
    def is_array(self) -> bool:
        """Whether the rows are the elements of a JSON array."""
        return self.position is None and self.path.suffix.lower() == ".json"

    @property
    def keys(self) -> frozenset[str]:
        """The keys of a case that its row sets."""
        given = self.columns.keys() - {*_SOURCES, "id", "delimiter"}
        if "files" in self.columns:
            return frozenset({*given, "expected_file"})
        return frozenset(given if "expected_file" in given else {*given, "expected"})

    def rows(self) -> Iterator[TableRow]:
        """Yield the rows; an invalid row has a `fault`.

        Raises:
            GoldenFileError: the first row of a CSV file does not name its columns.
            InvalidValueError: a column of `cases_from` does not exist, or the function fails.
            OSError: the file can't be read.
        """
        for index, (line, text, read) in enumerate(self._unread(), 1):
            row = TableRow(self, line, text, index)
            try:
                row.read_columns(read())
            except GoldenFileError as error:
                row.fault = error
            yield row

    def _unread(self) -> Iterator[_Unread]:
        if "files" in self.columns:
            return self._read_glob(self.columns["files"])
        if self.position is not None:
            return self._read_function(self.columns["rows"])
        return self._read_file()

    def _read_glob(self, pattern: str) -> Iterator[_Unread]:
        """Yield the files of a glob; one without an `id` is named after its path below the glob's folder."""
        root = glob_root(pattern)
        for number, path in enumerate(find_files(pattern, self.folder), 1):
            pure = PurePosixPath(path)
            relative = pure.relative_to(root) if root else pure
            columns = {
                "path": path,
                "dir": pure.parent.as_posix(),
                "stem": pure.stem,
                "name": pure.name,
                "parent": pure.parent.name,
                "": relative.with_suffix("").as_posix(),
            }
            yield number, path, partial(_return_columns, columns)

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
            if self.position is None:
                raise self.error(number, f"the row is {render(cast('JsonValue', row), 40)}, not an object")
            raise self.error(number, f"the row must be a dict, got {type(row).__name__}")
        return cast("Mapping[str, Any]", row)

    def _read_file(self) -> Iterator[_Unread]:
        open_file(self.path).close()  # raises the error of a file that can't be read
        try:
            with RecordSource(self.path, "rows", delimiter=self.columns.get("delimiter")) as source:
                is_checked = False
                for number, record in source.numbered():
                    if type(record) is CsvRow:
                        if not is_checked:
                            self._check_header(record.header)
                            is_checked = True
                        yield number, record.text, partial(self._read_cells, record, number)
                    elif isinstance(record, bytes):
                        text = record.decode("utf-8", "replace")
                        yield number, text, partial(self._parse_record, record, number)
                    else:
                        yield number, "", partial(self._check_row, record, number)
        except (ConfigurationError, RowError) as error:
            fault = error.__cause__ if isinstance(error, ConfigurationError) else error
            if isinstance(fault, RowError):
                raise self.error(fault.line or 1, str(fault)) from None
            reason = str(error).removeprefix(str(self.path)).lstrip(":")
            raise GoldenFileError(self.name, 1, 1, shortened(reason)) from None

    def _parse_record(self, record: bytes, line: int) -> dict[str, JsonValue]:
        try:
            value = parse_json(record)
        except JsonParseError as error:
            raise self.error(line, f"the row is not JSON: {error.reason}", error.column) from None
        if type(value) is not dict:
            raise self.error(line, f"the row is {render(value, 40)}, not an object")
        return value

    def _read_cells(self, row: CsvRow, line: int) -> dict[str, JsonValue]:
        try:
            return row.read()
        except RowError as error:
            raise self.error(line, str(error)) from None

    def _check_header(self, header: tuple[str, ...]) -> None:
        """Raise InvalidValueError for a column that a CSV file does not have."""
        for steps, text in _iter_leaves(self.columns):
            if steps[0] in {"file", "delimiter"} or (steps[0] == "actual" and self.answers is not None):
                continue
            has_places = steps[0] == "tags" or steps[0].endswith("_file")
            has_places |= "{" in text and steps[0] in {"id", *SETTINGS}
            for column in _PLACEHOLDER.findall(text) if has_places else [text]:
                if column not in header:
                    hint = delimiter_hint(header) or did_you_mean(column, header)
                    raise InvalidValueError(f": {self.name} has no column {column!r}{hint}", *steps)

    def error(self, line: int, reason: str, column: int = 1) -> GoldenFileError:
        """Return an error with a reason, at a row; for a row of a function, at the name of the function."""
        if self.position is not None:
            return GoldenFileError(self.name, *self.position, shortened(f"row {line}: {reason}"))
        if self.is_array:
            return GoldenFileError(self.name, 1, 1, shortened(f"row {line}: {reason}"))
        return GoldenFileError(self.name, line, column, shortened(reason))


@final
@dataclass(slots=True)
class TableRow:
    """A row, and the keys that it sets for its case.

    Args:
        table: the table of the row.
        number: the first line of the row in the file; for other rows, the number of the row, from 1.
        text: the text of the line; for a file of a glob, its path.
        index: the position among the rows, from 1.
        name: the id of its case.
        fault: the error if the row can't be a case; None if it can.
        unanswered: the reason why a second file has no answer for it; empty if it has one.
        given: the keys of its case: those of the row, and those that the golden file has for all cases.
    """

    table: CaseTable
    number: int
    text: str
    index: int
    name: str = field(init=False)
    fault: GoldenFileError | None = None
    unanswered: str = ""
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
        is_file = "files" in columns
        if "id" in columns or is_file:
            column = columns.get("id", "")
            is_template = "{" in column
            text = (
                self._fill(column, members, "name a case")
                if is_template
                else self._text(members, column, "name a case")
            )
            self.name = as_id(text) or self.name
            if not as_id(text):
                raise self.error(f"{column!r} is {render(text, 40)}, which can't name a case")
        if problems:
            raise problems[0]
        for key in sorted(self.table.keys - {"tags"}):
            self._set_key(key, members)

    def _set_key(self, key: str, members: Mapping[str, JsonValue]) -> None:
        """Set a key of the case to the value that the row has for it."""
        if key == "actual" and self.table.answers is not None:
            self._set_answer(self.table.answers, members)
            return
        if key in SETTINGS:
            self._set_setting(key, members)
            return
        value = self._value(key, members)
        if key == "actual":
            self.given[key] = self._as_answer(value, members)
            return
        # An input may be a Python object without a JSON form, such as an image.
        self.given[key] = value if key == "input" else self._as_json(value, "expected")

    def _as_answer(self, value: object, members: Mapping[str, JsonValue]) -> object:
        """Return an answer with its own cost and latency, or with those next to it in its row."""
        from pytest_jsonmatch.records.answers import read_spent
        from pytest_jsonmatch.results.answer import Answer, make_answer

        if isinstance(value, Answer):
            return value
        answer = self._as_json(value, "actual")
        try:
            spent = read_spent(members)
        except JsonMatchError as error:
            raise self.error(str(error)) from None
        return answer if spent is None else make_answer(answer, spent)

    def _set_answer(self, answers: AnswerFile, members: Mapping[str, JsonValue]) -> None:
        """Set the answer of a second file, or the reason why there is none."""
        column = self.table.columns.get("id")
        key = self.index if column is None else self._text(members, column, "name a case")
        try:
            found = answers.find(key)
        except JsonMatchError as error:
            raise self.error(str(error)) from None
        if found is None:
            self.unanswered = f"{answers.name} has no answer for {key!r}"
            self.given["actual"] = None
        else:
            self.given["actual"] = found

    def _set_setting(self, key: str, members: Mapping[str, JsonValue]) -> None:
        """Set a setting of the case, such as its threshold, from its column."""
        column = self.table.columns[key]
        if "{" in column:
            value: Any = self._fill(column, members, "be part of a setting")
        else:
            value = self._as_json(self._get_column(members, column), "expected")
        is_text = self.table.is_csv or "files" in self.table.columns
        if is_text and key not in {"title", "cluster"}:
            if value == "":
                return
            try:
                value = parse_json(value)
            except JsonParseError as error:
                raise self.error(f"{column!r} is {render(value, 40)}, not JSON: {error.reason}") from None
        if value is None:
            return
        if key == "cluster" and type(value) is not str:
            value = render(value, _SHOWN)
        try:
            check = KEYS[key].check
            if check is not None:
                check(value)
        except InvalidValueError as error:
            subject = f"`{key}`" if error.reason.startswith(":") else f"`{key}` "
            raise self.error(f"{subject}{error.reason}") from None
        inherited: Any = self.table.defaults.get(key)
        if KEYS[key].joined and type(inherited) is type(value):
            value = [*inherited, *value] if type(value) is list else {**inherited, **value}
        self.given[key] = value

    @property
    def is_numbered(self) -> bool:
        """Whether the row has no line of its own in a file."""
        return self.table.position is not None or self.table.is_array

    @property
    def place(self) -> str:
        """The line of the row in its file, its number among the rows, or the path of a file of a glob."""
        if "files" in self.table.columns:
            return self.text
        return f"row {self.number}" if self.is_numbered else f"line {self.number}"

    @property
    def line(self) -> int:
        """The line of its case in `table.path`."""
        if self.table.position is not None:
            return self.table.position.line
        return 1 if self.table.is_array else self.number

    @property
    def remedy(self) -> str:
        """The reason why its expected value is not written, and where to change it."""
        if self.table.position is None:
            return f"it is a row of {self.table.name}; change {self.place} there"
        return f"it is {self.place} of {self.table.columns['rows']}; change it where that function reads it"

    def refuse(self, reason: str) -> None:
        """Turn the row into a failing case, named after its line."""
        self.fault = self.error(reason)
        self.name = as_id(self.place.replace(" ", "-"))

    def lines(self) -> list[str] | None:
        """Return the lines for tracebacks, all blank except the row: pytest would read the whole file."""
        return None if self.is_numbered else ["\n"] * (self.number - 1) + [self.text]

    def error(self, reason: str) -> GoldenFileError:
        """Return an error with a reason, at the row."""
        if "files" in self.table.columns and self.table.position is not None:
            return GoldenFileError(self.table.name, *self.table.position, shortened(f"{self.text}: {reason}"))
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
        try:
            return get_column(members, column)
        except ColumnError as error:
            raise self.error(f"the row {error}") from None

    def _value(self, key: str, members: Mapping[str, JsonValue]) -> JsonValue:
        """Return the value that the row sets for a key of its case."""
        columns = self.table.columns
        selected: Any = columns.get(key)
        if key == "expected_file" and "files" in columns:
            return self.text
        if key.endswith("_file"):
            return self._fill(selected, members, "be part of a path")
        # `actual` from one column is the output of a model as text; the schema is about values.
        is_typed = self.table.is_csv and (key == "expected" or (key == "actual" and type(selected) is dict))
        node = self.table.schema if is_typed else None
        try:
            if selected is not None:
                return select(members, selected, node)
            rest = {column: value for column, value in members.items() if column not in self._used()}
            return convert_cells(rest, node) if node is not None else rest
        except ColumnError as error:
            subject = "the row " if str(error).startswith("has no") else ""
            raise self.error(f"{subject}{error}") from None

    def _used(self) -> frozenset[str]:
        """Return the columns that have another use than `expected`."""
        columns, table = self.table.columns, self.table
        names = ("id", *SETTINGS, *(VALUES if table.answers is None else ("input", "expected")))
        used = [column for name in names for column in iter_columns(columns.get(name))]
        used += [column for text in self._templates().values() for column in _PLACEHOLDER.findall(text)]
        return frozenset(used)
