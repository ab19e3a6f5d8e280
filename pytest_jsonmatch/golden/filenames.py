"""Names of files: which are golden, and how messages show them; imports nothing heavy."""

from __future__ import annotations

import os
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

OWN: Final = (".golden.yaml", ".golden.yml", ".golden.json")
"""The endings of names of golden files. JSON is YAML as well: one reader takes both."""
_YAML: Final = (".yaml", ".yml")


def is_golden(path: Path, globs: Sequence[str] = (), *, explicit: bool = False) -> bool:
    """Tell whether a file holds golden cases.

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


def _matches(path: Path, glob: str) -> bool:
    if os.sep != "/":
        glob = glob.replace("/", os.sep)
    if os.sep not in glob:
        return fnmatch(path.name, glob)
    if path.is_absolute() and not os.path.isabs(glob):  # noqa: PTH117 - not a path
        glob = f"*{os.sep}{glob}"
    return fnmatch(str(path), glob)


def display_name(path: Path, folder: Path) -> str:
    """Return a file's name as a person in `folder` would write it, with "/" everywhere.

    >>> from pathlib import Path
    >>> display_name(Path("suite", "a.golden.yaml"), Path("suite", "other"))
    '../a.golden.yaml'
    """
    return relative(path, folder).replace(os.sep, "/")


def relative(path: Path, folder: Path) -> str:
    """Return a file's path relative to `folder`; the whole path if it is on another drive.

    >>> from pathlib import Path
    >>> relative(Path("suite", "a.golden.yaml"), Path("suite"))
    'a.golden.yaml'
    """
    try:
        return os.path.relpath(path, folder)
    except ValueError:
        return str(path)
