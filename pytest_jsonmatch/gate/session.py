"""The checks of a session: everything that was checked once all tests had reported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Check:
    """One thing that a run is held against.

    Args:
        subject: what was looked at: a case, the whole run.
        figure: the name of the figure.
        value: the figure; None if there is none.
        limit: what it has to reach.
        passed: whether it does; None if that can't be told yet.
        note: what the figure rests on.
        operator: how figure and limit are compared.
    """

    subject: str
    figure: str
    value: float | None
    limit: float
    passed: bool | None
    note: str = ""
    operator: str = ">="

    @property
    def slack(self) -> float | None:
        """How far the figure is from its limit: what may still be lost, or, below 0, what is missing.

        >>> Check("run", "f1", 0.75, 0.5, passed=True).slack
        0.25
        """
        if self.value is None:
            return None
        if self.operator in {">", ">="}:
            return self.value - self.limit
        if self.operator in {"<", "<="}:
            return self.limit - self.value
        return -abs(self.value - self.limit)


@final
@dataclass(frozen=True, slots=True)
class Checks:
    """All checks of a session. The banner and the exit status both go by `failed`, so they can't differ.

    Args:
        gates: gates on the run as a whole.
        cases: repeated cases, each held against its own limit by all of its runs.

    >>> Checks(cases=(Check("a case", "pass rate", 0.4, 0.6, passed=False),)).failed
    True
    >>> Checks(cases=(Check("a case", "pass rate", 0.4, 0.6, passed=None),)).failed
    False
    """

    gates: tuple[Check, ...] = ()
    cases: tuple[Check, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether a check has failed."""
        return any(check.passed is False for check in (*self.gates, *self.cases))

    @property
    def unsettled_cases(self) -> tuple[Check, ...]:
        """The cases that failed or could not be decided, those that failed first."""
        open_ones = [check for check in self.cases if check.passed is not True]
        return tuple(sorted(open_ones, key=lambda check: check.passed is None))
