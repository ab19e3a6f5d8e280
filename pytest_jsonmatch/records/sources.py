"""Open data as records: files of any form, folders, globs, lists, iterators, data frames, functions."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from io import BufferedIOBase, BytesIO
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, cast, final

from pytest_jsonmatch.engine.value.errors import (
    ConfigurationError,
    JsonExtractionError,
    JsonParseError,
    choose_words,
)
from pytest_jsonmatch.reading.extract import extract_json
from pytest_jsonmatch.reading.frames import to_rows
from pytest_jsonmatch.reading.strict import parse_json
from pytest_jsonmatch.records.csvrows import CsvRow, RowError, read_csv
from pytest_jsonmatch.records.files import (
    ANSWER_SUFFIXES,
    GOLD_SUFFIXES,
    find_files,
    is_glob,
    list_files,
    name_files,
)
from pytest_jsonmatch.support.atomic import RESULTS_START

if TYPE_CHECKING:
    from collections.abc import Iterator

DataForm: TypeAlias = Literal["lines", "csv", "array", "files", "values"]

LINES: Final = (".jsonl", ".ndjson")
DELIMITERS: Final = {".csv": ",", ".tsv": "\t"}
"""The default delimiters of tables, by suffix."""
_OTHERS: Final = {".xlsx": "Excel", ".xls": "Excel", ".parquet": "Parquet"}
_OTHER_UNICODE: Final = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")
"""The byte order marks of UTF-16 and UTF-32."""
_BLANK: Final = b"\xef\xbb\xbf \t\r\n"


@final
class FileOffset(NamedTuple):
    """An offset between two lines of a file."""

    offset: int = 0
    lines: int = 0
    """The number of lines before it."""
    records: int = 0
    """The number of records before it: lines that are not blank."""


@final
class FilePart(NamedTuple):
    """Several lines of a file: the place where they are, or their text."""

    path: Path
    name: str
    """The display name of the file."""
    stamp: tuple[int, int]
    """The size of the file, and the time of its last change."""
    start: FileOffset
    end: FileOffset
    text: bytes | None = None

    @property
    def records(self) -> int:
        """The number of records in the lines."""
        return self.end.records - self.start.records

    def is_readable(self) -> bool:
        """Return whether the lines are here, or this process can read the same file."""
        try:
            return self.text is not None or stamp_of(self.path) == self.stamp
        except OSError:
            return False

    def read(self) -> bytes:
        """Return the text of the lines."""
        if self.text is not None:
            return self.text
        with self.path.open("rb") as file:
            file.seek(self.start.offset)
            return file.read(self.end.offset - self.start.offset)

    def with_text(self) -> FilePart:
        """Return the part with the text of its lines."""
        return self._replace(text=self.read())


def stamp_of(path: Path) -> tuple[int, int]:
    """Return the size of a file, and the time of its last change."""
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def reason_of(error: OSError | ValueError) -> str:
    """Return why a file can't be read."""
    return (getattr(error, "strerror", None) or str(error)).lower()


@final
class RecordSource:
    """The records of one side. It is a context manager that opens and closes the file.

    Args:
        records: a list or an iterator of records, a data frame, a function that returns these, a mapping of
            ids to records; or the path of a file (JSON Lines, CSV, a JSON array), of a folder of JSON files,
            a glob, or an open binary file.
        side: "actual" or "expected", for error messages; answers can be text with JSON in it.
        delimiter: the delimiter of a CSV file; None for that of its suffix.
        repair: whether a broken JSON array of answers is repaired.
        is_single_allowed: whether a .json file may have one record instead of an array of them.
    """

    def __init__(
        self,
        records: Any,
        side: str,
        *,
        delimiter: str | None = None,
        repair: bool = False,
        is_single_allowed: bool = False,
    ) -> None:
        if callable(records) and not isinstance(records, (Iterable, type)):
            records = records()
        records = to_rows(records)
        self.form: DataForm = "values"
        self.is_held: bool = isinstance(records, Sequence)
        self.names: Sequence[str | int] | None = None
        """The ids of the records, if they are files or given as a mapping."""
        self.path: Path | None = None
        self.file: Any = None
        self.name: str = ""
        """The display name of the file."""
        self.start: FileOffset = FileOffset()
        """The offset at which iteration starts."""
        self.paths: dict[str, Path] = {}
        """The files of a folder or a glob, by name."""
        self.warnings: tuple[str, ...] = ()
        """Warnings from reading an array of answers."""
        self.header: tuple[str, ...] = ()
        """The columns of a CSV file, once the first row is read."""
        self._records = records
        self._side = side
        self._delimiter = delimiter
        self._repair = repair
        self._is_single_allowed = is_single_allowed
        self._again: Any = None
        self._absolute = Path()
        self._stamp: tuple[int, int] | None = None
        if isinstance(records, (str, os.PathLike)):
            self.path = Path(records)
            self.name = str(records)
            self.is_held = False
        elif isinstance(records, BufferedIOBase):
            given = getattr(records, "name", None)
            self.file = records
            self.name = given if isinstance(given, str) else "<stdin>"
        elif isinstance(records, Mapping) and side != "actual":
            self.names, self._records = tuple(records), records.values()
        elif isinstance(records, (bytes, bytearray, Mapping)) or not isinstance(records, Iterable):
            message = (
                f"{side} must be a list or an iterator of records, or the path of a file of records "
                f"(JSON Lines, CSV, a JSON array), a folder or a glob, got {type(records).__name__}"
            )
            raise ConfigurationError(message)

    @classmethod
    def of_part(cls, part: FilePart) -> RecordSource:
        """Return a source for some lines of a file."""
        source = cls(part.path, "")
        source.name = part.name
        source.file, source.form = BytesIO(part.read()), "lines"
        source.start = part.start
        return source

    # -- opening -------------------------------------------------------------------------------------------

    def __enter__(self) -> RecordSource:
        if self.path is None and self.file is None:
            return self
        if self.path is not None and self.path.is_dir():
            is_actual = self._side == "actual"
            suffixes = ANSWER_SUFFIXES if is_actual else GOLD_SUFFIXES
            names = list_files(self.path, suffixes)
            self._use_files(
                {name: self.path / name for name in names},
                f"{self.path} has no JSON files (*.json{', *.txt' * is_actual})",
            )
        elif self.path is not None and is_glob(str(self.path)):
            pattern = self.path.as_posix()
            found = name_files(pattern, find_files(pattern, Path()))
            self._use_files({name: Path(path) for name, path in found.items()}, f"no file matches {pattern}")
        else:
            try:
                self._open()
            except BaseException:
                self.__exit__()
                raise
        return self

    def _use_files(self, paths: dict[str, Path], problem: str) -> None:
        if not paths:
            raise ConfigurationError(problem)
        self.form, self.path, self.paths, self.names = "files", None, paths, tuple(paths)

    def _open(self) -> None:
        suffix = self.path.suffix.lower() if self.path is not None and self.is_file else ""
        if suffix in _OTHERS:
            raise ConfigurationError(
                f"{self.name} is {_OTHERS[suffix]}, but records must be JSON Lines (.jsonl), CSV (.csv), a "
                "JSON array (.json) or a folder of JSON files; in Python, compare_corpus takes data frames"
            )
        if self.path is not None:
            try:
                self.file = self.path.open("rb")
            except (OSError, ValueError) as error:
                message = f"{self._side} {str(self.path)!r} can't be read: {reason_of(error)}"
                raise ConfigurationError(message) from None
        start = self.file.peek(1) if self.path is not None and self.is_file else b""
        if start.startswith(_OTHER_UNICODE):
            raise ConfigurationError(f"{self.name} seems to be UTF-16 or UTF-32; save it as UTF-8")
        is_csv = suffix in DELIMITERS or (self._delimiter is not None and suffix not in {*LINES, ".json"})
        if is_csv:
            self.form, self._delimiter = "csv", self._delimiter or DELIMITERS[suffix]
            self._check_header()
        elif start.startswith(RESULTS_START):
            other = choose_words("compare_runs compares", "jsonmatch diff compares")
            raise ConfigurationError(f"{self.name} is a result file, not records; {other} result files")
        elif suffix not in LINES and (suffix == ".json" or self._begins_with_bracket()):
            self.form, self.is_held = "array", True
            content = self.file.read()
            self._records = (
                self._read_answers(content) if self._side == "actual" else self._read_array(content)
            )
        else:
            self.form = "lines"

    def _begins_with_bracket(self) -> bool:
        return bool(self.file.peek(1).lstrip(_BLANK)[:1] == b"[")

    def _check_header(self) -> None:
        """Read the names of the columns of a file that can be read again."""
        if self.is_file and self.path is not None:
            with self.path.open("rb") as stream:
                row = next(self._csv_rows(stream), None)
                self.header = row.header if row is not None else ()

    def _csv_rows(self, stream: Any, header: tuple[str, ...] = ()) -> Iterator[CsvRow]:
        try:
            yield from read_csv(stream, cast("str", self._delimiter), header)
        except RowError as error:
            raise ConfigurationError(f"{self.name}:{error.line}: {error}") from error

    def _read_array(self, content: bytes) -> list[Any]:
        try:
            array = parse_json(content)
        except JsonParseError as error:
            raise self._not_json(error) from None
        # A str from a file is a value; a str in a list of gold records is JSON text.
        return [as_gold_text(record) for record in self._check_array(array)]

    def _read_answers(self, content: bytes) -> list[Any]:
        """Return the answers of an array; all as text if one has too many levels or digits."""
        with suppress(JsonParseError):
            return self._check_array(parse_json(content))
        try:
            found = extract_json(content, want="array", repair=self._repair)
        except JsonExtractionError as error:
            if answers := _split_array(content.decode("utf-8", "ignore")):
                return answers
            try:
                parse_json(content)
            except JsonParseError as strict:
                # If the file is supposed to be JSON, the position helps more than "no JSON found".
                is_text = content.decode("utf-8", "ignore").encode() == content
                if not is_text or content.lstrip(_BLANK)[:1] in {b"", b"{", b"["}:
                    raise self._not_json(strict) from None
            raise ConfigurationError(f"{self.name}: {error}") from None
        self.warnings = found.warnings
        return self._check_array(found.value)

    def _not_json(self, error: JsonParseError, name: str = "") -> ConfigurationError:
        near = f" near {error.excerpt!r}" if error.excerpt else ""
        return ConfigurationError(
            f"{name or self.name}:{error.line}:{error.column}: not valid JSON: {error.reason}{near}"
        )

    def _check_array(self, array: Any) -> list[Any]:
        if type(array) is not list:
            if self._is_single_allowed:
                return [array]
            single = choose_words("compare_json", "jsonmatch compare")
            raise ConfigurationError(
                f"{self.name} must be an array of records, got a single JSON value; a file with a record "
                f"in each line needs the suffix .jsonl, and {single} compares two single values"
            )
        return array

    def __exit__(self, *_: object) -> None:
        for file in (self.file if self.path is not None else None, self._again):
            if file is not None:
                file.close()

    # -- properties ----------------------------------------------------------------------------------------

    @property
    def is_file(self) -> bool:
        """Whether the records are in one file that can be read again, neither a pipe nor standard input."""
        return self.path is not None and self.path.is_file()

    @property
    def is_in_file(self) -> bool:
        """Whether the records come out of files, so that no caller holds their values."""
        return self.path is not None

    def get_id(self, position: int) -> str | int:
        """Return the id of the record at a position; without ids, its number, counted from 1 like lines."""
        return position + 1 if self.names is None else self.names[position]

    # -- reading -------------------------------------------------------------------------------------------

    def numbered(self) -> Iterator[tuple[int, Any]]:
        """Yield each record as it was read, with its line in the file, or with its number without lines.

        Raises:
            RowError: the first row of a CSV file does not name the columns.
        """
        if self.form == "lines":
            lines = enumerate(self.file, 1)
            return ((number, line.rstrip(b"\r\n")) for number, line in lines if line.strip(_BLANK))
        if self.form == "csv":
            return ((row.line, row) for row in read_csv(self.file, cast("str", self._delimiter)))
        return enumerate(self._records, 1)

    def __iter__(self) -> Iterator[tuple[str | None, Any, int | None]]:
        """Yield (file and line, record, offset if the record can be read again)."""
        if self.form == "lines":
            return self._iter_lines()
        if self.form == "csv":
            return self._iter_rows()
        if self.form == "files":
            return ((None, self._read_file(path), None) for path in self.paths.values())
        return ((None, record, None) for record in self._records)

    def _read_file(self, path: Path) -> Any:
        """Return the record in a file of its own: a gold record, or the text of an answer."""
        try:
            content = path.read_bytes()
        except OSError as error:
            raise ConfigurationError(f"{path} can't be read: {reason_of(error)}") from None
        if self._side == "actual":
            return content
        try:
            return as_gold_text(parse_json(content))
        except JsonParseError as error:
            raise self._not_json(error, str(path)) from None

    def read_named(self, name: str) -> Any:
        """Return the record in the file with a name."""
        return self._read_file(self.paths[name])

    def _iter_lines(self) -> Iterator[tuple[str | None, Any, int | None]]:
        offset = self.start.offset
        is_seekable = self.path is not None and self.file.seekable()
        for number, line in enumerate(self.file, self.start.lines + 1):
            if not line.isspace() and line.strip(_BLANK):
                yield f"{self.name}:{number}", line.rstrip(b"\r\n"), offset if is_seekable else None
            offset += len(line)

    def _iter_rows(self) -> Iterator[tuple[str | None, Any, int | None]]:
        is_seekable = self.is_file
        for row in self._csv_rows(self.file):
            self.header = row.header
            yield f"{self.name}:{row.line}", row, row.offset if is_seekable else None

    def read_again(self, offset: int) -> Any:
        """Return the record of the file that starts at an offset, without affecting iteration."""
        if self._again is None:
            assert self.path is not None  # noqa: S101 - only files have offsets
            self._again = self.path.open("rb")
        self._again.seek(offset)
        if self.form == "csv":
            return next(self._csv_rows(self._again, self.header))
        return self._again.readline().rstrip(b"\r\n")

    def move_to(self, offset: FileOffset) -> None:
        """Make iteration over the file start at an offset."""
        self.file.seek(offset.offset)
        self.start = offset

    def read_part(self, records: int) -> FilePart:
        """Read the next lines of the file, with up to this many records; iteration starts after them."""
        missing, size, lines = records, 0, 0
        while missing and (more := list(islice(self.file, missing))):
            size += sum(map(len, more))
            lines += len(more)
            missing -= len(more) - sum(map(bytes.isspace, more))
        assert self.path is not None  # noqa: S101 - for the type checker, since only files are read in parts
        if self._stamp is None:
            # Workers of a cluster may have another working folder.
            self._absolute, self._stamp = self.path.absolute(), stamp_of(self.path)
        start, found = self.start, records - missing
        self.start = FileOffset(start.offset + size, start.lines + lines, start.records + found)
        return FilePart(self._absolute, self.name, self._stamp, start, self.start)


def as_gold_text(value: Any) -> Any:
    """Return a gold value as an argument of `compare_corpus`, which parses a str as JSON text."""
    return json.dumps(value) if type(value) is str else value


def _split_array(array: str) -> list[str]:
    """Return the elements of a JSON array as text; empty if it is not valid JSON even without our limits."""
    decoder = json.JSONDecoder(parse_int=float)
    texts, start = [], array.find("[") + 1
    with suppress(ValueError, RecursionError):
        decoder.decode(array.lstrip("\ufeff"))
        while (start := len(array) - len(array[start:].lstrip(" \t\r\n,"))) < len(array) and array[
            start
        ] != "]":
            value, end = decoder.raw_decode(array, start)
            texts.append(value if type(value) is str else array[start:end])
            start = end
        return texts
    return []
