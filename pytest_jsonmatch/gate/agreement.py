"""How far a judge agrees with people: accuracy, Cohen's kappa, and how sure they are."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

from pytest_jsonmatch.gate.intervals import SEED, Interval, wilson

if TYPE_CHECKING:
    from collections.abc import Iterable

DRAWS: Final = 20_000
_PRIOR: Final = 0.5
"""Of Jeffreys, for the cells of a table."""


@final
@dataclass(frozen=True, slots=True)
class Agreement:
    """How often judge and people say the same: a table of two by two.

    Args:
        true_same: both say that the two values mean the same.
        false_same: the judge says so, people do not.
        false_different: people say so, the judge does not.
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
        """Return the table of pairs of label and verdict, each True for "the same".

        >>> Agreement.of([(True, True), (True, False)])
        Agreement(true_same=1, false_same=0, false_different=1, true_different=0)
        """
        counts = Counter((bool(label), bool(verdict)) for label, verdict in pairs)
        return cls(counts[True, True], counts[False, True], counts[True, False], counts[False, False])

    @property
    def number(self) -> int:
        """How many pairs there are."""
        return self.true_same + self.false_same + self.false_different + self.true_different

    @property
    def agreed(self) -> int:
        """How many of them judge and people agree about."""
        return self.true_same + self.true_different

    @property
    def has_both_labels(self) -> bool:
        """Whether people say "the same" of some and "different" of others."""
        return 0 < self.true_same + self.false_different < self.number

    @property
    def accuracy(self) -> float | None:
        """The share that they agree about; None without pairs."""
        return _share(self.agreed, self.number)

    @property
    def precision(self) -> float | None:
        """Of what the judge calls the same, the share that people do; None if there is none."""
        return _share(self.true_same, self.true_same + self.false_same)

    @property
    def recall(self) -> float | None:
        """Of what people call the same, the share that the judge does; None if there is none."""
        return _share(self.true_same, self.true_same + self.false_different)

    @property
    def kappa(self) -> float | None:
        """The agreement beyond that of chance: 1 is perfect, 0 is what guessing at the same rates gives.

        None if all labels are alike: then it is 0 or 0/0, whatever the judge says.

        Source: Cohen 1960, A coefficient of agreement for nominal scales.
        """
        if not self.has_both_labels:
            return None
        a, b, c, d = self.true_same, self.false_same, self.false_different, self.true_different
        # (observed - chance) / (1 - chance), both times the square of the number: integers until the end.
        return 2 * (a * d - b * c) / ((a + b) * (b + d) + (a + c) * (c + d))

    def accuracy_interval(self, confidence: float = 0.95) -> Interval | None:
        """Return Wilson's interval of the accuracy; None without pairs."""
        return wilson(self.agreed, self.number, confidence) if self.number else None

    def kappa_interval(self, confidence: float = 0.95) -> Interval | None:
        """Return where the true kappa lies; None if all labels are alike.

        The four shares of the table are drawn from their Dirichlet posterior under Jeffreys's prior (half a
        pair added to each cell), 20,000 times from a fixed seed, and the interval is what lies between the
        quantiles of their kappas. The usual interval by the standard error (Fleiss, Cohen & Everitt 1969) has
        no width where judge and people never disagree, and with 50 pairs covers too rarely;
        docs/statistics.md compares the two. Judge and people may change places: nothing about it changes.

        >>> interval = Agreement(20, 10, 5, 15).kappa_interval()
        >>> interval.estimate, round(interval.low, 2), round(interval.high, 2)
        (0.4, 0.13, 0.61)
        """
        estimate = self.kappa
        if estimate is None:
            return None
        import numpy as np

        # Kappa is the same whichever cell of a diagonal is which: in order, the draws are so too.
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
