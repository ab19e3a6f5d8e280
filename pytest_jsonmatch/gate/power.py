"""Plan, from saved runs, how many cases it takes to detect a drop or to estimate a score precisely."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.gate.intervals import ratio_interval
from pytest_jsonmatch.gate.samples import CaseTerms
from pytest_jsonmatch.gate.verdict import DropGate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_jsonmatch.gate.verdict import RunScores

SEED: Final = 20_240_603
_WIDTHS: Final = 25
MOST: Final = 50_000
"""The most cases, or clusters of them, to plan for."""
_UNLIKELY: Final = 0.05
"""How often the noise of whole runs is above its upper end."""


@final
@dataclass(frozen=True, slots=True)
class Sample:
    """Cases to plan from, seen in two or more runs: one entry per cluster, or per case without a cluster."""

    scores: tuple[float, ...]
    """The sum of the scores of the cases of each cluster in the first run."""
    sizes: tuple[int, ...]
    """The number of cases of each cluster."""
    noise: tuple[float, ...]
    """How much each sum differs between two runs of one system: the root of the mean square."""
    run_noise: float = 0.0
    """The standard deviation of what all cases of a run share; 0 from two runs, which cannot show it."""
    most_run_noise: float = math.inf
    """Its upper end, at a confidence of 0.95."""

    @property
    def mean(self) -> float:
        """The mean score of the cases."""
        return math.fsum(self.scores) / sum(self.sizes)

    @property
    def per_cluster(self) -> float:
        """The mean number of cases in a cluster; 1 without clusters."""
        return sum(self.sizes) / len(self.sizes)

    def false_alarms(self, confidence: float = 0.95) -> float:
        """Return how often runs of one system are called worse, as whole runs vary, too.

        >>> round(Sample((0.8,) * 100, (1,) * 100, (0.1,) * 100).false_alarms(), 3)
        0.05
        """
        from scipy.special import ndtr, ndtri

        explained = math.hypot(*self.noise) / sum(self.sizes)
        spread = math.hypot(explained, math.sqrt(2) * self.run_noise)
        return float(ndtr(-ndtri(confidence) * explained / spread)) if spread else 0.0


def sample_of(runs: Sequence[RunScores], clusters: Mapping[str, str] | None = None) -> Sample:
    """Return the cases that all runs of one system have, from which future runs are planned.

    From three runs on, the noise of whole runs is estimated, too: the variance of their means beyond what
    their cases explain, by the method of moments. Its upper end is that of a normal variance.

    Args:
        runs: the scores of each case's repeats, by case id, of at least two runs.
        clusters: the cluster of each case, by case id.

    Source: Searle, Casella & McCulloch 1992, Variance Components.

    Raises ConfigurationError for a single run, or without a common case.

    >>> sample = sample_of([{"a": [1.0], "b": [0.75]}, {"a": [1.0], "b": [0.25]}])
    >>> sample.mean, sample.noise
    (0.875, (0.0, 0.5))
    """
    import numpy as np

    if len(runs) < 2:
        raise ConfigurationError("a plan needs two runs of the same cases, which show how answers vary")
    members: dict[str, list[str]] = {}
    for case in sorted(set.intersection(*({case for case in run if run[case]} for run in runs))):
        members.setdefault((clusters or {}).get(case) or case, []).append(case)
    if not members:
        raise ConfigurationError("no case to plan from: none is in all runs")
    sizes = np.array([len(cases) for cases in members.values()])
    sums = np.array(
        [
            [math.fsum(math.fsum(run[case]) / len(run[case]) for case in cases) for cases in members.values()]
            for run in runs
        ]
    )
    differences = np.array([one - other for one, other in combinations(sums, 2)])
    of_runs = _run_noise(differences, sizes, len(runs)) if len(runs) > 2 else ()
    noise = np.sqrt((differences**2).mean(axis=0))
    return Sample(tuple(sums[0].tolist()), tuple(sizes.tolist()), tuple(noise.tolist()), *of_runs)


def _run_noise(differences: Any, sizes: Any, runs: int) -> tuple[float, float]:
    """Return the standard deviation of what all cases of a run share, and its upper end.

    Args:
        differences: of each pair of runs, by cluster.
        sizes: the number of cases of each cluster.
        runs: the number of runs.
    """
    from scipy.stats import chi2

    clusters, cases = len(sizes), sizes.sum()
    means = differences.sum(axis=1, keepdims=True) / cases
    # Half the variance of the difference of two means is that of one mean.
    variance = float((means**2).mean()) / 2
    explained = ((differences - means * sizes) ** 2).sum(axis=1) * clusters / max(clusters - 1, 1) / cases**2
    explained = float(explained.mean()) / 2
    most = (runs - 1) * variance / chi2.ppf(_UNLIKELY, runs - 1)
    return math.sqrt(max(0.0, variance - explained)), math.sqrt(max(0.0, most - explained))


def minimum_detectable(
    sample: Sample, clusters: int, gate: DropGate | None = None, power: float = 0.8
) -> float | None:
    """Return the smallest true drop that a gate detects with probability `power`; None if it detects none.

    Measured: a drop of this size, made of cases that fall to 0, is detected in 80 to 90 % of runs with 30 to
    300 cases, in 75 to 87 % with 10 (benchmarks/gates.md).

    >>> equal = {str(case): [1.0] for case in range(30)}
    >>> round(minimum_detectable(sample_of([equal, equal]), 30), 2)
    0.19
    """
    from scipy.optimize import brentq

    gate = gate or DropGate()

    def excess(drop: float) -> float:
        return _excess(sample, drop, clusters, gate, power)

    least = gate.max_drop + sample.mean / MOST
    if clusters < gate.least_to_test or least >= sample.mean or excess(sample.mean) < 0:
        return None
    return float(brentq(excess, least, sample.mean, xtol=1e-6)) if excess(least) < 0 else least


def clusters_to_detect(
    sample: Sample, drop: float, gate: DropGate | None = None, power: float = 0.8
) -> int | None:
    """Return the least number of clusters that detect a drop with probability `power`.

    None if it takes more than 50,000. Raises ConfigurationError for an impossible drop.
    """
    gate = gate or DropGate()
    if not gate.max_drop < drop <= sample.mean:
        least = f"the allowed drop, {gate.max_drop:.12g}," if gate.max_drop else "0"
        raise ConfigurationError(
            f"the drop must be above {least} and at most the mean, {sample.mean:.3f}, got {drop:.12g}"
        )
    low, high = gate.least_to_test - 1, MOST + 1
    while high - low > 1:
        middle = (low + high) // 2
        is_enough = _excess(sample, drop, middle, gate, power) >= 0
        low, high = (low, middle) if is_enough else (middle, high)
    return high if high <= MOST else None


def _excess(sample: Sample, drop: float, clusters: int, gate: DropGate, power: float) -> float:
    """Return by how much a drop is lost in so many clusters beyond what the gate detects in `power` of runs.

    The normal approximation of the permutation test, which divides the sum of the deltas by the root of the
    sum of their squares, with `max_drop` added and one more case that lost nothing. Some clusters are
    assumed to fall to score 0 and the others to stay unchanged. Such a drop is the hardest to detect, since
    it affects few cases; a drop of all cases needs fewer.
    """
    import numpy as np
    from scipy.special import ndtri

    scores, sizes, noise = map(np.array, (sample.scores, sample.sizes, sample.noise))
    share, allowed = drop / sample.mean, gate.max_drop * sizes
    unchanged = noise**2 + allowed**2
    square = float((share * (scores - allowed) ** 2 + (1 - share) * unchanged).mean())
    lost, extra = float((share * scores - allowed).mean()), float(allowed.mean())
    of_runs = 2 * (clusters * sample.per_cluster * sample.run_noise) ** 2
    at_level, at_power = ndtri([gate.confidence, power])
    needed = at_level * math.sqrt(clusters * square + extra**2)
    needed += at_power * math.sqrt(clusters * max(0.0, square - lost**2) + of_runs)
    return float(clusters * lost - extra - needed)


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
            CaseTerms(sample.scores[index], sample.sizes[index], str(number))
            for number, index in enumerate(drawn)
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
