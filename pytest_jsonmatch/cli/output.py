"""Where a command writes: standard output, or a file that is there as a whole or not at all."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from pytest_jsonmatch.results.atomic import write_file

if TYPE_CHECKING:
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
    # Half of a surrogate pair, as JSON may hold one, becomes the escape that JSON has for it.
    data = text.encode("utf-8", "backslashreplace")
    if target is not None:
        write_file(target, data)
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
