"""Repeated cases: pass@k, pass^k and flip rates.

A case is judged by all of its runs. Means over cases average one value per case, so a case that runs more
often does not weigh more.
"""

from __future__ import annotations

from math import comb, fsum
from typing import TYPE_CHECKING, Final, final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.gate.check import Check
from pytest_jsonmatch.results.comparison import Case, CaseRun
from pytest_jsonmatch.support.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterable


def pass_at(case: Case, k: int) -> float:
    """Return pass@k: the probability that at least one of k runs, drawn from a case's runs, passes.

    The unbiased estimator of Chen et al., "Evaluating Large Language Models Trained on Code" (2021).

    >>> pass_at(_example("+---"), 2)
    0.5
    """
    runs = len(case.runs)
    return 1 - comb(runs - case.passed_runs, k) / comb(runs, k)


def pass_all(case: Case, k: int) -> float:
    """Return pass^k: the probability that all of k runs, drawn from a case's runs, pass.

    As in Yao et al., "τ-bench" (2024).

    >>> pass_all(_example("+++-"), 2)
    0.5
    """
    return comb(case.passed_runs, k) / comb(len(case.runs), k)


def flip_rate(case: Case) -> float | None:
    """Return how often exactly one of two runs of a case passes; None for a single run.

    >>> flip_rate(_example("++++-"))
    0.4
    """
    runs = len(case.runs)
    return case.passed_runs * (runs - case.passed_runs) / comb(runs, 2) if runs > 1 else None


def check(case: Case) -> Check | None:
    """Return the check of a repeated case's pass rate; None if its runs are judged separately."""
    if case.min_pass_rate is None or case.of == 1:
        return None
    runs = len(case.runs)
    note = f"{case.passed_runs} of {count(runs, 'run')} passed"
    if runs < case.of:
        note += f", {case.of - runs} did not run"
    passed = None if case.verdict == "undecided" else case.verdict == "passed"
    value = case.passed_runs / case.of if passed is None else case.pass_rate
    return Check(case.id, "pass rate", value, case.min_pass_rate, passed, note)


def _example(runs: str) -> Case:
    """Return a case with a run for each character; `+` passes."""
    return Case("a", tuple(CaseRun(number, run == "+") for number, run in enumerate(runs, 1)), of=len(runs))


@final
class Repeats(Frozen):
    """The statistics of all repeated cases of a session."""

    __slots__ = ("cases",)

    def __init__(
        self,
        cases: tuple[Case, ...],
    ) -> None:
        self.cases: Final = cases

    @property
    def k(self) -> int:
        """The k of pass@k and pass^k: the smallest number of runs of any case."""
        return min((len(case.runs) for case in self.cases), default=0)

    def pass_at(self, k: int) -> float:
        """Return the mean of the cases' pass@k; k is at most `self.k`."""
        return fsum(pass_at(case, k) for case in self.cases) / len(self.cases)

    def pass_all(self, k: int) -> float:
        """Return the mean of the cases' pass^k; k is at most `self.k`."""
        return fsum(pass_all(case, k) for case in self.cases) / len(self.cases)

    @property
    def flip_rate(self) -> float | None:
        """The mean of the cases' flip rates; None if no case ran twice."""
        rates = [rate for case in self.cases if (rate := flip_rate(case)) is not None]
        return fsum(rates) / len(rates) if rates else None

    @property
    def is_mixed(self) -> bool:
        """Whether at least one run did not pass."""
        return any(case.passed_runs < len(case.runs) for case in self.cases)

    def __bool__(self) -> bool:
        return bool(self.cases)


def repeats(cases: Iterable[Case]) -> Repeats:
    """Return the statistics of the cases that run several times.

    >>> both = repeats([_example("+-"), _example("+")])
    >>> len(both.cases), both.k, both.pass_at(1), both.pass_at(2), both.pass_all(2), both.flip_rate
    (1, 2, 0.5, 1.0, 0.0, 1.0)
    """
    return Repeats(tuple(sorted((case for case in cases if case.of > 1), key=lambda case: case.id)))
