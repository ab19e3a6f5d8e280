"""The input of the statistics: one score per case, and the cases that two runs have in common."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

GRAIN: Final = 10**9
"""Differences are tested in units of a billionth: then sums are exact, and 0.3 - 0.2 equals 0.1."""


class CaseTerms(NamedTuple):
    """The terms that one case adds to a ratio of sums; for a mean, its value and 1."""

    part: float
    total: float
    cluster: str
    """The case's cluster: cases of one cluster are not independent; those of different clusters are."""


class Unit(NamedTuple):
    """A case, or a cluster of cases, in two runs; each score is the sum over its cases."""

    now: Sequence[float]
    """The scores of the repeats that all of its cases have."""
    before: Sequence[float]
    delta: float
    """The difference of the means of all repeats: a drop is below 0."""
    size: int
    """The number of its cases."""


@final
@dataclass(frozen=True, slots=True)
class Pairs:
    """Two runs, case by case.

    >>> pairs = pair_cases({"a": [1.0, 0.5], "b": [1.0]}, {"a": [1.0], "c": [0.0]})
    >>> pairs.cases, pairs.current, pairs.baseline
    (('a',), (0.75,), (1.0,))
    """

    cases: tuple[str, ...]
    """Ids of the cases in both runs, sorted, so the order in which they ran does not matter."""
    now: tuple[Sequence[float], ...]
    """The scores of each case's repeats in the current run."""
    before: tuple[Sequence[float], ...]
    """The scores of each case's repeats in the baseline."""
    clusters: tuple[str, ...]
    """The cluster of each case, such as its document; the id of the case if it has no cluster."""

    @property
    def current(self) -> tuple[float, ...]:
        """The mean of each case's repeats in the current run."""
        return tuple(map(_mean, self.now))

    @property
    def baseline(self) -> tuple[float, ...]:
        """The mean of each case's repeats in the baseline."""
        return tuple(map(_mean, self.before))

    @property
    def deltas(self) -> tuple[float, ...]:
        """Current minus baseline, per case: a drop is below 0."""
        return tuple(now - before for now, before in zip(self.current, self.baseline))

    @property
    def rows(self) -> list[CaseTerms]:
        """The deltas as rows of a mean, each with its cluster."""
        return [CaseTerms(delta, 1.0, cluster) for delta, cluster in zip(self.deltas, self.clusters)]

    @property
    def units(self) -> list[Unit]:
        """The clusters, and the cases without one."""
        members: dict[str, list[tuple[Sequence[float], Sequence[float], float]]] = {}
        for now, before, delta, cluster in zip(self.now, self.before, self.deltas, self.clusters):
            members.setdefault(cluster, []).append((now, before, delta))
        units = []
        for cases in members.values():
            runs, baselines, deltas = zip(*cases)
            units.append(Unit(_add(runs), _add(baselines), math.fsum(deltas), len(cases)))
        return units


def pair_cases(
    current: Mapping[str, Sequence[float]],
    baseline: Mapping[str, Sequence[float]],
    clusters: Mapping[str, str] | None = None,
) -> Pairs:
    """Return the cases that both runs have.

    Args:
        current: the scores of each case's repeats, by case id.
        baseline: the scores of each case's repeats in the run to compare with.
        clusters: the cluster of each case, by case id; a case that is not listed is independent.
    """
    named = clusters or {}
    common = tuple(sorted(case for case in current if current[case] and baseline.get(case)))
    return Pairs(
        common,
        tuple(current[case] for case in common),
        tuple(baseline[case] for case in common),
        tuple(named.get(case) or case for case in common),
    )


def _add(cases: Iterable[Sequence[float]]) -> list[float]:
    """Return the sum of the cases' scores for each repeat that all of them have."""
    return [math.fsum(scores) for scores in zip(*cases)]


def _mean(scores: Sequence[float]) -> float:
    return min(1.0, math.fsum(scores) / len(scores))
