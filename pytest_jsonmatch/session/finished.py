"""In the controller: collect the payloads of the reports of all tests, from all processes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

from pytest_jsonmatch.comparing.running import WORKER_CRASHED, Repetition
from pytest_jsonmatch.golden.files import is_golden
from pytest_jsonmatch.session.outcome import decide_run
from pytest_jsonmatch.session.payload import TestPayload, payload_of
from pytest_jsonmatch.session.rules import add_rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pytest

    from pytest_jsonmatch.comparing.running import RuleKey, WrittenRule
    from pytest_jsonmatch.golden.update import Request
    from pytest_jsonmatch.report.cases_page import CaseText
    from pytest_jsonmatch.results.comparison import Case
    from pytest_jsonmatch.semantic.judging import JudgeUsage
    from pytest_jsonmatch.session.payload import Crash

_PHASES: Final = frozenset({"setup", "call", "teardown"})


def _cases(tests: Iterable[TestPayload], *, has_only_gates: bool) -> tuple[Case, ...]:
    from pytest_jsonmatch.results.comparison import Case, CaseRun

    runs: dict[str, list[CaseRun]] = {}
    last: dict[str, TestPayload] = {}
    for test in tests:
        if test.is_left_out or not test.ended:
            continue
        outcome = decide_run(
            [comparison.passed for comparison in test.comparisons],
            failed=test.failed,
            is_tolerated=test.tolerated_report is not None,
            is_broken=test.broken,
            error=test.error,
            is_unanswered=bool(test.unanswered),
            is_run=test.repetition is not None,
            has_only_gates=has_only_gates,
        )
        if outcome is None:
            continue
        passed, error = outcome
        runs.setdefault(test.run.case, []).append(
            CaseRun(test.run.number, passed, tuple(test.comparisons), error, test.unanswered)
        )
        last[test.run.case] = test
    cases = []
    for name, test in sorted(last.items()):
        ordered = tuple(sorted(runs[name], key=lambda run: run.number))
        cases.append(Case(name, ordered, test.run.of, test.run.min_pass_rate, test.cluster, test.tags))
    return tuple(cases)


def _without_group(nodeid: str) -> Iterator[str]:
    """Yield a node id, and what it may be without the `@group` of pytest-xdist.

    >>> list(_without_group("a.yaml::b@2@c"))
    ['a.yaml::b@2@c', 'a.yaml::b@2', 'a.yaml::b']
    """
    while nodeid:
        yield nodeid
        nodeid = nodeid.rpartition("@")[0]


def _split_repetition(nodeid: str) -> Iterator[tuple[str, int]]:
    """Yield the cases of which a node id may be a run, each with the number of the run.

    >>> list(_split_repetition("a.yaml::b@2[small]"))
    [('a.yaml::b[small]', 2)]
    """
    for found in re.finditer(r"@([0-9]+)(?![^@\[])", nodeid):
        rest = nodeid[found.end() :]
        yield nodeid[: found.start()] + rest, int(found[1])
        if "@" in rest:  # it may be the group of pytest-xdist
            yield nodeid[: found.start()] + rest.rpartition("@")[0], int(found[1])


@final
class FinishedTests:
    """The reports of a whole run, with and without pytest-xdist; the last rerun wins.

    Args:
        has_only_gates: whether tests pass whatever their scores; cases still pass by their thresholds.
        files: globs of golden files.
    """

    def __init__(self, *, has_only_gates: bool = False, files: Sequence[str] = ()) -> None:
        self._has_only_gates, self._files = has_only_gates, files
        self._tests: dict[str, TestPayload] = {}
        self.judge_usages: list[JudgeUsage] = []
        """The usage of judges in all processes, in parts; reruns count, too."""
        self.runs: dict[str, dict[str, None]] = {}
        """The node ids of the runs of each repeated case."""
        self._failed_otherwise: set[str] = set()
        self.rules: dict[RuleKey, WrittenRule] = {}
        """The rules of all tests."""
        self.collected: set[str] = set()
        """The ids of the collected cases, with deselected ones; empty if nothing needs them."""

    def add(self, report: pytest.TestReport) -> None:
        """Add the payload of a report."""
        if report.when == "setup":
            self._tests.pop(report.nodeid, None)  # of an earlier attempt, for example by pytest-rerunfailures
        payload = payload_of(report)
        if payload is not None:
            self.judge_usages += [] if payload.judge_usage is None else [payload.judge_usage]
            self.collected.update(payload.collected)
            payload = payload if payload.compares else None
        test = self._tests.get(report.nodeid)
        if test is None:
            # A crashed worker attaches nothing; pytest-xdist reports it as a separate phase ("???").
            if payload is None and report.when in _PHASES:
                if report.failed:
                    self._failed_otherwise.add(report.nodeid)
                return
            test = self._tests[report.nodeid] = TestPayload()
            test.nodeid = report.nodeid
        is_tolerated = payload is not None and payload.tolerated
        if report.failed or is_tolerated:
            test.note_crash(report, is_producers=payload is not None and bool(payload.unanswered))
        if payload is None and not test.compares and report.when not in _PHASES:
            test.is_lost = True
            if self._is_golden(test.nodeid):
                message = str(report.longrepr).strip().rpartition("\n")[2]
                test.unanswered, test.error = WORKER_CRASHED, message
        if payload is not None:
            test.add(payload)
            if payload.repetition is not None:
                self.runs.setdefault(payload.repetition.case, {})[report.nodeid] = None
            add_rules(self.rules, report.nodeid, payload.rules)
            test.place = f"{report.location[0]}:{(report.location[1] or 0) + 1}"
        if is_tolerated:
            test.tolerated_report, test.ended = report, True
            return
        test.ended |= report.when != "setup" or report.failed
        test.failed |= report.failed
        if not hasattr(report, "context"):  # a skipped subtest does not exclude the others
            test.xfail |= hasattr(report, "wasxfail")
            test.skipped |= report.skipped

    def _counted(self) -> Iterator[TestPayload]:
        self._place_crashes()
        # Sorted by node id, so that the table does not depend on the order in which workers report.
        return (test for _, test in sorted(self._tests.items()) if not test.is_left_out)

    def _place_crashes(self) -> None:
        """Find the cases of tests whose workers crashed before they sent anything."""
        known = {test.run.case: test.run for test in self._tests.values() if test.repetition}
        for test in self._tests.values():
            if not test.is_lost or test.repetition is not None:
                continue
            for case, number in _split_repetition(test.nodeid):
                if case in known:
                    run = known[case]
                    test.repetition = Repetition(case, number, run.of, run.min_pass_rate)
                    self.runs.setdefault(case, {})[test.nodeid] = None
                    break
            else:
                ids = filter(self.collected.__contains__, _without_group(test.nodeid))
                test.nodeid = next(ids, test.nodeid)

    def _is_golden(self, nodeid: str) -> bool:
        return is_golden(Path(nodeid.partition("::")[0]), self._files, explicit=True)

    def details(self) -> dict[tuple[str, str], str]:
        """Return the details of comparisons, by node id and id; empty if no report needs them."""
        compared = (comparison for test in self._counted() for comparison in test.comparisons)
        return {(made.nodeid, made.id): made.detail for made in compared if made.detail}

    def sources(self) -> dict[str, CaseText]:
        """Return the texts of tests for a report, by node id: file and line, input and answer."""
        from pytest_jsonmatch.report.cases_page import CaseText

        return {test.nodeid: CaseText(test.place, test.input, test.answer) for test in self._counted()}

    def cases(self) -> tuple[Case, ...]:
        """Return the cases that count, sorted by id: of tests that compared, or failed before comparing."""
        return _cases(self._counted(), has_only_gates=self._has_only_gates)

    @property
    def tolerated(self) -> dict[tuple[str, int], pytest.TestReport]:
        """The reports of runs below a threshold they need not reach, by case id and number of the run."""
        tolerated = ((test.run, test.tolerated_report) for test in self._counted())
        return {(run.case, run.number): report for run, report in tolerated if report is not None}

    @property
    def crashes(self) -> dict[tuple[str, int], Crash]:
        """The failures of runs, by case id and number of the run."""
        failed = ((test.run, test.crash) for test in self._counted())
        return {(run.case, run.number): crash for run, crash in failed if crash is not None}

    @property
    def failed_otherwise(self) -> int:
        """The number of failed tests that compare nothing."""
        return len(self._failed_otherwise - self._tests.keys())

    @property
    def updates(self) -> list[Request]:
        """The changes to golden files that tests request."""
        return [update for test in self._counted() for update in test.updates]

    @property
    def cases_left_out(self) -> frozenset[str]:
        """The cases that were skipped or expected to fail."""
        return frozenset(test.run.case for test in self._tests.values() if test.is_left_out)

    @property
    def broken_files(self) -> set[str]:
        """The files with tests that were left out, or failed before comparing."""
        broken = {test.nodeid for test in self._tests.values() if test.is_left_out or test.failed_before}
        return {nodeid.partition("::")[0] for nodeid in broken | self._failed_otherwise}

    @property
    def left_out(self) -> dict[str, int]:
        """The number of tests that do not count, by reason."""
        tests = self._tests.values()
        counts = {
            "expected to fail": sum(test.xfail for test in tests),
            "skipped": sum(test.skipped and not test.xfail for test in tests),
        }
        return {reason: count for reason, count in counts.items() if count}

    @property
    def failed_before(self) -> int:
        """The number of tests that failed before comparing: each counts 0 in means, and has no leaves."""
        return sum(test.failed_before for test in self._counted())

    def has_golden(self) -> bool:
        """Return whether any golden case has reported."""
        return any(map(self._is_golden, self._tests))

    def __bool__(self) -> bool:
        return bool(self._tests)
