"""`compare_json`: compare two Python values or JSON texts, and return the result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_jsonmatch.comparing.comparer import Comparer, ExpectedValue, read_models
from pytest_jsonmatch.engine.value.convert import copy_flat
from pytest_jsonmatch.support import defaults

if TYPE_CHECKING:
    from pytest_jsonmatch.comparing.expectedfile import ExpectedFile
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.value.convert import JsonValue


def compare_json(
    actual: object, expected: object, *, metric: str = defaults.METRIC, **options: Any
) -> MatchResult:
    """Score an actual JSON value against the expected one.

    Args:
        actual: a Python value with a JSON form (see `to_json_value`); text (str or bytes), which is model
            output from which JSON is extracted (`extract_json`), or a string if a string is expected; or an
            `Answer` with either as its value.
        expected: a Python value with a JSON form, or text: strict JSON if it begins with `{` or `[`; any
            other text is a string. A `pathlib.Path` is a JSON or YAML file, relative to the working directory
            or, in a test of pytest, to the test's file; it may hold matchers such as `{"$any": true}`.
        metric: a metric's name, such as "json_similarity"; by default "leaf_f1".
        **options: a metric option (docs/options.md), such as `fields={"total": {"weight": 2}}`;
            `schema` is an eval schema (a dict, the path of a JSON file, a pydantic model class);
            `validate="report"` also checks `actual` against it as JSON Schema (`result.violations`);
            `repair=True` repairs broken JSON in `actual`, with a warning for each repair;
            `judge` is the judge of the comparator `semantic`: a judge, a function of one item, or the name of
            a registered judge.

    Returns:
        The scores, the result of every leaf, and aggregates per field. Patterns of `fields` or `accept` that
        match nothing are no warning, since other documents may have these fields: `result.unmatched(fields)`
        lists them.

    Raises:
        ConfigurationError: an unknown metric, option, comparator, transform or pattern.
        JsonExtractionError: `actual` is text without JSON in it, and no string is expected.
        JsonParseError: `expected` is text that begins with `{` or `[` and is not strict JSON.
        UnsupportedValueError: a value has no JSON form (a TypeError).
        InvalidExpectedError: expected contains NaN or an infinity, or is a file that does not exist or is not
            valid.
        RootTypeError: the metric compares objects, and expected or actual is not an object.
        TargetPathError: `target_key` names a place that expected does not have.
        GoldValidationError: expected has a member that the schema does not list.
        UnlistedFieldError: actual has a member that the schema does not list, under `pairwise_f1`.

    >>> actual, expected = {"status": "completed successfully"}, {"status": "completed sucessfully"}
    >>> result = compare_json(actual, expected, metric="json_similarity")
    >>> round(result.score, 4)
    0.9545
    """
    judge = options.pop("judge", None)
    file = _find_file(expected) if isinstance(expected, Path) else None
    value: JsonValue = copy_flat(expected) if type(expected) is dict else None
    if value is None:
        read = read_models(expected, actual) if file is None else ExpectedValue(file.read())
        value, options = read.value, dict(read.add_rules(metric, options))
    comparer = Comparer.of(metric, options)
    comparer.warn_without_schema()
    if file is not None:
        file.check_matchers(comparer.plan, value)
    return comparer.compare(actual, value, judge)


def _find_file(path: Path) -> ExpectedFile:
    from pytest_jsonmatch.comparing.expectedfile import find_file

    return find_file(path)
