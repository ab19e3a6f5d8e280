"""Where a command writes: standard output, or a file that is there as a whole or not at all."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

__all__ = ["write_output"]


def write_output(text: str, target: Path | None) -> None:
    r"""Write a command's result, as UTF-8.

    Whoever reads standard output may have had enough, as `head` has: that is no error, and the command goes
    on to its own exit code.

    Args:
        text: the result; it ends with a line break.
        target: a file, replaced in one step once all is written beside it; None for standard output.

    Raises:
        OSError: it cannot be written; a file that was there is as it was.

    >>> write_output("done\n", None)  # doctest: +SKIP
    done
    """
    data = text.encode("utf-8")
    if target is not None:
        _replace(target, data)
        return
    try:
        sys.stdout.flush()
        # Not through the text layer: redirected or not, on every system, the same bytes as in a file.
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # What is left in the buffer has nowhere to go; Python would complain of it when it ends.
        with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - not a path of anybody's
            os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _replace(target: Path, data: bytes) -> None:
    if target.exists() and not target.is_file():
        target.write_bytes(data)  # /dev/stdout, a named pipe: there is nothing to replace
        return
    target = Path(os.path.realpath(target))  # a link goes on leading to the file
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with beside.open("xb") as file:
            if target.exists():
                beside.chmod(target.stat().st_mode & 0o7777)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except BaseException as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(target)) from None  # its own name, not ours
        raise
