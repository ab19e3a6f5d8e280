"""The request for one comparison, by an assertion or a golden case, with all defaults resolved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.comparing.comparer import Comparer
from pytest_jsonmatch.comparing.running import current_run
from pytest_jsonmatch.engine.plan.options import Options
from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonMatchError, find_closest
from pytest_jsonmatch.results.answer import Answer, unwrap_answer
from pytest_jsonmatch.results.limits import read_limits
from pytest_jsonmatch.support.defaults import METRIC, THRESHOLD
from pytest_jsonmatch.support.frozen import list_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_jsonmatch.comparing.running import Run, WrittenRule
    from pytest_jsonmatch.comparing.suggest import Suggested
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.results.answer import Spent
    from pytest_jsonmatch.results.limits import Limits
    from pytest_jsonmatch.results.tags import Tags

_ARGUMENTS: Final = ("metric", "threshold", "name", "tags", "validate")
_OPTIONS: Final = list_fields(Options)
_OTHER_OPTIONS: Final = frozenset({"judge", "repair", "validate"})
"""Options that belong to no metric."""


@final
class ComparisonRequest:
    """The values, metric, options and limits of one comparison; create one with `resolve`."""

    __slots__ = (
        "aliases",
        "answer",
        "expected",
        "given",
        "ini_skips",
        "judge",
        "limits",
        "metric",
        "name",
        "options",
        "rules",
        "tags",
        "write_change",
    )

    def __init__(
        self,
        answer: object,
        expected: JsonValue,
        metric: str,
        options: Mapping[str, Any],
        limits: Limits,
        judge: object = None,
        name: str | None = None,
        tags: Tags | None = None,
        ini_skips: int = 0,
        write_change: Callable[[Mapping[str, Any], Suggested], list[str]] | None = None,
        given: frozenset[str] = frozenset(),
        rules: Sequence[WrittenRule] | None = None,
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        self.answer: Final = answer
        """The answer as given; may be an `Answer`."""
        self.expected: Final = expected
        self.metric: Final = metric
        self.options: Final = options
        """Options of the metric, `repair` and `validate`."""
        self.limits: Final = limits
        self.judge: Final = judge
        self.name: Final = name
        self.tags: Final[Tags] = {} if tags is None else tags
        """Tags of the comparison, beyond those of the test."""
        self.ini_skips: Final = ini_skips
        """The number of patterns in `skip` that come from the ini option; they are first."""
        self.write_change: Final = write_change
        """Writes a change of options for a golden case; None for the arguments of a call in Python."""
        self.given: Final = given
        """The names of the arguments that the call or a mark of the test itself gives."""
        self.rules: Final = rules
        """The patterns to check for matches; None for those of the call and of the test's own mark."""
        self.aliases: Final[Mapping[str, str]] = {} if aliases is None else aliases
        """The aliases of members of expected pydantic models, by their names."""

    @property
    def actual(self) -> object:
        """The value to compare."""
        return unwrap_answer(self.answer)

    @property
    def spent(self) -> Spent | None:
        """Model, time, tokens and cost of the answer; None if unknown."""
        return self.answer.spent if isinstance(self.answer, Answer) else None

    @property
    def comparer(self) -> Comparer:
        """The metric with its options; raises ConfigurationError if they are invalid."""
        __tracebackhide__ = True
        try:
            return Comparer.of(self.metric, self.options)
        except JsonMatchError as error:
            # The message names the option; the engine's inner frames would only obscure it.
            raise error.with_traceback(None)  # noqa: B904 - the very same error


def resolve(
    answer: object,
    expected: JsonValue,
    *,
    metric: str | None,
    threshold: object,
    options: Mapping[str, Any],
    name: str | None = None,
    tags: Mapping[str, Any] | None = None,
    write_change: Callable[[Mapping[str, Any], Suggested], list[str]] | None = None,
    rules: Sequence[WrittenRule] | None = None,
) -> ComparisonRequest:
    """Return a request; defaults come from the marks of the running test, then from ini options.

    Raises:
        ConfigurationError: a threshold, name, tag or argument is invalid.
    """
    __tracebackhide__ = True
    run = current_run()
    defaults, from_mark = ({}, ()) if run is None else run.get_defaults()
    given = {key: value for key, value in (("metric", metric), ("threshold", threshold)) if value is not None}
    settings: dict[str, Any] = {"metric": METRIC, "threshold": THRESHOLD, **defaults, **given}
    metric, limits = settings.pop("metric"), _read_limits(settings.pop("threshold"))
    merged = {**settings, **options}
    _check_arguments(merged, name)
    merged.setdefault("validate", "off" if merged.get("schema") is None else "report")
    ini_skips = 0 if run is None else _add_ini_skips(merged, run)
    judge = merged.pop("judge", None)
    return ComparisonRequest(
        answer,
        expected,
        metric,
        merged,
        limits,
        judge,
        name,
        {} if tags is None else _read_tags(tags),
        ini_skips,
        write_change,
        frozenset((*from_mark, *given, *options)),
        rules,
    )


def _read_limits(threshold: Any) -> Limits:
    __tracebackhide__ = True
    try:
        return read_limits(threshold)
    except ConfigurationError as error:
        raise error.with_traceback(None)  # noqa: B904 - the very same error


def _check_arguments(options: Mapping[str, Any], name: object) -> None:
    """Raise an error for an option that is almost an argument's name, or for an invalid name."""
    __tracebackhide__ = True
    for key in options.keys() - set(_OPTIONS) - _OTHER_OPTIONS:
        suggestion = find_closest(key, (*_ARGUMENTS, *_OPTIONS))
        if suggestion in _ARGUMENTS:
            raise ConfigurationError(f"unknown argument {key!r}; did you mean {suggestion!r}?")
    if name is not None and not (isinstance(name, str) and name):
        raise ConfigurationError(f"name must be a non-empty string, got {name!r}")


def _add_ini_skips(options: dict[str, Any], run: Run) -> int:
    """Add the patterns of the ini option to `skip`, and return the number of patterns added."""
    skipped = run.skipped
    if not skipped or not isinstance(options.setdefault("skip", []), (list, tuple)):
        return 0
    options["skip"] = [*skipped, *options["skip"]]
    return len(skipped)


def _read_tags(tags: Mapping[str, Any]) -> Tags:
    __tracebackhide__ = True
    from pytest_jsonmatch.results.tags import read_tags

    return read_tags(tags)
