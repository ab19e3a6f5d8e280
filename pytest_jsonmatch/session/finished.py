"""A run that has ended: made by `verdict`, shown by `summary`, written to files by `ci`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_jsonmatch.report.view import RunView
    from pytest_jsonmatch.results.model import ResultSet


@final
@dataclass(frozen=True, slots=True)
class Baseline:
    """The baseline of a run: its name as asked for, its file, and its results; None without a file."""

    name: str
    path: Path
    results: ResultSet | None


@final
@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run that has ended, with everything that is reported of it.

    Args:
        view: the cases with their figures, what they were judged by, and what reports say of them.
        notes: lines about the files that were written, each with its colour or an empty text.
    """

    view: RunView
    notes: tuple[tuple[str, str], ...] = ()
