"""A run as it is kept: cases, their runs, and what was compared in each.

The unit is the case. What one case says more often (several runs, several comparisons in a test) counts as
one: means are per run first, then per case, then over cases.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import fsum
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, final

from pytest_jsonmatch.answer import Spent
from pytest_jsonmatch.engine.plan.options import PRESETS
from pytest_jsonmatch.engine.result.absence import Presence, merge_presence
from pytest_jsonmatch.engine.result.figures import COUNTED, FieldAggregation, with_fabrications
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.paths import parse_path
from pytest_jsonmatch.limits import FIGURES
from pytest_jsonmatch.results.comparison import Comparison

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_jsonmatch.corpus.tags import Tags
    from pytest_jsonmatch.engine.value.paths import Segment

MICRO: Final = "micro."
"""Begins the name of a figure that is not a mean of cases, but of all leaves together."""
_UNKNOWN: Final = Spent()
Verdict: TypeAlias = Literal["passed", "failed", "undecided"]

# A share that is exactly its limit reaches it, whatever the division made of it.
_SLACK: Final = 1e-12


@final
@dataclass(frozen=True, slots=True)
class CaseRun:
    """One run of a case.

    Args:
        number: which of the case's runs, counted from 1.
        passed: whether its test passed.
        comparisons: what was compared, in order.
        error: what came to no figures, such as a producer that raised; then every figure is 0.
    """

    number: int
    passed: bool
    comparisons: tuple[Comparison, ...] = ()
    error: str = ""

    def figure(self, name: str) -> float:
        """Return the mean of one of `FIGURES` over what was compared; 0 after an error."""
        if self.error:
            return 0.0
        return _mean([getattr(each, name) for each in self.comparisons if each.has_figures]) or 0.0

    @property
    def has_figures(self) -> bool:
        """Whether there is anything to count: an error counts as 0, batch errors alone do not count."""
        return bool(self.error) or not self.comparisons or any(each.has_figures for each in self.comparisons)

    @property
    def spent(self) -> tuple[Spent, ...]:
        """What each answer of the run took: one, of which nothing is known, if nobody says."""
        return tuple(each.spent for each in self.comparisons if each.spent is not None) or (_UNKNOWN,)


@final
@dataclass(frozen=True, slots=True)
class Case:
    """One case: a test that compares, or a golden case with all of its runs.

    Args:
        id: its node id, without the number of a run.
        runs: the runs that have come to their end, by number.
        of: how many runs there should be.
        min_pass_rate: the share of them that has to pass; None where each has to.
        cluster: what it belongs to, such as its document; empty where it stands alone.
        tags: what it is like, by name; what is compared in it may have more.

    >>> Case("a", (CaseRun(1, passed=True), CaseRun(2, passed=False)), of=5, min_pass_rate=0.6).verdict
    'undecided'
    """

    id: str
    runs: tuple[CaseRun, ...]
    of: int = 1
    min_pass_rate: float | None = None
    cluster: str = ""
    tags: Tags = field(default_factory=dict)

    @classmethod
    def single(cls, comparison: Comparison, **more: Any) -> Case:
        """Return a case of one run in which one comparison was made; `more` are other fields."""
        return cls(comparison.id, (CaseRun(1, comparison.passed, (comparison,)),), **more)

    @property
    def unit(self) -> str:
        """What is independent of other cases: its cluster, or the case where it stands alone."""
        return self.cluster or self.id

    @property
    def passed_runs(self) -> int:
        """How many runs passed."""
        return sum(run.passed for run in self.runs)

    @property
    def pass_rate(self) -> float:
        """The share of the runs that passed."""
        return self.passed_runs / len(self.runs)

    @property
    def verdict(self) -> Verdict:
        """Whether enough runs passed, as far as that is sure without those that are missing."""
        wanted = 1.0 if self.min_pass_rate is None else self.min_pass_rate
        missing = self.of - len(self.runs)
        if (self.passed_runs + missing) / self.of < wanted - _SLACK:
            return "failed"
        return "passed" if self.passed_runs / self.of >= wanted - _SLACK else "undecided"

    @property
    def passed(self) -> bool:
        """Whether the case passes; where runs are missing, by those that there are."""
        wanted = 1.0 if self.min_pass_rate is None else self.min_pass_rate
        return self.pass_rate >= wanted - _SLACK

    def figure(self, name: str) -> float:
        """Return the mean of a figure over the runs that have figures."""
        return _mean([run.figure(name) for run in self.runs if run.has_figures]) or 0.0

    def scores_by_field(self) -> dict[str, list[float]]:
        """Return by field the mean score of each run that has the field."""
        found: dict[str, list[float]] = {}
        for run in self.runs:
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

    @property
    def has_figures(self) -> bool:
        """Whether any run has figures; a case without is left out of means."""
        return any(run.has_figures for run in self.runs)

    @property
    def is_complete(self) -> bool:
        """Whether all runs have come to their end, and compared something."""
        return len(self.runs) == self.of and all(run.comparisons for run in self.runs)


@final
class Answers(NamedTuple):
    """What is said of answers as such, beside how right they are.

    >>> Answers(texts=4, parsed=3, valid=1, validated=2).rates
    {'parse_rate': 0.75, 'valid_rate': 0.5}
    """

    texts: int = 0
    """How many are text."""
    parsed: int = 0
    """How many of these have JSON in them."""
    valid: int = 0
    """How many their schema allows."""
    validated: int = 0
    """How many were held against a schema, or had no JSON that could be."""
    not_validated: int = 0
    """How many the validator can't take."""

    @classmethod
    def of(cls, comparisons: Iterable[Comparison]) -> Answers:
        """Return what comparisons say of their answers."""
        listed = list(comparisons)
        parsed = Counter(each.parsed for each in listed)
        valid = Counter(each.validity for each in listed)
        return cls(
            texts=parsed[True] + parsed[False],
            parsed=parsed[True],
            valid=valid["valid"],
            validated=valid["valid"] + valid["invalid"],
            not_validated=valid["not validated"],
        )

    @property
    def rates(self) -> dict[str, float]:
        """`parse_rate` and `valid_rate`, where there is anything to divide by."""
        found = {}
        if self.texts:
            found["parse_rate"] = self.parsed / self.texts
        if self.validated:
            found["valid_rate"] = self.valid / self.validated
        return found


_NO_ANSWERS: Final = Answers()


@final
@dataclass(frozen=True, slots=True)
class Corpus:
    """The figures of a whole corpus, of whose records not all need be cases.

    Args:
        metric: the metric's name.
        signature: what all records were scored with.
        records: how many gold records there are.
        answered: how many of them have an answer.
        perfect: how many score 1.
        means: the mean of each figure over the records that have figures; empty without any.
        fields: aggregates by schema path, over all records.
        errors: how much went wrong without ending the run.
        approximate: how many records have an array that was too large to be paired exactly.
        unscored: how many records have no figures: batch errors have left nothing to count.
        answers: what is said of answers as such.
        by_tag: the figures of the records that have a tag, by the tag as `source=phone`.
    """

    metric: str
    signature: str
    records: int
    answered: int
    perfect: int
    means: Mapping[str, float] = field(default_factory=dict)
    fields: Mapping[str, FieldAggregation] = field(default_factory=dict)
    errors: int = 0
    approximate: int = 0
    unscored: int = 0
    answers: Answers = _NO_ANSWERS
    by_tag: Mapping[str, Corpus] = field(default_factory=dict)

    @property
    def as_case(self) -> Case:
        """The figures of all records as those of one case, of which tables read the fields."""
        failed = sum(each.batch_errors for each in self.fields.values())
        counts = {"batch_error": failed} if failed else {}
        score, precision, recall, f1 = (self.means.get(name, 0.0) for name in FIGURES)
        figures = self.metric, self.signature, score, precision, recall, f1
        return Case.single(Comparison("", "", *figures, passed=True, fields=self.fields, counts=counts))


@final
@dataclass(frozen=True, slots=True)
class ResultSet:
    """The cases of a run, by id, and what the run was.

    Args:
        cases: the cases that count: not those skipped or expected to fail.
        created: when, as ISO 8601 with a zone; empty if that does not matter.
        commit: the git commit, with "+" after it if the tree was not clean; empty without one.
        versions: of this package, Python, pytest and what scores depend on, by name.
        collected: how many cases there were to choose from; None if nobody knows.
        narrowed: why not all cases may be here, such as "-k".
        corpus: the figures of all records, where the cases are records of a corpus; they outweigh the cases'.
        judged: whether a judge was asked, which may err: no interval knows how often.
    """

    cases: tuple[Case, ...] = ()
    created: str = ""
    commit: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    collected: int | None = None
    narrowed: tuple[str, ...] = ()
    corpus: Corpus | None = None
    judged: bool = False

    @property
    def number(self) -> int:
        """How many cases the figures are of: more than there are here if a corpus keeps only some."""
        return len(self.cases) if self.corpus is None else self.corpus.records

    @property
    def noun(self) -> str:
        """What there are several of."""
        return "case" if self.corpus is None else "record"

    @property
    def is_partial(self) -> bool:
        """Whether records of the corpus are not here as cases."""
        return self.number > len(self.cases)

    def mean(self, name: str) -> float | None:
        """Return the mean of a figure over the cases that have figures; None without any."""
        if self.corpus is not None:
            return self.corpus.means.get(name)
        return _mean([case.figure(name) for case in self.scored])

    @property
    def scored(self) -> tuple[Case, ...]:
        """The cases that have figures: where batch errors have left nothing to count, there are none."""
        return tuple(case for case in self.cases if case.has_figures)

    @property
    def unscored(self) -> int:
        """How many cases or records have no figures."""
        if self.corpus is not None:
            return self.corpus.unscored
        return len(self.cases) - len(self.scored)

    @property
    def pass_rate(self) -> float | None:
        """The share of the cases that pass, of the records that score 1; None without cases."""
        if self.corpus is not None:
            return self.corpus.perfect / self.corpus.records if self.corpus.records else None
        return _mean([float(case.passed) for case in self.cases])

    @property
    def comparisons(self) -> Iterable[Comparison]:
        """Everything that was compared."""
        return comparisons_of(self.cases)

    @property
    def answers(self) -> Answers:
        """What is said of all answers as such."""
        return Answers.of(self.comparisons) if self.corpus is None else self.corpus.answers

    @property
    def completeness(self) -> float | None:
        """The share of the cases there were to choose from that have come to their end.

        None without any, or if something kept cases from running and nobody knows how many. Of a corpus: the
        share of the gold records that have an answer.
        """
        if self.corpus is not None:
            return self.corpus.answered / self.corpus.records if self.corpus.records else None
        if self.narrowed and self.collected is None:
            return None
        complete = sum(case.is_complete for case in self.cases)
        total = max(len(self.cases), self.collected or 0)
        return complete / total if total else None

    @property
    def batch_errors(self) -> int:
        """How many results the figures leave out, since a batch comparator failed."""
        return sum(each.counts.get("batch_error", 0) for each in comparisons_of(self.tabled))

    @property
    def errors(self) -> int:
        """How many errors comparators have made, and how many runs came to no figures."""
        if self.corpus is not None:
            return self.corpus.errors
        unscored = sum(bool(run.error) for case in self.cases for run in case.runs)
        return sum(len(each.errors) for each in self.comparisons) + unscored

    @property
    def approximate(self) -> int:
        """How many comparisons have an array that was too large to be paired exactly."""
        if self.corpus is not None:
            return self.corpus.approximate
        return sum(each.approximate for each in self.comparisons)

    @property
    def fields(self) -> Mapping[str, FieldAggregation]:
        """The figures of each field, over all metrics."""
        return merged_fields(self.cases) if self.corpus is None else self.corpus.fields

    @property
    def tabled(self) -> tuple[Case, ...]:
        """The cases that tables are made of: of a corpus one, with the figures of all its records."""
        return self.cases if self.corpus is None else (self.corpus.as_case,)


@lru_cache(maxsize=256)
def counts_extra(signature: str) -> bool:
    """Tell by the signature of a comparison whether it counts what only actual has.

    >>> counts_extra("json_similarity|options:none|schema:none|rules:2")
    False
    >>> counts_extra('json_similarity|options:{"extra":"count"}|schema:none|rules:2')
    True
    """
    metric, _, rest = signature.partition("|options:")
    told = re.match(r'\{.*?"extra":\s*"(\w+)"', rest)
    preset = PRESETS.get(metric)
    return (told[1] if told else "count" if preset is None else preset.extra) == "count"


def comparisons_of(cases: Iterable[Case]) -> Iterator[Comparison]:
    """Yield the comparisons of all runs of cases."""
    return (each for case in cases for run in case.runs for each in run.comparisons)


def by_metric(cases: Iterable[Case]) -> dict[str, list[Case]]:
    """Return cases by the metrics that they were compared by, as far as they were compared by each."""
    found: dict[str, list[Case]] = {}
    for case in cases:
        metrics = dict.fromkeys(each.metric for each in comparisons_of([case]))
        for metric in metrics:
            runs = tuple(
                replace(run, comparisons=tuple(each for each in run.comparisons if each.metric == metric))
                for run in (case.runs if len(metrics) > 1 else ())
            )
            found.setdefault(metric, []).append(replace(case, runs=runs) if runs else case)
    return found


def field_sums(cases: Sequence[Case], known: Iterable[str] = ()) -> dict[str, list[float]]:
    """Return the sums of each field over cases; those of several fields may be `added`.

    Where a case ran several times, each number stands there twice: of all runs, and then of what each run
    counts for, so that a case that ran k times counts as much as any other. `known` are paths of members that
    expected has in other cases of the run, so that these could have made them up.
    """
    are_repeated = any(len(case.runs) > 1 for case in cases)
    parts: dict[str, list[list[float]]] = {}
    presence = {path: Presence(known=True) for path in known}
    for case in cases:
        share = 1 / len(case.runs)
        for comparison in comparisons_of([case]):
            merge_presence(presence, comparison.presence)
            for path, figures in comparison.fields.items():
                numbers = figures.to_list()
                shares = [share * number for number in numbers] if are_repeated else []
                parts.setdefault(path, []).append(numbers + shares)
    for path, places in with_fabrications({}, presence).items():
        parts.setdefault(path, []).append(places.to_list() * (2 if are_repeated else 1))
    return {path: added(numbers) for path, numbers in parts.items()}


def added(parts: Iterable[Sequence[float]]) -> list[float]:
    """Return the sums of several `field_sums`; empty for none."""
    return [fsum(column) for column in zip(*parts, strict=True)]


def figures_of(sums: Sequence[float]) -> FieldAggregation:
    """Return the figures of `field_sums`: counts of all runs, and means over the runs of each case first."""
    size = len(FieldAggregation.__dataclass_fields__)
    counted = FieldAggregation.from_list([*map(int, sums[:COUNTED]), *sums[COUNTED:size]])
    if len(sums) <= size:
        return counted
    mean = FieldAggregation.from_list(sums[size:])
    return replace(
        counted,
        score_sum=(mean.mean_score or 0.0) * counted.total,  # a sum over results, which are counted
        weighted_score=mean.weighted_score,
        expected_weight=mean.expected_weight,
        actual_weight=mean.actual_weight,
    )


def merged_fields(cases: Sequence[Case], known: Iterable[str] = ()) -> dict[str, FieldAggregation]:
    """Return the figures of each field over cases; `known` as for `field_sums`."""
    return {path: figures_of(sums) for path, sums in field_sums(cases, known).items()}


def segments_of(path: str) -> tuple[Segment, ...]:
    """Return the segments of a field's path as results keep it: a very deep one was cut, and ends in "…"."""
    try:
        return parse_path(path)
    except ConfigurationError:
        return parse_path(path.rstrip("…."))


def _mean(values: Sequence[float]) -> float | None:
    return fsum(values) / len(values) if values else None
