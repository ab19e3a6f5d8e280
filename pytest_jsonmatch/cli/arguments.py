"""What commands share: the parser, exit codes, the error for bad input, and a table of options."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn, final

from pytest_jsonmatch.defaults import METRIC, number_reader, read_confidence
from pytest_jsonmatch.engine.value.errors import JsonMatchError, did_you_mean, find_closest

FINE: Final = 0
NOT_FINE: Final = 1
BAD: Final = 2
EXIT_CODES: Final = """\
exit codes:
  0    success
  1    a threshold or a gate is not met, or a check has found something
  2    the command or its input can't be used; one line on standard error says why
  130  interrupted
"""


@final
class CommandError(JsonMatchError):
    """A command cannot use an argument or an input; the message is one line for people."""


class Parser(argparse.ArgumentParser):
    """A parser whose help shows examples, and whose errors are one line.

    Args:
        examples: command lines.
        also: what its help ends with.
        **others: as for `argparse.ArgumentParser`.

    The parsers of its subcommands are of this class too.

    >>> Parser(prog="jsonmatch").parse_args(["--wrong"])
    Traceback (most recent call last):
    ...
    SystemExit: 2
    """

    def __init__(self, *, examples: Sequence[str] = (), also: str = "", **others: Any) -> None:
        lines = "".join(f"  {line}\n" for line in examples)
        super().__init__(
            epilog=f"examples:\n{lines}{also}" if examples else also,
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

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as argparse does, but with the nearest name for an unknown option; also in subcommands."""
        found = super().parse_known_args(args, namespace)
        for unknown in found[1]:
            name = unknown.partition("=")[0]
            near = find_closest(name, self._option_string_actions) if name.startswith("-") else None
            if near is not None:
                self.error(f"unrecognized argument: {name}; did you mean {near}?")
        return found

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Check a choice or the name of a subcommand as argparse does, but with the nearest name."""
        if action.choices is not None and value not in action.choices:
            meant = did_you_mean(value, action.choices)
            raise argparse.ArgumentError(action, f"invalid choice: {value!r}{meant}")

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


def add_options(parser: Parser, *names: str, **helps: str) -> None:
    """Add options of the table.

    Args:
        parser: the parser of the command.
        *names: as on the command line, such as "--gate".
        **helps: help texts, by name without dashes, of options that each command describes differently.

    >>> parser = Parser()
    >>> add_options(parser, "--gate", "--output", verbose="show more")
    >>> parser.parse_args(["--gate", "f1 >= 0.9", "-o", "a.json", "-vv"]).verbose
    2
    """
    told = {f"--{name.replace('_', '-')}": text for name, text in helps.items()}
    for name in (*names, *told):
        usage, text, settings = _OPTIONS[name]
        add(parser, usage, told.get(name, text), **settings)


def add_rules(parser: Parser, *names: str, **helps: str) -> None:
    """Add the options that `rules.comparing` reads, on rules and the judge, and others of the table."""
    add_options(parser, "--metric", "--schema", "--config", "-p", *names, **helps)
    add_judge(parser)


def add_judge(parser: Parser) -> None:
    """Add the option of the judge, which takes the lines of `jsonmatch_judge`, and `from`.

    >>> parser = Parser()
    >>> add_judge(parser)
    >>> parser.parse_args(["--judge", "model=gpt-4.1-mini", "--judge", "mode=cached"]).judge
    ['model=gpt-4.1-mini', 'mode=cached']
    """
    told = "a setting of the judge, such as model=gpt-4.1-mini or cache=FILE (docs/judge.md); repeatable"
    add(parser, "--judge NAME=VALUE", told, **_MANY)


def add_study_options(parser: Parser, *names: str) -> None:
    """Add the options that all studies take, and others of the table."""
    add_options(parser, *names, "--html", "--json", verbose="show all rows of tables")


share: Final = number_reader(lambda found: 0 <= found <= 1, "between 0 and 1")


def output_file(written: str) -> Path:
    """Return the file that an option names. It must be writable: no hour of work should end in an error."""
    path, folder = Path(written), Path(os.path.realpath(written)).parent
    while not folder.exists():
        folder = folder.parent  # missing folders are created
    why = ""
    if written == "-":
        why = "standard output is for the report; name a file"
    elif path.is_dir():
        why = "is a directory"
    elif not folder.is_dir():
        why = f"{folder} is not a directory"
    elif (path.is_file() or not path.exists()) and not os.access(folder, os.W_OK):
        why = "permission denied"
    if why:
        raise argparse.ArgumentTypeError(f"{written}: {why}")
    return path


_MANY: Final = {"action": "append", "default": []}
_ROWS: Final[Sequence[tuple[str, str, Mapping[str, Any]]]] = (
    ("--metric NAME", f"the metric (default: {METRIC})", {"default": METRIC}),
    ("--schema SCHEMA", "a JSON Schema, with or without x-eval-*: a JSON file, or module:Model", {}),
    ("--config FILE", "options of the metric, as a JSON file", {}),
    ("-p MODULE", "a module with pytest_jsonmatch_register; repeatable", {"dest": "plugins", **_MANY}),
    ("--repair", "repair answers that are broken JSON (needs pytest-jsonmatch[repair])", {}),
    ("--id-field NAME", "the member that is a record's id (default: its number, from 1)", {}),
    ("--cluster NAME", "the member of gold records that names what they belong to, such as a document", {}),
    (
        "--gate EXPR",
        "exit with 1 unless this holds, such as 'f1 >= 0.9'; repeatable",
        {"dest": "gates", **_MANY},
    ),
    ("--by TAG", "show scores by the values of a tag, such as source; repeatable", _MANY),
    ("--confidence SHARE", "confidence level (default: 0.95)", {"type": read_confidence, "default": 0.95}),
    ("--html FILE", "also write an HTML page", {"type": output_file}),
    ("--markdown FILE", "also write Markdown, for a pull request", {"type": output_file}),
    ("--json FILE", "also write the results as JSON", {"type": output_file}),
    ("-o --output FILE", "write to a file instead of standard output", {"type": output_file}),
    ("-v --verbose", "", {"action": "count", "default": 0}),
)
"""The options: usage and help text, and the other settings of `add_argument`."""
_OPTIONS: Final = {next((name for name in row[0].split() if name[:2] == "--"), "-p"): row for row in _ROWS}
