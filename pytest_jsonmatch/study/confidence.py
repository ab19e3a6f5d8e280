"""Can a model's confidences be trusted, and from which on may answers skip review?

Import this module late: it imports numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from pytest_jsonmatch import defaults
from pytest_jsonmatch.engine.score.outcome import BATCH_ERROR, HALLUCINATION, MATCH, MISMATCH
from pytest_jsonmatch.engine.value.convert import MISSING, value_at
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.paths import Segment, format_path, parse_path
from pytest_jsonmatch.engine.value.text import count, render
from pytest_jsonmatch.study import calibration
from pytest_jsonmatch.study.answers import Comparer, answered, chunks_of
from pytest_jsonmatch.study.calibration import GROUPS, Bin, Estimate, Risk, Tally, Threshold

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.study.answers import Answered
    from pytest_jsonmatch.study.records import Side

ConfidenceSource: TypeAlias = "str | Callable[[JsonValue, str], float | None]"
"""Where confidences are: "inline", a path with `{path}` in it, a function of answer and instance path."""
_Segments: TypeAlias = "tuple[Segment, ...]"
_Own: TypeAlias = "Callable[[_Segments, JsonValue], tuple[JsonValue, object]]"
"""Returns a place's value without its confidence, and its confidence; None if it has none itself."""
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
        risks: the results of accepting all values from a threshold on, the highest threshold first.
        at_error: the threshold above which at most `max_error` is wrong, if that was given.
        cheapest: the threshold that costs least, if costs were given.
    """

    values: int
    without: int
    accuracy: float | None = None
    mean_confidence: float | None = None
    auroc: Estimate | None = None
    brier: Estimate | None = None
    ece: Estimate | None = None
    reliability: tuple[Bin, ...] = ()
    risks: tuple[Risk, ...] = ()
    at_error: Threshold | None = None
    cheapest: Threshold | None = None

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
        cost: what a wrong value and a review cost.
        notes: remarks, such as how many answers could not be read.
    """

    total: FieldConfidence
    fields: Mapping[str, FieldConfidence]
    records: int
    clusters: int
    max_error: float | None = None
    cost: Mapping[str, float] | None = None
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
    actual: Side,
    expected: Side,
    *,
    confidence: ConfidenceSource = _INLINE,
    max_error: float | None = None,
    cost: Mapping[str, float] | None = None,
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
            value; a path with `{path}` in it, such as "confidence_score.{path}"; or a function of an answer
            and the instance path of a value that returns a number from 0 to 1, or None.
        max_error: find the lowest threshold above which at most this share of the values is wrong.
        cost: {"wrong": 100, "review": 1}: find the threshold that costs least.
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
    _check(max_error, cost, correct)
    compare, split, notes = Comparer(metric, options), split_by(confidence), list[str]()
    counting = _Counting(correct)
    records = without = 0
    clusters: dict[str | int, int] = {}
    for chunk in chunks_of(answered(expected, {"answers": actual}, id_field, compare, notes)):
        names, golds = zip(*(_without(cluster, record.gold) for record in chunk), strict=True)
        answers, sure = zip(*(_split(record, split) for record in chunk), strict=True)
        bare = (_without(cluster, answer)[1] for answer in answers)
        results = compare(zip(bare, golds, strict=True))
        for record, name, result, found in zip(chunk, names, results, sure, strict=True):
            number = record.position
            if cluster is not None:
                number = clusters.setdefault(name or record.position, len(clusters))
            counting.add(number, record.checked(result), found)
        records += len(chunk)
        without += answers.count(MISSING)
    if not counting.total.counts:
        where = f"at {confidence!r}" if confidence != _INLINE else 'as {"value": ..., "confidence": ...}'
        raise ConfigurationError(
            f"no value in the answers to {count(records, 'record')} has a confidence; these were looked for "
            f"{where}"
        )
    compare.warn()
    notes += _notes(counting, without)
    fields = {path: _figures(each, max_error, cost) for path, each in sorted(counting.fields.items())}
    total = _figures(counting.total, max_error, cost)
    return ConfidenceStudy(total, fields, records, len(clusters) or records, max_error, cost, tuple(notes))


def _check(max_error: float | None, cost: Mapping[str, float] | None, correct: float) -> None:
    if max_error is not None and not 0 < max_error < 1:
        raise ConfigurationError(
            f"max_error is {max_error!r}; it must be a share above 0 and below 1, such as 0.01"
        )
    if not 0 < correct <= 1:
        raise ConfigurationError(f"correct is {correct!r}; it must be a score above 0 and at most 1")
    if cost is not None and (cost.keys() != {"wrong", "review"} or min(cost.values()) <= 0):
        raise ConfigurationError(
            f"cost is {dict(cost)!r}; it must say what a wrong value and a review cost, both above 0, as in "
            '{"wrong": 100, "review": 1}'
        )


def _split(
    record: Answered, split: Callable[[JsonValue], tuple[JsonValue, dict[str, float]]]
) -> tuple[JsonValue, dict[str, float]]:
    """Return an answer without its confidences, and the confidences."""
    (answer,) = record.answers
    if answer is MISSING:
        return MISSING, {}
    try:
        return split(answer)
    except ConfigurationError as error:
        raise ConfigurationError(f"record {record.id!r}: {error}") from None


def _without(cluster: str | None, value: JsonValue) -> tuple[str, JsonValue]:
    """Return the cluster that a record names, empty if it names none, and the record without it."""
    if cluster is None or type(value) is not dict or value.get(cluster) is None:
        return "", value
    name = value[cluster]
    rest = {key: each for key, each in value.items() if key != cluster}
    return name if type(name) is str else render(name), rest


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
        group = _groups(cluster // GROUPS)[cluster % GROUPS]
        for result in () if compared is None else compared.field_results:
            self.failed += result.status == BATCH_ERROR
            place = result.actual_path if result.status in _VALUES else None
            if place is None:
                continue
            confidence = sure.get(place)
            if confidence is None and type(result.actual) in {dict, list}:
                # A whole object is as sure as the least sure value in it.
                inside = (
                    value for path, value in sure.items() if path.startswith((f"{place}.", f"{place}["))
                )
                confidence = min(inside, default=None)
            for each in (self.fields.setdefault(result.path, Tally()), self.total):
                if confidence is None:
                    each.without += 1
                else:
                    each.add(confidence, result.score >= self._correct, group, cluster)


@lru_cache(maxsize=8)
def _groups(block: int) -> Sequence[int]:
    """Return the groups of forty consecutive clusters, one each."""
    return Random(block).sample(range(GROUPS), GROUPS)  # noqa: S311 - deals out, and guards nothing


def _figures(of: Tally, max_error: float | None, cost: Mapping[str, float] | None) -> FieldConfidence:
    if not of.counts:
        return FieldConfidence(0, of.without)
    outcomes = calibration.Outcomes.of(of)
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
        risks=calibration.risks(outcomes),
        at_error=None if max_error is None else calibration.promise(outcomes, max_error),
        cheapest=None if cost is None else calibration.cheapest(outcomes, cost["wrong"], cost["review"]),
    )


def _notes(counting: _Counting, without: int) -> Iterator[str]:
    """Yield notes on what is in no figure."""
    fields = sorted(path for path, each in counting.fields.items() if not each.counts)
    named = ", ".join(fields[:3]) + ", …" * (len(fields) > 3)
    left_out = {
        "gold records without an answer that can be read": without,
        "values left out, because a batch comparator failed": counting.failed,
        "values without a confidence, in no figure": counting.total.without,
        f"fields without any confidence ({named})": len(fields),
    }
    yield from (f"{what}: {number:,}" for what, number in left_out.items() if number)


# -- confidences in answers ---------------------------------------------------------------------------------


def split_by(source: ConfidenceSource) -> Callable[[JsonValue], tuple[JsonValue, dict[str, float]]]:
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
    if callable(source):
        return lambda answer: _walked(answer, _asked(source, answer))
    if source == _INLINE:
        return lambda answer: _walked(answer, _inline)
    before, after = _parts(source)

    def split(answer: JsonValue) -> tuple[JsonValue, dict[str, float]]:
        def own(segments: _Segments, value: JsonValue) -> tuple[JsonValue, object]:
            found = value_at(answer, (*before, *segments, *after))
            return value, None if found is MISSING or type(found) in {dict, list} else found

        is_object = type(answer) is dict
        bare = {key: value for key, value in answer.items() if key != before[0]} if is_object else answer
        return _walked(bare, own)

    return split


def _inline(_segments: _Segments, value: JsonValue) -> tuple[JsonValue, object]:
    if type(value) is dict and value.keys() == _PAIR:
        return value["value"], value["confidence"]
    return value, None


def _asked(function: Callable[[JsonValue, str], float | None], answer: JsonValue) -> _Own:
    def own(segments: _Segments, value: JsonValue) -> tuple[JsonValue, object]:
        is_leaf = type(value) not in {dict, list}
        return value, function(answer, format_path(segments)) if is_leaf else None

    return own


def _walked(answer: JsonValue, own: _Own) -> tuple[JsonValue, dict[str, float]]:
    """Return a copy of an answer without confidences, and the confidences by instance path."""
    found: dict[str, float] = {}
    root: list[Any] = [None]
    # An explicit stack: an answer may be deeper than Python's.
    waiting: list[tuple[JsonValue, _Segments, float | None, Any, Any]] = [(answer, (), None, root, 0)]
    while waiting:
        value, segments, above, holder, at = waiting.pop()
        value, given = own(segments, value)
        sure = above if given is None else _checked(given, segments)
        if sure is not None:
            found[format_path(segments)] = sure
        holder[at] = value
        if type(value) is dict:
            holder[at] = copied = dict.fromkeys(value)
            waiting += [(each, (*segments, key), sure, copied, key) for key, each in value.items()]
        elif type(value) is list:
            holder[at] = elements = [None] * len(value)
            waiting += [(each, (*segments, place), sure, elements, place) for place, each in enumerate(value)]
    return root[0], found


def _checked(given: object, segments: _Segments) -> float:
    if type(given) in {int, float} and 0 <= given <= 1:  # type: ignore[operator] # it is a number
        return float(given)  # type: ignore[arg-type] # as above
    raise ConfigurationError(
        f"the confidence of {format_path(segments)} is {given!r}; it must be a number from 0 to 1"
    )


def _parts(template: str) -> tuple[_Segments, _Segments]:
    """Return the segments before `{path}`, and those after it."""
    placeholder = "PATH_OF_THE_VALUE"
    segments = parse_path(template.replace(_PATH, placeholder)) if _PATH in template else ()
    if segments.count(placeholder) != 1 or segments[0] == placeholder or template.count(_PATH) > 1:
        raise ConfigurationError(
            f"confidence is {template!r}; it must be {_INLINE!r}, a function, or a path with {{path}} in it "
            "once, as a separate part below a member, such as 'confidence_score.{path}'"
        )
    at = segments.index(placeholder)
    return segments[:at], segments[at + 1 :]
