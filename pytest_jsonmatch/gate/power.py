"""What a comparison could have seen: the smallest drop that it would most probably prove."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, final

from pytest_jsonmatch.gate.paired import lattice_steps, level
from pytest_jsonmatch.gate.samples import GRAIN, to_grains

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_jsonmatch.gate.samples import Pairs

SEED: Final = 20_240_603
_TRIALS: Final = 1_000
_LEAST_TRIALS: Final = 200
_NUMBERS: Final = 3_000_000
"""With more than 3,000 cases there are fewer trials, so that a table of them fits into memory."""
_PATTERNS: Final = 2_000
_NORMAL: Final = 50
"""From so many cases on, the sum of random signs is as good as normal; half as many do if all are alike."""
_LEAST_SIZES: Final = 5
_SOME_ZEROS: Final = 0.1
"""With a larger share of deltas that are 0, nobody would expect a drop to spread over all cases."""


Shape = Literal["even", "alike", "broken"]


@final
@dataclass(frozen=True, slots=True)
class Detectable:
    """The smallest drops of the mean that would be proven at the stated power; None: none at this n."""

    cases: int
    power: float
    usual: float | None
    """If it comes about as `shape` says."""
    broken: float | None
    """If it comes from cases that fall to score 0, the others being as they were: the hardest to see."""
    shape: Shape
    """`even`: every case loses as much. Expected where more than nine in ten deltas differ from 0.
    `alike`: more cases lose, each as much as one of the observed deltas. Expected where fewer differ, but
    five or more. `broken`: outcomes, or too few deltas to learn from; `usual` is `broken` then."""

    @property
    def drop(self) -> float | None:
        """The one to go by: the usual one, or what broken cases take where usual losses are not seen."""
        return self.broken if self.usual is None else self.usual


def minimum_detectable(pairs: Pairs, confidence: float = 0.95, power: float = 0.8) -> Detectable:
    """Return the smallest true drop that the sign-flip test would prove as often as `power` says.

    The noise is taken from the pairs themselves: deltas as large as the observed ones, with either sign. To
    it a drop is added in one of three shapes. `broken`: each case falls to score 0 with a probability, so
    that its delta is minus its baseline score. `alike`: each case loses, with a probability, as much as one
    of the observed deltas that are not 0. `even`: all deltas are lower by the same, and the noise is as
    uncertain as so few deltas leave it. For outcomes that are 0 or 1 it is an exact sum over the trinomial
    distribution; everything else is simulated, 1,000 times, with a fixed seed.

    Args:
        pairs: the cases, of which the noise and the baseline scores are taken.
        confidence: of the test; it is one-sided.
        power: the share of such comparisons in which the drop is proven.

    >>> from pytest_jsonmatch.gate.samples import pair_cases
    >>> same = {str(number): [1.0] for number in range(30)}
    >>> round(minimum_detectable(pair_cases(same, same)).drop, 2)
    0.21
    """
    n = len(pairs.cases)
    sizes = to_grains(abs(delta) for delta in pairs.deltas)
    differing = [size for size in sizes if size]
    alpha = level(confidence)
    most = math.fsum(pairs.baseline) / n if n else 0.0
    if not most or n < least_signs(alpha):
        return Detectable(n, power, None, None, "broken")
    outcomes = {0, GRAIN}
    if outcomes.issuperset(sizes) and outcomes.issuperset(to_grains(pairs.baseline)):
        broken = _smallest(_power_of_outcomes(n, most, sum(sizes) / GRAIN / n, alpha), most, power)
        return Detectable(n, power, broken, broken, "broken")
    trials = _Trials(pairs, alpha)
    broken = _smallest(lambda drop: trials.power_if_broken(drop / most), most, power)
    if len(differing) < _LEAST_SIZES:
        return Detectable(n, power, broken, broken, "broken")
    if len(differing) > (1 - _SOME_ZEROS) * n:
        return Detectable(n, power, _smallest(trials.power_if_even, most, power), broken, "even")
    size = sum(differing) / GRAIN / len(differing)
    alike = _smallest(lambda drop: trials.power_if_alike(drop / size), min(size, most), power)
    return Detectable(n, power, alike, broken, "alike")


def cases_to_rule_out(drop: float, confidence: float = 0.95) -> int | None:
    """Return the least number of cases, all of them unchanged, that rule a drop out; None for a drop of 0.

    If one case in fifty is lost, the mean drops by 0.02; 148 cases without a loss still happen in 5 % of all
    runs.

    >>> cases_to_rule_out(0.02), cases_to_rule_out(0.1), cases_to_rule_out(0.0)
    (149, 29, None)
    """
    if drop <= 0:
        return None
    if drop >= 1:
        return 1
    return max(1, math.ceil(math.log(level(confidence)) / math.log1p(-drop) - 1e-9))


def least_signs(alpha: float) -> int:
    """Return how many deltas, all of one sign, it takes to prove anything.

    >>> least_signs(0.05), least_signs(0.01)
    (5, 7)
    """
    return math.ceil(-math.log2(alpha) - 1e-9)


def _smallest(power_of: Callable[[float], float], most: float, power: float) -> float | None:
    """Return the smallest drop with that power, at most `most`; None if there is none."""
    if power_of(most) < power:
        return None
    low, high = 0.0, most
    while high - low > 0.004 * high:
        middle = (low + high) / 2
        if power_of(middle) < power:
            low = middle
        else:
            high = middle
        if high < 1e-6:
            break
    return high


def _power_of_outcomes(n: int, passing: float, changing: float, alpha: float) -> Callable[[float], float]:
    """Return the power of McNemar's test as a function of the drop, summed exactly.

    Args:
        n: how many cases there are.
        passing: the share that passes in the baseline.
        changing: the share whose outcome changes by chance, one way or the other.
        alpha: the level of the test.
    """
    import numpy as np
    from scipy.stats import binom

    every = np.arange(n + 1)
    # Of so many changed outcomes, the losses that prove a drop.
    limits: Any = np.maximum(binom.isf(alpha, every, 0.5), 0).astype(np.int64) + 1
    limits += binom.sf(limits - 1, every, 0.5) > alpha

    def power_of(drop: float) -> float:
        broken = drop / passing
        lost = broken * passing + (1 - broken) * changing / 2
        gained = (1 - broken) * changing / 2
        if not lost:
            return 0.0
        of_changed = binom.sf(limits - 1, every, lost / (lost + gained))
        return float(binom.pmf(every, n, min(1.0, lost + gained)) @ of_changed)

    return power_of


@final
class _Trials:
    """Comparisons drawn from the noise of the observed one, the same for every drop that is tried."""

    __slots__ = ("_alpha", "_broken", "_chances", "_is_tied", "_losses", "_noise", "_patterns", "_scales")

    def __init__(self, pairs: Pairs, alpha: float) -> None:
        import numpy as np

        source = np.random.RandomState(SEED)
        rows = sorted(zip(to_grains(abs(delta) for delta in pairs.deltas), to_grains(pairs.baseline)))
        n = len(rows)
        trials = min(_TRIALS, max(_LEAST_TRIALS, _NUMBERS // n))
        sizes, scores = np.array(rows, dtype=np.float64).T / GRAIN
        which = (source.random_sample((trials, n)) * n).astype(np.intp)
        signs = np.where(source.random_sample((trials, n)) < 0.5, -1.0, 1.0)
        self._noise: Any = sizes[which] * signs
        differing = sizes[sizes > 0] if sizes.any() else sizes
        self._losses: Any = differing[(source.random_sample((trials, n)) * len(differing)).astype(np.intp)]
        self._broken: Any = -scores[which]
        self._chances: Any = source.random_sample((trials, n))
        self._alpha = alpha
        # How much larger or smaller the true noise may be than that of n deltas: without this a drop that is
        # printed for 10 cases would be detected in 71 % of comparisons, not in 80 %.
        self._scales: Any = np.sqrt(n / source.chisquare(n, trials))[:, None]
        tied = lattice_steps([size for size in {*to_grains(sizes), *to_grains(scores)} if size]) is not None
        self._is_tied = tied
        self._patterns: Any = np.empty((_PATTERNS, 0))

    def power_if_broken(self, share: float) -> float:
        """Return how often a drop is proven if each case falls to 0 with this probability."""
        import numpy as np

        return self._proven(np.where(self._chances < share, self._broken, self._noise))

    def power_if_alike(self, share: float) -> float:
        """Return how often a drop is proven if this share of cases loses as much as one that differs."""
        import numpy as np

        return self._proven(np.where(self._chances < share, -self._losses, self._noise))

    def power_if_even(self, drop: float) -> float:
        """Return how often a drop is proven if each case loses as much."""
        return self._proven(self._noise * self._scales - drop, _NORMAL // 2)

    def _proven(self, deltas: Any, normal_from: int = _NORMAL) -> float:
        """Return how often the sign-flip test rejects, of a table with a row for each comparison."""
        import numpy as np

        totals = deltas.sum(axis=1)
        squares = (deltas**2).sum(axis=1)
        if not self._is_tied and deltas.shape[1] >= normal_from:
            # The normal distribution with Edgeworth's correction for the sum of random signs.
            z = totals / np.sqrt(np.maximum(squares, 1e-300))
            cube = z**3 - 3 * z
            fourth = -2 * (deltas**4).sum(axis=1) / np.maximum(squares, 1e-300) ** 2
            p = _normal(z) - np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi) * fourth / 24 * cube
            return float((p <= self._alpha).mean())
        # The largest first, and only as many columns as there are deltas that differ from 0.
        sizes = -np.sort(-np.abs(deltas), axis=1)
        width = int((sizes > 0.5 / GRAIN).sum(axis=1).max(initial=0))
        if width > self._patterns.shape[1]:
            source = np.random.RandomState(SEED + 1)
            self._patterns = np.where(source.random_sample((_PATTERNS, width)) < 0.5, -1.0, 1.0)
        sums = sizes[:, :width] @ self._patterns[:, :width].T
        below = (sums <= totals[:, None] + 1e-7).mean(axis=1)
        return float((below <= self._alpha).mean())


def _normal(z: Any) -> Any:
    from scipy.special import ndtr

    return ndtr(z)
