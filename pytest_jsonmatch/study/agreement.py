"""Measure the agreement of annotators by field: percent, Cohen's kappa (of two), Krippendorff's alpha.

Import this module late, since it imports numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from pytest_jsonmatch.engine.score.field import BATCH_ERROR, LEAVES
from pytest_jsonmatch.engine.value.convert import CONTAINERS, MISSING
from pytest_jsonmatch.engine.value.equality import make_json_key
from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonMatchError
from pytest_jsonmatch.records.pairing import Reading, make_gold_error
from pytest_jsonmatch.study.answers import RecordComparer, split_chunks
from pytest_jsonmatch.study.calibration import CONFIDENCE_LEVEL, Estimate
from pytest_jsonmatch.study.gold_records import join_records
from pytest_jsonmatch.study.words import describe_study
from pytest_jsonmatch.support import defaults

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.records.columns import ColumnSelection
    from pytest_jsonmatch.study.answers import ComparedAnswer
    from pytest_jsonmatch.study.gold_records import AnnotatedDocument, Records

    Floats = NDArray[np.float64]

_ESTIMATES: Final = ("agreement", "kappa", "alpha")
STATISTICS: Final = (*_ESTIMATES, *(f"{name}_low" for name in _ESTIMATES))
"""The statistics that gates can test; "_low" is the lower end of the interval."""
_DRAWS: Final = 500
_SEED: Final = 20_240_602
_COMPARED: Final = 250
"""At most this many values of a field, the most frequent, are compared for chance agreement."""
_NOTHING: Final = 1e-9
"""If the disagreement expected by chance is at most this, agreement beyond chance is undefined."""


@final
@dataclass(frozen=True, slots=True)
class FieldAgreement:
    """The agreement of annotators about a field. A statistic is None if it is undefined.

    Args:
        places: how many pairs of values were compared: for every two annotators, the paths at which either
            has a value.
        agreement: the mean score of the pairs; for comparators that return only 0 or 1, the share of equal
            values.
        kappa: Cohen's kappa, if there are two annotators.
        alpha: Krippendorff's alpha, if there are more; values are equal if the comparator's score is 1.
    """

    places: int
    agreement: Estimate | None = None
    kappa: Estimate | None = None
    alpha: Estimate | None = None

    @property
    def statistics(self) -> dict[str, float | None]:
        """The statistics by name, with the lower ends of their intervals."""
        estimates = [(name, getattr(self, name)) for name in _ESTIMATES]
        values = {name: estimate and estimate.value for name, estimate in estimates}
        return {**values, **{f"{name}_low": estimate and estimate.low for name, estimate in estimates}}


@final
@dataclass(frozen=True, slots=True, repr=False)
class AgreementStudy:
    """The agreement of annotators.

    Args:
        annotators: the names of the annotators.
        documents: how many documents two or more of them describe.
        unshared: how many documents only one of them describes; these are not counted.
        total: the agreement over all fields; chance agreement is computed for each field.
        fields: the agreement by path.
        batch_errors: how many comparisons are left out because a batch comparator failed.
        clusters: the number of clusters of these documents.
    """

    annotators: tuple[str, ...]
    documents: int
    unshared: int
    total: FieldAgreement
    fields: Mapping[str, FieldAgreement]
    batch_errors: int = 0
    clusters: int = 0

    def __repr__(self) -> str:
        return describe_study(self)

    @property
    def statistics(self) -> Mapping[str, float | None]:
        """The statistics over all fields, for gates."""
        return self.total.statistics

    @property
    def by_field(self) -> Mapping[str, Mapping[str, float | None]]:
        """The statistics of each field, for gates."""
        return {path: field.statistics for path, field in self.fields.items()}


def measure_agreement(
    annotators: Mapping[str, Records],
    /,
    *,
    metric: str = defaults.METRIC,
    id: str | None = None,
    expected: ColumnSelection | None = None,
    delimiter: str | None = None,
    cluster: str | None = None,
    **options: Any,
) -> AgreementStudy:
    """Measure the agreement of annotators of the same documents.

    Every two annotators are compared as by `compare_json`, with its comparators, rules and pairs of array
    elements. A path counts if either of the two has a value, since leaving a value out is a judgement, too.
    Chance agreement is the share of pairs of documents whose values of the field are equal to the comparator.

    Args:
        annotators: the records of each annotator by name, as the gold records of `compare_corpus`. Documents
            that an annotator has not described are left out (with `id` or in a mapping) or come last.
        metric: the name of a metric.
        id: the column with the document's id; None pairs records by position.
        expected: the column with the annotator's values, or a mapping of fields to columns; by default the
            whole record.
        delimiter: the delimiter of CSV files.
        cluster: the column that names a document's cluster, such as its source. Documents of one cluster are
            never treated as independent.
        **options: options of the metric, including `schema`, as for `compare_json`.

    Returns:
        Statistics in [-1, 1], in total and by field, with 95 % bootstrap intervals over documents, or over
        their clusters.

    Raises:
        ConfigurationError: fewer than two annotators, no document in common, an unknown option.
        GoldValidationError: a record is not JSON.

    Sources: Cohen 1960; Krippendorff 2011, Computing Krippendorff's Alpha-Reliability; Rubin 1981 (the
    bootstrap); docs/analyse.md has the definitions.

    >>> one, two = [{"kind": "a"}, {"kind": "b"}] * 10, [{"kind": "a"}, {"kind": "b"}, {"kind": "b"}] * 6
    >>> found = measure_agreement({"ann": one[:18], "bob": two})
    >>> found.documents, found.fields["kind"].agreement.value, round(found.fields["kind"].kappa.value, 3)
    (18, 0.5, 0.0)
    """
    if len(annotators) < 2:
        raise ConfigurationError("agreement needs at least 2 annotators, got 1")
    collector, compare = _RatingCollector(tuple(annotators)), RecordComparer(metric, options)
    reading = Reading(id, expected=expected, delimiter=delimiter)
    documents = join_records(annotators, reading, cluster, compare.how.plan.schema)
    for chunk in split_chunks(documents, len(collector.pairs)):
        collector.add(chunk, compare)
    compare.warn()
    if not collector.documents:
        names = ", ".join(annotators)
        raise ConfigurationError(f"no document is described by two of {names}: do their ids agree?")
    if not collector.fields:
        raise ConfigurationError("there is nothing to compare: no annotator has a value anywhere")
    return collector.result()


@final
class _RatingCollector:
    """Collects the ratings of all documents."""

    def __init__(self, annotators: tuple[str, ...]) -> None:
        self.annotators = annotators
        self.pairs = list(combinations(range(len(annotators)), 2))
        self.documents = self.unshared = self.batch_errors = 0
        self.clusters: dict[str | int, int] = {}
        """The numbers of the clusters; a document in none is a cluster of its own."""
        self.fields: dict[str, Ratings] = {}

    def add(self, documents: Iterable[AnnotatedDocument], compare: RecordComparer) -> None:
        """Add documents; a judge is asked about all of them in one call."""
        shared = []
        for document in documents:
            values = document.values
            annotator_count = sum(value is not MISSING for value in values)
            if annotator_count > 1:
                both = [(values[second], values[first]) for first, second in self.pairs]
                shared.append((document, annotator_count, [pair for pair in both if MISSING not in pair]))
            else:
                self.unshared += annotator_count
        results = compare(pair for _, _, pairs in shared for pair in pairs)
        for document, annotator_count, pairs in shared:
            self._add(document, annotator_count, [next(results) for _ in pairs])

    def _add(
        self, document: AnnotatedDocument, annotator_count: int, compared: Iterable[ComparedAnswer]
    ) -> None:
        """Add a document that `annotator_count` annotators describe."""
        cluster = self.clusters.setdefault(document.cluster or self.documents, len(self.clusters))
        for result in compared:
            if isinstance(result, JsonMatchError):
                raise make_gold_error(document.id, None, result)
            for leaf in result.field_results:
                self.batch_errors += leaf.status == BATCH_ERROR
                if leaf.status not in LEAVES:
                    continue
                if leaf.path not in self.fields:
                    self.fields[leaf.path] = Ratings(_make_is_same(leaf.node))
                values = [(_key(leaf, value), value) for value in (leaf.expected, leaf.actual)]
                self.fields[leaf.path].add(cluster, values, leaf.score, 1 / (annotator_count - 1))
        self.documents += 1

    def result(self) -> AgreementStudy:
        """Return the agreement over all documents."""
        clusters = len(self.clusters)
        total, fields = estimate_agreement(self.fields, clusters, is_of_two=len(self.annotators) == 2)
        return AgreementStudy(
            self.annotators, self.documents, self.unshared, total, fields, self.batch_errors, clusters
        )


def _key(leaf: FieldResult, value: JsonValue) -> Hashable:
    """Return a key that equal values share; None for a missing value, which equals no value."""
    return None if value is MISSING else (make_json_key(leaf.node.rules.try_transform(value)),)


def _make_is_same(node: PlanNode) -> Callable[[JsonValue, JsonValue], bool]:
    """Return a function that returns whether two values are equal to a field's comparator."""

    def is_same(one: JsonValue, other: JsonValue) -> bool:
        # Other comparators may fail, or are called with many values at once.
        quick = node.rules.fast_score if CONTAINERS.isdisjoint({type(one), type(other)}) else None
        return quick is not None and quick(one, other) == 1.0

    return is_same


# -- statistics --------------------------------------------------------------------------------------------


@final
class Ratings:
    """The values of a field by pairs of annotators.

    Args:
        is_same: returns whether two different values are equal to the comparator.
    """

    def __init__(self, is_same: Callable[[Any, Any], bool] = lambda _one, _other: False) -> None:
        self._is_same = is_same
        self._rows: list[tuple[int, float, float, int, int]] = []
        """Cluster, weight, score, and the numbers of both values, 0 for a missing value."""
        self._values: dict[Hashable, tuple[int, Any]] = {}
        """The number and the value, by key."""

    @property
    def places(self) -> int:
        """The number of pairs of values."""
        return len(self._rows)

    def add(self, cluster: int, values: Iterable[tuple[Hashable, Any]], score: float, weight: float) -> None:
        """Add the values of two annotators at one path of a document.

        Args:
            cluster: the number of the document's cluster.
            values: the keys and values of both; equal values have equal keys, a missing value the key None.
            score: the score of the comparison.
            weight: the weight of the pair among all pairs of annotators of the document.
        """
        first, second = (
            0 if key is None else self._values.setdefault(key, (len(self._values) + 1, value))[0]
            for key, value in values
        )
        self._rows.append((cluster, weight, score, first, second))

    def make_distance(self, *, is_of_two: bool) -> Callable[[Floats, float], Floats]:
        """Return a function that returns the observed and the possible disagreement of annotators.

        Its arguments are the weight of each cluster, and that of an unseen cluster. It returns a row for
        agreement and one for agreement beyond chance, each with the observed disagreement, the possible
        disagreement, and the amounts that an unseen cluster with complete disagreement adds to both.
        """
        clusters, weights, scores, *pairs = np.array(self._rows).T.copy()
        places, codes = clusters.astype(np.int64), np.array(pairs, dtype=np.int64)
        one, other = self._find_equal_values(codes)

        def measured(cluster_weights: Floats, unseen: float) -> Floats:
            share = cluster_weights[places]
            weighted = share * weights
            number = weighted.sum()
            first, second = (np.bincount(side, weighted, codes.max() + 1) for side in codes)
            # A missing value equals no value.
            first[0] = second[0] = 0.0
            if is_of_two:
                possible = number**2
                same = (first * second).sum()
                same += (first[one] * second[other]).sum() + (first[other] * second[one]).sum()
            else:
                # One distribution of values over all annotators, without pairing a value with itself.
                both, possible = first + second, 2 * number * (2 * number - 1)
                same = (both * (both - 1)).sum() + 2 * (both[one] * both[other]).sum()
            chance = 1 - same / max(possible, _NOTHING)
            more = unseen / len(cluster_weights)
            beyond = more * weights.sum()
            differing = weighted[scores < 1].sum()
            sums: Floats = np.array(
                [
                    ((share * (1 - scores)).sum(), share.sum(), more * len(share), more * len(share)),
                    (differing, number * chance, beyond, beyond * chance),
                ]
            )
            return sums

        return measured

    def _find_equal_values(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the pairs of different values, among the most frequent, that are equal to the comparator."""
        counts = np.bincount(codes.ravel(), minlength=len(self._values) + 1)
        # Ties are sorted by key, so that the order of documents does not matter.
        frequent = sorted(self._values.items(), key=lambda item: (-counts[item[1][0]], repr(item[0])))
        values = [value for _, value in frequent[:_COMPARED]]
        pairs = [
            (one, other)
            for (one, first), (other, second) in combinations(values, 2)
            if self._is_same(first, second)
        ]
        return np.array(pairs, dtype=np.int64).reshape(-1, 2).T


def estimate_agreement(
    fields: Mapping[str, Ratings], clusters: int, *, is_of_two: bool
) -> tuple[FieldAgreement, dict[str, FieldAgreement]]:
    """Return the agreement over all fields and that of each field.

    Intervals are those of the Bayesian bootstrap over clusters: clusters get random weights, and so does an
    additional cluster on which annotators disagree completely (for the lower end) or agree completely (for
    the upper end). Without it, perfect agreement on five documents would have no interval. For binary scores,
    the ends are those of Clopper and Pearson (1934), except for the randomness of the draws.

    Args:
        fields: the ratings by path.
        clusters: the number of clusters: of documents, if none is in a cluster.
        is_of_two: whether there are exactly two annotators.
    """
    if not fields:
        return FieldAgreement(0), {}
    random = np.random.RandomState(_SEED)
    paths = sorted(fields)
    measures = [fields[path].make_distance(is_of_two=is_of_two) for path in paths]
    rows = [[measured(np.ones(clusters), 1.0) for measured in measures]]
    for _ in range(_DRAWS):
        weights = random.standard_exponential(clusters + 1)
        rows.append([measured(weights[:-1], weights[-1]) for measured in measures])
    table = np.array(rows)
    named = zip(paths, table.swapaxes(0, 1), strict=True)
    by_field = {path: _make_estimates(sums, fields[path].places, is_of_two) for path, sums in named}
    places = sum(field.places for field in by_field.values())
    return _make_estimates(table.sum(axis=1), places, is_of_two), by_field


def _make_estimates(sums: Floats, places: int, is_of_two: bool) -> FieldAgreement:
    """Return the agreement from the sums over all documents, followed by those of each draw."""
    agreement, beyond = (_estimate(sums[:, at], low) for at, low in enumerate((0.0, -1.0)))
    return FieldAgreement(places, agreement, beyond if is_of_two else None, None if is_of_two else beyond)


def _estimate(sums: Floats, least: float) -> Estimate | None:
    distance, possible, more_distance, more_possible = sums.T
    if possible[0] <= _NOTHING:
        return None
    value = round(float(1 - distance[0] / possible[0]), 12)  # removes rounding errors in sums of scores of 1
    max_possible = np.maximum(possible + more_possible, _NOTHING)[1:]
    rest = (1 - CONFIDENCE_LEVEL) / 2
    low = float(np.quantile(1 - (distance + more_distance)[1:] / max_possible, rest))
    high = float(np.quantile(1 - distance[1:] / max_possible, 1 - rest))
    return Estimate(value, max(least, min(value, low)), min(1.0, max(value, high)))
