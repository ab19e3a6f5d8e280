"""Defaults of assertions, golden cases, corpora and commands; and readers of numeric options."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

METRIC: Final = "leaf_f1"
"""With the threshold below, every leaf must be equal and nothing may be extra."""
THRESHOLD: Final = 1.0
MAX_COUNT: Final = 10_000
"""The maximum number of repetitions of a golden case, and of concurrent calls of producers."""


def make_number_reader(fits: Callable[[float], bool], requirement: str) -> Callable[[str], float]:
    """Return a function that reads a numeric option; its error is "must be REQUIREMENT, got VALUE".

    >>> make_number_reader(lambda number: 0 <= number <= 1, "between 0 and 1")("0.9")
    0.9
    """

    def read(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if fits(number):
            return number
        from argparse import ArgumentTypeError  # late: a library has no command line

        hint = f" (for {number:g} % write {number / 100:g})" if number > 1 and fits(number / 100) else ""
        raise ArgumentTypeError(f"must be {requirement}, got {text}{hint}")

    return read


read_drop: Final = make_number_reader(lambda number: 0 <= number < 1, "at least 0 and below 1")
read_confidence: Final = make_number_reader(lambda number: 0.5 < number < 1, "above 0.5 and below 1")
