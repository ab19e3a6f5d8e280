"""`assert_json_match`: score, record for the summary, and fail with a message that says where and why."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.value.errors import (
    ComparatorError,
    ConfigurationError,
    JsonMatchError,
    did_you_mean,
)
from pytest_jsonmatch.limits import measured, read_limits
from pytest_jsonmatch.session.options import DEFAULT_METRIC, DEFAULT_THRESHOLD
from pytest_jsonmatch.session.recorder import Look
from pytest_jsonmatch.session.session import current_session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from pytest_jsonmatch.engine.result.field import FieldResult
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.golden.cases import GoldenCase
    from pytest_jsonmatch.limits import Limits, Threshold
    from pytest_jsonmatch.report.failure import ThresholdFailure
    from pytest_jsonmatch.session.recorder import Recorder
    from pytest_jsonmatch.session.session import Session

__all__ = [
    "Defaults",
    "answer_of_case",
    "assert_json_match",
    "check",
    "defaults",
    "judge_case",
]


@dataclass(frozen=True, slots=True)
class Defaults:
    """What holds for a comparison that does not say otherwise."""

    metric: str = DEFAULT_METRIC
    threshold: object = DEFAULT_THRESHOLD
    options: Mapping[str, Any] = field(default_factory=dict)


def defaults() -> Defaults:
    """Return what holds now: the running test's `jsonmatch` marks, the closest first, then the ini."""
    session = current_session()
    if session is None:
        return Defaults()
    chosen: dict[str, Any] = {"metric": session.settings.metric, "threshold": session.settings.threshold}
    if session.settings.memory_limit:
        chosen["memory_limit"] = session.settings.memory_limit
    if session.settings.judge_triage:
        chosen["judge_triage"] = True
    recorder = session.running
    for mark in reversed(list(recorder.item.iter_markers("jsonmatch"))) if recorder is not None else ():
        if mark.args:
            raise ConfigurationError(
                "@pytest.mark.jsonmatch takes keywords only: metric=, threshold=, and options of the metric; "
                f"got {', '.join(map(repr, mark.args))}"
            )
        # None is how the assertion's own signature says "not given".
        chosen.update((key, value) for key, value in mark.kwargs.items() if value is not None)
    return Defaults(chosen.pop("metric"), chosen.pop("threshold"), chosen)


def assert_json_match(
    actual: object,
    expected: object,
    *,
    metric: str | None = None,
    threshold: Threshold | None = None,
    name: str | None = None,
    **options: Any,
) -> MatchResult:
    """Assert that `actual` matches `expected`, field by field, at least as well as `threshold` asks.

    In a pytest test the comparison is recorded for the summary, whoever calls: the test itself, a helper, a
    thread, a coroutine. Elsewhere it just asserts.

    Args:
        actual: the value to judge; `str` and `bytes` are model output in which JSON is looked for.
        expected: the value it should have; `str` and `bytes` are JSON text.
        metric: the name of a metric.
        threshold: a number from 0 to 1 that the score must reach, or a mapping with any of `score`,
            `precision`, `recall`, `f1` and `fields` (path pattern → number, against the mean score of each
            field that matches; a pattern that matches no compared field fails).
        name: an id for the comparison; without one it is the test's node id, `#` and its number in the test.
        options: options of the metric, as for `compare_json`. `judge` is whom the comparator `semantic` asks,
            by default what the fixture `jsonmatch_judge` gives; with `judge_triage=True` only what can change
            whether the threshold is reached is asked.

    What is not given here comes from the closest `@pytest.mark.jsonmatch(...)`, then from the ini options
    `jsonmatch_metric` and `jsonmatch_threshold`, else it is `field_match` and 1.0.

    Returns:
        The result, for further assertions.

    Raises:
        AssertionError: a figure is below its limit.
        ComparatorError: a comparator raised, or left [0, 1].
        JsonExtractionError: `actual` is text without JSON.
        ConfigurationError: an unknown metric or option, a threshold that is no number from 0 to 1.

    >>> assert_json_match('Sure: {"total": 20.3}', {"total": 20.3}, metric="json_similarity").score
    1.0
    """
    __tracebackhide__ = True
    from pytest_jsonmatch.api import compare_json

    return _compare(compare_json, actual, expected, metric, threshold, options, name, None)


def judge_case(
    case: GoldenCase, actual: object, *, locate: Callable[[FieldResult], str | None]
) -> MatchResult:
    """Do for a golden case what `assert_json_match` does: compare, record, fail below the threshold.

    Args:
        case: what it says holds before marks and ini options.
        actual: the answer.
        locate: gives "file:line" of a field, for the message.
    """
    __tracebackhide__ = True
    from pytest_jsonmatch.api import compare_values

    return _compare(
        lambda actual, expected, *, metric, **options: compare_values(actual, expected, metric, options),
        actual,
        case.expected,
        case.metric,
        case.threshold,
        case.options if case.judge_triage is None else {**case.options, "judge_triage": case.judge_triage},
        None,
        locate,
        suggest=True,
    )


def answer_of_case(case: GoldenCase, actual: object) -> JsonValue:
    """Return the answer for a golden case as the JSON value that it is compared as.

    Args:
        case: what it says holds before marks and ini options.
        actual: the answer; text is a model's output.

    Raises JsonMatchError as comparing does: there is no JSON in the text, or a value has no JSON form.
    """
    from pytest_jsonmatch.api import read_actual

    fallback = defaults()
    metric = fallback.metric if case.metric is None else case.metric
    expected = case.expected if case.has_expected else None
    return read_actual(actual, expected, metric, {**fallback.options, **case.options})


def _compare(
    compare: Callable[..., MatchResult],
    actual: object,
    expected: Any,
    metric: str | None,
    threshold: object,
    options: Mapping[str, Any],
    name: str | None,
    locate: Callable[[FieldResult], str | None] | None,
    *,
    suggest: bool = False,
) -> MatchResult:
    __tracebackhide__ = True
    fallback = defaults()
    limits = read_limits(fallback.threshold if threshold is None else threshold)
    _check_name(name)
    metric = fallback.metric if metric is None else metric
    options = _with_triage({**fallback.options, **options}, limits)
    try:
        result = compare(actual, expected, metric=metric, **options)
    except JsonMatchError as error:
        _record_unreadable(compare, expected, metric, options, limits, name, error)
        # A sentence of ours, about the caller's data: the engine's inner frames would only hide it.
        raise error.with_traceback(None)  # noqa: B904 - the very same error
    if not suggest:
        return _judge(result, limits, name, locate)

    def again(changed: Mapping[str, Any]) -> MatchResult | None:
        try:
            return compare(actual, expected, metric=metric, **changed, judge=_nobody)
        except JsonMatchError:
            return None

    def passes(other: MatchResult) -> bool:
        return not other.errors and not _failures(other, limits)

    return _judge(result, limits, name, locate, lambda: _would_pass(result, options, again, passes))


def _nobody(item: object) -> object:
    """Judge nothing: what would let a case pass is not worth a question."""
    raise RuntimeError(f"{item!r} is not asked about for a hint")


def _with_triage(options: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """Return options in which `judge_triage` is what decides which questions are asked, if it is wanted."""
    if "judge_triage" not in options:
        return options
    wanted = options.pop("judge_triage")
    if not isinstance(wanted, bool):
        raise ConfigurationError(f"judge_triage is {wanted!r}; it is True or False")
    if not wanted:
        return options
    from pytest_jsonmatch.triage import Triage

    session = current_session()
    return {
        **options,
        "judge_triage": Triage(limits, ask_all=session is not None and _needs_figures(session)),
    }


def _needs_figures(session: Session) -> bool:
    """Tell whether something is made of the figures of all cases: a gate, a baseline, a file of results."""
    settings = session.settings
    if settings.baseline or settings.json or settings.save:
        return True
    from pytest_jsonmatch.gate.expressions import parse_gate

    gates = (parse_gate(text) for text in (*settings.gates, *settings.asked_gates))
    return any(gate.figure not in _OF_VERDICTS for gate in gates)


# What triage leaves as it is: who passes, and what has gone wrong on the way.
_OF_VERDICTS: Final = frozenset(
    {"pass_rate", "flip_rate", "completeness", "approximate", "batch_errors", "errors"}
)


def check(
    result: MatchResult,
    threshold: Threshold | None = None,
    *,
    name: str | None = None,
    locate: Callable[[FieldResult], str | None] | None = None,
) -> MatchResult:
    """Record a comparison that was made under the running test, and fail if it is below its threshold.

    Args:
        result: what was compared.
        threshold: as for `assert_json_match`; None takes the defaults that hold for the running test.
        name: the comparison's id.
        locate: gives "file:line" of a field, for the message.

    Returns and raises what `assert_json_match` does.

    >>> from pytest_jsonmatch import compare_json
    >>> check(compare_json({"a": 1}, {"a": 1}), 0.5).score
    1.0
    """
    __tracebackhide__ = True
    _check_name(name)
    return _judge(result, read_limits(defaults().threshold if threshold is None else threshold), name, locate)


def _judge(
    result: MatchResult,
    limits: Limits,
    name: str | None,
    locate: Callable[[FieldResult], str | None] | None,
    advise: Callable[[], Iterable[str]] = tuple,
) -> MatchResult:
    __tracebackhide__ = True
    failures = _failures(result, limits)
    session = current_session()
    recorder = session.running if session is not None else None
    if recorder is not None:
        _record(recorder, result, limits, name, passed=not failures and not result.errors)
    if not failures and not result.errors:
        return result

    from pytest_jsonmatch.report.failure import failure_message

    look = session.look if session is not None else Look()
    verbosity = session.verbosity if session is not None else 0
    message = failure_message(
        result,
        threshold=limits,
        failures=failures,
        verbosity=verbosity,
        color=look.color,
        unicode=look.unicode,
        name=name,
        locate=locate,
        width=look.width,
    )
    message = "\n".join([message, *_left_open(result), *_unmatched(result, failures), *advise()])
    if result.errors:
        raise ComparatorError(message)
    raise AssertionError(message)


def _would_pass(
    result: MatchResult,
    options: Mapping[str, Any],
    again: Callable[[Mapping[str, Any]], MatchResult | None],
    passes: Callable[[MatchResult], bool],
) -> Iterator[str]:
    """Yield what the case could say so that it passes, as YAML to paste."""
    options = {key: value for key, value in options.items() if key not in {"judge", "judge_triage"}}
    session = current_session()
    if session is None or not session.settings.suggest or result.errors:
        return
    from pytest_jsonmatch.engine.compare import BUILTIN

    if {field.comparator for field in result.field_results} - BUILTIN.keys() - {None}:
        # What a user has written may be dear, and is not asked again for a hint.
        return
    from pytest_jsonmatch.golden.suggest import Trial, as_yaml, suggestions
    from pytest_jsonmatch.report.escape import printable

    head = "would pass with  "
    for change in suggestions(result, options, Trial(again, passes)):
        for line in as_yaml(change):
            yield head + printable(line)
            head = " " * len(head)
        head = "or               "


def _record(
    recorder: Recorder,
    result: MatchResult,
    limits: Limits,
    name: str | None,
    *,
    passed: bool,
    unreadable: str | None = None,
) -> None:
    from pytest_jsonmatch.results.comparison import Comparison

    def make(identity: str) -> Comparison:
        made = Comparison.of(
            result,
            id=identity,
            nodeid=recorder.nodeid,
            threshold=limits,
            passed=passed,
            case="" if recorder.run is None else recorder.run.case,
            params=recorder.params,
        )
        if recorder.keeps_audit and result.score < 1.0:
            made = made.audited(result)
        if unreadable is None:
            return made
        warnings = (*made.warnings, unreadable)
        return replace(made, score=0.0, precision=0.0, recall=0.0, f1=0.0, warnings=warnings)

    details = ""
    if recorder.keeps_details:
        from pytest_jsonmatch.report.details import details_of

        details = details_of(result)
    recorder.record(make, name, details)
    item = recorder.item
    if item.config.hook.pytest_jsonmatch_compared.get_hookimpls():  # asking an item's own hooks is dear
        item.ihook.pytest_jsonmatch_compared(result=result, item=item)


def _record_unreadable(
    compare: Callable[..., MatchResult],
    expected: object,
    metric: str,
    options: Mapping[str, Any],
    limits: Limits,
    name: str | None,
    error: JsonMatchError,
) -> None:
    """Record an answer that could not be compared, such as text without JSON, as one with nothing right."""
    session = current_session()
    if session is None or session.running is None:
        return
    from pytest_jsonmatch.engine.value.convert import MISSING

    recorder = session.running
    recorder.wanted = True
    if isinstance(error, ConfigurationError):
        return
    try:
        result = compare(MISSING, expected, metric=metric, **options)
    except JsonMatchError:
        return  # not the answer is at fault but the test: its expected data, its options
    _record(recorder, result, limits, name, passed=False, unreadable=str(error))


def _check_name(name: object) -> None:
    if name is not None and (not isinstance(name, str) or not name):
        raise ConfigurationError(f"name must be a non-empty string; got {name!r}")


# -- thresholds --------------------------------------------------------------------------------------------


def _failures(result: MatchResult, limits: Limits) -> list[ThresholdFailure]:
    """Return the figures below their limits: the score first, then fields as they are written."""
    least = limits.get("score")
    if len(limits) == 1 and isinstance(least, float) and result.score >= least:
        return []  # the everyday case
    found = measured(
        limits,
        result.__getattribute__,
        lambda: {path: aggregate.mean_score for path, aggregate in result.per_field.items()},
        frozenset(_not_asked(result)) if "fields" in limits else frozenset(),
    )
    below = [each for each in found if not each.is_reached]
    if not below:
        return []
    from pytest_jsonmatch.report.failure import ThresholdFailure

    return [ThresholdFailure(*each) for each in below]


def _not_asked(result: MatchResult) -> list[str]:
    """Return the schema paths of the fields that triage has left out."""
    return [field.path for field in result.field_results if field.is_not_asked]


def _left_open(result: MatchResult) -> Iterator[str]:
    """Return a line about questions that triage has left out: the figure would be another one with them."""
    number = len(_not_asked(result))
    if number:
        noun = "field was" if number == 1 else "fields were"
        yield f"{number:,} {noun} not judged: no verdict could change pass or fail (judge_triage)"


def _unmatched(result: MatchResult, failures: list[ThresholdFailure]) -> Iterator[str]:
    """Return a line for each pattern that matches nothing: most likely it is misspelt."""
    from pytest_jsonmatch.report.escape import printable

    for failure in failures:
        if failure.value is None:
            pattern = json.loads(failure.what[len("fields[") : -1])
            hint = did_you_mean(pattern, result.per_field)
            yield printable(f"no compared field matches the threshold's {pattern!r}{hint}")
