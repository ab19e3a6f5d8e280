"""Inputs of commands: JSON from files and standard input, modules, schemas; errors say file:line:column."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.engine.value.convert import JsonValue
from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonExtractionError, JsonParseError
from pytest_jsonmatch.engine.value.named import import_object
from pytest_jsonmatch.reading.extract import Want, extract_json
from pytest_jsonmatch.reading.strict import parse_json

if TYPE_CHECKING:
    from io import BufferedReader

    from pytest_jsonmatch.schema.documents import SchemaSource

STDIN: Final = "-"


def refuse_two_stdins(one: str, other: str) -> None:
    """Refuse standard input on both sides: it can be read only once.

    Raises:
        CommandError: both are "-".

    >>> refuse_two_stdins("-", "gold.json")
    """
    if one == other == STDIN:
        raise CommandError("both sides are '-', but standard input can be read only once; give one a file")


def name_of(written: str) -> str:
    """Return the name of an input in messages.

    >>> name_of("-"), name_of("a.json")
    ('<stdin>', 'a.json')
    """
    return "<stdin>" if written == STDIN else written


@contextmanager
def open_input(written: str) -> Iterator[BufferedReader]:
    """Open a file, or standard input for "-".

    Raises:
        OSError: it can't be read.
    """
    if written == STDIN:
        yield cast("BufferedReader", sys.stdin.buffer)
    else:
        with Path(written).open("rb") as stream:
            yield stream


def content_of(written: str) -> bytes:
    """Return the content of a file, or of standard input for "-".

    Raises:
        OSError: it can't be read.
    """
    with open_input(written) as stream:
        return stream.read()


def lines_of(stream: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    r"""Yield the lines that are not blank, each with its number.

    >>> list(lines_of([b"1\n", b" \n", b"2\n"]))
    [(1, b'1'), (3, b'2')]
    """
    for number, line in enumerate(stream, start=1):
        if line.removeprefix(b"\xef\xbb\xbf").strip():
            yield number, line.rstrip(b"\r\n")


def values_of_lines(written: str, stream: Iterable[bytes]) -> Iterator[tuple[int, JsonValue]]:
    """Yield the JSON values of JSON Lines, each with the number of its line.

    Raises:
        CommandError: a line is not strict JSON; the message says where.
    """
    for number, line in lines_of(stream):
        try:
            value = parse_json(line)
        except JsonParseError as error:
            from pytest_jsonmatch.corpus.pairing import gold_error

            raise CommandError(str(gold_error(number, f"{name_of(written)}:{number}", error))) from None
        yield number, value


def is_json_lines(content: bytes) -> bool:
    r"""Tell whether text has a JSON value in each of its first two lines.

    >>> is_json_lines(b'{"a": 1}\n{"a": 2}\n{'), is_json_lines(b'{\n"a": 1}'), is_json_lines(b'{"a": 1}\n')
    (True, False, False)
    """
    first = [line for _, line in islice(lines_of(content.splitlines()), 2)]
    try:
        return len(list(map(parse_json, first))) > 1
    except JsonParseError:
        return False


def _refuse(written: str, error: JsonParseError) -> NoReturn:
    """Raise an error about JSON text, with its place in the file."""
    near = f" near {error.excerpt!r}" if error.excerpt else ""
    place = f"{name_of(written)}:{error.line}:{error.column}"
    raise CommandError(f"{place}: not valid JSON: {error.reason}{near}") from None


def value_of(written: str, content: bytes | None = None) -> JsonValue:
    """Return the JSON value of a file, parsed from `content` if that has already been read.

    Raises:
        OSError: it can't be read.
        CommandError: it is not strict JSON; the message says where.
    """
    try:
        return parse_json(content_of(written) if content is None else content)
    except JsonParseError as error:
        _refuse(written, error)


def value_of_answer(
    written: str, want: Want | None, *, repair: bool, content: bytes | None = None
) -> tuple[JsonValue, tuple[str, ...]]:
    """Return the JSON value of an answer, of the wanted kind, and what was tolerated in reading it.

    A file that contains only JSON is taken as it is. Anything else is searched for JSON, as any answer of a
    model is.

    Raises:
        OSError: it can't be read.
        CommandError: there is no JSON in it; the message says where it stops being JSON.
    """
    content = content_of(written) if content is None else content
    name = name_of(written)
    try:
        return parse_json(content), ()
    except JsonParseError as error:
        strict = error
    try:
        extraction = extract_json(content, want=want, repair=repair)
    except JsonExtractionError as error:
        # If the file is meant to be JSON, the place of the mistake helps more than "no JSON found".
        is_text = content.decode("utf-8", "ignore").encode() == content
        if not is_text or content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in {b"", b"{", b"["}:
            _refuse(written, strict)
        raise CommandError(f"{name}: {error}") from None
    return extraction.value, extraction.warnings


def read_config(written: str) -> dict[str, Any]:
    """Return the options of a metric from a JSON file, which may use structeval's names.

    Raises:
        OSError: it can't be read.
        CommandError: it is not a JSON object, or has an unknown option.
    """
    from pytest_jsonmatch.engine.plan.options import Options, merge_options

    config = value_of(written)
    name = name_of(written)
    if type(config) is not dict:
        raise CommandError(f"{name}: a configuration must be a JSON object of options")
    try:
        merge_options(Options(), config)
    except ConfigurationError as error:
        raise CommandError(f"{name}: {error}") from None
    return config


# -- modules, and schemas named by a module ----------------------------------------------------------------


def imported(written: str) -> Any:
    """Import a module or `module:name`, looking in the current folder first, as `python -m` does.

    Raises:
        CommandError: it can't be imported, or the module has no such name.

    >>> imported("json").__name__
    'json'
    """
    folder = os.getcwd()  # noqa: PTH109 - sys.path holds strings
    sys.path.insert(0, folder)
    try:
        # What a module prints must not mix with the command's output.
        with redirect_stdout(sys.stderr):
            return import_object(written)
    except ConfigurationError as error:
        raise CommandError(str(error).splitlines()[0]) from error
    finally:
        # The module may have inserted or removed entries.
        with suppress(ValueError):
            sys.path.remove(folder)


def schema_source(written: str) -> SchemaSource:
    """Return the source of a schema: a JSON file's path as it is, or the class that `module:Model` names.

    Raises:
        CommandError: there is no such module, or no such class in it.

    >>> schema_source("receipt.json")
    'receipt.json'
    """
    _, colon, name = written.partition(":")
    if not colon or not name.isidentifier() or os.path.exists(written):  # noqa: PTH110 - not yet a path
        return written
    model: SchemaSource = imported(written)
    return model


def resolved_schema(written: str) -> dict[str, Any]:
    """Return the named schema, its references resolved."""
    from pytest_jsonmatch.schema.resolving import resolve_schema_references

    return resolve_schema_references(schema_source(written))
