"""A check: a figure of a run against its limit, judged once all tests have reported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Check:
    """A figure of a run or a case against its limit.

    Args:
        subject: what is checked: the text of a gate, the id of a case, the option that gives a baseline.
        figure: the name of the figure.
        value: the figure; None if it is missing.
        limit: what the figure must reach.
        passed: whether it does; None if that is not known yet.
        note: what the figure is based on.
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
    def margin(self) -> float | None:
        """How far the figure is from its limit; below 0 if it misses it.

        >>> Check("run", "f1", 0.75, 0.5, passed=True).margin
        0.25
        """
        if self.value is None:
            return None
        if self.operator in {">", ">="}:
            return self.value - self.limit
        if self.operator in {"<", "<="}:
            return self.limit - self.value
        return -abs(self.value - self.limit)
