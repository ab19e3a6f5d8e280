"""Shared by the whole suite: where answers come from, and a custom comparator and metric."""

from __future__ import annotations

from pathlib import Path

import pytest
from extractor import read_receipt

DOCUMENTS = Path(__file__).parent / "documents"


def pytest_jsonmatch_register(registry):
    """Add names that golden files and tests may use beside the built-in ones."""
    registry.comparator("same_tags", same_tags)
    registry.metric("receipt", {"base": "leaf_f1", "leaf_threshold": 0.6})


def same_tags(expected, actual, params):
    """Return the share of tags that both have, in any order and case."""
    wanted, found = ({tag.casefold() for tag in tags} for tags in (expected, actual))
    return len(wanted & found) / len(wanted | found)


@pytest.fixture
def document():
    """Read one of the documents by name: `document("receipt-0417")`."""
    return lambda name: (DOCUMENTS / f"{name}.txt").read_text(encoding="utf-8")


@pytest.fixture
def jsonmatch_actual(jsonmatch_case, request):
    """Return the answer for a golden case: a case that only has an input is a receipt to read.

    All others have a recorded answer or a producer; the plugin's fixture of the same name handles both.
    """
    if jsonmatch_case.has_actual or jsonmatch_case.producer:
        return request.getfixturevalue("jsonmatch_actual")
    return read_receipt(jsonmatch_case.input)
