"""Small suites in a folder of their own, run by pytest in a process of its own, inside a test and without one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests import forked
from tests.conftest import CI_VARIABLES


@contextmanager
def new_suite() -> Iterator[Path]:
    """Make a folder that is a root of pytest's, and remove it."""
    with TemporaryDirectory() as name:
        folder = Path(name, "suite")
        folder.mkdir()
        (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        yield folder


def run_pytest(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run pytest on a folder, with this plugin alone and outside of CI; return its exit status and what it prints."""
    output = folder.with_suffix(".out")
    output.unlink(missing_ok=True)
    with pytest.MonkeyPatch.context() as patch, output.open("wb") as file:
        for name in CI_VARIABLES:
            patch.delenv(name, raising=False)
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        patch.setenv("PYTEST_ADDOPTS", "-p jsonmatch")
        patch.chdir(folder)
        command = (sys.executable, "-mpytest", "-q", "--tb=short", "-p", "no:cacheprovider", *arguments)
        status = forked.popen(subprocess.Popen, command, stdout=file, stderr=file).wait()
    return status, output.read_text(encoding="utf-8")
