"""Read files, never pipes or devices; write files atomically: they are never half-written."""

from __future__ import annotations

import errno
import glob
import os
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from io import BufferedReader

_HOUR: Final = 3600
_TRIES: Final = 20
_START: Final = 200
"""The number of bytes by which an output is recognized."""
RESULTS_START: Final = b'{"format": "jsonmatch-results"'
"""The first bytes of a result file."""
_STARTS: Final = {
    "json": (RESULTS_START, b'{\n "study": '),
    "html": (b"<!doctype html",),
    "markdown": (b"## ",),
}
_FORMS: Final = {"json": "results", "html": "a page", "markdown": "a report"}
_IN_USE: Final = frozenset({5, 32})
"""Windows error codes for a file that another program has open."""


def open_file(path: Path) -> BufferedReader:
    """Open a file that another file, an option or a schema names.

    Reading a pipe could wait forever, and a device might never end.

    Raises:
        OSError: the file can't be read, or is a pipe or a device; the error names it.
        ValueError: the path has a NUL character.
    """
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # opening a folder raises an error of its own
        raise OSError(errno.EINVAL, "it is a pipe or a device, not a file", str(path))
    return path.open("rb")


def read_file(path: Path, limit: int = -1) -> bytes:
    """Return the content of a file, at most `limit` bytes; raise as `open_file` does."""
    with open_file(path) as file:
        return file.read(limit)


def refuse_to_replace(path: Path, form: str) -> str:
    """Return why a file may not be replaced by an output of a form; empty if it may.

    An option that names a file of the user's own by mistake must not cost its content.

    Args:
        path: the file; it need not exist.
        form: "json", "html" or "markdown".
    """
    try:
        start = read_file(path, _START).lstrip() if path.is_file() else b""
    except OSError:  # writing it will report that
        return ""
    if not start or start.lower().startswith(_STARTS[form]):
        return ""
    return f"has other content than {_FORMS[form]} of jsonmatch; name another file, or delete this one"


def write_file(path: Path, data: bytes) -> None:
    """Write or replace a file in one step, and create its folder; an existing file keeps its permissions.

    The data go to a temporary file in the same folder first. If several processes write the same file at
    once, the last one wins, and readers never see a partial file. Anything that is not a regular file
    (`/dev/stdout`, a pipe) is written to directly.

    Args:
        path: the file; a symbolic link is followed and kept.
        data: the content of the file.

    Raises:
        OSError: the file can't be written; the error names it, and an existing file is unchanged.
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
    import secrets  # late, since it takes longer than all else here

    remove_temporary_files(path)
    temporary = path.with_name(f"{_make_hidden_name(path)}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            temporary.chmod(path.stat().st_mode & 0o7777)
        rename(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def remove_temporary_files(path: Path) -> None:
    """Remove temporary files that killed processes left for this file: those older than an hour."""
    for leftover in path.parent.glob(f"{glob.escape(_make_hidden_name(path))}.????????.tmp"):
        with suppress(OSError):
            if leftover.stat().st_mtime < time.time() - _HOUR:
                leftover.unlink()


def _make_hidden_name(path: Path) -> str:
    # A hidden name, so that pytest does not collect the file.
    return f".{path.name[:100]}"


def rename(source: Path, target: Path) -> None:
    """Rename a file, replacing the target if it exists.

    Windows refuses while another program reads the target; renaming is then retried for a second.
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
