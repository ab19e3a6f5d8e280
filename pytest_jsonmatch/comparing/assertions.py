"""`assert_json_match`: score, record for the summary, and raise an error that shows where and why."""

from __future__ import annotations

from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias

from pytest_jsonmatch.comparing.running import WrittenRule, current_run
from pytest_jsonmatch.engine.value.errors import (
    ComparatorError,
    ConfigurationError,
    JsonExtractionError,
    JsonMatchError,
    did_you_mean,
)
from pytest_jsonmatch.engine.value.snapshots import may_have_snapshots
from pytest_jsonmatch.results.limits import check_scores
from pytest_jsonmatch.support.frozen import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pytest_jsonmatch.comparing.expectedfile import ExpectedFile
    from pytest_jsonmatch.comparing.request import ComparisonRequest
    from pytest_jsonmatch.comparing.running import RunningTest
    from pytest_jsonmatch.comparing.suggest import Suggested, Trial
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.results.comparison import Comparison
    from pytest_jsonmatch.results.limits import Limits, ScoreCheck, Threshold

Locate: TypeAlias = "Callable[[FieldResult], str | None]"
"""Returns "file:line" of a field."""
_YAML_1_1: Final[Mapping[str, bool]] = {
    **dict.fromkeys(("yes", "y", "on", "true"), True),
    **dict.fromkeys(("no", "n", "off", "false"), False),
}
"""What words in YAML 1.1 mean that are text in YAML 1.2."""


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

    In a pytest test the comparison is recorded for the summary, even from a helper, a thread or a coroutine.
    Elsewhere it only asserts.

    Args:
        actual: the value to check; `str` and `bytes` are model output, from which JSON is extracted, or a
            string if a string is expected. An `Answer` adds the model, time, tokens and cost.
        expected: the correct value; `str` and `bytes` that begin with `{` or `[` are JSON text, others are
            strings. A `pathlib.Path` is a JSON or YAML file, relative to the test's file, which may hold
            matchers such as `{"$any": true}`; `--jsonmatch-update` writes it.
        metric: the name of a metric.
        threshold: a number from 0 to 1 that the score must reach, or a mapping with any of `score`,
            `precision`, `recall`, `f1` and `fields` (path pattern → limit for the mean score of each
            matching field; a pattern that matches no compared field fails).
        name: an id for the comparison; by default the test's node id, `#` and its number in the test.
        tags: properties of the comparison, such as `{"source": "phone"}`: names with strings, numbers,
            booleans or None; statistics, gates and reports can select by them. They add to the mark's tags.
        options: options of the metric, as for `compare_json`. `actual` is also checked against `schema` as
            JSON Schema: `validate="require"` makes an invalid answer fail, "off" skips the check. `judge` is
            the judge of the comparator `semantic`, by default that of the ini option `jsonmatch_judge`.

    Arguments that are not given come from the closest `@pytest.mark.jsonmatch(...)`, then from the ini
    options `jsonmatch_metric` and `jsonmatch_threshold`; the defaults are `leaf_f1` and 1.0. The patterns of
    `jsonmatch_skip` add to those of `skip`.

    Returns:
        The result, for further assertions.

    Raises:
        AssertionError: a score is below its limit.
        ComparatorError: a comparator raised, or returned a score outside [0, 1].
        JsonExtractionError: `actual` is text without JSON, and no string is expected.
        ConfigurationError: an unknown metric or option, or a threshold that is not a number from 0 to 1.
        InvalidExpectedError: the file of `expected` does not exist, or is not valid.

    >>> assert_json_match('Sure: {"total": 20.3}', {"total": 20.3}, metric="json_similarity").score
    1.0
    """
    __tracebackhide__ = True
    begin()
    settings = {"metric": metric, "threshold": threshold, "options": options, "name": name, "tags": tags}
    try:
        if isinstance(expected, Path):
            return _match_file(actual, expected, settings)
        if may_have_snapshots() and _has_snapshots(expected):
            return _match_snapshots(actual, expected, settings)
        request = _make_request(actual, expected, settings)
    except JsonMatchError as error:
        raise error.with_traceback(None)  # noqa: B904 - the very same error
    result, failure = check(request)
    if failure is not None and not _is_recorded(failure):
        raise failure
    return result


def _make_request(actual: object, expected: object, settings: Mapping[str, Any]) -> ComparisonRequest:
    """Return the request for a comparison with a Python value."""
    __tracebackhide__ = True
    from pytest_jsonmatch.comparing.comparer import read_models
    from pytest_jsonmatch.comparing.request import resolve

    read = read_models(expected, actual)
    request = resolve(actual, read.value, **settings)
    if read.aliases or read.marked:
        options = read.add_rules(request.metric, request.options)
        request = replace(request, options=options, aliases=read.aliases)
    return request


def _match_file(actual: object, path: Path, settings: Mapping[str, Any]) -> MatchResult:
    """Assert as `assert_json_match` does that `actual` matches the value in a file."""
    __tracebackhide__ = True
    from pytest_jsonmatch.comparing.expectedfile import find_file
    from pytest_jsonmatch.comparing.request import resolve

    request = resolve(actual, None, **settings)
    file = find_file(path, claims=True)
    result, failure = _check_with_file(request, file)
    if failure is not None and not _is_recorded(failure):
        _raise_in_file(failure, request, result, file)
    return result


def _has_snapshots(expected: object) -> bool:
    from pytest_jsonmatch.comparing.snapshots import has_snapshots

    return has_snapshots(expected)


def _match_snapshots(actual: object, expected: object, settings: Mapping[str, Any]) -> MatchResult:
    """Assert as `assert_json_match` does, and let inline-snapshot update the snapshots in `expected`."""
    __tracebackhide__ = True
    from pytest_jsonmatch.comparing.request import resolve
    from pytest_jsonmatch.comparing.snapshots import Snapshots

    comparer = resolve(actual, None, **settings).comparer
    snapshots = Snapshots(expected, partial(comparer.read_without_expected, actual, refuse_broken=True))
    if snapshots.is_new:  # nothing is recorded: the answer is compared with itself
        result, failure = comparer.compare_value(snapshots.value, snapshots.value, refuse_to_judge), None
        if not snapshots.update(result, has_failed=False):
            raise AssertionError("the snapshot already has another value")
        return result
    result, failure = check(_make_request(actual, snapshots.value, settings))
    has_failed = type(failure) is AssertionError
    is_equal = snapshots.update(result, has_failed=has_failed)
    if failure is not None and not (has_failed and is_equal) and not _is_recorded(failure):
        raise failure
    return result


def _is_recorded(failure: Exception) -> bool:
    """Return whether a failure is only recorded, since gates decide."""
    run = current_run()
    return run is not None and run.has_only_gates and not isinstance(failure, ComparatorError)


def _get_running_test() -> RunningTest | None:
    run = current_run()
    return None if run is None else run.test


def begin() -> None:
    """Notify the running test that a comparison begins, before anything can fail."""
    test = _get_running_test()
    if test is not None:
        test.begin()


# -- one comparison ----------------------------------------------------------------------------------------


def check(request: ComparisonRequest, locate: Locate | None = None) -> tuple[MatchResult, Exception | None]:
    """Compare, and record the comparison for the running test; return the result and the failure, if any."""
    __tracebackhide__ = True
    result, unreadable = _compare(request)
    passed = unreadable is None and passes(request, result)
    test = _get_running_test()
    if test is not None:
        comparison = _make_comparison(request, result, test, passed=passed, unreadable=unreadable)
        test.record(comparison, result, _list_rules(request), is_read=unreadable is None)
    if passed or unreadable is not None:
        return result, unreadable
    kind = ComparatorError if result.errors else AssertionError
    return result, kind("\n".join(_format_failure(request, result, locate)))


def _check_with_file(request: ComparisonRequest, file: ExpectedFile) -> tuple[MatchResult, Exception | None]:
    """Compare with the value of a file as `check` does, and update the file if the run asks for it.

    If there is no file yet and the run writes one, nothing is recorded: the answer is compared with itself.
    """
    __tracebackhide__ = True
    run, comparer = current_run(), request.comparer
    updater = None if run is None or run.test is None else run.file_updater
    if file.data is None and updater is not None and updater.writes_new:
        answer = comparer.read_without_expected(request.actual, refuse_broken=True)
        note = updater.request_first(file, answer)
        result = comparer.compare_value(answer, answer, refuse_to_judge)
        return result, None if note is None else AssertionError(f"{file.name}: {note}")
    expected = file.read()
    file.check_matchers(comparer.plan, expected)
    result, failure = check(replace(request, expected=expected), file.locate)
    if updater is not None:
        read = partial(comparer.read_without_expected, request.actual, refuse_broken=False)
        if failure is None:
            updater.request_after_pass(file, result, read)
        elif type(failure) is AssertionError:
            note = updater.request_after_failure(file, result, read)
            if note is None:
                failure = None
            elif note:
                failure = AssertionError(f"{failure}\n{note}")
    return result, failure


def _raise_in_file(
    failure: Exception, request: ComparisonRequest, result: MatchResult, file: ExpectedFile
) -> NoReturn:
    """Raise the failure of a comparison from the line of the field that its message shows first."""
    __tracebackhide__ = True
    if type(failure) is not AssertionError or file.data is None:
        raise failure
    from pytest_jsonmatch.comparing.raising import raise_at
    from pytest_jsonmatch.engine.score.field import get_expected_keys
    from pytest_jsonmatch.report.failure import first_field

    failures = find_failures(result, request.limits)
    field = first_field(result, failures) if failures else None
    position = file.find_position(() if field is None else get_expected_keys(field))
    raise_at(str(failure), path=str(file.path), position=position, name="expected")


def _compare(request: ComparisonRequest) -> tuple[MatchResult, JsonMatchError | None]:
    """Return the result and, if the answer is unreadable, the error; all of expected is then missing.

    Raises an error that is caused by the expected data or by options, not by the answer.
    """
    __tracebackhide__ = True
    request.comparer.warn_without_schema()
    try:
        return request.comparer.compare(request.actual, request.expected, request.judge), None
    except JsonMatchError as error:
        # The message is about the caller's data; the engine's inner frames would only obscure it.
        unreadable = error.with_traceback(None)
    if isinstance(unreadable, ConfigurationError):
        raise unreadable
    try:
        return compare_missing(request, validates=isinstance(unreadable, JsonExtractionError)), unreadable
    except JsonMatchError:
        raise unreadable from None


def compare_missing(request: ComparisonRequest, *, validates: bool) -> MatchResult:
    """Return the result for an answer that is missing: all of expected is missing, too.

    `validates` tells whether it is also checked against the schema, which may allow a missing answer.
    """
    from pytest_jsonmatch.comparing.comparer import Comparer
    from pytest_jsonmatch.engine.value.convert import MISSING

    options = request.options if validates else {**request.options, "validate": "off"}
    return Comparer.of(request.metric, options).compare(MISSING, request.expected, request.judge)


def _make_comparison(
    request: ComparisonRequest,
    result: MatchResult,
    test: RunningTest,
    *,
    passed: bool,
    unreadable: JsonMatchError | None,
) -> Comparison:
    """Return what the run keeps of a comparison; an unreadable answer scores 0."""
    from pytest_jsonmatch.comparing.comparer import TEXT
    from pytest_jsonmatch.results.comparison import Comparison

    is_text = isinstance(request.actual, TEXT)
    if is_text and type(result.documents[1]) is str and request.comparer.reads_strings(request.expected):
        is_text = False  # a string needs no JSON
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
        spent=test.claim_spent(request.spent),
        floor=_score_empty_answer(request),
        detail=detail,
    )
    if unreadable is None:
        return comparison
    return replace(comparison, score=0.0, precision=0.0, recall=0.0, f1=0.0, unreadable=str(unreadable))


def _score_empty_answer(request: ComparisonRequest) -> float | None:
    """Return the score of an empty answer; None without pytest's -v, or if a judge would be asked."""
    run, comparer = current_run(), request.comparer
    if run is None or run.verbosity < 1 or comparer.plan.has_batch:
        return None
    expected = request.expected
    return comparer.compare(type(expected)(), expected).score if type(expected) in (dict, list) else None


def _list_rules(request: ComparisonRequest) -> Sequence[WrittenRule]:
    """Return the patterns to check: the running test reports those that match nothing."""
    if request.rules is not None:
        return request.rules
    patterns: dict[str, Any] = {kind: request.options.get(kind) for kind in ("fields", "accept")}
    patterns["skip"] = (request.options.get("skip") or ())[request.ini_skips :]
    patterns["threshold"] = request.limits.get("fields")
    kinds = [kind for kind in patterns if kind in request.given and patterns[kind]]
    return [WrittenRule("", 0, kind, pattern) for kind in kinds for pattern in patterns[kind]]


# -- thresholds --------------------------------------------------------------------------------------------


def find_failures(result: MatchResult, limits: Limits) -> list[ScoreCheck]:
    """Return the scores below their limits: overall scores first, then fields in the order of the limits."""
    min_score = limits.get("score")
    if len(limits) == 1 and isinstance(min_score, float) and result.has_figures and result.score >= min_score:
        return []  # the common case, kept fast
    checks = check_scores(
        limits,
        result.__getattribute__,
        lambda: {path: aggregate.mean_score for path, aggregate in result.per_field.items()},
    )
    return [check for check in checks if not check.is_reached]


def passes(request: ComparisonRequest, result: MatchResult) -> bool:
    """Return whether a result reaches its limits, without errors, and is valid if that is required."""
    is_refused = request.options["validate"] == "require" and result.valid is False
    return not (find_failures(result, request.limits) or result.errors or is_refused)


# -- failures ----------------------------------------------------------------------------------------------


def _format_failure(request: ComparisonRequest, result: MatchResult, locate: Locate | None) -> Iterator[str]:
    failures = find_failures(result, request.limits)
    # If the answer only violates the schema, the first line says why.
    if failures or result.errors:
        yield _format_message(request, result, failures, locate)
    yield from _format_violations(result)
    yield from _hint_at_expected(request, result)
    yield from _format_unmatched(result, failures)
    yield from _hint_at_aliases(request, result)
    yield from _hint_at_absent(request, result)
    yield from _suggest_changes(request, result)
    if request.write_change is None:
        yield from _hint_at_swap(result, request.actual)


def _format_message(
    request: ComparisonRequest, result: MatchResult, failures: list[ScoreCheck], locate: Locate | None
) -> str:
    from pytest_jsonmatch.report.failure import failure_message
    from pytest_jsonmatch.report.terminal_style import TerminalStyle

    run = current_run()
    return failure_message(
        result,
        TerminalStyle() if run is None else TerminalStyle(*run.look),
        threshold=request.limits,
        failures=failures,
        verbosity=0 if run is None else run.verbosity,
        name=request.name,
        locate=locate,
    )


def _format_violations(result: MatchResult) -> Iterator[str]:
    """Yield a line for each violation of the schema by the answer."""
    from pytest_jsonmatch.report.escape import printable

    for number, violation in enumerate(result.violations):
        yield printable(f"  {violation}" if number else f"not valid by the schema: {violation}")


def _format_unmatched(result: MatchResult, failures: Iterable[ScoreCheck]) -> Iterator[str]:
    """Yield a line for each pattern of the threshold that matches nothing, which is probably misspelled."""
    from pytest_jsonmatch.report.escape import printable

    for failure in failures:
        if failure.value is None and failure.field is not None:
            hint = did_you_mean(failure.field, result.per_field)
            yield printable(f"no compared field matches the threshold's {failure.field!r}{hint}")


# -- hints and suggestions ---------------------------------------------------------------------------------


def _hint_at_swap(result: MatchResult, actual: object) -> Iterator[str]:
    """Yield a hint if actual is a path or if actual and expected look swapped."""
    if isinstance(actual, PurePath):
        yield "actual is a path, compared as text; pass the content of the file: path.read_text()"
    elif result.counts.keys() == {"match", "hallucination"}:
        yield "expected is inside actual: if the two were swapped, write actual first"


def _hint_at_expected(request: ComparisonRequest, result: MatchResult) -> Iterator[str]:
    """Yield a hint at each value of expected that differs, and that YAML or the schema shows to be wrong."""
    from pytest_jsonmatch.engine.score.field import MATCHER, get_expected_keys
    from pytest_jsonmatch.engine.value.paths import format_path
    from pytest_jsonmatch.engine.value.text import render
    from pytest_jsonmatch.report.escape import printable

    wrong = {
        format_path(get_expected_keys(field)): field
        for field in result.field_results
        if field.status == "mismatch" and field.comparator != MATCHER
    }
    if not wrong:
        return
    for path, field in wrong.items() if request.write_change is not None else ():
        meant = _YAML_1_1.get(field.expected.lower()) if type(field.expected) is str else None
        if meant is not None and type(field.actual) is bool:
            yield printable(f"{path}: {render(field.expected)} is text; write the boolean as {render(meant)}")
            return
    schema = request.comparer.plan.schema
    if request.options["validate"] == "off" or schema is None or schema.violations is None:
        return
    for violation in schema.violations(result.documents[0]) or ():
        if violation.partition(": ")[0] in wrong:
            yield printable(f"expected is not valid by the schema: {violation}")


def _hint_at_aliases(request: ComparisonRequest, result: MatchResult) -> Iterator[str]:
    """Yield a hint if the sides differ only in the aliases of an expected pydantic model."""
    if not request.aliases or not {"omission", "hallucination"} <= result.counts.keys():
        return
    from pytest_jsonmatch.engine.value.models import rename_members

    aliases, (expected, actual) = request.aliases, result.documents
    by_alias = rename_members(actual, aliases, expected)
    by_name = rename_members(actual, {alias: name for name, alias in aliases.items()}, expected)
    for renamed, form, option in (
        (by_alias, "name", "write actual with by_alias=True"),
        (by_name, "alias", "write actual with by_alias=False, or expected with serialize_by_alias=True"),
    ):
        if renamed != actual and passes(
            request, request.comparer.compare_value(renamed, expected, refuse_to_judge)
        ):
            yield f"actual has members by {form}, and differs only in this from the pydantic model: {option}"


def _hint_at_absent(request: ComparisonRequest, result: MatchResult) -> Iterator[str]:
    """Yield a hint if null or empty values explain most of the loss."""
    from pytest_jsonmatch.report.absent_hint import suggest_absent

    if (hint := suggest_absent([result], partial(_write_change, request))) is not None:
        yield hint


def _write_change(request: ComparisonRequest, change: Suggested) -> list[str]:
    """Return a change as arguments in Python, or as lines of YAML for a golden case."""
    from pytest_jsonmatch.comparing.suggest import as_arguments
    from pytest_jsonmatch.report.escape import printable

    return [*map(printable, (request.write_change or as_arguments)(request.options, change))]


def _suggest_changes(request: ComparisonRequest, result: MatchResult) -> Iterator[str]:
    """Yield changes that would let the comparison pass, as arguments in Python or as lines of YAML."""
    from pytest_jsonmatch.comparing.suggest import find_array_rules, find_date_rules, suggest_changes
    from pytest_jsonmatch.report.formatting import score_text

    subject = "assertion" if request.write_change is None else "case"
    trial = _make_trial(request, result)
    number = 0
    for number, change in enumerate(suggest_changes(result, request.options, trial) if trial else (), 1):
        if number == 1:
            yield f"if this difference is acceptable, the {subject} would pass with"
        first, *others = _write_change(request, change)
        yield f"  {'or' if number > 1 else '  '} {first}"
        yield from (f"     {line}" for line in others)
    if number:
        return
    if rules := find_date_rules(result):
        written = "; ".join(_write_change(request, {"fields": rules}))
        yield f"to compare dates whatever their precision or form: {written}"
    if trial and (found := find_array_rules(result, request.options, trial)) is not None:
        rules, again = found
        yield f"elements match at other positions; the score would be {score_text(again.score)} with"
        yield from (f"     {line}" for line in _write_change(request, {"fields": rules}))


def _make_trial(request: ComparisonRequest, result: MatchResult) -> Trial | None:
    """Return the functions to compare again; None if that could call a comparator of the user."""
    from pytest_jsonmatch.comparing.comparer import Comparer
    from pytest_jsonmatch.comparing.suggest import Trial
    from pytest_jsonmatch.engine.comparators import BUILTIN
    from pytest_jsonmatch.engine.score.field import MATCHER

    # A user's comparator may be expensive, so a hint does not call it again.
    used = {field.comparator for field in result.field_results}
    if result.errors or used - BUILTIN.keys() - {None, MATCHER}:
        return None
    answer = result.documents[1]

    def compare_again(changed: Mapping[str, Any]) -> MatchResult | None:
        try:
            comparer = Comparer.of(request.metric, changed)
            return comparer.compare_value(answer, request.expected, refuse_to_judge)
        except JsonMatchError:
            return None

    return Trial(compare_again, partial(passes, request))


def refuse_to_judge(item: object) -> object:
    """Raise an error: suggestions and trials do not ask a judge."""
    raise RuntimeError(f"no judge is asked about {item!r} for a suggestion")
