"""`jsonmatch init`: a small suite of golden cases to start from."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from importlib.resources import files
from pathlib import Path
from typing import Final

from pytest_jsonmatch.cli.arguments import FINE, CommandError, add
from pytest_jsonmatch.report.escape import printable
from pytest_jsonmatch.results.atomic import write_file

EXAMPLES: Final = """\
jsonmatch init
jsonmatch init tests/evals
"""

_FILES: Final = ("conftest.py", "receipts.golden.yaml", "pytest.ini")
"""The files of the suite; their texts are in the folder `starter`."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `jsonmatch init`."""
    add(parser, "FOLDER", "default: evals", nargs="?", type=Path, default=Path("evals"))
    parser.set_defaults(run=_run)


def _run(options: Namespace) -> int:
    folder: Path = options.folder
    texts = files(__package__).joinpath("starter")
    targets = {folder / name: texts.joinpath(f"{name}.txt").read_bytes() for name in _FILES}
    for path in targets:
        if path.exists() or path.is_symlink():
            raise CommandError(
                f"{path} exists, so nothing was written; name another folder: jsonmatch init FOLDER"
            )
    for path, text in targets.items():
        write_file(path, text, make_folders=True)
    for line in (
        *(f"wrote {path}" for path in targets),
        "",
        f"Two cases pass and one fails: pytest {folder}",
    ):
        sys.stdout.write(f"{printable(line)}\n")
    return FINE
