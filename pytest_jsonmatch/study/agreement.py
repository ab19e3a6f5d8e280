"""How far annotators agree: percent, Cohen's kappa for two, Krippendorff's alpha for more, by field.

Import this module late: it imports numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from pytest_jsonmatch import defaults
from pytest_jsonmatch.corpus.pairing import gold_error
from pytest_jsonmatch.engine.score.field import BATCH_ERROR, LEAVES
from pytest_jsonmatch.engine.value.convert import CONTAINERS, MISSING
from pytest_jsonmatch.engine.value.equality import make_json_key
from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonMatchError
from pytest_jsonmatch.study.answers import RecordComparer, chunks_of
from pytest_jsonmatch.study.calibration import SURE, Estimate
from pytest_jsonmatch.study.gold_records import joined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.study.answers import ComparedAnswer
    from pytest_jsonmatch.study.gold_records import Records

    Floats = NDArray[np.float64]

_ESTIMATES: Final = ("agreement", "kappa", "alpha")
FIGURES: Final = (*_ESTIMATES, *(f"{name}_low" for name in _ESTIMATES))
"""The figures that gates may name: "_low" is the lower end of the interval."""
_DRAWS: Final = 500
_SEED: Final = 20_240_602
_COMPARED: Final = 250
"""So many of a field's values, the most frequent, are compared with each other for agreement by chance."""
_NOTHING: Final = 1e-9
"""If chance puts values no further apart than this, agreement beyond chance is not defined."""


@final
@dataclass(frozen=True, slots=True)
class FieldAgreement:
    """How far annotators agree about a field. A figure is None where it is not defined.

    Args:
        places: how many pairs of values were compared: of every two annotators, wherever either has a value.
        agreement: the mean score of such a pair: the share that is equal, if comparators say yes or no.
        kappa: Cohen's kappa of two annotators.
        alpha: Krippendorff's alpha of more: values are the same (the comparator's score is 1) or not.
    """

    places: int
    agreement: Estimate | None = None
    kappa: Estimate | None = None
    alpha: Estimate | None = None

    @property
    def figures(self) -> dict[str, float | None]:
        """The figures by name, with the lower ends of their intervals."""
        estimates = [(name, getattr(self, name)) for name in _ESTIMATES]
        values = {name: estimate and estimate.value for name, estimate in estimates}
        return {**values, **{f"{name}_low": estimate and estimate.low for name, estimate in estimates}}


@final
@dataclass(frozen=True, slots=True)
class AgreementStudy:
    """How far annotators agree.

    Args:
        annotators: their names.
        documents: how many documents two or more of them describe.
        alone: how many documents only one of them describes; these are not counted.
        total: over all fields; agreement by chance is counted field by field.
        fields: by path.
        batch_errors: how many comparisons are left out, because a batch comparator failed.
    """

    annotators: tuple[str, ...]
    documents: int
    alone: int
    total: FieldAgreement
    fields: Mapping[str, FieldAgreement]
    batch_errors: int = 0

    @property
    def figures(self) -> Mapping[str, float | None]:
        """The figures of all fields together, for gates."""
        return self.total.figures

    @property
    def by_field(self) -> Mapping[str, Mapping[str, float | None]]:
        """The figures of each field, for gates."""
        return {path: each.figures for path, each in self.fields.items()}


def measure_agreement(
    annotators: Mapping[str, Records],
    *,
    metric: str = defaults.METRIC,
    id_field: str | None = None,
    **options: Any,
) -> AgreementStudy:
    """Measure how far annotators of the same documents agree.

    Every two of them are compared as by `compare_json`, with its comparators, rules and pairs of array
    elements. A place is counted if either of the two has a value: leaving it out is a judgement, too. Chance
    agreement is how often values of the field from any two documents are the same to the comparator.

    Args:
        annotators: by name, each a list or an iterator of records, the path of a JSON Lines file, or a
            mapping of document ids to records. Those who have not described a document leave it out (with
            `id_field`, in a mapping), or are shorter.
        metric: a metric's name.
        id_field: the member that is the document's id; None: records are paired by position.
        **options: of the metric, `schema` among them, as for `compare_json`.

    Returns:
        Figures in [-1, 1], in total and by field, with 95 % bootstrap intervals over documents.

    Raises:
        ConfigurationError: fewer than two annotators, no document in common, an unknown option.
        GoldValidationError: a record is not JSON.

    Sources: Cohen 1960; Krippendorff 2011, Computing Krippendorff's Alpha-Reliability; Rubin 1981 (the
    bootstrap); docs/agreement.md says what is computed.

    >>> one, two = [{"kind": "a"}, {"kind": "b"}] * 10, [{"kind": "a"}, {"kind": "b"}, {"kind": "b"}] * 6
    >>> found = measure_agreement({"ann": one[:18], "bob": two})
    >>> found.documents, found.fields["kind"].agreement.value, round(found.fields["kind"].kappa.value, 3)
    (18, 0.5, 0.0)
    """
    if len(annotators) < 2:
        raise ConfigurationError("agreement needs at least 2 annotators, got 1")
    counted, compare = _Counted(tuple(annotators)), RecordComparer(metric, options)
    for chunk in chunks_of(joined(annotators, id_field), len(counted.pairs)):
        counted.add(chunk, compare)
    compare.warn()
    if not counted.documents:
        names = ", ".join(annotators)
        raise ConfigurationError(f"no document is described by two of {names}: do their ids agree?")
    if not counted.fields:
        raise ConfigurationError("there is nothing to compare: no annotator has a value anywhere")
    return counted.result()


@final
class _Counted:
    """What annotators say of all documents."""

    def __init__(self, annotators: tuple[str, ...]) -> None:
        self.annotators = annotators
        self.pairs = list(combinations(range(len(annotators)), 2))
        self.documents = self.alone = self.batch_errors = 0
        self.fields: dict[str, Ratings] = {}

    def add(self, documents: Iterable[tuple[str | int, list[JsonValue]]], compare: RecordComparer) -> None:
        """Add documents; a judge is asked about all of them together."""
        shared = []
        for name, records in documents:
            there = sum(record is not MISSING for record in records)
            if there > 1:
                both = [(records[second], records[first]) for first, second in self.pairs]
                shared.append((name, there, [pair for pair in both if MISSING not in pair]))
            else:
                self.alone += there
        results = compare(pair for _, _, pairs in shared for pair in pairs)
        for name, there, pairs in shared:
            self._add(name, there, [next(results) for _ in pairs])

    def _add(self, name: str | int, there: int, compared: Iterable[ComparedAnswer]) -> None:
        """Add a document that `there` annotators describe."""
        for result in compared:
            if isinstance(result, JsonMatchError):
                raise gold_error(name, None, result)
            for leaf in result.field_results:
                self.batch_errors += leaf.status == BATCH_ERROR
                if leaf.status not in LEAVES:
                    continue
                if leaf.path not in self.fields:
                    self.fields[leaf.path] = Ratings(_sameness(leaf.node))
                values = [(_key(leaf, value), value) for value in (leaf.expected, leaf.actual)]
                self.fields[leaf.path].add(self.documents, values, leaf.score, 1 / (there - 1))
        self.documents += 1

    def result(self) -> AgreementStudy:
        """Return the figures."""
        total, fields = figures_of(self.fields, self.documents, is_of_two=len(self.annotators) == 2)
        return AgreementStudy(self.annotators, self.documents, self.alone, total, fields, self.batch_errors)


def _key(leaf: FieldResult, value: JsonValue) -> Hashable:
    """Return what equal values have in common; None for a missing one, which equals nothing."""
    return None if value is MISSING else (make_json_key(leaf.node.rules.try_transform(value)),)


def _sameness(node: PlanNode) -> Callable[[JsonValue, JsonValue], bool]:
    """Return what tells whether two values are the same to a field's comparator."""

    def is_same(one: JsonValue, other: JsonValue) -> bool:
        # Other comparators may fail, or take many values at once.
        quick = node.rules.fast_score if CONTAINERS.isdisjoint({type(one), type(other)}) else None
        return quick is not None and quick(one, other) == 1.0

    return is_same


# -- figures -----------------------------------------------------------------------------------------------


@final
class Ratings:
    """What annotators say at the places of a field, two by two.

    Args:
        is_same: tells whether two different values are the same to the comparator.
    """

    def __init__(self, is_same: Callable[[Any, Any], bool] = lambda _one, _other: False) -> None:
        self._is_same = is_same
        self._rows: list[tuple[int, float, float, int, int]] = []
        """Document, weight, score, and the numbers of both values, 0 for a missing one."""
        self._values: dict[Hashable, tuple[int, Any]] = {}
        """Each value with its number, by its key."""

    @property
    def places(self) -> int:
        """How many pairs of values there are."""
        return len(self._rows)

    def add(self, document: int, values: Iterable[tuple[Hashable, Any]], score: float, weight: float) -> None:
        """Add what two annotators say at a place.

        Args:
            document: its number.
            values: both values, each after the key that equal ones share; a missing one has the key None.
            score: of one compared with the other.
            weight: the share of the pair in what all annotators of the document say.
        """
        first, second = (
            0 if key is None else self._values.setdefault(key, (len(self._values) + 1, value))[0]
            for key, value in values
        )
        self._rows.append((document, weight, score, first, second))

    def apart(self, *, is_of_two: bool) -> Callable[[Floats, float], Floats]:
        """Return a function that says how far annotators are apart, and how far they could be.

        It takes the weight of each document, and that of a document that is not among them. It returns a row
        for agreement and one for the figure beyond chance, in each how far annotators are apart, how far they
        could be, and how much an unseen document with nothing but disagreement adds to both.
        """
        documents, weights, scores, *pairs = np.array(self._rows).T.copy()
        places, codes = documents.astype(np.int64), np.array(pairs, dtype=np.int64)
        one, other = self._alike(codes)

        def measured(of_documents: Floats, unseen: float) -> Floats:
            share = of_documents[places]
            weighted = share * weights
            number = weighted.sum()
            first, second = (np.bincount(side, weighted, codes.max() + 1) for side in codes)
            # Missing values equal nothing.
            first[0] = second[0] = 0.0
            if is_of_two:
                possible = number**2
                same = (first * second).sum()
                same += (first[one] * second[other]).sum() + (first[other] * second[one]).sum()
            else:
                # One distribution of values for all annotators, without pairs of a value and itself.
                both, possible = first + second, 2 * number * (2 * number - 1)
                same = (both * (both - 1)).sum() + 2 * (both[one] * both[other]).sum()
            chance = 1 - same / max(possible, _NOTHING)
            more = unseen / len(of_documents)
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

    def _alike(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the pairs of different values that are the same to the comparator, of the most frequent."""
        counts = np.bincount(codes.ravel(), minlength=len(self._values) + 1)
        # The key decides between values that are equally frequent, so the order of documents does not.
        frequent = sorted(self._values.items(), key=lambda item: (-counts[item[1][0]], repr(item[0])))
        values = [value for _, value in frequent[:_COMPARED]]
        pairs = [
            (one, other)
            for (one, first), (other, second) in combinations(values, 2)
            if self._is_same(first, second)
        ]
        return np.array(pairs, dtype=np.int64).reshape(-1, 2).T


def figures_of(
    fields: Mapping[str, Ratings], documents: int, *, is_of_two: bool
) -> tuple[FieldAgreement, dict[str, FieldAgreement]]:
    """Return the figures of all fields together, and of each.

    Intervals are those of the Bayesian bootstrap over documents: these get random weights, and so does one
    more, in which annotators disagree about everything (for the lower end) or nothing (for the upper end).
    Without it, perfect agreement on five documents would have no interval. For yes and no these are the ends
    of Clopper and Pearson (1934), up to the draws.

    Args:
        fields: the ratings by path.
        documents: how many documents they are of.
        is_of_two: whether there are only two annotators.
    """
    if not fields:
        return FieldAgreement(0), {}
    random = np.random.RandomState(_SEED)
    paths = sorted(fields)
    measures = [fields[path].apart(is_of_two=is_of_two) for path in paths]
    rows = [[measured(np.ones(documents), 1.0) for measured in measures]]
    for _ in range(_DRAWS):
        weights = random.standard_exponential(documents + 1)
        rows.append([measured(weights[:-1], weights[-1]) for measured in measures])
    table = np.array(rows)
    named = zip(paths, table.swapaxes(0, 1), strict=True)
    by_field = {path: _estimated(sums, fields[path].places, is_of_two) for path, sums in named}
    places = sum(field.places for field in by_field.values())
    return _estimated(table.sum(axis=1), places, is_of_two), by_field


def _estimated(sums: Floats, places: int, is_of_two: bool) -> FieldAgreement:
    """Return figures, from the sums over all documents and then those of each draw."""
    agreement, beyond = (_estimate(sums[:, at], low) for at, low in enumerate((0.0, -1.0)))
    return FieldAgreement(places, agreement, beyond if is_of_two else None, None if is_of_two else beyond)


def _estimate(sums: Floats, least: float) -> Estimate | None:
    apart, possible, more_apart, more_possible = sums.T
    if possible[0] <= _NOTHING:
        return None
    value = round(float(1 - apart[0] / possible[0]), 12)  # sums of scores of 1 may be off by less
    most = np.maximum(possible + more_possible, _NOTHING)[1:]
    rest = (1 - SURE) / 2
    low = float(np.quantile(1 - (apart + more_apart)[1:] / most, rest))
    high = float(np.quantile(1 - apart[1:] / most, 1 - rest))
    return Estimate(value, max(least, min(value, low)), min(1.0, max(value, high)))
