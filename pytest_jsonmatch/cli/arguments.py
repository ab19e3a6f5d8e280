"""What the subcommands share: how usage is told, what is wrong with an input, `--output`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, TypeAlias, TypedDict, final

from pytest_jsonmatch.engine.value.errors import JsonMatchError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "BAD",
    "EXIT_CODES",
    "FINE",
    "NOT_FINE",
    "CommandError",
    "Parser",
    "Run",
    "Texts",
    "add_output",
    "texts",
]

FINE: Final = 0
NOT_FINE: Final = 1
BAD: Final = 2
EXIT_CODES: Final = """\
exit codes:
  0  fine
  1  not fine: below a threshold, or something is wrong with what was looked at
  2  the command or its input cannot be used; one line on standard error says why
"""

Run: TypeAlias = "Callable[[argparse.Namespace], int]"
"""What a subcommand does: takes its options, returns its exit code."""


@final
class CommandError(JsonMatchError):
    """An argument or an input that a command cannot use, as one line for people."""


class Parser(argparse.ArgumentParser):
    """A parser that tells a mistake in one line.

    >>> Parser(prog="jsonmatch", **texts("An example.")).parse_args(["--wrong"])
    Traceback (most recent call last):
    ...
    SystemExit: 2
    """

    def error(self, message: str) -> NoReturn:
        """Tell a mistake in one line and leave with exit code 2."""
        from pytest_jsonmatch.report.escape import printable

        # It quotes arguments, which a shell may have made of the names of files.
        self.exit(BAD, printable(f"{self.prog}: {message} (see {self.prog} --help)") + "\n")


class Texts(TypedDict):
    """How a parser shows itself."""

    description: str
    epilog: str
    formatter_class: type[argparse.HelpFormatter]
    allow_abbrev: bool


def texts(summary: str, examples: str = "") -> Texts:
    """Return what a parser is made with: its help says what it does, shows examples and the exit codes.

    Args:
        summary: what the command does, in a sentence.
        examples: command lines, one a line.

    >>> print(Parser(prog="jsonmatch", **texts("An example.")).format_help().splitlines()[2])
    An example.
    """
    indented = "".join(f"  {line}\n" for line in examples.splitlines())
    return {
        "description": summary,
        "epilog": f"examples:\n{indented}\n{EXIT_CODES}" if examples else EXIT_CODES,
        "formatter_class": argparse.RawDescriptionHelpFormatter,
        # Abbreviated options in scripts would break when a longer one is added.
        "allow_abbrev": False,
    }


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add the option `--output FILE`, for short `-o`.

    >>> parser = Parser()
    >>> add_output(parser)
    >>> parser.parse_args(["--output", "a.json"]).output.name, parser.parse_args(["-o", "-"]).output
    ('a.json', None)
    """
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=_target,
        help="write to a file, in one step, and not to standard output",
    )


def _target(written: str) -> Path | None:
    return None if written == "-" else Path(written)
