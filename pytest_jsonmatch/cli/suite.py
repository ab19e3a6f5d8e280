"""The golden cases that pytest collects, for the audit of a suite; producers are not called."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from multiprocessing import get_context
from typing import TYPE_CHECKING, Final, final

import pytest

from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.errors import JsonMatchError, write_arguments_as
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.golden.checking import make_trial
from pytest_jsonmatch.golden.collector import GoldenFile, golden_case_of
from pytest_jsonmatch.reading.matchers import iter_matchers, without_matchers
from pytest_jsonmatch.study.mutate import MutationOutcomes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_jsonmatch.study.mutate import SuiteAudit

# This process has imported the package, so pytest can't rewrite its assertions; there are none.
_WARNING: Final = "ignore::pytest.PytestAssertRewriteWarning"
_ARGUMENTS: Final = ("-p", "jsonmatch", "--collect-only", "-q", "-W", _WARNING)
_LEFT_OUT: Final = ("skip", "skipif", "xfail")
_BROKEN: Final = {pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.INTERRUPTED}


def audit_suite(paths: Sequence[str]) -> SuiteAudit:
    """Change the expected answers of a suite's golden cases, and check which cases fail.

    pytest collects the suite in a separate process, so that its settings, marks, comparators and metrics
    apply.

    Args:
        paths: files and folders, as arguments of pytest.

    Raises:
        CommandError: pytest can't collect the suite, or it has no golden case.
    """
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        suite = pool.submit(_collect, list(paths)).result()
    if suite.problem:
        raise CommandError(suite.problem)
    tried = suite.tried
    if not tried.cases:
        raise CommandError(f"there are no golden cases to audit in {', '.join(paths)}")
    if suite.others:
        tried.notes[f"{count(suite.others, 'test')}: no golden case"] = None
    tried.notes = dict.fromkeys(sorted(tried.notes))
    return tried.summarize()


def _collect(paths: list[str]) -> CollectedSuite:
    """Collect the cases of a suite with pytest, and try them."""
    suite = CollectedSuite()
    output = StringIO()
    with redirect_stdout(output), redirect_stderr(output), write_arguments_as("python"):
        code = pytest.main([*_ARGUMENTS, *paths], plugins=[suite])
    if code in _BROKEN:
        lines = output.getvalue().splitlines()
        errors = [line for line in lines if line.startswith(("ERROR: ", "E  "))] or lines[-1:]
        reason = errors[0].removeprefix("ERROR: ").removeprefix("E").strip() if errors else str(code)
        suite.problem = f"pytest can't collect the suite: {reason}"
    return suite


@final
class CollectedSuite:
    """A pytest plugin that tries the golden cases of a suite; its process returns it with the result."""

    def __init__(self) -> None:
        self.tried: MutationOutcomes = MutationOutcomes()
        self.others: int = 0
        """The number of collected tests that are not golden cases."""
        self.problem: str = ""
        """The reason why nothing could be collected; empty if something was."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Keep the suite's JUnit file: pytest would overwrite it with one without tests."""
        config.option.xmlpath = None

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Run the protocol of each golden case of the suite, up to the hook below."""
        golden = [item for item in session.items if isinstance(item.parent, GoldenFile)]
        self.others = len(session.items) - len(golden)
        # Plugins may have shuffled the tests.
        golden.sort(key=lambda item: item.nodeid)
        for item in golden:
            item.ihook.pytest_runtest_protocol(item=item, nextitem=None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool:
        """Try a case instead of running it; at this point the plugin knows which marks apply."""
        case = golden_case_of(item)
        if case is None and isinstance(item, pytest.Function) and isinstance(item.parent, GoldenFile):
            try:
                item.parent.refuse(item)
            except AssertionError as error:  # the file is not valid
                self.problem = str(error).partition("\n")[0]
        if case is None or case.run > 1:
            return True
        name = f"{case.name_of_file}::{case.base_id}"
        if mark := next(filter(item.get_closest_marker, _LEFT_OUT), None):
            self.tried.notes[f"{name}: it has the mark {mark}"] = None
            return True
        try:
            expected = without_matchers(case.expected)
            if any(iter_matchers(case.expected)):
                self.tried.notes[f"{name}: places of matchers"] = None
            if expected is MISSING:
                return True
            compare = make_trial(case, expected)
        except JsonMatchError as error:
            self.tried.cases += 1
            self.tried.notes[f"{name}: {str(error).splitlines()[0]}"] = None
        else:
            by_gates = isinstance(item.parent, GoldenFile) and item.parent.rules.has_only_gates
            self.tried.add(name, expected, compare, by_gates=by_gates)
        return True
