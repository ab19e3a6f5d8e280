"""What the tests of golden cases share."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.fixture
def write(pytester: pytest.Pytester) -> Callable[[str, str], None]:
    """Write a text file, and the folders it stands in, below the folder in which `pytester` runs pytest."""

    def to_file(name: str, text: str) -> None:
        path = pytester.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    return to_file
