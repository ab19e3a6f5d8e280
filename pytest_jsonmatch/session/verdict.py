"""The end of a run: check gates and the baselines, and set the exit status; nothing else sets it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_jsonmatch.comparing.running import plain_nodeid
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.session.options import ci_variable, usage_errors
from pytest_jsonmatch.session.rules import list_unmatched, warn_about_rules
from pytest_jsonmatch.session.running_test import is_meant_to_compare
from pytest_jsonmatch.session.session import Baseline
from pytest_jsonmatch.support.atomic import refuse_to_replace
from pytest_jsonmatch.support.frozen import replace

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    from pytest_jsonmatch.gate.check import Check
    from pytest_jsonmatch.gate.headlines import Contest
    from pytest_jsonmatch.report.blocks import Report
    from pytest_jsonmatch.results.run import RunResult
    from pytest_jsonmatch.session.session import Session

# Gates, results and reports are imported in functions, since most runs need none of them.

_LAST_FAILED: Final = "cache/lastfailed"


# -- before anything runs ----------------------------------------------------------------------------------


def prepare(session: Session) -> None:
    """Read the baselines, and check that reports can be written; raise `pytest.UsageError` if not."""
    settings = session.settings
    for option, path, form in _outputs(session):
        if problem := refuse_to_replace(path, form):
            raise pytest.UsageError(f"{option}: {path} {problem}")
    session.baselines = [_read_baseline(session, name) for name in dict.fromkeys(settings.baseline)]
    if settings.html is not None:
        from pytest_jsonmatch.report.html import check_installed

        with usage_errors("--jsonmatch-html"):
            check_installed()


def _outputs(session: Session) -> Iterator[tuple[str, Path, str]]:
    """Yield the option, the path and the form of each file that the run will write."""
    settings, config = session.settings, session.config
    for form in ("json", "html", "markdown"):
        if (name := getattr(settings, form)) is not None:
            yield f"--jsonmatch-{form}", config.invocation_params.dir / name, form
    if settings.save is not None:
        path = config.rootpath / settings.baselines / f"{settings.save}.jsonl"
        yield "--jsonmatch-save", path, "json"


def _read_baseline(session: Session, name: str) -> Baseline:
    """Return the baseline with a name or at a path; in CI it must exist, or the run must save it."""
    from pytest_jsonmatch.engine.value.errors import find_closest
    from pytest_jsonmatch.results.file import read_results

    config, settings = session.config, session.settings
    path = config.invocation_params.dir / name
    short = name.removesuffix(".jsonl")
    is_path = "/" in name or os.sep in name or (path.suffix.startswith(".json") and path.exists())
    if not is_path:
        path = config.rootpath / settings.baselines / f"{short}.jsonl"
    if path.exists():
        with usage_errors("--jsonmatch-baseline"):
            return Baseline(name, path, read_results(path))
    near = find_closest(path.stem, [other.stem for other in path.parent.glob("*.jsonl")])
    hint = "" if near is None else f"; did you mean {near!r}?"
    variable = ci_variable()
    if variable is not None and (is_path or settings.save != short):
        raise pytest.UsageError(
            f"--jsonmatch-baseline: there is no {path}{hint or '; --jsonmatch-save=NAME creates a baseline'} "
            f"(in CI, where {variable} is set, a baseline must exist)"
        )
    return Baseline(name, path, None, hint)


def note_collected_cases(session: Session, items: Iterable[pytest.Item]) -> None:
    """Note the cases among all collected tests, before some are deselected."""
    found = sorted({*_cases_of(item for item in items if is_meant_to_compare(item))})
    session.finished.collected.update(found)
    session.collected = found


def _cases_of(items: Iterable[pytest.Item]) -> Iterator[str]:
    """Yield, for each test, the id of its case."""
    for item in items:
        repetition = None
        if is_meant_to_compare(item):
            from pytest_jsonmatch.golden.collector import (
                repetition_of,  # late, since there may be no golden cases
            )

            repetition = repetition_of(item)
        yield plain_nodeid(item) if repetition is None else repetition.case


# -- at the end --------------------------------------------------------------------------------------------

# Any other status may be from `pytest.exit(returncode=...)`, which ends a run like an interrupt.
_WITHOUT_RESULTS: Final = frozenset(
    {pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED}
)
_NARROWING: Final = (
    ("keyword", "-k"),
    ("markexpr", "-m"),
    ("lf", "--lf"),
    ("deselect", "--deselect"),
    ("stepwise", "--stepwise"),
)
_INTERRUPTED: Final = "interrupted"  # as in `results.run`, which most runs need not import
_STOPPED: Final = "stopped early"
_LF: Final = "--lf"
_HIDING: Final = frozenset({_LF, "node ids"})
"""Options under which some cases are not collected, so that their number is unknown."""


def finish(pytest_session: pytest.Session, session: Session) -> None:
    """Judge a run, write its files, and set the exit status.

    Everything that can fail the run is checked, even if something else has already failed it.
    """
    narrowed = _narrowed(pytest_session, session)
    may_judge = pytest_session.exitstatus not in _WITHOUT_RESULTS
    option = session.config.option
    only_shows = any(getattr(option, name, False) for name in ("collectonly", "setuponly", "setupplan"))
    failed = [
        may_judge and not only_shows and _fails_by_results(session, narrowed),
        may_judge and _INTERRUPTED not in narrowed and _fails_by_updates(session),
        session.writer is not None and bool(session.writer.problem),
        not only_shows and _fails_by_rules(session, narrowed),
    ]
    if any(failed) and pytest_session.exitstatus == pytest.ExitCode.OK:
        pytest_session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _fails_by_results(session: Session, narrowed: tuple[str, ...]) -> bool:
    """Judge the results and write files; return whether a check failed or a file could not be written."""
    settings, finished = session.settings, session.finished
    if not (settings.asks_of_run or finished.runs or (finished and settings.reports)):
        return False
    from pytest_jsonmatch.session import ci

    verdict = session.verdict
    results = _results(session, narrowed)
    verdict.report = _report(session, results)
    _remember(session)
    are_written = ci.write_files(session, results, verdict.report)
    return not are_written or any(check.passed is False for check in (*verdict.gates, *verdict.repeated))


def _fails_by_updates(session: Session) -> bool:
    """Write golden files if requested; return whether one could not be written."""
    if not session.settings.writes_cases:
        return False
    from pytest_jsonmatch.session import updating

    session.verdict.updates = updating.write(session)
    # A test may have passed because its case was about to be updated.
    return not session.settings.dry_run and any(update.refused for update in session.verdict.updates)


def _fails_by_rules(session: Session, narrowed: tuple[str, ...]) -> bool:
    """Warn about rules that match nothing; return whether a warning filter turns that into an error."""
    finished = session.finished
    unmatched = list_unmatched(finished.rules, is_part=bool(narrowed), broken=finished.broken_files)
    session.verdict.rule_errors = warn_about_rules(session.config, unmatched)
    return bool(session.verdict.rule_errors)


def _narrowed(pytest_session: pytest.Session, session: Session) -> tuple[str, ...]:
    """Return the reasons why cases may not have run: options, or an early end of the run."""
    option = pytest_session.config.option
    reasons = [flag for name, flag in _NARROWING if getattr(option, name, None)]
    if any("::" in argument for argument in pytest_session.config.args):
        reasons.append("node ids")
    if not session.is_complete:
        is_stopped = pytest_session.exitstatus == pytest.ExitCode.TESTS_FAILED
        reasons.append(_STOPPED if is_stopped else _INTERRUPTED)
    return tuple(reasons)


def _results(session: Session, narrowed: tuple[str, ...]) -> RunResult:
    """Return the run, with its origin if that is written or shown."""
    from pytest_jsonmatch.results.origin import with_origin
    from pytest_jsonmatch.results.run import RunResult

    settings, outcomes = session.settings, session.finished
    collected = outcomes.collected - outcomes.cases_left_out
    results = RunResult.of_cases(
        outcomes.cases(),
        collected=len(collected) if collected and _HIDING.isdisjoint(narrowed) else None,
        narrowed=narrowed,
        judged=bool(outcomes.judge_usages),
        has_only_gates=session.has_only_gates,
    )
    is_kept = any(target is not None for target in (settings.json, settings.save, settings.html))
    return with_origin(results, session.config.rootpath) if is_kept else results


def _report(session: Session, results: RunResult) -> Report:
    """Check the gates and the baselines of a run, and return its report."""
    from pytest_jsonmatch.gate.gates import check_gates
    from pytest_jsonmatch.gate.headlines import contest
    from pytest_jsonmatch.gate.verdict import DropGate
    from pytest_jsonmatch.report.baseline_report import THIS
    from pytest_jsonmatch.report.build import ReportRequest, build
    from pytest_jsonmatch.report.case_tables import repeated_checks
    from pytest_jsonmatch.session import ci

    settings, outcomes, rootdir = session.settings, session.finished, session.config.rootpath
    gate = DropGate(settings.max_drop or 0.0, settings.confidence, settings.drop_mode)
    existing = sum(baseline.results is not None for baseline in session.baselines)
    contests = {
        baseline.name: None
        if baseline.results is None
        else contest((baseline.name, baseline.results), (THIS, results), gate, by=settings.by, tests=existing)
        for baseline in session.baselines
    }
    checks = check_gates(settings.gates, results, confidence=settings.confidence)
    session.verdict.gates = _judge_checks(
        session, checks, [*_baseline_checks(session, contests)], results.narrowed
    )
    session.verdict.repeated = repeated_checks(results)
    page = None
    if settings.html is not None:
        from pytest_jsonmatch.report.cases_page import PageExtra

        page = PageExtra(outcomes.details(), outcomes.sources())
    request = ReportRequest(
        f"jsonmatch report of {rootdir.name}" if rootdir.name else "jsonmatch",
        gates=session.verdict.gates,
        baselines=contests,
        confidence=settings.confidence,
        has_intervals=settings.asks_of_run or settings.reports,
        by=settings.by,
        locate_failure=ci.failure_locator(session),
        page=page,
        others_failed=outcomes.failed_otherwise,
        # A test that failed before comparing is a case that counts as 0.
        left_out=[*outcomes.left_out.items()],
        link=ci.link(),
    )
    return build(results, request)


def _judge_checks(
    session: Session, gates: list[Check], of_baseline: list[Check], narrowed: Collection[str]
) -> list[Check]:
    """Return all checks; those that can't be judged have no verdict, and a note says why.

    Gates of the configuration file are for the whole suite, while `--lf` runs only the tests that failed.
    """
    from pytest_jsonmatch.report.styled import YELLOW

    given = [is_given for _, is_given in session.settings.gates]
    shown: list[Check] = []
    reason = ""
    if _INTERRUPTED in narrowed:
        shown, gates, of_baseline = [*gates, *of_baseline], [], []
        reason = "gates are not checked: the run was interrupted"
    elif _LF in narrowed:
        # Gates of the file come first; the check for batch errors comes last, and belongs to all gates.
        number = given.count(False) if any(given) else len(gates)
        shown, gates = gates[:number], gates[number:]
        reason = "gates of the configuration file are not checked under --lf"
    if shown:
        session.verdict.notes.append([(reason, YELLOW)])
    return [*(replace(check, passed=None) for check in shown), *gates, *of_baseline]


def _baseline_checks(session: Session, contests: Mapping[str, Contest | None]) -> Iterator[Check]:
    """Yield the checks of a run against each of its baselines."""
    from pytest_jsonmatch.gate.check import Check
    from pytest_jsonmatch.gate.headlines import check_drop

    settings, limit = session.settings, session.settings.max_drop
    for name, pair in contests.items():
        subject = f"--jsonmatch-max-drop={limit or 0.0:g}{f' from {name}' if len(contests) > 1 else ''}"
        if settings.drop_mode != "regression":
            subject += f" ({settings.drop_mode})"
        if pair is not None and not pair.diff.is_comparable:
            subject = f"--jsonmatch-baseline={name}" if limit is None else subject
            note = f"{count(len(pair.diff.mismatches), 'case')} scored in another way"
            yield Check(subject, "comparable", None, 1.0, passed=False, note=note)
        elif limit is not None and pair is None:
            yield Check(subject, "drop", None, -limit, passed=None, note="there is no baseline yet")
        elif limit is not None and pair is not None and pair.change is not None:
            yield check_drop(subject, pair.change.scores)


def _remember(session: Session) -> None:
    """Add the runs of failed cases to the tests that `--lf` runs again, since pytest saw them pass."""
    cache = getattr(session.config, "cache", None)
    failed = [check.subject for check in session.verdict.repeated if check.passed is False]
    if cache is not None and failed:
        remembered: dict[str, Any] = cache.get(_LAST_FAILED, {})
        remembered.update((nodeid, True) for case in failed for nodeid in session.finished.runs[case])
        cache.set(_LAST_FAILED, remembered)
