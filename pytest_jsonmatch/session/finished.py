"""In the controller: collect what the reports of all tests carry, from all processes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, final

import pytest

from pytest_jsonmatch.golden.files import is_golden
from pytest_jsonmatch.running import FAILED_BEFORE, Repetition
from pytest_jsonmatch.session.payload import TestPayload, payload_of
from pytest_jsonmatch.session.rules import RulesOfRun

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from pytest_jsonmatch.golden.update import Request
    from pytest_jsonmatch.report.cases_page import CaseText
    from pytest_jsonmatch.results.comparison import Case
    from pytest_jsonmatch.semantic.judging import JudgeUsage


@final
class Crash(NamedTuple):
    """Where a test failed, and its message; paths as pytest gives them."""

    path: str
    line: int
    message: str
    test: tuple[str, int]
    """File and line of the test itself, relative to the rootdir."""


class _Test:
    """What the reports of one item have said so far. Not a dataclass, which would take longer to import."""

    def __init__(self, nodeid: str) -> None:
        self.nodeid = nodeid
        self.payload = TestPayload()
        """What its reports have carried."""
        self.place = ""
        """Its file and line."""
        self.xfail = self.skipped = self.failed = False
        self.tolerated: pytest.TestReport | None = None
        """The report of a run that is under its threshold, but need not reach it."""
        self.ended = False
        """Whether the test itself has run, or could not."""
        self.crash: Crash | None = None
        """Where it failed first."""

    @property
    def run(self) -> Repetition:
        """Which run of which case it is: a test that is not repeated is a case of one run."""
        return self.payload.repetition or Repetition(self.nodeid, 1, 1, None)

    @property
    def is_left_out(self) -> bool:
        """Whether it was skipped, or expected to fail."""
        return self.xfail or self.skipped

    @property
    def failed_before(self) -> bool:
        """Whether it failed before it compared anything, or without comparing all, but has an answer."""
        is_without = self.payload.broken or not self.payload.comparisons
        return self.failed and is_without and not self.payload.raised

    def take_crash(self, report: pytest.TestReport) -> None:
        """Note where a report says that the test failed; a place in the code is preferred to a mere text."""
        where = getattr(report.longrepr, "reprcrash", None)
        path, line, _ = report.location
        test = path, (line or 0) + 1
        if where is not None and (self.crash is None or self.crash.line == 0):
            self.crash = Crash(str(where.path), where.lineno, str(where.message), test)
        elif self.crash is None:
            text = report.longreprtext
            # If a fixture is missing, the available ones follow the line with the error.
            said = [line[1:].strip() for line in text.splitlines() if line.startswith("E  ")]
            self.crash = Crash("", 0, "\n".join(said) or text, test)


def _cases(tests: Iterable[_Test], *, has_only_gates: bool) -> tuple[Case, ...]:
    from pytest_jsonmatch.results.comparison import Case, CaseRun

    runs: dict[str, list[CaseRun]] = {}
    last: dict[str, _Test] = {}
    for test in tests:
        compared = tuple(test.payload.comparisons)
        has_any = compared or test.failed or test.payload.repetition or test.payload.raised
        if test.is_left_out or not test.ended or not has_any:
            continue
        raised = test.payload.raised
        error = "" if compared and not test.payload.broken else FAILED_BEFORE
        error = f"the producer raised {raised}" if raised else error
        passed = not (test.failed or test.tolerated is not None)
        if has_only_gates:  # then tests pass
            passed = passed and not error and all(each.passed for each in compared)
        runs.setdefault(test.run.case, []).append(
            CaseRun(test.run.number, passed, compared, error, raised.partition(":")[0])
        )
        last[test.run.case] = test
    cases = []
    for name, test in sorted(last.items()):
        in_order = tuple(sorted(runs[name], key=lambda run: run.number))
        cases.append(
            Case(name, in_order, test.run.of, test.run.min_pass_rate, test.payload.cluster, test.payload.tags)
        )
    return tuple(cases)


@final
class FinishedTests:
    """The reports of a whole run, with and without pytest-xdist; the last rerun wins.

    Args:
        has_only_gates: whether tests pass whatever their scores; cases still pass by their thresholds.
    """

    def __init__(self, *, has_only_gates: bool = False) -> None:
        self._has_only_gates = has_only_gates
        self._tests: dict[str, _Test] = {}
        self.keep_outputs: Callable[[list[str]], None] | None = None
        """Takes the lines for the file of `--jsonmatch-record`."""
        self.judged: list[JudgeUsage] = []
        """What judges did in all processes, part by part; reruns count too."""
        self.runs: dict[str, dict[str, None]] = {}
        """The node ids of the runs of each repeated case."""
        self._failed_otherwise: set[str] = set()
        self.rules: RulesOfRun = RulesOfRun()
        """The patterns of all tests, and whether they have matched anything."""
        self.collected: set[str] = set()
        """The ids of the collected cases, deselected ones too; empty if nothing needs them."""
        self.are_complete: bool = False
        """Whether all tests have run: the run was neither interrupted nor stopped early."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Note that all tests have run.

        The exit status does not tell: a second Ctrl-C leaves it at that of a run that passed.
        """
        result = yield
        self.are_complete = True
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what one report carries. As a registered plugin, this sees reports of its own run only."""
        if report.when == "setup":
            self._tests.pop(report.nodeid, None)  # of an earlier try, by pytest-rerunfailures for example
        payload = payload_of(report)
        if payload is not None:
            self.judged += [] if payload.judged is None else [payload.judged]
            self.collected.update(payload.collected)
            payload = payload if payload.compares else None
        test = self._tests.get(report.nodeid)
        if test is None:
            # A crashed worker attaches nothing; pytest-xdist reports it as a separate phase ("???").
            if payload is None and report.when in {"setup", "call", "teardown"}:
                if report.failed:
                    self._failed_otherwise.add(report.nodeid)
                return
            test = self._tests[report.nodeid] = _Test(report.nodeid)
        is_tolerated = payload is not None and payload.tolerated
        if report.failed or is_tolerated:
            test.take_crash(report)
        if payload is not None:
            test.payload.add(payload)
            if payload.repetition is not None:
                self.runs.setdefault(payload.repetition.case, {})[report.nodeid] = None
            if self.keep_outputs is not None and payload.outputs:
                self.keep_outputs(payload.outputs)
            if payload.rules:
                self.rules.take(report.nodeid, payload.rules)
            test.place = f"{report.location[0]}:{(report.location[1] or 0) + 1}"
        if is_tolerated:
            test.tolerated, test.ended = report, True
            return
        test.ended |= report.when != "setup" or report.failed
        test.failed |= report.failed
        if not hasattr(report, "context"):  # a skipped subtest does not exclude the others
            test.xfail |= hasattr(report, "wasxfail")
            test.skipped |= report.skipped

    def _counted(self) -> Iterator[_Test]:
        # Sorted by node id, so that the table does not depend on the order in which workers report.
        return (test for _, test in sorted(self._tests.items()) if not test.is_left_out)

    def details(self) -> dict[tuple[str, str], str]:
        """Return what a report shows of each comparison, by node id and id; empty if none is written."""
        compared = (each for test in self._counted() for each in test.payload.comparisons)
        return {(each.nodeid, each.id): each.detail for each in compared if each.detail}

    def sources(self) -> dict[str, CaseText]:
        """Return, by node id, what a report shows of tests beyond what they compared."""
        from pytest_jsonmatch.report.cases_page import CaseText

        return {
            test.nodeid: CaseText(test.place, test.payload.input, test.payload.answer)
            for test in self._counted()
        }

    def cases(self) -> tuple[Case, ...]:
        """Return the cases that count, sorted by id: tests that compared, or failed before comparing."""
        return _cases(self._counted(), has_only_gates=self._has_only_gates)

    @property
    def tolerated(self) -> dict[tuple[str, int], pytest.TestReport]:
        """Why runs that need not reach their threshold are under it, by case id and number of the run."""
        tolerated = ((test.run, test.tolerated) for test in self._counted())
        return {(run.case, run.number): report for run, report in tolerated if report is not None}

    @property
    def crashes(self) -> dict[tuple[str, int], Crash]:
        """Where runs of cases failed, by case id and number of the run."""
        failed = ((test.run, test.crash) for test in self._counted())
        return {(run.case, run.number): crash for run, crash in failed if crash is not None}

    @property
    def failed_otherwise(self) -> int:
        """How many failed tests compare nothing."""
        return len(self._failed_otherwise - self._tests.keys())

    @property
    def updates(self) -> list[Request]:
        """The changes to golden files that tests request."""
        return [update for test in self._counted() for update in test.payload.updates]

    @property
    def cases_left_out(self) -> frozenset[str]:
        """The cases that were skipped or expected to fail."""
        return frozenset(test.run.case for test in self._tests.values() if test.is_left_out)

    @property
    def broken_files(self) -> set[str]:
        """The files with tests that were left out, or failed before comparing."""
        broken = {each.nodeid for each in self._tests.values() if each.is_left_out or each.failed_before}
        return {nodeid.partition("::")[0] for nodeid in broken | self._failed_otherwise}

    @property
    def left_out(self) -> dict[str, int]:
        """How many tests the table does not show, by reason."""
        tests = self._tests.values()
        counts = {
            "expected to fail": sum(test.xfail for test in tests),
            "skipped": sum(test.skipped and not test.xfail for test in tests),
            # A gate counts these as 0.
            FAILED_BEFORE: sum(test.failed_before for test in self._counted()),
        }
        return {reason: count for reason, count in counts.items() if count}

    def has_golden(self, files: Sequence[str]) -> bool:
        """Tell whether any golden case reported; `files` are globs of golden files."""
        paths = {nodeid.partition("::")[0] for nodeid in self._tests}
        return any(is_golden(Path(path), files, explicit=True) for path in paths)

    def __bool__(self) -> bool:
        return bool(self._tests)
