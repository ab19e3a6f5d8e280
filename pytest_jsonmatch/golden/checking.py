"""Compare the answers of golden cases as `assert_json_match` does, with the case's own settings."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_jsonmatch.comparing.assertions import (
    begin,
    check,
    compare_missing,
    find_failures,
    passes,
    refuse_to_judge,
)
from pytest_jsonmatch.engine.value.errors import ComparatorError, JsonMatchError, write_arguments_as
from pytest_jsonmatch.support.frozen import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_jsonmatch.comparing.assertions import Locate
    from pytest_jsonmatch.comparing.comparer import Comparer
    from pytest_jsonmatch.comparing.request import ComparisonRequest
    from pytest_jsonmatch.comparing.running import RunningTest, WrittenRule
    from pytest_jsonmatch.comparing.suggest import Suggested
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.golden.cases import GoldenCase
    from pytest_jsonmatch.results.comparison import Comparison
    from pytest_jsonmatch.results.limits import Limits


def check_case(
    case: GoldenCase, actual: object, locate: Locate, rules: Sequence[WrittenRule]
) -> tuple[MatchResult, Exception | None, FieldResult | None]:
    """Compare and record a golden case as `assert_json_match` does; return the failure, don't raise it.

    Args:
        case: its settings take precedence over marks and ini options.
        actual: the answer.
        locate: returns "file:line" of a field, for the message.
        rules: the case's patterns.

    Returns:
        The result; the failure (an AssertionError, a ComparatorError, the error of an unreadable answer, or
        None); and the field that the message shows first, if it shows any.
    """
    begin()
    with write_arguments_as("case"):
        request = _make_request(case, actual, case.expected, rules)
        result, failure = check(request, locate)
    failures = find_failures(result, request.limits)
    if failure is None or type(failure) not in {AssertionError, ComparatorError}:
        return result, failure, None
    from pytest_jsonmatch.report.failure import first_field

    return result, failure, first_field(result, failures) if failures or result.errors else None


def compare_unanswered(case: GoldenCase, test: RunningTest) -> Comparison | None:
    """Return the comparison of a golden case that got no answer: all of expected is missing.

    None without a valid expected value: such a case has no leaves.
    """
    from pytest_jsonmatch.results.comparison import Comparison

    try:
        request = _make_request(case, None, case.expected)
        result = compare_missing(request, validates=False)
        name = test.identify(request.name, request.tags)
    except JsonMatchError:
        return None
    comparison = Comparison.of(
        result,
        id=name,
        nodeid=test.nodeid,
        threshold=request.limits,
        passed=False,
        params=test.params,
        tags=request.tags,
    )
    return replace(comparison, score=0.0, precision=0.0, recall=0.0, f1=0.0)


def make_trial(
    case: GoldenCase, expected: JsonValue
) -> Callable[[JsonValue], tuple[MatchResult, bool, Limits]]:
    """Return a function that compares answers as a golden case does, without recording or asking a judge.

    The answers are compared with `expected`, which may lack parts of the case's own expected value.

    The function takes an answer as a JSON value, and returns the result, whether it would pass, and the
    limits that it must reach. It raises the JsonMatchError that comparing would raise.
    """
    request = _make_request(case, None, expected)

    def compare(actual: JsonValue) -> tuple[MatchResult, bool, Limits]:
        result = request.comparer.compare_value(actual, expected, refuse_to_judge)
        return result, passes(request, result), request.limits

    return compare


def make_comparer(case: GoldenCase) -> Comparer:
    """Return the comparer of a golden case; raise JsonMatchError if the case's settings are invalid."""
    from pytest_jsonmatch.comparing.comparer import check_judge

    with write_arguments_as("case"):
        request = _make_request(case, None, None)
        check_judge(request.judge)
        return request.comparer


def _make_request(
    case: GoldenCase, answer: object, expected: JsonValue, rules: Sequence[WrittenRule] | None = None
) -> ComparisonRequest:
    from pytest_jsonmatch.comparing.request import resolve

    settings: dict[str, Any] = {"metric": case.metric, "threshold": case.threshold, "options": case.options}
    return resolve(answer, expected, **settings, write_change=partial(as_yaml, case), rules=rules)


def as_yaml(case: GoldenCase, options: Mapping[str, Any], change: Suggested) -> list[str]:
    """Return a change as lines of YAML to paste into a case, in place of its own lines with the same keys.

    A line has all that the case itself has there, and the rules of its file that the change extends.
    """
    from pytest_jsonmatch.comparing.suggest import extend_rules
    from pytest_jsonmatch.golden.writing import yaml_flow

    lines: dict[str, dict[str, Any]] = {}
    if added := change.get("fields"):
        given = options.get("fields") or {}
        # The rules of a case replace those of a mark.
        own = case.written("fields") if "fields" in case.options else given
        lines["fields"] = {**own, **extend_rules(given, added)}
    if settings := change.get("options"):
        lines["options"] = {**case.written("options"), **settings}
    return [f"{key}: {yaml_flow(value)}" for key, value in lines.items()]
