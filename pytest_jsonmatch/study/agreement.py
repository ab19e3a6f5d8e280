"""How far annotators agree: percent, Cohen's and Fleiss' kappa, Krippendorff's alpha, by field.

Imported when it is asked for: it imports numpy.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from pytest_jsonmatch import defaults
from pytest_jsonmatch.api import compare_values
from pytest_jsonmatch.engine.score.outcome import BATCH_ERROR, LEAVES
from pytest_jsonmatch.engine.value.convert import CONTAINERS, MISSING, NUMBERS
from pytest_jsonmatch.engine.value.equality import json_key
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.gate.intervals import checked_confidence, lower_end, plain_end
from pytest_jsonmatch.study.calibration import Estimate
from pytest_jsonmatch.study.records import joined, opened

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.schema.documents import SchemaSource
    from pytest_jsonmatch.study.records import Side

    Floats = NDArray[np.float64]

FIGURES: Final = ("agreement", "cohen", "fleiss", "alpha", "alpha_interval")
"""What is known of each field: names of figures, for gates too."""
_BLOCKS: Final = 100
"""Intervals leave out documents one by one; of more than twice as many, blocks of neighbours."""
_VALUES: Final = 250
"""So many distinct values of a field count for what chance alone would give."""
_ROOM: Final = 200_000
"""So many characters these values may have together."""
_LARGEST: Final = 1e150
"""Squares of larger numbers are beyond what can be added up."""
_WORST: Final = 10
_NAMED: Final = 5


@final
@dataclass(frozen=True, slots=True)
class FieldAgreement:
    """How far annotators agree about a field. A figure is None where it is not defined.

    Args:
        places: pairs of values that were compared: of every two annotators, wherever one of them has any.
        agreement: the mean score of such a pair: the share that is equal, where comparators say yes or no.
        cohen: Cohen's kappa; of more than two annotators the mean over all pairs (Light 1971).
        fleiss: Fleiss' kappa.
        alpha: Krippendorff's alpha, nominal: 1 minus the comparator's score is the difference.
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
        id: its id, or its place.
        agreement: the mean score of its places.
        differing: how many places differ.
        fields: the first of them.
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
        alone: how many only one of them does; nothing is said of these.
        total: over all fields; what chance gives is counted field by field.
        fields: by path.
        pairs: of every two annotators over all fields, by their names with a comma between.
        worst: the documents with the least agreement.
        confidence: of the intervals.
        batch_errors: comparisons that are left out, since a batch comparator failed.
    """

    annotators: tuple[str, ...]
    documents: int
    alone: int
    total: FieldAgreement
    fields: Mapping[str, FieldAgreement]
    pairs: Mapping[str, FieldAgreement]
    worst: tuple[DisputedDocument, ...] = ()
    confidence: float = 0.95
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
    schema: SchemaSource | None = None,
    metric: str = defaults.METRIC,
    id_field: str | None = None,
    confidence: float = 0.95,
    **options: Any,
) -> AgreementStudy:
    """Return how far annotators agree who have described the same documents.

    Every two of them are compared as `compare_json` does it, with its comparators, rules and pairs of array
    elements. A place is counted where one of the two has a value: leaving it out is a judgement, too. Where a
    comparator gives partial credit, that is the weight of agreement (Cohen 1968). What chance would give is
    the mean score of values of the field from any two documents.

    Args:
        annotators: by name, each a list or an iterator of records, the path of a JSON Lines file, or a
            mapping of document ids to records. Those who have not described a document leave it out (with
            `id_field`, in a mapping), or are shorter.
        schema: an eval schema, as for `compare_json`.
        metric: a metric's name.
        id_field: the member that is the document's id; None: records belong together by position.
        confidence: of the intervals, which are those of the jackknife over documents.
        **options: of the metric, as for `compare_json`.

    Returns:
        Figures with intervals, in [-1, 1], in total and by field; the worst documents; each two annotators.

    Raises:
        ConfigurationError: fewer than two annotators, no document in common, an unknown option.
        GoldValidationError: a record is not JSON.

    Sources: Cohen 1960 and 1968; Light 1971; Fleiss 1971; Krippendorff 2011, Computing Krippendorff's
    Alpha-Reliability; docs/agreement.md says what is computed.

    >>> one, two = [{"kind": "a"}, {"kind": "b"}] * 10, [{"kind": "a"}, {"kind": "b"}, {"kind": "b"}] * 6
    >>> found = measure_agreement({"ann": one[:18], "bob": two})
    >>> found.documents, found.fields["kind"].agreement.value, round(found.fields["kind"].cohen.value, 3)
    (18, 0.5, 0.0)
    """
    if len(annotators) < 2:
        raise ConfigurationError("agreement is between two annotators or more; there is one")
    checked_confidence(confidence)
    if schema is not None:
        from pytest_jsonmatch.schema.parsing import load_schema

        options["schema"] = load_schema(schema)
    counted = _Counted(tuple(annotators), metric, options)
    with opened(annotators, id_field) as golds:
        for name, records in joined(golds):
            counted.add(name, records)
    if not counted.documents:
        names = ", ".join(annotators)
        raise ConfigurationError(f"no document is described by two of {names}: do their ids agree?")
    if not counted.fields:
        raise ConfigurationError("there is nothing to compare: no annotator has a value anywhere")
    return counted.result(confidence)


# -- counting ----------------------------------------------------------------------------------------------

_PLACES, _SCORE, _NUMBERS, _SQUARES, _SUM, _SUM_OF_SQUARES = range(6)
"""What is added up of a field, for every two annotators, apart from how often each value is there."""


@final
@dataclass(slots=True, eq=False)
class _Field:
    """What is counted of a field, in blocks of documents."""

    node: PlanNode
    codes: dict[Hashable, int] = field(default_factory=dict)
    values: list[JsonValue] = field(default_factory=list)
    origin: float | None = None
    """The first number: sums of squares are of what lies around it."""
    room: int = _ROOM
    blocks: dict[int, Counter[tuple[int, ...]]] = field(default_factory=dict)
    """By block the counts, with (annotators of the document, pair of annotators, …) as keys."""

    def add(self, block: int, cell: tuple[int, int], result: FieldResult) -> None:
        """Add what two annotators say at one place; `cell` begins its keys."""
        found = self.blocks.setdefault(block, Counter())
        found[(*cell, _PLACES)] += 1
        found[(*cell, _SCORE)] += result.score  # type: ignore[assignment]
        sides = result.expected, result.actual
        for side, value in enumerate(sides):
            code = self._code(value)
            if code is not None:
                found[(*cell, side, code)] += 1
        if all(type(value) in NUMBERS and abs(value) < _LARGEST for value in sides):
            self._add_numbers(found, cell, *map(float, sides))

    def _add_numbers(
        self, found: Counter[tuple[int, ...]], cell: tuple[int, int], one: float, other: float
    ) -> None:
        if self.origin is None:
            self.origin = one
        one, other = one - self.origin, other - self.origin
        for what, number in (
            (_NUMBERS, 1),
            (_SQUARES, (one - other) ** 2),
            (_SUM, one + other),
            (_SUM_OF_SQUARES, one * one + other * other),
        ):
            found[(*cell, what)] += number  # type: ignore[assignment]

    def _code(self, value: JsonValue) -> int | None:
        """Return the number of a value; None if there are too many."""
        key = "absent" if value is MISSING else (json_key(self.node.prepare(value)),)
        code = self.codes.get(key)
        if code is None:
            size = len(value) if type(value) is str else 1
            if len(self.codes) == _VALUES or size > self.room:
                return None
            self.room -= size
            code = self.codes[key] = len(self.values)
            self.values.append(value)
        return code

    def halve(self) -> None:
        """Let two neighbouring blocks be one."""
        blocks, self.blocks = self.blocks, {}
        for block, found in blocks.items():
            self.blocks.setdefault(block // 2, Counter()).update(found)

    def chances(self) -> tuple[Floats, bool]:
        """Return what every two values score, and whether that is more than equality.

        Comparators that may fail or be asked in batches are not called for values nobody has put side by
        side: there equality counts.
        """
        size, quick = len(self.values), self.node.quick
        scores = np.eye(size)
        names = {self.node.comparator_for(value, value)[0] for value in self.values if value is not MISSING}
        graded = quick is not None and not names <= {"exact", "binary", None}
        for one, other in combinations(range(size), 2) if graded else ():
            pair = self.values[one], self.values[other]
            if MISSING not in pair and not CONTAINERS & {type(pair[0]), type(pair[1])}:
                scores[one, other], scores[other, one] = quick(*pair), quick(*pair[::-1])  # type: ignore[misc]
        if "absent" in self.codes:
            # Two annotators who both leave a place out are not compared there.
            scores[self.codes["absent"], self.codes["absent"]] = 0.0
        return scores, graded


@final
class _Counted:
    """What is counted of all documents."""

    def __init__(self, annotators: tuple[str, ...], metric: str, options: Mapping[str, Any]) -> None:
        self.annotators = annotators
        self.pairs = list(combinations(range(len(annotators)), 2))
        self.documents = self.alone = self.batch_errors = 0
        self.fields: dict[str, _Field] = {}
        self._metric, self._options = metric, options
        self._size = 1
        self._worst: list[tuple[float, int, DisputedDocument]] = []

    def add(self, name: str | int, records: list[JsonValue]) -> None:
        """Add a document."""
        there = sum(record is not MISSING for record in records)
        if there < 2:
            self.alone += there
            return
        block = self.documents // self._size
        if block == 2 * _BLOCKS:
            self._size *= 2
            block //= 2
            for each in self.fields.values():
                each.halve()
        self.documents += 1
        scores: list[float] = []
        differing: dict[str, None] = {}
        for number, (one, other) in enumerate(self.pairs):
            if records[one] is MISSING or records[other] is MISSING:
                continue
            for result in self._compared(records[one], records[other]):
                found = self.fields.get(result.path)
                if found is None:
                    found = self.fields[result.path] = _Field(result.node)
                found.add(block, (there, number), result)
                scores.append(result.score)
                if result.score < 1.0:
                    differing[result.short_path()] = None
        if differing:
            mean, fields = sum(scores) / len(scores), tuple(differing)
            disputed = DisputedDocument(name, mean, len(fields), fields[:_NAMED])
            keep = heapq.heappush if len(self._worst) < _WORST else heapq.heappushpop
            keep(self._worst, (-mean, -self.documents, disputed))

    def _compared(self, one: JsonValue, other: JsonValue) -> Iterator[FieldResult]:
        if type(other) is str:
            import json

            other = json.dumps(other)  # a text is a model's output, and this is a value
        result = compare_values(other, one, self._metric, self._options)
        for each in result.field_results:
            self.batch_errors += each.status == BATCH_ERROR
            if each.status in LEAVES:
                yield each

    def result(self, confidence: float) -> AgreementStudy:
        """Return the figures."""
        blocks = -(-self.documents // self._size)
        is_single = self._size == 1
        found = {
            path: _sums(each, blocks, self.pairs, is_single=is_single)
            for path, each in sorted(self.fields.items())
        }
        total = _Sums(
            np.sum([each.agreed for each in found.values()], axis=0),
            np.sum([each.apart for each in found.values()], axis=0),
            np.full(blocks, True),
            is_single,
        )
        pairs = {
            f"{self.annotators[one]}, {self.annotators[other]}": _Sums(
                total.agreed[:, [at]], total.apart[:, [at]], total.there, is_single
            ).estimated(confidence)
            for at, (one, other) in enumerate(self.pairs)
        }
        return AgreementStudy(
            self.annotators,
            self.documents,
            self.alone,
            total.estimated(confidence),
            {path: each.estimated(confidence) for path, each in found.items()},
            pairs,
            tuple(each for _, _, each in sorted(self._worst, key=lambda item: item[:2], reverse=True)),
            confidence,
            self.batch_errors,
        )


# -- figures -----------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, slots=True)
class _Sums:
    """The sums that figures of a field are ratios of, over all documents, and without each block of them.

    Args:
        agreed: scores and places of every two annotators: (2, pairs, 1 + blocks).
        apart: how far values are apart, and how far chance alone would put them: for Cohen's kappa of every
            two annotators, and for those of `FIGURES` after it: (2, pairs + 3, 1 + blocks).
        there: which blocks have the field.
        is_single: whether each block is one document.
    """

    agreed: Floats
    apart: Floats
    there: NDArray[np.bool_]
    is_single: bool

    def estimated(self, confidence: float) -> FieldAgreement:
        """Return the figures with their intervals."""
        pairs = self.agreed.shape[1]
        agreed, places = self.agreed.sum(axis=1)
        kappas = _beyond_chance(self.apart)
        has = self.agreed[1, :, 0] > 0
        rows = agreed / np.maximum(places, 1), kappas[:pairs][has].mean(axis=0), *kappas[pairs:]
        lows = 0.0, *[-1.0] * (len(rows) - 1)
        estimates = [
            self._estimate(row, low, (1 - confidence) / 2) for row, low in zip(rows, lows, strict=True)
        ]
        return FieldAgreement(int(places[0]), *estimates)

    def _estimate(self, rows: Floats, low: float, alpha: float) -> Estimate | None:
        """Return a figure and its interval, from its value over all documents and without each block."""
        value = float(rows[0])
        if np.isnan(value):
            return None
        left = rows[1:][self.there]
        # The jackknife's pseudo-values: the figure is as good as their mean (`gate.intervals.influences`).
        pseudo = len(left) * value - (len(left) - 1) * left
        if np.isnan(pseudo).any():
            return Estimate(value, low, 1.0)
        # Of so many documents that they come in blocks no kind worth mention was not seen.
        end = lower_end if self.is_single else _plain_end
        least, most = end(pseudo, alpha, low), -end(-pseudo, alpha, -1.0)
        return Estimate(value, float(min(value, least)), float(max(value, most)))


def _plain_end(values: Floats, alpha: float, bound: float) -> float:
    return max(bound, plain_end(values, alpha))


def _beyond_chance(apart: Floats) -> Floats:
    """Return 1 - observed / expected differences; NaN where chance alone can put nothing apart."""
    seen, by_chance = apart
    beyond: Floats = 1 - seen / np.where(by_chance > _NOTHING, by_chance, np.nan)
    return beyond


_NOTHING: Final = 1e-9


def _sums(counted: _Field, blocks: int, pairs: list[tuple[int, int]], *, is_single: bool) -> _Sums:
    """Return the sums of a field from what was counted."""
    scores, graded = counted.chances()
    sums: dict[tuple[int, int], Floats] = {}
    codes: dict[tuple[int, int], Floats] = {}
    for block, found in counted.blocks.items():
        for (there, pair, *what), number in found.items():
            cell = there, pair
            if cell not in sums:
                sums[cell], codes[cell] = np.zeros((6, blocks)), np.zeros((2, len(scores), blocks))
            if len(what) == 1:
                sums[cell][what[0], block] += number
            else:
                codes[cell][what[0], what[1], block] += number
    agreed = np.zeros((2, len(pairs), blocks + 1))
    by_pair = np.zeros((len(pairs), 2, len(scores), blocks + 1))
    # Fleiss and Krippendorff count each value of a document once, however many others it is compared with.
    weighted, pooled = np.zeros((6, blocks + 1)), np.zeros((len(scores), blocks + 1))
    for (there, pair), added in sums.items():
        own, values = _left_out(added), _left_out(codes[there, pair])
        agreed[:, pair] += own[[_SCORE, _PLACES]]
        by_pair[pair] += values
        weighted += own / (there - 1)
        pooled += values.sum(axis=0) / (there - 1)
    chance = [_chance(one, other, scores, places, graded) for (one, other), places in zip(by_pair, agreed[1])]
    cohen = agreed[1] - agreed[0], agreed[1] * (1 - np.array(chance))
    places = weighted[_PLACES]
    apart = places - weighted[_SCORE]
    both = _chance(pooled, pooled, scores, 2 * places, graded)
    # Krippendorff's is the same without pairs of a value and itself.
    own = scores.diagonal() @ pooled / np.maximum(2 * places, 1)
    all_others = np.maximum(2 * places - 1, _NOTHING)
    alpha = 1 - (both * 2 * places - own) / all_others
    squares = _of_numbers(weighted)
    seen = [*cohen[0], apart, apart, squares[0]]
    expected = [*cohen[1], places * (1 - both), places * alpha, squares[1]]
    has = np.isin(np.arange(blocks), list(counted.blocks))
    return _Sums(agreed, np.array([seen, expected]), has, is_single)


def _left_out(counts: Floats) -> Floats:
    """Return sums over all blocks, and then without each of them, along the last axis."""
    total = counts.sum(axis=-1, keepdims=True)
    return np.concatenate((total, total - counts), axis=-1)


def _chance(one: Floats, other: Floats, scores: Floats, number: Floats, graded: bool) -> Floats:
    """Return the mean score of a value of one annotator and any value of the other.

    Args:
        one: how often each value is there: (values, rows).
        other: likewise of the other annotator.
        scores: of every two values.
        number: how many values there are in each row.
        graded: whether different values may score: then those that have no number are taken to be like the
            others; else they are taken to equal nothing.
    """
    of = one.sum(axis=0) * other.sum(axis=0) if graded else number**2
    return (one * (scores @ other)).sum(axis=0) / np.maximum(of, 1)


def _of_numbers(weighted: Floats) -> tuple[Floats, Floats]:
    """Return observed and expected squared differences, in units of what chance gives over all documents."""
    number = 2 * weighted[_NUMBERS]
    around = weighted[_SUM_OF_SQUARES] - weighted[_SUM] ** 2 / np.maximum(number, 1)
    expected = weighted[_NUMBERS] * 2 * around / np.maximum(number - 1, 1)
    unit = expected[0] / max(weighted[_NUMBERS][0], 1) or 1.0
    return weighted[_SQUARES] / unit, expected / unit
