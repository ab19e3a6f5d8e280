"""Tests of two runs on the same cases: sign flips, and Holm's correction for multiple tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from pytest_jsonmatch.gate.samples import to_grains

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_ALL: Final = 20
"""Up to this many nonzero deltas, all sign patterns are tried, as the sums of two halves."""
_LARGEST: Final = 10
"""With more deltas, all patterns of this many largest ones are tried; the sum of the rest is near normal."""


@final
class SignFlip(NamedTuple):
    """The result of a sign-flip test."""

    p_drop: float
    """The probability of a sum this low or lower by chance: small where there is a drop."""
    p_gain: float
    """The probability of a sum this high or higher by chance: small where there is a gain."""


def sign_flip(deltas: Iterable[float]) -> SignFlip:
    """Test whether deltas are symmetric about 0.

    Under the null hypothesis each delta could as well have had the other sign: exactly so where both runs
    come from the same system, for any distribution of scores. The p-value is the share of all sign patterns
    whose sum is at least as extreme as the observed one. For cases in clusters, pass the sum of each cluster:
    clusters flip as a whole.

    If some deltas are 0, patterns whose sum equals the observed one count half (mid-p): the number of nonzero
    deltas is random, too, and a test that is conditional on it (McNemar's exact test, for outcomes) has a
    much lower error rate than allowed, and less power. If no delta is 0, such patterns count in full. For
    outcomes the exact error rate was computed for 5 to 50 cases: at most 4.9 % at a level of 5 % if up to
    half of the cases differ, otherwise at most 6 %.

    Up to 20 deltas, all patterns are tried. Beyond, all patterns of the 10 largest are tried, each with the
    normal distribution for the sum of the others. (scipy's `permutation_test` draws patterns at random for
    more than 13, and has no mid-p.)

    Source: Fisher 1935, The Design of Experiments, §21; Pitman 1937; Lancaster 1961 (mid-p); Fagerland,
    Lydersen & Laake 2013. For the mean of asymmetric deltas it is asymptotically valid: Romano 1990; Canay,
    Romano & Shaikh 2017.

    >>> sign_flip([-0.1, -0.2, -0.1, -0.3, -0.2])
    SignFlip(p_drop=0.03125, p_gain=1.0)
    >>> sign_flip([-0.1, -0.2, -0.1, -0.3, -0.2, 0.0]).p_drop
    0.015625
    """
    grains = to_grains(deltas)
    values = sorted((value for value in grains if value), key=abs)
    if not values:
        return SignFlip(1.0, 1.0)
    sizes, total = [abs(value) for value in values], sum(values)
    if len(sizes) > _ALL:
        # Compute the rarer side, so that swapping the runs swaps the p-values to the last bit.
        rarer = _near_normal(sizes, -abs(total))
        return SignFlip(rarer, 1 - rarer) if total < 0 else SignFlip(1 - rarer, rarer)
    below, equal = _all_patterns(sizes, total)
    counted = equal / 2 if len(values) < len(grains) else equal
    return SignFlip(below + counted, 1 - below - equal + counted)


def _all_patterns(sizes: list[int], total: int) -> tuple[float, float]:
    """Return the share of patterns whose sum is below `total`, and the share of those equal to it."""
    import numpy as np

    # A pattern combines one of each half: for each sum of the first half, count the sums of the second.
    # Sizes are rounded (three thirds are not 1), so sums that differ by no more than that count as equal.
    first, second = (np.sort(_sums(part)) for part in (sizes[::2], sizes[1::2]))
    patterns, tolerance = len(first) * len(second), len(sizes)
    below = int(np.searchsorted(second, total - tolerance - first, side="left").sum())
    at_most = int(np.searchsorted(second, total + tolerance - first, side="right").sum())
    return below / patterns, (at_most - below) / patterns


def _sums(sizes: list[int]) -> Any:
    """Return all sums of the sizes, each with either sign, as a numpy array."""
    import numpy as np

    sums = np.zeros(1, dtype=np.int64)
    for size in sizes:
        sums = np.concatenate((sums - size, sums + size))
    return sums


def _near_normal(sizes: list[int], total: int) -> float:
    """Return the share of patterns whose sum is below `total`, counting half of those equal to it."""
    import numpy as np
    from scipy.special import ndtr

    others = np.linalg.norm(np.array(sizes[:-_LARGEST], dtype=np.float64))
    return float(ndtr((total - _sums(sizes[-_LARGEST:])) / others).mean())


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Correct p-values for multiple tests: at a level of 0.05, at most 5 % of sets have any false positive.

    The tests may depend on each other in any way, as fields of a case do.

    Source: Holm 1979, A simple sequentially rejective multiple test procedure.

    >>> holm({"price": 0.01, "name": 0.04, "date": 0.03})
    {'price': 0.03, 'name': 0.06, 'date': 0.06}
    """
    corrected: dict[str, float] = {}
    largest = 0.0
    # Equal p-values get equal corrected ones, so it does not matter which of them comes first.
    for rank, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[name]))
        corrected[name] = largest
    return {name: corrected[name] for name in p_values}
