"""Repeated cases: what k runs of a case say about it, and about its fields.

A case is judged by all of its runs. Means over cases are means of the cases' own figures, so that a case
which runs more often does not count for more.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import accumulate
from math import comb
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, final

from pytest_jsonmatch.gate.session import Check

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_jsonmatch.engine.records import Comparison

__all__ = ["CaseRun", "FieldStability", "RepeatedCase", "Repeats", "repeats"]

Verdict: TypeAlias = Literal["passed", "failed", "undecided"]

# A share that is exactly its limit reaches it, whatever the division made of it.
_SLACK = 1e-12


class CaseRun(NamedTuple):
    """One run of a repeated case that has come to its end."""

    case: str
    number: int
    of: int
    min_pass_rate: float | None
    passed: bool
    comparisons: Sequence[Comparison] = ()


@final
@dataclass(frozen=True, slots=True)
class RepeatedCase:
    """What the runs of one case have come to.

    Args:
        id: the case's node id, without the number of a run.
        of: how many runs there should be.
        reported: how many there were.
        passed: how many of these passed.
        min_pass_rate: the share of all runs that has to pass; None where each run stands for itself.
        scores: the least and the greatest score of a run; None if no run has one.

    >>> RepeatedCase("a", of=5, reported=5, passed=2, min_pass_rate=0.6).verdict
    'failed'
    >>> RepeatedCase("a", of=5, reported=3, passed=2, min_pass_rate=0.6).verdict
    'undecided'
    """

    id: str
    of: int
    reported: int
    passed: int
    min_pass_rate: float | None = None
    scores: tuple[float, float] | None = None

    @property
    def pass_rate(self) -> float:
        """The share of the runs that passed."""
        return self.passed / self.reported

    @property
    def verdict(self) -> Verdict | None:
        """Whether enough runs passed, as far as that is sure without those missing; None without limit."""
        if self.min_pass_rate is None:
            return None
        missing = self.of - self.reported
        if (self.passed + missing) / self.of < self.min_pass_rate - _SLACK:
            return "failed"
        return "passed" if self.passed / self.of >= self.min_pass_rate - _SLACK else "undecided"

    def pass_at(self, k: int) -> float:
        """Return pass@k: how likely it is that of k runs, drawn from all, one at least passes.

        The estimator without bias of Chen et al., "Evaluating Large Language Models Trained on Code" (2021).

        >>> RepeatedCase("a", of=4, reported=4, passed=1).pass_at(2)
        0.5
        """
        return 1 - comb(self.reported - self.passed, k) / comb(self.reported, k)

    def pass_all(self, k: int) -> float:
        """Return pass^k: how likely it is that of k runs, drawn from all, each passes.

        As in Yao et al., "τ-bench" (2024).

        >>> RepeatedCase("a", of=4, reported=4, passed=3).pass_all(2)
        0.5
        """
        return comb(self.passed, k) / comb(self.reported, k)

    @property
    def flip_rate(self) -> float | None:
        """How often one of two runs passes and the other does not; None for a single run.

        >>> RepeatedCase("a", of=5, reported=5, passed=4).flip_rate
        0.4
        """
        if self.reported < 2:
            return None
        return self.passed * (self.reported - self.passed) / comb(self.reported, 2)

    def check(self) -> Check | None:
        """Return what the session is judged by; None where each run stands for itself."""
        verdict = self.verdict
        if verdict is None or self.min_pass_rate is None:
            return None
        note = f"{self.passed} of {self.reported} {'run' if self.reported == 1 else 'runs'} passed"
        if self.reported < self.of:
            note += f", {self.of - self.reported} did not run"
        passed = None if verdict == "undecided" else verdict == "passed"
        value = self.passed / self.of if passed is None else self.pass_rate
        return Check(self.id, "pass rate", value, self.min_pass_rate, passed, note)


@final
@dataclass(frozen=True, slots=True)
class FieldStability:
    """How alike a field's score is from run to run.

    `stability` is 1 less the mean difference between its scores in two runs of a case, the mean over `cases`
    cases: 1 where every run scores the same, 0 where of two runs one is all right and the other all wrong.
    """

    metric: str
    path: str
    stability: float
    cases: int


@final
@dataclass(frozen=True, slots=True)
class Repeats:
    """What all repeated cases of a session have come to."""

    cases: tuple[RepeatedCase, ...]
    fields: tuple[FieldStability, ...] = ()
    """The least stable first."""

    @property
    def k(self) -> int:
        """The k of pass@k and pass^k: the least number of runs that a case has."""
        return min((case.reported for case in self.cases), default=0)

    def pass_at(self, k: int) -> float:
        """Return the mean of the cases' pass@k; k is at most `self.k`."""
        return _mean([case.pass_at(k) for case in self.cases])

    def pass_all(self, k: int) -> float:
        """Return the mean of the cases' pass^k; k is at most `self.k`."""
        return _mean([case.pass_all(k) for case in self.cases])

    @property
    def flip_rate(self) -> float | None:
        """The mean of the cases' flip rates; None if no case ran twice."""
        rates = [rate for case in self.cases if (rate := case.flip_rate) is not None]
        return _mean(rates) if rates else None

    @property
    def checks(self) -> tuple[Check, ...]:
        """What the session is judged by."""
        return tuple(check for case in self.cases if (check := case.check()) is not None)

    @property
    def is_mixed(self) -> bool:
        """Whether some run did not pass."""
        return any(case.passed < case.reported for case in self.cases)

    def __bool__(self) -> bool:
        return bool(self.cases)


def repeats(runs: Iterable[CaseRun]) -> Repeats:
    """Return what runs come to, whatever their order.

    >>> both = repeats([CaseRun("a", 1, 2, 0.5, passed=True), CaseRun("a", 2, 2, 0.5, passed=False)])
    >>> both.k, both.pass_at(1), both.pass_at(2), both.pass_all(2), both.flip_rate
    (2, 0.5, 1.0, 0.0, 1.0)
    """
    by_case: dict[str, list[CaseRun]] = defaultdict(list)
    for run in runs:
        by_case[run.case].append(run)
    cases = tuple(_case(name, by_case[name]) for name in sorted(by_case))
    return Repeats(cases, tuple(_stability(by_case)))


def _case(name: str, runs: Sequence[CaseRun]) -> RepeatedCase:
    scores = [comparison.score for run in runs for comparison in run.comparisons]
    return RepeatedCase(
        name,
        of=max(run.of for run in runs),
        reported=len(runs),
        passed=sum(run.passed for run in runs),
        min_pass_rate=runs[0].min_pass_rate,
        scores=(min(scores), max(scores)) if scores else None,
    )


def _stability(by_case: Mapping[str, Sequence[CaseRun]]) -> list[FieldStability]:
    sums: dict[tuple[str, str], list[float]] = defaultdict(list)
    for name in sorted(by_case):
        # A run may compare several times: the n-th comparison of one goes with the n-th of another.
        rows: dict[int, list[Comparison]] = defaultdict(list)
        for run in by_case[name]:
            for place, comparison in enumerate(run.comparisons):
                rows[place].append(comparison)
        for compared in rows.values():
            if len(compared) > 1:
                for path in {path: None for each in compared for path in each.fields}:
                    sums[compared[0].metric, path].append(1 - _mean_difference(_scores(compared, path)))
    found = [
        FieldStability(metric, path, _mean(values), len(values)) for (metric, path), values in sums.items()
    ]
    return sorted(found, key=lambda field: (field.stability, field.metric, field.path))


def _scores(compared: Iterable[Comparison], path: str) -> list[float]:
    # Where a run says nothing of a field, it has rightly left it out: it was not expected.
    scores = [
        figures.mean_score if (figures := each.fields.get(path)) is not None else None for each in compared
    ]
    return [1.0 if score is None else score for score in scores]


def _mean_difference(values: Sequence[float]) -> float:
    """Return the mean of |a - b| over all pairs of two or more numbers (Gini's mean difference)."""
    ordered = sorted(values)
    below = [0.0, *accumulate(ordered)]
    total = sum(value * index - below[index] for index, value in enumerate(ordered))
    return max(total, 0.0) / comb(len(ordered), 2)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
