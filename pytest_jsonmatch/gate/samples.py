"""What the statistics start from: one score per case, and which cases two runs have in common."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

from pytest_jsonmatch.engine.value.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

GRAIN: Final = 10**9
"""Scores are compared in units of a billionth: sums are then exact, and 0.3 - 0.2 ties with 0.1."""


@final
@dataclass(frozen=True, slots=True)
class Pairs:
    """Two runs, case by case.

    >>> pair_cases({"a": [1.0, 0.5], "b": [1.0]}, {"a": [1.0], "c": [0.0]})
    Pairs(cases=('a',), current=(0.75,), baseline=(1.0,), new=('b',), vanished=('c',))
    """

    cases: tuple[str, ...]
    """Ids of the cases in both runs, sorted: nothing hangs on the order in which they ran."""
    current: tuple[float, ...]
    """Of each case the mean over its repeats, in [0, 1]."""
    baseline: tuple[float, ...]
    new: tuple[str, ...] = ()
    """Cases that only the current run has; they are named, never paired."""
    vanished: tuple[str, ...] = ()
    """Cases that only the baseline has."""

    @property
    def deltas(self) -> tuple[float, ...]:
        """Current minus baseline, per case: a drop is below 0."""
        return tuple(now - before for now, before in zip(self.current, self.baseline))


def case_scores(scores: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Return the mean score of each case over its repeats, by case id, sorted.

    The mean does not depend on the order of the repeats. Raises ConfigurationError for a case without a score
    and for a score that is not a number in [0, 1]: it is an error upstream, and leaving the case out would
    hide it.

    >>> case_scores({"b": [0.5, 1.0, 0.75], "a": [1]})
    {'a': 1.0, 'b': 0.75}
    >>> case_scores({"a": [float("nan")]})
    Traceback (most recent call last):
    pytest_jsonmatch.ConfigurationError: case 'a': nan is not a score; scores are from 0 to 1
    """
    found: dict[str, float] = {}
    for case in sorted(scores):
        repeats = scores[case]
        if not repeats:
            raise ConfigurationError(f"case {case!r}: it has no score; leave out cases that did not run")
        for score in repeats:
            if not 0.0 <= score <= 1.0:
                raise ConfigurationError(f"case {case!r}: {score!r} is not a score; scores are from 0 to 1")
        found[case] = min(1.0, math.fsum(repeats) / len(repeats))
    return found


def as_scores(passed: Mapping[str, bool]) -> dict[str, tuple[float]]:
    """Return outcomes as scores: 1 for a case that passed, 0 for one that failed.

    >>> as_scores({"a": True, "b": False})
    {'a': (1.0,), 'b': (0.0,)}
    """
    return {case: (1.0 if outcome else 0.0,) for case, outcome in passed.items()}


def pair_cases(current: Mapping[str, Sequence[float]], baseline: Mapping[str, Sequence[float]]) -> Pairs:
    """Return the cases that both runs have, and the names of the others.

    Args:
        current: the scores of each case's repeats, by case id.
        baseline: the same of the run to compare with. The numbers of repeats may differ.

    Raises ConfigurationError for what is no score, in either run.
    """
    now, before = case_scores(current), case_scores(baseline)
    common = tuple(case for case in now if case in before)
    return Pairs(
        common,
        tuple(now[case] for case in common),
        tuple(before[case] for case in common),
        tuple(case for case in now if case not in before),
        tuple(case for case in before if case not in now),
    )


def to_grains(numbers: Iterable[float]) -> list[int]:
    """Return numbers in billionths.

    >>> to_grains([0.3 - 0.2, 0.1])
    [100000000, 100000000]
    """
    return [round(number * GRAIN) for number in numbers]
