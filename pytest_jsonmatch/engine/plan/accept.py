"""What else is right at a place: values other than the expected one, and predicates of actual's value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from pytest_jsonmatch.engine.compare.parameters import read_json_list
from pytest_jsonmatch.engine.compare.text import compile_pattern, matches_whole
from pytest_jsonmatch.engine.plan.written import read_flag
from pytest_jsonmatch.engine.value.convert import NUMBERS, SCHEMA_TYPES, fits_types
from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean
from pytest_jsonmatch.engine.value.text import render, shortened

if TYPE_CHECKING:
    from collections.abc import Callable
    from decimal import Decimal

    from pytest_jsonmatch.engine.value.convert import JsonValue

_LONGEST: Final = 60
"""Longer values are cut in reasons."""


@final
class Alternative(NamedTuple):
    """A value that is as right as the expected one."""

    value: JsonValue

    @property
    def text(self) -> str:
        """Its text in a reason."""
        return shown(self.value)


@final
class Predicate(NamedTuple):
    """A condition on actual's value."""

    text: str
    """Its text in a reason if it holds."""
    holds: Callable[[JsonValue], bool]
    is_quick: bool = True
    """Whether it never fails."""


@final
class Accept(NamedTuple):
    """Everything that is right at a place besides the expected value."""

    alternatives: tuple[Alternative, ...] = ()
    predicates: tuple[Predicate, ...] = ()
    optional: bool = False
    """Whether actual may lack the member or element."""

    @property
    def is_quick(self) -> bool:
        """Whether it can score all scalars, and never fails."""
        return not self.optional and all(predicate.is_quick for predicate in self.predicates)

    def extended(self, other: Accept) -> Accept:
        """Return the union of both; patterns are tried last."""
        predicates = sorted(self.predicates + other.predicates, key=lambda each: not each.is_quick)
        alternatives = self.alternatives + other.alternatives
        return Accept(alternatives, tuple(predicates), self.optional or other.optional)


def shown(value: JsonValue) -> str:
    """Return a value as a reason shows it.

    >>> shown("Acme"), shown({"a": 1})
    ("'Acme'", '{"a": 1}')
    """
    return shortened(repr(value), _LONGEST) if type(value) is str else render(value, _LONGEST)


def read_accept(where: str, value: Any) -> Accept:
    """Read what else is right: a list of values, or a mapping of words.

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
        return Accept(_values(where, value))
    if not isinstance(value, Mapping):
        raise ConfigurationError(
            f"{where} is {value!r}; it must be a list of values, or a mapping with any of {', '.join(_WORDS)}"
        )
    found = Accept()
    for word, said in value.items():
        if word not in _WORDS:
            raise ConfigurationError(f"{where} has the word {word!r}{did_you_mean(str(word), _WORDS)}")
        found = found.extended(_WORDS[word](f"{where}.{word}", said))
    return found


def _values(where: str, values: Any) -> tuple[Alternative, ...]:
    return tuple(map(Alternative, read_json_list(where, values)))


def _regex(where: str, value: Any) -> Accept:
    if not isinstance(value, str):
        raise ConfigurationError(f"{where} is {value!r}; it must be a pattern that the whole text matches")
    try:
        pattern = compile_pattern(value)
    except ValueError as error:
        raise ConfigurationError(f"{where}: {error}") from error

    def holds(actual: JsonValue) -> bool:
        return type(actual) is str and matches_whole(pattern, actual)

    return Accept(predicates=(Predicate(f"matches the pattern {shown(value)}", holds, is_quick=False),))


def _range(where: str, value: Any) -> Accept:
    bounds = [_number(bound) for bound in value] if isinstance(value, (list, tuple)) else []
    if len(bounds) != 2 or None in bounds or bounds[0] > bounds[1]:  # type: ignore[operator] # None is caught
        raise ConfigurationError(f"{where} is {value!r}; it must be [low, high], two numbers, both included")
    low, high = bounds

    def holds(actual: JsonValue) -> bool:
        number = _number(actual)
        return number is not None and low <= number <= high  # type: ignore[operator]

    return Accept(predicates=(Predicate(f"between {value[0]} and {value[1]}", holds),))


def _number(value: Any) -> int | float | Decimal | None:
    """Return a finite number, None for anything else."""
    return value if type(value) in NUMBERS and value - value == 0 else None


def _type(where: str, value: Any) -> Accept:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)) or not names or not all(name in SCHEMA_TYPES for name in names):
        known = ", ".join(SCHEMA_TYPES)
        raise ConfigurationError(f"{where} is {value!r}; it must be a JSON type, or a list of them: {known}")

    def holds(actual: JsonValue) -> bool:
        # NaN and infinities are not JSON numbers.
        return fits_types(actual, names) and (type(actual) not in NUMBERS or _number(actual) is not None)

    return Accept(predicates=(Predicate(f"of type {' or '.join(names)}", holds),))


def _any(where: str, value: Any) -> Accept:
    anything = Predicate("any value", lambda _actual: True)
    return Accept(predicates=(anything,) if read_flag(where, value) else ())


_WORDS: Final[Mapping[str, Callable[[str, Any], Accept]]] = {
    "values": lambda where, value: Accept(_values(where, value)),
    "optional": lambda where, value: Accept(optional=read_flag(where, value)),
    "regex": _regex,
    "range": _range,
    "type": _type,
    "any": _any,
}
ACCEPT_WORDS: Final = tuple(_WORDS)
"""The words of a mapping given as `accept`."""
