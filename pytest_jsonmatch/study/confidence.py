"""Can a model's confidences be trusted, and from which on may answers skip review?

Import this module late: it imports numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from pytest_jsonmatch import defaults
from pytest_jsonmatch.engine.score.field import BATCH_ERROR, HALLUCINATION, MATCH, MISMATCH
from pytest_jsonmatch.engine.value.convert import MISSING, get_value
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.paths import Segment, format_path, parse_path
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.study import calibration
from pytest_jsonmatch.study.answers import RecordComparer, answered, chunks_of
from pytest_jsonmatch.study.calibration import Bin, Estimate, ReviewThreshold, Tally
from pytest_jsonmatch.study.gold_records import cluster_of

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.study.answers import Answered
    from pytest_jsonmatch.study.gold_records import Records

_Segments: TypeAlias = "tuple[Segment, ...]"
_Own: TypeAlias = "Callable[[JsonValue, _Segments, JsonValue], tuple[JsonValue, object]]"
"""Takes an answer, a place and the value there; returns the value without its confidence, and its own
confidence; None if it has none itself."""
_INLINE: Final = "inline"
_PATH: Final = "{path}"
_PAIR: Final = {"value", "confidence"}
_ESTIMATES: Final = ("auroc", "brier", "ece")
FIGURES: Final = (*_ESTIMATES, "accuracy", "mean_confidence", "without_confidence", "coverage_at_error")
"""The figures that gates may name."""
_VALUES: Final = frozenset({MATCH, MISMATCH, HALLUCINATION})
"""Results with a value in the answer, which is right or wrong."""


@final
@dataclass(frozen=True, slots=True)
class FieldConfidence:
    """How much the confidences of a field, or of all fields, are worth.

    Args:
        values: how many values of answers have a confidence.
        without: how many have none; no other figure includes them.
        accuracy: the share of the values that are right; None without values, like all figures below.
        mean_confidence: what that share should be.
        auroc: how often a right value has a higher confidence than a wrong one; None if all are right, or
            all wrong.
        brier: the mean squared difference between confidence and outcome.
        ece: the expected calibration error: how far confidence and share of right values are apart.
        reliability: up to ten bins with equally many values.
        at_error: the threshold above which at most `max_error` is wrong, if that was given.
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
    def figures(self) -> dict[str, float | None]:
        """The figures that gates may name."""
        every = self.values + self.without
        estimates = ((name, getattr(self, name)) for name in _ESTIMATES)
        return {
            **{name: each and each.value for name, each in estimates},
            "accuracy": self.accuracy,
            "mean_confidence": self.mean_confidence,
            "without_confidence": self.without / every if every else None,
            "coverage_at_error": self.at_error and self.at_error.coverage,
        }


@final
@dataclass(frozen=True, slots=True)
class ConfidenceStudy:
    """What confidences are worth, in total and by field.

    Args:
        total: of all values together.
        fields: by schema path.
        records: how many gold records there are.
        clusters: how many clusters they belong to.
        max_error: the share of wrong values that was allowed.
        notes: remarks, such as how many answers could not be read.
    """

    total: FieldConfidence
    fields: Mapping[str, FieldConfidence]
    records: int
    clusters: int
    max_error: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def figures(self) -> dict[str, float | None]:
        """The figures of all values together, by name."""
        return self.total.figures

    @property
    def by_field(self) -> dict[str, dict[str, float | None]]:
        """The same of each field."""
        return {path: each.figures for path, each in self.fields.items()}


def measure_confidence(
    actual: Records,
    expected: Records,
    *,
    confidence: str = _INLINE,
    max_error: float | None = None,
    correct: float = 1.0,
    metric: str = defaults.METRIC,
    id_field: str | None = None,
    cluster: str | None = None,
    **options: Any,
) -> ConfidenceStudy:
    """Measure what the confidences in answers are worth.

    Every value of an answer is right or wrong, as the metric scores it, and may have a confidence. Values
    that the answer leaves out are not in the figures.

    Args:
        actual: the answers, as for `compare_corpus`.
        expected: the gold records, as for `compare_corpus`, or a mapping of ids to records.
        confidence: where confidences are: "inline", as `{"value": ..., "confidence": ...}` in place of a
            value; or a path with `{path}` in it, such as "confidence_score.{path}".
        max_error: find the lowest threshold above which at most this share of the values is wrong.
        correct: the score from which a value counts as right.
        metric: as for `compare_corpus`, like the arguments below.
        id_field: the member that pairs a record with its answer.
        cluster: the member of gold records that names their cluster; without it each record is its own.
            Values of one cluster, and those of one record, are never treated as independent.
        **options: of the metric, such as `schema` and `fields`.

    Returns:
        Figures from 0 to 1 with 95 % confidence intervals, and thresholds, in total and by field.

    Raises:
        ConfigurationError: a confidence that is not a number from 0 to 1, answers without any, and what
            `compare_corpus` raises.

    Sources: see `study/calibration.py` and docs/confidence.md.

    >>> answers = [{"n": {"value": n, "confidence": 0.9 if n % 4 else 0.3}} for n in range(80)]
    >>> study = measure_confidence(answers, [{"n": n if n % 4 else -1} for n in range(80)])
    >>> study.total.auroc.value, round(study.total.ece.value, 2), study.fields["n"].values
    (1.0, 0.15, 80)
    """
    if max_error is not None and not 0 < max_error < 1:
        raise ConfigurationError(f"max_error must be above 0 and below 1, got {max_error!r}")
    compare, split, notes = RecordComparer(metric, options), split_by(confidence), list[str]()
    counting = _Counting(correct)
    records = without = 0
    clusters: dict[str | int, int] = {}
    for chunk in chunks_of(answered(expected, {"answers": actual}, id_field, compare, notes)):
        names, golds = zip(*(cluster_of(record.gold, cluster) for record in chunk), strict=True)
        answers, sure = zip(*(_split(record, split) for record in chunk), strict=True)
        bare = (cluster_of(answer, cluster)[1] for answer in answers)
        results = compare(zip(bare, golds, strict=True))
        for record, name, result, confidences in zip(chunk, names, results, sure, strict=True):
            number = record.position
            if cluster is not None:
                number = clusters.setdefault(name or record.position, len(clusters))
            counting.add(number, record.checked(result), confidences)
        records += len(chunk)
        without += answers.count(MISSING)
    if not counting.total.confidences:
        where = f"at {confidence!r}" if confidence != _INLINE else 'as {"value": ..., "confidence": ...}'
        raise ConfigurationError(
            f"no value in the answers to {count(records, 'record')} has a confidence; these were looked for "
            f"{where}"
        )
    compare.warn()
    notes += _notes(counting, without)
    fields = {path: _figures(each, max_error) for path, each in sorted(counting.fields.items())}
    total = _figures(counting.total, max_error)
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
class _Counting:
    """Counts values as records come."""

    def __init__(self, correct: float) -> None:
        self.total = Tally()
        self.fields: dict[str, Tally] = {}
        self.failed = 0
        """Values that a batch comparator failed on."""
        self._correct = correct

    def add(self, cluster: int, compared: MatchResult | None, sure: Mapping[str, float]) -> None:
        """Count the values of an answer; `compared` is None if it can't be compared."""
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


def _figures(of: Tally, max_error: float | None) -> FieldConfidence:
    if not of.confidences:
        return FieldConfidence(0, of.without)
    outcomes = calibration.GroupedOutcomes.of(of)
    ece, bins = calibration.calibration(outcomes)
    return FieldConfidence(
        outcomes.number,
        of.without,
        accuracy=float(outcomes.right.sum()) / outcomes.number,
        mean_confidence=float(outcomes.means @ (outcomes.wrong + outcomes.right).sum(0)) / outcomes.number,
        auroc=calibration.auroc(outcomes),
        brier=calibration.brier(outcomes),
        ece=ece,
        reliability=bins,
        at_error=None if max_error is None else calibration.promise(of, max_error),
    )


def _notes(counting: _Counting, without: int) -> Iterator[str]:
    """Yield notes on what is in no figure."""
    fields = sorted(path for path, each in counting.fields.items() if not each.confidences)
    named = ", ".join(fields[:3]) + ", …" * (len(fields) > 3)
    left_out = {
        "gold records without an answer that can be read": without,
        "values left out, because a batch comparator failed": counting.failed,
        "values without a confidence: not counted": counting.total.without,
        f"fields without any confidence ({named})": len(fields),
    }
    yield from (f"{what}: {number:,}" for what, number in left_out.items() if number)


# -- confidences in answers ---------------------------------------------------------------------------------


def split_by(source: str) -> Callable[[JsonValue], tuple[JsonValue, dict[str, float]]]:
    """Return a function that splits an answer: the answer without confidences, and these by instance path.

    The confidence of an object or array applies to everything below it that has none of its own.

    Raises:
        ConfigurationError: a path without `{path}`, or with nothing before it. The function raises it for a
            confidence that is not a number from 0 to 1.

    >>> split_by("inline")({"total": {"value": 9, "confidence": 0.8}, "date": "1 May"})
    ({'total': 9, 'date': '1 May'}, {'total': 0.8})
    >>> split_by("sure.{path}")({"items": [{"price": 9}], "sure": {"items": [{"price": 0.7}]}})
    ({'items': [{'price': 9}]}, {'items[0].price': 0.7})
    """
    own = _inline if source == _INLINE else _beside(source)

    def split(answer: JsonValue) -> tuple[JsonValue, dict[str, float]]:
        confidences: dict[str, float] = {}

        def copied(value: JsonValue, place: _Segments, above: float | None) -> JsonValue:
            value, given = own(answer, place, value)
            sure = above if given is None else _checked(given, place)
            if sure is not None:
                confidences[format_path(place)] = sure
            if type(value) is dict:
                return {key: copied(inner, (*place, key), sure) for key, inner in value.items()}
            if type(value) is list:
                return [copied(inner, (*place, at), sure) for at, inner in enumerate(value)]
            return value

        return copied(answer, (), None), confidences

    return split


def _inline(_answer: JsonValue, _place: _Segments, value: JsonValue) -> tuple[JsonValue, object]:
    if type(value) is dict and value.keys() == _PAIR:
        return value["value"], value["confidence"]
    return value, None


def _beside(template: str) -> _Own:
    before, after = _parts(template)

    def own(answer: JsonValue, place: _Segments, value: JsonValue) -> tuple[JsonValue, object]:
        if not place and type(value) is dict:
            value = {key: inner for key, inner in value.items() if key != before[0]}
        found = get_value(answer, (*before, *place, *after))
        return value, None if found is MISSING or type(found) in {dict, list} else found

    return own


def _checked(given: object, segments: _Segments) -> float:
    if type(given) in {int, float} and 0 <= given <= 1:  # type: ignore[operator] # it is a number
        return float(given)  # type: ignore[arg-type] # as above
    raise ConfigurationError(
        f"the confidence of {format_path(segments)} must be a number from 0 to 1, got {given!r}"
    )


def _parts(template: str) -> tuple[_Segments, _Segments]:
    """Return the segments before `{path}`, and those after it."""
    placeholder = "PATH_OF_THE_VALUE"
    segments = parse_path(template.replace(_PATH, placeholder)) if _PATH in template else ()
    if segments.count(placeholder) != 1 or segments[0] == placeholder or template.count(_PATH) > 1:
        raise ConfigurationError(
            f"confidence must be {_INLINE!r}, or a path with {{path}} in it once, as a separate part below a "
            f"member, such as 'confidence_score.{{path}}', got {template!r}"
        )
    at = segments.index(placeholder)
    return segments[:at], segments[at + 1 :]
