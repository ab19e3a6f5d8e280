"""How sure a figure is: intervals for pass rates and for means of scores."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Final, final

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.gate.samples import GRAIN, to_grains

if TYPE_CHECKING:
    from collections.abc import Sequence

RESAMPLES: Final = 10_000
SEED: Final = 20_240_602
FEW: Final = 20
"""With fewer informative cases the bootstrap covers too rarely, so that the bounded interval is used."""


@final
@dataclass(frozen=True, slots=True)
class Interval:
    """A figure, and where the true one lies at a confidence."""

    estimate: float
    low: float
    high: float
    confidence: float
    method: str
    """`Wilson`, `bootstrap`, `bounded` or `Jeffreys`."""
    cases: int
    informative: int
    """Cases that differ from the most common value; of a pass rate, the rarer outcome."""


def wilson(passed: int, cases: int, confidence: float = 0.95) -> Interval:
    """Return the interval of a pass rate.

    Source: Wilson 1927, without continuity correction; Newcombe 1998 compares it with six others.

    >>> interval = wilson(8, 10)
    >>> interval.estimate, round(interval.low, 4), round(interval.high, 4)
    (0.8, 0.4902, 0.9433)
    """
    if not 0 <= passed <= cases or cases == 0:
        raise ConfigurationError(f"a pass rate of {passed} out of {cases} cases is none")
    z = NormalDist().inv_cdf((1 + checked_confidence(confidence)) / 2)
    rate = passed / cases
    middle = rate + z * z / (2 * cases)
    reach = z * math.sqrt(rate * (1 - rate) / cases + z * z / (4 * cases * cases))
    scale = 1 + z * z / cases
    low = 0.0 if passed == 0 else max(0.0, (middle - reach) / scale)
    high = 1.0 if passed == cases else min(1.0, (middle + reach) / scale)
    return Interval(rate, low, high, confidence, "Wilson", cases, min(passed, cases - passed))


def checked_confidence(confidence: float) -> float:
    """Return the confidence, or raise ConfigurationError if it is not a share.

    >>> checked_confidence(95)
    Traceback (most recent call last):
    pytest_jsonmatch.ConfigurationError: a confidence of 95: it is a share, such as 0.95
    """
    if not 0.0 < confidence < 1.0:
        raise ConfigurationError(f"a confidence of {confidence!r}: it is a share, such as 0.95")
    return confidence


def mean_interval(
    values: Sequence[float], confidence: float = 0.95, low: float = 0.0, high: float = 1.0
) -> Interval:
    """Return the interval of a mean, by the method that covers for such values.

    It is the bootstrap where 20 cases or more differ from the most common value. With fewer (few cases, or
    nearly all of them equal) the bootstrap's interval is too short, and has no width where all are equal:
    there it is the wider one that assumes nothing but the bounds.

    Args:
        values: one per case (the mean of its repeats); their order does not matter.
        confidence: how often such an interval has the true mean in it, in the long run.
        low: what a value can be at the least.
        high: what a value can be at the most.

    >>> interval = mean_interval([1.0] * 28 + [0.5, 0.0])
    >>> round(interval.low, 3), round(interval.high, 3), interval.method, interval.informative
    (0.81, 0.994, 'bounded', 2)
    """
    grains = to_grains(values)
    informative = len(grains) - max(Counter(grains).values(), default=0)
    if informative < FEW:
        return bounded_interval(values, confidence, low, high)
    return bootstrap_interval(values, confidence)


def bootstrap_interval(
    values: Sequence[float], confidence: float = 0.95, *, resamples: int = RESAMPLES
) -> Interval:
    """Return the percentile bootstrap interval of a mean, widened for small samples.

    Resamples are drawn with a fixed seed, and their means are sums of whole numbers: the same on every
    machine. The percentiles are those at which the interval gets the length that Student's t would give it.

    Source: Efron 1979; Hesterberg 2015, What Teachers Should Know About the Bootstrap ("expanded
    percentile").

    >>> interval = bootstrap_interval([number / 100 for number in range(100)])
    >>> interval.estimate, round(interval.low, 2), round(interval.high, 2)
    (0.495, 0.44, 0.55)
    """
    import numpy as np
    from scipy.special import ndtr, stdtrit

    grains = sorted(to_grains(values))
    n = len(grains)
    if n < 2:
        raise ConfigurationError(f"a bootstrap needs at least 2 cases, not {n}")
    t = stdtrit(n - 1, (1 + checked_confidence(confidence)) / 2)
    below = int(resamples * float(ndtr(-math.sqrt(n / (n - 1)) * t)))
    source = np.random.RandomState(SEED)  # (its stream is frozen, unlike that of default_rng)
    array = np.asarray(grains, dtype=np.int64)
    sums = np.empty(resamples, dtype=np.int64)
    rows = 1 + 2_000_000 // n
    for start in range(0, resamples, rows):
        drawn = source.random_sample((min(rows, resamples - start), n))
        sums[start : start + rows] = array[(drawn * n).astype(np.intp)].sum(axis=1)
    sums.sort()
    low, high = (int(sums[at]) / n / GRAIN for at in (below, resamples - 1 - below))
    informative = n - max(Counter(grains).values())
    return Interval(sum(grains) / n / GRAIN, low, high, confidence, "bootstrap", n, informative)


def bounded_interval(
    values: Sequence[float], confidence: float = 0.95, low: float = 0.0, high: float = 1.0
) -> Interval:
    """Return an interval of a mean that assumes nothing but the bounds of the values.

    Of outcomes that are 0 or 1 it is the exact one of Clopper & Pearson 1934. `p_mean_below` says where it
    comes from. Raises ConfigurationError without a value.

    >>> interval = bounded_interval([1.0] * 9)
    >>> round(interval.low, 4), interval.high
    (0.6637, 1.0)
    """
    from scipy.optimize import brentq

    tail = (1 - checked_confidence(confidence)) / 2
    grains = to_grains(values)
    n = len(grains)
    if not n:
        raise ConfigurationError("an interval of a mean needs at least 1 case")
    turned = [-value for value in values]

    def from_below(mean: float) -> float:
        return p_mean_below(values, mean, low) - tail

    def from_above(mean: float) -> float:
        return p_mean_below(turned, -mean, -high) - tail

    least, most = min(grains) / GRAIN, max(grains) / GRAIN
    bottom = low if most <= low else brentq(from_below, low, most, xtol=1e-9)
    top = high if least >= high else brentq(from_above, least, high, xtol=1e-9)
    informative = n - max(Counter(grains).values())
    return Interval(sum(grains) / n / GRAIN, bottom, top, confidence, "bounded", n, informative)


def p_mean_below(values: Sequence[float], limit: float, low: float = 0.0) -> float:
    """Return how likely values this high are, if the true mean is `limit` or lower: a p-value.

    Nothing is assumed but that values are independent and never below `low`. Weights that are uniform among
    all that sum to 1 are given to the values and to one more at `low`; the result is the chance that the
    weighted mean is `limit` or lower. Of outcomes that are 0 or 1 it is the exact binomial p-value (Clopper &
    Pearson 1934). With many values it comes close to that of the bootstrap.

    Source: Gaffke 2005; Learned-Miller & Thomas 2020, A new confidence interval for the mean of a bounded
    random variable. That it holds for every distribution is a conjecture; no counterexample is known.

    Args:
        values: one per case; their order does not matter.
        limit: the mean to rule out.
        low: the lowest that a value can be.

    >>> round(p_mean_below([1] * 58 + [0], 0.9), 4), round(p_mean_below([1] * 29, 0.9), 4)
    (0.0151, 0.0471)
    """
    counts = Counter(to_grains(value - limit for value in values))
    counts[round((low - limit) * GRAIN)] += 1
    return _weighted_sum_below_zero({value / GRAIN: number for value, number in counts.items() if value})


def _weighted_sum_below_zero(counts: dict[float, int]) -> float:
    """Return P(Σ aᵢEᵢ ≤ 0) for independent exponential E: of each value a, so many as `counts` says.

    Dirichlet weights are exponentials over their sum, so that it is the chance of a weighted mean of 0 or
    less. The moment generating function is inverted along a line through its saddle point, where nothing
    oscillates (Daniels 1987; Helstrom 1983); a sum over sinh-spaced points is then as exact as floats are.
    """
    import numpy as np

    points = sorted(counts)
    if not points or points[-1] < 0:
        return 1.0
    if points[0] > 0:
        return 0.0
    scale = max(points[-1], -points[0])
    a = np.array(points) / scale
    m = np.array([counts[point] for point in points], dtype=float)
    below = float((m * a).sum()) > 0  # which tail is the smaller one
    if not below:
        a = -a[::-1]
        m = m[::-1]
    # Now P(Y ≤ 0) is the smaller tail. The line is at s < 0, right of the pole 1 / min(a).
    near, far = 0.0, 1.0 / float(a[0])
    for _ in range(80):
        s = (near + far) / 2
        if float((m * a / (1 - s * a)).sum()) - 1 / s > 0:
            near = s
        else:
            far = s
    s = (near + far) / 2
    width = 1 / math.sqrt(float((m * (a / (1 - s * a)) ** 2).sum()) + 1 / s**2)
    total = 0.0
    for start in range(20):
        steps = start + np.arange(32) / 32
        line = s + 1j * width * np.sinh(steps)
        logs = -(m[:, None] * np.log(1 - line[None, :] * a[:, None])).sum(axis=0) - np.log(line)
        heights = np.exp(logs) * width * np.cosh(steps)
        total -= float(heights.real.sum() - heights[0].real / 2 * (start == 0))
        if float(np.abs(heights).max()) < 1e-16 * abs(total):
            break
    tail = min(1.0, max(0.0, total / 32 / math.pi))
    return tail if below else 1.0 - tail
