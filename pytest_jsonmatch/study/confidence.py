"""Measure how reliable the confidences of a model are, and from which threshold values may skip review.

Import this module late, since it imports numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from pytest_jsonmatch.corpus.mistakes import find_other_forms
from pytest_jsonmatch.engine.score.field import BATCH_ERROR, HALLUCINATION, MATCH, MISMATCH
from pytest_jsonmatch.engine.value.convert import MISSING, get_value
from pytest_jsonmatch.engine.value.errors import ConfigurationError, name_argument
from pytest_jsonmatch.engine.value.paths import Segment, format_path, parse_path
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.records.pairing import Reading
from pytest_jsonmatch.study import calibration
from pytest_jsonmatch.study.answers import RecordComparer, pair_answers, split_chunks
from pytest_jsonmatch.study.calibration import Bin, Estimate, ReviewThreshold, Tally
from pytest_jsonmatch.study.words import describe_study
from pytest_jsonmatch.support import defaults

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.records.columns import ColumnSelection
    from pytest_jsonmatch.study.answers import Answered
    from pytest_jsonmatch.study.gold_records import Records

_Segments: TypeAlias = "tuple[Segment, ...]"
_TakeConfidence: TypeAlias = "Callable[[JsonValue, _Segments, JsonValue], tuple[JsonValue, object]]"
"""A function of an answer, a path and the value there; it returns the value without its confidence, and the
confidence, or None."""
_INLINE: Final = "inline"
_PATH: Final = "{path}"
_PAIR: Final = {"value", "confidence"}
_ESTIMATES: Final = ("auroc", "brier", "ece")
STATISTICS: Final = (
    *_ESTIMATES,
    "ece_low",
    "accuracy",
    "mean_confidence",
    "without_confidence",
    "coverage_at_error",
)
"""The statistics that gates can test."""
_VALUES: Final = frozenset({MATCH, MISMATCH, HALLUCINATION})
"""Results with a value in the answer, which is right or wrong."""


@final
@dataclass(frozen=True, slots=True)
class FieldConfidence:
    """The reliability of the confidences of a field, or of all fields.

    Args:
        values: the number of values with a confidence.
        without: the number of values without one, which count in no other statistic.
        accuracy: the share of the values that are right; None without values, as all statistics below.
        mean_confidence: the mean confidence, which equals the accuracy if confidences are calibrated.
        auroc: the probability that a right value has a higher confidence than a wrong one; None if all are
            right, or all are wrong.
        brier: the mean squared difference between confidence and outcome.
        ece: the expected calibration error: the mean difference between confidence and share of right values.
        reliability: up to ten bins with equal numbers of values.
        at_error: the threshold above which at most `max_error` is wrong, if it was given.
    """

    values: int
    without: int
    accuracy: float | None = None
    mean_confidence: float | None = None
    auroc: Estimate | None = None
    brier: Estimate | None = None
    ece: Estimate | None = None
    reliability: tuple[Bin, ...] = ()
    at_error: ReviewThreshold | None = None

    @property
    def statistics(self) -> dict[str, float | None]:
        """The statistics that gates can test."""
        total = self.values + self.without
        estimates = ((name, getattr(self, name)) for name in _ESTIMATES)
        return {
            **{name: estimate and estimate.value for name, estimate in estimates},
            "ece_low": self.ece and self.ece.low,
            "accuracy": self.accuracy,
            "mean_confidence": self.mean_confidence,
            "without_confidence": self.without / total if total else None,
            "coverage_at_error": self.at_error and self.at_error.coverage,
        }


@final
@dataclass(frozen=True, slots=True, repr=False)
class ConfidenceStudy:
    """The reliability of confidences, in total and by field.

    Args:
        total: the statistics over all values.
        fields: the statistics by schema path.
        records: the number of gold records.
        clusters: the number of clusters they belong to.
        max_error: the allowed share of wrong values.
        notes: remarks, such as the number of unreadable answers.
    """

    total: FieldConfidence
    fields: Mapping[str, FieldConfidence]
    records: int
    clusters: int
    max_error: float | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return describe_study(self)

    @property
    def statistics(self) -> dict[str, float | None]:
        """The statistics over all values, for gates."""
        return self.total.statistics

    @property
    def by_field(self) -> dict[str, dict[str, float | None]]:
        """The statistics of each field, for gates."""
        return {path: field.statistics for path, field in self.fields.items()}


def measure_confidence(
    answers: Records,
    gold: Records,
    /,
    *,
    confidence: str = _INLINE,
    max_error: float | None = None,
    correct: float = 1.0,
    metric: str = defaults.METRIC,
    id: str | None = None,
    actual: ColumnSelection | None = None,
    expected: ColumnSelection | None = None,
    delimiter: str | None = None,
    cluster: str | None = None,
    **options: Any,
) -> ConfidenceStudy:
    """Measure the reliability of the confidences in answers.

    Every value of an answer is right or wrong by its score, and may have a confidence. Missing values do not
    count.

    Args:
        answers: the answers, as for `compare_corpus`.
        gold: the gold records, as for `compare_corpus`.
        confidence: the location of confidences: "inline" for `{"value": ..., "confidence": ...}` in place of
            a value; or a path that contains `{path}`, such as "confidence_score.{path}".
        max_error: find the lowest threshold above which at most this share of the values is wrong.
        correct: the lowest score of a value that counts as right.
        metric: the name of a metric.
        id: the column that pairs a record with its answer; None pairs by position.
        actual: the column of the answer, with its confidences, or a mapping of fields to columns; by default
            the whole record.
        expected: the column of gold records with what is expected, or a mapping.
        delimiter: the delimiter of CSV files.
        cluster: the column of gold records that names their cluster; None makes each record its own cluster.
            Values of one cluster are never treated as independent.
        **options: options of the metric, such as `schema` and `fields`.

    Returns:
        Statistics from 0 to 1 with 95 % confidence intervals, and thresholds, in total and by field.

    Raises:
        ConfigurationError: a confidence is not a number from 0 to 1, or the answers have no confidences; or
            as for `compare_corpus`.

    Sources: see `study/calibration.py` and docs/analyse.md.

    >>> answers = [{"n": {"value": n, "confidence": 0.9 if n % 4 else 0.3}} for n in range(80)]
    >>> study = measure_confidence(answers, [{"n": n if n % 4 else -1} for n in range(80)])
    >>> study.total.auroc.value, round(study.total.ece.value, 2), study.fields["n"].values
    (1.0, 0.15, 80)
    """
    if max_error is not None and not 0 < max_error < 1:
        raise ConfigurationError(
            f"{name_argument('max_error')} must be above 0 and below 1, got {max_error!r}"
        )
    compare, split, notes = RecordComparer(metric, options), make_splitter(confidence), list[str]()
    collector = _ConfidenceCollector(correct)
    records = without = 0
    clusters: dict[str | int, int] = {}
    reading = Reading(id, compare.how.repair, expected, actual, delimiter)
    for chunk in split_chunks(pair_answers({"answers": answers}, gold, reading, compare, notes, cluster)):
        values, sure = zip(*(_split(record, split) for record in chunk), strict=True)
        results = compare((value, record.gold) for value, record in zip(values, chunk, strict=True))
        for record, result, confidences in zip(chunk, results, sure, strict=True):
            number = record.position
            if cluster is not None:
                number = clusters.setdefault(record.cluster or record.position, len(clusters))
            collector.add(number, record.checked(result), confidences)
        records += len(chunk)
        without += values.count(MISSING)
    if not collector.total.confidences:
        where = f"at {confidence!r}" if confidence != _INLINE else 'as {"value": ..., "confidence": ...}'
        forms = find_other_forms(answers, gold, reading)
        raise ConfigurationError(
            f"no value in the answers to {count(records, 'record')} has a confidence; these were looked for "
            f"{where}{'' if forms is None else f'; {forms}'}"
        )
    compare.warn()
    notes += _notes(collector, without)
    fields = {path: _measure_field(tally, max_error) for path, tally in sorted(collector.fields.items())}
    total = _measure_field(collector.total, max_error)
    return ConfidenceStudy(total, fields, records, len(clusters) or records, max_error, tuple(notes))


def _split(
    record: Answered, split: Callable[[JsonValue], tuple[JsonValue, dict[str, float]]]
) -> tuple[JsonValue, dict[str, float]]:
    """Return an answer without its confidences, and the confidences."""
    (answer,) = record.answers.values()
    if answer is MISSING:
        return MISSING, {}
    try:
        return split(answer)
    except ConfigurationError as error:
        raise ConfigurationError(f"record {record.id!r}: {error}") from None


@final
class _ConfidenceCollector:
    """Collects the values of records with their confidences."""

    def __init__(self, correct: float) -> None:
        self.total = Tally()
        self.fields: dict[str, Tally] = {}
        self.failed = 0
        """The number of values for which a batch comparator failed."""
        self._correct = correct

    def add(self, cluster: int, compared: MatchResult | None, sure: Mapping[str, float]) -> None:
        """Add the values of an answer; `compared` is None if it can't be compared."""
        for result in () if compared is None else compared.field_results:
            self.failed += result.status == BATCH_ERROR
            place = result.actual_path if result.status in _VALUES else None
            if place is None:
                continue
            confidence = sure.get(place)
            for tally in (self.fields.setdefault(result.path, Tally()), self.total):
                if confidence is None:
                    tally.without += 1
                else:
                    tally.add(confidence, result.score >= self._correct, cluster)


def _measure_field(tally: Tally, max_error: float | None) -> FieldConfidence:
    if not tally.confidences:
        return FieldConfidence(0, tally.without)
    outcomes = calibration.GroupedOutcomes.of(tally)
    ece, bins = calibration.calibration(outcomes)
    return FieldConfidence(
        outcomes.number,
        tally.without,
        accuracy=float(outcomes.right.sum()) / outcomes.number,
        mean_confidence=float(outcomes.means @ (outcomes.wrong + outcomes.right).sum(0)) / outcomes.number,
        auroc=calibration.auroc(outcomes),
        brier=calibration.brier(outcomes),
        ece=ece,
        reliability=bins,
        at_error=None if max_error is None else calibration.choose_threshold(tally, max_error),
    )


def _notes(collector: _ConfidenceCollector, without: int) -> Iterator[str]:
    """Yield notes on values and fields that count in no statistic."""
    fields = sorted(path for path, tally in collector.fields.items() if not tally.confidences)
    named = ", ".join(fields[:3]) + ", …" * (len(fields) > 3)
    left_out = {
        "gold records without an answer that can be read": without,
        "values left out, because a batch comparator failed": collector.failed,
        "values without a confidence: not counted": collector.total.without,
        f"fields without any confidence ({named})": len(fields),
    }
    yield from (f"{what}: {number:,}" for what, number in left_out.items() if number)


# -- confidences in answers ---------------------------------------------------------------------------------


def make_splitter(source: str) -> Callable[[JsonValue], tuple[JsonValue, dict[str, float]]]:
    """Return a function that returns an answer without confidences, and the confidences by instance path.

    The confidence of an object or array applies to the values in it that have none.

    Raises:
        ConfigurationError: the path does not contain `{path}`, or starts with it. The returned function
            raises it for a confidence that is not a number from 0 to 1.

    >>> make_splitter("inline")({"total": {"value": 9, "confidence": 0.8}, "date": "1 May"})
    ({'total': 9, 'date': '1 May'}, {'total': 0.8})
    >>> make_splitter("sure.{path}")({"items": [{"price": 9}], "sure": {"items": [{"price": 0.7}]}})
    ({'items': [{'price': 9}]}, {'items[0].price': 0.7})
    """
    take_confidence = _take_inline if source == _INLINE else _make_separate(source)

    def split(answer: JsonValue) -> tuple[JsonValue, dict[str, float]]:
        confidences: dict[str, float] = {}

        def copied(value: JsonValue, place: _Segments, above: float | None) -> JsonValue:
            value, given = take_confidence(answer, place, value)
            sure = above if given is None else _check_confidence(given, place)
            if sure is not None:
                confidences[format_path(place)] = sure
            if type(value) is dict:
                return {key: copied(inner, (*place, key), sure) for key, inner in value.items()}
            if type(value) is list:
                return [copied(inner, (*place, at), sure) for at, inner in enumerate(value)]
            return value

        return copied(answer, (), None), confidences

    return split


def _take_inline(_answer: JsonValue, _place: _Segments, value: JsonValue) -> tuple[JsonValue, object]:
    if type(value) is dict and value.keys() == _PAIR:
        return value["value"], value["confidence"]
    return value, None


def _make_separate(template: str) -> _TakeConfidence:
    before, after = _split_template(template)

    def take_confidence(answer: JsonValue, place: _Segments, value: JsonValue) -> tuple[JsonValue, object]:
        if not place and type(value) is dict:
            value = {key: inner for key, inner in value.items() if key != before[0]}
        found = get_value(answer, (*before, *place, *after))
        return value, None if found is MISSING or type(found) in {dict, list} else found

    return take_confidence


def _check_confidence(given: object, segments: _Segments) -> float:
    if type(given) in {int, float} and 0 <= given <= 1:  # type: ignore[operator] # it is a number
        return float(given)  # type: ignore[arg-type] # as above
    raise ConfigurationError(
        f"the confidence of {format_path(segments)} must be a number from 0 to 1, got {given!r}"
    )


def _split_template(template: str) -> tuple[_Segments, _Segments]:
    """Return the segments before `{path}` and those after it."""
    placeholder = "PATH_OF_THE_VALUE"
    segments = parse_path(template.replace(_PATH, placeholder)) if _PATH in template else ()
    if segments.count(placeholder) != 1 or segments[0] == placeholder or template.count(_PATH) > 1:
        raise ConfigurationError(
            f"{name_argument('confidence')} must be {_INLINE!r}, or a path with {{path}} in it once, as a "
            f"separate part below a member, such as 'confidence_score.{{path}}', got {template!r}"
        )
    at = segments.index(placeholder)
    return segments[:at], segments[at + 1 :]
