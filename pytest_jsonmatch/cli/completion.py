"""`jsonmatch completion`: a script that lets a shell complete the command."""

from __future__ import annotations

from argparse import Namespace
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from pytest_jsonmatch.cli.arguments import FINE, CommandError
from pytest_jsonmatch.cli.commands import full_parser
from pytest_jsonmatch.cli.output import write_output

_FILES: Final = frozenset(
    {"FILE", "PATH", "ACTUAL", "EXPECTED", "BEFORE", "AFTER", "RESULT", "GOLD", "LABELS", "SCHEMA"}
)
"""The names of arguments that are files."""


def run(options: Namespace) -> int:
    """Run `jsonmatch completion`."""
    try:
        shtab: Any = import_module("shtab")
    except ImportError:
        raise CommandError("this needs shtab: pip install 'pytest-jsonmatch[completion]'") from None
    parser = full_parser()
    _mark_files(parser, shtab.FILE)
    write_output(shtab.complete(parser, shell=options.shell).rstrip("\n") + "\n", None)
    return FINE


def _mark_files(parser: Any, mark: Any) -> None:
    """Tell shtab which arguments are files."""
    for action in parser._actions:  # noqa: SLF001 - as shtab reads it: argparse has no public way
        if action.metavar in _FILES or action.type is Path:
            action.complete = mark
        for command in action.choices.values() if isinstance(action.choices, dict) else ():
            _mark_files(command, mark)
