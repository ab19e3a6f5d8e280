"""`jsonmatch cases schema`: the JSON Schema of golden files, for editors."""

from __future__ import annotations

from argparse import Namespace
from importlib.resources import files

from pytest_jsonmatch.cli.arguments import SUCCESS
from pytest_jsonmatch.cli.output import write_output


def run(options: Namespace) -> int:
    """Run `jsonmatch cases schema`."""
    document = files("pytest_jsonmatch.golden").joinpath("golden-cases.schema.json")
    write_output(document.read_text(encoding="utf-8"), options.output)
    return SUCCESS
