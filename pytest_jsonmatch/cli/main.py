"""The console script `jsonmatch`: reads the arguments, then imports and runs the subcommand."""

from __future__ import annotations

import sys
import warnings
from argparse import Namespace
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any, Final

from pytest_jsonmatch.cli.arguments import UNUSABLE
from pytest_jsonmatch.cli.commands import full_parser
from pytest_jsonmatch.engine.value.errors import JsonMatchError, JsonMatchWarning, write_arguments_as

_INTERRUPTED: Final = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code (see `EXIT_CODES`).

    Args:
        arguments: the arguments after the program's name; None for those of this process.

    Raises:
        SystemExit: with code 0 after `--help` and `--version`, with code 2 on bad usage.

    >>> main(["--version"])
    Traceback (most recent call last):
    ...
    SystemExit: 0
    """
    options = full_parser().parse_args(arguments)
    try:
        with warnings.catch_warnings(), write_arguments_as("command"):
            warnings.simplefilter("always", JsonMatchWarning)
            warnings.showwarning = partial(_show_warning, options.command, warnings.showwarning)
            _check_page(options)
            return _function_of(options.command)(options)
    except (JsonMatchError, OSError) as error:
        _write(f"{options.command}: {_in_a_line(error)}")
        return UNUSABLE
    except KeyboardInterrupt:
        return _INTERRUPTED


def _check_page(options: Namespace) -> None:
    """Raise `ConfigurationError` before any work is done if an HTML page is requested that can't be made."""
    if getattr(options, "html", None) is not None or getattr(options, "report", None) == "html":
        from pytest_jsonmatch.report.html import check_installed

        check_installed()


def _function_of(command: str) -> Callable[[Namespace], int]:
    """Return the function that runs a command (see `COMMANDS`)."""
    _, module, *words = command.split()
    name = words[0] if words else "run"
    if module in {"study", "cases"}:
        module, name = name if module == "study" else f"case_{name}", "run"
    run: Callable[[Namespace], int] = getattr(import_module(f"pytest_jsonmatch.cli.{module}"), name)
    return run


def _in_a_line(error: Exception) -> str:
    """Return the message of an error as one line."""
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror.lower()}"
    first, *more = str(error).splitlines() or [type(error).__name__]
    return f"{first} (and {len(more)} more)" if more else first


def _show_warning(
    command: str,
    show_other: Callable[..., None],
    message: Warning | str,
    category: type[Warning],
    *place: Any,
) -> None:
    """Write a `JsonMatchWarning` as a line of the command; show any other warning as Python does."""
    if issubclass(category, JsonMatchWarning):
        _write(f"{command}: warning: {message}")
    else:
        show_other(message, category, *place)


def _write(line: str) -> None:
    from pytest_jsonmatch.report.escape import printable

    # A line may quote names and data, whose control characters must not reach the terminal.
    sys.stderr.write(f"{printable(line)}\n")
