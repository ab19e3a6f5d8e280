"""Plan, from a saved run, how many cases it takes to detect a drop or to estimate a score precisely."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.gate.intervals import ratio_interval
from pytest_jsonmatch.gate.samples import Row, pair_cases
from pytest_jsonmatch.gate.verdict import DropGate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

SEED: Final = 20_240_603
_WIDTHS: Final = 25
MOST: Final = 50_000
"""The most cases, or clusters of them, to plan for."""
_ASSUMED: Final = 1_000
_CHANGING: Final = 0.5
_ASSUMPTION: Final = "assumed: give a second run of the same cases as AGAIN"


@final
@dataclass(frozen=True, slots=True)
class Sample:
    """A sample of cases to plan from: one entry per cluster, or per case without a cluster."""

    scores: tuple[float, ...]
    """The sum of the scores of the cases of each cluster."""
    sizes: tuple[int, ...]
    """The number of cases of each cluster."""
    noise: tuple[float, ...]
    """How much each sum differs between two runs of equal systems; both signs are equally likely."""
    source: str
    """The source of the noise, as a clause."""

    @property
    def mean(self) -> float:
        """The mean score of the cases."""
        return math.fsum(self.scores) / sum(self.sizes)

    @property
    def per_cluster(self) -> float:
        """The mean number of cases in a cluster; 1 without clusters."""
        return sum(self.sizes) / len(self.sizes)


def sample_of(
    runs: Mapping[str, Sequence[float]],
    clusters: Mapping[str, str] | None = None,
    again: Mapping[str, Sequence[float]] | None = None,
) -> Sample:
    """Return a sample of a run's cases, from which future runs are planned.

    The noise is the difference from a second run, if given, or the difference between the repeats of cases;
    without repeats it is assumed to be half the difference between two unrelated runs.

    Args:
        runs: the scores of each case's repeats, by case id.
        clusters: the cluster of each case, by case id.
        again: a second run of the same cases.

    Raises ConfigurationError without a case.

    >>> sample = sample_of({"a": [1.0, 0.5], "b": [1.0, 1.0]})
    >>> sample.mean, sample.source
    (0.875, 'from the repeats of its cases')
    """
    halves = {case: (scores[::2], scores[1::2]) for case, scores in runs.items() if len(scores) > 1}
    scale = 1.0
    if again is not None:
        pairs, source = pair_cases(again, runs, clusters), "from the difference of the two runs"
    elif halves:
        # The mean of half as many runs has twice the variance.
        odd, even = ({case: pair[index] for case, pair in halves.items()} for index in (0, 1))
        pairs, source, scale = pair_cases(odd, even), "from the repeats of its cases", math.sqrt(0.5)
    else:
        pairs, source = pair_cases({}, {}), _ASSUMPTION
    differences = dict(zip(pairs.cases, pairs.deltas, strict=True))
    scored = pair_cases(runs, runs if again is None else again, clusters)
    if not scored.cases:
        raise ConfigurationError("no case to plan from")
    rows: dict[str, list[float]] = {}
    for case, score, cluster in zip(scored.cases, scored.current, scored.clusters, strict=True):
        row = rows.setdefault(cluster, [0.0, 0, 0.0])
        row[:] = row[0] + score, row[1] + 1, row[2] + scale * differences.get(case, 0.0)
    scores, sizes, noise = zip(*sorted(rows.values()), strict=True)
    if source == _ASSUMPTION:
        noise = _assumed_noise([score / size for score, size in zip(scores, sizes, strict=True)], sizes)
    return Sample(scores, tuple(map(int, sizes)), noise, source)


def assumed_sample(pass_rate: float) -> Sample:
    """Return a sample to plan from without a run, with this share of passing cases.

    >>> assumed_sample(0.9).mean
    0.9
    """
    passing = round(_ASSUMED * pass_rate)
    scores = [1.0] * passing + [0.0] * (_ASSUMED - passing)
    noise = _assumed_noise(scores, [1.0] * _ASSUMED)
    return Sample(tuple(scores), (1,) * _ASSUMED, noise, "assumed, without a run")


def _assumed_noise(means: Sequence[float], sizes: Sequence[float]) -> tuple[float, ...]:
    import numpy as np

    random = np.random.RandomState(SEED)
    others = np.array(means)[random.permutation(len(means))]
    changing = random.random_sample(len(means)) < _CHANGING
    return tuple(((others - means) * sizes * changing).tolist())


def minimum_detectable(
    sample: Sample, clusters: int, confidence: float = 0.95, power: float = 0.8
) -> float | None:
    """Return the smallest true drop that a run detects with probability `power`; None if it detects none.

    >>> round(minimum_detectable(sample_of({str(case): [1.0] for case in range(30)}), 30), 2)
    0.19
    """
    from scipy.optimize import brentq

    def shortfall(drop: float) -> float:
        return _clusters(sample, drop, confidence, power) - clusters

    few = clusters < DropGate(confidence=confidence).least_to_test
    if few or not sample.mean or shortfall(sample.mean) > 0:
        return None
    return float(brentq(shortfall, sample.mean / MOST, sample.mean, xtol=1e-6))


def clusters_to_detect(
    sample: Sample, drop: float, confidence: float = 0.95, power: float = 0.8
) -> int | None:
    """Return the least number of clusters that detect a drop with probability `power`.

    None if it takes more than 50,000. Raises ConfigurationError for an impossible drop.
    """
    if not 0 < drop <= sample.mean:
        raise ConfigurationError(
            f"the drop must be above 0 and at most the mean, {sample.mean:.3f}, got {drop:.12g}"
        )
    least = DropGate(confidence=confidence).least_to_test
    needed = max(least, math.ceil(_clusters(sample, drop, confidence, power)))
    return needed if needed <= MOST else None


def _clusters(sample: Sample, drop: float, confidence: float, power: float) -> float:
    """Return the number of clusters that detect a drop, by the normal approximation of the permutation test.

    Some clusters are assumed to fall to score 0 and the others to stay unchanged. Such a drop is the hardest
    to detect, since it affects few cases; a drop of all cases needs fewer. The test divides the sum of the
    deltas by the root of the sum of their squares.
    """
    from scipy.special import ndtri

    number, share = len(sample.sizes), drop / sample.mean
    lost = share * math.fsum(sample.scores) / number
    unchanged = (1 - share) * math.fsum(noise**2 for noise in sample.noise)
    square = (share * math.fsum(score**2 for score in sample.scores) + unchanged) / number
    quantiles = ndtri([confidence, power])
    return float(quantiles @ [math.sqrt(square), math.sqrt(square - lost**2)] / lost) ** 2


def clusters_for_precision(sample: Sample, precision: float, confidence: float = 0.95) -> int | None:
    """Return the least number of clusters whose interval has a half-width of at most `precision`.

    The half-width is the median over 25 samples. None if it takes more than 50,000.
    """
    if not 0 < precision < 1:
        raise ConfigurationError(f"the precision must be above 0 and below 1, got {precision:.12g}")
    return _least(lambda number: half_width(sample, number, confidence) <= precision)


def half_width(sample: Sample, clusters: int, confidence: float = 0.95) -> float:
    """Return half the median width of the intervals from this many clusters."""
    import numpy as np

    random = np.random.RandomState(SEED)
    widths = []
    for _ in range(_WIDTHS):
        drawn = random.randint(len(sample.sizes), size=clusters).tolist()
        rows = [
            Row(sample.scores[index], sample.sizes[index], str(number)) for number, index in enumerate(drawn)
        ]
        interval = ratio_interval(rows, confidence)
        widths.append((interval.high - interval.low) / 2)
    return float(np.median(widths))


def _least(is_met: Callable[[int], bool]) -> int | None:
    """Return the least number, to about 2 %, that meets a condition which all larger numbers also meet."""
    high = 4
    while not is_met(high):
        high *= 2
        if high > MOST:
            return None
    low = high // 2
    while high - low > max(1, low // 50):
        middle = (low + high) // 2
        low, high = (low, middle) if is_met(middle) else (middle, high)
    return high
