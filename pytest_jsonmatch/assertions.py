"""`assert_json_match`: score, record for the summary, and fail with a message that says where and why."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pytest_jsonmatch.engine.value.errors import (
    ComparatorError,
    ConfigurationError,
    JsonExtractionError,
    JsonMatchError,
    did_you_mean,
)
from pytest_jsonmatch.limits import measured
from pytest_jsonmatch.running import WrittenRule, current_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pytest_jsonmatch.comparer import Comparer
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.golden.cases import GoldenCase
    from pytest_jsonmatch.limits import Limits, Measured, Threshold
    from pytest_jsonmatch.request import ComparisonRequest
    from pytest_jsonmatch.results.comparison import Comparison
    from pytest_jsonmatch.running import RunningTest

Locate: TypeAlias = "Callable[[FieldResult], str | None]"
"""Returns "file:line" of a field."""


def assert_json_match(
    actual: object,
    expected: object,
    *,
    metric: str | None = None,
    threshold: Threshold | None = None,
    name: str | None = None,
    tags: Mapping[str, Any] | None = None,
    **options: Any,
) -> MatchResult:
    """Assert that `actual` matches `expected`, field by field, at least as well as `threshold` requires.

    In a pytest test the comparison is recorded for the summary, even if a helper, a thread or a coroutine
    makes it. Elsewhere it just asserts.

    Args:
        actual: the value to judge; `str` and `bytes` are model output, from which JSON is extracted. It may
            be an `Answer`, which adds the model, time, tokens and cost.
        expected: the value it should have; `str` and `bytes` are JSON text.
        metric: the name of a metric.
        threshold: a number from 0 to 1 that the score must reach, or a mapping with any of `score`,
            `precision`, `recall`, `f1` and `fields` (path pattern → limit for the mean score of each
            matching field; a pattern that matches no compared field fails).
        name: an id for the comparison; by default the test's node id, `#` and its number in the test.
        tags: properties of the comparison, such as `{"source": "phone"}`: names with strings, numbers,
            booleans or None; figures, gates and reports can select by them. They add to the mark's tags.
        options: options of the metric, as for `compare_json`. An answer is also checked against `schema` as
            JSON Schema: with `validate="require"` an invalid answer fails, "off" skips the check. `judge` is
            the judge of the comparator `semantic`, by default that of the ini option `jsonmatch_judge`.

    Arguments that are not given come from the closest `@pytest.mark.jsonmatch(...)`, then from the ini
    options `jsonmatch_metric` and `jsonmatch_threshold`; the defaults are `leaf_f1` and 1.0. The patterns of
    `jsonmatch_skip` add to those of `skip`.

    Returns:
        The result, for further assertions.

    Raises:
        AssertionError: a figure is below its limit.
        ComparatorError: a comparator raised, or returned a score outside [0, 1].
        JsonExtractionError: `actual` is text without JSON.
        ConfigurationError: an unknown metric or option, or a threshold that is not a number from 0 to 1.

    >>> assert_json_match('Sure: {"total": 20.3}', {"total": 20.3}, metric="json_similarity").score
    1.0
    """
    __tracebackhide__ = True
    from pytest_jsonmatch.comparer import read_expected
    from pytest_jsonmatch.request import resolve

    _begin()
    try:
        value = read_expected(expected)
    except JsonMatchError as error:
        raise error.with_traceback(None)  # noqa: B904 - the very same error
    request = resolve(
        actual, value, metric=metric, threshold=threshold, options=options, name=name, tags=tags
    )
    result, failure = _check(request)
    run = current_run()
    is_recorded = run is not None and run.has_only_gates and not isinstance(failure, ComparatorError)
    if failure is not None and not is_recorded:
        raise failure
    return result


def _running_test() -> RunningTest | None:
    run = current_run()
    return None if run is None else run.test


def _begin() -> None:
    """Tell the running test that a comparison begins, before anything can go wrong."""
    test = _running_test()
    if test is not None:
        test.begin()


def check_case(
    case: GoldenCase, actual: object, locate: Locate, rules: Sequence[WrittenRule]
) -> tuple[MatchResult, Exception | None, FieldResult | None]:
    """Do what `assert_json_match` does for a golden case, but return the failure instead of raising it.

    Args:
        case: its settings take precedence over marks and ini options.
        actual: the answer.
        locate: returns "file:line" of a field, for the message.
        rules: the case's patterns.

    Returns:
        The result; what is wrong: an AssertionError, a ComparatorError, the error of an unreadable answer,
        or None; and the field that the message shows first, if it shows any.
    """
    _begin()
    request = _request_of(case, actual, case.expected, rules)
    result, failure = _check(request, locate)
    failures = _failures(result, request.limits)
    if failure is None or type(failure) not in {AssertionError, ComparatorError}:
        return result, failure, None
    from pytest_jsonmatch.report.failure import first_field

    return result, failure, first_field(result, failures) if failures or result.errors else None


def trial_of(
    case: GoldenCase, expected: JsonValue
) -> Callable[[JsonValue], tuple[MatchResult, bool, Limits]]:
    """Return a function that compares answers as a golden case does, but records nothing and asks no judge.

    They are compared with an expected value, which may lack parts of the case's own.

    The function takes an answer as a JSON value, and returns the result, whether it would pass, and the
    limits that it must reach. It raises the JsonMatchError that comparing would raise.
    """
    from pytest_jsonmatch.engine.value.text import render

    request = _request_of(case, None, expected)

    def compare(actual: JsonValue) -> tuple[MatchResult, bool, Limits]:
        # A str would be read as model output.
        answer = render(actual) if type(actual) is str else actual
        result = request.comparer.compare(answer, expected, _no_judge)
        return result, _passes(request, result), request.limits

    return compare


def comparer_of(case: GoldenCase) -> Comparer:
    """Return how a golden case is compared. Raises JsonMatchError if its settings are invalid."""
    from pytest_jsonmatch.comparer import check_judge

    request = _request_of(case, None, None)
    check_judge(request.judge)
    return request.comparer


def _request_of(
    case: GoldenCase, answer: object, expected: JsonValue, rules: Sequence[WrittenRule] | None = None
) -> ComparisonRequest:
    from pytest_jsonmatch.request import resolve

    how: dict[str, Any] = {"metric": case.metric, "threshold": case.threshold, "options": case.options}
    return resolve(answer, expected, **how, suggests=True, rules=rules)


# -- one comparison ----------------------------------------------------------------------------------------

_TEXT: Final = (str, bytes, bytearray)


def _check(request: ComparisonRequest, locate: Locate | None = None) -> tuple[MatchResult, Exception | None]:
    """Compare, and record the comparison for the running test; return the result, and the failure if any."""
    __tracebackhide__ = True
    result, unreadable = _result(request)
    passed = unreadable is None and _passes(request, result)
    test = _running_test()
    if test is not None:
        comparison = _comparison(request, result, test, passed=passed, unreadable=unreadable)
        test.record(comparison, result, _rules(request), is_read=unreadable is None)
    if passed or unreadable is not None:
        return result, unreadable
    kind = ComparatorError if result.errors else AssertionError
    return result, kind("\n".join(_failure_lines(request, result, locate)))


def _result(request: ComparisonRequest) -> tuple[MatchResult, JsonMatchError | None]:
    """Return the result, and why the answer could not be compared: then all of expected is missing.

    Raises the error if the fault is not the answer's, but that of the expected data or options.
    """
    __tracebackhide__ = True
    from pytest_jsonmatch.comparer import Comparer

    try:
        return request.comparer.compare(request.actual, request.expected, request.judge), None
    except JsonMatchError as error:
        # The message is about the caller's data; the engine's inner frames would only hide it.
        unreadable = error.with_traceback(None)
    if isinstance(unreadable, ConfigurationError):
        raise unreadable
    from pytest_jsonmatch.engine.value.convert import MISSING

    options = request.options
    if not isinstance(unreadable, JsonExtractionError):
        options = {**options, "validate": "off"}  # the schema may allow the missing answer
    try:
        missing = Comparer.of(request.metric, options).compare(MISSING, request.expected, request.judge)
    except JsonMatchError:
        raise unreadable from None
    return missing, unreadable


def _comparison(
    request: ComparisonRequest,
    result: MatchResult,
    test: RunningTest,
    *,
    passed: bool,
    unreadable: JsonMatchError | None,
) -> Comparison:
    """Return what the run keeps of a comparison; an unreadable answer counts as 0."""
    from pytest_jsonmatch.results.comparison import Comparison

    is_text = isinstance(request.actual, _TEXT)
    detail = ""
    if test.shows_values:
        from pytest_jsonmatch.report.details import details_of

        detail = details_of(result)
    comparison = Comparison.of(
        result,
        id=test.identify(request.name, request.tags),
        nodeid=test.nodeid,
        threshold=request.limits,
        passed=passed,
        params=test.params,
        tags=request.tags,
        parsed=not isinstance(unreadable, JsonExtractionError) if is_text else None,
        spent=test.first_use(request.spent),
        floor=_floor(request),
        detail=detail,
    )
    if unreadable is None:
        return comparison
    warnings = (*comparison.warnings, str(unreadable))
    return replace(comparison, score=0.0, precision=0.0, recall=0.0, f1=0.0, warnings=warnings)


def _floor(request: ComparisonRequest) -> float | None:
    """Return what an empty answer scores, if pytest runs with -v and if no judge is needed to know."""
    run, comparer = current_run(), request.comparer
    if run is None or run.verbosity < 1 or comparer.plan.has_batch:
        return None
    expected = request.expected
    return comparer.compare(type(expected)(), expected).score if type(expected) in (dict, list) else None


def _passes(request: ComparisonRequest, result: MatchResult) -> bool:
    """Return whether a result is good enough."""
    is_refused = request.options["validate"] == "require" and result.valid is False
    return not (_failures(result, request.limits) or result.errors or is_refused)


def _rules(request: ComparisonRequest) -> Sequence[WrittenRule]:
    """Return the patterns, for the running test to find out which of them match no place."""
    if request.rules is not None:
        return request.rules
    patterns: dict[str, Any] = {kind: request.options.get(kind) for kind in ("fields", "accept")}
    patterns["skip"] = (request.options.get("skip") or ())[request.ini_skips :]
    patterns["threshold"] = request.limits.get("fields")
    kinds = [kind for kind in patterns if kind in request.given and patterns[kind]]
    return [WrittenRule("", 0, kind, pattern) for kind in kinds for pattern in patterns[kind]]


# -- failures ----------------------------------------------------------------------------------------------


def _failure_lines(request: ComparisonRequest, result: MatchResult, locate: Locate | None) -> Iterator[str]:
    failures = _failures(result, request.limits)
    # If only the schema refuses the answer, the first line says why.
    if failures or result.errors:
        yield _message(request, result, failures, locate)
    yield from _violations(result)
    yield from _unmatched(result, failures)
    yield from _mistaken(result, request.actual)
    yield from _would_pass(request, result)


def _message(
    request: ComparisonRequest, result: MatchResult, failures: list[Measured], locate: Locate | None
) -> str:
    from pytest_jsonmatch.report.failure import failure_message
    from pytest_jsonmatch.report.look import Look

    run = current_run()
    return failure_message(
        result,
        Look() if run is None else Look(*run.look),
        threshold=request.limits,
        failures=failures,
        verbosity=0 if run is None else run.verbosity,
        name=request.name,
        locate=locate,
    )


def _would_pass(request: ComparisonRequest, result: MatchResult) -> Iterator[str]:
    """Yield changes that would let the case pass, as YAML to paste."""
    if not request.suggests or current_run() is None or result.errors:
        return
    from pytest_jsonmatch.comparer import Comparer
    from pytest_jsonmatch.engine.compare import BUILTIN
    from pytest_jsonmatch.engine.score.field import MATCHER

    if {field.comparator for field in result.field_results} - BUILTIN.keys() - {None, MATCHER}:
        # A user's comparator may be costly, so a hint does not call it again.
        return
    from pytest_jsonmatch.golden.suggest import Trial, as_yaml, suggestions
    from pytest_jsonmatch.report.escape import printable

    extracted = result.documents[1]
    # JSON is not extracted from text again, unless it is a JSON string, which would be read as text.
    answer = request.actual if type(extracted) is str else extracted

    def again(changed: Mapping[str, Any]) -> MatchResult | None:
        try:
            return Comparer.of(request.metric, changed).compare(answer, request.expected, _no_judge)
        except JsonMatchError:
            return None

    trial = Trial(again, partial(_passes, request))
    for number, change in enumerate(suggestions(result, request.options, trial)):
        if not number:
            yield "if this difference is acceptable, the case would pass with"
        first, *others = map(printable, as_yaml(change))
        yield f"  {'or' if number else '  '} {first}"
        yield from (f"     {line}" for line in others)


def _no_judge(item: object) -> object:
    """Refuse to judge: suggestions do not ask a judge."""
    raise RuntimeError(f"no judge is asked about {item!r} for a suggestion")


# -- thresholds --------------------------------------------------------------------------------------------


def _failures(result: MatchResult, limits: Limits) -> list[Measured]:
    """Return the figures below their limits: the score first, then fields in their order."""
    least = limits.get("score")
    if len(limits) == 1 and isinstance(least, float) and result.has_figures and result.score >= least:
        return []  # the common case, kept fast
    figures = measured(
        limits,
        result.__getattribute__,
        lambda: {path: aggregate.mean_score for path, aggregate in result.per_field.items()},
    )
    return [each for each in figures if not each.is_reached]


def _violations(result: MatchResult) -> Iterator[str]:
    """Yield lines about what the schema does not allow in the answer."""
    from pytest_jsonmatch.report.escape import printable

    for number, violation in enumerate(result.violations):
        yield printable(f"  {violation}" if number else f"not valid by the schema: {violation}")


def _mistaken(result: MatchResult, actual: object) -> Iterator[str]:
    """Yield a line about a likely mistake."""
    if isinstance(actual, PurePath):
        yield "actual is a path, compared as text; pass the content of the file: path.read_text()"
    elif result.counts.keys() == {"match", "hallucination"}:
        yield "expected is inside actual: if the two were swapped, write actual first"


def _unmatched(result: MatchResult, failures: Iterable[Measured]) -> Iterator[str]:
    """Yield a line for each pattern that matches nothing, most likely a misspelling."""
    from pytest_jsonmatch.report.escape import printable

    for failure in failures:
        if failure.value is None and failure.field is not None:
            hint = did_you_mean(failure.field, result.per_field)
            yield printable(f"no compared field matches the threshold's {failure.field!r}{hint}")
