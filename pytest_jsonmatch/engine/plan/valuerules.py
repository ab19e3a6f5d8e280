"""How the values at a place are scored: what rules, the schema and the metric decide together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, final

from pytest_jsonmatch.engine.compare.transforms import UserFunction, map_scalars
from pytest_jsonmatch.engine.plan.accept import Acceptance
from pytest_jsonmatch.engine.value.convert import MISSING, Matcher

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_jsonmatch.engine.compare.base import BoundComparator, CompiledTransform
    from pytest_jsonmatch.engine.plan.accept import Accept
    from pytest_jsonmatch.engine.plan.binding import Transforms, TypeTable, UserScore
    from pytest_jsonmatch.engine.plan.options import Alignment
    from pytest_jsonmatch.engine.value.convert import JsonValue

_ROUNDING: Final = 1e-12
"""Scores that differ by no more may be equal: tables and single scores agree to this."""


class InheritedRules(Protocol):
    """What a place takes over from the place above it, or from the metric."""

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
class Thresholds(NamedTuple):
    """What the score of a leaf has to reach. They never make a lower score count more than a higher one."""

    lowest: float = 0.0
    """A leaf that scores less than this counts 0."""
    match: float = 1.0
    """A leaf that scores at least this counts 1."""

    def apply(self, score: float) -> float:
        """Return what a leaf with a score counts."""
        if score < self.lowest:
            return 0.0
        return 1.0 if score >= self.match else score

    def wrap(self, score: UserScore) -> UserScore:
        """Return the function that scores two values and applies the thresholds."""
        return (
            score if self == NO_THRESHOLDS else lambda expected, actual: self.apply(score(expected, actual))
        )


NO_THRESHOLDS: Final = Thresholds()


def make_thresholds(leaf_threshold: float | None, match_threshold: float | None) -> Thresholds:
    """Return the thresholds that the options or words of these names give; at most one of them is a number.

    A threshold of 1 is reached by a score of 1 only, any other one within rounding, and none by a score of 0.

    >>> make_thresholds(None, 0.6).apply(0.6), make_thresholds(None, 0.6).apply(0.5)
    (1.0, 0.0)
    """
    threshold = leaf_threshold if match_threshold is None else match_threshold
    if threshold is None:
        return NO_THRESHOLDS
    lowest = max(threshold - _ROUNDING, threshold / 2) if threshold < 1.0 else 1.0
    return Thresholds(lowest) if match_threshold is None else Thresholds(lowest, lowest)


@final
@dataclass(frozen=True, slots=True, eq=False)
class ValueRules:
    """How the values at a place are scored. Places with the same rules share one."""

    default_types: TypeTable
    """The comparators by type that places below inherit."""
    types: TypeTable
    """The comparators by type here."""
    transforms: Transforms
    transform: CompiledTransform
    """Applies the transforms to a scalar; raises whatever a user's transform raises."""
    explicit_comparator: BoundComparator | None
    """The comparator that a rule names; its parameters are transformed like the data."""
    thresholds: Thresholds
    weight: float
    """The weight of this place relative to the one around it."""
    align: Alignment
    skip: bool
    reads_text: bool
    """Whether texts here are JSON, which is read before the walk."""
    nulls_absent: bool
    strict_numbers: bool
    """Whether 42 and 42.0 differ here."""
    equal_means_match: bool
    """Whether equal scalars of one type match without further checks."""
    fast_score: UserScore | None
    """Scores two scalars, thresholds applied, and never fails; None if they need further checks."""
    accept: Acceptance | None
    """What is accepted besides the expected value; None if nothing is."""

    def try_transform(self, value: JsonValue) -> JsonValue:
        """Return a value after the transforms here, or unchanged if a user's transform fails."""
        is_container = type(value) is dict or type(value) is list
        if value is MISSING or (self.explicit_comparator is None if is_container else not self.transforms):
            return value
        if type(value) is Matcher:
            return value
        try:
            return self.transform_all(value)
        except Exception:  # noqa: BLE001 - user code; the scorer has made an error entry of it already
            return value

    def transform_all(self, value: JsonValue) -> JsonValue:
        """Return a value as a comparator takes it whole: every scalar transformed, absent nulls left out.

        Raises whatever a user's transform raises.
        """
        if type(value) is not dict and type(value) is not list:
            return self.transform(value)
        if not self.transforms and not self.nulls_absent:
            return value
        return map_scalars(value, self.transform, drop_nulls=self.nulls_absent)

    def may_lack(self, value: JsonValue) -> bool:
        """Return whether actual may lack a value of expected here without penalty."""
        return self.accept is not None and self.accept.optional and type(value) is not Matcher

    def find_comparator(self, expected: JsonValue, actual: JsonValue) -> tuple[str | None, Mapping[str, Any]]:
        """Return the name and parameters of the comparator for two values of one type here."""
        bound = self.explicit_comparator or self.types.find(expected, actual)
        return (None, {}) if bound is None else (bound.comparator.name, bound.params)


def make_value_rules(
    words: Mapping[str, Any], above: InheritedRules, align: Alignment, *, nulls_absent: bool, checked: bool
) -> ValueRules:
    """Return the rules of a place.

    Args:
        words: the words of field rules and of the schema here, bound.
        above: the rules of the place around it, or the metric.
        align: how arrays are aligned unless a word says otherwise.
        nulls_absent: whether members that are null are absent.
        checked: whether the walk has to look at the values: which rules apply, or whether any value may be
            here, depends on them.
    """
    default_types = words.get("default_types", above.default_types)
    types = words.get("types", default_types)
    transforms: Transforms = words.get("transform", above.transforms)
    written: BoundComparator | None = words.get("compare")
    transform = _chain(transforms, may_make_containers=written is not None)
    explicit = written.after_transforms(_make_safe(transform)) if written and transforms else written
    compare = explicit or types
    skip = words.get("skip", False)
    is_safe = not (skip or checked or any(isinstance(change, UserFunction) for change in transforms))
    is_fast = is_safe and compare.is_fast
    reflexive = types.reflexive if written is None else written.comparator.reflexive
    of_numbers = written or types.bound["integer"]
    thresholds: Thresholds = words.get("thresholds", above.thresholds)
    score = thresholds.wrap(compare.score) if is_fast else compare.score
    accepts: list[Accept] = [words[word] for word in ("accept", "also") if word in words]
    made = ValueRules(
        default_types=default_types,
        types=types,
        transforms=transforms,
        transform=transform,
        explicit_comparator=explicit,
        thresholds=thresholds,
        weight=float(words.get("weight", 1.0)),
        align=words.get("align", align),
        skip=skip,
        reads_text=words.get("reads_text", False),
        nulls_absent=nulls_absent,
        strict_numbers=of_numbers.params.get("strict_number_type") is True,
        equal_means_match=is_safe and reflexive,
        fast_score=_compose(transform, transforms, score) if is_fast else None,
        accept=None,
    )
    if not accepts:
        return made
    accept = accepts[0].merge(accepts[1]) if len(accepts) > 1 else accepts[0]
    values = [made.try_transform(each.value) for each in accept.alternatives]
    acceptance = Acceptance(accept, values, score, fast=is_fast, whole=explicit is not None)
    fast_score = _compose(transform, transforms, acceptance.score) if is_fast and accept.is_fast else None
    return replace(made, accept=acceptance, fast_score=fast_score)


def _chain(transforms: Transforms, *, may_make_containers: bool) -> CompiledTransform:
    """Return the function that applies transforms to a scalar."""

    def transform(value: JsonValue) -> JsonValue:
        if value is not None:
            for each in transforms:
                value = each(value)
            if not may_make_containers and (type(value) is dict or type(value) is list):
                raise TypeError("it made an array or object of a scalar, which needs a comparator of its own")
        return value

    return transform


def _make_safe(transform: CompiledTransform) -> CompiledTransform:
    """Return a transform that leaves a value unchanged if it fails."""

    def safe(value: JsonValue) -> JsonValue:
        try:
            return transform(value)
        except Exception:  # noqa: BLE001 - user code; the scorer makes an error entry of it
            return value

    return safe


def _compose(transform: CompiledTransform, transforms: Transforms, score: UserScore) -> UserScore:
    """Return the function that scores two values after their transforms."""
    if not transforms:
        return score
    return lambda expected, actual: score(transform(expected), transform(actual))
