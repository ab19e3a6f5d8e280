"""`jsonmatch init`: a small suite of golden cases to start from."""

from __future__ import annotations

import sys
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.cli.arguments import FINE, CommandError
from pytest_jsonmatch.report.escape import printable
from pytest_jsonmatch.results.atomic import write_file

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Mapping

EXAMPLES: Final = """\
jsonmatch init
jsonmatch init tests/evals
"""

_CONFTEST: Final = '''\
"""How golden cases get their answers: for each case the plugin asks the fixture `jsonmatch_actual`."""

import pytest


def read_receipt(text):
    """Stand in for your model: replace the body by a call of it.

    What it returns is scored: text with JSON somewhere in it, or a dict, a list, a pydantic model.
    """
    shop, *lines, total = text.splitlines()
    items = [{"name": name, "price": float(price)} for name, price in (line.split("  ") for line in lines)]
    return {"shop": shop, "items": items, "total": float(total.split()[1]), "currency": "EUR"}


@pytest.fixture
def jsonmatch_actual(jsonmatch_case):
    return read_receipt(jsonmatch_case.input)
'''
_CASES: Final = """\
# Each case is a test: `input` goes to the model, and its answer is compared with `expected`, field by field.
# `metric`, `threshold`, `options` and `fields` may stand here, for all cases, or in a case.
metric: leaf_f1 # precision and recall of all values
threshold: 1.0 # every value is right, and nothing is invented

cases:
  - id: bakery # passes
    input: |
      Corner Bakery
      Sourdough loaf  4.20
      Cinnamon roll  2.60
      Total 6.80 EUR
    expected:
      shop: Corner Bakery
      items:
        - { name: Sourdough loaf, price: 4.2 }
        - { name: Cinnamon roll, price: 2.6 }
      total: 6.8
      currency: EUR

  - id: bookshop # passes: the items may come in any order, and a cent is tolerated
    fields:
      items: { align: unordered }
      total: { compare: { numeric: { tolerance: { abs: 0.01 } } } }
    input: |
      Page & Sons
      Atlas  30.00
      Pencil  1.20
      Total 31.20 EUR
    expected:
      shop: Page & Sons
      items:
        - { name: Pencil, price: 1.2 }
        - { name: Atlas, price: 30 }
      total: 31.21
      currency: EUR

  - id: teahouse # fails: read_receipt in conftest.py says EUR, whatever the receipt says
    input: |
      Leaf & Kettle
      Green tea  3.50
      Total 3.50 GBP
    expected:
      shop: Leaf & Kettle
      items:
        - { name: Green tea, price: 3.5 }
      total: 3.5
      currency: GBP
"""
_INI: Final = """\
[pytest]
# Gates fail a run by its figures: pytest --jsonmatch-gate "score >= 0.95"
testpaths = .
"""
_FILES: Final[Mapping[str, str]] = MappingProxyType(
    {"conftest.py": _CONFTEST, "receipts.golden.yaml": _CASES, "pytest.ini": _INI}
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `jsonmatch init`."""
    parser.add_argument(
        "folder", metavar="FOLDER", nargs="?", type=Path, default=Path("evals"), help="default: evals"
    )
    parser.set_defaults(run=_run)


def _run(options: Namespace) -> int:
    folder: Path = options.folder
    targets = {folder / name: text for name, text in _FILES.items()}
    for path in targets:
        if path.exists() or path.is_symlink():
            raise CommandError(
                f"{path} exists, so nothing was written; name another folder: jsonmatch init FOLDER"
            )
    for path, text in targets.items():
        write_file(path, text.encode(), make_folders=True)
    for line in (
        *(f"wrote {path}" for path in targets),
        "",
        f"Two cases pass and one fails: pytest {folder}",
    ):
        sys.stdout.write(f"{printable(line)}\n")
    return FINE
