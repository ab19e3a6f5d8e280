"""Statistics of confidences, and thresholds with a guarantee. Import this module late: it imports numpy.

Sources: AUROC as Mann and Whitney's U (1947); Brier (1950); ECE with bins of equal mass (Nguyen and O'Connor
2015); the upper bound of Clopper and Pearson (1934), with the effective sample size of Kish (1965) where
values are clustered; for the order in which thresholds are checked, fixed-sequence testing, as in Learn then
Test (Angelopoulos and others 2021).
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from math import ceil, log, sqrt
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple, final

import numpy as np
from scipy.special import betainc, expit, logit
from scipy.stats import beta, t

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

CONFIDENCE_LEVEL: Final = 0.95
"""The confidence level of intervals and guarantees."""
_BINS: Final = 10
_NEAR: Final = 1e-9
"""Shares are clipped this close to 0 and 1, which have no logit."""
_REPLICATES: Final = 500
GROUPS: Final = 40
"""Clusters are divided into this many groups, and intervals are computed from the variation between groups.
Thresholds are chosen on the groups with even numbers, and checked on the others."""
_DIGITS: Final = 2
"""Confidences are cut to this many digits of their distance to 0 or 1."""
_STEPS: Final = 10
"""At most this many thresholds are tried."""


class Estimate(NamedTuple):
    """A statistic with its 95 % confidence interval; there is no interval for a single cluster."""

    value: float
    low: float | None
    high: float | None


class Bin(NamedTuple):
    """A bin of values of similar confidence: their number, mean confidence, and the share that is right."""

    number: int
    confidence: float
    right: float


@final
@dataclass(frozen=True, slots=True)
class ReviewThreshold:
    """A threshold above which values may skip review.

    Args:
        threshold: values of at least this confidence skip review; None if all need review.
        coverage: the share of all values that skip review.
        checked: the number of these values in the half of the clusters that checked the threshold.
        wrong: how many of these are wrong.
        bound: the upper bound of the share of wrong values, with 95 % confidence.
    """

    threshold: float | None
    coverage: float
    checked: int = 0
    wrong: int = 0
    bound: float | None = None


# -- counting ----------------------------------------------------------------------------------------------


@final
@dataclass(slots=True)
class Tally:
    """Values with their confidences, in the order in which they were added."""

    confidences: array[float] = field(default_factory=lambda: array("d"))
    right: array[int] = field(default_factory=lambda: array("b"))
    clusters: array[int] = field(default_factory=lambda: array("q"))
    without: int = 0
    """The number of values without a confidence."""

    def add(self, confidence: float, right: bool, cluster: int) -> None:
        """Add a value."""
        self.confidences.append(confidence)
        self.right.append(right)
        self.clusters.append(cluster)


def _cut(confidences: Floats) -> Floats:
    """Return confidences, rounded down to two significant digits of their distance to 0 or 1.

    A threshold accepts the same values before and after rounding.

    >>> _cut(np.array([0.0123, 0.98765, 0.5, 1.0])).tolist()
    [0.012, 0.987, 0.5, 1.0]
    """
    distance = np.minimum(confidences, 1 - confidences)
    scale = 10.0 ** (_DIGITS - 1 - np.floor(np.log10(np.where(distance > 0, distance, 1.0))))
    # Rounding first prevents a double just below a decimal from losing a whole step.
    cut: Floats = np.where(distance > 0, np.floor(np.round(confidences * scale, 6)) / scale, confidences)
    return cut


def _assign_groups(clusters: int) -> NDArray[np.int64]:
    """Return the group of each cluster; forty clusters in a row are in forty groups."""
    # Not used for secrets.
    blocks = [Random(block).sample(range(GROUPS), GROUPS) for block in range(-(-clusters // GROUPS))]  # noqa: S311
    groups: NDArray[np.int64] = np.array(blocks).ravel()
    return groups


@final
@dataclass(frozen=True, slots=True)
class GroupedOutcomes:
    """Counts of values by confidence.

    Args:
        values: the V rounded confidences, in ascending order.
        means: the mean of the original confidences of each; shape (V,).
        wrong: the number of wrong values; shape (GROUPS, V).
        right: the number of right values; shape (GROUPS, V).
        clusters: the effective number of clusters, which is lower than their number if their sizes vary.
    """

    values: Floats
    means: Floats
    wrong: Floats
    right: Floats
    clusters: float

    @classmethod
    def of(cls, tally: Tally) -> GroupedOutcomes:
        """Return the counts of a tally as arrays."""
        confidences, clusters = np.array(tally.confidences), np.array(tally.clusters)
        values, places = np.unique(_cut(confidences), return_inverse=True)
        wrong, right = counts = np.zeros((2, GROUPS, len(values)))
        np.add.at(counts, (np.array(tally.right), _assign_groups(clusters.max() + 1)[clusters], places), 1)
        means = np.bincount(places, confidences) / np.bincount(places)
        sizes = np.bincount(clusters).astype(float)
        return cls(values, means, wrong, right, sizes.sum() ** 2 / (sizes**2).sum())

    @property
    def number(self) -> int:
        """The number of values."""
        return int(self.wrong.sum() + self.right.sum())


# -- statistics --------------------------------------------------------------------------------------------


def auroc(outcomes: GroupedOutcomes) -> Estimate | None:
    """Return the probability that a right value has a higher confidence than a wrong one; ties count half.

    None if all values are right, or all are wrong. If right and wrong values are perfectly separated, the
    interval is the exact bound for the effective number of independent pairs.
    """
    rights, wrongs = outcomes.right.sum(), outcomes.wrong.sum()
    if not rights or not wrongs:
        return None

    def areas(right: Floats, wrong: Floats) -> Floats:
        below = np.cumsum(wrong, axis=-1) - wrong / 2
        with np.errstate(invalid="ignore", divide="ignore"):
            found: Floats = (right * below).sum(-1) / (right.sum(-1) * wrong.sum(-1))
        return found

    value = float(areas(outcomes.right.sum(0), outcomes.wrong.sum(0)))
    if value in {0.0, 1.0} and len(_used_groups(outcomes)) > 1:
        pairs = max(min(rights, wrongs) * outcomes.clusters / outcomes.number, 1.0)
        reach = ((1 - CONFIDENCE_LEVEL) / 2) ** (1 / pairs)
        return Estimate(value, reach, 1.0) if value else Estimate(value, 0.0, 1 - reach)
    return _jackknife(
        value,
        areas(outcomes.right.sum(0) - outcomes.right, outcomes.wrong.sum(0) - outcomes.wrong)[
            _used_groups(outcomes)
        ],
    )


def _used_groups(outcomes: GroupedOutcomes) -> NDArray[np.int64]:
    """Return the groups that have values."""
    return np.flatnonzero((outcomes.wrong + outcomes.right).any(1))


def brier(outcomes: GroupedOutcomes) -> Estimate:
    """Return the mean squared difference between confidence and outcome, 1 for right and 0 for wrong."""
    number = (outcomes.right + outcomes.wrong).sum(1)
    squares = outcomes.wrong @ outcomes.means**2 + outcomes.right @ (1 - outcomes.means) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        left = (squares.sum() - squares) / (number.sum() - number)
    found = _jackknife(float(squares.sum() / number.sum()), left[_used_groups(outcomes)])
    if found.high is None:
        return found
    return found._replace(high=max(found.high, min(found.value + _unseen_share(outcomes), 1.0)))


def _unseen_share(outcomes: GroupedOutcomes) -> float:
    """Return the upper bound of the share of unseen outcomes if all values are right or all wrong, else 0."""
    if outcomes.right.any() and outcomes.wrong.any():
        return 0.0
    return float(1 - ((1 - CONFIDENCE_LEVEL) / 2) ** (1 / outcomes.clusters))


def _jackknife(value: float, left: Floats) -> Estimate:
    """Return a share with its interval, by the jackknife on the logit scale.

    Args:
        value: the share.
        left: the share without each of the groups; NaN or infinite if it is undefined.
    """
    left = logit(np.clip(left[np.isfinite(left)], _NEAR, 1 - _NEAR))
    groups = len(left)
    if groups < 2:
        return Estimate(value, None, None)
    error = sqrt((groups - 1) / groups * float(((left - left.mean()) ** 2).sum()))
    reach = float(t.ppf((1 + CONFIDENCE_LEVEL) / 2, groups - 1)) * error
    low, high = expit(logit(np.clip(value, _NEAR, 1 - _NEAR)) + np.array([-reach, reach]))
    return Estimate(value, min(float(low), value), max(float(high), value))


def calibration(outcomes: GroupedOutcomes) -> tuple[Estimate, tuple[Bin, ...]]:
    """Return the expected calibration error with bins of equal mass, and the bins.

    The interval contains the error of the bins with at least 95 % confidence. Its width on both sides is the
    variation of the gaps of all bins when whole groups are resampled. A bin with values of few groups varies
    too little, which is corrected (Bessel).
    """
    right, number = outcomes.right, outcomes.right + outcomes.wrong
    mass = np.cumsum(number.sum(0))
    # All values of one confidence are in the bin of the middle one.
    bins = np.minimum((mass - number.sum(0) / 2) * _BINS / mass[-1], _BINS - 1).astype(int)
    places = np.unique(bins)
    member = (bins[:, None] == places).astype(float)
    in_bin, right_in_bin = number @ member, right @ member
    sure_in_bin = (number * outcomes.means) @ member
    gaps = (right_in_bin - sure_in_bin).sum(0) / mass[-1]
    value = float(np.abs(gaps).sum())
    rows = [
        Bin(int(size), float(sure / size), float(good / size))
        for size, sure, good in zip(in_bin.sum(0), sure_in_bin.sum(0), right_in_bin.sum(0), strict=True)
    ]
    used = _used_groups(outcomes)
    if len(used) < 2:
        return Estimate(value, None, None), tuple(rows)
    draws = np.random.default_rng(0).multinomial(len(used), np.full(len(used), 1 / len(used)), _REPLICATES)
    again = draws @ (right_in_bin - sure_in_bin)[used] / (draws @ in_bin.sum(1)[used])[:, None]
    groups = (in_bin > 0).sum(0)
    apart = np.abs(again - gaps) * np.sqrt(groups / np.maximum(groups - 1, 1))
    reach = max(float(np.quantile(apart.sum(1), CONFIDENCE_LEVEL)), _unseen_share(outcomes))
    return Estimate(value, max(value - reach, 0.0), min(value + reach, 1.0)), tuple(rows)


# -- thresholds --------------------------------------------------------------------------------------------


@final
class _Half:
    """Half of the clusters: the evidence that at most a given share of values is wrong.

    All quantities are by confidence, over the values with at least that confidence.
    """

    def __init__(
        self, confidences: Floats, wrong: Floats, clusters: NDArray[np.int64], values: Floats
    ) -> None:
        order = np.lexsort((-confidences, clusters))
        clusters, wrong = clusters[order], wrong[order]
        # The size of a value's cluster, and the number of wrong values in it, up to the value.
        first = np.searchsorted(clusters, clusters)
        sums = np.cumsum(wrong) - wrong
        sizes, before = np.arange(len(clusters)) - first + 1.0, sums - sums[first]
        after, smaller = before + wrong, np.maximum(sizes - 1, 1)
        # In clusters of several values: the share of wrong values, and that of pairs that are both wrong.
        share = np.where(sizes > 1, after / sizes, 0) - np.where(sizes > 2, before / smaller, 0)
        pairs = np.where(sizes > 1, after * (after - 1) / (sizes * smaller), 0)
        pairs -= np.where(sizes > 2, before * (before - 1) / (smaller * np.maximum(sizes - 2, 1)), 0)
        added = np.ones(len(sizes)), wrong, 2 * sizes - 1, sizes == 2, share, pairs
        places = np.searchsorted(values, confidences[order])
        counts = np.array([np.bincount(places, column, len(values)) for column in added])
        self.accepted, self.wrong, squares, several, shares, both = np.cumsum(counts[:, ::-1], 1)[:, ::-1]
        # The correlation within clusters, as if there were one more cluster with only wrong values.
        share, both = (shares + 1) / (several + 1), (both + 1) / (several + 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            correlation = np.where(share < 1, (both - share**2) / (share * (1 - share)), 1.0).clip(0, 1)
        number = np.maximum(self.accepted, 1.0)
        self.size: Floats = self.accepted / (1 + np.maximum(squares / number - 1, 0) * correlation)
        self.hits = self.wrong / number * self.size

    def p_values(self, max_error: float) -> Floats:
        """Return, by confidence, the p-value of the hypothesis that a share above `max_error` is wrong."""
        rest = np.maximum(self.size - self.hits, 1e-12)
        found: Floats = betainc(rest, self.hits + 1, 1 - max_error)
        found[self.accepted == 0] = 1.0
        return found

    def bound(self, at: int) -> float:
        """Return the upper bound of the share of wrong values of at least the confidence at an index."""
        return float(beta.ppf(CONFIDENCE_LEVEL, self.hits[at] + 1, max(self.size[at] - self.hits[at], 1e-12)))


def choose_threshold(tally: Tally, max_error: float) -> ReviewThreshold:
    """Return the lowest threshold above which at most a given share of values is wrong, with 95 % confidence.

    One half of the clusters chooses the order in which thresholds are tried: first the one with the strongest
    evidence, then lower ones. The other half tests them at 5 %, one after the other, and stops at the first
    that fails; the last that passed is returned. Thus the guarantee is wrong in at most 5 % of runs.
    """
    confidences, clusters = _cut(np.array(tally.confidences)), np.array(tally.clusters)
    values, wrong = np.unique(confidences), 1.0 - np.array(tally.right)
    half = _assign_groups(clusters.max() + 1)[clusters] % 2
    sides = (parity == half for parity in (0, 1))
    chosen, checked = (_Half(confidences[side], wrong[side], clusters[side], values) for side in sides)
    evidence = chosen.p_values(max_error)
    start = int(np.argmin(evidence))
    lower = np.flatnonzero(evidence[: start + 1] <= 0.5)[::-1]
    if not len(lower):
        return ReviewThreshold(None, 0.0)
    steps = np.unique(np.linspace(0, len(lower) - 1, min(len(lower), _STEPS)).round().astype(int))
    holds = checked.p_values(max_error) <= 1 - CONFIDENCE_LEVEL
    lowest: int | None = None
    for at in lower[steps]:
        if not holds[at]:
            break
        lowest = int(at)
    if lowest is None:
        return ReviewThreshold(None, 0.0)
    coverage = float((chosen.accepted[lowest] + checked.accepted[lowest]) / len(wrong))
    return ReviewThreshold(
        float(values[lowest]),
        coverage,
        int(checked.accepted[lowest]),
        int(checked.wrong[lowest]),
        checked.bound(lowest),
    )


def may_reach(bins: Sequence[Bin], max_error: float) -> bool:
    """Return whether at most a given share of values may be wrong above any threshold.

    It may not if even the lower end of the share of wrong values, with 95 % confidence, is higher: in the bin
    with the highest confidence, and in it with all next ones. Then no number of values would help.

    >>> bins = [Bin(100, 0.8, 0.6), Bin(100, 0.99, 0.7)]
    >>> may_reach(bins, 0.05), may_reach(bins, 0.3)
    (False, True)
    """
    number = wrong = 0.0
    for found in reversed(bins):
        number, wrong = number + found.number, wrong + found.number * (1 - found.right)
        if wrong < _NEAR or beta.ppf(1 - CONFIDENCE_LEVEL, wrong, number - wrong + 1) <= max_error:
            return True
    return not bins


def required_values(max_error: float) -> int:
    """Return the number of values, all right, that are needed to show that at most a given share is wrong.

    >>> required_values(0.01)
    299
    """
    return ceil(log(1 - CONFIDENCE_LEVEL) / log(1 - max_error))
