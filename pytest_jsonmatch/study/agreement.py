"""How far annotators agree: percent, Cohen's and Fleiss' kappa, Krippendorff's alpha, by field.

Import this module late: it imports numpy.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from pytest_jsonmatch import defaults
from pytest_jsonmatch.corpus.records import gold_error
from pytest_jsonmatch.engine.score.outcome import BATCH_ERROR, LEAVES
from pytest_jsonmatch.engine.value.convert import CONTAINERS, MISSING, NUMBERS
from pytest_jsonmatch.engine.value.equality import json_key
from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonMatchError
from pytest_jsonmatch.gate.intervals import lower_end, plain_end
from pytest_jsonmatch.study.answers import Comparer, chunks_of
from pytest_jsonmatch.study.calibration import SURE, Estimate
from pytest_jsonmatch.study.records import joined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.study.answers import Compared
    from pytest_jsonmatch.study.records import Side

    Floats = NDArray[np.float64]

FIGURES: Final = ("agreement", "cohen", "fleiss", "alpha", "alpha_interval")
"""The names of a field's figures, for gates too."""
_BLOCKS: Final = 200
"""Intervals leave out one document at a time, or, above this number, one of this many groups of documents."""
_VALUES: Final = 250
"""At most this many distinct values of a field count towards agreement by chance."""
_LARGEST: Final = 1e150
"""Sums of squares of larger numbers could overflow."""
_NOTHING: Final = 1e-9
"""If chance puts values no further apart than this, agreement beyond chance is not defined."""
_WORST: Final = 10
_NAMED: Final = 5


@final
@dataclass(frozen=True, slots=True)
class FieldAgreement:
    """How far annotators agree about a field. A figure is None where it is not defined.

    Args:
        places: how many pairs of values were compared: of every two annotators, wherever either has a value.
        agreement: the mean score of such a pair: the share that is equal, if comparators say yes or no.
        cohen: Cohen's kappa; with more than two annotators, the mean over all pairs of them (Light 1971).
        fleiss: Fleiss' kappa.
        alpha: Krippendorff's alpha, nominal: values are the same (the comparator's score is 1) or not.
        alpha_interval: the same over pairs of numbers, with their squared difference.
    """

    places: int
    agreement: Estimate | None = None
    cohen: Estimate | None = None
    fleiss: Estimate | None = None
    alpha: Estimate | None = None
    alpha_interval: Estimate | None = None

    @property
    def figures(self) -> dict[str, float | None]:
        """The figures by name, without intervals."""
        found = {name: getattr(self, name) for name in FIGURES}
        return {name: None if each is None else each.value for name, each in found.items()}


@final
@dataclass(frozen=True, slots=True)
class DisputedDocument:
    """A document that annotators disagree about.

    Args:
        id: its id, or its position.
        agreement: the mean score of its places.
        differing: how many places differ.
        fields: the paths of the first of them.
    """

    id: str | int
    agreement: float
    differing: int
    fields: tuple[str, ...]


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
        worst: the documents with the least agreement.
        batch_errors: how many comparisons are left out, because a batch comparator failed.
    """

    annotators: tuple[str, ...]
    documents: int
    alone: int
    total: FieldAgreement
    fields: Mapping[str, FieldAgreement]
    worst: tuple[DisputedDocument, ...] = ()
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
    annotators: Mapping[str, Side],
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
        Figures in [-1, 1], in total and by field, with 95 % jackknife intervals over documents; the worst
        documents.

    Raises:
        ConfigurationError: fewer than two annotators, no document in common, an unknown option.
        GoldValidationError: a record is not JSON.

    Sources: Cohen 1960; Light 1971; Fleiss 1971; Krippendorff 2011, Computing Krippendorff's
    Alpha-Reliability; docs/agreement.md says what is computed.

    >>> one, two = [{"kind": "a"}, {"kind": "b"}] * 10, [{"kind": "a"}, {"kind": "b"}, {"kind": "b"}] * 6
    >>> found = measure_agreement({"ann": one[:18], "bob": two})
    >>> found.documents, found.fields["kind"].agreement.value, round(found.fields["kind"].cohen.value, 3)
    (18, 0.5, 0.0)
    """
    if len(annotators) < 2:
        raise ConfigurationError("agreement needs two annotators or more; there is one")
    counted, compare = _Counted(tuple(annotators)), Comparer(metric, options)
    for chunk in chunks_of(joined(annotators, id_field), len(counted.pairs)):
        counted.add(chunk, compare)
    compare.warn()
    if not counted.documents:
        names = ", ".join(annotators)
        raise ConfigurationError(f"no document is described by two of {names}: do their ids agree?")
    if not counted.fields:
        raise ConfigurationError("there is nothing to compare: no annotator has a value anywhere")
    return counted.result()


# -- counting ----------------------------------------------------------------------------------------------

_PLACES, _SCORE, _SAME, _NUMBERS, _SQUARES, _SUM, _SUM_OF_SQUARES = _KINDS = range(7)
"""What is added up for a field, besides how often each value occurs."""
_ALL: Final = -1
"""All annotators, in place of a pair: each value counts once, however many others it is compared with."""


@final
@dataclass(slots=True, eq=False)
class _Field:
    """The counts of a field."""

    node: PlanNode
    sums: Counter[tuple[int, ...]] = field(default_factory=Counter)
    """By pair of annotators, kind of sum and block of documents."""
    numbers: Counter[tuple[int, ...]] = field(default_factory=Counter)
    """How often each value occurs: by pair of annotators, side, value and block."""
    codes: dict[Hashable, tuple[int, JsonValue]] = field(default_factory=dict)
    """Each value with its number; values that the comparator calls the same share one."""
    origin: float | None = None
    """The first number; sums of squares are of differences from it."""

    def add(self, pair: int, block: int, weight: float, result: FieldResult) -> None:
        """Add what two annotators say at one place; in the counts of all annotators it has `weight`."""
        sides = result.expected, result.actual
        for who, share in (pair, 1.0), (_ALL, weight):
            sums = {_PLACES: share, _SCORE: share * result.score, _SAME: share * (result.score >= 1)}
            self._add(who, block, sums)
            for side, value in enumerate(sides):
                if (code := self._code(value)) is not None:
                    self.numbers[who, side, code, block] += share  # type: ignore[assignment]
        if all(type(value) in NUMBERS and abs(value) < _LARGEST for value in sides):
            self.origin = float(sides[0]) if self.origin is None else self.origin
            one, other = (float(value) - self.origin for value in sides)
            sums = {_NUMBERS: 1.0, _SQUARES: (one - other) ** 2, _SUM: one + other}
            sums[_SUM_OF_SQUARES] = one * one + other * other
            self._add(_ALL, block, {kind: weight * number for kind, number in sums.items()})

    def _add(self, who: int, block: int, added: Mapping[int, float]) -> None:
        for kind, number in added.items():
            self.sums[who, kind, block] += number  # type: ignore[assignment]

    def _code(self, value: JsonValue) -> int | None:
        """Return the number of a value; None for a missing one, and if there are too many."""
        if value is MISSING:
            # Two annotators who both leave a place out are not compared there.
            return None
        key = json_key(self.node.prepare(value))
        if key not in self.codes:
            if len(self.codes) == _VALUES:
                return None
            alike = (code for code, other in self.codes.values() if self._same(other, value))
            self.codes[key] = next(alike, len(self.codes)), value
        return self.codes[key][0]

    def _same(self, one: JsonValue, other: JsonValue) -> bool:
        # Other comparators may fail, or take many values at once.
        quick = self.node.quick if CONTAINERS.isdisjoint({type(one), type(other)}) else None
        return quick is not None and quick(one, other) == 1.0


@final
class _Counted:
    """The counts of all documents."""

    def __init__(self, annotators: tuple[str, ...]) -> None:
        self.annotators = annotators
        self.pairs = list(combinations(range(len(annotators)), 2))
        self.documents = self.alone = self.batch_errors = 0
        self.fields: dict[str, _Field] = {}
        self._worst: list[tuple[float, int, DisputedDocument]] = []

    def add(self, documents: Iterable[tuple[str | int, list[JsonValue]]], compare: Comparer) -> None:
        """Add documents; a judge is asked about all of them together."""
        shared = []
        for name, records in documents:
            there = sum(record is not MISSING for record in records)
            if there > 1:
                both = [(records[other], records[one]) for one, other in self.pairs]
                shared.append((name, there, [each for each in enumerate(both) if MISSING not in each[1]]))
            else:
                self.alone += there
        results = compare(pair for _, _, pairs in shared for _, pair in pairs)
        for name, there, pairs in shared:
            self._add(name, there, ((number, next(results)) for number, _ in pairs))

    def _add(self, name: str | int, there: int, compared: Iterable[tuple[int, Compared]]) -> None:
        """Add a document that `there` annotators describe."""
        block = self.documents % _BLOCKS
        self.documents += 1
        scores: list[float] = []
        differing: dict[str, None] = {}
        for number, result in compared:
            if isinstance(result, JsonMatchError):
                raise gold_error(name, None, result)
            for each in result.field_results:
                self.batch_errors += each.status == BATCH_ERROR
                if each.status not in LEAVES:
                    continue
                if each.path not in self.fields:
                    self.fields[each.path] = _Field(each.node)
                self.fields[each.path].add(number, block, 1 / (there - 1), each)
                scores.append(each.score)
                if each.score < 1.0:
                    differing[each.short_path()] = None
        if differing:
            mean, fields = sum(scores) / len(scores), tuple(differing)
            disputed = DisputedDocument(name, mean, len(fields), fields[:_NAMED])
            keep = heapq.heappush if len(self._worst) < _WORST else heapq.heappushpop
            keep(self._worst, (-mean, -self.documents, disputed))

    def result(self) -> AgreementStudy:
        """Return the figures."""
        blocks = min(self.documents, _BLOCKS)
        apart = {path: _apart(each, len(self.pairs), blocks) for path, each in sorted(self.fields.items())}

        def estimated(sums: Floats) -> FieldAgreement:
            return _estimated(sums, is_single=self.documents <= _BLOCKS)

        return AgreementStudy(
            self.annotators,
            self.documents,
            self.alone,
            estimated(np.sum(list(apart.values()), axis=0)),
            {path: estimated(sums) for path, sums in apart.items()},
            tuple(each for _, _, each in sorted(self._worst, key=lambda item: item[:2], reverse=True)),
            self.batch_errors,
        )


# -- figures -----------------------------------------------------------------------------------------------


def _apart(counted: _Field, pairs: int, blocks: int) -> Floats:
    """Return how far values are apart, and how far they could be or chance alone would put them.

    The shape is (2, figures, 1 + blocks): agreement, Fleiss' kappa, both alphas, and Cohen's kappa of every
    two annotators; over all documents, and then without each block of them.
    """
    sums = np.zeros((pairs + 1, len(_KINDS), blocks))
    numbers = np.zeros((pairs + 1, 2, len(counted.codes), blocks))
    for target, found in (sums, counted.sums), (numbers, counted.numbers):
        for place, number in found.items():
            target[place] = number
    sums, numbers = _left_out(sums), _left_out(numbers)
    *by_pair, pooled = sums
    # Fleiss and Krippendorff use one distribution of values for all annotators.
    everyone = numbers[_ALL].sum(axis=0)
    places = pooled[_PLACES]
    number = 2 * places
    equal = (everyone**2).sum(axis=0)
    # Krippendorff's is the same without pairs of a value and itself.
    fleiss, alpha = equal / _some(number**2), (equal - everyone.sum(axis=0)) / _some(number * (number - 1))
    seen = places - pooled[_SAME]
    rows = [(seen, places * (1 - fleiss)), (seen, places * (1 - alpha)), _of_numbers(pooled)]
    for each, (one, other) in zip(by_pair, numbers):
        cohen = (one * other).sum(axis=0) / _some(each[_PLACES] ** 2)
        rows.append((each[_PLACES] - each[_SAME], each[_PLACES] * (1 - cohen)))
    agreed = sums[:-1].sum(axis=0)
    return np.array([(agreed[_PLACES] - agreed[_SCORE], agreed[_PLACES]), *rows]).swapaxes(0, 1)


def _left_out(counts: Floats) -> Floats:
    """Return sums over all blocks, and then without each of them, along the last axis."""
    total = counts.sum(axis=-1, keepdims=True)
    return np.concatenate((total, total - counts), axis=-1)


def _some(number: Floats) -> Floats:
    """Return numbers to divide by: a tiny one in place of 0."""
    return np.maximum(number, _NOTHING)


def _of_numbers(pooled: Floats) -> tuple[Floats, Floats]:
    """Return observed and expected squared differences, in units of what chance gives over all documents."""
    number = 2 * pooled[_NUMBERS]
    around = pooled[_SUM_OF_SQUARES] - pooled[_SUM] ** 2 / _some(number)
    expected = pooled[_NUMBERS] * 2 * around / _some(number - 1)
    unit = expected[0] / max(pooled[_NUMBERS][0], 1) or 1.0
    return pooled[_SQUARES] / unit, expected / unit


def _estimated(apart: Floats, *, is_single: bool) -> FieldAgreement:
    """Return figures with intervals: 1 - observed / possible or chance differences.

    Args:
        apart: as `_apart` returns it, of one field or the sum of several.
        is_single: whether each block is one document.
    """
    seen, possible = apart
    places = possible[0]
    there = np.append(True, places[1:] < places[0])
    figures = (1 - seen / np.where(possible > _NOTHING, possible, np.nan))[:, there]
    agreement, fleiss, alpha, alpha_interval, *by_pair = figures
    # Two annotators who leave nothing to chance, or have no document in common, have no kappa.
    kappas = np.array([each for each in by_pair if not np.isnan(each[0])] or [alpha * np.nan])
    rows = agreement, kappas.mean(axis=0), fleiss, alpha, alpha_interval
    ends = (1 - SURE) / 2, is_single
    return FieldAgreement(
        round(places[0]), *(_estimate(row, -1.0 if at else 0.0, *ends) for at, row in enumerate(rows))
    )


def _estimate(row: Floats, low: float, alpha: float, is_single: bool) -> Estimate | None:
    """Return a figure and its interval, from its value over all documents and without each block."""
    value, left = float(row[0]), row[1:]
    if np.isnan(value):
        return None
    # The jackknife's pseudo-values: the figure behaves like their mean (`gate.intervals.influences`).
    pseudo = len(left) * value - (len(left) - 1) * left
    if np.isnan(pseudo).any():
        return Estimate(value, low, 1.0)
    if is_single:
        least, most = lower_end(pseudo, alpha, low), -lower_end(-pseudo, alpha, -1.0)
    else:
        # Among this many documents, every kind worth mention has been seen.
        least, most = max(low, plain_end(pseudo, alpha)), min(1.0, -plain_end(-pseudo, alpha))
    return Estimate(value, float(min(value, least)), float(max(value, most)))
