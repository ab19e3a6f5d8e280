"""Runs of pytest in processes of their own that cost a tenth of a new interpreter: they are forked from a warm one."""

from __future__ import annotations

import io
import multiprocessing
import multiprocessing.forkserver
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
# The console script, without asking where the script was installed.
JSONMATCH = ("-m", "pytest_jsonmatch")
IS_POSSIBLE = "forkserver" in multiprocessing.get_all_start_methods()


def serve() -> None:
    """Start the process from which others are forked. It has run `tests/warm.py`."""
    multiprocessing.forkserver.set_forkserver_preload(["tests.warm"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
        patch.chdir(ROOT)
        multiprocessing.forkserver.ensure_running()


def stop() -> None:
    """End that process, so that its time counts as this one's."""
    multiprocessing.forkserver._forkserver._stop()  # type: ignore[attr-defined]


def popen(start: Callable[..., Any], arguments: tuple[str, ...], **how: Any) -> Any:
    """Start a command as `pytester.popen` does; a run of pytest, or of `JSONMATCH`, is forked."""
    files = [Path(how[name].name) for name in ("stdout", "stderr") if name in how]
    if IS_POSSIBLE and arguments[:2] == (sys.executable, "-mpytest"):
        return Forked(arguments[2:], *files)
    if IS_POSSIBLE and arguments[:3] == (sys.executable, *JSONMATCH):
        return Forked(arguments[3:], *files, program="jsonmatch")
    return start(arguments, **how)


class Forked:
    """A run of `python -m pytest`, or of the command, in a process of its own, with as much of `subprocess.Popen` as tests need."""

    stdin = None

    def __init__(
        self, arguments: tuple[str, ...], out: Path, error: Path | None = None, *, program: str = "pytest"
    ) -> None:
        """Run in this folder, with this environment; `out` and `error` take what it prints, or `out` takes all."""
        serve()
        how = (program, str(Path.cwd()), dict(os.environ), arguments, str(out), str(error or out))
        self._process: BaseProcess = multiprocessing.get_context("forkserver").Process(target=run, args=how)
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, "__main__", ModuleType("__main__"))  # which the process would import
            self._process.start()

    @property
    def pid(self) -> int | None:
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("pytest", timeout or 0.0)
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()

    def send_signal(self, number: int) -> None:
        if self._process.pid is not None:
            os.kill(self._process.pid, number)


def run(
    program: str, folder: str, environment: dict[str, str], arguments: tuple[str, ...], out: str, error: str
) -> None:
    """What a forked process does."""
    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, name in ((1, out), (2, error)):
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(io.FileIO(number, "w", closefd=False), "utf-8", write_through=True)
        for number in (1, 2)
    )
    # What runs in the background of a shell ignores interrupts, and so do its children.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.path[:0] = [folder, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    sys.argv = ["-c", *arguments]
    warnings.resetwarnings()
    code: Any = (
        pytest.main(list(arguments))
        if program == "pytest"
        else import_module("pytest_jsonmatch.cli.main").main()
    )
    sys.stdout.flush()
    sys.exit(code)
