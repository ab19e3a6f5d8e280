"""The headline statistics of a run with confidence intervals, and its change from a baseline."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from math import fsum
from typing import TYPE_CHECKING, Final, NamedTuple, final

from pytest_jsonmatch.gate.baseline import compare_runs
from pytest_jsonmatch.gate.check import Check
from pytest_jsonmatch.gate.intervals import ratio_interval
from pytest_jsonmatch.gate.statistics import rows_of
from pytest_jsonmatch.gate.verdict import ANY_DROP, DropGate, compare_several
from pytest_jsonmatch.results.limits import SCORES
from pytest_jsonmatch.results.parts import select_variant
from pytest_jsonmatch.results.renaming import find_renaming
from pytest_jsonmatch.results.run import MICRO
from pytest_jsonmatch.results.statistics import OF_CASES, leaf_terms
from pytest_jsonmatch.support.frozen import replace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_jsonmatch.gate.baseline import BaselineDiff
    from pytest_jsonmatch.gate.verdict import Change, RunScores
    from pytest_jsonmatch.results.renaming import Renaming
    from pytest_jsonmatch.results.run import RunResult
    from pytest_jsonmatch.results.statistics import Interval

OF_SCORE: Final = 0.9
"""The share of the error rate that goes to the mean score."""


class Headline(NamedTuple):
    """A statistic with its interval."""

    name: str
    interval: Interval


def headlines(results: RunResult, confidence: float = 0.95) -> list[Headline]:
    """Return statistics with intervals: means over cases, the pass rate, and micro scores (`micro.f1`)."""
    cases = results.cases
    rows = {name: rows_of(cases, OF_CASES[name]) for name in (*SCORES, "pass_rate")}
    rows |= {f"{MICRO}{name}": rows_of(cases, partial(leaf_terms, name, None)) for name in SCORES}
    return [Headline(name, ratio_interval(ratios, confidence)) for name, ratios in rows.items() if ratios]


@final
@dataclass(frozen=True, slots=True)
class RunChange:
    """The change of a run from its baseline: of the mean score, the pass rate, each field, and each tag.

    The levels of a field are its means over the cases that have it, so they do not depend on the other run;
    in the difference, a case without the field counts as 1 if the other run has it there.
    """

    scores: Change
    outcomes: Change
    fields: Mapping[str, Change]
    tags: Mapping[str, Change] = field(default_factory=dict)
    with_field: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """By field, the number of cases in both runs that have it, before and after."""


class Contest(NamedTuple):
    """Two named runs of the same cases: their difference, and which changes are significant."""

    before: str
    after: str
    diff: BaselineDiff
    change: RunChange | None
    """The tested changes; None if the runs are not comparable, or keep only some of their records."""
    renaming: Renaming | None = None
    """How the case ids of the earlier run were changed, if it had another rootdir."""


def contest(
    before: tuple[str, RunResult],
    after: tuple[str, RunResult],
    gate: DropGate = ANY_DROP,
    *,
    by: Sequence[str] = (),
    tests: int = 1,
) -> Contest:
    """Compare two runs, each given with its name; the error rate is divided by the number of `tests`.

    A run and its baseline are one test: whether the run is worse; a run and two baselines are two. Two runs
    without an order, such as two prompts, are two tests, too: whether either is better. If no id is in both
    runs, and one folder before all ids of one run makes them those of the other, they are the same cases
    under another rootdir.
    """
    (name, earlier), (_, later) = before, after
    ids = [[case.id for case in run.cases] for run in (earlier, later)]
    renaming = find_renaming(*ids)
    if renaming is not None:
        earlier = earlier.with_cases(replace(case, id=renaming.apply(case.id)) for case in earlier.cases)
    diff = compare_runs(earlier, later)
    change = None
    if diff.is_comparable and not diff.of_totals:
        gate = replace(gate, confidence=1 - gate.alpha / tests)
        change = change_of_runs(earlier, later, gate, by=by)
    return Contest(name, after[0], diff, change, renaming)


def check_drop(subject: str, change: Change) -> Check:
    """Return the check of the change of the mean score by its gate, which allows a drop."""
    return Check(subject, "drop", change.delta, -change.gate.max_drop, change.passed, change.note)


def contests_of(
    results: RunResult, fixtures: Mapping[str, Sequence[str]], confidence: float
) -> dict[str, list[Contest]]:
    """Compare, for each fixture, the cases with its first value with the cases with each other value.

    All comparisons of the run share one error rate. A fixture is left out if hardly any case ran with several
    of its values: then the values distinguish kinds of cases, not variants of the system.
    """
    pairs = {}
    for name, values in fixtures.items():
        parts = [(value, select_variant(results, name, value)) for value in values]
        ids = [{case.id for case in part.cases if case.has_figures} for _, part in parts]
        if any(len(ids[0] & other_ids) > 1 for other_ids in ids[1:]):
            pairs[name] = [(parts[0], other) for other in parts[1:]]
    gate, tests = DropGate(confidence=confidence), 2 * sum(map(len, pairs.values()))
    return {
        name: [contest(*pair, gate, tests=tests) for pair in pairs_of] for name, pairs_of in pairs.items()
    }


def change_of_runs(
    before: RunResult, after: RunResult, gate: DropGate = ANY_DROP, *, by: Sequence[str] = ()
) -> RunChange:
    """Test the change of a run from an earlier one; the unit is the case, and its runs are averaged.

    All tests are one family: if nothing has changed, at most 1 - confidence of comparisons call anything
    worse. The mean score is tested at nine tenths of that error rate. Pass rate, fields, and the scores for
    each value of the tags that `by` names share the last tenth by Holm's method, or the whole rate where the
    mean score has changed significantly in the same direction (Bretz et al. 2009, A graphical approach to
    sequentially rejective multiple test procedures).
    """
    clusters = clusters_of(before, after)
    mean_score = {"mean score": (_scores(after), _scores(before))}
    (scores,) = compare_several(
        mean_score, gate, clusters=clusters, of_drops=OF_SCORE, of_gains=OF_SCORE
    ).values()
    scored: dict[str, tuple[RunScores, RunScores]] = {"pass rate": (_passes(after), _passes(before))}
    now, then = _field_scores(after), _field_scores(before)
    for path in dict.fromkeys([*now, *then]):
        scored[f"field {path}"] = _both(now.get(path, {}), then.get(path, {}), before, after)
    of_tags = [tag for tag in after.tags if tag.partition("=")[0] in by]
    for tag in of_tags:
        scored[f"tag {tag}"] = _scores(after.tagged(tag)), _scores(before.tagged(tag))
    changes = compare_several(
        scored,
        DropGate(confidence=gate.confidence),
        clusters=clusters,
        of_drops=1.0 if scores.kind == "worse" else 1 - OF_SCORE,
        of_gains=1.0 if scores.kind == "better" else 1 - OF_SCORE,
    )
    outcomes = changes.pop("pass rate")
    tags = {tag: changes.pop(f"tag {tag}") for tag in of_tags}
    fields, with_field = {}, {}
    common = {case.id for case in before.cases} & {case.id for case in after.cases}
    for name, change in changes.items():
        path = name.removeprefix("field ")
        own = [
            [fsum(scores) / len(scores) for case, scores in side.get(path, {}).items() if case in common]
            for side in (then, now)
        ]
        levels = [fsum(means) / len(means) if means else None for means in own]
        fields[path] = replace(change, baseline=levels[0], current=levels[1])
        with_field[path] = len(own[0]), len(own[1])
    return RunChange(scores, outcomes, fields, tags, with_field)


def clusters_of(*runs: RunResult) -> dict[str, str]:
    """Return the clusters of the runs' cases, by case id, as the last run that names one has it."""
    return {case.id: case.cluster for results in runs for case in results.cases if case.cluster}


def _scores(results: RunResult) -> dict[str, list[float]]:
    return {case.id: [run.mean("score") for run in case.runs if run.has_figures] for case in results.scored}


def _passes(results: RunResult) -> dict[str, list[float]]:
    """Return, by case id, 1 or 0 for each of its runs; cases are averaged, so each has the same weight."""
    return {case.id: [float(run.passed) for run in case.runs] for case in results.cases}


def _both(
    now: RunScores, then: RunScores, before: RunResult, after: RunResult
) -> tuple[RunScores, RunScores]:
    """Return the scores of a field in two runs, over the cases that have it in either.

    A run that compared the case but has no result for the field scores 1 there: nothing was expected, and
    there was nothing extra.
    """
    cases = {*now, *then}
    sides = []
    for results, scores in ((after, now), (before, then)):
        perfect = {
            case.id: [1.0] * len(case.runs)
            for case in results.cases
            if case.id in cases and all(run.comparisons for run in case.runs)
        }
        sides.append({**perfect, **scores})
    return sides[0], sides[1]


def _field_scores(results: RunResult) -> dict[str, dict[str, list[float]]]:
    """Return, by field and case, the mean score of each run that has the field."""
    by_field: dict[str, dict[str, list[float]]] = {}
    for case in results.cases:
        for path, scores in case.scores_by_field().items():
            by_field.setdefault(path, {})[case.id] = scores
    return by_field
