"""JSON and YAML files: their display names, formats, sizes and allowed folders; imports nothing heavy."""

from __future__ import annotations

import os
import re
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.support.atomic import read_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

YAML_SUFFIXES: Final = frozenset({".yaml", ".yml"})
_JSON: Final = re.compile(r"\.(?:json|jsonl|ndjson)(?::[0-9]+)?\Z", re.IGNORECASE)

# Some 300,000 lines, read in seconds with a few hundred megabytes of memory: more than people write by hand,
# and less than would exhaust a CI machine.
MAX_SIZE: Final = 16 * 1024**2
"""The maximum size of a YAML file in bytes, with its aliases and its parameters expanded."""


def display_name(path: Path, folder: Path) -> str:
    """Return the display name of a file: its path relative to `folder`, with "/" as separator.

    >>> from pathlib import Path
    >>> display_name(Path("suite", "a.golden.yaml"), Path("suite", "other"))
    '../a.golden.yaml'
    """
    return relative(path, folder).replace(os.sep, "/")


def relative(path: Path, folder: Path) -> str:
    """Return the path of a file relative to `folder`; the full path if it is on another drive.

    >>> from pathlib import Path
    >>> relative(Path("suite", "a.golden.yaml"), Path("suite"))
    'a.golden.yaml'
    """
    try:
        return os.path.relpath(path, folder)
    except ValueError:
        return str(path)


def is_json_file(path: str) -> bool:
    """Return whether a file, or a line of one, is JSON by its name; otherwise it is YAML.

    >>> is_json_file("a/b.JSON"), is_json_file("gold.jsonl:3"), is_json_file("a.yaml")
    (True, True, False)
    """
    return _JSON.search(path) is not None


def is_lines_file(path: str) -> bool:
    """Return whether a file is JSON Lines by its name.

    >>> is_lines_file("gold.jsonl"), is_lines_file("gold.json")
    (True, False)
    """
    return path.lower().endswith((".jsonl", ".ndjson"))


def outside(path: Path, within: Sequence[str] | None) -> str | None:
    """Return the real path of a file, with links resolved, if it is outside all folders; None if inside.

    Args:
        path: the file.
        within: real paths of folders; None allows any file.
    """
    if within is None:
        return None
    try:
        real = os.path.realpath(path)
    except ValueError:  # not a path: reading the file will report that
        return None
    return None if any(map(PurePath(real).is_relative_to, within)) else real


def has_yaml_suffix(path: PurePath) -> bool:
    """Return whether a file of a value is YAML by its suffix; otherwise it is JSON.

    >>> has_yaml_suffix(PurePath("a.YML")), has_yaml_suffix(PurePath("a.txt"))
    (True, False)
    """
    return path.suffix.lower() in YAML_SUFFIXES


def read_value_file(path: Path) -> bytes:
    """Return the content of a file of a value; of YAML at most one byte more than the limit."""
    return read_limited(path) if has_yaml_suffix(path) else read_file(path)


def read_limited(path: Path) -> bytes:
    """Return the content of a YAML file, but at most one byte more than the limit."""
    return read_file(path, MAX_SIZE + 1)
