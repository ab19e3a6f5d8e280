"""How many files of the package a golden case passes on its way to a failure line."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import pytest

import pytest_jsonmatch

PACKAGE = Path(pytest_jsonmatch.__file__).parent
MOST = 72  # a case is handed to the comparison, and reading files and raising at their lines serve assertions, too


class Tracer:
    """Notes the files whose functions run while a file is collected and its cases run.

    Bodies of modules and classes, and what they call while they are imported, are left out.
    """

    def __init__(self):
        self.files = set()

    def note(self, frame, event, argument):
        code = frame.f_code
        if event == "call" and code.co_flags & inspect.CO_OPTIMIZED and not imports(frame):
            path = Path(code.co_filename)
            if PACKAGE in path.parents:
                self.files.add(path.relative_to(PACKAGE).as_posix())

    def traced(self):
        sys.setprofile(self.note)
        try:
            return (yield)
        finally:
            sys.setprofile(None)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection(self):
        return (yield from self.traced())

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self):
        return (yield from self.traced())


def imports(frame):
    """Whether a frame runs because a module of the package is imported."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and str(PACKAGE) in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


@pytest.mark.skipif(sys.gettrace() is not None, reason="a debugger or a coverage tool is at work")
def test_few_files_are_passed_from_a_golden_file_to_a_failure_line(pytester, golden):
    golden("cases:\n- id: one\n  actual: {shop: Ann, total: 12.5}\n  expected: {shop: Ann, total: 13.5}\n")
    tracer = Tracer()
    run = pytester.inline_run("-q", plugins=[tracer])
    run.assertoutcome(failed=1)
    (report,) = run.getreports("pytest_runtest_logreport")[1:2]
    assert "0.00  total  13.5 → 12.5" in str(report.longrepr)
    assert "golden/collector.py" in tracer.files
    assert len(tracer.files) <= MOST, " ".join(sorted(tracer.files))
