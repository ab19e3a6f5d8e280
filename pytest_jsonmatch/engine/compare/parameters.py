"""Checks of the parameters that comparators and transforms are given: one wording for every mistake."""

from __future__ import annotations

import math
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING

from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean
from pytest_jsonmatch.engine.value.text import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from inspect import Signature


def check_names(owner: str, params: Mapping[str, object], known: Sequence[str] = ()) -> None:
    """Refuse a parameter that `owner` does not take.

    Raises ConfigurationError, which names the parameter and the nearest known one.

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


def required(owner: str, params: Mapping[str, object], name: str, example: str) -> object:
    """Return the parameter `name`, or raise a ConfigurationError that shows how it is given.

    >>> required("transform 'round_digits'", {"digits": 2}, "digits", '{"digits": 2}')
    2
    """
    if name not in params:
        raise ConfigurationError(f"{owner} needs the parameter {name!r}, for example {example}")
    return params[name]


def number_parameter(owner: str, name: str, value: object, *, above_zero: bool = False) -> float:
    """Return `value` as a finite double, 0 or more (above 0 with `above_zero`), or raise ConfigurationError.

    >>> number_parameter("comparator 'threshold'", "threshold", 10, above_zero=True)
    10.0
    """
    number = math.nan
    if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
        with suppress(OverflowError, ValueError):
            number = float(value)
    if math.isfinite(number) and (number > 0 or (number == 0 and not above_zero)):
        return number
    wanted = "a finite number above 0" if above_zero else "a finite number, 0 or more"
    raise ConfigurationError(f"{owner}: {name!r} must be {wanted}, not {shown(value)}")


def choice_parameter(owner: str, name: str, value: object, known: Iterable[str]) -> str:
    """Return `value`, one of some words, or raise ConfigurationError.

    >>> choice_parameter("comparator 'amount'", "decimal", ",", (".", ","))
    ','
    """
    names = list(known)
    if isinstance(value, str) and value in names:
        return value
    raise ConfigurationError(
        f"{owner}: {name!r} must be one of {', '.join(names)}, not {shown(value)}"
        + (did_you_mean(value, names) if isinstance(value, str) else "")
    )


def shown(value: object) -> str:
    """Return a value's repr, short, and safe for integers over Python's limit of digits."""
    if isinstance(value, int) and value.bit_length() > 1000:
        return "an integer of hundreds of digits"
    return shortened(repr(value), 60)


def takes(signature: Signature, number: int) -> bool:
    """Tell whether a function of this signature can be called with so many arguments."""
    try:
        signature.bind(*[None] * number)
    except TypeError:
        return False
    return True
