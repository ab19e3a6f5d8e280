"""Check the parameters of comparators and transforms, with the same wording for every mistake."""

from __future__ import annotations

import math
from collections.abc import Set as AbstractSet
from contextlib import suppress
from decimal import Decimal
from inspect import signature
from typing import TYPE_CHECKING

from pytest_jsonmatch.engine.value.convert import to_json_value
from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonMatchError, did_you_mean
from pytest_jsonmatch.engine.value.text import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_jsonmatch.engine.value.convert import JsonValue


def check_names(owner: str, params: Mapping[str, object], known: Sequence[str] = ()) -> None:
    """Raise a ConfigurationError for a parameter that `owner` does not have.

    The message names the parameter and suggests the nearest known one.

    >>> check_names("comparator 'numeric'", {"tolerence": {}}, ["tolerance"])
    Traceback (most recent call last):
    ...
    pytest_jsonmatch.ConfigurationError: comparator 'numeric' has no parameter 'tolerence'; \
did you mean 'tolerance'?
    """
    for name in params:
        if name not in known:
            hint = did_you_mean(str(name), known) if known else "; it takes none"
            raise ConfigurationError(f"{owner} has no parameter {name!r}{hint}")


def get_required(owner: str, params: Mapping[str, object], name: str, example: str) -> object:
    """Return the required parameter `name`, or raise a ConfigurationError with an example.

    >>> get_required("transform 'round_digits'", {"digits": 2}, "digits", '{"digits": 2}')
    2
    """
    if name not in params:
        raise ConfigurationError(f"{owner} needs the parameter {name!r}, for example {example}")
    return params[name]


def read_number(owner: str, name: str, value: object, *, above_zero: bool = False) -> float:
    """Return `value` as a finite double, 0 or more (above 0 with `above_zero`), or raise ConfigurationError.

    >>> read_number("comparator 'threshold'", "threshold", 10, above_zero=True)
    10.0
    """
    number = math.nan
    if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
        with suppress(OverflowError, ValueError):
            number = float(value)
    if math.isfinite(number) and (number > 0 or (number == 0 and not above_zero)):
        return number
    required_form = "a finite number above 0" if above_zero else "a finite number, 0 or more"
    raise ConfigurationError(f"{owner}: {name!r} must be {required_form}, got {format_value(value)}")


def read_choice(owner: str, name: str, value: object, known: Iterable[str]) -> str:
    """Return `value` if it is one of the known words, or raise ConfigurationError.

    >>> read_choice("comparator 'amount'", "decimal", ",", (".", ","))
    ','
    """
    names = list(known)
    if isinstance(value, str) and value in names:
        return value
    raise ConfigurationError(
        f"{owner}: {name!r} must be one of {', '.join(names)}, got {format_value(value)}"
        + (did_you_mean(value, names) if isinstance(value, str) else "")
    )


def read_json_list(owner: str, values: object) -> list[JsonValue]:
    """Return a list of at least one JSON value, or raise ConfigurationError.

    >>> read_json_list("comparator 'oneof': 'values'", ("a", 1))
    ['a', 1]
    """
    if not isinstance(values, (list, tuple, AbstractSet)) or not values:
        raise ConfigurationError(
            f"{owner} must be a list with at least one value, got {format_value(values)}"
        )
    try:
        return [to_json_value(value, side="expected") for value in values]
    except JsonMatchError as error:
        raise ConfigurationError(f"{owner} must contain JSON values: {error}") from error


def make_missing_extra_error(name: str, extra: str) -> ConfigurationError:
    """Return the error of a comparator whose library is not installed.

    >>> make_missing_extra_error("comparator 'phone'", "phone")
    ConfigurationError("comparator 'phone' needs the extra 'phone': pip install 'pytest-jsonmatch[phone]'")
    """
    return ConfigurationError(f"{name} needs the extra {extra!r}: pip install 'pytest-jsonmatch[{extra}]'")


def format_value(value: object) -> str:
    """Return a short repr of a value, also for integers above Python's limit on digits."""
    if isinstance(value, int) and value.bit_length() > 1000:
        return "an integer of hundreds of digits"
    return shorten(repr(value), 60)


def accepts(fn: Callable[..., object], number: int) -> bool:
    """Return whether a function can be called with this many arguments."""
    try:
        signature(fn).bind(*[None] * number)
    except (TypeError, ValueError):  # some C functions, such as `str`, have no signature
        return False
    return True


def read_flag(where: str, value: object) -> bool:
    """Return a boolean, or raise a ConfigurationError for any other value."""
    if isinstance(value, bool):
        return value
    raise ConfigurationError(f"{where} must be true or false, got {value!r}")
