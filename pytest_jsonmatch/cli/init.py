"""`jsonmatch init`: a small suite of golden cases to start from."""

from __future__ import annotations

import sys
from argparse import Namespace
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.cli.arguments import SUCCESS, CommandError
from pytest_jsonmatch.report.escape import printable
from pytest_jsonmatch.support.atomic import write_file

if TYPE_CHECKING:
    from pathlib import Path

_FILES: Final = ("conftest.py", "receipts.py", "receipts.golden.yaml", "pytest.ini")
"""The files of the suite; the folder `starter` has their texts."""


def run(options: Namespace) -> int:
    """Run `jsonmatch init`."""
    folder: Path = options.folder
    texts = files(__package__).joinpath("starter")
    targets = {folder / name: texts.joinpath(f"{name}.txt").read_bytes() for name in _FILES}
    for path in targets:
        if path.exists() or path.is_symlink():
            raise CommandError(
                f"{path} exists, so nothing was written; name another folder: jsonmatch init FOLDER"
            )
    for path, text in targets.items():
        write_file(path, text)
    for line in (
        *(f"wrote {path}" for path in targets),
        "",
        f"Two cases pass and one fails: pytest {folder}",
    ):
        sys.stdout.write(f"{printable(line)}\n")
    return SUCCESS
