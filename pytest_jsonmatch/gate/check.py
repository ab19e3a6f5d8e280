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
    """

    __slots__ = ("limit", "note", "operator", "passed", "statistic", "subject", "value")

    def __init__(
        self,
        subject: str,
        statistic: str,
        value: float | None,
        limit: float,
        passed: bool | None,
        note: str = "",
        operator: str = ">=",
    ) -> None:
        self.subject: Final = subject
        self.statistic: Final = statistic
        self.value: Final = value
        self.limit: Final = limit
        self.passed: Final = passed
        self.note: Final = note
        self.operator: Final = operator

    @property
    def is_drop(self) -> bool:
        """Whether the value is the change from a baseline."""
        return self.statistic == "drop"

    @property
    def margin(self) -> float | None:
        """The distance of the value from its limit: below 0 if the check fails, None without a value.

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
