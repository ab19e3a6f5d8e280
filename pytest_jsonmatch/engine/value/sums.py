"""The sums from which all scores are computed, and the three divisions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

if TYPE_CHECKING:
    from collections.abc import Iterable

ScoreValue: TypeAlias = "float | Any"
"""A score in [0, 1], or None if batch errors have left nothing to count.

`Any` replaces None, since type checkers would otherwise require a check before every `result.score >= 0.9`.
"""

_BELOW_ONE: Final = math.nextafter(1.0, 0.0)


class Sums(NamedTuple):
    """Sums over leaves: the sum of weighted scores, and the sums of each side's weights.

    Attributes:
        score: the sum of scores multiplied by weights (Σ).
        expected: the sum of the weights of expected's leaves (E).
        actual: the sum of the weights of actual's leaves (A).
        perfect: whether every counted leaf scored 1.

    >>> sums = Sums(1.5, 2.0, 4.0, perfect=False)
    >>> sums.precision, sums.recall, sums.f1
    (0.375, 0.75, 0.5)
    """

    score: float
    expected: float
    actual: float
    perfect: bool

    @property
    def precision(self) -> float:
        """Σ / A, 1 for 0/0."""
        return divide_leaves(self.score, self.actual, perfect=self.perfect)

    @property
    def recall(self) -> float:
        """Σ / E, 1 for 0/0."""
        return divide_leaves(self.score, self.expected, perfect=self.perfect)

    @property
    def f1(self) -> float:
        """2Σ / (E + A), 1 for 0/0."""
        return divide_leaves(2 * self.score, self.expected + self.actual, perfect=self.perfect)

    def multiply(self, weight: float) -> Sums:
        """Return the sums with all weights multiplied by `weight`."""
        return Sums(self.score * weight, self.expected * weight, self.actual * weight, self.perfect)


class Scores(NamedTuple):
    """The scores of one comparison."""

    precision: float
    recall: float
    f1: float
    score: float
    """The metric's own score."""


def compute_scores(sums: Sums, reduce: str) -> Scores:
    """Return the scores of one comparison for a metric whose `reduce` is "f1" or "ratio"."""
    recall, f1 = sums.recall, sums.f1
    return Scores(sums.precision, recall, f1, recall if reduce == "ratio" else f1)


def add_sums(parts: Iterable[Sums]) -> Sums:
    """Return the total of several sums, independent of their order."""
    scores, expected, actual, perfect = zip(Sums(0.0, 0.0, 0.0, perfect=True), *parts)
    return Sums(math.fsum(scores), math.fsum(expected), math.fsum(actual), all(perfect))


def divide_leaves(part: float, total: float, *, perfect: bool) -> float:
    """Return part / total, at most 1, and 1 for 0/0; rounding makes it 1 only if everything is `perfect`.

    >>> divide_leaves(1.0, 4.0, perfect=False), divide_leaves(0.0, 0.0, perfect=True)
    (0.25, 1.0)
    """
    if not total:
        return 1.0
    return min(part / total, 1.0 if perfect or part >= total else _BELOW_ONE)


_MAX_NUMBERS: Final = 512
"""An exact sum of more numbers than this is shortened."""


@final
class ExactSum:
    """A sum of floats that is rounded only when read, so that the order of the numbers does not matter.

    >>> one, other = ExactSum(), ExactSum()
    >>> one.extend([0.1, 0.2]), other.extend([-0.1]), one.merge(other)
    (None, None, None)
    >>> one.value
    0.2
    """

    __slots__ = ("_numbers",)

    def __init__(self, numbers: Iterable[float] = ()) -> None:
        self._numbers: list[float] = [*numbers]

    def extend(self, numbers: Iterable[float]) -> None:
        """Add finite numbers."""
        self._numbers += numbers
        if len(self._numbers) > _MAX_NUMBERS:
            self._shorten()

    def add_product(self, number: int, weight: float) -> None:
        """Add `number` times a weight, exactly."""
        product = number * weight
        self._numbers.append(product)
        if number > 1 and weight % 1:
            from fractions import Fraction

            self._numbers.append(float(number * Fraction(weight) - Fraction(product)))

    def merge(self, other: ExactSum) -> None:
        """Add another sum."""
        if other._numbers:
            self.extend(other._numbers)

    def divide(self, number: int) -> None:
        """Divide the sum, which rounds it."""
        self._numbers = [self.value / number]

    def _shorten(self) -> None:
        """Replace the numbers by a few with the same exact sum: the rounded sum and its remainders."""
        numbers = self._numbers
        few: list[float] = []
        while rest := math.fsum(numbers):
            few.append(rest)
            numbers.append(-rest)
        self._numbers = few

    @property
    def value(self) -> float:
        """The sum, rounded once."""
        numbers = self._numbers
        return numbers[0] if len(numbers) == 1 else math.fsum(numbers)

    def __getstate__(self) -> list[float]:
        self._shorten()
        return self._numbers

    def __setstate__(self, numbers: list[float]) -> None:
        self._numbers = list(numbers)
