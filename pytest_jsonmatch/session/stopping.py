"""`--jsonmatch-stop-when-decided`: end the run once the remaining cases can't change its gates."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import fsum
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, final

import pytest

from pytest_jsonmatch.gate.sequential import Decision, SequentialGate, threshold_decision
from pytest_jsonmatch.gate.verdict import DropGate
from pytest_jsonmatch.limits import FIGURES
from pytest_jsonmatch.results.atomic import write_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_jsonmatch.gate.expressions import Gate
    from pytest_jsonmatch.results.comparison import Case
    from pytest_jsonmatch.results.model import ResultSet
    from pytest_jsonmatch.session.options import Settings
    from pytest_jsonmatch.session.outcomes import Outcomes


@final
class Stopper:
    """Checks the gates whenever a case ends. Register it as a plugin.

    Limits on means over all cases are settled when no outcome of the rest could change them; a drop against
    a baseline is settled by a sequential test, which allows a look after each case. Any other gate needs the
    whole run, but a single gate that is certain to fail settles them all.

    Args:
        outcomes: the reports of tests so far.
        settings: of the run.
        gates: of the run.
        baseline: to compare the run with; None without one.
    """

    def __init__(
        self, outcomes: Outcomes, settings: Settings, gates: Sequence[Gate], baseline: ResultSet | None
    ) -> None:
        self.decision: Decision | None = None
        """The latest decision of the gate on the drop; None without such a gate."""
        self.saved = 0
        """How many tests were left out."""
        self.reason: str | None = None
        """Why the run was ended; None if it was not."""
        self._outcomes = outcomes
        self._settings = settings
        self._gates = gates
        self._before = {} if baseline is None else {case.id: case for case in baseline.cases}
        self._max_drop = settings.max_drop if self._before else None
        self._drop: SequentialGate | None = None
        self._sizes: Counter[str] = Counter()
        """How many cases each cluster has, by the clusters of the baseline."""
        self._deltas: dict[str, list[float]] = {}
        self._done: dict[str, Case] = {}
        self._ended: set[str] = set()
        """The tests that have run."""
        self._left_out: set[str] = set()
        """The cases that do not count."""
        self._sums = dict.fromkeys((*FIGURES, "pass_rate"), Fraction(0))
        self._pytest: pytest.Session | None = None
        self._told: Path | None = None
        """The file that tells workers of pytest-xdist to stop; None without workers."""

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Remember the session to stop."""
        self._pytest = session

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Check the gates if a case has ended."""
        outcomes = self._outcomes
        if report.when != "teardown" or self.reason is not None:
            return
        self._ended.add(report.nodeid)
        left_out = outcomes.left_out_case(report.nodeid)
        if left_out is not None:
            self._left_out.add(left_out)
        case = outcomes.case_of(report.nodeid)
        if case is None or not case.has_figures or len(case.runs) < case.of or case.id in self._done:
            return
        self._done[case.id] = case
        for name in self._sums:
            self._sums[name] += Fraction(case.passed if name == "pass_rate" else case.figure(name))
        self.reason = self._settled(case)
        if self.reason is None:
            return
        self.saved = sum(outcomes.planned.values()) - len(self._ended)
        text = f"decided: {self.reason}"
        if self._told is not None:
            write_file(self._told, text.encode())
        elif self._pytest is not None:
            self._pytest.shouldstop = text

    def _settled(self, case: Case) -> str | None:
        """Return why the gates are settled; None as long as they are not."""
        planned = max(len(self._outcomes.planned) - len(self._left_out), len(self._done))
        decisions = [self._threshold(gate, planned) for gate in self._gates]
        if self._max_drop is not None:
            self.decision = self._after(case)
            decisions.append(self.decision)
        if failed := [each.reason for each in decisions if each.passed is False]:
            return failed[0]
        if decisions and all(each.passed for each in decisions):
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

    def _after(self, case: Case) -> Decision:
        """Return what the gate on the drop says after one more case."""
        settings = self._settings
        if self._drop is None:
            both = (self._outcomes.planned.keys() - self._left_out) & self._before.keys()
            self._sizes = Counter(self._before[name].unit for name in both)
            gate = DropGate(self._max_drop or 0.0, settings.confidence, settings.drop_mode)
            self._drop = SequentialGate(len(self._sizes), gate)
        before = self._before.get(case.id)
        if before is None:
            return self._drop.decision
        deltas, size = self._deltas.setdefault(before.unit, []), self._sizes[before.unit]
        deltas.append(case.figure("score") - before.figure("score"))
        if len(deltas) < size:
            return self._drop.decision
        return self._drop.add(fsum(deltas) / size, size / max(self._sizes.values()))

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker of pytest-xdist which file announces the end of the run: each stops by itself."""
        if self._told is None:
            self._told = Path(mkdtemp(prefix="jsonmatch-"), "decided")
        node.workerinput["jsonmatch_decided"] = str(self._told)

    def pytest_unconfigure(self) -> None:
        """Remove the file."""
        if self._told is not None:
            rmtree(self._told.parent, ignore_errors=True)
