"""The console script `jsonmatch`: finds the subcommand, imports its module and no other, and runs it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, Final

from pytest_jsonmatch._version import __version__
from pytest_jsonmatch.cli.arguments import BAD, Parser, Run
from pytest_jsonmatch.engine.value.errors import JsonMatchError, JsonMatchWarning

COMMANDS: Final[Mapping[str, str]] = {
    "init": "write a small suite of golden cases to start from",
    "compare": "compare two JSON files",
    "evaluate": "score a corpus of answers against gold records",
    "report": "show a result file: as text, as a page of HTML, as Markdown",
    "diff": "compare result files, of corpora or of pytest runs",
    "audit": "find gold that is likely wrong, and breaks that a suite would not notice",
    "plan": "how many cases it takes to prove a drop, or to know a figure well",
    "agreement": "how far annotators agree: percent, kappa, alpha, by field",
    "overlap": "gold records that stand in prompts or training text, and near duplicates",
    "history": "figures over many runs, and since when they have changed",
    "confidence": "what confidences in answers are worth, and which answers may skip review",
    "shift": "whether new records are still like the old ones, field by field",
    "schema": "eval schemas: infer, resolve, annotate, validate",
    "judge": "the judge of meaning: how far it agrees with people",
    "cases": "golden cases: the JSON Schema of the format, for editors",
    "completion": "the script by which a shell completes this command",
}
"""The subcommands, each with its line of help.

The module of the same name has a function `add_arguments(parser)`, and `EXAMPLES` if it has no subcommands.
The function sets the default `run`, a function from the parsed options to the exit code; `Parser` sets
`command`, what errors begin with.
"""

_INTERRUPTED: Final = 130
_EXAMPLES: Final = """\
jsonmatch init
jsonmatch compare answer.json expected.json
jsonmatch evaluate answers.jsonl gold.jsonl --gate 'f1 >= 0.9'
jsonmatch diff yesterday.json today.json
jsonmatch cases schema > golden-cases.schema.json
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 fine, 1 not fine, 2 unusable.

    Args:
        arguments: those after the program's name; None for the ones of this process.

    Raises:
        SystemExit: with code 0 after `--help` and `--version`, with code 2 on bad usage.

    >>> main(["--version"])
    Traceback (most recent call last):
    ...
    SystemExit: 0
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = _parser(given[:1]).parse_args(given)
    run: Run = options.run
    from pytest_jsonmatch.cli.sources import finding_modules_here

    try:
        with finding_modules_here(), warnings.catch_warnings():
            warnings.simplefilter("always", JsonMatchWarning)
            warnings.showwarning = partial(_show_warning, options.command, warnings.showwarning)
            return run(options)
    except (JsonMatchError, OSError) as error:
        _write(f"{options.command}: {_in_a_line(error)}")
        return BAD
    except KeyboardInterrupt:
        return _INTERRUPTED


def full_parser() -> Parser:
    """Return the parser with all subcommands.

    >>> full_parser().parse_args(["cases", "header", "s.json"]).schema
    's.json'
    """
    return _parser(list(COMMANDS))


def _parser(wanted: Sequence[str]) -> Parser:
    summary = "Score JSON against JSON, field by field, without pytest."
    parser = Parser(prog="jsonmatch", description=summary, examples=_EXAMPLES)
    parser.add_argument("--version", action="version", version=f"jsonmatch {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, text in COMMANDS.items():
        # Only the module of the command at hand is imported, so that no command slows down another.
        module = import_module(f"pytest_jsonmatch.cli.{name}") if name in wanted else None
        examples = getattr(module, "EXAMPLES", "")
        described = f"{text[0].upper()}{text[1:]}."
        command = commands.add_parser(name, help=text, description=described, examples=examples)
        if module is not None:
            module.add_arguments(command)
    return parser


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

    # A line may quote names and data; none of it must reach the terminal as control characters.
    sys.stderr.write(f"{printable(line)}\n")
