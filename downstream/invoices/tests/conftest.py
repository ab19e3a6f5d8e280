"""Fixtures of the suite."""

from __future__ import annotations

from pathlib import Path

import pytest
from invoices import Reader

LETTERS = Path(__file__).resolve().parents[1] / "letters"


@pytest.fixture
async def reader():
    """Return an open connection."""
    async with Reader() as opened:
        yield opened


@pytest.fixture
def letter():
    """Return the text of a letter by its name."""
    return lambda name: (LETTERS / f"{name}.txt").read_text(encoding="utf-8")
