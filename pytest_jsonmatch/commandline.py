"""What both command lines read alike, pytest's and that of `jsonmatch`."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable


def number_reader(fits: Callable[[float], bool], otherwise: str) -> Callable[[str], float]:
    """Return what reads the number of an option, and refuses with the words `otherwise` what does not fit.

    >>> number_reader(lambda number: 0 <= number <= 1, "no number from 0 to 1")("0.9")
    0.9
    """

    def read(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if fits(number):
            return number
        raise argparse.ArgumentTypeError(f"{text!r} is {otherwise}")

    return read


read_drop: Final = number_reader(
    lambda number: 0 <= number < 1, "no drop of a score: from 0 to below 1, such as 0.02"
)
read_confidence: Final = number_reader(
    lambda number: 0.5 < number < 1, "no confidence: above 0.5 and below 1, such as 0.95"
)
