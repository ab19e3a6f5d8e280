"""What a command writes: its form, its look, and its target."""

from __future__ import annotations

import os
import shutil
import sys
from argparse import Namespace
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.look import Look, can_write
from pytest_jsonmatch.report.styled import StyledLine, line_text
from pytest_jsonmatch.results.atomic import write_file

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_jsonmatch.report.view import RunView

_COLUMNS: Final = 100
"""The width where there is no terminal: of a file, a pipe."""


def check_form(form: str) -> None:
    """Check that a form can be made, before any work is done.

    Raises:
        ConfigurationError: it can't; the message says what to install.

    >>> check_form("text")
    """
    if form == "html":
        from pytest_jsonmatch.report.pages import check_installed

        check_installed()


def in_form(form: str, view: RunView) -> str | bytes:
    """Return a view in any form but text.

    >>> from pytest_jsonmatch.report.view import RunView
    >>> from pytest_jsonmatch.results.model import ResultSet
    >>> in_form("markdown", RunView(ResultSet(), "none")).splitlines()[0]
    '## ➖ jsonmatch: nothing was compared'
    """
    if form == "json":
        from pytest_jsonmatch.results.file import to_text

        return to_text(view.results)
    if form == "html":
        from pytest_jsonmatch.report.html import html_page

        return html_page(completed(view))
    from pytest_jsonmatch.report.markdown import COMMENT_BYTES, markdown

    return markdown(completed(view), COMMENT_BYTES)


def completed(view: RunView) -> RunView:
    """Return a view with everything derived from its results: intervals, failures, what is left out."""
    from pytest_jsonmatch.gate.headlines import headlines
    from pytest_jsonmatch.report.view import faults_of, left_out_note

    results = view.results
    notes = [*filter(None, [left_out_note(results)]), *view.notes]
    if results.is_partial:
        of = count(results.number, "record")
        notes.append(
            f"Figures and fields are of all {of}, but only {count(len(results.cases))} are listed as cases. "
            "`jsonmatch evaluate --keep all` lists all, and figures then have intervals."
        )
    return replace(
        view,
        headlines=() if results.is_partial or len(results.cases) < 2 else headlines(results),
        faults=faults_of(results),
        notes=notes,
    )


def look_of(options: Namespace) -> Look:
    """Return how the text of a command may look.

    A file or a pipe gets UTF-8 without colours, as wide as COLUMNS says; a terminal gets what it can show.
    """
    to_file = getattr(options, "output", None) is not None
    terminal = not to_file and sys.stdout is not None and sys.stdout.isatty()
    color = options.color == "always" or (options.color == "auto" and _auto(terminal=terminal))
    unicode = not terminal or can_write(sys.stdout.encoding)
    width = max(shutil.get_terminal_size((_COLUMNS, 24)).columns, 40)
    return Look(color, unicode, width, mode="all" if getattr(options, "verbose", 0) else "auto")


def _auto(*, terminal: bool) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return terminal and os.environ.get("TERM") != "dumb"


def as_text(lines: Iterable[StyledLine], look: Look) -> str:
    r"""Return styled lines as text, each with its line break.

    >>> as_text([[("score ", {}), ("0.5", {"red": True})], []], Look())
    'score 0.5\n\n'
    """
    return "".join(f"{line_text(line, color=look.color)}\n" for line in lines)


def write_output(found: str | bytes, target: Path | None) -> None:
    r"""Write a command's result, text as UTF-8.

    It is not an error if the reader of standard output stops early, as `head` does: the exit code stays the
    command's own.

    Args:
        found: the result; text ends with a line break.
        target: a file, replaced in one step once all is written beside it; None for standard output.

    Raises:
        OSError: it cannot be written; an existing file is left as it was.

    >>> write_output("done\n", None)  # doctest: +SKIP
    done
    """
    # A lone surrogate, which JSON allows, becomes its JSON escape.
    data = found if isinstance(found, bytes) else found.encode("utf-8", "backslashreplace")
    if target is not None:
        write_file(target, data)
        return
    try:
        sys.stdout.flush()
        # Bypass the text layer: on every system, redirected or not, the bytes are those of a file.
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # What is left in the buffer has nowhere to go; Python would complain about it at exit.
        with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - not a user's path
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
