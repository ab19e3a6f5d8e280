"""A corpus on the command line: each side is JSON Lines, a JSON array, or a folder of JSON files."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.cli.inputs import (
    STDIN,
    iter_lines,
    iter_values,
    name_of,
    open_input,
    read_answer,
    read_value,
    refuse_two_stdins,
)
from pytest_jsonmatch.engine.value.convert import MISSING

if TYPE_CHECKING:
    from io import BufferedReader

LINES: Final = {".jsonl", ".ndjson"}
_TABLES: Final = {".csv": "CSV", ".tsv": "TSV", ".xlsx": "Excel", ".parquet": "Parquet"}
_BLANK: Final = b"\xef\xbb\xbf \t\r\n"


@final
@dataclass(frozen=True, slots=True)
class Sides:
    """Both sides of a corpus, as arguments of `compare_corpus`.

    Args:
        actual: the answers.
        expected: the gold records.
        unmatched: files with answers that have no gold file.
        warnings: the warnings from reading the answers.
    """

    actual: Any
    expected: Any
    unmatched: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@contextmanager
def open_sides(actual: str, expected: str, options: Namespace) -> Iterator[Sides]:
    """Open both sides of a corpus, given by file names or `-`; the options decide how records are paired.

    Raises:
        OSError: a side can't be read.
        CommandError: the sides are not a corpus.
    """
    refuse_two_stdins(actual, expected)
    folders = [side != STDIN and Path(side).is_dir() for side in (actual, expected)]
    if all(folders):
        if options.id is not None:
            raise CommandError("files in folders are paired by their names; --id is for records in one file")
        yield _folders(Path(actual), Path(expected))
    elif any(folders):
        one, other = (actual, expected) if folders[0] else (expected, actual)
        if other != STDIN and not Path(other).exists():
            raise FileNotFoundError(2, "no such file or directory", other)
        raise CommandError(f"{one} is a folder and {name_of(other)} is not; give two folders or two files")
    else:
        with _open_records(expected) as records, _open_records(actual) as answers:
            yield _files(actual, answers, expected, records, options)


def _files(
    actual: str,
    answer_stream: BufferedReader,
    expected: str,
    stream: BufferedReader,
    options: Namespace,
) -> Sides:
    records = _gold_records(expected, stream)
    answers: Any
    warnings: tuple[str, ...] = ()
    if _is_array(actual, answer_stream):
        answers, warnings = _answers(actual, answer_stream.read(), repair=options.repair)
        if type(records) is list and options.id is None:
            # If gold is a number, a boolean or null, a string is a value and not the output of a model.
            for index, record in enumerate(records[: len(answers)]):
                is_text = type(record) in {dict, list, str}
                answers[index] = answers[index] if is_text else _as_text(answers[index])
    elif _is_file(actual):
        answers = actual
    else:
        answers = (line for _, line in iter_lines(answer_stream))
    return Sides(answers, records, warnings=warnings)


def _answers(source: str, content: bytes, *, repair: bool) -> tuple[list[Any], tuple[str, ...]]:
    """Return the answers of an array, and the warnings from reading them.

    If one of them has too many levels or digits, all are returned as text: then only that one is not JSON.
    """
    try:
        array, warnings = read_answer(source, "array", repair=repair, content=content)
    except CommandError:
        if answers := _texts(content.decode("utf-8", "ignore")):
            return answers, ()
        raise
    return _array(source, array), warnings


def _texts(array: str) -> list[str]:
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


def _gold_records(source: str, stream: BufferedReader) -> list[Any] | str | Iterator[Any]:
    """Return gold records: of an array, as the path of JSON Lines, or as an iterator over standard input."""
    if _is_array(source, stream):
        return [_as_text(record) for record in _array(source, read_value(source, stream.read()))]
    if _is_file(source):
        return source
    return (_as_text(value) for _, value in iter_values(source, stream))


def open_gold_records(sources: Sequence[str]) -> dict[str, Any]:
    """Return sets of gold records by name: each a path of JSON Lines, a list, or the files of a folder.

    Raises:
        OSError: a file can't be read.
        CommandError: a file is not a list of records, or is given twice.
    """
    return {name: _gold(path) for name, path in files_by_name(sources).items()}


def files_by_name(paths: Sequence[str]) -> dict[str, str]:
    """Return files by name, without folder and suffix if these names are unique.

    Raises:
        CommandError: a file is given twice.

    >>> files_by_name(["out/a.jsonl", "out/b.jsonl"]), files_by_name(["a/out.jsonl", "b/out.jsonl"])
    ({'a': 'out/a.jsonl', 'b': 'out/b.jsonl'}, {'a/out.jsonl': 'a/out.jsonl', 'b/out.jsonl': 'b/out.jsonl'})
    """
    if len(set(paths)) < len(paths):
        raise CommandError("one file is given twice")
    short = [Path(path).stem for path in paths]
    return dict(zip(short if len(set(short)) == len(short) else paths, paths, strict=True))


def _gold(source: str) -> Any:
    if source != STDIN and Path(source).is_dir():
        return _Folder(Path(source))
    with _open_records(source) as stream:
        records = _gold_records(source, stream)
        return list(records) if isinstance(records, Iterator) else records


@final
class _Folder(Mapping[str, Any]):
    """The JSON files of a folder by name, each read when it is looked up."""

    def __init__(self, folder: Path) -> None:
        self._paths = {name: folder / name for name in list_files(folder, (".json",))}
        if not self._paths:
            raise CommandError(f"{folder} has no JSON files (*.json)")

    def __getitem__(self, name: str) -> Any:
        return _as_text(read_value(str(self._paths[name])))

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


def gold_records(source: str) -> Iterator[Any]:
    """Yield the JSON values of one side: lines, the elements of an array, files of a folder, or one value.

    Raises:
        OSError: it can't be read.
        CommandError: it is not strict JSON.
    """
    if source != STDIN and Path(source).is_dir():
        folder = Path(source)
        yield from (read_value(str(folder / name)) for name in list_files(folder, (".json",)))
        return
    with _open_records(source) as stream:
        if _is_array(source, stream):
            found = read_value(source, stream.read())
            yield from found if type(found) is list else [found]
        else:
            yield from (value for _, value in iter_values(source, stream))


# -- folders -----------------------------------------------------------------------------------------------


def _folders(actual: Path, expected: Path) -> Sides:
    gold = _Folder(expected)
    present = set(list_files(actual, (".json", ".txt")))
    # The output of a model may be text: then the answer has the suffix .txt.
    candidates = [name if name in present else Path(name).with_suffix(".txt").as_posix() for name in gold]
    answers = [name if name in present else None for name in candidates]
    if not any(answers):
        raise CommandError(f"no file in {actual} has the name of a file in {expected}")
    return Sides(
        actual=(MISSING if name is None else (actual / name).read_bytes() for name in answers),
        expected=gold,
        unmatched=tuple(sorted(present.difference(filter(None, answers)))),
    )


def list_files(folder: Path, suffixes: tuple[str, ...] | None) -> list[str]:
    """Return the relative paths of all files in a folder that are not hidden; None allows any suffix."""
    matching = (path for path in folder.rglob("*") if suffixes is None or path.suffix.lower() in suffixes)
    paths = [path.relative_to(folder) for path in matching]
    visible = (path for path in paths if not any(part.startswith(".") for part in path.parts))
    return sorted(path.as_posix() for path in visible if (folder / path).is_file())


# -- files -------------------------------------------------------------------------------------------------


@contextmanager
def _open_records(source: str) -> Iterator[BufferedReader]:
    """Open a file of records, or standard input for "-".

    Raises:
        OSError: it can't be read.
        CommandError: it is a table, such as a CSV file.
    """
    if (form := _TABLES.get(Path(source).suffix.lower())) is not None and _is_file(source):
        raise CommandError(
            f"{source} is {form}, but records must be JSON Lines (.jsonl), a JSON array (.json) or a folder "
            "of JSON files; in Python, compare_corpus takes data frames"
        )
    with open_input(source) as stream:
        yield stream


def _is_file(source: str) -> bool:
    """Return whether an input can be read again: it is neither standard input nor a pipe."""
    return source != STDIN and Path(source).is_file()


def _is_array(source: str, stream: BufferedReader) -> bool:
    """Return whether a side is a single array rather than a record in each line."""
    suffix = Path(source).suffix.lower() if _is_file(source) else ""
    if suffix in LINES:
        return False
    return suffix == ".json" or stream.peek(1).lstrip(_BLANK)[:1] == b"["


def _array(source: str, array: Any) -> list[Any]:
    if type(array) is not list:
        raise CommandError(
            f"{name_of(source)} must be an array of records, got a single JSON value; a file with a record "
            "in each line needs the suffix .jsonl, and jsonmatch compare compares two single values"
        )
    return array


def _as_text(value: Any) -> Any:
    """Return a gold record as an argument of `compare_corpus`, for which a str may be JSON text."""
    return json.dumps(value) if type(value) is str else value
