"""The subcommands of `jsonmatch` and their arguments; the code of a subcommand is imported when it runs."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentTypeError
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.cli.arguments import (
    EXIT_CODES,
    Parser,
    add,
    add_options,
    add_rules,
    add_study_options,
    share,
)
from pytest_jsonmatch.support.defaults import THRESHOLD, read_drop
from pytest_jsonmatch.support.version import __version__

_SCHEMA: Final = "a JSON file, or a pydantic model as module:Model"
_FILES: Final = "JSON Lines (.jsonl), CSV (.csv), a JSON array (.json), a folder of JSON files, a glob"
_MAX_PROCESSES: Final = 256
_RECORDS: Final = f"{_FILES}, - for stdin"
_Adder: TypeAlias = Callable[[Parser], None]


@final
class Command(NamedTuple):
    """A subcommand: the function that adds its arguments, its help text, and its examples."""

    add_arguments: _Adder
    text: str
    examples: Sequence[str]


COMMANDS: Final[dict[str, Command]] = {}
"""The subcommands, by name.

`jsonmatch compare` is run by the function `run` of the module `compare`, `jsonmatch study shift` by `run` of
`shift`, `jsonmatch cases schema` by `run` of `case_schema`, and `jsonmatch schema infer` by the function
`infer` of the module `schema`. Each of them accepts the parsed options and returns the exit code.
"""
_GROUPS: Final = {
    "study": "analyse gold data and answers: label errors, agreement, contamination, shift",
    "schema": "eval schemas: infer, resolve, annotate, validate",
    "cases": "golden cases: the JSON Schema of the format, for editors",
}
"""The groups of subcommands, with their help texts."""


def _command(text: str, *examples: str) -> Callable[[_Adder], _Adder]:
    """Return a decorator that registers a subcommand, for the function that adds its arguments."""

    def register(add_arguments: _Adder) -> _Adder:
        name = add_arguments.__name__[1:].replace("_", " ")
        COMMANDS[name] = Command(add_arguments, text, examples)
        return add_arguments

    return register


def _add_records(parser: Parser, usage: str, text: str, **settings: Any) -> None:
    """Add a positional argument for records, which may be a glob."""
    parser.reads_globs = True
    add(parser, usage, f"{text}: {_RECORDS}", **settings)


@_command("write a small suite of golden cases to start from", "jsonmatch init", "jsonmatch init tests/evals")
def _init(parser: Parser) -> None:
    add(parser, "FOLDER", "default: evals", nargs="?", type=Path, default=Path("evals"))


@_command(
    "compare two JSON files",
    "jsonmatch compare answer.json expected.json",
    "jsonmatch compare answer.txt expected.json --metric json_similarity --threshold 0.9",
)
def _compare(parser: Parser) -> None:
    # SUPPRESS: a missing positional argument does not overwrite the option of the same meaning.
    either: Any = {"nargs": "?", "default": SUPPRESS}
    add(parser, "ACTUAL", "the answer: JSON, or text with JSON in it; - for stdin", **either)
    add(parser, "EXPECTED", "the expected value: JSON; - for stdin", **either)
    add(parser, "--test ACTUAL", "the same as ACTUAL, as in structeval", dest="actual")
    add(parser, "--gt EXPECTED", "the same as EXPECTED, as in structeval", dest="expected")
    add_rules(parser, "--repair")
    help_text = f"exit with 1 if the score is below it (default: {THRESHOLD})"
    add(parser, "--threshold SCORE", help_text, type=share, default=THRESHOLD)
    help_text = "format of the report on standard output (default: text)"
    add(parser, "--report", help_text, choices=("text", "json", "html"), default="text")
    add_options(parser, "--html", verbose="show more fields and longer values; -vv: all")


def _tag(argument: str) -> tuple[str, str]:
    """Return the name and the path of a tag; without a name, the path is the name."""
    name, sign, path = argument.partition("=")
    return name, path if sign else name


def _processes(argument: str) -> int:
    if not argument.isdecimal() or not 1 <= int(argument) <= _MAX_PROCESSES:
        raise ArgumentTypeError(f"must be a number from 1 to {_MAX_PROCESSES}, got {argument!r}")
    return int(argument)


@_command(
    "score many answers against gold records",
    "jsonmatch evaluate answers.jsonl gold.jsonl --schema receipt.schema.json",
    "jsonmatch evaluate answers.jsonl gold.csv --id no --expected label --actual output --processes 4",
    "jsonmatch evaluate answers.jsonl gold.jsonl --id id --gate 'f1 >= 0.9'",
)
def _evaluate(parser: Parser) -> None:
    _add_records(parser, "ACTUAL", "the answers")
    add(parser, "EXPECTED", "the gold records, in the same forms")
    add_options(parser, "--id", "--expected", "--actual", "--cluster", "--delimiter")
    help_text = (
        "show scores by the values of a column of gold records, such as source=meta.source; repeatable"
    )
    add(parser, "--tags --by [NAME=]COLUMN", help_text, dest="by", type=_tag, action="append", default=[])
    add_rules(parser, "--repair", "--gate")
    add(parser, "--processes N", "how many processes score records (default: 1)", type=_processes, default=1)
    add(parser, "--validate", "also check answers against --schema, as a gate on valid_rate does")
    add_options(parser, "--html", "--markdown", json="also write a result file")
    help_text = "the records in the result file: the ten lowest-scoring (the default), or all"
    add(parser, "--keep", help_text, choices=("worst", "all"), default="worst")
    add_options(parser, verbose="show all fields and errors")


@_command(
    "show a result file, of pytest or evaluate",
    "jsonmatch report results.jsonl --html report.html --gate 'f1 >= 0.9'",
    "jsonmatch report shard*.jsonl --gate 'f1 >= 0.9'",
)
def _report(parser: Parser) -> None:
    help_text = "a result file; several are the parts (shards) of one run"
    add(parser, "RESULT", help_text, dest="results", type=Path, nargs="+")
    add_options(parser, "--gate", "--by", "--html", "--markdown")
    add_options(parser, verbose="show all fields and cases")


@_command(
    "compare result files: what got better or worse, and whether that is significant",
    "jsonmatch diff main.jsonl today.jsonl --max-drop 0.02 --html diff.html",
    "jsonmatch diff main.jsonl small.jsonl large.jsonl tuned.jsonl",
)
def _diff(parser: Parser) -> None:
    add(parser, "BEFORE", "the result file of the earlier run", type=Path)
    help_text = "the result file of the later run; several are candidates, judged together"
    add(parser, "AFTER", help_text, type=Path, nargs="+")
    help_text = "exit with 1 if the mean score dropped significantly by more than this"
    add(parser, "--max-drop DROP", help_text, type=read_drop)
    help_text = "fail if such a drop is significant (the default), or unless it is ruled out"
    add(parser, "--drop-mode", help_text, choices=("regression", "non-inferiority"), default="regression")
    add_options(parser, "--confidence", "--html", "--markdown", verbose="name every case that changed")


@_command(
    "plan how many cases detect a drop, or estimate the score precisely",
    "jsonmatch plan main.jsonl again.jsonl --drop 0.05 --max-drop 0.02",
    "jsonmatch plan monday.jsonl tuesday.jsonl friday.jsonl",
)
def _plan(parser: Parser) -> None:
    help_text = "the result files of two or more runs of one system; three or more show the noise of runs"
    add(parser, "RUN", help_text, dest="results", type=Path, nargs="+")
    add(parser, "--drop DROP", "the drop to detect", type=share)
    add(parser, "--max-drop DROP", "the drop that the gate allows (default: 0)", type=read_drop, default=0.0)
    add(parser, "--precision REACH", "half the width of the confidence interval", type=share)
    add_options(parser, "--html")


@_command(
    "find gold values that are likely wrong, and errors that a suite misses",
    "jsonmatch study audit claude.jsonl gemini.jsonl gpt.jsonl gold.jsonl --id id",
    "jsonmatch study audit --mutate tests/golden --gate 'noticed >= 0.95'",
)
def _study_audit(parser: Parser) -> None:
    _add_records(
        parser, "ANSWERS", "the answers of at least two systems, each named after its file", nargs="*"
    )
    add(parser, "GOLD", "the gold records, in the same forms").required = False  # --mutate needs none
    add(parser, "--review", "ask on the terminal about each place, and write accepted values into GOLD")
    help_text = "golden cases, as given to pytest: break their expected answers, and report which cases fail"
    add(parser, "--mutate PATH", help_text, nargs="+")
    add_rules(parser, "--id", "--expected", "--actual", "--delimiter", "--repair")
    add_study_options(parser, gate="suspects == 0")


@_command(
    "measure agreement of annotators: percent, kappa for two, alpha for more, by field",
    "jsonmatch study agreement ann.jsonl bob.jsonl --id id",
    "jsonmatch study agreement ann.jsonl bob.jsonl --gate 'fields[\"total\"].kappa >= 0.9'",
)
def _study_agreement(parser: Parser) -> None:
    _add_records(parser, "GOLD", "one annotator's records", nargs="+")
    add_rules(parser, "--id", "--expected", "--cluster", "--delimiter")
    add_study_options(parser, gate="kappa >= 0.8")


@_command(
    "find gold records that occur in prompts or training text",
    "jsonmatch study overlap gold.jsonl --with prompts/ train.jsonl",
    "jsonmatch study overlap gold/ --with prompts/ --html overlap.html",
)
def _study_overlap(parser: Parser) -> None:
    _add_records(parser, "GOLD", "gold records", nargs="+")
    help_text = "prompts, examples, training text: files, or folders with everything in them"
    add(parser, "--with PATH", help_text, dest="texts", nargs="+", action="extend", required=True)
    add_study_options(parser, "--id", "--expected", "--delimiter")


@_command(
    "measure the calibration of confidences, and which answers may skip review",
    "jsonmatch study confidence answers.jsonl gold.jsonl --confidence 'sure.{path}' --max-error 0.01",
    "jsonmatch study confidence answers.jsonl gold.jsonl --gate 'auroc >= 0.8'",
)
def _study_confidence(parser: Parser) -> None:
    _add_records(parser, "ANSWERS", "answers with confidences", dest="actual")
    add(parser, "GOLD", "the gold records, in the same forms", dest="expected")
    help_text = (
        "where confidences are: a path such as 'confidence_score.{path}' (default: with "
        'values, as {"value": ..., "confidence": ...})'
    )
    add(parser, "--confidence WHERE", help_text, default="inline")
    help_text = "find the lowest threshold with at most this share of wrong values above it"
    add(parser, "--max-error SHARE", help_text, type=share)
    help_text = "the score from which a value counts as right (default: 1)"
    add(parser, "--correct SCORE", help_text, type=share, default=1.0)
    add_rules(parser, "--id", "--expected", "--actual", "--cluster", "--delimiter", "--repair")
    add_study_options(parser, gate="auroc >= 0.8")


@_command(
    "test whether the distribution of records has shifted, field by field",
    "jsonmatch study shift july.jsonl june.jsonl",
    "jsonmatch study shift july.jsonl june.jsonl --gate 'effect <= 0.2'",
)
def _study_shift(parser: Parser) -> None:
    _add_records(parser, "NEW", "records")
    add(parser, "OLD", "the records to compare them with, in the same forms")
    help_text = (
        "the column that names a record's cluster, such as its document: one record of each is compared"
    )
    add_options(parser, "--id", "--expected", "--delimiter", cluster=help_text)
    add_study_options(parser, gate="effect <= 0.2")


@_command(
    "write the schema of gold records: types, members, and which members are required",
    "jsonmatch schema infer gold.jsonl --annotate --output receipt.schema.json",
    "jsonmatch schema infer gold/ > receipt.schema.json",
)
def _schema_infer(parser: Parser) -> None:
    _add_records(parser, "GOLD", "gold records")
    add(parser, "--annotate", "add to every leaf the comparator of its type")
    add_options(parser, "--output")


@_command(
    "write an equivalent schema without $ref and allOf",
    "jsonmatch schema resolve shop.models:Receipt --output receipt.schema.json",
)
def _schema_resolve(parser: Parser) -> None:
    add(parser, "SCHEMA", _SCHEMA)
    add_options(parser, "--output")


@_command(
    "write a resolved schema, and add the comparator of its type to every leaf that has none",
    "jsonmatch schema annotate receipt.schema.json --output receipt.eval.json",
    "jsonmatch schema annotate receipt.schema.json --gold gold.jsonl",
)
def _schema_annotate(parser: Parser) -> None:
    add(parser, "SCHEMA", _SCHEMA)
    help_text = "gold records: also propose date, amount, phone, identifier, enumerations and keys of arrays"
    add(parser, "--gold GOLD", f"{help_text} that all their values allow, with a $comment why")
    add_options(parser, "--output")


@_command(
    "find mistakes in an eval schema, and gold records that do not match it",
    "jsonmatch schema validate receipt.eval.json",
    "jsonmatch schema validate receipt.eval.json --gold gold.jsonl",
)
def _schema_validate(parser: Parser) -> None:
    add(parser, "SCHEMA", _SCHEMA)
    add(parser, "--gold GOLD", "gold records to check against it")
    add_options(parser, "-p", "--id")


@_command(
    "write the JSON Schema of golden files, for editors",
    "jsonmatch cases schema --output golden-cases.schema.json",
)
def _cases_schema(parser: Parser) -> None:
    add_options(parser, "--output")


_EXAMPLES: Final = (
    "jsonmatch init",
    "jsonmatch compare answer.json expected.json",
    "jsonmatch evaluate answers.jsonl gold.jsonl --gate 'f1 >= 0.9'",
    "jsonmatch diff yesterday.jsonl today.jsonl",
)


def full_parser() -> Parser:
    """Return the parser of the command line; `command` of its result names the chosen subcommand.

    >>> found = full_parser().parse_args(["schema", "resolve", "s.json"])
    >>> found.command, found.schema
    ('jsonmatch schema resolve', 's.json')
    """
    summary = "Score JSON against JSON, field by field, without pytest."
    parser = Parser(prog="jsonmatch", description=summary, examples=_EXAMPLES, also=f"\n{EXIT_CODES}")
    parser.add_argument("--version", action="version", version=f"jsonmatch {__version__}")
    commands = {"": parser.add_commands()}
    for name, (add_arguments, text, examples) in COMMANDS.items():
        group, _, subcommand = name.rpartition(" ")
        if group not in commands:
            commands[group] = _add_command(commands[""], group, _GROUPS[group]).add_commands()
        add_arguments(_add_command(commands[group], subcommand, text, examples))
    return parser


def _add_command(commands: Any, name: str, text: str, examples: Sequence[str] = ()) -> Parser:
    """Add the parser of a subcommand, and return it."""
    description = f"{text[0].upper()}{text[1:]}."
    parser: Parser = commands.add_parser(name, help=text, description=description, examples=examples)
    return parser
