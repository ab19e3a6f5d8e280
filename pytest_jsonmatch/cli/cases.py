"""`jsonmatch cases schema`: what editors need to know about golden cases."""

from __future__ import annotations

from argparse import Namespace
from importlib.resources import files

from pytest_jsonmatch.cli.arguments import FINE
from pytest_jsonmatch.cli.output import write_output


def schema(options: Namespace) -> int:
    """Run `jsonmatch cases schema`."""
    shipped = files("pytest_jsonmatch.golden").joinpath("golden-cases.schema.json")
    write_output(shipped.read_text(encoding="utf-8"), options.output)
    return FINE
