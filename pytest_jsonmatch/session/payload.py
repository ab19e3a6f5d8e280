"""The data that a test report carries from the process of a test to the controller, and its encoding."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, final

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from pytest_jsonmatch.comparing.running import Repetition
    from pytest_jsonmatch.golden.update import Request
    from pytest_jsonmatch.results.comparison import Comparison
    from pytest_jsonmatch.results.tags import Tags
    from pytest_jsonmatch.semantic.judging import JudgeUsage
    from pytest_jsonmatch.session.rules import CheckedRule

ATTRIBUTE: Final = "jsonmatch"
"""The attribute of a test report with its payload."""


@final
@dataclass(slots=True)
class TestPayload:
    """New data about a test and about the run; everything except the repetition is sent only once."""

    __test__ = False  # for pytest

    compares: bool = False
    """Whether the test compares, or was meant to; if not, the data is about the run only."""
    nodeid: str = ""
    """The node id of the test without the `@group` of pytest-xdist."""
    comparisons: list[Comparison] = field(default_factory=list)
    broken: bool = False
    """Whether a comparison has no scores."""
    unanswered: str = ""
    """Why there is no answer: the type of the producer's exception, or `NOT_RECORDED`."""
    error: str = ""
    """The message of an unanswered case."""
    tolerated: bool = False
    """Whether the run is below its threshold and not required to reach it."""
    repetition: Repetition | None = None
    cluster: str = ""
    """The cluster of the case."""
    tags: Tags = field(default_factory=dict)
    """The tags of the case."""
    rules: list[CheckedRule] = field(default_factory=list)
    """The patterns of the test, each with whether it matched anything."""
    input: str = ""
    """The input of the case, for HTML reports."""
    answer: str = ""
    """The raw answer if it is text, for HTML reports."""
    updates: list[Request] = field(default_factory=list)
    """Requested changes of golden files."""
    judge_usage: JudgeUsage | None = None
    """The usage of judges in this process since the last report."""
    collected: list[str] = field(default_factory=list)
    """The ids of the collected cases."""

    def add(self, later: TestPayload) -> None:
        """Add the data about the case from a later report of the test."""
        self.comparisons += later.comparisons
        self.updates += later.updates
        self.broken |= later.broken
        self.unanswered = self.unanswered or later.unanswered
        self.error = self.error or later.error
        self.repetition = self.repetition or later.repetition
        self.cluster = later.cluster or self.cluster
        self.tags = later.tags or self.tags
        self.input = later.input or self.input
        self.answer = later.answer or self.answer


def payload_of(report: pytest.TestReport) -> TestPayload | None:
    """Return the payload of a report; None without one."""
    return getattr(report, ATTRIBUTE, None)


# -- between processes -------------------------------------------------------------------------------------


def encode(payload: TestPayload) -> str:
    r"""Return a payload as ASCII JSON text: execnet does not accept lone surrogates in strings.

    >>> decode(encode(TestPayload(error="\ud800"))) == TestPayload(error="\ud800")
    True
    """
    from pytest_jsonmatch.results.plain import to_plain

    return json.dumps(to_plain(payload))


def decode(text: str) -> TestPayload:
    """Return the payload that `encode` has turned into text."""
    plain: dict[str, Any] = json.loads(text)
    return TestPayload(**{name: _READERS.get(name, _same)(value) for name, value in plain.items()})


def _same(value: Any) -> Any:
    return value


def _comparisons(plain: list[Any]) -> list[Comparison]:
    from pytest_jsonmatch.results.comparison import Comparison
    from pytest_jsonmatch.results.plain import from_plain

    return [from_plain(Comparison, item) for item in plain]


def _repetition(plain: dict[str, Any]) -> Repetition:
    from pytest_jsonmatch.comparing.running import Repetition

    return Repetition(**plain)


def _rules(plain: list[Any]) -> list[CheckedRule]:
    from pytest_jsonmatch.session.rules import CheckedRule

    return [CheckedRule(**item) for item in plain]


def _updates(plain: list[Any]) -> list[Request]:
    from pytest_jsonmatch.golden.update import Request

    return [Request(**item) for item in plain]


def _judge_usage(plain: dict[str, Any]) -> JudgeUsage:
    from pytest_jsonmatch.semantic.judging import JudgeUsage

    return JudgeUsage(**plain)


_READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "comparisons": _comparisons,
    "repetition": _repetition,
    "rules": _rules,
    "updates": _updates,
    "judge_usage": _judge_usage,
}
"""The readers of fields without a built-in type. Their types are imported only if they occur."""
