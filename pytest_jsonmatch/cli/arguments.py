"""What all commands share: the parser, the exit codes and the error for bad input."""

from __future__ import annotations

import argparse
from typing import Any, Final, NoReturn, final

from pytest_jsonmatch.engine.value.errors import JsonMatchError

FINE: Final = 0
NOT_FINE: Final = 1
BAD: Final = 2
EXIT_CODES: Final = """\
exit codes:
  0  fine
  1  not fine: below a threshold, or something is wrong with the data
  2  the command or its input cannot be used; one line on standard error says why
"""


@final
class CommandError(JsonMatchError):
    """A command cannot use an argument or an input; the message is one line for people."""


class Parser(argparse.ArgumentParser):
    """A parser whose help shows examples and the exit codes, and whose errors are one line.

    Args:
        examples: command lines, one per line.
        **others: as for `argparse.ArgumentParser`.

    The parsers of its subcommands are of this class too.

    >>> Parser(prog="jsonmatch").parse_args(["--wrong"])
    Traceback (most recent call last):
    ...
    SystemExit: 2
    """

    def __init__(self, *, examples: str = "", **others: Any) -> None:
        indented = "".join(f"  {line}\n" for line in examples.splitlines())
        super().__init__(
            epilog=f"examples:\n{indented}\n{EXIT_CODES}" if examples else EXIT_CODES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            # Abbreviated options in scripts would break when another with the same prefix is added.
            allow_abbrev=False,
            **others,
        )
        self.set_defaults(command=self.prog)

    def add_commands(self) -> Any:
        """Return the object that adds subcommands (argparse has no public type for it)."""
        # `main` finds a command's function by `prog`: argparse's default may contain colour codes.
        return self.add_subparsers(metavar="COMMAND", required=True, prog=self.prog)

    def error(self, message: str) -> NoReturn:
        """Print the error in one line and exit with code 2."""
        from pytest_jsonmatch.report.escape import printable

        # The message quotes arguments, which a shell may have expanded from file names.
        self.exit(BAD, printable(f"{self.prog}: {message} (see {self.prog} --help)") + "\n")


def add(parser: Any, usage: str, text: str = "", **settings: Any) -> None:
    """Add an argument, written as the help shows it.

    Args:
        parser: a parser, or a group of one (argparse has no public type for both).
        usage: an option with the name of its value, such as "-o --output FILE"; without that name it is a
            flag, or has choices. A name in capitals alone is a positional argument.
        text: the help.
        **settings: as for `add_argument`.

    >>> parser = Parser()
    >>> add(parser, "ACTUAL", "the answer")
    >>> add(parser, "--beta B", "above 1 recall counts for more", type=float)
    >>> add(parser, "--strict", "no repairs")
    >>> found = parser.parse_args(["a.json", "--beta", "2"])
    >>> found.actual, found.beta, found.strict
    ('a.json', 2.0, False)
    """
    *names, last = usage.split()
    if not last.startswith("-"):
        settings["metavar"] = last
        names = names or [settings.pop("dest", last.lower())]
    else:
        names.append(last)
        if not settings.keys() & {"action", "choices"}:
            settings["action"] = "store_true"
    parser.add_argument(*names, help=text, **settings)
