"""`compare_json`: what one comparison is, from any Python values or text to a result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pytest_jsonmatch.engine.errors import ConfigurationError
from pytest_jsonmatch.engine.plan import compile_plan
from pytest_jsonmatch.engine.results import MatchResult
from pytest_jsonmatch.engine.scoring import score
from pytest_jsonmatch.engine.values import MISSING, flat_copy, to_json_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_jsonmatch.engine.plan import Plan
    from pytest_jsonmatch.engine.values import JsonValue

__all__ = ["compare_json", "compare_values"]


def compare_json(
    actual: object, expected: object, *, metric: str = "field_match", **options: Any
) -> MatchResult:
    """Score an actual JSON value against the expected one.

    Args:
        actual: a Python value with a JSON form (see `to_json_value`), or text (str or bytes): a model's
            output, which the JSON is extracted from (`extract_json`).
        expected: a Python value with a JSON form, or text: strict JSON.
        metric: a metric's name, such as "field_match", "json_similarity" or "schema_f1".
        **options: any option of the metric (docs/metrics.md), such as `fields={"total": {"weight": 2}}`;
            `schema` is an eval schema (a dict, the path of a JSON file, a pydantic model class);
            `repair=True` lets broken JSON in `actual` be repaired, with a warning for each repair.

    Returns:
        The figures, the result of every leaf, and aggregates per field.

    Raises:
        ConfigurationError: an unknown metric, option, comparator, transform or pattern.
        JsonExtractionError: `actual` is text without JSON in it.
        JsonParseError: `expected` is text that is not strict JSON.
        UnsupportedValueError: a value has no JSON form (a TypeError).
        InvalidExpectedError: expected holds NaN or an infinity.
        RootTypeError: the metric compares objects and was given something else.
        TargetPathError: `target_key` names a place that expected does not have.
        GoldValidationError: expected has a member that the schema does not list.
        UnlistedFieldError: actual has one, and the metric (`pairwise_f1`) does not take that.

    >>> actual, expected = {"status": "completed successfully"}, {"status": "completed sucessfully"}
    >>> result = compare_json(actual, expected, metric="json_similarity")
    >>> round(result.score, 4)
    0.9545
    """
    if type(expected) is dict and type(actual) is dict and "repair" not in options:
        one, other = flat_copy(expected), flat_copy(actual)
        if one and other:
            # Two objects of scalars, the everyday case: figures now, results per leaf when looked at.
            plan = prepare(metric, options)
            if plan.flat:
                return MatchResult(plan, None, (one, other))
            return MatchResult(plan, score(plan, one, other))
    if type(expected) is str or isinstance(expected, (str, bytes, bytearray)):
        expected = _parse_expected(expected)
    else:
        expected = to_json_value(expected, side="expected")
    return compare_values(actual, expected, metric, options)


def compare_values(
    actual: object, expected: JsonValue, metric: str, options: Mapping[str, Any]
) -> MatchResult:
    """Score as `compare_json` does, `expected` being a JSON value already: here a str is a JSON string.

    `actual` may be MISSING: an answer that could not be read has nothing of what was expected.
    """
    repair = False
    if options and "repair" in options:
        options = dict(options)
        repair = options.pop("repair")
        if not isinstance(repair, bool):
            message = f"repair is {repair!r}; it is True or False"
            raise ConfigurationError(message)
    plan = prepare(metric, options)
    warnings: tuple[str, ...] = ()
    if type(actual) is str or isinstance(actual, (str, bytes, bytearray)):
        actual, warnings = _extract_actual(actual, expected, plan, repair=repair)
    elif actual is not MISSING:
        actual = to_json_value(actual, side="actual")
    return MatchResult(plan, score(plan, expected, actual), warnings=warnings)


def prepare(metric: str, options: Mapping[str, Any]) -> Plan:
    """Return the plan of a metric with options, `schema` among them in any form that `load_schema` takes.

    Raises:
        ConfigurationError: an unknown metric, option, comparator, transform or pattern; no schema.
    """
    schema = options.get("schema") if options else None
    if schema is not None:
        from pytest_jsonmatch.schema.parsing import load_schema

        options = {**options, "schema": load_schema(schema)}
    return compile_plan(metric, options)


def _parse_expected(text: str | bytes | bytearray) -> JsonValue:
    from pytest_jsonmatch.engine.parsing import parse_json

    if isinstance(text, bytearray):
        text = bytes(text)
    return parse_json(text)


def _extract_actual(
    text: str | bytes | bytearray, expected: JsonValue, plan: Plan, *, repair: bool
) -> tuple[JsonValue, tuple[str, ...]]:
    from pytest_jsonmatch.engine.parsing import extract_json

    want: Literal["object", "array"] | None = None
    if type(expected) is dict:
        want = "object"
    elif type(expected) is list:
        want = "array"
    if plan.target:
        # The document around the target is what expected is; its own type was looked at, not the target's.
        want = "object" if isinstance(plan.target[0], str) else "array"
    if isinstance(text, bytearray):
        text = bytes(text)
    extraction = extract_json(text, want=want, repair=repair)
    return extraction.value, tuple(extraction.warnings)
