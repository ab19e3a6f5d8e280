"""What the tests of the schema room share."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from pytest_jsonmatch.schema import reset_type_defaults


@pytest.fixture(autouse=True)
def _own_type_defaults() -> Iterator[None]:
    """Undo what a test sets: type defaults are the process's."""
    yield
    reset_type_defaults()


@pytest.fixture
def without_jsonschema(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the libraries of the `schema` extra impossible to import."""
    for name in ("jsonschema", "referencing", "referencing.exceptions", "referencing.jsonschema"):
        monkeypatch.setitem(sys.modules, name, None)
