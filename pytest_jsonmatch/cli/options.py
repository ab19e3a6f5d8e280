"""The options that several commands share, in one table; each command adds those it names."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pytest_jsonmatch.cli.arguments import add
from pytest_jsonmatch.defaults import METRIC, number_reader, read_confidence

FORMS: Final = ("text", "json", "html", "markdown")
RULES: Final = ("--metric", "--schema", "--config", "--nulls", "-p")
"""The options on how values are compared; `rules_of` reads them."""


def add_options(parser: ArgumentParser, *names: str, **helps: str) -> None:
    """Add options of the table.

    Args:
        parser: the parser of the command.
        *names: as on the command line, such as "--gate".
        **helps: help texts, by name without dashes, of options that each command describes differently.

    >>> from pytest_jsonmatch.cli.arguments import Parser
    >>> parser = Parser()
    >>> add_options(parser, "--gate", "--output", verbose="show more")
    >>> parser.parse_args(["--gate", "f1 >= 0.9", "-o", "a.json", "-vv"]).verbose
    2
    """
    told = {f"--{name.replace('_', '-')}": text for name, text in helps.items()}
    for name in (*names, *told):
        usage, text, settings = _OPTIONS[name]
        add(parser, usage, told.get(name, text), **settings)


def add_judge(parser: ArgumentParser, modes: Sequence[str] = ("live", "cached", "off")) -> None:
    """Add the options of the judge; `modes` are the values that `--judge-mode` may have.

    >>> from pytest_jsonmatch.cli.arguments import Parser
    >>> parser = Parser()
    >>> add_judge(parser)
    >>> parser.parse_args(["--judge-model", "gpt-4.1-mini", "--judge-mode", "cached"]).judge_mode
    'cached'
    """
    who = parser.add_mutually_exclusive_group()
    add(who, "--judge-model NAME", "the model to ask whether values mean the same (docs/judge.md)")
    told = "your own judge: an object with judge(items), or a function of one item"
    add(who, "--judge-from MODULE:NAME", told)
    add(parser, "--judge-cache FILE", "keep verdicts in a file, and ask about each pair only once")
    told = "a setting of the model, such as max_calls=200 or base_url=http://localhost:11434/v1; repeatable"
    add(parser, "--judge-set SETTING=VALUE", told, dest="judge_settings", action="append", default=[])
    meaning = {
        "live": "live: ask (the default)",
        "cached": "cached: use only verdicts from the cache",
        "off": "off: use no judge",
    }
    add(parser, "--judge-mode", "; ".join(meaning[mode] for mode in modes), choices=modes)


def add_study_options(parser: ArgumentParser) -> None:
    """Add the options that all studies take."""
    add(parser, "--json FILE", "also write the results as JSON; - for stdout")
    add_options(
        parser, "--gate", "--html", "--color", "--no-color", "--output", verbose="show all rows of tables"
    )


share: Final = number_reader(lambda found: 0 <= found <= 1, "not a number from 0 to 1")
STDOUT: Final = "-"


def target(written: str | None) -> Path | None:
    """Return the file that an option names; None for "-", standard output."""
    return None if written in {None, STDOUT} else Path(str(written))


_MANY: Final = {"action": "append", "default": []}
_ROWS: Final[Sequence[tuple[str, str, Mapping[str, Any]]]] = (
    ("--metric NAME", f"the metric (default: {METRIC})", {"default": METRIC}),
    (
        "--schema SCHEMA",
        "a JSON Schema, with or without x-eval-* keys: a JSON file, or a pydantic model as module:Model",
        {},
    ),
    ("--config FILE", "a JSON file with options of the metric, or a configuration of structeval", {}),
    (
        "--nulls",
        "absent: a null member counts as missing; value: null is a value like any other",
        {"choices": ("value", "absent")},
    ),
    ("--repair", "repair answers that are broken JSON (needs pytest-jsonmatch[repair])", {}),
    (
        "-p MODULE",
        "a module with the hook pytest_jsonmatch_register; no:NAME disables an installed one; repeatable",
        {"dest": "plugins", **_MANY},
    ),
    (
        "--gate EXPR",
        "a limit on a figure, such as 'f1 >= 0.9'; exit with code 1 if it fails; repeatable",
        {"dest": "gates", **_MANY},
    ),
    (
        "--validate",
        "report: also validate answers against --schema as JSON Schema; a gate on valid_rate implies this",
        {"choices": ("report", "off")},
    ),
    ("--id-field NAME", "", {}),
    (
        "--cluster NAME",
        "the member of gold records that names their cluster: those of one cluster are not independent",
        {},
    ),
    ("--by TAG", "show figures by the values of a tag, such as source; repeatable", _MANY),
    ("--confidence SHARE", "confidence level (default: 0.95)", {"type": read_confidence, "default": 0.95}),
    ("--report", "", {"choices": FORMS, "default": "text"}),
    ("-v --verbose", "", {"action": "count", "default": 0}),
    (
        "--color",
        "auto (the default): colours on a terminal; NO_COLOR and FORCE_COLOR are respected",
        {"choices": ("auto", "always", "never"), "default": "auto"},
    ),
    ("--no-color", "same as --color never", {"dest": "color", "action": "store_const", "const": "never"}),
    ("--html FILE", "also write an HTML page", {"type": Path}),
    ("-o --output FILE", "write to a file, in one step, instead of standard output", {"type": target}),
)
"""The options: usage and help text, and the other settings of `add_argument`."""
_OPTIONS: Final = {next((name for name in row[0].split() if name[:2] == "--"), "-p"): row for row in _ROWS}
