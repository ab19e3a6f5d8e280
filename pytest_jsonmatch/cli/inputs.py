"""Inputs of commands: JSON from files and standard input, modules, schemas; errors say file:line:column."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from configparser import ConfigParser
from configparser import Error as ParserError
from contextlib import contextmanager, redirect_stdout, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast, final

from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.engine.value.convert import JsonValue
from pytest_jsonmatch.engine.value.errors import (
    ConfigurationError,
    JsonExtractionError,
    JsonMatchError,
    JsonParseError,
    did_you_mean,
    write_arguments_as,
)
from pytest_jsonmatch.engine.value.named import import_object
from pytest_jsonmatch.reading.datafiles import has_yaml_suffix
from pytest_jsonmatch.reading.extract import Want, extract_json
from pytest_jsonmatch.reading.strict import parse_json
from pytest_jsonmatch.records.files import is_glob
from pytest_jsonmatch.records.pairing import iter_records

if TYPE_CHECKING:
    from io import BufferedReader

    from pytest_jsonmatch.schema.documents import SchemaSource

STDIN: Final = "-"


def refuse_two_stdins(one: str, other: str) -> None:
    """Check that at most one side is standard input, which can be read only once.

    Raises:
        CommandError: both sides are "-".

    >>> refuse_two_stdins("-", "gold.json")
    """
    if one == other == STDIN:
        raise CommandError("both sides are '-', but standard input can be read only once; give one a file")


def name_of(source: str) -> str:
    """Return the name of an input for messages.

    >>> name_of("-"), name_of("a.json")
    ('<stdin>', 'a.json')
    """
    return "<stdin>" if source == STDIN else source


@contextmanager
def open_input(source: str) -> Iterator[BufferedReader]:
    """Open a file, or standard input for "-".

    Raises:
        OSError: it can't be read.
    """
    if source == STDIN:
        yield cast("BufferedReader", sys.stdin.buffer)
    else:
        with Path(source).open("rb") as stream:
            yield stream


def read_content(source: str) -> bytes:
    """Return the content of a file, or of standard input for "-".

    Raises:
        OSError: it can't be read.
    """
    with open_input(source) as stream:
        return stream.read()


def records_of(source: str) -> Any:
    """Return the records that an argument names, as `compare_corpus` accepts them.

    Raises:
        OSError: there is no such file.
    """
    if source == STDIN:
        return sys.stdin.buffer
    path = Path(source)
    if not path.exists() and not is_glob(source):
        path.open("rb").close()  # raises the error
    return source


def gold_records(source: str, delimiter: str | None = None) -> Iterator[Any]:
    """Yield the JSON values of one side: lines, rows, elements of an array, files, or one value.

    Raises:
        OSError: it can't be read.
        CommandError: it is not strict JSON.
    """
    try:
        yield from iter_records(records_of(source), delimiter=delimiter)
    except JsonMatchError as error:
        raise CommandError(str(error)) from None


def refuse_repeated(paths: Iterable[str | Path]) -> None:
    """Check that each file is given once, under whatever path.

    Raises:
        CommandError: a file is given twice.

    >>> refuse_repeated(["a.json", "b.json"])
    """
    given: dict[object, str] = {}
    for path in map(str, paths):
        # The number of a file also identifies links, and names on file systems that ignore case.
        identity: object = os.path.realpath(path)
        with suppress(OSError):  # a glob, standard input, or missing, which is reported when it is read
            status = Path(path).stat()
            identity = (status.st_dev, status.st_ino) if status.st_ino else identity
        if identity in given:
            earlier = given[identity]
            fault = f"{path} is given twice" if path == earlier else f"{earlier} and {path} are the same file"
            raise CommandError(f"{fault}; name each file once")
        given[identity] = path


def files_by_name(paths: Sequence[str]) -> dict[str, str]:
    """Return files by name, without folder and suffix if these names are unique.

    >>> files_by_name(["out/a.jsonl", "out/b.jsonl"]), files_by_name(["a/out.jsonl", "b/out.jsonl"])
    ({'a': 'out/a.jsonl', 'b': 'out/b.jsonl'}, {'a/out.jsonl': 'a/out.jsonl', 'b/out.jsonl': 'b/out.jsonl'})
    """
    short = [Path(path).stem for path in paths]
    return dict(zip(short if len(set(short)) == len(short) else paths, paths, strict=True))


def iter_lines(stream: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    r"""Yield the lines that are not blank, each with its number.

    >>> list(iter_lines([b"1\n", b" \n", b"2\n"]))
    [(1, b'1'), (3, b'2')]
    """
    for number, line in enumerate(stream, start=1):
        if line.removeprefix(b"\xef\xbb\xbf").strip():
            yield number, line.rstrip(b"\r\n")


def is_json_lines(content: bytes) -> bool:
    r"""Return whether text has a JSON value in each of its first two lines.

    >>> is_json_lines(b'{"a": 1}\n{"a": 2}\n{'), is_json_lines(b'{\n"a": 1}'), is_json_lines(b'{"a": 1}\n')
    (True, False, False)
    """
    first = [line for _, line in islice(iter_lines(content.splitlines()), 2)]
    try:
        return len(list(map(parse_json, first))) > 1
    except JsonParseError:
        return False


@final
class AnswerError(CommandError):
    """An answer does not contain JSON. It counts as an answer in which everything is missing."""


def _describe(source: str, error: JsonParseError) -> str:
    """Return a message on invalid JSON text, with the line and column in the file."""
    near = f" near {error.excerpt!r}" if error.excerpt else ""
    location = f"{name_of(source)}:{error.line}:{error.column}"
    return f"{location}: not valid JSON: {error.reason}{near}"


def read_value(source: str, content: bytes | None = None) -> JsonValue:
    """Return the JSON value of a file, parsed from `content` if that has already been read.

    Raises:
        OSError: it can't be read.
        CommandError: it is not strict JSON; the message says where.
    """
    try:
        return parse_json(read_content(source) if content is None else content)
    except JsonParseError as error:
        raise CommandError(_describe(source, error)) from None


def read_answer(
    source: str, kind: Want | None, *, repair: bool, content: bytes | None = None
) -> tuple[JsonValue, tuple[str, ...]]:
    """Return the JSON value of an answer, of the expected kind, and the warnings from reading it.

    A file that contains only JSON is parsed as it is. In any other text JSON is searched for, as in any
    answer of a model.

    Raises:
        OSError: it can't be read.
        AnswerError: it does not contain JSON; the message says where it is not valid.
    """
    content = read_content(source) if content is None else content
    name = name_of(source)
    try:
        return parse_json(content), ()
    except JsonParseError as error:
        strict = error
    try:
        extraction = extract_json(content, want=kind, repair=repair)
    except JsonExtractionError as error:
        # If the file is supposed to be JSON, the position of the mistake helps more than "no JSON found".
        is_text = content.decode("utf-8", "ignore").encode() == content
        if not is_text or content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in {b"", b"{", b"["}:
            raise AnswerError(_describe(source, strict)) from None
        raise AnswerError(f"{name}: {error}") from None
    return extraction.value, extraction.warnings


def read_config(source: str) -> dict[str, Any]:
    """Return the rules in a file, as arguments of `compare_json`, with the metric if the file has one.

    The file has options of a metric, also under structeval's names, or the keys that golden files have next
    to their cases, such as `metric`, `fields` and `options`. Other keys of golden files have no effect.

    Raises:
        OSError: it can't be read.
        CommandError: it is not a mapping, or has an unknown or invalid option.
    """
    from pytest_jsonmatch.engine.plan.options import OPTION_NAMES, Options, merge_options
    from pytest_jsonmatch.golden.keys import FILE_KEYS

    config, name = _read_mapping(source), name_of(source)
    if not config.keys().isdisjoint(FILE_KEYS - set(OPTION_NAMES)):
        return _read_golden_rules(config, source)
    try:
        with write_arguments_as("options"):
            merge_options(Options(), config)
    except ConfigurationError as error:
        raise CommandError(f"{name}: {error}") from None
    return config


def _read_mapping(source: str) -> dict[str, Any]:
    name = name_of(source)
    if has_yaml_suffix(Path(source)):
        from pytest_jsonmatch.reading.errors import GoldenFileError
        from pytest_jsonmatch.reading.yamlevents import parse

        try:
            config = parse(read_content(source), name, holds_cases=True)
        except GoldenFileError as error:
            raise CommandError(str(error)) from None
    else:
        config = read_value(source)
    if type(config) is not dict:
        raise CommandError(f"{name}: a configuration must be a mapping of options (in JSON, an object)")
    return config


def _read_golden_rules(config: dict[str, Any], source: str) -> dict[str, Any]:
    """Return the rules of a golden file."""
    from pytest_jsonmatch.golden.keys import FILE_KEYS, KEYS
    from pytest_jsonmatch.reading.errors import InvalidValueError

    for key, value in config.items():
        if key not in FILE_KEYS and key not in KEYS:
            raise CommandError(
                f"{name_of(source)}: unknown key {key!r}{did_you_mean(key, sorted(FILE_KEYS))}"
            )
        check = KEYS[key].check if key in KEYS and key not in {"expected", "marks"} else None
        try:
            with write_arguments_as("case"):
                if check is not None:
                    check(value)
        except InvalidValueError as error:
            subject = f"`{key}`" if error.reason.startswith(":") else f"`{key}` "
            raise CommandError(f"{name_of(source)}: {subject}{error.reason}") from None
    rules = dict(config.get("options") or {})
    rules |= {key: config[key] for key in ("metric", "fields", "accept", "skip", "schema") if key in config}
    if type(rules.get("schema")) is str:
        rules["schema"] = str(Path(source).parent / rules["schema"])
    return rules


# -- modules, and schemas named by a module ----------------------------------------------------------------


def import_named(reference: str) -> Any:
    """Import a module, or an object as `module:name`.

    The current folder is searched first, as `python -m` does, then those of pytest's ini option `pythonpath`.

    A path that ends in `.py` is imported as the module of that name, its folder first.

    Raises:
        CommandError: it can't be imported, or the module has no such name.

    >>> import_named("json").__name__
    'json'
    """
    folder = Path.cwd()
    folders = list(map(str, (folder, *_pythonpath(folder))))
    if reference.endswith(".py"):
        path = Path(reference).resolve()
        if not path.is_file():
            raise CommandError(f"{reference}: no such file or directory")
        folders, reference = [str(path.parent), *folders], path.stem
    sys.path[:0] = folders
    try:
        # The output of a module must not be mixed with the command's own.
        with redirect_stdout(sys.stderr):
            return import_object(reference)
    except ConfigurationError as error:
        raise CommandError(str(error).splitlines()[0]) from error
    finally:
        # The module may have inserted or removed entries.
        for entry in folders:
            with suppress(ValueError):
                sys.path.remove(entry)


_INI_FILES: Final = {
    "pytest.toml": ("pytest",),
    ".pytest.toml": ("pytest",),
    "pytest.ini": ("pytest",),
    ".pytest.ini": ("pytest",),
    "pyproject.toml": ("tool.pytest", "tool.pytest.ini_options"),
    "tox.ini": ("pytest",),
    "setup.cfg": ("tool:pytest",),
}
"""The files in which pytest looks for its options, in this order, with the names of their sections."""


def _pythonpath(folder: Path) -> list[Path]:
    """Return the folders of pytest's ini option `pythonpath`, of the first configuration above a folder."""
    for parent in (folder, *folder.parents):
        for name, sections in _INI_FILES.items():
            with suppress(OSError, ValueError):  # pytest would report what is wrong with its file
                found = _read_sections(parent / name, sections)
                if found or (found == {} and "pytest." in name):
                    value = found.get("pythonpath") or []
                    entries = shlex.split(value) if isinstance(value, str) else value
                    return [parent / str(entry) for entry in entries]
    return []


def _read_sections(path: Path, sections: Sequence[str]) -> dict[str, Any]:
    """Return the options in the sections of a TOML or INI file."""
    found: dict[str, Any] = {}
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".toml":
        document = _load_toml(text)
        for section in sections:
            table: Any = document
            for key in section.split("."):
                table = table.get(key, {}) if isinstance(table, dict) else {}
            found |= {key: value for key, value in table.items() if not isinstance(value, dict)}
        return found
    parser = ConfigParser(interpolation=None, strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except ParserError as error:
        raise ValueError(str(error)) from None
    for section in sections:
        if parser.has_section(section):
            found |= dict(parser.items(section))
    return found


def _load_toml(text: str) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib  # which pytest needs there
    document: dict[str, Any] = tomllib.loads(text)
    return document


def schema_source(reference: str) -> SchemaSource:
    """Return the source of a schema: the path of a JSON file, or the class that `module:Model` names.

    Raises:
        CommandError: there is no such module, or no such class in it.

    >>> schema_source("receipt.json")
    'receipt.json'
    """
    _, colon, name = reference.partition(":")
    if not colon or not name.isidentifier() or os.path.exists(reference):  # noqa: PTH110 - not yet a path
        return reference
    model: SchemaSource = import_named(reference)
    return model


def resolved_schema(reference: str) -> dict[str, Any]:
    """Return a schema with its references resolved."""
    from pytest_jsonmatch.schema.resolving import resolve_schema_references

    return resolve_schema_references(schema_source(reference))
