"""A check: one thing that a run is held against, once all tests have reported."""

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
