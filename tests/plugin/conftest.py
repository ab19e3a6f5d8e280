"""What the tests of the plugin share."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import pytest

IMPORTS = "import pytest\nfrom pytest_jsonmatch import assert_json_match\n\n"


@pytest.fixture
def python(pytester: pytest.Pytester) -> Callable[[str], None]:
    """Write `test_it.py`; what nearly every test needs is imported in it."""
    return lambda text: (
        pytester.path.joinpath("test_it.py").write_text(IMPORTS + dedent(text), "utf-8") and None
    )
