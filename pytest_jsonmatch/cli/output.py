"""The output of commands: text on standard output, and files."""

from __future__ import annotations

import os
import shutil
import sys
from argparse import Namespace
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.report.styled import StyledLine, line_text
from pytest_jsonmatch.report.terminal_style import TerminalStyle, can_write
from pytest_jsonmatch.support.atomic import write_file

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_jsonmatch.report.blocks import Report
    from pytest_jsonmatch.results.run import RunResult

_COLUMNS: Final = 100
"""The width of output to a file or a pipe."""


def render_run(form: str, results: RunResult, report: Report) -> bytes:
    """Return a run as a result file ("json"), a page ("html") or Markdown ("markdown")."""
    if form == "json":
        from pytest_jsonmatch.results.file import to_text

        return as_bytes(to_text(results))
    if form == "html":
        from pytest_jsonmatch.report.html import html_page

        return as_bytes(html_page(report))
    from pytest_jsonmatch.report.markdown import COMMENT_BYTES, markdown

    return as_bytes(markdown(report, COMMENT_BYTES))


def write_files(options: Namespace, results: RunResult, report: Report) -> None:
    """Write the files that `--json`, `--html` and `--markdown` name."""
    for form in ("json", "html", "markdown"):
        target = getattr(options, form, None)
        if target is not None:
            write_file(target, render_run(form, results, report))


def make_style(options: Namespace) -> TerminalStyle:
    """Return the style of the text that a command writes.

    For a file or a pipe: UTF-8 without colours, as wide as COLUMNS; for a terminal: what it can show.
    """
    terminal = sys.stdout is not None and sys.stdout.isatty()
    unicode = not terminal or can_write(sys.stdout.encoding)
    width = max(shutil.get_terminal_size((_COLUMNS, 24)).columns, 40)
    verbose = getattr(options, "verbose", 0)
    is_colored = os.environ.get("FORCE_COLOR") or (terminal and os.environ.get("TERM") != "dumb")
    color = bool(is_colored and not os.environ.get("NO_COLOR"))
    return TerminalStyle(color, unicode, width, mode="all" if verbose else "auto")


def as_text(lines: Iterable[StyledLine], style: TerminalStyle) -> str:
    r"""Return styled lines as text, each with its line break.

    >>> as_text([[("score ", {}), ("0.5", {"red": True})], []], TerminalStyle())
    'score 0.5\n\n'
    """
    return "".join(f"{line_text(line, color=style.color)}\n" for line in lines)


def as_bytes(text: str) -> bytes:
    """Return text as UTF-8; a lone surrogate, which JSON allows, becomes its JSON escape."""
    return text.encode("utf-8", "backslashreplace")


def write_output(output: str | bytes, target: Path | None = None) -> None:
    r"""Write a command's result to standard output, or to a file in one step.

    It is not an error if the reader of standard output stops early, as `head` does: the exit code does not
    change.

    Raises:
        OSError: it can't be written; an existing file stays unchanged.

    >>> write_output("done\n")  # doctest: +SKIP
    done
    """
    data = output if isinstance(output, bytes) else as_bytes(output)
    if target is not None:
        write_file(target, data)
        return
    try:
        sys.stdout.flush()
        # Bypass the text layer: on every system, redirected or not, the bytes are those of a file.
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # The rest of the buffer can't be written; Python would report that at exit.
        with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - not a user's path
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
