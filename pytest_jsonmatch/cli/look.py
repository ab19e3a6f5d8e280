"""How what a command prints may look: colours, the characters that there are, the columns."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.report.look import Look

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable

    from pytest_jsonmatch.report.styled import StyledLine

__all__ = ["Look", "as_text", "look_of"]

_COLUMNS: Final = 100
"""Of what is no terminal: a file, a pipe."""


def look_of(options: Namespace) -> Look:
    """Return how the text of a command may look.

    A file and a pipe get UTF-8 without colours, as wide as COLUMNS says; a terminal what it can show.
    """
    # (A command writes to a file, or to standard output.)
    to_file = getattr(options, "output", None) is not None
    terminal = not to_file and sys.stdout is not None and sys.stdout.isatty()
    color = options.color == "always" or (options.color == "auto" and _auto(terminal=terminal))
    unicode = not terminal or _can_write(sys.stdout.encoding)
    width = max(shutil.get_terminal_size((_COLUMNS, 24)).columns, 40)
    return Look(color, unicode, width, mode="all" if getattr(options, "verbose", 0) else "auto")


def _auto(*, terminal: bool) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return terminal and os.environ.get("TERM") != "dumb"


def _can_write(encoding: str) -> bool:
    try:
        "…–→█─".encode(encoding)
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def as_text(lines: Iterable[StyledLine], look: Look) -> str:
    r"""Return styled lines as text, each with its line break.

    >>> as_text([[("score ", {}), ("0.5", {"red": True})], []], Look())
    'score 0.5\n\n'
    """
    from pytest_jsonmatch.report.styled import line_text

    return "".join(f"{line_text(line, color=look.color)}\n" for line in lines)
