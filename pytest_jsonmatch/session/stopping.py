"""`--jsonmatch-stop-when-decided`: end the run once the remaining cases can't change its gates."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

from pytest_jsonmatch.gate.bounds import Decision, threshold_decision
from pytest_jsonmatch.limits import FIGURES

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from pytest_jsonmatch.gate.expressions import Gate
    from pytest_jsonmatch.session.outcomes import Outcomes


@final
class Stopper:
    """Checks the gates whenever a case ends. Register it as a plugin.

    Limits on means over all cases are settled when no outcome of the rest could change them. Any other gate,
    and a drop against a baseline, needs the whole run; but one gate that is certain to fail settles them all.

    Args:
        outcomes: the reports of tests so far.
        gates: of the run.
        has_limited_drop: whether a drop against the baseline may fail the run too.
    """

    def __init__(self, outcomes: Outcomes, gates: Sequence[Gate], *, has_limited_drop: bool) -> None:
        self.reason: str | None = None
        """Why the run was ended; None if it was not."""
        self._outcomes = outcomes
        self._gates = gates
        self._has_limited_drop = has_limited_drop
        self._done: set[str] = set()
        """The cases that have ended."""
        self._ended: set[str] = set()
        """The tests that have run."""
        self._left_out: set[str] = set()
        """The cases that do not count."""
        self._sums = dict.fromkeys((*FIGURES, "pass_rate"), Fraction(0))
        self._pytest: Any = None

    @property
    def saved(self) -> int:
        """How many tests were left out."""
        return sum(self._outcomes.planned.values()) - len(self._ended)

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Remember the session to stop."""
        self._pytest = session

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Check the gates if a case has ended."""
        outcomes = self._outcomes
        if report.when != "teardown":
            return
        self._ended.add(report.nodeid)
        if self.reason is not None:
            return
        left_out = outcomes.left_out_case(report.nodeid)
        if left_out is not None:
            self._left_out.add(left_out)
        case = outcomes.case_of(report.nodeid)
        if case is None or not case.has_figures or len(case.runs) < case.of or case.id in self._done:
            return
        self._done.add(case.id)
        for name in self._sums:
            self._sums[name] += Fraction(case.passed if name == "pass_rate" else case.figure(name))
        self.reason = self._settled()
        if self.reason is None:
            return
        text = f"decided: {self.reason}"
        # The controller of pytest-xdist looks at its own attribute, and its workers end what they were given.
        for runner in (self._pytest, self._pytest.config.pluginmanager.getplugin("dsession")):
            if runner is not None:
                runner.shouldstop = text

    def _settled(self) -> str | None:
        """Return why the gates are settled; None as long as they are not."""
        planned = max(len(self._outcomes.planned) - len(self._left_out), len(self._done))
        decisions = [self._threshold(gate, planned) for gate in self._gates]
        if failed := [each.reason for each in decisions if each.passed is False]:
            return failed[0]
        if not self._has_limited_drop and all(each.passed for each in decisions):
            return "; ".join(each.reason for each in decisions)
        return None

    def _threshold(self, gate: Gate, planned: int) -> Decision:
        """Return what is already certain about a gate."""
        is_part = gate.tag is not None or gate.cases is not None or gate.field is not None
        is_mean = gate.figure in self._sums and not (is_part or gate.is_micro or gate.is_proven)
        if not is_mean or gate.operator != ">=":
            return Decision(None, "the gate needs the whole run")
        name = "pass rate" if gate.figure == "pass_rate" else f"mean {gate.figure}"
        total, seen = self._sums[gate.figure], len(self._done)
        return threshold_decision(total, seen, planned, gate.limit, figure=name)
