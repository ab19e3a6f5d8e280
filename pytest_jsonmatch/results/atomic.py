"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path


def write_file(path: Path, data: bytes, *, make_folders: bool = False) -> None:
    """Put a file in its place in one step; one that was there keeps its permissions.

    It is written beside that place first, so of several that write the same file at once the last one wins,
    and each reader sees the whole of one. What is no regular file (`/dev/stdout`, a pipe) is written to.

    Args:
        path: the file; a link goes on leading to it.
        data: its content.
        make_folders: whether the folders that it stands in are made.

    Raises:
        OSError: it can't be written, with the name of the file; one that was there is as it was.
    """
    path = Path(os.path.realpath(path))
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        if make_folders:
            path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, data)
    except OSError as error:
        if error.errno is None:
            raise
        raise type(error)(error.errno, error.strerror, str(path)) from None  # its own name, not ours


def _replace(path: Path, data: bytes) -> None:
    # With the name of a hidden file that nobody collects.
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
