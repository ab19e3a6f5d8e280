"""Tags: properties of a case or a record, as names and values, such as its source."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, TypeAlias

from pytest_jsonmatch.engine.value.convert import json_type, to_json_value
from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonMatchError
from pytest_jsonmatch.engine.value.text import render

Tags: TypeAlias = "Mapping[str, str | int | float | bool | None]"
_LARGEST: Final = 2**53
"""Larger numbers are kept as text."""


def tag_text(name: str, value: object) -> str:
    """Return a tag as gates and reports write it.

    >>> tag_text("source", "phone"), tag_text("pages", 3), tag_text("signed", True)
    ('source=phone', 'pages=3', 'signed=true')
    """
    return f"{name}={value_text(value)}"


def value_text(value: object) -> str:
    """Return the value of a tag as it is written after the name."""
    return value if isinstance(value, str) else render(value)


def tag_texts(tags: Tags) -> set[str]:
    """Return all of some tags as gates and reports write them."""
    return {tag_text(name, value) for name, value in tags.items()}


def wrong_tag(name: object, value: object) -> str | None:
    """Return what is wrong with a tag; None if nothing is.

    >>> wrong_tag("source", ["phone"])
    "the tag 'source' must be a string, a number, true, false or null, got an array"
    """
    if not isinstance(name, str) or not name or "=" in name:
        return f"a tag name must be text without an equals sign, got {name!r}"
    kind = json_type(value)
    if kind in {"array", "object"}:
        said = f"an {kind}"
    elif isinstance(value, float) and not math.isfinite(value):
        said = repr(value)  # result files could not hold it
    else:
        return None
    return f"the tag {name!r} must be a string, a number, true, false or null, got {said}"


def read_tags(given: object) -> dict[str, Any]:
    """Return tags in the form in which they are kept.

    Raises:
        ConfigurationError: they are not a mapping of names to strings, numbers, booleans or null.

    >>> read_tags({"source": "phone", "pages": 3})
    {'source': 'phone', 'pages': 3}
    """
    if not isinstance(given, Mapping):
        raise ConfigurationError(
            f"tags must map names to values, such as {{'source': 'phone'}}, got {given!r}"
        )
    tags = {}
    for name, value in given.items():
        try:
            plain = to_json_value(value)
        except JsonMatchError as error:
            raise ConfigurationError(f"the tag {name!r}: {error}") from None
        if reason := wrong_tag(name, plain):
            raise ConfigurationError(reason)
        is_large = isinstance(plain, Decimal) or (isinstance(plain, int) and abs(plain) > _LARGEST)
        tags[name] = render(plain) if is_large else plain
    return tags
