"""Data files, YAML or JSON by their names, and their values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.value.errors import JsonParseError
from pytest_jsonmatch.golden.bounds import UNLIMITED
from pytest_jsonmatch.golden.errors import GoldenFileError
from pytest_jsonmatch.golden.yamlevents import load

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.value.convert import JsonValue


_JSON: Final = re.compile(r"\.(?:json|jsonl|ndjson)(?::[0-9]+)?\Z", re.IGNORECASE)


def is_json_file(path: str) -> bool:
    """Tell by its name whether a file, or a line of one, holds JSON; else it is YAML.

    >>> is_json_file("a/b.JSON"), is_json_file("gold.jsonl:3"), is_json_file("a.yaml")
    (True, True, False)
    """
    return _JSON.search(path) is not None


def is_lines_file(path: str) -> bool:
    """Tell by its name whether a file holds a JSON value in each line.

    >>> is_lines_file("gold.jsonl"), is_lines_file("gold.json")
    (True, False)
    """
    return path.lower().endswith((".jsonl", ".ndjson"))


def parse(data: bytes, name: str, *, limit: int = UNLIMITED) -> JsonValue:
    """Return the value of a file, or of one line, that is JSON or YAML by its name.

    Args:
        data: the file's content.
        name: what errors call the file.
        limit: the limit of YAML in bytes, with its aliases written out.

    Raises:
        GoldenFileError: the file is not valid.
    """
    if not is_json_file(name):
        return load(data, name, limit=limit).value
    from pytest_jsonmatch.reading.strict import parse_json

    try:
        return parse_json(data.decode("utf-8").removeprefix("\ufeff"))
    except JsonParseError as error:
        raise GoldenFileError(name, error.line, error.column, error.reason) from None
    except UnicodeDecodeError as error:
        raise GoldenFileError(name, 1, 1, f"not UTF-8 text: {error}") from None
