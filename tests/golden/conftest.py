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


@pytest.fixture
def golden(write: Callable[[str, str], None]) -> Callable[[str], None]:
    """Write `a.golden.yaml`."""
    return lambda text: write("a.golden.yaml", text)


@pytest.fixture
def json_similarity(pytester: pytest.Pytester) -> None:
    """Let runs of `pytester` compare by `json_similarity`."""
    pytester.makeini("[pytest]\njsonmatch_metric = json_similarity\n")


@pytest.fixture
def two_models(pytester: pytest.Pytester) -> Callable[[str], None]:
    """Let two models answer each case: an expression of `jsonmatch_case` and `model`, "small" or "large"."""

    def answer(expression: str) -> None:
        pytester.makeconftest(f"""
            import pytest

            @pytest.fixture(params=["small", "large"])
            def model(request):
                return request.param

            @pytest.fixture
            def jsonmatch_actual(jsonmatch_case, model):
                return {expression}
            """)

    return answer
