"""Scorers for other evaluation frameworks, each in a module named after the framework."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, final

from pytest_jsonmatch import defaults
from pytest_jsonmatch.api import compare_json
from pytest_jsonmatch.comparer import Comparer, check_judge
from pytest_jsonmatch.engine.result.aggregation import format_score
from pytest_jsonmatch.engine.score.field import MATCH, SKIPPED
from pytest_jsonmatch.engine.value.errors import JsonExtractionError

_MOST_FIELDS = 5


def check_options(options: Mapping[str, Any]) -> None:
    """Raise the ConfigurationError of an unknown metric or option now, and not with the first answer.

    >>> check_options({"metric": "leaf_f1"})
    """
    given = dict(options)
    check_judge(given.pop("judge", None))
    Comparer.of(given.pop("metric", defaults.METRIC), given)


@final
class Graded(NamedTuple):
    """What a framework is told about one answer."""

    score: float
    reason: str
    """The fields that lower the score, the worst first."""
    figures: dict[str, float]
    """score, precision, recall and f1."""


def grade(actual: object, expected: object, options: Mapping[str, Any]) -> Graded:
    """Compare an answer with the expected value, as `compare_json` does; text without JSON scores 0.

    Raises the same errors as `compare_json` for invalid options and expected values.

    >>> found = grade('{"a": 1, "b": 3}', {"a": 1, "b": 2}, {})
    >>> found.score, found.reason
    (0.5, 'b 0: 50 % off')
    >>> grade("no idea", {"a": 1}, {}).score
    0.0
    """
    names = ("score", "precision", "recall", "f1")
    try:
        result = compare_json(actual, expected, **options)
    except JsonExtractionError as error:
        return Graded(0.0, str(error), dict.fromkeys(names, 0.0))
    wrong = [field for field in result.field_results if field.status not in {MATCH, SKIPPED}]
    wrong.sort(key=lambda field: field.score)
    shown = [
        f"{field.short_path()} {format_score(field.score)}: {field.reason or field.status}" for field in wrong
    ]
    rest = len(shown) - _MOST_FIELDS
    reason = "; ".join([*shown[:_MOST_FIELDS], *([f"{rest} more"] if rest > 0 else [])])
    return Graded(result.score, reason or "all fields match", {name: getattr(result, name) for name in names})
