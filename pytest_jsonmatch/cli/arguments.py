"""What commands share: the parser, exit codes, the error for bad input, and a table of options."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NoReturn

from pytest_jsonmatch.engine.value.errors import JsonMatchError, did_you_mean, find_closest
from pytest_jsonmatch.support.atomic import refuse_to_replace
from pytest_jsonmatch.support.defaults import METRIC, make_number_reader, read_confidence

SUCCESS: Final = 0
FAILURE: Final = 1
UNUSABLE: Final = 2
EXIT_CODES: Final = """\
exit codes:
  0    success
  1    a threshold or a gate is not met, or a check has found something
  2    the command or its input can't be used; one line on standard error says why
  130  interrupted
"""


class CommandError(JsonMatchError):
    """A command cannot use an argument or an input; the message is one line for people."""


class Parser(argparse.ArgumentParser):
    """A parser whose help shows examples, and whose errors are a single line.

    Args:
        examples: command lines to show as examples.
        also: the end of its help.
        **others: other arguments of `argparse.ArgumentParser`.

    The parsers of its subcommands are of this class, too.

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
        self.reads_globs = False
        """Whether a positional argument may be a glob, which a shell expands if it is not quoted."""

    def add_commands(self) -> Any:
        """Add subcommands, and return the object that adds each (argparse has no public type for it)."""
        # `main` looks up the function of a command by `prog`; argparse's default may contain colour codes.
        return self.add_subparsers(metavar="COMMAND", required=True, prog=self.prog)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments as argparse does; suggest the nearest name of an option, or to quote a glob."""
        parsed = super().parse_known_args(args, namespace)
        for unknown in parsed[1]:
            name = unknown.partition("=")[0]
            near = find_closest(name, self._option_string_actions) if name.startswith("-") else None
            if near is not None:
                self.error(f"unrecognized argument: {name}; did you mean {near}?")
        if self.reads_globs and (files := [name for name in parsed[1] if not name.startswith("-")]):
            self.error(
                f"unrecognized argument: {files[0]}; if the shell expanded a glob, quote it: 'answers/*.json'"
            )
        if parsed[1] and self._subparsers is None:  # the parser above would refer to its own help
            self.error(f"unrecognized arguments: {' '.join(parsed[1])}")
        return parsed

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Check a choice or the name of a subcommand as argparse does; suggest the nearest name."""
        if action.choices is not None and value not in action.choices:
            hint = did_you_mean(value, action.choices)
            raise argparse.ArgumentError(action, f"invalid choice: {value!r}{hint}")

    def error(self, message: str) -> NoReturn:
        """Write the error as one line and exit with code 2."""
        from pytest_jsonmatch.report.escape import printable

        # The message quotes arguments, which a shell may have expanded from file names.
        self.exit(UNUSABLE, printable(f"{self.prog}: {message} (see {self.prog} --help)") + "\n")


def add(parser: Any, usage: str, text: str = "", **settings: Any) -> argparse.Action:
    """Add an argument, given as the help shows it, and return it.

    Args:
        parser: a parser, or a group of one (argparse has no public type for both).
        usage: an option with the name of its value, such as "-o --output FILE"; without that name it is a
            flag, or has choices. A single name in capitals is a positional argument.
        text: the help text.
        **settings: other arguments of `add_argument`.

    >>> parser = Parser()
    >>> _ = add(parser, "ACTUAL", "the answer")
    >>> _ = add(parser, "--beta B", "above 1 recall counts for more", type=float)
    >>> _ = add(parser, "--strict", "no repairs")
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
    action: argparse.Action = parser.add_argument(*names, help=text, **settings)
    return action


def add_options(parser: Parser, *names: str, **helps: str) -> None:
    """Add options of the table.

    Args:
        parser: the parser of the command.
        *names: names of options, such as "--gate".
        **helps: the help texts, by name without dashes, of options whose text differs from the table.

    >>> parser = Parser()
    >>> add_options(parser, "--gate", "--output", verbose="show more")
    >>> parser.parse_args(["--gate", "f1 >= 0.9", "-o", "a.json", "-vv"]).verbose
    2
    """
    help_texts = {f"--{name.replace('_', '-')}": text for name, text in helps.items()}
    for name in (*names, *help_texts):
        usage, text, settings = _OPTIONS[name]
        add(parser, usage, help_texts.get(name, text), **settings)


def add_rules(parser: Parser, *names: str, **helps: str) -> None:
    """Add the options that `rules.comparing` reads, of rules and the judge, and others of the table."""
    add_options(parser, "--metric", "--schema", "--config", "-p", *names, **helps)
    add_judge(parser)
    group = parser.add_argument_group("options of the metric", "docs/options.md")
    for usage, text, is_repeated in RULE_OPTIONS.values():
        add(group, usage, text, **(_MANY if is_repeated else {}))


def add_judge(parser: Parser) -> None:
    """Add the option `--judge`, which accepts the settings of `jsonmatch_judge`, and `from`.

    >>> parser = Parser()
    >>> add_judge(parser)
    >>> parser.parse_args(["--judge", "model=gpt-4.1-mini", "--judge", "mode=cached"]).judge
    ['model=gpt-4.1-mini', 'mode=cached']
    """
    help_text = "a setting of the judge, such as model=gpt-4.1-mini or cache=FILE (docs/judge.md); repeatable"
    add(parser, "--judge NAME=VALUE", help_text, **_MANY)


def add_study_options(parser: Parser, *names: str, gate: str = "") -> None:
    """Add the options that all studies have, others of the table, and with an example of a gate `--gate`."""
    helps = {"gate": f"exit with 1 unless this gate passes, such as '{gate}'; repeatable"} if gate else {}
    add_options(parser, *names, **helps)
    add_options(parser, "--html", "--json", verbose="show all rows of tables")


share: Final = make_number_reader(lambda found: 0 <= found <= 1, "between 0 and 1")


def output_file(argument: str, form: str = "") -> Path:
    """Return the path of an output file; raise an error before any work is done if it is not writable.

    With a form ("json", "html" or "markdown"), a file with other content is refused, too.
    """
    path, folder = Path(argument), Path(os.path.realpath(argument)).parent
    while not folder.exists():
        folder = folder.parent  # missing folders are created
    problem = ""
    if argument == "-":
        problem = "standard output is for the report; name a file"
    elif path.is_dir():
        problem = "is a directory"
    elif not folder.is_dir():
        problem = f"{folder} is not a directory"
    elif (path.is_file() or not path.exists()) and not os.access(folder, os.W_OK):
        problem = "permission denied"
    elif form:
        problem = refuse_to_replace(path, form)
    if problem:
        raise argparse.ArgumentTypeError(f"{argument}: {problem}")
    return path


def _output(form: str) -> Mapping[str, Any]:
    return {"type": partial(output_file, form=form)}


_MANY: Final = {"action": "append", "default": []}
RULE_OPTIONS: Final[Mapping[str, tuple[str, str, bool]]] = {
    "skip": ("--skip PATTERN", "leave out the fields that match, such as '**.id'; repeatable", True),
    "fields": (
        "--fields PATTERN=RULE",
        "a rule for fields: a comparator's name or JSON, such as 'total={\"tolerance\": 0.01}'; repeatable",
        True,
    ),
    "compare": ("--compare TYPE=COMPARATOR", "the comparator of a JSON type; repeatable", True),
    "transform": ("--transform NAME", "a transform of all strings, such as casefold; repeatable", True),
    "accept": ("--accept PATTERN=VALUES", "values that are right, too, as a JSON list; repeatable", True),
    "arrays": ("--arrays HOW", "ordered, unordered, sequence, or key=NAME", False),
    "array_threshold": ("--array-threshold SCORE", "pair elements with a similarity above it", False),
    "extra": ("--extra HOW", "count, ignore or elements", False),
    "unlisted": ("--unlisted HOW", "members that the schema does not list: extra or reject", False),
    "empties": ("--empties HOW", "leaf, if_absent or never", False),
    "nulls": ("--nulls HOW", "value or absent", False),
    "absent": ("--absent VALUES", "values of members that mean 'not there', as a JSON list", False),
    "reduce": ("--reduce HOW", "f1 or ratio", False),
    "root": ("--root TYPE", "any or object", False),
    "granularity": ("--granularity HOW", "leaves or fields", False),
    "leaf_threshold": ("--leaf-threshold SCORE", "a leaf that scores less counts 0", False),
    "match_threshold": ("--match-threshold SCORE", "a leaf that scores at least this is a match", False),
    "target_key": ("--target-key PATH", "compare only the value at this path", False),
}
"""Options of the metric: usage, help text, and whether the option can be repeated."""
_ROWS: Final[Sequence[tuple[str, str, Mapping[str, Any]]]] = (
    ("--metric NAME", f"the metric (default: {METRIC})", {}),
    ("--schema SCHEMA", "a JSON Schema, with or without x-eval-*: a JSON file, or module:Model", {}),
    (
        "--config FILE",
        "options of the metric as JSON or YAML, or the keys of a golden file next to its cases",
        {},
    ),
    (
        "-p MODULE",
        "a module or .py file with pytest_jsonmatch_register, post_process or both; repeatable",
        {"dest": "plugins", **_MANY},
    ),
    ("--repair", "repair answers that are broken JSON (needs pytest-jsonmatch[repair])", {}),
    ("--id COLUMN", "the column with a record's id, such as meta.id (default: its number, from 1)", {}),
    (
        "--expected COLUMN",
        "the column of gold records with what is expected; FIELD=COLUMN, repeated, for an object of several",
        {"dest": "expected_column", **_MANY},
    ),
    (
        "--actual COLUMN",
        "the column of the answers' records with the answer, or FIELD=COLUMN",
        {"dest": "actual_column", **_MANY},
    ),
    ("--delimiter CHAR", "the delimiter of CSV files (default: a comma, or a tab in .tsv files)", {}),
    ("--cluster COLUMN", "the column of gold records that names their cluster, such as a document", {}),
    (
        "--gate EXPR",
        "exit with 1 unless this gate passes, such as 'f1 >= 0.9'; repeatable",
        {"dest": "gates", **_MANY},
    ),
    ("--by TAG", "show scores by the values of a tag, such as source; repeatable", _MANY),
    ("--confidence SHARE", "confidence level (default: 0.95)", {"type": read_confidence, "default": 0.95}),
    ("--html FILE", "also write an HTML page", _output("html")),
    (
        "--markdown FILE",
        "also write Markdown, for a pull request",
        _output("markdown"),
    ),
    ("--json FILE", "also write the results as JSON", _output("json")),
    ("-o --output FILE", "write to a file instead of standard output", {"type": output_file}),
    ("-v --verbose", "", {"action": "count", "default": 0}),
)
"""The options: usage, help text, and other arguments of `add_argument`."""
_OPTIONS: Final = {next((name for name in row[0].split() if name[:2] == "--"), "-p"): row for row in _ROWS}
