"""Scorers for other evaluation frameworks, each in a module named after the framework."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, final

from pytest_jsonmatch.support import defaults
from pytest_jsonmatch.comparing.compare_json import compare_json
from pytest_jsonmatch.comparing.comparer import Comparer, check_judge
from pytest_jsonmatch.engine.result.aggregation import format_score
from pytest_jsonmatch.engine.score.field import MATCH, SKIPPED
from pytest_jsonmatch.engine.value.errors import JsonExtractionError

_MAX_FIELDS = 5


def check_options(options: Mapping[str, Any]) -> None:
    """Raise ConfigurationError for an unknown metric or option before the first answer is scored.

    >>> check_options({"metric": "leaf_f1"})
    """
    given = dict(options)
    check_judge(given.pop("judge", None))
    Comparer.of(given.pop("metric", defaults.METRIC), given)


@final
class Grade(NamedTuple):
    """The scores of one answer, for a framework."""

    score: float
    reason: str
    """The fields that lower the score, the lowest-scoring first."""
    scores: dict[str, float]
    """Score, precision, recall and F1 by name."""


def grade(actual: object, expected: object, options: Mapping[str, Any]) -> Grade:
    """Compare an answer with the expected value by `compare_json`; text without JSON scores 0.

    Raises the errors of `compare_json` for invalid options and expected values.

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
        return Grade(0.0, str(error), dict.fromkeys(names, 0.0))
    wrong = [field for field in result.field_results if field.status not in {MATCH, SKIPPED}]
    wrong.sort(key=lambda field: field.score)
    shown = [
        f"{field.short_path()} {format_score(field.score)}: {field.reason or field.status}" for field in wrong
    ]
    rest = len(shown) - _MAX_FIELDS
    reason = "; ".join([*shown[:_MAX_FIELDS], *([f"{rest} more"] if rest > 0 else [])])
    return Grade(result.score, reason or "all fields match", {name: getattr(result, name) for name in names})
