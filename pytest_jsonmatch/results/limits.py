"""Read thresholds into one form, and check the scores of a comparison against them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, TypeAlias, final

from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean
from pytest_jsonmatch.engine.value.paths import parse_path, parse_pattern
from pytest_jsonmatch.engine.value.text import suggest_share
from pytest_jsonmatch.support.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Threshold: TypeAlias = "float | Mapping[str, float | Mapping[str, float]]"
"""A limit for the score, or limits for score, precision, recall, f1 and fields (by path pattern)."""
Limits: TypeAlias = "dict[str, float | dict[str, float]]"

SCORES: Final = ("score", "precision", "recall", "f1")
# Sums of the same scores in another order differ by up to 1e-12; a verdict must not depend on the order.
_TOLERANCE: Final = 1e-12


def read_limits(threshold: object, what: str = "threshold") -> Limits:
    """Check a threshold and return it in its normal form.

    Args:
        threshold: as for `assert_json_match`.
        what: the name of the threshold in errors.

    Raises ConfigurationError for anything else.

    >>> read_limits(0.9), read_limits({"f1": 1, "fields": {"total": 0.5}})
    ({'score': 0.9}, {'f1': 1.0, 'fields': {'total': 0.5}})
    """
    if not isinstance(threshold, Mapping):
        alternative = f", or a mapping of {', '.join(SCORES)} and fields to such numbers"
        return {"score": _check_number(what, threshold, alternative)}
    limits: Limits = {}
    for name, value in threshold.items():
        if name in SCORES:
            limits[name] = _check_number(f"{what}[{name!r}]", value)
        elif name != "fields":
            raise ConfigurationError(
                f"unknown threshold {name!r}{did_you_mean(str(name), (*SCORES, 'fields'))}"
            )
        elif not isinstance(value, Mapping):
            raise ConfigurationError(
                f"{what}['fields'] must map path patterns to numbers from 0 to 1, got {value!r}"
            )
        else:
            by_pattern = limits["fields"] = {}
            for pattern, limit in value.items():
                parse_pattern(pattern)
                by_pattern[pattern] = _check_number(f"{what}['fields'][{pattern!r}]", limit)
    if not limits or limits == {"fields": {}}:
        raise ConfigurationError(f"{what} {threshold!r} is empty; name one of {', '.join(SCORES)} or fields")
    return limits


def _check_number(what: str, value: object, alternative: str = "") -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    raise ConfigurationError(
        f"{what} must be a number from 0 to 1{alternative}, got {value!r}{suggest_share(value)}"
    )


def reaches(value: float, limit: float) -> bool:
    """Return whether a score reaches its limit, independent of the order in which it was summed.

    >>> reaches(0.9 - 1e-15, 0.9), reaches(1 - 1e-15, 1.0)
    (True, False)
    """
    return value >= limit or (limit < 1 and value >= limit - _TOLERANCE)


@final
class ScoreCheck(Frozen):
    """A score and the limit that it must reach."""

    __slots__ = ("field", "limit", "name", "value")

    def __init__(self, name: str, value: float | None, limit: float, field: str | None = None) -> None:
        self.name: Final = name
        """One of `SCORES`, or the name of a field's score."""
        self.value: Final = value
        """None for a pattern that matches no compared field."""
        self.limit: Final = limit
        self.field: Final = field
        """The schema path of the field, or the pattern that matches no field; None for an overall score."""

    @property
    def is_reached(self) -> bool:
        """Whether the score exists and reaches the limit."""
        return self.value is not None and reaches(self.value, self.limit)


def check_scores(
    limits: Limits,
    get_score: Callable[[str], float],
    get_means: Callable[[], Mapping[str, float | None]],
) -> Iterator[ScoreCheck]:
    """Yield every score with its limit: overall scores first, then fields in the order of the limits.

    Args:
        limits: from `read_limits`.
        get_score: returns the score of a name in `SCORES`.
        get_means: returns the mean score of every schema path; None for a path where nothing was scored.
    """
    for name in SCORES:
        limit = limits.get(name)
        if isinstance(limit, float):
            yield ScoreCheck(name, get_score(name), limit)
    by_pattern = limits.get("fields")
    if not isinstance(by_pattern, dict):
        return
    compared = [(path, parse_path(path), mean) for path, mean in get_means().items() if mean is not None]
    for text, limit in by_pattern.items():
        pattern = parse_pattern(text)
        matching = [(path, mean) for path, segments, mean in compared if pattern.matches(segments)]
        for path, mean in matching:
            yield ScoreCheck(name_field_score(path), mean, limit, path)
        if not matching:
            yield ScoreCheck(name_field_score(text), None, limit, text)


def name_field_score(path: str) -> str:
    """Return the name of a field's score.

    >>> name_field_score("items[].price")
    'fields["items[].price"]'
    """
    return f"fields[{json.dumps(path, ensure_ascii=False)}]"
