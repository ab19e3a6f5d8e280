"""What the laws of this folder share: a table of them, and how one is checked.

A law is a Hypothesis property. pytest checks each with one seed, `run.py` with one seed after another.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis.strategies import SearchStrategy

from tests.conftest import share

Check: TypeAlias = Callable[..., None]

LAWS: dict[str, Callable[[], None]] = {}
"""Every law by its name."""

tried: Counter[str] = Counter()
"""How many inputs each law has been tried with in this process."""


def law(*inputs: SearchStrategy[Any], examples: int = 100) -> Callable[[Check], Check]:
    """Enter a function as a law: it must return for every input; `examples` of them are made for a seed.

    (As everywhere, a fifth of them without FULL=1, which the scripts set.)
    """

    def enter(check: Check) -> Check:
        @functools.wraps(check)
        def counted(*arguments: Any, **named: Any) -> None:
            tried[check.__name__] += 1
            check(*arguments, **named)

        # No deadline: a busy machine is no failure. No database: a seed always makes the same inputs.
        how = settings(
            deadline=None,
            database=None,
            max_examples=share(examples),
            suppress_health_check=list(HealthCheck),
        )
        LAWS[check.__name__] = how(given(*inputs)(counted))
        return check

    return enter


def check_law(name: str, number: int) -> None:
    """Check one law with the inputs of one seed; its failure shows the smallest input that was found."""
    seed(number)(LAWS[name])()


@contextmanager
def parser_of_yaml(*, pure: bool) -> Iterator[None]:
    """Use PyYAML's parser in Python within the block, as where libyaml is missing."""
    with pytest.MonkeyPatch.context() as patch:
        if pure:
            patch.delattr("yaml.CSafeLoader", raising=False)
        yield
