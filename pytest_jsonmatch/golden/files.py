"""Golden files and the files that cases name: names, formats, allowed folders; imports nothing heavy."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.support.atomic import read_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

OWN: Final = (".golden.yaml", ".golden.yml", ".golden.json")
"""The suffixes of golden files."""
_YAML: Final = (".yaml", ".yml")
_JSON: Final = re.compile(r"\.(?:json|jsonl|ndjson)(?::[0-9]+)?\Z", re.IGNORECASE)

# Some 300,000 lines, read in seconds with a few hundred megabytes of memory: more than people write by hand,
# and less than would exhaust a CI machine.
MAX_SIZE: Final = 16 * 1024**2
"""The maximum size of a YAML file in bytes, with its aliases and its parameters expanded."""


def is_golden(path: Path, globs: Sequence[str] = (), *, explicit: bool = False) -> bool:
    """Return whether a file contains golden cases.

    Args:
        path: the file.
        globs: the ini option `jsonmatch_files`, read as pytest reads `python_files`: a pattern without a
            slash is matched against the file's name, any other against the end of its path.
        explicit: whether the file was named on the command line.

    >>> from pathlib import Path
    >>> is_golden(Path("a.golden.yaml")), is_golden(Path("a.yaml")), is_golden(Path("a.yaml"), explicit=True)
    (True, False, True)
    """
    name = path.name
    if name.endswith(OWN) or (explicit and name.endswith(_YAML)):
        return True
    return any(_matches(path, glob) for glob in globs)


_CASE_KEYS: Final = frozenset({"cases", "cases_from", "expected", "expected_file"})


def holds_cases(path: Path) -> bool:
    """Return whether a YAML file has a key at its top that only golden files have.

    A file that is named on the command line may belong to another plugin, so its tags are not resolved. If
    it is not YAML, the keys before the error count.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    level, is_key = 0, True
    with suppress(OSError, yaml.YAMLError, RecursionError):
        for event in yaml.parse(read_limited(path), Loader=loader):
            if level == 1 and is_key and getattr(event, "value", None) in _CASE_KEYS:
                return True
            if isinstance(event, yaml.events.NodeEvent) and level == 1:
                is_key = not is_key
            if isinstance(event, yaml.events.CollectionStartEvent):
                if level == 0 and isinstance(event, yaml.events.SequenceStartEvent):
                    return False
                level += 1
            elif isinstance(event, yaml.events.CollectionEndEvent):
                level -= 1
            elif isinstance(event, yaml.events.DocumentEndEvent):
                return False
    return False


def _matches(path: Path, glob: str) -> bool:
    if os.sep != "/":
        glob = glob.replace("/", os.sep)
    if os.sep not in glob:
        return fnmatch(path.name, glob)
    if path.is_absolute() and not os.path.isabs(glob):  # noqa: PTH117 - not a path
        glob = f"*{os.sep}{glob}"
    return fnmatch(str(path), glob)


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


def read_limited(path: Path) -> bytes:
    """Return the content of a YAML file, but at most one byte more than the limit."""
    return read_file(path, MAX_SIZE + 1)
