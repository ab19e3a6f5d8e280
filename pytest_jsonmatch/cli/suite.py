"""Golden cases as pytest collects them, for the audit of a suite: their answers are never made."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from io import StringIO
from multiprocessing import get_context
from typing import TYPE_CHECKING, Final, final

import pytest

from pytest_jsonmatch.assertions import trial_of
from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.engine.value.errors import JsonMatchError
from pytest_jsonmatch.golden.collector import GoldenFile, golden_case_of
from pytest_jsonmatch.report.figures import count
from pytest_jsonmatch.study.mutate import add_tallies, summed_up, try_case

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_jsonmatch.study.mutate import SuiteAudit, Tallies

# This process has imported the package, and so pytest can't rewrite its assertions: it has none.
_ARGUMENTS: Final = (
    "-p",
    "jsonmatch",
    "--collect-only",
    "-q",
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",
)
_LEFT_OUT: Final = ("skip", "skipif", "xfail")
_BROKEN: Final = {pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.INTERRUPTED}


def audit_suite(paths: Sequence[str], *, workers: int = 1, most: int = 200) -> SuiteAudit:
    """Break the right answers of a suite's golden cases, and see which cases notice.

    pytest collects the suite in processes of their own, so that its settings, marks, comparators and metrics
    hold; each takes its share of the cases.

    Args:
        paths: files and folders, as pytest takes them.
        workers: the number of processes.
        most: the number of mutations of each case.

    Raises:
        CommandError: pytest can't collect the suite, or there is no golden case in it.
    """
    tallies: Tallies = {}
    notes: list[str] = []
    cases = others = 0
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        for share in pool.map(partial(_share, list(paths), workers, most), range(workers)):
            if share.problem:
                raise CommandError(share.problem)
            cases += share.cases
            others = share.others
            notes += share.notes
            add_tallies(tallies, share.tallies)
    if not cases:
        raise CommandError(f"there are no golden cases to audit in {', '.join(paths)}")
    if others:
        notes.append(f"{count(others, 'test')}: no golden case")
    return summed_up(cases, dict(sorted(tallies.items())), sorted(set(notes)))


def _share(paths: list[str], workers: int, most: int, number: int) -> Share:
    """Audit the share of one process."""
    share = Share(workers, number, most)
    told = StringIO()
    with redirect_stdout(told), redirect_stderr(told):
        code = pytest.main([*_ARGUMENTS, *paths], plugins=[share])
    if code in _BROKEN:
        lines = told.getvalue().splitlines()
        errors = [line for line in lines if line.startswith(("ERROR: ", "E  "))] or lines[-1:]
        reason = errors[0].removeprefix("ERROR: ").removeprefix("E").strip() if errors else str(code)
        share.problem = f"pytest can't collect the suite: {reason}"
    return share


@final
class Share:
    """What one process finds in its share of the cases: a plugin of pytest, and what comes back from it."""

    def __init__(self, workers: int, number: int, most: int) -> None:
        self.tallies: Tallies = {}
        self.notes: list[str] = []
        self.cases = 0
        self.others = 0
        """Collected tests that are no golden cases."""
        self.problem = ""
        """Why nothing could be collected."""
        self._workers = workers
        self._number = number
        self._most = most

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Leave the suite's JUnit file as it is: pytest would write one without tests."""
        config.option.xmlpath = None

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Let pytest run the golden cases of this share, up to the hook below."""
        golden = [item for item in session.items if isinstance(item.parent, GoldenFile)]
        self.others = len(session.items) - len(golden)
        # (Plugins may shuffle tests, in each process in another way.)
        golden.sort(key=lambda item: item.nodeid)
        for item in golden[self._number :: self._workers]:
            item.ihook.pytest_runtest_protocol(item=item, nextitem=None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool:
        """Try a case in place of running it: by now the plugin knows whose marks hold."""
        case = golden_case_of(item)
        if case is None and isinstance(item, pytest.Function) and isinstance(item.parent, GoldenFile):
            try:
                item.parent.check_configuration(item)
            except AssertionError as error:  # the file is not valid
                self.problem = str(error).partition("\n")[0]
        if case is None or case.run > 1:
            return True
        name = f"{case.name_of_file}::{case.base_id}"
        if mark := next(filter(item.get_closest_marker, _LEFT_OUT), None):
            self.notes.append(f"{name}: it has the mark {mark}")
            return True
        try:
            tallies, notes = try_case(name, case.expected, trial_of(case), self._most)
        except JsonMatchError as error:
            tallies, notes = {}, [f"{name}: {str(error).splitlines()[0]}"]
        self.cases += 1
        self.notes += notes
        add_tallies(self.tallies, tallies)
        return True
