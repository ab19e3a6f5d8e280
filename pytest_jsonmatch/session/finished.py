"""A finished run, checked against its gates and its baseline: for the terminal, and for files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import pytest

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.gate.baseline import compare_runs
from pytest_jsonmatch.gate.gates import check_gates
from pytest_jsonmatch.gate.headlines import change_of_runs, headlines
from pytest_jsonmatch.gate.session import Check
from pytest_jsonmatch.gate.verdict import DropGate
from pytest_jsonmatch.report.view import RunView
from pytest_jsonmatch.results.file import read_results
from pytest_jsonmatch.results.model import ResultSet
from pytest_jsonmatch.session import ci
from pytest_jsonmatch.session.outcomes import FAILED_BEFORE
from pytest_jsonmatch.session.session import Baseline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_jsonmatch.gate.baseline import BaselineDiff
    from pytest_jsonmatch.gate.headlines import RunChange
    from pytest_jsonmatch.session.session import Session

_HIDING: Final = frozenset({"--lf", "node ids"})
"""Options that keep cases from being collected, so that their number is unknown."""


def read_baseline(session: Session, name: str) -> Baseline:
    """Return the baseline with a name, or at a path."""
    config, settings = session.config, session.settings
    path = config.invocation_params.dir / name
    is_path = "/" in name or os.sep in name or (name.endswith(".json") and path.exists())
    if not is_path:
        path = config.rootpath / settings.baselines / f"{name.removesuffix('.json')}.json"
    if not path.exists() and not settings.baseline_required:
        return Baseline(name, path, None)
    try:
        return Baseline(name, path, read_results(path))
    except ConfigurationError as error:
        raise pytest.UsageError(f"--jsonmatch-baseline: {error}") from None


def view_of_run(session: Session, narrowed: tuple[str, ...]) -> RunView:
    """Return the run with everything that is computed from all of its tests."""
    settings, outcomes = session.settings, session.outcomes
    cases = outcomes.cases()
    collected = outcomes.collected - outcomes.cases_left_out
    results = ResultSet(
        cases,
        collected=len(collected) if collected and _HIDING.isdisjoint(narrowed) else None,
        narrowed=narrowed,
        judged=bool(outcomes.judged),
    )
    gates = check_gates(settings.gates, results, confidence=settings.confidence)
    diff, change = _compared(session, results)
    return RunView(
        results,
        gates=(*gates, *_baseline_checks(session, diff, change)),
        baseline=settings.baseline or "",
        diff=diff,
        proven=change,
        headlines=headlines(results, settings.confidence) if settings.asks_of_run or settings.reports else (),
        faults=ci.faults(session, results),
        others_failed=outcomes.failed_otherwise,
        # A test that failed before comparing is a case that counts as 0.
        left_out=[each for each in outcomes.left_out.items() if each[0] != FAILED_BEFORE],
        link=ci.link(),
        by=settings.by,
    )


def _compared(session: Session, results: ResultSet) -> tuple[BaselineDiff | None, RunChange | None]:
    """Return how the run differs from its baseline, and what that proves, if they can be compared."""
    if session.baseline is None or session.baseline.results is None:
        return None, None
    before, settings = session.baseline.results, session.settings
    diff = compare_runs(before, results)
    if not diff.is_comparable or session.stopper is not None:
        # A sequential test replaces the ordinary one: using both would make errors more frequent.
        return diff, None
    gate = DropGate(settings.max_drop or 0.0, settings.confidence, settings.drop_mode)
    return diff, change_of_runs(before, results, gate, by=settings.by)


def _baseline_checks(
    session: Session, diff: BaselineDiff | None, change: RunChange | None
) -> Iterator[Check]:
    """Yield the checks of a run against its baseline."""
    settings, limit = session.settings, session.settings.max_drop
    subject = f"--jsonmatch-baseline={settings.baseline}"
    if limit is not None:
        subject = f"--jsonmatch-max-drop={limit:g}"
        if settings.drop_mode != "regression":
            subject += f" ({settings.drop_mode})"
    if diff is not None and not diff.is_comparable:
        note = f"{count(len(diff.mismatches), 'case')} scored in another way"
        yield Check(subject, "comparable", None, 1.0, passed=False, note=note)
    elif limit is None:
        return
    elif diff is None:
        yield Check(subject, "drop", None, limit, passed=None, note="there is no baseline yet")
    elif change is not None:
        words = f"{change.scores.difference}: {change.scores.gate_words.partition(': ')[2]}"
        yield Check(subject, "drop", None, limit, passed=change.scores.passed, note=words.removeprefix(": "))
    elif session.stopper is not None and (decision := session.stopper.decision) is not None:
        yield Check(subject, "drop", None, limit, passed=decision.passed, note=decision.reason)
