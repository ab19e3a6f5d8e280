"""The verdict on a session: everything that was checked once all tests had reported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Check", "SessionVerdict"]


@final
@dataclass(frozen=True, slots=True)
class Check:
    """One thing that a session is judged by.

    Args:
        subject: what was looked at: a case, the whole run.
        figure: the name of the figure.
        value: the figure; None if there is none.
        limit: what it has to reach.
        passed: whether it does; None if that can't be told yet.
        note: what the figure rests on.
    """

    subject: str
    figure: str
    value: float | None
    limit: float
    passed: bool | None
    note: str = ""


@final
@dataclass(frozen=True, slots=True)
class SessionVerdict:
    """All checks of a session. The banner and the exit status both go by `failed`, so they can't differ.

    >>> SessionVerdict.of([Check("a case", "pass rate", 0.4, 0.6, passed=False)]).failed
    True
    >>> SessionVerdict.of([Check("a case", "pass rate", 0.4, 0.6, passed=None)]).failed
    False
    """

    checks: tuple[Check, ...] = ()

    @classmethod
    def of(cls, checks: Iterable[Check]) -> SessionVerdict:
        """Return the verdict that follows from the checks."""
        return cls(tuple(checks))

    @property
    def failed(self) -> bool:
        """Whether a check has failed."""
        return any(check.passed is False for check in self.checks)

    @property
    def unsettled(self) -> tuple[Check, ...]:
        """The checks that failed or could not be decided, those that failed first."""
        open_ones = [check for check in self.checks if check.passed is not True]
        return tuple(sorted(open_ones, key=lambda check: check.passed is None))
