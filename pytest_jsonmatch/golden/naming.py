"""The names of files in messages and node ids."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def display_name(path: Path, folder: Path) -> str:
    """Return a file's name as a person in `folder` would write it, with "/" everywhere.

    >>> from pathlib import Path
    >>> display_name(Path("suite", "a.golden.yaml"), Path("suite", "other"))
    '../a.golden.yaml'
    """
    return relative(path, folder).replace(os.sep, "/")


def relative(path: Path, folder: Path) -> str:
    """Return a file's path from `folder` on; the whole path if it is on another drive.

    >>> from pathlib import Path
    >>> relative(Path("suite", "a.golden.yaml"), Path("suite"))
    'a.golden.yaml'
    """
    try:
        return os.path.relpath(path, folder)
    except ValueError:
        return str(path)
