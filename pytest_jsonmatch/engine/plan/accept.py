"""Accepted alternatives at a place: other values than the expected one, and predicates on actual's value.

The score of a place is the highest over the expected value and these alternatives: `Acceptance.find_best`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from pytest_jsonmatch.engine.comparators.base import score_or_zero
from pytest_jsonmatch.engine.comparators.parameters import read_flag, read_json_list
from pytest_jsonmatch.engine.value.convert import (
    CONTAINERS,
    JSON_TYPES,
    NUMBERS,
    SCHEMA_TYPES,
    Matcher,
    fits_types,
    is_finite,
)
from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean
from pytest_jsonmatch.engine.value.matchers import compile_pattern, make_full_match
from pytest_jsonmatch.engine.value.text import render, shorten
from pytest_jsonmatch.support.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from decimal import Decimal

    from pytest_jsonmatch.engine.value.convert import JsonValue

_MAX_LENGTH: Final = 60
"""The maximum length of values in reasons; longer ones are cut."""
MIN_GAIN: Final = 1e-12
"""An alternative must score 1, or more than the expected value by more than this; less may be rounding."""


@final
class Alternative(NamedTuple):
    """A value that is accepted in addition to the expected one."""

    value: JsonValue

    @property
    def text(self) -> str:
        """The text of the value in a reason."""
        return format_value(self.value)


@final
class Predicate(Frozen):
    """A condition on actual's value."""

    __slots__ = ("holds", "is_fast", "text", "types")

    def __init__(
        self,
        text: str,
        holds: Callable[[JsonValue], bool],
        is_fast: bool = True,
        types: frozenset[str] = JSON_TYPES,
    ) -> None:
        self.text: Final = text
        """The text in a reason if the predicate holds."""
        self.holds: Final = holds
        self.is_fast: Final = is_fast
        """Whether the predicate never raises an error."""
        self.types: Final = types
        """The JSON types of the values for which the predicate may hold."""


@final
class Accept(Frozen):
    """Everything that is accepted at a place in addition to the expected value."""

    __slots__ = ("alternatives", "optional", "predicates")

    def __init__(
        self,
        alternatives: tuple[Alternative, ...] = (),
        predicates: tuple[Predicate, ...] = (),
        optional: bool = False,
    ) -> None:
        self.alternatives: Final = alternatives
        self.predicates: Final = predicates
        self.optional: Final = optional
        """Whether actual may lack the member or element."""

    @property
    def is_fast(self) -> bool:
        """Whether this can score all scalars and never raises an error."""
        return not self.optional and all(predicate.is_fast for predicate in self.predicates)

    def merge(self, other: Accept) -> Accept:
        """Return the union of both, in which patterns come last."""
        predicates = sorted(self.predicates + other.predicates, key=lambda predicate: not predicate.is_fast)
        alternatives = self.alternatives + other.alternatives
        return Accept(alternatives, tuple(predicates), self.optional or other.optional)


NO_ACCEPT: Final = Accept()


def format_value(value: JsonValue) -> str:
    """Return the text of a value in a reason.

    >>> format_value("Acme"), format_value({"a": 1})
    ("'Acme'", '{"a": 1}')
    """
    return shorten(repr(value), _MAX_LENGTH) if type(value) is str else render(value, _MAX_LENGTH)


def read_accept(where: str, value: Any) -> Accept:
    """Read accepted alternatives: a list of values, or a mapping of words.

    Raises:
        ConfigurationError: a word is unknown, or its value is invalid; the message begins with `where`.

    >>> read_accept("accept['tip']", {"values": [0], "optional": True}).optional
    True
    >>> read_accept("accept['tip']", {"optinal": True})
    Traceback (most recent call last):
    ...
    pytest_jsonmatch.ConfigurationError: accept['tip'] has the word 'optinal'; did you mean 'optional'?
    """
    if isinstance(value, (list, tuple)):
        return Accept(_read_values(where, value))
    if not isinstance(value, Mapping):
        raise ConfigurationError(
            f"{where} must be a list of values, or a mapping with any of "
            f"{', '.join(ACCEPT_WORDS)}, got {value!r}"
        )
    accept = Accept()
    for word, given in value.items():
        if word not in READERS:
            raise ConfigurationError(f"{where} has the word {word!r}{did_you_mean(str(word), READERS)}")
        accept = accept.merge(READERS[word](f"{where}.{word}", given))
    return accept


def _read_values(where: str, values: Any) -> tuple[Alternative, ...]:
    return tuple(map(Alternative, read_json_list(where, values)))


def _read_regex(where: str, value: Any) -> Accept:
    if not isinstance(value, str):
        raise ConfigurationError(f"{where} must be a pattern that the whole text matches, got {value!r}")
    try:
        pattern = compile_pattern(value)
    except ValueError as error:
        raise ConfigurationError(f"{where}: {error}") from error
    holds = make_full_match(pattern)
    text, types = f"matches the pattern {format_value(value)}", frozenset({"string"})
    return Accept(predicates=(Predicate(text, holds, is_fast=False, types=types),))


def _read_range(where: str, value: Any) -> Accept:
    bounds = [_get_finite_number(bound) for bound in value] if isinstance(value, (list, tuple)) else []
    if len(bounds) != 2 or None in bounds or bounds[0] > bounds[1]:  # type: ignore[operator] # None is caught
        raise ConfigurationError(f"{where} must be [low, high] (two numbers, both included), got {value!r}")
    low, high = bounds

    def holds(actual: JsonValue) -> bool:
        number = _get_finite_number(actual)
        return number is not None and low <= number <= high  # type: ignore[operator]

    text, types = f"between {value[0]} and {value[1]}", frozenset({"number"})
    return Accept(predicates=(Predicate(text, holds, types=types),))


def _get_finite_number(value: Any) -> int | float | Decimal | None:
    """Return a finite number unchanged; return None for anything else."""
    return value if type(value) in NUMBERS and value - value == 0 else None


def _read_type(where: str, value: Any) -> Accept:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)) or not names or not all(name in SCHEMA_TYPES for name in names):
        known = ", ".join(SCHEMA_TYPES)
        raise ConfigurationError(
            f"{where} must be a JSON type or a list of JSON types ({known}), got {value!r}"
        )

    holds = partial(fits_types, types=names)
    types = frozenset("number" if name == "integer" else name for name in names)
    return Accept(predicates=(Predicate(f"of type {' or '.join(names)}", holds, types=types),))


def _read_any(where: str, value: Any) -> Accept:
    anything = Predicate("any value", lambda _actual: True)
    return Accept(predicates=(anything,) if read_flag(where, value) else ())


READERS: Final[Mapping[str, Callable[[str, Any], Accept]]] = {
    "values": lambda where, value: Accept(_read_values(where, value)),
    "optional": lambda where, value: Accept(optional=read_flag(where, value)),
    "regex": _read_regex,
    "range": _read_range,
    "type": _read_type,
    "any": _read_any,
}
ACCEPT_WORDS: Final = tuple(READERS)
"""The words of a mapping given as `accept`."""


@final
class BestValue(NamedTuple):
    """The best score at a place with accepted alternatives, and the value or predicate with that score."""

    score: float
    number: int = 0
    """0 for the expected value, n for the nth alternative."""
    predicate: str | None = None
    """The text of the predicate that holds; None if a value has the best score."""
    error: str | None = None
    """The reason why the predicates could not decide."""


@final
class Acceptance:
    """What is accepted at one place in addition to the expected value, and how it is scored."""

    def __init__(
        self,
        accept: Accept,
        values: Sequence[JsonValue],
        score: Callable[..., Any],
        *,
        fast: bool,
        compares_containers: bool,
    ) -> None:
        """Prepare scoring with accepted alternatives.

        Args:
            accept: the accepted alternatives and predicates.
            values: the values of the alternatives after the place's transforms.
            score: scores two transformed values, with the thresholds of leaves applied if `fast`.
            fast: whether the place's comparators can score two scalars at any time and never raise an error.
            compares_containers: whether a comparator compares containers as a whole; otherwise the walk
                compares their members.
        """
        self.alternatives: tuple[Alternative, ...] = accept.alternatives
        self.predicates: tuple[Predicate, ...] = accept.predicates
        self.optional: bool = accept.optional
        self.scores_scalars: bool = fast
        """Whether `score` can score two scalars without the walk."""
        has_values = bool(self.alternatives or self.predicates)
        self.is_for_walk: bool = has_values and not fast
        """Whether only the walk can score the alternatives."""
        kinds = {type(alternative.value) for alternative in self.alternatives}
        only_scalars = fast and not self.predicates and kinds.isdisjoint(CONTAINERS)
        self.is_of_scalars: bool = only_scalars or not has_values
        """Whether the alternatives affect only the scores of scalars."""
        self._values = values
        self._score = score
        self._compares_containers = compares_containers

    def may_apply(self, kind: type, actual: type) -> bool:
        """Return whether an alternative may apply to values of two types in expected and actual."""
        if kind is Matcher:
            return False
        if kind is not actual or kind not in CONTAINERS or self.predicates:
            return True
        return any(type(alternative.value) is kind for alternative in self.alternatives)

    def find_best(
        self, actual: JsonValue, own_score: float = 0.0, score: Callable[[int], float] | None = None
    ) -> BestValue:
        """Return the best score of a value, with the alternative that has it; of equal scores the first wins.

        Args:
            actual: actual's value, transformed.
            own_score: the score against the expected value, which comes first.
            score: returns the score of the place, given the number of an alternative from 1. Default: the
                score of two scalars.
        """
        best = BestValue(own_score)
        for number, value in enumerate(self._values, 1):
            kinds = {type(value), type(actual)}
            if best.score == 1.0 or (len(kinds) > 1 and kinds & CONTAINERS and not self._compares_containers):
                continue  # the best score is 1 already, or this one is 0
            candidate = score_or_zero(self._score, value, actual) if score is None else score(number)
            if candidate > best.score + MIN_GAIN or candidate == 1.0:
                best = BestValue(candidate, number)
        if best.score == 1.0 or not self.predicates or not is_finite(actual):
            return best
        timeout: str | None = None
        for predicate in self.predicates:
            try:
                if predicate.holds(actual):
                    return BestValue(1.0, predicate=predicate.text)
            except TimeoutError as error:
                timeout = str(error)
        return best._replace(error=timeout)

    def find_best_scalar(self, expected: JsonValue, actual: JsonValue) -> BestValue:
        """Return the best score of a transformed scalar against an expected scalar and the alternatives."""
        return self.find_best(actual, score_or_zero(self._score, expected, actual))

    def score(self, expected: JsonValue, actual: JsonValue) -> Any:
        """Score two transformed scalars as `find_best_scalar` does."""
        best = self.find_best_scalar(expected, actual).score
        return best or self._score(expected, actual)  # which may raise an error

    def format_reason(self, best: BestValue) -> str | None:
        """Return the text of the alternative with the best score; None if it is the expected value."""
        text = best.predicate
        if best.number:
            text = self.alternatives[best.number - 1].text
        if text is None:
            return None
        return f"accepted: {text}" if best.score == 1.0 else f"nearest accepted value: {text}"
