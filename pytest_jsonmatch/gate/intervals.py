"""Confidence intervals for pass rates, means and ratios of sums, over single cases or clusters of cases."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.gate.samples import to_grains

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_jsonmatch.gate.samples import Row

SEED: Final = 20_240_602
FEW: Final = 20
"""If fewer values than this differ from the most common one, their distribution is hardly known."""
_COMMON: Final = 0.25
_DRAWS: Final = 10_000
_SHARES: Final = 41
"""The number of shares of unseen cases to try, from 0 to the largest that can remain unseen."""
_NO_SPREAD: Final = 1e-9


@final
@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its confidence interval."""

    estimate: float
    low: float
    high: float
    confidence: float
    cases: int
    clusters: int
    """The number of independent units: of clusters, or of cases without clusters."""


def wilson(passed: int, cases: int, confidence: float = 0.95) -> Interval:
    """Return the interval for the pass rate of independent cases.

    Source: Wilson 1927, without continuity correction; Newcombe 1998 compares it with six others.

    >>> interval = wilson(8, 10)
    >>> interval.estimate, round(interval.low, 4), round(interval.high, 4)
    (0.8, 0.4902, 0.9433)
    """
    from scipy.stats import binomtest

    ends = binomtest(passed, cases).proportion_ci(confidence, method="wilson")
    return Interval(passed / cases, float(ends.low), float(ends.high), confidence, cases, cases)


def pass_rate_interval(passed: Sequence[Row], confidence: float = 0.95) -> Interval:
    """Return Wilson's interval for a pass rate or, if cases come in clusters, the `ratio_interval`."""
    if len({row.cluster for row in passed}) == len(passed):
        return wilson(round(math.fsum(row.part for row in passed)), len(passed), confidence)
    return ratio_interval(passed, confidence)


def ratio_interval(
    rows: Iterable[Row], confidence: float = 0.95, low: float = 0.0, high: float = 1.0
) -> Interval:
    """Return the interval for a ratio of sums, such as a mean or a micro F1, from clusters of cases.

    `lower_end` explains how the ends are computed.

    Args:
        rows: what each case adds to both sums; their order does not matter.
        confidence: how often such an interval contains the true ratio, in the long run.
        low: the lowest ratio that a cluster can have.
        high: the highest.

    Raises ConfigurationError if the ratio is undefined: division by zero.

    >>> from pytest_jsonmatch.gate.samples import Row
    >>> interval = ratio_interval(Row(float(at > 1), 1.0, str(at)) for at in range(30))
    >>> round(interval.low, 2), round(interval.high, 2)
    (0.78, 0.99)
    """
    listed = list(rows)
    mean = influences(listed)
    ends = mean.ends((1 - confidence) / 2, low, high)
    return Interval(mean.ratio, *ends, confidence, len(listed), len(mean.values))


@final
class Influences(NamedTuple):
    """A ratio of sums, and a value for each cluster; the ratio is approximately their mean."""

    ratio: float
    values: Any
    weight: float = 1.0
    """The mean size of a case's cluster over the mean size of all clusters: above 1 if sizes differ."""

    def ends(self, alpha: float, low: float, high: float) -> tuple[float, float]:
        """Return both ends of the ratio's interval, each at confidence 1 - alpha."""
        # Unseen clusters may have this weight, too.
        lowest, highest = (self.ratio + self.weight * (bound - self.ratio) for bound in (low, high))
        below, above = lower_end(self.values, alpha, lowest), -lower_end(-self.values, alpha, -highest)
        return max(low, min(self.ratio, below)), min(high, max(self.ratio, above))


def influences(rows: Sequence[Row]) -> Influences:
    """Return a ratio of sums and its values: the jackknife's pseudo-values.

    Each value is the ratio plus a multiple of its change when the cluster is removed. For the mean of single
    cases the values are those of the cases. Their variance is the clustered one (Miller 2024, Adding Error
    Bars to Evals, arXiv 2411.00640).

    >>> from pytest_jsonmatch.gate.samples import Row
    >>> influences([Row(1.0, 1.0, "a"), Row(0.0, 1.0, "b")])
    Influences(ratio=0.5, values=array([0., 1.]), weight=1.0)
    """
    import numpy as np

    sums: dict[str, list[list[float]]] = {}
    for row in rows:
        sums_of = sums.setdefault(row.cluster, [[], []])
        sums_of[0].append(row.part)
        sums_of[1].append(row.total)
    # Sorted, so that the order of the cases does not matter.
    pairs = sorted((math.fsum(parts), math.fsum(totals)) for parts, totals in sums.values())
    parts, totals = np.array(pairs).reshape(-1, 2).T
    part, total = math.fsum(parts), math.fsum(totals)
    if total <= 0:
        raise ConfigurationError("an interval needs at least 1 scored case")
    n = len(parts)
    ratio = part / total
    rest = total - totals
    if n < 2 or rest.min() <= _NO_SPREAD * total:
        return Influences(ratio, np.array([ratio]))  # effectively a single cluster
    without = (part - parts) / rest
    values = ratio + (n - 1) * (without.mean() - without)
    return Influences(ratio, values, n * float((totals**2).sum()) / total**2)


def lower_end(values: Any, alpha: float, bound: float) -> float:
    """Return the lower end, at confidence 1 - alpha, of the interval for a mean.

    Twenty cases near 1 do not prove that fewer than one in twenty fails. So a share q of cases may be of an
    unseen kind that scores `bound`. The chance that none of n cases is of this kind is (1 - q)^n, so the end
    for the others needs an error rate of only alpha / (1 - q)^n. The result is the lowest end over all q:
    for every q, at most alpha of all samples miss it. With many cases, or noisy ones, q makes no
    difference. The end for the others is Student's t with Hall's transformation against skewness (Hall 1992,
    On the removal of skewness by transformation).

    That is too rough where a quarter or more of the values are equal and fewer than 20 differ from them:
    `bounded_end` is used there.

    >>> import numpy as np
    >>> round(lower_end(np.ones(29), 0.05, 0.0), 2)
    0.9
    """
    import numpy as np

    n = len(values)
    if n < 2:
        return bound
    if is_few(values) and values.min() < values.max():
        return max(bound, bounded_end(values, alpha, bound))  # a ratio's values may lie below it
    shares = np.linspace(0, 1 - alpha ** (1 / n), _SHARES)
    levels = np.minimum(alpha / (1 - shares) ** n, 1 - 1e-9)
    ends = (1 - shares) * _plain_ends(values, levels) + shares * bound
    return max(bound, float(ends.min()))


def is_few(values: Any) -> bool:
    """Return whether so few values differ from the most common one that `bounded_end` is needed.

    Where hardly any two values are equal, few values are enough for Hall's test.
    """
    n, most_common = len(values), max(Counter(to_grains(values.tolist())).values())
    return n - most_common < FEW and most_common >= _COMMON * n


def bounded_end(values: Any, alpha: float, bound: float) -> float:
    """Return the lower end of an interval for a mean that assumes only that no value is below `bound`.

    The values, and one more at the bound, get random weights, uniform among all that sum to 1; the end is a
    quantile of 10,000 such weighted means, drawn from a fixed seed. For outcomes of 0 and 1 it equals, up to
    the random draws, the exact end of Clopper & Pearson 1934.

    Source: Gaffke 2005; Learned-Miller & Thomas 2020, A new confidence interval for the mean of a bounded
    random variable. That it holds for every distribution is a conjecture; no counterexample is known.

    >>> import numpy as np
    >>> round(bounded_end(np.array([1.0] * 9), 0.025, 0.0), 2)
    0.67
    """
    import numpy as np

    distinct, counts = np.unique(np.append(values, bound), return_counts=True)
    weights = np.random.RandomState(SEED).standard_gamma(counts, (_DRAWS, len(counts)))
    return float(np.quantile(weights @ distinct / weights.sum(axis=1), alpha))


def plain_end(values: Any, alpha: float) -> float:
    """Return the lower end of an interval for a mean that does not allow for unseen kinds of cases.

    >>> import numpy as np
    >>> plain_end(np.ones(29), 0.05)
    1.0
    """
    import numpy as np

    return float(_plain_ends(values, np.array([alpha]))[0]) if len(values) > 1 else -math.inf


def _plain_ends(values: Any, levels: Any) -> Any:
    """Return the lower ends by Hall's transformed t, one for each level."""
    import numpy as np
    from scipy.special import stdtrit

    n = len(values)
    mean, deviation, skewness = _moments(values)
    quantiles = -stdtrit(n - 1, levels) / math.sqrt(n)
    if abs(skewness) > _NO_SPREAD:
        quantiles = 3 / skewness * (np.cbrt(1 + skewness * (quantiles - skewness / (6 * n))) - 1)
    return mean - quantiles * deviation


def _moments(values: Any) -> tuple[float, float, float]:
    """Return the mean, the standard deviation and the skewness of values."""
    import numpy as np

    mean = math.fsum(values) / len(values)
    deviations = np.asarray(values) - mean
    deviation = math.sqrt(float((deviations**2).sum()) / (len(values) - 1))
    if deviation <= _NO_SPREAD:
        return mean, 0.0, 0.0
    return mean, deviation, float((deviations**3).mean()) / deviation**3
