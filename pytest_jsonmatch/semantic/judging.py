"""The interface of judges, which decide whether two values have the same meaning."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from threading import Lock
from typing import Protocol, TypeAlias, final, runtime_checkable

from pytest_jsonmatch.engine.value.convert import JsonValue
from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonMatchError, format_error


@final
@dataclass(frozen=True, slots=True)
class JudgeItem:
    """A pair of values for a judge.

    >>> JudgeItem("1", "city", "New York", "NYC").description is None
    True
    """

    id: str
    """Unique within a call; answers are keyed by it."""
    path: str
    """The schema path of the field, such as `items[].note`."""
    expected: JsonValue
    """The correct value, after transforms."""
    actual: JsonValue
    """The value of the answer, after transforms."""
    description: str | None = None
    """The field's title and description in the schema; None without any."""
    criterion: str | None = None
    """The field's rule in words for what counts as the same; None if it has none."""


@final
@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's answer about one item.

    >>> Verdict(True)
    Verdict(equivalent=True, reason=None)
    """

    equivalent: bool
    reason: str | None = None


@final
class JudgeError(JsonMatchError):
    """An item has no verdict; `kind` gives the reason in a word or two, the message in a sentence.

    The kinds are budget, cache miss, connection, http, invalid, missing, refused, timeout and truncated.

    >>> str(JudgeError("budget", "max_calls=10 is used up"))
    'budget: max_calls=10 is used up'
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message

    def __reduce__(self) -> tuple[object, ...]:
        return JudgeError, (self.kind, self.message)


Answers: TypeAlias = "Mapping[str, Verdict | JudgeError]"
"""The answers of a judge: for each item's id a verdict, or the error that explains why there is none."""


@final
@dataclass(frozen=True, slots=True)
class JudgeUsage:
    """The usage of a judge; usages can be added and subtracted.

    >>> JudgeUsage(calls=1, items=8) + JudgeUsage(calls=2, items=3, cached=4)
    JudgeUsage(calls=3, items=11, cached=4, errors=0, prompt_tokens=0, completion_tokens=0)
    """

    calls: int = 0
    """Requests; a request that a client repeats after a failure counts once."""
    items: int = 0
    """Items sent, each counted once."""
    cached: int = 0
    """Items answered from a cache or a recording."""
    errors: int = 0
    """Items that ended without a verdict."""
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: JudgeUsage) -> JudgeUsage:
        return JudgeUsage(*map(operator.add, astuple(self), astuple(other)))

    def __sub__(self, other: JudgeUsage) -> JudgeUsage:
        return JudgeUsage(*map(operator.sub, astuple(self), astuple(other)))


@runtime_checkable
class Judge(Protocol):
    """The protocol of judges. A judge must be safe to call from several threads.

    A judge whose verdicts are cached may have two more attributes, both text: `model`, the name of the model,
    and `prompt`, the version of the prompt. Verdicts are cached separately for each combination.

    >>> class Generous:
    ...     usage = JudgeUsage()
    ...
    ...     def judge(self, items):
    ...         return {item.id: Verdict(True, "why not") for item in items}
    >>> isinstance(Generous(), Judge)
    True
    """

    def judge(self, items: Sequence[JudgeItem]) -> Answers:
        """Return a Verdict for each item's id, or the JudgeError that explains why there is none.

        Failures of single items, or of the endpoint, are not raised. A ConfigurationError (no key, an unknown
        model) ends the run.
        """

    @property
    def usage(self) -> JudgeUsage:
        """The usage so far."""


@final
class CallableJudge:
    """A judge made from a function of one item.

    Args:
        fn: gets a JudgeItem; returns a bool, a Verdict or a JudgeError. An exception becomes that item's
            error, except for a ConfigurationError, which ends the run. Several threads may call it at a time.

    >>> judge = CallableJudge(lambda item: item.expected.lower() == item.actual.lower())
    >>> judge.judge([JudgeItem("1", "city", "Paris", "PARIS")])
    {'1': Verdict(equivalent=True, reason=None)}
    >>> judge.usage.items
    1
    """

    def __init__(self, fn: Callable[[JudgeItem], object]) -> None:
        if not callable(fn):
            raise TypeError(f"a judge must be a function of one item, got {type(fn).__name__}")
        self._fn = fn
        self._usage = JudgeUsage()
        self._lock = Lock()

    def judge(self, items: Sequence[JudgeItem]) -> Answers:
        """Return the function's answer for each item's id."""
        answers = {item.id: self._call(item) for item in items}
        errors = sum(isinstance(answer, JudgeError) for answer in answers.values())
        with self._lock:
            self._usage += JudgeUsage(calls=len(items), items=len(items), errors=errors)
        return answers

    def _call(self, item: JudgeItem) -> Verdict | JudgeError:
        try:
            answer = self._fn(item)
        except JudgeError as error:
            return error
        except ConfigurationError:
            raise
        except Exception as error:  # noqa: BLE001 - a user's function: its failure becomes the item's error
            return JudgeError("invalid", f"the judge raised {format_error(error)}")
        if isinstance(answer, (Verdict, JudgeError)):
            return answer
        if isinstance(answer, bool):
            return Verdict(answer)
        return JudgeError("invalid", f"the judge must return a bool or a Verdict, got {answer!r}")

    @property
    def usage(self) -> JudgeUsage:
        """The usage so far."""
        return self._usage
