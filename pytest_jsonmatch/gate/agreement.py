"""How well a judge agrees with people: accuracy, Cohen's kappa, and their confidence intervals."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

from pytest_jsonmatch.gate.intervals import SEED, Interval, wilson

if TYPE_CHECKING:
    from collections.abc import Iterable

DRAWS: Final = 20_000
_PRIOR: Final = 0.5
"""Jeffreys' prior: added to each cell of the table."""


@final
@dataclass(frozen=True, slots=True)
class Agreement:
    """How often a judge and people agree: a two-by-two table.

    Args:
        true_same: both say that the two values mean the same.
        false_same: only the judge says so.
        false_different: only people say so.
        true_different: neither says so.

    >>> found = Agreement(true_same=20, false_same=10, false_different=5, true_different=15)
    >>> found.accuracy, found.kappa
    (0.7, 0.4)
    """

    true_same: int = 0
    false_same: int = 0
    false_different: int = 0
    true_different: int = 0

    @classmethod
    def of(cls, pairs: Iterable[tuple[bool, bool]]) -> Agreement:
        """Count pairs of label and verdict, each True for "the same".

        >>> Agreement.of([(True, True), (True, False)])
        Agreement(true_same=1, false_same=0, false_different=1, true_different=0)
        """
        counts = Counter((bool(label), bool(verdict)) for label, verdict in pairs)
        return cls(counts[True, True], counts[False, True], counts[True, False], counts[False, False])

    @property
    def number(self) -> int:
        """The number of pairs."""
        return self.true_same + self.false_same + self.false_different + self.true_different

    @property
    def agreed(self) -> int:
        """The number of pairs on which judge and people agree."""
        return self.true_same + self.true_different

    @property
    def has_both_labels(self) -> bool:
        """Whether people label some pairs "the same" and others "different"."""
        return 0 < self.true_same + self.false_different < self.number

    @property
    def accuracy(self) -> float | None:
        """The share of pairs on which they agree; None without pairs."""
        return _share(self.agreed, self.number)

    @property
    def precision(self) -> float | None:
        """The share of the judge's "same" that people confirm; None if the judge never says "same"."""
        return _share(self.true_same, self.true_same + self.false_same)

    @property
    def recall(self) -> float | None:
        """The share of people's "same" that the judge confirms; None if people never say "same"."""
        return _share(self.true_same, self.true_same + self.false_different)

    @property
    def kappa(self) -> float | None:
        """The agreement beyond chance: 1 is perfect, 0 is what guessing at the same rates gives.

        None if all labels are equal: kappa is then 0 or 0/0, whatever the judge says.

        Source: Cohen 1960, A coefficient of agreement for nominal scales.
        """
        if not self.has_both_labels:
            return None
        a, b, c, d = self.true_same, self.false_same, self.false_different, self.true_different
        # (observed - chance) / (1 - chance), both multiplied by number²: integers until the end.
        return 2 * (a * d - b * c) / ((a + b) * (b + d) + (a + c) * (c + d))

    def accuracy_interval(self, confidence: float = 0.95) -> Interval | None:
        """Return Wilson's interval for the accuracy; None without pairs."""
        return wilson(self.agreed, self.number, confidence) if self.number else None

    def kappa_interval(self, confidence: float = 0.95) -> Interval | None:
        """Return an interval for the true kappa; None if all labels are equal.

        The four shares of the table are drawn 20,000 times, from a fixed seed, from their Dirichlet posterior
        under Jeffreys' prior (half a pair added to each cell); the ends are quantiles of the kappas drawn.
        The usual interval from the standard error (Fleiss, Cohen & Everitt 1969) has no width where judge and
        people never disagree, and with 50 pairs it covers too rarely; docs/statistics.md compares the two.
        Swapping judge and people changes nothing.

        >>> interval = Agreement(20, 10, 5, 15).kappa_interval()
        >>> interval.estimate, round(interval.low, 2), round(interval.high, 2)
        (0.4, 0.13, 0.61)
        """
        estimate = self.kappa
        if estimate is None:
            return None
        import numpy as np

        # Kappa is symmetric in the cells of each diagonal; sorting them makes the draws symmetric, too.
        same = sorted((self.true_same, self.true_different))
        other = sorted((self.false_same, self.false_different))
        random = np.random.RandomState(SEED)
        a, d, b, c = random.standard_gamma(np.array([*same, *other]) + _PRIOR, (DRAWS, 4)).T
        kappas = 2 * (a * d - b * c) / ((a + b) * (b + d) + (a + c) * (c + d))
        rest = (1 - confidence) / 2
        low, high = (float(end) for end in np.quantile(kappas, [rest, 1 - rest]))
        n = self.number
        return Interval(estimate, min(low, estimate), max(high, estimate), confidence, "Jeffreys", n, n)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
