"""The data that a test report carries from the process of a test to the controller, and its encoding."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, final

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from pytest_jsonmatch.comparing.running import Repetition, WrittenRule
    from pytest_jsonmatch.golden.update import Request
    from pytest_jsonmatch.results.comparison import Comparison
    from pytest_jsonmatch.results.tags import Tags
    from pytest_jsonmatch.semantic.judging import JudgeUsage

ATTRIBUTE: Final = "jsonmatch"
"""The attribute of a test report with its payload."""


@final
class TestPayload:
    """New data about a test and about the run; everything except the repetition is sent only once."""

    __test__ = False  # for pytest
    __slots__ = (
        "answer",
        "broken",
        "cluster",
        "collected",
        "compares",
        "comparisons",
        "error",
        "input",
        "judge_usage",
        "nodeid",
        "repetition",
        "rules",
        "tags",
        "tolerated",
        "unanswered",
        "updates",
    )

    def __init__(self) -> None:
        self.compares = False
        """Whether the test compares, or was meant to; if not, the data is about the run only."""
        self.nodeid = ""
        """The node id of the test without the `@group` of pytest-xdist."""
        self.comparisons: list[Comparison] = []
        self.broken = False
        """Whether a comparison has no scores."""
        self.unanswered = ""
        """Why there is no answer: the type of the producer's exception, or `NOT_RECORDED`."""
        self.error = ""
        """The message of an unanswered case."""
        self.tolerated = False
        """Whether the run is below its threshold and not required to reach it."""
        self.repetition: Repetition | None = None
        self.cluster = ""
        """The cluster of the case."""
        self.tags: Tags = {}
        """The tags of the case."""
        self.rules: list[WrittenRule] = []
        """The patterns of the test, each with whether it matched anything."""
        self.input = ""
        """The input of the case, for HTML reports."""
        self.answer = ""
        """The raw answer if it is text, for HTML reports."""
        self.updates: list[Request] = []
        """Requested changes of golden files."""
        self.judge_usage: JudgeUsage | None = None
        """The usage of judges in this process since the last report."""
        self.collected: list[str] = []
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

    >>> payload = TestPayload()
    >>> payload.error = "\ud800"
    >>> decode(encode(payload)).error
    '\ud800'
    """
    from pytest_jsonmatch.results.plain import to_plain

    new = TestPayload()
    members = ((name, getattr(payload, name)) for name in TestPayload.__slots__)
    return json.dumps({name: to_plain(value) for name, value in members if value != getattr(new, name)})


def decode(text: str) -> TestPayload:
    """Return the payload that `encode` has turned into text."""
    payload = TestPayload()
    for name, value in json.loads(text).items():
        setattr(payload, name, _READERS.get(name, _same)(value))
    return payload


def _same(value: Any) -> Any:
    return value


def _comparisons(plain: list[Any]) -> list[Comparison]:
    from pytest_jsonmatch.results.comparison import Comparison
    from pytest_jsonmatch.results.plain import from_plain

    return [from_plain(Comparison, item) for item in plain]


def _repetition(plain: dict[str, Any]) -> Repetition:
    from pytest_jsonmatch.comparing.running import Repetition

    return Repetition(**plain)


def _rules(plain: list[Any]) -> list[WrittenRule]:
    from pytest_jsonmatch.comparing.running import WrittenRule

    return [WrittenRule(**item) for item in plain]


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
