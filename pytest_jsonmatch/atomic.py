"""Write files atomically: a reader sees a whole file or none."""

from __future__ import annotations

import glob
import os
import secrets
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

_HOUR: Final = 3600
_TRIES: Final = 20
_IN_USE: Final = frozenset({5, 32})
"""Errors of Windows for a file that another program has open."""


def write_file(path: Path, data: bytes) -> None:
    """Write or replace a file in one step, and create its folder; an existing file keeps its permissions.

    The data go to a temporary file beside it first: if several processes write the same file at once, the
    last one wins, and readers always see a whole file. Anything else (`/dev/stdout`, a pipe) is written to.

    Args:
        path: the file; a link to it is kept.
        data: its content.

    Raises:
        OSError: it can't be written; the error names the file, and an existing file is unchanged.
    """
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        path = Path(os.path.realpath(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, data)
    except OSError as error:
        if error.errno is None:
            raise
        raise type(error)(error.errno, error.strerror, str(path)) from None  # not the temporary file's name


def _replace(path: Path, data: bytes) -> None:
    remove_temporary_files(path)
    beside = path.with_name(f"{_hidden(path)}.{secrets.token_hex(4)}.tmp")
    try:
        with beside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            beside.chmod(path.stat().st_mode & 0o7777)
        rename(beside, path)
    except BaseException:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise


def remove_temporary_files(path: Path) -> None:
    """Remove the temporary files of writers of a file that were killed: those that are older than an hour."""
    for left in path.parent.glob(f"{glob.escape(_hidden(path))}.????????.tmp"):
        with suppress(OSError):
            if left.stat().st_mtime < time.time() - _HOUR:
                left.unlink()


def _hidden(path: Path) -> str:
    # A hidden name, so that pytest does not collect the file.
    return f".{path.name[:100]}"


def rename(source: Path, target: Path) -> None:
    """Rename a file, over another if there is one.

    Windows refuses while another program reads the other: then it is tried again for a second.
    """
    for _ in range(_TRIES):
        try:
            source.replace(target)
        except PermissionError as error:
            if getattr(error, "winerror", None) not in _IN_USE:
                raise
            time.sleep(1 / _TRIES)
        else:
            return
    source.replace(target)
