"""A run that has come to its end: made by `verdict`, shown by `summary`, left behind by `ci`."""

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
    """What a run is compared with: the name that it was asked for by, its file, and what is in it.

    `results` is None where there is no such file yet.
    """

    name: str
    path: Path
    results: ResultSet | None


@final
@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run that has come to its end, and everything that is said of it.

    Args:
        results: the cases with their figures.
        repeats: the cases that ran several times.
        checks: what the run was held against.
        on: what was evaluated, such as "12 of 80 cases (-k)".
        baseline: what it is compared with; None without one.
        diff: how it differs from that.
        change: what that difference proves.
        headlines: the figures with their intervals; none where nothing is asked of the run.
        report: what files and annotations for CI are made of; None where nobody wants any.
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
