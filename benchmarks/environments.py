"""One virtual environment a peer, made on first use in benchmarks/.venvs from pinned requirements."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
CACHE = HERE / ".venvs"
WANTED = "3.12"
OURS = "ours"


class NotInstallableError(Exception):
    """An environment could not be made; the text says why."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The interpreter that all environments share."""

    path: str
    version: str
    notice: str


def find_interpreter(wanted: str | None) -> Interpreter:
    """Return the named interpreter, else Python 3.12, else the running one with a notice."""
    for candidate in [wanted] if wanted else [f"python{WANTED}", *_pyenv(), sys.executable]:
        path = shutil.which(candidate)
        version = _version(path) if path else None
        if path and version:
            expected = bool(wanted) or version.startswith(WANTED)
            notice = f"Python {WANTED} was not found: all run on {version}; what needs {WANTED} is left out."
            return Interpreter(path, version, "" if expected else notice)
    raise SystemExit(f"The interpreter {wanted!r} cannot be run.")


def _pyenv() -> list[str]:
    """Return the interpreters of that version which pyenv keeps but has not put on the path."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    return [str(path) for path in sorted(root.glob(f"versions/{WANTED}.*/bin/python"), reverse=True)]


def _version(path: str) -> str | None:
    code = "import platform; print(platform.python_version())"
    done = subprocess.run([path, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def requirements(name: str) -> list[str]:
    """Return the pinned requirement lines of an environment."""
    lines = (HERE / "requirements" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def version_of(name: str, package: str) -> str:
    """Return the pinned version of a package in an environment."""
    for line in requirements(name):
        pinned, _, version = line.partition("==")
        if pinned.lower().replace("_", "-") == package.lower().replace("_", "-"):
            return version
    return "?"


def python_of(name: str, interpreter: Interpreter) -> str:
    """Return the environment's python, made first if it is missing or its requirements changed.

    Raises:
        NotInstallableError: the installer's last line says why.
    """
    folder = CACHE / f"{name}-{interpreter.version}"
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    text = "\n".join([*requirements(name), str(ROOT) if name == OURS else ""])
    stamp, digest = folder / "requirements.stamp", hashlib.sha256(text.encode()).hexdigest()
    if stamp.exists() and stamp.read_text(encoding="utf-8") == digest:
        return str(python)
    shutil.rmtree(folder, ignore_errors=True)
    sys.stderr.write(f"making the environment {name} ...\n")
    _checked([interpreter.path, "-m", "venv", str(folder)])
    # Everything is pinned, so --no-deps: nothing slips in, and optional giants stay out.
    install = [str(python), "-m", "pip", "install", "-q", "--no-deps"]
    _checked([*install, "-r", str(HERE / "requirements" / f"{name}.txt")])
    if name == OURS:
        _checked([*install, "-e", str(ROOT)])
    stamp.write_text(digest, encoding="utf-8")
    return str(python)


def _checked(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines()]
        # git's own sentence says more than pip's "subprocess-exited-with-error" after it.
        for sign in ("fatal:", "ERROR:", "error:"):
            found = [line for line in lines if line.startswith(sign)]
            if found:
                raise NotInstallableError(found[-1][:150])
        raise NotInstallableError(f"exit status {done.returncode}")
