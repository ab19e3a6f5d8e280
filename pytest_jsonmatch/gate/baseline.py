"""Compare a run with an earlier one, case by case and field by field."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.value.text import natural_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_jsonmatch.results.comparison import Case
    from pytest_jsonmatch.results.kindtotals import RunKind
    from pytest_jsonmatch.results.run import RunResult
    from pytest_jsonmatch.results.totals import Totals


class Delta(NamedTuple):
    """The score of a case or, under one metric, of a field in two runs."""

    name: str
    before: float
    after: float
    metric: str = ""

    @property
    def change(self) -> float:
        """The change from before to after: below 0 for a loss."""
        return self.after - self.before


class Mismatch(NamedTuple):
    """A case whose two scores can't be compared, because they have different signatures."""

    case: str
    before: str
    after: str

    @property
    def difference(self) -> str:
        """The parts of the two signatures that differ.

        >>> Mismatch("a", "m|options:none|schema:1f|rules:2", "m|options:none|schema:2e|rules:2").difference
        'schema:1f, now schema:2e'
        """
        before, after = self.before.split("|"), self.after.split("|")
        if len(before) != len(after):
            return f"{self.before}, now {self.after}"
        pairs = [(old, new) for old, new in zip(before, after) if old != new]
        return "; ".join(f"{old}, now {new}" for old, new in pairs)


@final
@dataclass(frozen=True, slots=True)
class BaselineDiff:
    """The difference between two runs: changes of scores, and cases that only one of them has.

    Args:
        before: the earlier run.
        after: the later run.
        cases: the scores of each case in both runs, named by its id.
        fields: the scores of each field in both runs, for each metric; over the cases in both runs or, if
            `of_totals`, over all records.
        new: cases that only the later run has.
        vanished: cases that only the earlier run has.
        mismatches: cases whose scores can't be compared.
        kinds: the kinds of differences in both runs, of the same cases as `fields`.
    """

    before: RunResult
    after: RunResult
    cases: tuple[Delta, ...]
    fields: tuple[Delta, ...]
    new: tuple[str, ...]
    vanished: tuple[str, ...]
    mismatches: tuple[Mismatch, ...]
    kinds: tuple[Mapping[str, RunKind], Mapping[str, RunKind]] = ({}, {})

    @property
    def score(self) -> Delta | None:
        """The mean score of the cases in both runs, or of all records (`of_totals`); None without any."""
        if self.of_totals:
            means = self.before.mean("score"), self.after.mean("score")
            return None if means[0] is None or means[1] is None else Delta("score", means[0], means[1])
        if not self.cases:
            return None
        number = len(self.cases)
        before = fsum(delta.before for delta in self.cases) / number
        after = fsum(delta.after for delta in self.cases) / number
        return Delta("score", before, after)

    @property
    def of_totals(self) -> bool:
        """Whether a run keeps only some records as cases, so that only totals can be compared."""
        return self.before.is_partial or self.after.is_partial

    @property
    def is_comparable(self) -> bool:
        """Whether all cases in both runs have the same signatures."""
        return not self.mismatches


def compare_runs(before: RunResult, after: RunResult) -> BaselineDiff:
    """Compare a run with an earlier one, matching cases by id."""
    old = {case.id: case for case in before.cases}
    new = {case.id: case for case in after.cases}
    both = [name for name in old if name in new]
    deltas = [
        Delta(name, old[name].mean("score"), new[name].mean("score"))
        for name in both
        if old[name].has_figures and new[name].has_figures
    ]
    # If a corpus keeps only some records, a case that one run lacks may just not have been kept.
    partial = before.is_partial or after.is_partial
    sides = [*_common(before, after, both)]
    mismatches = [*_mismatches(both, old, new)]
    if partial:
        sides = [before, after]
        signatures = str(before.signature), str(after.signature)
        mismatches = [Mismatch("all records", *signatures)] if len({*signatures}) > 1 else []
    return BaselineDiff(
        before,
        after,
        cases=tuple(deltas),
        fields=tuple(_fields(*(side.totals_by_metric for side in sides))),
        new=() if partial else tuple(sorted(new.keys() - old.keys(), key=natural_key)),
        vanished=() if partial else tuple(sorted(old.keys() - new.keys(), key=natural_key)),
        mismatches=tuple(mismatches),
        kinds=(sides[0].kinds, sides[1].kinds),
    )


def _common(before: RunResult, after: RunResult, names: Sequence[str]) -> Iterator[RunResult]:
    """Yield both runs with their common cases."""
    common = {*names}
    return (run.with_cases(case for case in run.cases if case.id in common) for run in (before, after))


_ByMetric: TypeAlias = "Mapping[str, Totals]"


def _fields(old: _ByMetric, new: _ByMetric) -> Iterator[Delta]:
    """Yield the scores of fields that both runs have, largest loss first."""
    deltas = []
    for metric in old.keys() & new.keys():
        fields = old[metric].fields, new[metric].fields
        for path in fields[0].keys() & fields[1].keys():
            scores = [sums[path].rate("score") for sums in fields]
            if scores[0] is not None and scores[1] is not None:
                deltas.append(Delta(path, scores[0], scores[1], metric))
    yield from sorted(deltas, key=lambda delta: (delta.change, delta.name, delta.metric))


def _mismatches(names: Sequence[str], old: Mapping[str, Case], new: Mapping[str, Case]) -> Iterator[Mismatch]:
    for name in names:
        # `zip` stops at the shorter list: a comparison that a failed case never reached is not a mismatch.
        for before, after in zip(signatures_of(old[name]), signatures_of(new[name])):
            if before != after:
                yield Mismatch(name, before, after)
                break


def signatures_of(case: Case) -> list[str]:
    """Return the signatures of the comparisons in the first run of a case that has comparisons."""
    for run in case.runs:
        if run.comparisons:
            return [comparison.signature for comparison in run.comparisons]
    return []
