"""A check: a statistic of a run with its limit, judged once all tests have reported."""

from __future__ import annotations

from typing import Final, final

from pytest_jsonmatch.support.frozen import Frozen


@final
class Check(Frozen):
    """A statistic of a run or a case with its limit.

    Args:
        subject: the source of the check: the text of a gate, the id of a case, or the option of a baseline.
        statistic: the name of the statistic.
        value: the value of the statistic; None if it has none.
        limit: the limit that the value is compared with.
        passed: whether the check passes; None if it is not decided yet.
        note: what the value is based on, or the reason why there is none.
        operator: the operator between value and limit.
        end: the end of the interval of the value, if that is compared with the limit instead.
    """

    __slots__ = ("end", "limit", "note", "operator", "passed", "statistic", "subject", "value")

    def __init__(
        self,
        subject: str,
        statistic: str,
        value: float | None,
        limit: float,
        passed: bool | None,
        note: str = "",
        operator: str = ">=",
        end: float | None = None,
    ) -> None:
        self.subject: Final = subject
        self.statistic: Final = statistic
        self.value: Final = value
        self.limit: Final = limit
        self.passed: Final = passed
        self.note: Final = note
        self.operator: Final = operator
        self.end: Final = end

    @property
    def is_drop(self) -> bool:
        """Whether the value is the change from a baseline."""
        return self.statistic == "drop"

    @property
    def side(self) -> str:
        """Which end of an interval the operator tests.

        >>> Check("gate", "f1", 0.75, 0.5, passed=False, end=0.4).side
        'lower'
        """
        return "lower" if self.operator in {">", ">="} else "upper"

    @property
    def margin(self) -> float | None:
        """The distance of what is tested from its limit: below 0 if the check fails, None without a value.

        >>> Check("run", "f1", 0.75, 0.5, passed=True).margin
        0.25
        """
        tested = self.value if self.end is None else self.end
        if tested is None:
            return None
        if self.operator in {">", ">="}:
            return tested - self.limit
        if self.operator in {"<", "<="}:
            return self.limit - tested
        return -abs(tested - self.limit)
