"""What the tests of the engine share."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest


@pytest.fixture(scope="session")
def shuffled() -> Callable[[Any, Random], Any]:
    """Put the elements of all arrays in another order, at every depth."""

    def again(value: Any, rng: Random) -> Any:
        if isinstance(value, dict):
            return {key: again(item, rng) for key, item in value.items()}
        if isinstance(value, list):
            return [again(item, rng) for item in rng.sample(value, len(value))]
        return value

    return again
