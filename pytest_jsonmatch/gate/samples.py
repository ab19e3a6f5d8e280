"""The input of the statistics: one score per case, and the cases that two runs have in common."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

GRAIN: Final = 10**9
"""Scores are compared in units of a billionth: then sums are exact, and 0.3 - 0.2 equals 0.1."""


class Row(NamedTuple):
    """The terms that one case adds to a ratio of sums; for a mean, its value and 1."""

    part: float
    total: float
    cluster: str
    """The case's cluster: cases of one cluster are not independent; those of different clusters are."""


@final
@dataclass(frozen=True, slots=True)
class Pairs:
    """Two runs, case by case.

    >>> pair_cases({"a": [1.0, 0.5], "b": [1.0]}, {"a": [1.0], "c": [0.0]})
    Pairs(cases=('a',), current=(1.0,), baseline=(1.0,), clusters=('a',))
    """

    cases: tuple[str, ...]
    """Ids of the cases in both runs, sorted, so the order in which they ran does not matter."""
    current: tuple[float, ...]
    """The mean of each case's first repeats, as many as both runs have, in [0, 1]."""
    baseline: tuple[float, ...]
    clusters: tuple[str, ...] = ()
    """The cluster of each case, such as its document; the id of the case if it has no cluster."""

    @property
    def deltas(self) -> tuple[float, ...]:
        """Current minus baseline, per case: a drop is below 0."""
        return tuple(now - before for now, before in zip(self.current, self.baseline))

    @property
    def rows(self) -> list[Row]:
        """The deltas as rows of a mean, each with its cluster."""
        return [Row(delta, 1.0, cluster) for delta, cluster in zip(self.deltas, self.clusters)]


def pair_cases(
    current: Mapping[str, Sequence[float]],
    baseline: Mapping[str, Sequence[float]],
    clusters: Mapping[str, str] | None = None,
) -> Pairs:
    """Return the cases that both runs have, with the mean of their scores in each.

    Args:
        current: the scores of each case's repeats, by case id.
        baseline: the scores of each case's repeats in the run to compare with. If one run has more repeats of
            a case, only its first ones count, as many as the other has: a mean of five differs from a single
            score even without a change.
        clusters: the cluster of each case, by case id; a case that is not listed is independent.
    """
    named = clusters or {}
    common = tuple(sorted(case for case in current if current[case] and baseline.get(case)))
    repeats = {case: min(len(current[case]), len(baseline[case])) for case in common}
    return Pairs(
        common,
        tuple(_mean(current[case][: repeats[case]]) for case in common),
        tuple(_mean(baseline[case][: repeats[case]]) for case in common),
        tuple(named.get(case) or case for case in common),
    )


def _mean(scores: Sequence[float]) -> float:
    return min(1.0, math.fsum(scores) / len(scores))


def to_grains(numbers: Iterable[float]) -> list[int]:
    """Return numbers in billionths.

    >>> to_grains([0.3 - 0.2, 0.1])
    [100000000, 100000000]
    """
    return [round(number * GRAIN) for number in numbers]
