"""A run that has ended: made by `verdict`, shown by `summary`, written to files by `ci`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_jsonmatch.gate.baseline import BaselineDiff
    from pytest_jsonmatch.gate.headlines import Headline, RunChange
    from pytest_jsonmatch.gate.repeats import Repeats
    from pytest_jsonmatch.gate.session import Checks
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
        results: the cases with their figures.
        repeats: the cases that ran several times.
        checks: gates, and cases that failed as a whole.
        on: the extent of the run, such as "12 of 80 cases (-k)".
        baseline: None without one.
        diff: how it differs from the baseline.
        change: what that difference proves.
        headlines: the figures with their intervals; none if nothing is asked of the run.
        report: the view that reports and annotations are made from; None without any.
        notes: lines about the files that were written, each with its colour or an empty text.
    """

    results: ResultSet
    repeats: Repeats
    checks: Checks
    on: str
    baseline: Baseline | None
    diff: BaselineDiff | None
    change: RunChange | None
    headlines: tuple[Headline, ...]
    report: RunView | None
    notes: tuple[tuple[str, str], ...] = ()
