"""The options that say how values are compared, for all commands that compare."""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import TYPE_CHECKING, Any

from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.cli.inputs import read_config
from pytest_jsonmatch.cli.plugins import add_plugins
from pytest_jsonmatch.cli.sources import schema_source
from pytest_jsonmatch.defaults import METRIC

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

    from pytest_jsonmatch.gate.expressions import Gate

__all__ = ["add_gates", "add_rules", "gates_of", "rules_of", "share"]


def add_rules(parser: ArgumentParser) -> None:
    """Add the options.

    >>> from pytest_jsonmatch.cli.arguments import Parser
    >>> parser = Parser()
    >>> add_rules(parser)
    >>> parser.parse_args(["--nulls", "absent"]).nulls
    'absent'
    """
    parser.add_argument("--metric", metavar="NAME", default=METRIC, help=f"the metric (default: {METRIC})")
    parser.add_argument(
        "--schema",
        metavar="SCHEMA",
        help="a JSON Schema, with or without x-eval-* keys: a JSON file, or a pydantic model as module:Model",
    )
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="a JSON file with options of the metric, or structeval's configuration",
    )
    parser.add_argument(
        "--nulls",
        choices=("value", "absent"),
        help="absent: a member that is null is not there; value: null is a value like any other",
    )
    parser.add_argument(
        "--repair",
        action="store_true",
        help="repair answers that are broken JSON (needs pytest-jsonmatch[repair])",
    )
    add_plugins(parser)


def rules_of(options: Namespace) -> dict[str, Any]:
    """Return the metric's options as `compare_json` and `compare_corpus` take them, the schema included.

    Raises:
        OSError: a file can't be read.
        CommandError: a file is not what it should be.
    """
    found = {} if options.config is None else read_config(options.config)
    if options.nulls is not None:
        found["nulls"] = options.nulls
    if options.schema is not None:
        found["schema"] = schema_source(options.schema)
    return found


def add_gates(parser: ArgumentParser) -> None:
    """Add the option `--gate`.

    >>> from pytest_jsonmatch.cli.arguments import Parser
    >>> parser = Parser()
    >>> add_gates(parser)
    >>> parser.parse_args(["--gate", "f1 >= 0.9"]).gates
    ['f1 >= 0.9']
    """
    parser.add_argument(
        "--gate",
        metavar="EXPR",
        dest="gates",
        action="append",
        default=[],
        help="exit with code 1 if it does not hold, such as 'f1 >= 0.9'; repeatable",
    )


def gates_of(texts: Sequence[str]) -> list[Gate]:
    """Return the gates that texts say.

    Raises:
        CommandError: one of them says none.

    >>> [gate.text for gate in gates_of(["f1 >= 0.9"])]
    ['f1 >= 0.9']
    """
    from pytest_jsonmatch.gate.expressions import GateError, parse_gate

    found = []
    for text in texts:
        try:
            found.append(parse_gate(text))
        except GateError as error:
            told = str(error).partition("\n")[0]
            raise CommandError(f"--gate {text!r}: {told}") from None
    return found


def share(text: str) -> float:
    """Return a number from 0 to 1, as an option's value.

    Raises:
        ArgumentTypeError: it is none.

    >>> share("0.9")
    0.9
    """
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise ArgumentTypeError(f"{text!r} is no number from 0 to 1")
    return number
