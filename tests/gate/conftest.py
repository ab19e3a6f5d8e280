"""What the tests of gates share."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def gates():
    """The script of simulations, benchmarks/gates.py, as a module."""
    sys.path.insert(0, str(FOLDER))
    try:
        yield importlib.import_module("gates")
    finally:
        sys.path.remove(str(FOLDER))
        for name in ("gates", "tables"):
            sys.modules.pop(name, None)
