"""The headline figures of a run with their confidence intervals, and a run against its baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, final

from pytest_jsonmatch.gate.intervals import mean_interval, wilson
from pytest_jsonmatch.gate.verdict import compare, compare_fields, compare_outcomes
from pytest_jsonmatch.results.model import FIGURES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_jsonmatch.gate.intervals import Interval
    from pytest_jsonmatch.gate.margin import Mode
    from pytest_jsonmatch.gate.verdict import Change, FieldChange
    from pytest_jsonmatch.results.model import Case, ResultSet


class Headline(NamedTuple):
    """A figure, and where the true one lies."""

    name: str
    interval: Interval


def headlines(results: ResultSet, confidence: float = 0.95) -> list[Headline]:
    """Return the means of the cases' figures and their pass rate, with intervals; none without cases."""
    cases = results.cases
    if not cases:
        return []
    scored = results.scored
    found = [
        Headline(name, mean_interval([case.figure(name) for case in scored], confidence))
        for name in FIGURES
        if scored
    ]
    passed = sum(case.passed for case in cases)
    return [*found, Headline("pass_rate", wilson(passed, len(cases), confidence))]


def field_headlines(results: ResultSet, confidence: float = 0.95) -> list[Headline]:
    """Return the mean score of each field over the cases that have it, and its interval, lowest first."""
    by_field = _field_scores(results)
    found = [
        Headline(path, mean_interval([sum(runs) / len(runs) for runs in cases.values()], confidence))
        for path, cases in by_field.items()
    ]
    return sorted(found, key=lambda each: (each.interval.estimate, each.name))


@final
@dataclass(frozen=True, slots=True)
class RunChange:
    """A run against its baseline: by scores, by which cases passed, and by field."""

    scores: Change
    outcomes: Change
    fields: Mapping[str, FieldChange]

    def sentences(self) -> Iterator[tuple[str, str]]:
        """Yield what is to be said, each with its kind: of scores, of cases that pass, of fields."""
        yield self.scores.kind, self.scores.words
        if self.outcomes.kind in {"regression", "improvement"}:
            yield self.outcomes.kind, f"which cases pass: {self.outcomes.words}"
        for each in self.fields.values():
            if each.kind in {"regression", "improvement"}:
                yield each.kind, f"field {each.words}"


def change_of_runs(
    before: ResultSet,
    after: ResultSet,
    *,
    max_drop: float = 0.0,
    confidence: float = 0.95,
    mode: Mode = "regression",
) -> RunChange:
    """Return what a run against an earlier one proves; the unit is the case, its runs are averaged."""
    scores = compare(_scores(after), _scores(before), max_drop=max_drop, confidence=confidence, mode=mode)
    outcomes = compare_outcomes(_outcomes(after), _outcomes(before), confidence=confidence)
    fields = compare_fields(_field_scores(after), _field_scores(before), confidence=confidence)
    return RunChange(scores, outcomes, fields)


def _scores(results: ResultSet) -> dict[str, list[float]]:
    return {case.id: [run.figure("score") for run in case.runs if run.has_figures] for case in results.scored}


def _outcomes(results: ResultSet) -> dict[str, bool]:
    return {case.id: case.passed for case in results.cases}


def _field_scores(results: ResultSet) -> dict[str, dict[str, list[float]]]:
    """Return by field, and then by case, the mean score of each run that has the field."""
    found: dict[str, dict[str, list[float]]] = {}
    for case in results.cases:
        for path, scores in _of_case(case).items():
            found.setdefault(path, {})[case.id] = scores
    return found


def _of_case(case: Case) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for run in case.runs:
        sums: dict[str, list[float]] = {}
        for comparison in run.comparisons:
            for path, figures in comparison.fields.items():
                if figures.total:
                    of_field = sums.setdefault(path, [0.0, 0.0])
                    of_field[0] += figures.score_sum
                    of_field[1] += figures.total
        for path, (score, total) in sums.items():
            found.setdefault(path, []).append(min(score / total, 1.0))
    return found
