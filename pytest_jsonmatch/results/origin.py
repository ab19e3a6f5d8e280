"""The origin of results: time, commit, versions."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.support.frozen import replace
from pytest_jsonmatch.support.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_jsonmatch.results.run import RunResult

_PACKAGES: Final = ("pytest", "numpy", "scipy", "rapidfuzz")
"""Packages that may affect scores or the way in which tests run."""
_SECONDS: Final = 5
"""The timeout for git: a hook or a network drive must not delay a run."""


def with_origin(results: RunResult, folder: Path) -> RunResult:
    """Return results with the current time, the git commit of a folder, and the installed versions."""
    return replace(
        results,
        created=datetime.now(timezone.utc).replace(microsecond=0).isoformat(),
        commit=_commit(folder),
        versions=_versions(),
    )


def _versions() -> dict[str, str]:
    versions = {"pytest-jsonmatch": __version__, "python": platform.python_version()}
    for name in _PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


def _commit(folder: Path) -> str:
    """Return the checked-out commit, with "+" if the tree has changes; empty if it is unknown."""
    commit = _git(folder, "rev-parse", "HEAD")
    if not commit:
        return os.environ.get("GITHUB_SHA") or os.environ.get("CI_COMMIT_SHA") or ""
    return commit + ("+" if _git(folder, "status", "--porcelain", "--untracked-files=no") else "")


def _git(folder: Path, *arguments: str) -> str:
    try:
        run = subprocess.run(  # noqa: S603 - fixed arguments
            ["git", "-C", str(folder), *arguments],  # noqa: S607 - whichever git the user has
            capture_output=True,
            timeout=_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return run.stdout.decode("utf-8", "replace").strip() if run.returncode == 0 else ""
