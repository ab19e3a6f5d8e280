"""Runs of pytest, and workers of pytest-xdist, in processes that cost a tenth of a new interpreter: forks of a warm one."""

from __future__ import annotations

import importlib.util
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
from multiprocessing.connection import Connection
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
    if multiprocessing.forkserver._forkserver.get_inherited_fds() is not None:  # type: ignore[attr-defined]
        return  # A forked process asks the same one.
    multiprocessing.forkserver.set_forkserver_preload(["tests.warm"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
        patch.chdir(ROOT)
        multiprocessing.forkserver.ensure_running()


def stop() -> None:
    """End that process, so that its time counts as this one's."""
    multiprocessing.forkserver._forkserver._stop()  # type: ignore[attr-defined]


def start(target: Callable[..., None], *arguments: Any) -> BaseProcess:
    """Fork a process which calls this."""
    serve()
    process: BaseProcess = multiprocessing.get_context("forkserver").Process(target=target, args=arguments)
    server: Any = multiprocessing.forkserver._forkserver  # type: ignore[attr-defined]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "__main__", ModuleType("__main__"))  # which the process would import
        if server.get_inherited_fds() is not None:
            patch.setattr(server, "ensure_running", lambda: None)
        process.start()
    return process


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
        how = (program, str(Path.cwd()), dict(os.environ), arguments, str(out), str(error or out))
        self._process = start(run, *how)

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
    for number, name in ((1, out), (2, error)):
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(descriptor, number)
        os.close(descriptor)
    begin(folder, environment, *arguments)
    fork_workers(pytest.MonkeyPatch())
    code: Any = (
        pytest.main(list(arguments))
        if program == "pytest"
        else import_module("pytest_jsonmatch.cli.main").main()
    )
    sys.stdout.flush()
    sys.exit(code)


def begin(folder: str, environment: dict[str, str], *arguments: str) -> None:
    """Let a forked process be as a new interpreter in this folder."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(io.FileIO(number, "w", closefd=False), "utf-8", write_through=True)
        for number in (1, 2)
    )
    # What runs in the background of a shell ignores interrupts, and so do its children.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.path[:0] = [folder, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    sys.argv = ["-c", *arguments]
    warnings.resetwarnings()


def fork_workers(patch: pytest.MonkeyPatch) -> None:
    """Let workers of pytest-xdist be forked, too: a new interpreter takes ten times as long."""
    if not IS_POSSIBLE or importlib.util.find_spec("xdist") is None:
        return
    gateway_io = import_module("execnet.gateway_io")
    create_io = gateway_io.create_io
    patch.setattr(
        gateway_io,
        "create_io",
        lambda spec, execmodel: (
            Gateway(execmodel) if spec.popen and not spec.python else create_io(spec, execmodel)
        ),
    )


class Gateway:
    """A worker of pytest-xdist in a forked process, with as much of execnet's `Popen2IOMaster` as it needs."""

    def __init__(self, execmodel: Any) -> None:
        self.execmodel = execmodel
        to_read, self._out = multiprocessing.Pipe(duplex=False)
        self._in, to_write = multiprocessing.Pipe(duplex=False)
        with to_read, to_write, Connection(os.dup(2), readable=False) as error:
            how = (os.getpid(), str(Path.cwd()), dict(os.environ), to_read, to_write, error)
            self._process = start(work, *how)

    def read(self, size: int) -> bytes:
        """Return so many bytes."""
        parts = bytearray()
        while len(parts) < size:
            part = os.read(self._in.fileno(), size - len(parts))
            if not part:
                raise EOFError(f"expected {size} bytes, got {len(parts)}")
            parts += part
        return bytes(parts)

    def write(self, data: bytes) -> None:
        """Write all these bytes."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._out.fileno(), rest) :]

    def close_read(self) -> None:
        self._in.close()

    def close_write(self) -> None:
        self._out.close()

    def wait(self) -> int | None:
        self._process.join()
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()


def work(
    controller: int,
    folder: str,
    environment: dict[str, str],
    read: Connection,
    write: Connection,
    error: Connection,
) -> None:
    """What a forked worker of pytest-xdist does."""
    for number, connection in enumerate((read, write, error)):
        os.dup2(connection.fileno(), number)
        connection.close()
    begin(folder, environment)
    os.getppid = lambda: controller  # which asked for this process
    sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False), "utf-8")
    exec(eval(sys.stdin.readline()), {"__name__": "__main__"})
