"""Read thresholds into one form, and check the figures of a comparison against them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean
from pytest_jsonmatch.engine.value.paths import parse_path, parse_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Threshold: TypeAlias = "float | Mapping[str, float | Mapping[str, float]]"
"""A limit for the score, or limits by figure: score, precision, recall, f1, and fields (by path pattern)."""
Limits: TypeAlias = "dict[str, float | dict[str, float]]"

FIGURES: Final = ("score", "precision", "recall", "f1")
# Sums of scores agree to 1e-12 whatever their order; a verdict must not depend on the order either.
_SLACK: Final = 1e-12


def read_limits(threshold: object, what: str = "threshold") -> Limits:
    """Check a threshold, and return it in its normal form.

    Args:
        threshold: as for `assert_json_match`.
        what: its name in errors.

    Raises ConfigurationError for anything else.

    >>> read_limits(0.9), read_limits({"f1": 1, "fields": {"total": 0.5}})
    ({'score': 0.9}, {'f1': 1.0, 'fields': {'total': 0.5}})
    """
    if not isinstance(threshold, Mapping):
        more = f", or a mapping of {', '.join(FIGURES)} and fields to such numbers"
        return {"score": _number(what, threshold, more)}
    limits: Limits = {}
    for name, value in threshold.items():
        if name in FIGURES:
            limits[name] = _number(f"{what}[{name!r}]", value)
        elif name != "fields":
            raise ConfigurationError(
                f"unknown threshold {name!r}{did_you_mean(str(name), (*FIGURES, 'fields'))}"
            )
        elif not isinstance(value, Mapping):
            raise ConfigurationError(
                f"{what}['fields'] must map path patterns to numbers from 0 to 1, got {value!r}"
            )
        else:
            by_pattern = limits["fields"] = {}
            for pattern, limit in value.items():
                parse_pattern(pattern)
                by_pattern[pattern] = _number(f"{what}['fields'][{pattern!r}]", limit)
    if not limits or limits == {"fields": {}}:
        raise ConfigurationError(f"{what} {threshold!r} is empty; name one of {', '.join(FIGURES)} or fields")
    return limits


def _number(what: str, value: object, more: str = "") -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    raise ConfigurationError(f"{what} must be a number from 0 to 1{more}, got {value!r}")


def reaches(value: float, limit: float) -> bool:
    """Tell whether a figure reaches its limit, whatever the order in which it was summed.

    >>> reaches(0.9 - 1e-15, 0.9), reaches(1 - 1e-15, 1.0)
    (True, False)
    """
    return value >= limit or (limit < 1 and value >= limit - _SLACK)


@final
class Measured(NamedTuple):
    """A figure, and the limit that it must reach."""

    what: str
    """One of `FIGURES`, or the name of a field's figure."""
    value: float | None
    """None for a pattern that matches no compared field."""
    limit: float
    field: str | None = None
    """The schema path of the field, or the pattern that matches no field; None for an overall figure."""

    @property
    def is_reached(self) -> bool:
        """Whether the figure exists and reaches the limit."""
        return self.value is not None and reaches(self.value, self.limit)


def measured(
    limits: Limits,
    figure: Callable[[str], float],
    means: Callable[[], Mapping[str, float | None]],
) -> Iterator[Measured]:
    """Yield every figure with its limit: overall figures first, then fields in the order of the limits.

    Args:
        limits: from `read_limits`.
        figure: returns one of `FIGURES`.
        means: returns the mean score of every schema path; None where nothing counts.
    """
    for what in FIGURES:
        limit = limits.get(what)
        if isinstance(limit, float):
            yield Measured(what, figure(what), limit)
    by_pattern = limits.get("fields")
    if not isinstance(by_pattern, dict):
        return
    compared = [(path, parse_path(path), mean) for path, mean in means().items() if mean is not None]
    for text, limit in by_pattern.items():
        pattern = parse_pattern(text)
        matching = [(path, mean) for path, segments, mean in compared if pattern.matches(segments)]
        for path, mean in matching:
            yield Measured(field_figure(path), mean, limit, path)
        if not matching:
            yield Measured(field_figure(text), None, limit, text)


def field_figure(path: str) -> str:
    """Return the name of a field's figure.

    >>> field_figure("items[].price")
    'fields["items[].price"]'
    """
    return f"fields[{json.dumps(path, ensure_ascii=False)}]"
