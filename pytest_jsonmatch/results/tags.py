"""Tags: named properties of a case or a record, such as its source."""

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
"""Larger integers are kept as text."""


def tag_text(name: str, value: object) -> str:
    """Return a tag in the form `name=value` of gates and reports.

    >>> tag_text("source", "phone"), tag_text("pages", 3), tag_text("signed", True)
    ('source=phone', 'pages=3', 'signed=true')
    """
    return f"{name}={value_text(value)}"


def value_text(value: object) -> str:
    """Return the value of a tag as text."""
    return value if isinstance(value, str) else render(value)


def tag_texts(tags: Tags) -> set[str]:
    """Return tags in the form `name=value`."""
    return {tag_text(name, value) for name, value in tags.items()}


def find_tag_error(name: object, value: object) -> str | None:
    """Return an error message for an invalid tag; None for a valid one.

    >>> find_tag_error("source", ["phone"])
    "the tag 'source' must be a string, a number, true, false or null, got an array"
    """
    if not isinstance(name, str) or not name or "=" in name:
        return f"a tag name must be text without an equals sign, got {name!r}"
    kind = json_type(value)
    if kind in {"array", "object"}:
        description = f"an {kind}"
    elif isinstance(value, float) and not math.isfinite(value):
        description = repr(value)  # which result files can't represent
    else:
        return None
    return f"the tag {name!r} must be a string, a number, true, false or null, got {description}"


def read_tags(given: object) -> dict[str, Any]:
    """Check tags and return them as JSON values.

    Raises:
        ConfigurationError: the tags are not a mapping of names to strings, numbers, booleans or null.

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
        if reason := find_tag_error(name, plain):
            raise ConfigurationError(reason)
        is_large = isinstance(plain, Decimal) or (isinstance(plain, int) and abs(plain) > _LARGEST)
        tags[name] = render(plain) if is_large else plain
    return tags
