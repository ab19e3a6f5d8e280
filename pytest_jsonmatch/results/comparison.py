"""Comparisons in types that can be sent between processes, and the cases that they belong to.

A case with several runs, or several comparisons in a test, counts once: means are taken per run first, then
per case, then over cases.
"""

from __future__ import annotations

from functools import cached_property
from math import comb, fsum
from os.path import commonprefix
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.result.aggregation import FieldSums
from pytest_jsonmatch.engine.result.rows import add_rows
from pytest_jsonmatch.engine.score.field import format_instance_path
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.text import render, shorten
from pytest_jsonmatch.results.kindtotals import average_kinds
from pytest_jsonmatch.results.limits import SCORES, reaches
from pytest_jsonmatch.results.tags import tag_texts
from pytest_jsonmatch.results.totals import Totals
from pytest_jsonmatch.support.frozen import Frozen, replace

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from pytest_jsonmatch.engine.result.aggregation import FieldAggregation
    from pytest_jsonmatch.engine.result.kinds import KindCounts
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.result.rows import RowCounts
    from pytest_jsonmatch.engine.score.field import FieldResult, Place
    from pytest_jsonmatch.results.answer import Spent
    from pytest_jsonmatch.results.tags import Tags

# -- differences ------------------------------------------------------------------------------------------

MAX_KEPT: Final = 10
"""A comparison keeps at most this many pairs of a field."""
_WRONG: Final = frozenset({"mismatch", "omission", "hallucination"})
_MAX_READ: Final = 1_000
"""At most this many leaves of a comparison are read."""
_LONGEST: Final = 80
"""Values are kept with at most this many characters."""
_RENDERED: Final = 20_000
"""At most this many characters of a value are searched for the first difference."""


@final
class Difference(NamedTuple):
    """An expected and an actual value of a field that differ."""

    expected: str | None = None
    """JSON text, cut around the first difference; None if the actual value is extra."""
    actual: str | None = None
    """JSON text, cut around the first difference; None if the value is missing."""
    times: int = 1
    """How often the pair occurs."""
    score: float = 0.0
    """The lowest score of the pair."""
    at: str = ""
    """The schema path of the leaf, if it is in an object or array that is scored as one field."""
    rows: tuple[str, ...] = ()
    """The first array elements in which the pair occurs, as paths in expected, or in actual if extra."""
    unpaired: tuple[str, ...] = ()
    """The `rows` that are missing or extra as a whole."""

    @property
    def status(self) -> str:
        """The status of the leaf.

        >>> Difference(expected="1").status, Difference(actual="1").status, Difference("1", "2").status
        ('omission', 'hallucination', 'mismatch')
        """
        if self.actual is None:
            return "omission"
        return "hallucination" if self.expected is None else "mismatch"

    def cut(self, limit: int) -> Difference:
        """Return the difference with values of at most `limit` characters, cut around the first difference.

        >>> Difference('"Kingston Road 12 a"', '"Kingston Road 12 b"').cut(12)[:2]
        ('… Road 12 a"', '… Road 12 b"')
        """
        sides = self.expected, self.actual
        if len(self.expected or "") <= limit and len(self.actual or "") <= limit:
            return self
        shared = len(commonprefix([side or "" for side in sides]))  # noqa: RUF071 - these are not paths
        texts = (None if side is None else _cut(side, shared, limit) for side in sides)
        return self._replace(expected=next(texts), actual=next(texts))


def _cut(text: str, shared: int, limit: int) -> str:
    start = max(0, min(shared - limit // 3, len(text) - limit + 1))
    return shorten(f"…{text[start:]}" if start else text, limit)


def find_differences(results: Iterable[FieldResult]) -> dict[str, tuple[Difference, ...]]:
    """Return the most frequent differences in the results of a comparison, by schema path."""
    by_path: dict[str, list[Difference]] = {}
    read = 0
    for result in results:
        for leaf in result.differences or (result,):
            if leaf.status in _WRONG and read < _MAX_READ:
                read += 1
                expected = None if leaf.expected is MISSING else render(leaf.expected, _RENDERED)
                actual = None if leaf.actual is MISSING else render(leaf.actual, _RENDERED)
                at = "" if leaf is result else leaf.path
                row, is_unpaired = _find_row(leaf)
                rows = (row,) if row else ()
                found = Difference(
                    expected, actual, 1, leaf.score, at, rows, rows if is_unpaired else ()
                ).cut(_LONGEST)
                by_path.setdefault(result.path, []).append(found)
    return {path: most_frequent(found, MAX_KEPT) for path, found in by_path.items()}


def _find_row(leaf: FieldResult) -> tuple[str, bool]:
    """Return the path of the innermost array element that contains a leaf, and whether one side lacks it.

    If one side lacks several nested elements, return the path of the outermost; outside of arrays, return "".
    """
    place: Place | None = leaf.place
    row: Place | None = None
    is_unpaired = False
    while place is not None:
        if type(place.key) is int:
            is_one_sided = place.expected_key is MISSING or place.actual_key is MISSING
            if row is None or is_one_sided:
                row, is_unpaired = place, is_one_sided
        place = place.parent
    if row is None:
        return "", False
    return format_instance_path(row, "actual" if row.expected_key is MISSING else "expected"), is_unpaired


def most_frequent(differences: Iterable[Difference], limit: int) -> tuple[Difference, ...]:
    """Return the most frequent differences, merging equal ones; ties are sorted by score, the lowest first.

    >>> one, other = Difference("1", "2", score=0.5), Difference("1", "3")
    >>> found = most_frequent([one, other, other._replace(times=2)], 2)
    >>> [(difference.actual, difference.times) for difference in found]
    [('3', 3), ('2', 1)]
    """
    listed = tuple(differences)
    if len(listed) == 1:
        return listed
    pairs: dict[tuple[str, str | None, str | None], Difference] = {}
    for difference in listed:
        key = difference.at, difference.expected, difference.actual
        known = pairs.get(key, difference._replace(times=0, rows=(), unpaired=()))
        pairs[key] = difference._replace(
            times=known.times + difference.times,
            score=min(known.score, difference.score),
            rows=(known.rows + difference.rows)[:MAX_KEPT],
            unpaired=(known.unpaired + difference.unpaired)[:MAX_KEPT],
        )
    order = sorted(pairs.values(), key=lambda difference: (-difference.times, difference.score))
    return tuple(order[:limit])


_EMPTY: Final[Mapping[str, Any]] = {}
"""The default of mappings, which result files leave out; each object has a dict of its own instead."""

# -- comparisons ------------------------------------------------------------------------------------------


@final
class Comparison(Frozen):
    """One comparison of a run, as reports and gates read it.

    >>> from pytest_jsonmatch import compare_json
    >>> kept = Comparison.of(
    ...     compare_json({"a": 1}, {"a": 1}), id="t.py::t#1", nodeid="t.py::t", threshold={}, passed=True
    ... )
    >>> kept.score, kept.counts
    (1.0, {'match': 1})
    """

    __slots__ = (
        "counts",
        "counts_extra",
        "detail",
        "differences",
        "errors",
        "f1",
        "fields",
        "floor",
        "has_figures",
        "id",
        "kinds",
        "metric",
        "nodeid",
        "params",
        "parsed",
        "passed",
        "precision",
        "recall",
        "rows",
        "score",
        "signature",
        "spent",
        "tags",
        "threshold",
        "unreadable",
        "validity",
        "violations",
        "warnings",
    )

    def __init__(
        self,
        id: str,
        nodeid: str,
        metric: str,
        signature: str,
        score: float,
        precision: float,
        recall: float,
        f1: float,
        passed: bool,
        threshold: Mapping[str, Any] = _EMPTY,
        fields: Mapping[str, FieldAggregation] = _EMPTY,
        rows: Mapping[str, RowCounts] = _EMPTY,
        differences: Mapping[str, tuple[Difference, ...]] = _EMPTY,
        kinds: Mapping[str, KindCounts] = _EMPTY,
        counts: Mapping[str, int] = _EMPTY,
        errors: tuple[str, ...] = (),
        warnings: tuple[str, ...] = (),
        params: tuple[str, ...] = (),
        unreadable: str = "",
        parsed: bool | None = None,
        validity: str = "",
        violations: tuple[str, ...] = (),
        spent: Spent | None = None,
        tags: Tags = _EMPTY,
        has_figures: bool = True,
        counts_extra: bool = True,
        floor: float | None = None,
        detail: str = "",
    ) -> None:
        self.id: Final = id
        """`NODEID#1`, or the name given."""
        self.nodeid: Final = nodeid
        self.metric: Final = metric
        self.signature: Final = signature
        self.score: Final = score
        self.precision: Final = precision
        self.recall: Final = recall
        self.f1: Final = f1
        self.passed: Final = passed
        self.threshold: Final[Mapping[str, Any]] = {} if threshold is _EMPTY else threshold
        """The limits, such as `{"score": 1.0}`; `fields` maps path patterns to limits."""
        self.fields: Final[Mapping[str, FieldAggregation]] = {} if fields is _EMPTY else fields
        """Aggregates by schema path."""
        self.rows: Final[Mapping[str, RowCounts]] = {} if rows is _EMPTY else rows
        """Counts of rows by the schema path of their array."""
        self.differences: Final[Mapping[str, tuple[Difference, ...]]] = (
            {} if differences is _EMPTY else differences
        )
        """The most frequent differences, by schema path."""
        self.kinds: Final[Mapping[str, KindCounts]] = {} if kinds is _EMPTY else kinds
        """The counts and costs of each kind of difference."""
        self.counts: Final[Mapping[str, int]] = {} if counts is _EMPTY else counts
        """The number of results by status."""
        self.errors: Final = errors
        """The errors of comparators."""
        self.warnings: Final = warnings
        self.params: Final = params
        """The parametrized fixtures of the test; their values are tags of the case."""
        self.unreadable: Final = unreadable
        """Why the answer can't be compared, so that it counts as entirely wrong; empty if it can be."""
        self.parsed: Final = parsed
        """Whether an answer given as text contains JSON; None if the answer is a value."""
        self.validity: Final = validity
        """`valid`, `invalid` or `not validated` by its schema; empty if it was not checked."""
        self.violations: Final = violations
        """The errors of the answer against its schema."""
        self.spent: Final = spent
        """The time, tokens and cost of the answer; None if unknown, or kept with an earlier comparison."""
        self.tags: Final[Tags] = {} if tags is _EMPTY else tags
        """The tags of the comparison, in addition to those of its case."""
        self.has_figures: Final = has_figures
        """Whether there are scores. If batch errors left nothing to count, the scores here are 0."""
        self.counts_extra: Final = counts_extra
        """Whether extra leaves lower the scores."""
        self.floor: Final = floor
        """The score of an empty answer, such as `{}`; None if it was not computed."""
        self.detail: Final = detail
        """The text of `details_of` for a page; not kept in result files."""

    @classmethod
    def of(
        cls,
        result: MatchResult,
        *,
        id: str,
        nodeid: str,
        threshold: Mapping[str, Any],
        passed: bool,
        **more: Any,
    ) -> Comparison:
        """Return the comparison for a result; `more` are fields that a result does not have."""
        return cls(
            id=id,
            nodeid=nodeid,
            metric=result.metric,
            signature=str(result.signature),
            score=result.score or 0.0,
            precision=result.precision or 0.0,
            recall=result.recall or 0.0,
            f1=result.f1 or 0.0,
            passed=passed,
            has_figures=result.has_figures,
            counts_extra=result.counts_extra,
            threshold=dict(threshold),
            fields=dict(result.all_fields),
            rows=dict(result.rows),
            differences=find_differences(result.imperfect),
            kinds=dict(result.kinds),
            counts=result.counts,
            errors=tuple(map(str, result.errors)),
            warnings=result.warnings,
            validity="" if result.validity is None else VALIDITY[result.validity.valid],
            violations=result.violations,
            **more,
        )

    @property
    def all_errors(self) -> tuple[str, ...]:
        """The reason why the answer can't be compared, if any, then the errors of comparators."""
        return (self.unreadable, *self.errors) if self.unreadable else self.errors

    @property
    def all_warnings(self) -> tuple[str, ...]:
        """A warning for each violation of the schema, then the warnings."""
        return (*(f"not valid: {text}" for text in self.violations), *self.warnings)


VALIDITY: Final[Mapping[bool | None, str]] = {True: "valid", False: "invalid", None: "not validated"}

# -- cases -------------------------------------------------------------------------------------------------

CaseVerdict: TypeAlias = Literal["passed", "failed", "undecided"]


@final
class CaseRun(Frozen):
    """One run of a case.

    Args:
        number: the number of the run, counted from 1.
        passed: whether its test passed.
        comparisons: the comparisons in their order.
        error: why nothing was compared, such as a producer that raised; then every score is 0.
        unanswered: why there is no answer: the type of the exception that the producer raised, such as
            "TimeoutError", or "not recorded" in a replay; empty if there is an answer, or if the run failed
            for another reason.
    """

    __slots__ = ("comparisons", "error", "number", "passed", "unanswered")

    def __init__(
        self,
        number: int,
        passed: bool,
        comparisons: tuple[Comparison, ...] = (),
        error: str = "",
        unanswered: str = "",
    ) -> None:
        self.number: Final = number
        self.passed: Final = passed
        self.comparisons: Final = comparisons
        self.error: Final = error
        self.unanswered: Final = unanswered

    @property
    def errors(self) -> list[str]:
        """The reasons why nothing or not all was compared, and the errors of comparators."""
        own = [self.error] if self.error else []
        return [*own, *(error for comparison in self.comparisons for error in comparison.all_errors)]

    def mean(self, name: str) -> float:
        """Return the mean of one of `SCORES` over the comparisons; 0 after an error."""
        if self.error:
            return 0.0
        return (
            mean_of([getattr(comparison, name) for comparison in self.comparisons if comparison.has_figures])
            or 0.0
        )

    @property
    def has_figures(self) -> bool:
        """Whether there are scores: an error counts as 0, a comparison with only batch errors has none."""
        return (
            bool(self.error)
            or not self.comparisons
            or any(comparison.has_figures for comparison in self.comparisons)
        )

    @property
    def kinds(self) -> list[Mapping[str, KindCounts]]:
        """The kinds of differences of the comparisons that have scores; none after an error."""
        if self.error:
            return []
        return [comparison.kinds for comparison in self.comparisons if comparison.has_figures]

    def of_field(self, path: str) -> list[FieldAggregation]:
        """Return the aggregations of a field in the comparisons."""
        return [comparison.fields[path] for comparison in self.comparisons if path in comparison.fields]

    def lacks(self, path: str) -> bool:
        """Return whether the run compared something, but has no result for a field."""
        found = self.of_field(path)
        return bool(self.comparisons) and not any(sums.total or sums.batch_errors for sums in found)

    def score_of(self, path: str) -> float:
        """Return the mean score of a field."""
        found = self.of_field(path)
        total = sum(sums.total for sums in found)
        return min(fsum(sums.score_sum for sums in found) / total, 1.0) if total else 0.0

    @property
    def answers(self) -> int:
        """The number of answers with a cost and latency, which may be unknown."""
        return sum(comparison.spent is not None for comparison in self.comparisons)


@final
class Case(Frozen):
    """One case: a test that compares, or a golden case with all of its runs.

    Args:
        id: the node id, without the number of a run.
        runs: the finished runs, sorted by number.
        of: the planned number of runs.
        min_pass_rate: the share of the runs that must pass; None if all must.
        cluster: the name of its cluster, such as its document; empty if it is in none.
        tags: the tags of the case; its comparisons may have more.

    >>> Case("a", (CaseRun(1, passed=True), CaseRun(2, passed=False)), of=5, min_pass_rate=0.6).verdict
    'undecided'
    """

    __slots__ = ("__dict__", "cluster", "id", "min_pass_rate", "of", "runs", "tags")

    def __init__(
        self,
        id: str,
        runs: tuple[CaseRun, ...],
        of: int = 1,
        min_pass_rate: float | None = None,
        cluster: str = "",
        tags: Tags = _EMPTY,
    ) -> None:
        self.id: Final = id
        self.runs: Final = runs
        self.of: Final = of
        self.min_pass_rate: Final = min_pass_rate
        self.cluster: Final = cluster
        self.tags: Final[Tags] = {} if tags is _EMPTY else tags

    @classmethod
    def single(cls, comparison: Comparison, **more: Any) -> Case:
        """Return a case with one run and one comparison; `more` are further fields."""
        return cls(comparison.id, (CaseRun(1, comparison.passed, (comparison,)),), **more)

    @property
    def unit(self) -> str:
        """The independent unit: its cluster, or the case itself if it is in none."""
        return self.cluster or self.id

    @property
    def passed_runs(self) -> int:
        """The number of runs that passed."""
        return sum(run.passed for run in self.runs)

    @property
    def answered(self) -> float:
        """The share of the runs with an answer."""
        return sum(not run.unanswered for run in self.runs) / len(self.runs)

    @property
    def pass_rate(self) -> float:
        """The share of the runs that passed."""
        return self.passed_runs / len(self.runs)

    @property
    def flip_rate(self) -> float | None:
        """How often exactly one of two runs passes; None for a single run."""
        runs = len(self.runs)
        return self.passed_runs * (runs - self.passed_runs) / comb(runs, 2) if runs > 1 else None

    def right_rate(self, paths: Container[str]) -> float | None:
        """Return the share of the runs in which all leaves of some fields are right; None without any."""
        rates = []
        for run in self.runs:
            found = [sums for path in self.totals.fields if path in paths for sums in run.of_field(path)]
            if any(sums.total or sums.batch_errors for sums in found):
                rates.append(float(all(sums.matches == sums.total + sums.batch_errors for sums in found)))
        return mean_of(rates)

    @cached_property
    def totals(self) -> Totals:
        """The numbers of the case, with scores as means over its runs."""
        return _case_totals(self)

    @property
    def verdict(self) -> CaseVerdict:
        """Whether enough runs passed; "undecided" if that depends on missing runs."""
        required = 1.0 if self.min_pass_rate is None else self.min_pass_rate
        missing = self.of - len(self.runs)
        if not reaches((self.passed_runs + missing) / self.of, required):
            return "failed"
        return "passed" if reaches(self.passed_runs / self.of, required) else "undecided"

    @property
    def passed(self) -> bool:
        """Whether the case passes, judged by the existing runs if some are missing."""
        required = 1.0 if self.min_pass_rate is None else self.min_pass_rate
        return reaches(self.pass_rate, required)

    def mean(self, name: str, *, answered: bool = False) -> float:
        """Return the mean of one of `SCORES` over the runs with scores; `answered` skips unanswered runs."""
        runs = [run for run in self.runs if run.has_figures and not (answered and run.unanswered)]
        return mean_of([run.mean(name) for run in runs]) or 0.0

    def scores_by_field(self) -> dict[str, list[float]]:
        """Return the scores of each field in the runs that compared something; 1 if a run lacks the field."""
        scores: dict[str, list[float]] = {}
        compared = [run for run in self.runs if run.comparisons]
        for path, total in self.totals.fields.items():
            if total.total:
                scores[path] = [1.0 if run.lacks(path) else run.score_of(path) for run in compared]
        return scores

    @property
    def has_figures(self) -> bool:
        """Whether any run has scores; other cases are left out of means."""
        return any(run.has_figures for run in self.runs)

    @property
    def is_complete(self) -> bool:
        """Whether all runs have finished and compared an answer."""
        return len(self.runs) == self.of and all(run.comparisons and not run.error for run in self.runs)


def _case_totals(case: Case) -> Totals:
    """Return the numbers of a case: scores are means over its runs, and results count in each run."""
    made, number = Totals(), len(case.runs)
    for comparison in iter_comparisons([case]):
        _add_comparison(made, comparison, case.id)
    if number > 1:
        for path, sums in made.fields.items():
            if sums.total:
                sums.average(number, sum(run.lacks(path) for run in case.runs))
    answered = case.answered
    made.counts.update(
        records=1,
        runs=number,
        passed=case.passed,
        unanswered=answered < 1,
        never_answered=not answered,
        unanswered_runs=sum(bool(run.unanswered) for run in case.runs),
        repeated=number > 1,
        not_compared=not made.metrics,
        incomplete=not case.is_complete,
        with_threshold=any(comparison.threshold for comparison in iter_comparisons([case]))
        or not made.metrics,
        ignores_extra=any(not comparison.counts_extra for comparison in iter_comparisons([case])),
        errors=sum(len(run.errors) for run in case.runs),
        answers=sum(max(run.answers, 1) for run in case.runs),
    )
    made.sums["answered"].extend((answered,))
    if case.flip_rate is not None:
        made.sums["flips"].extend((case.flip_rate,))
    weights = [sums.expected.value or sums.actual.value for sums in made.fields.values()]
    made.counts["empty"] += bool(made.metrics) and case.has_figures and not any(weights)
    if case.has_figures:
        made.counts["perfect_records"] += case.mean("score") >= 1.0
        for name in SCORES:
            made.sums[name].extend((case.mean(name),))
        if case.mean("score") < 1.0:
            made.kinds.add_case(average_kinds([run.kinds for run in case.runs if run.has_figures]))
        if 0 < answered < 1:
            made.sums["gain"].extend((case.mean("score", answered=True), -case.mean("score")))
    else:
        made.counts["unscored"] += 1
    return made


def _add_comparison(totals: Totals, comparison: Comparison, case: str) -> None:
    """Add what counts in each run of a case, given its id."""
    totals.counts.update(comparisons=1, warnings=len(comparison.all_warnings))
    totals.add_answer(comparison.parsed, comparison.validity)
    totals.costs.add(comparison.spent, comparison.score if comparison.has_figures else None)
    totals.metrics[comparison.signature] = comparison.metric
    for path, aggregation in comparison.fields.items():
        sums = FieldSums.of(aggregation, (case, len(totals.fields)))
        sums.ignores_extra = not comparison.counts_extra
        if path in totals.fields:
            totals.fields[path].merge(sums)
        else:
            totals.fields[path] = sums
    add_rows(totals.rows, comparison.rows)


def totals_of(cases: Iterable[Case]) -> Totals:
    """Return the numbers of cases together."""
    return Totals.of(case.totals for case in cases)


def iter_comparisons(cases: Iterable[Case]) -> Iterator[Comparison]:
    """Yield the comparisons of all runs of cases."""
    return (comparison for case in cases for run in case.runs for comparison in run.comparisons)


def group_by_metric(cases: Iterable[Case]) -> dict[str, list[Case]]:
    """Return cases by metric, each with only the comparisons by that metric."""
    by_name: dict[str, list[Case]] = {}
    for case in cases:
        metrics = dict.fromkeys(comparison.metric for comparison in iter_comparisons([case]))
        for metric in metrics:
            runs = tuple(
                replace(
                    run,
                    comparisons=tuple(
                        comparison for comparison in run.comparisons if comparison.metric == metric
                    ),
                )
                for run in (case.runs if len(metrics) > 1 else ())
            )
            by_name.setdefault(metric, []).append(replace(case, runs=runs) if runs else case)
    return by_name


def merge_differences(cases: Iterable[Case], limit: int) -> dict[str, tuple[Difference, ...]]:
    """Return the most frequent differences of each field over cases, in any order of these."""
    by_path: dict[str, list[Difference]] = {}
    for comparison in iter_comparisons(cases):
        for path, differences in comparison.differences.items():
            # The same path is a different row in each case.
            without_rows = (difference._replace(rows=(), unpaired=()) for difference in differences)
            by_path.setdefault(path, []).extend(without_rows)
    for found in by_path.values():
        found.sort(key=lambda difference: (difference.at, difference.expected or "", difference.actual or ""))
    return {path: most_frequent(found, limit) for path, found in by_path.items()}


def mean_of(values: Sequence[float]) -> float | None:
    """Return the mean; None without values."""
    return fsum(values) / len(values) if values else None


# -- tags of cases ------------------------------------------------------------------------------------------


def select_tag(case: Case, tag: str) -> Case | None:
    """Return a case with only the comparisons that have a tag; None if there are none."""
    runs = tuple(kept for run in case.runs if (kept := _select_run(run, case.tags, tag)) is not None)
    return replace(case, runs=runs) if runs else None


def _select_run(run: CaseRun, case_tags: Tags, tag: str) -> CaseRun | None:
    has_tag = tag in tag_texts(case_tags)
    kept = tuple(
        comparison for comparison in run.comparisons if tag in tag_texts({**case_tags, **comparison.tags})
    )
    if len(kept) == len(run.comparisons):
        return run if kept or has_tag else None
    if not kept and not (run.error and has_tag):
        return None
    passed = not run.error and all(comparison.passed for comparison in kept)
    return replace(run, comparisons=kept, passed=passed)


def collect_tags(case: Case) -> set[str]:
    """Return the tags of the comparisons of a case, or of the case itself if it failed before comparing."""
    compared = ({**case.tags, **comparison.tags} for run in case.runs for comparison in run.comparisons)
    failed = (case.tags for run in case.runs if run.error or not run.comparisons)
    return set().union(*map(tag_texts, (*compared, *failed)))
