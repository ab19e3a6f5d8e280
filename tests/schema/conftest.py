"""What the tests of the schema room share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_jsonmatch.schema import reset_type_defaults


@pytest.fixture(autouse=True)
def _own_type_defaults() -> Iterator[None]:
    """Undo what a test sets: type defaults are the process's."""
    yield
    reset_type_defaults()
