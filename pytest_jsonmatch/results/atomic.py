"""Write files atomically: a reader sees a whole file or none."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path


def write_file(path: Path, data: bytes, *, make_folders: bool = False) -> None:
    """Write or replace a file in one step; an existing file keeps its permissions.

    The data go to a temporary file beside it first: if several processes write the same file at once, the
    last one wins, and readers always see a whole file. Anything else (`/dev/stdout`, a pipe) is written to.

    Args:
        path: the file; a link to it is kept.
        data: its content.
        make_folders: whether missing parent folders are created.

    Raises:
        OSError: it can't be written; the error names the file, and an existing file is unchanged.
    """
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        path = Path(os.path.realpath(path))
        if make_folders:
            path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, data)
    except OSError as error:
        if error.errno is None:
            raise
        raise type(error)(error.errno, error.strerror, str(path)) from None  # not the temporary file's name


def _replace(path: Path, data: bytes) -> None:
    # A hidden name, so that pytest does not collect the file.
    beside = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.tmp")
    try:
        with beside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            beside.chmod(path.stat().st_mode & 0o7777)
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
