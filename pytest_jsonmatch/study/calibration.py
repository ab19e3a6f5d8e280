"""Figures of confidences, and thresholds with a promise. Import this module late: it imports numpy.

Sources: AUROC as Mann and Whitney's U (1947); Brier (1950); ECE with bins of equal mass (Nguyen and O'Connor
2015); the upper bound of Clopper and Pearson (1934), with the effective sample size of Kish (1965) where
values come in clusters; the order in which thresholds are checked:
fixed-sequence testing, as in Learn then Test (Angelopoulos and others 2021).
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
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SURE: Final = 0.95
"""The confidence level of intervals and promises."""
_BINS: Final = 10
_NEAR: Final = 1e-9
"""Shares are clipped this close to 0 and 1, which have no logit."""
_REPLICATES: Final = 500
GROUPS: Final = 40
"""Clusters are dealt into this many groups; a figure's interval depends on how much it varies between them.
Thresholds are chosen on the half of the groups with even numbers, and checked on the other half."""
_DIGITS: Final = 2
"""Confidences are cut to this many digits of their distance to 0 or 1."""
_STEPS: Final = 10
"""At most this many thresholds are tried."""


class Estimate(NamedTuple):
    """A figure with its 95 % confidence interval; no interval for a single cluster."""

    value: float
    low: float | None
    high: float | None


class Bin(NamedTuple):
    """Values of similar confidence: how many, their mean confidence, and the share of them that is right."""

    number: int
    confidence: float
    right: float


@final
@dataclass(frozen=True, slots=True)
class ReviewThreshold:
    """A threshold above which values may skip review.

    Args:
        threshold: values with this confidence or more are accepted, all others reviewed; None: review all.
        coverage: the share of all values that is accepted.
        checked: how many accepted values there are in the half that checked it.
        wrong: how many of these are wrong.
        bound: the share of wrong values is below this, with 95 % confidence.
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
    """Values with their confidences, in the order in which they came."""

    confidences: array[float] = field(default_factory=lambda: array("d"))
    right: array[int] = field(default_factory=lambda: array("b"))
    clusters: array[int] = field(default_factory=lambda: array("q"))
    without: int = 0
    """How many values had no confidence."""

    def add(self, confidence: float, right: bool, cluster: int) -> None:
        """Add a value."""
        self.confidences.append(confidence)
        self.right.append(right)
        self.clusters.append(cluster)


def _cut(confidences: Floats) -> Floats:
    """Return confidences, rounded down to two digits of their distance to 0 or 1.

    A threshold then accepts the same values before and after.

    >>> _cut(np.array([0.0123, 0.98765, 0.5, 1.0])).tolist()
    [0.012, 0.987, 0.5, 1.0]
    """
    distance = np.minimum(confidences, 1 - confidences)
    scale = 10.0 ** (_DIGITS - 1 - np.floor(np.log10(np.where(distance > 0, distance, 1.0))))
    # The decimal below; rounding first keeps a double just under a decimal from losing a whole step.
    cut: Floats = np.where(distance > 0, np.floor(np.round(confidences * scale, 6)) / scale, confidences)
    return cut


def _dealt(clusters: int) -> NDArray[np.int64]:
    """Return a group for each cluster: of forty in a row, each has another."""
    # Not a secret: it deals out, and guards nothing.
    blocks = [Random(block).sample(range(GROUPS), GROUPS) for block in range(-(-clusters // GROUPS))]  # noqa: S311
    groups: NDArray[np.int64] = np.array(blocks).ravel()
    return groups


@final
@dataclass(frozen=True, slots=True)
class GroupedOutcomes:
    """Counts of values by confidence.

    Args:
        values: the V confidences, in ascending order.
        means: for each, the mean of the confidences that were cut to it.
        wrong: how many values were wrong: a row for each group, a column for each confidence.
        right: how many values were right, in the same form.
        clusters: how many clusters of one size would tell as much: fewer than there are if sizes vary.
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
        np.add.at(counts, (np.array(tally.right), _dealt(clusters.max() + 1)[clusters], places), 1)
        means = np.bincount(places, confidences) / np.bincount(places)
        sizes = np.bincount(clusters).astype(float)
        return cls(values, means, wrong, right, sizes.sum() ** 2 / (sizes**2).sum())

    @property
    def number(self) -> int:
        """How many values there are."""
        return int(self.wrong.sum() + self.right.sum())


# -- figures -----------------------------------------------------------------------------------------------


def auroc(of: GroupedOutcomes) -> Estimate | None:
    """Return how often a right value has a higher confidence than a wrong one, a tie counting as half.

    None if all values are right, or all wrong. If right and wrong are perfectly separated, the interval is
    the exact bound for as many independent pairs.
    """
    rights, wrongs = of.right.sum(), of.wrong.sum()
    if not rights or not wrongs:
        return None

    def areas(right: Floats, wrong: Floats) -> Floats:
        below = np.cumsum(wrong, axis=-1) - wrong / 2
        with np.errstate(invalid="ignore", divide="ignore"):
            found: Floats = (right * below).sum(-1) / (right.sum(-1) * wrong.sum(-1))
        return found

    value = float(areas(of.right.sum(0), of.wrong.sum(0)))
    if value in {0.0, 1.0} and len(_used(of)) > 1:
        pairs = max(min(rights, wrongs) * of.clusters / of.number, 1.0)
        reach = ((1 - SURE) / 2) ** (1 / pairs)
        return Estimate(value, reach, 1.0) if value else Estimate(value, 0.0, 1 - reach)
    return _jackknife(value, areas(of.right.sum(0) - of.right, of.wrong.sum(0) - of.wrong)[_used(of)])


def _used(of: GroupedOutcomes) -> NDArray[np.int64]:
    """Return the groups that have values."""
    return np.flatnonzero((of.wrong + of.right).any(1))


def brier(of: GroupedOutcomes) -> Estimate:
    """Return the mean squared difference between confidence and outcome, 1 for right and 0 for wrong."""
    number = (of.right + of.wrong).sum(1)
    squares = of.wrong @ of.means**2 + of.right @ (1 - of.means) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        left = (squares.sum() - squares) / (number.sum() - number)
    found = _jackknife(float(squares.sum() / number.sum()), left[_used(of)])
    if found.high is None:
        return found
    return found._replace(high=max(found.high, min(found.value + _unseen(of), 1.0)))


def _unseen(of: GroupedOutcomes) -> float:
    """Return the share of values that may be wrong though all seen are right, or the other way round."""
    if of.right.any() and of.wrong.any():
        return 0.0
    return float(1 - ((1 - SURE) / 2) ** (1 / of.clusters))


def _jackknife(value: float, left: Floats) -> Estimate:
    """Return a share with its interval, by the jackknife on the logit scale.

    Args:
        value: the share.
        left: the share without each of the groups; without some it may not be defined.
    """
    left = logit(np.clip(left[np.isfinite(left)], _NEAR, 1 - _NEAR))
    groups = len(left)
    if groups < 2:
        return Estimate(value, None, None)
    error = sqrt((groups - 1) / groups * float(((left - left.mean()) ** 2).sum()))
    reach = float(t.ppf((1 + SURE) / 2, groups - 1)) * error
    low, high = expit(logit(np.clip(value, _NEAR, 1 - _NEAR)) + np.array([-reach, reach]))
    return Estimate(value, min(float(low), value), max(float(high), value))


def calibration(of: GroupedOutcomes) -> tuple[Estimate, tuple[Bin, ...]]:
    """Return the expected calibration error with bins of equal mass, and the bins.

    The interval contains the error of the bins with at least 95 % confidence: it reaches as far to both sides
    as the gaps of all bins together vary when whole groups are resampled. A bin with values of few groups
    varies too little then, which is corrected (Bessel).
    """
    right, number = of.right, of.right + of.wrong
    mass = np.cumsum(number.sum(0))
    # All values of one confidence go into one bin: that of the middle one.
    bins = np.minimum((mass - number.sum(0) / 2) * _BINS / mass[-1], _BINS - 1).astype(int)
    places = np.unique(bins)
    member = (bins[:, None] == places).astype(float)
    in_bin, right_in_bin = number @ member, right @ member
    sure_in_bin = (number * of.means) @ member
    gaps = (right_in_bin - sure_in_bin).sum(0) / mass[-1]
    value = float(np.abs(gaps).sum())
    rows = [
        Bin(int(each), float(sure / each), float(good / each))
        for each, sure, good in zip(in_bin.sum(0), sure_in_bin.sum(0), right_in_bin.sum(0), strict=True)
    ]
    used = _used(of)
    if len(used) < 2:
        return Estimate(value, None, None), tuple(rows)
    draws = np.random.default_rng(0).multinomial(len(used), np.full(len(used), 1 / len(used)), _REPLICATES)
    again = draws @ (right_in_bin - sure_in_bin)[used] / (draws @ in_bin.sum(1)[used])[:, None]
    groups = (in_bin > 0).sum(0)
    apart = np.abs(again - gaps) * np.sqrt(groups / np.maximum(groups - 1, 1))
    reach = max(float(np.quantile(apart.sum(1), SURE)), _unseen(of))
    return Estimate(value, max(value - reach, 0.0), min(value + reach, 1.0)), tuple(rows)


# -- thresholds --------------------------------------------------------------------------------------------


@final
class _Half:
    """Half of the clusters: how strong the evidence is that at most a given share of values is wrong.

    All quantities are by confidence, over the values that have it or a higher one.
    """

    def __init__(
        self, confidences: Floats, wrong: Floats, clusters: NDArray[np.int64], values: Floats
    ) -> None:
        order = np.lexsort((-confidences, clusters))
        clusters, wrong = clusters[order], wrong[order]
        # The size of a value's cluster and how many are wrong, up to the value.
        first = np.searchsorted(clusters, clusters)
        sums = np.cumsum(wrong) - wrong
        sizes, before = np.arange(len(clusters)) - first + 1.0, sums - sums[first]
        after, smaller = before + wrong, np.maximum(sizes - 1, 1)
        # In clusters of several values: the share that is wrong, and that of pairs which are both wrong.
        share = np.where(sizes > 1, after / sizes, 0) - np.where(sizes > 2, before / smaller, 0)
        pairs = np.where(sizes > 1, after * (after - 1) / (sizes * smaller), 0)
        pairs -= np.where(sizes > 2, before * (before - 1) / (smaller * np.maximum(sizes - 2, 1)), 0)
        added = np.ones(len(sizes)), wrong, 2 * sizes - 1, sizes == 2, share, pairs
        places = np.searchsorted(values, confidences[order])
        counts = np.array([np.bincount(places, each, len(values)) for each in added])
        self.accepted, self.wrong, squares, several, shares, both = np.cumsum(counts[:, ::-1], 1)[:, ::-1]
        # How alike the values of a cluster are, as if one more cluster were wrong as a whole.
        share, both = (shares + 1) / (several + 1), (both + 1) / (several + 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            alike = np.where(share < 1, (both - share**2) / (share * (1 - share)), 1.0).clip(0, 1)
        number = np.maximum(self.accepted, 1.0)
        self.size: Floats = self.accepted / (1 + np.maximum(squares / number - 1, 0) * alike)
        self.hits = self.wrong / number * self.size

    def p_values(self, most: float) -> Floats:
        """Return, by confidence, how likely this few wrong values are if a share above `most` is wrong."""
        rest = np.maximum(self.size - self.hits, 1e-12)
        found: Floats = betainc(rest, self.hits + 1, 1 - most)
        found[self.accepted == 0] = 1.0
        return found

    def bound(self, at: int) -> float:
        """Return the upper bound of the share of wrong values from a confidence on."""
        return float(beta.ppf(SURE, self.hits[at] + 1, max(self.size[at] - self.hits[at], 1e-12)))


def promise(of: Tally, most: float) -> ReviewThreshold:
    """Return the lowest threshold above which at most a given share of values is shown to be wrong.

    One half of the clusters chooses in which order thresholds are tried: first the one with the strongest
    evidence, then lower ones. The other half checks them at 5 %, one after the other, and stops at the first
    that fails; the last that held is returned. Thus it promises too much in at most 5 % of runs.
    """
    confidences, clusters = _cut(np.array(of.confidences)), np.array(of.clusters)
    values, wrong = np.unique(confidences), 1.0 - np.array(of.right)
    half = _dealt(clusters.max() + 1)[clusters] % 2
    sides = (each == half for each in (0, 1))
    chosen, checked = (_Half(confidences[side], wrong[side], clusters[side], values) for side in sides)
    evidence = chosen.p_values(most)
    start = int(np.argmin(evidence))
    lower = np.flatnonzero(evidence[: start + 1] <= 0.5)[::-1]
    if not len(lower):
        return ReviewThreshold(None, 0.0)
    steps = np.unique(np.linspace(0, len(lower) - 1, min(len(lower), _STEPS)).round().astype(int))
    holds = checked.p_values(most) <= 1 - SURE
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


def needed(most: float) -> int:
    """Return how many values without a mistake it takes to show that at most a given share is wrong.

    >>> needed(0.01)
    299
    """
    return ceil(log(1 - SURE) / log(1 - most))
