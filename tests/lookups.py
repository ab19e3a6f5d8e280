"""Small runs of pytest in one process: what each of them would look up again is looked up once.

A third of the time of such a run went into the names of pytest's own modules, each of which might be a fixture.
"""

from __future__ import annotations

import builtins
import functools
import importlib.metadata
import sys
from importlib.metadata import Distribution, distributions
from types import FunctionType, ModuleType
from typing import Any

import _pytest.fixtures
import pluggy._manager

OWN = ("_pytest.", "pytest_jsonmatch.plugin", "xdist.")
FIXTURE: type = getattr(
    _pytest.fixtures, "FixtureFunctionDefinition", FunctionType
)  # a function before pytest 8.4


def keep_lookups() -> None:
    """Let pytest look up fixtures, hooks and versions of what is installed once in this process."""
    _pytest.fixtures.dir = names_of_fixtures  # type: ignore[attr-defined]
    pluggy._manager.dir = names_of_hooks  # type: ignore[attr-defined]
    importlib.metadata.version = functools.cache(importlib.metadata.version)


def names_of_fixtures(holder: object) -> list[str]:
    """Names of what may be a fixture: of modules of plugins, only those; of anything else, all."""
    if isinstance(holder, ModuleType):
        return names_in(holder)[0] if holder.__name__.startswith(OWN) else builtins.dir(holder)
    return [] if type(holder).__module__.startswith(OWN) else builtins.dir(holder)


def names_of_hooks(holder: object) -> list[str]:
    """Names of what may be a hook: of plugins and their modules, those that pytest takes for hooks."""
    if isinstance(holder, ModuleType):
        return names_in(holder)[1] if holder.__name__.startswith(OWN) else builtins.dir(holder)
    names = builtins.dir(holder)
    if type(holder).__module__.startswith(OWN):
        return [name for name in names if name.startswith("pytest_")]
    return names


@functools.cache
def names_in(module: ModuleType) -> tuple[list[str], list[str]]:
    """Names of fixtures and of hooks in a module."""
    names = builtins.dir(module)
    return (
        [name for name in names if isinstance(getattr(module, name), FIXTURE)],
        [name for name in names if name.startswith("pytest_")],
    )


class Installed:
    """An installed package whose metadata is read once."""

    def __init__(self, found: Distribution) -> None:
        self._found = found

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._found, name)
        if name in ("entry_points", "metadata", "version"):
            setattr(self, name, value)
        return value


def with_entry_points() -> list[Installed]:
    """The installed packages that have entry points: each run of pytest in this process asks all of them."""
    return _with_entry_points(tuple(sys.path))


@functools.cache
def _with_entry_points(_: tuple[str, ...]) -> list[Installed]:
    return [Installed(each) for each in distributions() if each.entry_points]
