"""Canonical forms: what a short text stands for, read once, and compared in place of the text."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeVar

from pytest_jsonmatch.engine.compare.equality import equality_of
from pytest_jsonmatch.engine.value.equality import json_key
from pytest_jsonmatch.engine.value.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from pytest_jsonmatch.engine.compare.base import Scoring
    from pytest_jsonmatch.engine.value.convert import JsonValue

Form = TypeVar("Form")

# Longer texts are no date, amount or number of any kind; reading them would only cost time.
_LONGEST: Final = 100


def text_reader(read: Callable[[str], Form | None]) -> Callable[[JsonValue], Form | None]:
    """Return a function that reads texts with `read`, and integers by their digits; None for all else.

    `read` gets short texts, without white space at the ends, each once. A year or an ISBN often comes as an
    integer.

    >>> reader = text_reader(str.upper)
    >>> reader(" ab "), reader(20260131), reader(["ab"])
    ('AB', '20260131', None)
    """
    kept = lru_cache(maxsize=4096)(read)

    def read_value(value: JsonValue) -> Form | None:
        kind = type(value)
        if kind is str:
            return kept(value.strip()) if len(value) <= _LONGEST else None
        return kept(str(value)) if kind is int and 0 <= value < 10**18 else None

    return read_value


def compare_forms(read: Callable[[JsonValue], Hashable | None]) -> Scoring:
    """Return a scoring that gives 1 for equal forms, else 0; values without one are compared as they are.

    >>> compare_forms(text_reader(lambda text: text.lower() if text.isalpha() else None)).score("A", "a")
    1.0
    """

    def key(value: JsonValue) -> Hashable:
        form = read(value)
        return json_key(value) if form is None else (compare_forms, form)

    return equality_of(key)


def missing_extra(name: str, extra: str) -> ConfigurationError:
    """Return the error of a comparator whose library is not installed.

    >>> missing_extra("comparator 'phone'", "phone")
    ConfigurationError("comparator 'phone' needs the extra 'phone': pip install 'pytest-jsonmatch[phone]'")
    """
    return ConfigurationError(f"{name} needs the extra {extra!r}: pip install 'pytest-jsonmatch[{extra}]'")
