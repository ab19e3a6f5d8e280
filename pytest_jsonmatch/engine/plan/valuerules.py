"""How the values at a place are scored, from field rules, the schema and the metric together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol, final

from pytest_jsonmatch.engine.comparators.transforms import UserFunction, map_scalars
from pytest_jsonmatch.engine.plan.accept import NO_ACCEPT, Acceptance
from pytest_jsonmatch.engine.value.convert import MISSING, Matcher
from pytest_jsonmatch.support.frozen import Frozen, replace

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pytest_jsonmatch.engine.comparators.base import BoundComparator, CompiledTransform
    from pytest_jsonmatch.engine.plan.absent import AbsentValues
    from pytest_jsonmatch.engine.plan.accept import Accept
    from pytest_jsonmatch.engine.plan.binding import Transforms, TypeTable, UserScore
    from pytest_jsonmatch.engine.plan.options import Alignment
    from pytest_jsonmatch.engine.value.convert import JsonValue

_ROUNDING: Final = 1e-12
"""Scores that differ by at most this may be equal: tables and single scores agree only to this."""


class InheritedRules(Protocol):
    """The rules that a place inherits from the place around it, or from the metric."""

    @property
    def default_types(self) -> TypeTable:
        """The comparators by type for places without a more specific one."""

    @property
    def transforms(self) -> Transforms:
        """The transforms of scalars."""

    @property
    def thresholds(self) -> Thresholds:
        """The thresholds of leaf scores."""


@final
class Thresholds(Frozen):
    """The thresholds of leaf scores; they never make a lower score count more than a higher one."""

    __slots__ = ("lowest", "match")

    def __init__(self, lowest: float = 0.0, match: float = 1.0) -> None:
        self.lowest: Final = lowest
        """A score below this counts 0."""
        self.match: Final = match
        """A score of at least this counts 1."""

    def apply(self, score: float) -> float:
        """Return the score that counts for a leaf."""
        if score < self.lowest:
            return 0.0
        return 1.0 if score >= self.match else score

    def apply_to(self, scores: Any) -> None:
        """Replace the scores in a numpy array by those that count."""
        if self != NO_THRESHOLDS:
            scores[scores < self.lowest] = 0.0
            scores[scores >= self.match] = 1.0

    def wrap(self, score: UserScore) -> UserScore:
        """Return a function that scores two values and applies the thresholds."""
        return (
            score if self == NO_THRESHOLDS else lambda expected, actual: self.apply(score(expected, actual))
        )


NO_THRESHOLDS: Final = Thresholds()


def make_thresholds(leaf_threshold: float | None, match_threshold: float | None) -> Thresholds:
    """Return the thresholds for the options or words of these names; at most one of them is a number.

    Only a score of 1 reaches a threshold of 1. Other thresholds are reached within rounding, but never by 0.

    >>> make_thresholds(None, 0.6).apply(0.6), make_thresholds(None, 0.6).apply(0.5)
    (1.0, 0.0)
    """
    threshold = leaf_threshold if match_threshold is None else match_threshold
    if threshold is None:
        return NO_THRESHOLDS
    lowest = max(threshold - _ROUNDING, threshold / 2) if threshold < 1.0 else 1.0
    return Thresholds(lowest) if match_threshold is None else Thresholds(lowest, lowest)


@final
class RuleWords:
    """The words of a rule of `fields` or of a schema, bound; None for a word that is not given."""

    __slots__ = (
        "accept",
        "align",
        "also",
        "compare",
        "default_types",
        "given",
        "reads_text",
        "skip",
        "thresholds",
        "transform",
        "types",
        "weight",
    )

    def __init__(
        self,
        *,
        compare: BoundComparator | None = None,
        types: TypeTable | None = None,
        default_types: TypeTable | None = None,
        transform: Transforms | None = None,
        reads_text: bool | None = None,
        thresholds: Thresholds | None = None,
        weight: float | None = None,
        align: Alignment | None = None,
        skip: bool | None = None,
        accept: Accept | None = None,
        also: Accept | None = None,
    ) -> None:
        self.compare: Final = compare
        self.types: Final = types
        """The comparators by type for this place."""
        self.default_types: Final = default_types
        """The comparators by type for this place and those below."""
        self.transform: Final = transform
        """The transforms of scalars, without `parse_json`."""
        self.reads_text: Final = reads_text
        """Whether texts are JSON, by the transform `parse_json`."""
        self.thresholds: Final = thresholds
        """Both thresholds of leaf scores, so that the stronger of two rules decides on both."""
        self.weight: Final = weight
        self.align: Final = align
        self.skip: Final = skip
        self.accept: Final = accept
        self.also: Final = also
        """What the option `accept` adds to `accept`."""
        values = {name: getattr(self, name) for name in self.__slots__ if name != "given"}
        self.given: Final[Mapping[str, Any]] = {
            name: value for name, value in values.items() if value is not None
        }
        """The words that are given, by name."""

    def stronger(self, other: RuleWords) -> RuleWords:
        """Return the words of two rules; of a word that both give, that of `other`, the stronger one."""
        if not self.given or not other.given:
            return other if other.given else self
        return RuleWords(**{**self.given, **other.given})

    def without(self, names: Collection[str]) -> RuleWords:
        """Return these words without some of them."""
        if not any(name in self.given for name in names):
            return self
        return RuleWords(**{name: value for name, value in self.given.items() if name not in names})


NO_WORDS: Final = RuleWords()


@final
class ValueRules:
    """The rules for scoring the values at a place; places with the same rules share one object."""

    __slots__ = (
        "absent",
        "accept",
        "align",
        "default_types",
        "equal_means_match",
        "explicit_comparator",
        "fast_score",
        "reads_text",
        "skip",
        "strict_numbers",
        "thresholds",
        "transform",
        "transforms",
        "types",
        "weight",
    )

    def __init__(
        self,
        default_types: TypeTable,
        types: TypeTable,
        transforms: Transforms,
        transform: CompiledTransform,
        explicit_comparator: BoundComparator | None,
        thresholds: Thresholds,
        weight: float,
        align: Alignment,
        skip: bool,
        reads_text: bool,
        absent: AbsentValues | None,
        strict_numbers: bool,
        equal_means_match: bool,
        fast_score: UserScore | None,
        accept: Acceptance | None,
    ) -> None:
        self.default_types: Final = default_types
        """The comparators by type for places below."""
        self.types: Final = types
        """The comparators by type for this place."""
        self.transforms: Final = transforms
        self.transform: Final = transform
        """Applies the transforms to a scalar; raises the errors of a user's transform."""
        self.explicit_comparator: Final = explicit_comparator
        """The comparator that a rule names, its parameters transformed like the data; None without one."""
        self.thresholds: Final = thresholds
        self.weight: Final = weight
        """The weight of this place relative to the place around it."""
        self.align: Final = align
        self.skip: Final = skip
        self.reads_text: Final = reads_text
        """Whether texts here are JSON, which is parsed before the walk."""
        self.absent: Final = absent
        """The values of members that mean that they are absent; None without any."""
        self.strict_numbers: Final = strict_numbers
        """Whether 42 and 42.0 are different here."""
        self.equal_means_match: Final = equal_means_match
        """Whether equal scalars of one type match without further checks."""
        self.fast_score: Final = fast_score
        """Scores two scalars with thresholds applied, without errors; None if scalars need further checks."""
        self.accept: Final = accept
        """What is accepted in addition to the expected value; None if nothing is."""

    def try_transform(self, value: JsonValue) -> JsonValue:
        """Return a value after the transforms here, or unchanged if a user's transform raises an error."""
        is_container = type(value) is dict or type(value) is list
        if value is MISSING or (self.explicit_comparator is None if is_container else not self.transforms):
            return value
        if type(value) is Matcher:
            return value
        try:
            return self.transform_all(value)
        except Exception:  # noqa: BLE001 - user code; the scorer has already recorded the error
            return value

    def transform_all(self, value: JsonValue) -> JsonValue:
        """Return a value for a comparator of whole values: all scalars transformed, absent members removed.

        Raises the errors of a user's transform.
        """
        if type(value) is not dict and type(value) is not list:
            return self.transform(value)
        if self.absent is not None:
            value = self.absent.strip_deeply(self, value)
        return map_scalars(value, self.transform) if self.transforms else value

    def may_lack(self, value: JsonValue) -> bool:
        """Return whether actual may lack this value of expected without penalty."""
        return self.accept is not None and self.accept.optional and type(value) is not Matcher

    def find_comparator(self, expected: JsonValue, actual: JsonValue) -> tuple[str | None, Mapping[str, Any]]:
        """Return the name and parameters of the comparator for two values of one type here."""
        bound = self.explicit_comparator or self.types.find(expected, actual)
        return (None, {}) if bound is None else (bound.comparator.name, bound.params)


def make_value_rules(
    words: RuleWords,
    above: InheritedRules,
    align: Alignment,
    *,
    absent: AbsentValues | None,
    checked: bool,
) -> ValueRules:
    """Return the rules of a place.

    Args:
        words: the words of field rules and of the schema here, bound.
        above: the rules of the place around it, or the metric.
        align: how arrays are aligned unless a word overrides it.
        absent: the values of members that mean that they are absent.
        checked: whether the walk has to check the values, because the rules depend on them or because no
            value may be here.
    """
    default_types = words.default_types or above.default_types
    types = words.types or default_types
    transforms = above.transforms if words.transform is None else words.transform
    named_comparator = words.compare
    transform = _make_transform(transforms, may_make_containers=named_comparator is not None)
    explicit = (
        named_comparator.after_transforms(_make_safe(transform))
        if named_comparator and transforms
        else named_comparator
    )
    compare = explicit or types
    skip = words.skip is True
    is_safe = not (skip or checked or any(isinstance(function, UserFunction) for function in transforms))
    is_fast = is_safe and compare.is_fast
    reflexive = types.reflexive if named_comparator is None else named_comparator.comparator.reflexive
    number_comparator = named_comparator or types.bound["integer"]
    thresholds = words.thresholds or above.thresholds
    score = thresholds.wrap(compare.score) if is_fast else compare.score
    rules = ValueRules(
        default_types=default_types,
        types=types,
        transforms=transforms,
        transform=transform,
        explicit_comparator=explicit,
        thresholds=thresholds,
        weight=1.0 if words.weight is None else float(words.weight),
        align=words.align or align,
        skip=skip,
        reads_text=words.reads_text is True,
        absent=absent,
        strict_numbers=number_comparator.params.get("strict_number_type") is True,
        equal_means_match=is_safe and reflexive,
        fast_score=_compose(transform, transforms, score) if is_fast else None,
        accept=None,
    )
    if words.accept is None and words.also is None:
        return rules
    accept = (words.accept or NO_ACCEPT).merge(words.also or NO_ACCEPT)
    values = [rules.try_transform(alternative.value) for alternative in accept.alternatives]
    acceptance = Acceptance(accept, values, score, fast=is_fast, compares_containers=explicit is not None)
    fast_score = _compose(transform, transforms, acceptance.score) if is_fast and accept.is_fast else None
    return replace(rules, accept=acceptance, fast_score=fast_score)


def _make_transform(transforms: Transforms, *, may_make_containers: bool) -> CompiledTransform:
    """Return a function that applies transforms to a scalar."""

    def transform(value: JsonValue) -> JsonValue:
        if value is not None:
            for function in transforms:
                value = function(value)
            if not may_make_containers and (type(value) is dict or type(value) is list):
                raise TypeError("it made an array or object of a scalar, which needs a comparator of its own")
        return value

    return transform


def _make_safe(transform: CompiledTransform) -> CompiledTransform:
    """Return a transform that returns a value unchanged instead of raising an error."""

    def safe(value: JsonValue) -> JsonValue:
        try:
            return transform(value)
        except Exception:  # noqa: BLE001 - user code; the scorer records the error
            return value

    return safe


def _compose(transform: CompiledTransform, transforms: Transforms, score: UserScore) -> UserScore:
    """Return a function that scores two values after their transforms."""
    if not transforms:
        return score
    return lambda expected, actual: score(transform(expected), transform(actual))
