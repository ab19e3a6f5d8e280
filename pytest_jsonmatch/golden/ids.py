"""The ids of cases: which are valid, and how they are made from files, values and runs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

# Names that have a meaning for pytest in a module.
XUNIT_NAMES: Final = frozenset(
    f"{when}{what}"
    for when in ("setup", "teardown")
    for what in ("", "_module", "_function", "_class", "_method")
) | {"setUpModule", "tearDownModule"}
_ID: Final = re.compile(r"[\w.@+-]+")
_NOT_IN_IDS: Final = re.compile(r"[^\w.@+-]+")


def bad_id(value: str) -> str | None:
    """Return why a test can't have this name; None if it can.

    >>> bad_id("setup_module")
    "'setup_module' is a name that pytest reserves; choose another"
    """
    if _ID.fullmatch(value) is None:
        return f"{value!r} can't name a test: use letters, digits and _ . @ + -, and put prose into `title`"
    if value in XUNIT_NAMES or value.startswith("pytest_") or value == "pytestmark":
        return f"{value!r} is a name that pytest reserves; choose another"
    if value.startswith("__"):
        return f"{value!r} begins with two underscores, as Python's own names do; choose another"
    return None


def as_id(text: str) -> str:
    """Return a text as a part of an id; empty if nothing of it can be in one.

    >>> as_id("Ann's Café"), as_id("?!")
    ('Ann-s-Café', '')
    """
    return _NOT_IN_IDS.sub("-", text).strip("-")


def id_of_file(path: Path) -> str:
    """Return a file's name as the id of its one case: `Blue Café (1).golden.yaml` gives `Blue-Café-1`."""
    stem = re.sub(r"(\.golden)?\.(yaml|yml|json)$", "", path.name, flags=re.IGNORECASE)
    case_id = as_id(stem).strip("-.")
    return case_id if case_id and bad_id(case_id) is None else f"case-{case_id.strip('_')}".rstrip("-")


def ids_of_runs(case_id: str, runs: int) -> list[str]:
    """Return the ids of the runs of a case.

    >>> ids_of_runs("a", 1), ids_of_runs("a", 2)
    (['a'], ['a@1', 'a@2'])
    """
    return [case_id] if runs == 1 else [f"{case_id}@{run}" for run in range(1, runs + 1)]
