"""Is a drop larger than what is allowed? Tests against a margin, where no symmetry helps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, Literal

from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean
from pytest_jsonmatch.gate.paired import level, sign_flip
from pytest_jsonmatch.gate.samples import GRAIN, to_grains

if TYPE_CHECKING:
    from collections.abc import Sequence

Mode = Literal["regression", "non-inferiority"]

MODES: Final[tuple[Mode, ...]] = ("regression", "non-inferiority")
_DOUBT: Final = 0.001
"""The share of the error rate that is spent on how many outcomes change at all."""
_RATES: Final = 200


def checked_gate(max_drop: float, confidence: float, mode: str = "regression") -> float:
    """Return the error rate of a gate, or raise ConfigurationError for an invalid setting.

    >>> checked_gate(0.02, 0.95, "non-inferiority")
    0.05
    >>> checked_gate(2, 0.95)
    Traceback (most recent call last):
    pytest_jsonmatch.ConfigurationError: max_drop is 2: it is a difference of scores, from 0 ...
    """
    if mode not in MODES:
        raise ConfigurationError(f"unknown gate mode {mode!r}{did_you_mean(mode, MODES)}")
    if not 0.0 <= max_drop < 1.0:
        raise ConfigurationError(f"max_drop is {max_drop!r}: it is a difference of scores, from 0 to below 1")
    if not 0.5 < confidence < 1.0:
        raise ConfigurationError(
            f"a confidence of {confidence!r}: of a gate it is a share, such as 0.95, above 0.5 and below 1"
        )
    return level(confidence)


def p_drop_at_most(deltas: Sequence[float], drop: float) -> float:
    """Return how likely deltas this low are, if the true mean drop is `drop` or less: a p-value.

    For a drop of 0 it is the sign-flip test. For more it is

    - of outcomes (deltas of -1, 0 and 1): the exact unconditional test. Pairs of losses and gains are ordered
      by the distance of their difference from `drop`, in standard errors; the chance of one as far out is
      taken at the worst rate of gains that is possible at 99.9 % confidence, and 0.001 added. Sources: Hsueh,
      Liu & Chen 2001; Sidik 2003; Berger & Boos 1994.
    - of other scores: the sign-flip test of the deltas plus `drop`, and Hall's transformed t test of them,
      which makes up for their skewness: a few large gains hide behind many small losses. Sources: Hall 1992,
      On the removal of skewness by transformation.

    >>> eight_lost = [-1] * 8 + [0] * 42
    >>> round(p_drop_at_most(eight_lost, 0.05), 3), round(p_drop_at_most(eight_lost, 0.1), 3)
    (0.023, 0.133)
    """
    if drop <= 0 or not deltas:
        return sign_flip(deltas).p_drop
    grains = to_grains(deltas)
    if {-GRAIN, 0, GRAIN}.issuperset(grains):
        p = _outcomes(grains.count(-GRAIN), grains.count(GRAIN), len(grains), drop)
        return max(sign_flip(deltas).p_drop, p)
    return max(sign_flip(deltas, drop).p_drop, _transformed(deltas, drop))


def _outcomes(lost: int, gained: int, n: int, drop: float) -> float:
    """The exact unconditional p-value of so many losses and gains among n cases."""
    import numpy as np
    from scipy.stats import beta, binom

    if lost - gained <= n * drop:
        return 1.0

    def distance(difference: Any, changed: Any) -> Any:
        squares = changed - 2 * drop * difference + n * drop * drop
        return (difference - n * drop) / np.sqrt(np.maximum(squares, 1e-12))

    observed = distance(lost - gained, lost + gained)
    changed = np.arange(n + 1)
    # Of so many changed outcomes, the least number of losses that is as far out: more losses are farther out.
    low, high = np.zeros(n + 1, dtype=np.int64), changed + 1
    while (low < high).any():
        middle = (low + high) // 2
        far = (distance(2 * middle - changed, changed) >= observed - 1e-9) & (2 * middle - changed > n * drop)
        active = low < high
        high = np.where(active & far, middle, high)
        low = np.where(active & ~far, middle + 1, low)
    seen = lost + gained
    least = float(beta.ppf(_DOUBT / 2, seen, n - seen + 1)) if seen else 0.0
    most = float(beta.ppf(1 - _DOUBT / 2, seen + 1, n - seen)) if seen < n else 1.0
    rates: Any = np.linspace(max(least, drop), max(most, drop), _RATES)[:, None]
    chances: Any = binom.pmf(changed, n, rates) * binom.sf(high - 1, changed, (rates + drop) / (2 * rates))
    return min(1.0, float(chances.sum(axis=1).max()) + _DOUBT)


def _transformed(deltas: Sequence[float], drop: float) -> float:
    """Hall's transformation of Student's t, against skewness."""
    from scipy.special import stdtr

    n = len(deltas)
    if n < 3:
        return 1.0
    values = sorted(deltas)
    mean = math.fsum(values) / n
    second = math.fsum((value - mean) ** 2 for value in values) / (n - 1)
    if second < 1e-18:
        return 0.0 if mean < -drop else 1.0
    skewness = math.fsum((value - mean) ** 3 for value in values) / n / second**1.5
    w = (mean + drop) / math.sqrt(second)
    transformed = w + skewness * w * w / 3 + skewness**2 * w**3 / 27 + skewness / (6 * n)
    return float(stdtr(n - 1, math.sqrt(n) * transformed))
