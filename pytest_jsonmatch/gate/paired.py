"""Tests of two runs on the same cases: sign flips, McNemar, and Holm's correction for several at once."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.gate.samples import to_grains

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FLIPS: Final = 10_000
"""Pairs of opposite sign patterns where not all can be tried; the observed pair is one of them."""
SEED: Final = 20_240_601
_HALVES: Final = 32
"""Up to so many cases that differ all sign patterns are tried, as the sums of two halves."""
_STEPS: Final = 2_000
"""The finest fraction that is looked for: deltas that are multiples of 1/2000 or coarser."""
_DISTINCT: Final = 400
_CELLS: Final = 30_000_000
"""What the exact sum over a lattice may cost: cases times distinct sums."""


def level(confidence: float) -> float:
    """Return the error rate that goes with a confidence, without the noise of 1 - 0.95.

    >>> level(0.95), 1 - 0.95
    (0.05, 0.050000000000000044)
    """
    return round(1 - confidence, 12)


@final
@dataclass(frozen=True, slots=True)
class SignFlip:
    """What the sign-flip test says of a list of deltas."""

    p_drop: float
    """How often chance alone gives a sum as low as this or lower: small where there is a drop."""
    p_gain: float
    """How often chance alone gives a sum as high as this or higher."""
    informative: int
    """Deltas that are not 0. One that is 0 says nothing, whatever its sign."""
    method: str
    """`exact` or `Monte Carlo`."""


def sign_flip(deltas: Sequence[float], shift: float = 0.0) -> SignFlip:
    """Test if deltas are as likely to be above `-shift` as below, by as much.

    Under the null hypothesis each case's delta, plus `shift`, could as well have had the other sign: exactly
    so where both runs come from the same system (`shift` = 0), whatever the scores look like. The p-value is
    the share of all sign patterns whose sum is as extreme as the observed one. It is exact, by trying all
    patterns, for up to 32 deltas that are not 0, and by adding up where deltas are multiples of a common
    fraction (pass or fail, repeats of it, a few levels). Otherwise 10,000 pairs of opposite patterns are
    drawn with a fixed seed, the observed one among them: (b + 1) / (m + 1), which keeps the error rate
    (Phipson & Smyth 2010).

    Args:
        deltas: one per case, in [-1, 1]; their order does not matter.
        shift: what is added to each; to test for a drop of more than 0.02, 0.02.

    Source: Fisher 1935, The Design of Experiments, §21; Pitman 1937. As a test of the mean of deltas that are
    not symmetric it is asymptotically right: Romano 1990; Canay, Romano & Shaikh 2017.

    >>> sign_flip([-0.1, -0.2, -0.1, -0.3, -0.2, 0.0])
    SignFlip(p_drop=0.03125, p_gain=1.0, informative=5, method='exact')
    """
    values = sorted((value for value in to_grains(delta + shift for delta in deltas) if value), key=abs)
    if not values:
        return SignFlip(1.0, 1.0, 0, "exact")
    sizes, total = [abs(value) for value in values], sum(values)
    # Each size is rounded (three thirds are not 1): sums that differ by no more are the same sum.
    if len(values) <= _HALVES:
        low, high = _all_patterns(sizes, total)
    else:
        steps = lattice_steps(sizes)
        if steps is None:
            low, high = _drawn_patterns(sizes, total)
            return SignFlip(low, high, len(values), "Monte Carlo")
        observed = sum(step if value > 0 else -step for step, value in zip(steps, values))
        low, high = _lattice_sums(steps, observed)
    return SignFlip(low, high, len(values), "exact")


def _all_patterns(sizes: list[int], total: int) -> tuple[float, float]:
    """Return the shares of patterns that sum to `total` or less, and to as much or more."""
    import numpy as np

    # Every pattern is one of each half; of the second half the sums are counted that come out right with the
    # first.
    first, second = (np.sort(_sums(part)) for part in (sizes[::2], sizes[1::2]))
    patterns = len(first) * len(second)
    slack = len(sizes)
    at_most = int(np.searchsorted(second, total + slack - first, side="right").sum())
    at_least = patterns - int(np.searchsorted(second, total - slack - first, side="left").sum())
    return at_most / patterns, at_least / patterns


def _sums(sizes: list[int]) -> Any:
    """All sums of the sizes, each with either sign (a numpy array)."""
    import numpy as np

    sums = np.zeros(1, dtype=np.int64)
    for size in sizes:
        sums = np.concatenate((sums - size, sums + size))
    return sums


def lattice_steps(sizes: list[int]) -> list[int] | None:
    """Return the sizes as whole multiples of a common fraction, if there is one that is coarse enough."""
    import numpy as np

    distinct, where = np.unique(np.asarray(sizes, dtype=np.float64), return_inverse=True)
    if len(distinct) > _DISTINCT:
        return None
    unit = distinct[-1]
    # Multiples of 1/k of a whole score (passes of k repeats), or of the largest size (any evenly spaced
    # scores).
    for whole in (1e9, unit):
        multiples = np.outer(np.arange(1, _STEPS + 1), distinct / whole)
        steps = np.rint(multiples)
        fits = (np.abs(multiples - steps) * whole <= 2.0 * np.arange(1, _STEPS + 1)[:, None]).all(axis=1)
        fits &= (steps >= 1).all(axis=1)
        if fits.any():
            found = steps[int(fits.argmax())].astype(np.int64)
            found //= np.gcd.reduce(found)
            every = found[where]
            if int(every.sum()) * len(sizes) <= _CELLS:
                return [int(step) for step in every]
    return None


def _lattice_sums(steps: list[int], observed: int) -> tuple[float, float]:
    """Add up the probability of every sum: one case after the other, each with either sign."""
    import numpy as np

    width = sum(steps)
    chances = np.zeros(width + 1)
    chances[0] = 1.0
    reached = 0
    for step in steps:
        # chances[j]: the cases so far that are counted as above 0 have sizes that sum to j.
        more = chances[: reached + step + 1].copy()
        more[step:] += chances[: reached + 1]
        reached += step
        chances[: reached + 1] = more / 2
    at = (observed + width) // 2
    return min(1.0, math.fsum(chances[: at + 1])), min(1.0, math.fsum(chances[at:]))


def _drawn_patterns(sizes: list[int], total: int) -> tuple[float, float]:
    """Draw pairs of opposite patterns; the observed one and its opposite are the first pair."""
    import numpy as np

    # Python's generator, as bits: the same on every machine and under every version of numpy. The sums are of
    # whole numbers below 2**53, so that they are exact in whatever order they are made.
    source = random.Random(SEED)  # noqa: S311 (nothing to keep secret)
    weights, width = np.asarray(sizes, dtype=np.float64), sum(sizes)
    row = -(-len(sizes) // 8)
    slack = len(sizes)
    at_most, at_least = 1 + (-total <= total + slack), 1 + (-total >= total - slack)
    left = FLIPS - 1
    while left:
        rows = min(left, 1 + 4_000_000 // len(sizes))
        bits = np.frombuffer(source.randbytes(rows * row), dtype=np.uint8).reshape(rows, row)
        sums = 2.0 * (np.unpackbits(bits, axis=1)[:, : len(sizes)] @ weights) - width
        # Of each pattern and of its opposite, whose sum is the same with the other sign.
        at_most += int((sums <= total + slack).sum() + (-sums <= total + slack).sum())
        at_least += int((sums >= total - slack).sum() + (-sums >= total - slack).sum())
        left -= rows
    return at_most / (2 * FLIPS), at_least / (2 * FLIPS)


@final
@dataclass(frozen=True, slots=True)
class Mcnemar:
    """Cases whose outcome changed, and how likely chance alone changes them like this."""

    lost: int
    """Cases that passed before and fail now."""
    gained: int
    """Cases that failed before and pass now."""
    p_drop: float
    """One-sided: small where more were lost than chance explains."""
    p_gain: float
    p_value: float
    """Two-sided: twice the smaller one, at most 1."""


def mcnemar(current: Mapping[str, bool], baseline: Mapping[str, bool]) -> Mcnemar:
    """Test if as many cases were lost as gained: the exact conditional (binomial) test.

    Cases in only one of the two are left out. Of those whose outcome changed each could as well have changed
    the other way. It is the sign-flip test of outcomes as 0 and 1.

    Source: McNemar 1947, in the exact form of Mosteller 1952.

    >>> before = {"a": True, "b": True, "c": True, "d": True, "e": True, "f": False}
    >>> mcnemar(dict.fromkeys(before, False), before)
    Mcnemar(lost=5, gained=0, p_drop=0.03125, p_gain=1.0, p_value=0.0625)
    """
    changed = [current[case] for case in current if case in baseline and current[case] != baseline[case]]
    gained = sum(changed)
    lost = len(changed) - gained
    p_drop, p_gain = _at_least(lost, len(changed)), _at_least(gained, len(changed))
    return Mcnemar(lost, gained, p_drop, p_gain, min(1.0, 2 * min(p_drop, p_gain)))


def _at_least(heads: int, tosses: int) -> float:
    """The chance of so many heads or more from a fair coin, from whole numbers."""
    if tosses == 0:
        return 1.0
    term = math.comb(tosses, heads)
    total = 0
    for number in range(heads, tosses + 1):
        total += term
        term = term * (tosses - number) // (number + 1)
    return float(Fraction(total, 2**tosses))


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Return p-values corrected for being several: with all at or below 0.05, at most 5 % have any false one.

    Nothing is assumed of how the tests depend on each other (fields of a case do).

    Source: Holm 1979, A simple sequentially rejective multiple test procedure.

    >>> holm({"price": 0.01, "name": 0.04, "date": 0.03})
    {'price': 0.03, 'name': 0.06, 'date': 0.06}
    """
    corrected: dict[str, float] = {}
    largest = 0.0
    # (Equal p-values get equal corrected ones, so that it does not matter which of them is first.)
    for rank, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[name]))
        corrected[name] = largest
    return {name: corrected[name] for name in p_values}
