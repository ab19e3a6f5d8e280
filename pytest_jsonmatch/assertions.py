"""`assert_json_match`: score, record for the summary, and fail with a message that says where and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, cast, final

from pytest_jsonmatch.answer import Answer, value_of
from pytest_jsonmatch.defaults import METRIC, THRESHOLD
from pytest_jsonmatch.engine.plan.options import Options
from pytest_jsonmatch.engine.value.errors import (
    ComparatorError,
    ConfigurationError,
    JsonExtractionError,
    JsonMatchError,
    did_you_mean,
    nearest,
)
from pytest_jsonmatch.limits import measured, read_limits
from pytest_jsonmatch.running import Compared, Rule, current_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pytest_jsonmatch.comparer import Comparer
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.golden.cases import GoldenCase
    from pytest_jsonmatch.limits import Limits, Measured, Threshold
    from pytest_jsonmatch.results.tags import Tags
    from pytest_jsonmatch.running import RunningTest


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

    _begin()
    asked = _asked(metric, threshold, options, name, tags=tags)
    try:
        value = read_expected(expected)
    except JsonMatchError as error:
        raise error.with_traceback(None)  # noqa: B904 - the very same error
    result, failure = asked.compare(actual, value)
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
    case: GoldenCase, actual: object, locate: Callable[[FieldResult], str | None], rules: Sequence[Rule]
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
    asked = _asked(case.metric, case.threshold, case.options, None, locate, suggests=True, rules=rules)
    result, failure = asked.compare(actual, case.expected)
    failures = _failures(result, asked.limits)
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
    from pytest_jsonmatch.comparer import Comparer
    from pytest_jsonmatch.engine.value.text import render

    asked = _asked(case.metric, case.threshold, case.options, None)

    def compare(actual: JsonValue) -> tuple[MatchResult, bool, Limits]:
        # A str would be read as model output.
        answer = render(actual) if type(actual) is str else actual
        result = Comparer.of(asked.metric, asked.options).compare(answer, expected, _no_judge)
        return result, asked.passes(result), asked.limits

    return compare


def comparer_of(case: GoldenCase) -> Comparer:
    """Return how a golden case is compared. Raises JsonMatchError if its settings are invalid."""
    from pytest_jsonmatch.comparer import Comparer, check_judge

    asked = _asked(case.metric, case.threshold, case.options, None)
    check_judge(asked.judge)
    return Comparer.of(asked.metric, asked.options)


def _asked(
    metric: str | None,
    threshold: object,
    options: Mapping[str, Any],
    name: str | None,
    locate: Callable[[FieldResult], str | None] | None = None,
    *,
    suggests: bool = False,
    rules: Sequence[Rule] | None = None,
    tags: Mapping[str, Any] | None = None,
) -> _Asked:
    """Return the request for a comparison, with defaults for what is not given."""
    __tracebackhide__ = True
    run = current_run()
    defaults, marked = ({}, ()) if run is None else run.defaults()
    own = {"metric": metric, "threshold": threshold}
    own = {key: value for key, value in own.items() if value is not None}
    fallback: dict[str, Any] = {"metric": METRIC, "threshold": THRESHOLD, **defaults, **own}
    metric = fallback.pop("metric")
    try:
        limits = read_limits(fallback.pop("threshold"))
    except ConfigurationError as error:
        raise error.with_traceback(None)  # noqa: B904 - the very same error
    for key in options.keys() - Options.__dataclass_fields__.keys() - _OTHER_OPTIONS:
        near = nearest(key, (*_ARGUMENTS, *Options.__dataclass_fields__))
        if near in _ARGUMENTS:
            raise ConfigurationError(f"unknown argument {key!r}; did you mean {near!r}?")
    if name is not None and not (isinstance(cast("object", name), str) and name):
        raise ConfigurationError(f"name must be a non-empty string; got {name!r}")
    if tags is not None:
        from pytest_jsonmatch.results.tags import read_tags

        tags = read_tags(tags)
    given = frozenset((*marked, *own, *options))
    options = {"validate": "report", **fallback, **options}
    skipped: Sequence[str] = ()
    if run is not None and run.skipped and isinstance(options.setdefault("skip", []), (list, tuple)):
        skipped = run.skipped
        options["skip"] = [*skipped, *options["skip"]]
    judge = options.pop("judge", None)
    return _Asked(metric, limits, options, judge, name, locate, suggests, given, rules, tags, len(skipped))


_TEXT: Final = (str, bytes, bytearray)
_ARGUMENTS: Final = ("metric", "threshold", "name", "tags", "validate")
_OTHER_OPTIONS: Final = frozenset({"judge", "repair", "validate"})
"""Options that belong to no metric."""


@final
@dataclass(frozen=True, slots=True)
class _Asked:
    """The request for one comparison."""

    metric: str
    limits: Limits
    options: Mapping[str, Any]
    judge: object
    name: str | None
    locate: Callable[[FieldResult], str | None] | None
    suggests: bool
    """Whether a failure suggests changes that would let the case pass."""
    given: frozenset[str]
    """What the call, or a mark of the test itself, gives."""
    rules: Sequence[Rule] | None
    """The patterns to check; None: those that are given."""
    tags: Tags | None = None
    """Tags of the comparison, beyond those of the test."""
    skipped: int = 0
    """How many of the patterns in `skip` are the ini option's."""

    def compare(self, answer: object, expected: JsonValue) -> tuple[MatchResult, Exception | None]:
        """Compare, and record the result for the running test; return it, and the failure if it fails."""
        __tracebackhide__ = True
        from pytest_jsonmatch.comparer import Comparer

        test, actual, unreadable = _running_test(), value_of(answer), None
        try:
            result = Comparer.of(self.metric, self.options).compare(actual, expected, self.judge)
        except JsonMatchError as error:
            # The message is about the caller's data; the engine's inner frames would only hide it.
            unreadable = error.with_traceback(None)
            if isinstance(error, ConfigurationError):
                raise unreadable  # noqa: B904 - the very same error
            result = self._without_answer(expected, unreadable)
        passed = unreadable is None and self.passes(result)
        if test is not None:
            parsed = not isinstance(unreadable, JsonExtractionError) if isinstance(actual, _TEXT) else None
            spent = answer.spent if isinstance(answer, Answer) else None
            why, rules = None if unreadable is None else str(unreadable), self._rules()
            test.record(
                Compared(result, self.limits, self.name, passed, parsed, spent, self.tags, why, rules)
            )
        if passed or unreadable is not None:
            return result, unreadable
        failures = _failures(result, self.limits)
        lines = [
            # If only the schema refuses the answer, the first line says why.
            *([self._message(result, failures)] if failures or result.errors else ()),
            *_violations(result),
            *_unmatched(result, failures),
            *_mistaken(result, actual),
            *self._would_pass(actual, expected, result),
        ]
        kind = ComparatorError if result.errors else AssertionError
        return result, kind("\n".join(lines))

    def passes(self, result: MatchResult) -> bool:
        """Tell whether a result is good enough."""
        return not (_failures(result, self.limits) or result.errors or self._refuses(result))

    def _refuses(self, result: MatchResult) -> bool:
        return self.options["validate"] == "require" and result.valid is False

    def _rules(self) -> Sequence[Rule]:
        """Return the patterns, for the running test to find out which of them match no place."""
        if self.rules is not None:
            return self.rules
        patterns: dict[str, Any] = {kind: self.options.get(kind) for kind in ("fields", "accept")}
        patterns["skip"] = (self.options.get("skip") or ())[self.skipped :]
        patterns["threshold"] = self.limits.get("fields")
        kinds = [kind for kind in patterns if kind in self.given and patterns[kind]]
        return [Rule("", 0, kind, pattern) for kind in kinds for pattern in patterns[kind]]

    def _without_answer(self, expected: JsonValue, error: JsonMatchError) -> MatchResult:
        """Return the result for an answer that can't be compared, such as text without JSON: all is missing.

        Raises the error if the fault is not the answer's, but that of the expected data or options.
        """
        __tracebackhide__ = True
        from pytest_jsonmatch.comparer import Comparer
        from pytest_jsonmatch.engine.value.convert import MISSING

        options = self.options
        if not isinstance(error, JsonExtractionError):
            options = {**options, "validate": "off"}  # the schema may allow the missing answer
        try:
            return Comparer.of(self.metric, options).compare(MISSING, expected, self.judge)
        except JsonMatchError:
            raise error from None

    def _message(self, result: MatchResult, failures: list[Measured]) -> str:
        from pytest_jsonmatch.report.failure import failure_message
        from pytest_jsonmatch.report.look import Look

        run = current_run()
        return failure_message(
            result,
            Look() if run is None else Look(*run.look),
            threshold=self.limits,
            failures=failures,
            verbosity=0 if run is None else run.verbosity,
            name=self.name,
            locate=self.locate,
        )

    def _would_pass(self, actual: object, expected: JsonValue, result: MatchResult) -> Iterator[str]:
        """Yield changes that would let the case pass, as YAML to paste."""
        run = current_run()
        if not self.suggests or run is None or result.errors:
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
        answer = actual if type(extracted) is str else extracted

        def again(changed: Mapping[str, Any]) -> MatchResult | None:
            try:
                return Comparer.of(self.metric, changed).compare(answer, expected, _no_judge)
            except JsonMatchError:
                return None

        for number, change in enumerate(suggestions(result, self.options, Trial(again, self.passes))):
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
        yield "actual is a path, compared as text; pass what is in the file: path.read_text()"
    elif result.counts.keys() == {"match", "hallucination"}:
        yield "expected is inside actual: if the two were swapped, write actual first"


def _unmatched(result: MatchResult, failures: Iterable[Measured]) -> Iterator[str]:
    """Yield a line for each pattern that matches nothing, most likely a misspelling."""
    from pytest_jsonmatch.report.escape import printable

    for failure in failures:
        if failure.value is None and failure.field is not None:
            hint = did_you_mean(failure.field, result.per_field)
            yield printable(f"no compared field matches the threshold's {failure.field!r}{hint}")
