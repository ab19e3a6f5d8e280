"""The sums from which all scores are computed, and the three divisions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

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
