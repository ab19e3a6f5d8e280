"""The console script `jsonmatch`: reads the arguments, then imports and runs the subcommand."""

from __future__ import annotations

import sys
import warnings
from argparse import Namespace
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any, Final

from pytest_jsonmatch.cli.arguments import BAD
from pytest_jsonmatch.cli.commands import full_parser
from pytest_jsonmatch.engine.value.errors import JsonMatchError, JsonMatchWarning

_INTERRUPTED: Final = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 fine, 1 not fine, 2 unusable.

    Args:
        arguments: those after the program's name; None for those of this process.

    Raises:
        SystemExit: with code 0 after `--help` and `--version`, with code 2 on bad usage.

    >>> main(["--version"])
    Traceback (most recent call last):
    ...
    SystemExit: 0
    """
    options = full_parser().parse_args(arguments)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", JsonMatchWarning)
            warnings.showwarning = partial(_show_warning, options.command, warnings.showwarning)
            _check_page(options)
            return _function_of(options.command)(options)
    except (JsonMatchError, OSError) as error:
        _write(f"{options.command}: {_in_a_line(error)}")
        return BAD
    except KeyboardInterrupt:
        return _INTERRUPTED


def _check_page(options: Namespace) -> None:
    """Raise `ConfigurationError` before any work is done if a page is wanted that can't be made."""
    if getattr(options, "html", None) is not None or getattr(options, "report", None) == "html":
        from pytest_jsonmatch.report.html import check_installed

        check_installed()


def _function_of(command: str) -> Callable[[Namespace], int]:
    """Return the function that runs a command, as `COMMANDS` says."""
    _, module, *words = command.split()
    name = words[0] if words else "run"
    if module == "study":
        module, name = name, "run"
    run: Callable[[Namespace], int] = getattr(import_module(f"pytest_jsonmatch.cli.{module}"), name)
    return run


def _in_a_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror.lower()}"
    first, *others = str(error).splitlines() or [type(error).__name__]
    return f"{first} (and {len(others)} more)" if others else first


def _show_warning(
    command: str, usually: Callable[..., None], message: Warning | str, category: type[Warning], *place: Any
) -> None:
    """Show a warning of ours as a line of the command, and any other as Python does."""
    if issubclass(category, JsonMatchWarning):
        _write(f"{command}: warning: {message}")
    else:
        usually(message, category, *place)


def _write(line: str) -> None:
    from pytest_jsonmatch.report.escape import printable

    # A line may quote names and data, whose control characters must not reach the terminal.
    sys.stderr.write(f"{printable(line)}\n")
