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
    lines_of,
    name_of,
    open_input,
    refuse_two_stdins,
    value_of,
    value_of_answer,
    values_of_lines,
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
    """Both sides of a corpus, as `compare_corpus` takes them.

    Args:
        actual: the answers.
        expected: the gold records.
        alone: files with answers that belong to no gold file.
        warnings: what was tolerated.
    """

    actual: Any
    expected: Any
    alone: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@contextmanager
def open_sides(actual: str, expected: str, options: Namespace) -> Iterator[Sides]:
    """Open both sides of a corpus by their names on the command line; the options say how they are paired.

    Raises:
        OSError: a side can't be read.
        CommandError: the sides are not a corpus.
    """
    refuse_two_stdins(actual, expected)
    folders = [side != STDIN and Path(side).is_dir() for side in (actual, expected)]
    if all(folders):
        if options.id_field is not None:
            raise CommandError(
                "files in folders are paired by their names; --id-field is for records in one file"
            )
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
        if type(records) is list and options.id_field is None:
            # Where no object or array is expected, a string is a value, not a model's output.
            for at, record in enumerate(records[: len(answers)]):
                answers[at] = answers[at] if type(record) in {dict, list} else _as_text(answers[at])
    elif _is_file(actual):
        answers = actual
    else:
        answers = (line for _, line in lines_of(answer_stream))
    return Sides(answers, records, warnings=warnings)


def _answers(written: str, content: bytes, *, repair: bool) -> tuple[list[Any], tuple[str, ...]]:
    """Return the answers of an array, and what was tolerated in reading them.

    If one has too many levels or digits, all are returned as text: then that one alone counts as no JSON.
    """
    try:
        array, warnings = value_of_answer(written, "array", repair=repair, content=content)
    except CommandError:
        if answers := _texts(content.decode("utf-8", "ignore")):
            return answers, ()
        raise
    return _array(written, array), warnings


def _texts(array: str) -> list[str]:
    """Return the elements of a JSON array as text; none if it is no JSON beyond our limits either."""
    decoder = json.JSONDecoder(parse_int=float)
    texts, at = [], array.find("[") + 1
    with suppress(ValueError, RecursionError):
        decoder.decode(array.lstrip("\ufeff"))
        while (at := len(array) - len(array[at:].lstrip(" \t\r\n,"))) < len(array) and array[at] != "]":
            value, end = decoder.raw_decode(array, at)
            texts.append(value if type(value) is str else array[at:end])
            at = end
        return texts
    return []


def _gold_records(written: str, stream: BufferedReader) -> list[Any] | str | Iterator[Any]:
    """Return gold records: those of an array, the path of JSON Lines, or lines that can be read once."""
    if _is_array(written, stream):
        return [_as_text(record) for record in _array(written, value_of(written, stream.read()))]
    if _is_file(written):
        return written
    return (_as_text(value) for _, value in values_of_lines(written, stream))


def open_golds(written: Sequence[str]) -> dict[str, Any]:
    """Return several golds by name: each a path of JSON Lines, a list, or the files of a folder by name.

    Raises:
        OSError: one can't be read.
        CommandError: one is not a list of records, or is given twice.
    """
    return {name: _gold(each) for name, each in by_name(written).items()}


def by_name(written: Sequence[str]) -> dict[str, str]:
    """Return files by name, without folder and suffix if these names differ.

    Raises:
        CommandError: one is given twice.

    >>> by_name(["out/a.jsonl", "out/b.jsonl"]), by_name(["a/out.jsonl", "b/out.jsonl"])
    ({'a': 'out/a.jsonl', 'b': 'out/b.jsonl'}, {'a/out.jsonl': 'a/out.jsonl', 'b/out.jsonl': 'b/out.jsonl'})
    """
    if len(set(written)) < len(written):
        raise CommandError("one file is given twice")
    short = [Path(each).stem for each in written]
    return dict(zip(short if len(set(short)) == len(short) else written, written, strict=True))


def _gold(written: str) -> Any:
    if written != STDIN and Path(written).is_dir():
        return _Folder(Path(written))
    with _open_records(written) as stream:
        found = _gold_records(written, stream)
        return list(found) if isinstance(found, Iterator) else found


@final
class _Folder(Mapping[str, Any]):
    """The JSON files of a folder by name, each read when it is looked up."""

    def __init__(self, folder: Path) -> None:
        self._paths = {name: folder / name for name in names_in(folder, (".json",))}
        if not self._paths:
            raise CommandError(f"{folder} has no JSON files (*.json)")

    def __getitem__(self, name: str) -> Any:
        return _as_text(value_of(str(self._paths[name])))

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


def gold_records(written: str) -> Iterator[Any]:
    """Yield the JSON values of one side: of lines, of an array, of a folder, or of a file with one value.

    Raises:
        OSError: it can't be read.
        CommandError: it is not strict JSON.
    """
    if written != STDIN and Path(written).is_dir():
        folder = Path(written)
        yield from (value_of(str(folder / name)) for name in names_in(folder, (".json",)))
        return
    with _open_records(written) as stream:
        if _is_array(written, stream):
            found = value_of(written, stream.read())
            yield from found if type(found) is list else [found]
        else:
            yield from (value for _, value in values_of_lines(written, stream))


# -- folders -----------------------------------------------------------------------------------------------


def _folders(actual: Path, expected: Path) -> Sides:
    golds = _Folder(expected)
    there = set(names_in(actual, (".json", ".txt")))
    # A model's output is not always JSON.
    found = [name if name in there else Path(name).with_suffix(".txt").as_posix() for name in golds]
    matched = [name if name in there else None for name in found]
    if not any(matched):
        raise CommandError(f"no file in {actual} has the name of a file in {expected}")
    return Sides(
        actual=(MISSING if name is None else (actual / name).read_bytes() for name in matched),
        expected=golds,
        alone=tuple(sorted(there.difference(filter(None, matched)))),
    )


def names_in(folder: Path, suffixes: tuple[str, ...] | None) -> list[str]:
    """Return the paths, in a folder, of all files below it that are not hidden; None allows any suffix."""
    found = (path for path in folder.rglob("*") if suffixes is None or path.suffix.lower() in suffixes)
    paths = [path.relative_to(folder) for path in found]
    shown = (path for path in paths if not any(part.startswith(".") for part in path.parts))
    return sorted(path.as_posix() for path in shown if (folder / path).is_file())


# -- files -------------------------------------------------------------------------------------------------


@contextmanager
def _open_records(written: str) -> Iterator[BufferedReader]:
    """Open a file of records, or standard input for "-".

    Raises:
        OSError: it can't be read.
        CommandError: its name is that of a table.
    """
    if (form := _TABLES.get(Path(written).suffix.lower())) is not None and _is_file(written):
        raise CommandError(
            f"{written} is {form}, but records must be JSON Lines (.jsonl), a JSON array (.json) or a folder "
            "of JSON files; in Python, compare_corpus takes data frames"
        )
    with open_input(written) as stream:
        yield stream


def _is_file(written: str) -> bool:
    """Tell whether an input can be read again: it is neither standard input nor a pipe."""
    return written != STDIN and Path(written).is_file()


def _is_array(written: str, stream: BufferedReader) -> bool:
    """Tell whether a side is one array, rather than a record in each line."""
    suffix = Path(written).suffix.lower() if _is_file(written) else ""
    if suffix in LINES:
        return False
    return suffix == ".json" or stream.peek(1).lstrip(_BLANK)[:1] == b"["


def _array(written: str, array: Any) -> list[Any]:
    if type(array) is not list:
        raise CommandError(
            f"{name_of(written)} holds one JSON value, not an array of records; the name of a file with a "
            "record in each line ends in .jsonl, and jsonmatch compare is for two single values"
        )
    return array


def _as_text(value: Any) -> Any:
    """Return a gold record as `compare_corpus` takes it: there a str is JSON text."""
    return json.dumps(value) if type(value) is str else value
