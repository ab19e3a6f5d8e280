"""The data that a test report carries from the process of a test to the controller, and its encoding."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.comparing.running import Repetition
from pytest_jsonmatch.session import ATTRIBUTE

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from pytest_jsonmatch.comparing.running import WrittenRule
    from pytest_jsonmatch.golden.update import Request
    from pytest_jsonmatch.results.comparison import Comparison
    from pytest_jsonmatch.results.tags import Tags
    from pytest_jsonmatch.semantic.judging import JudgeUsage

_UNCUT_MESSAGES: Final = re.compile(r"AssertionError|pytest_jsonmatch\.|(\S+:)?\d+(:\d+)?: ")
"""The start of messages that are kept complete: failed assertions, our own errors, errors at a line."""


@final
class Crash:
    """The location and the message of a failure; paths are those of pytest."""

    __slots__ = ("line", "message", "path", "test")

    def __init__(self, path: str, line: int, message: str, test: tuple[str, int]) -> None:
        self.path: Final = path
        self.line: Final = line
        self.message: Final = message
        self.test: Final = test
        """File and line of the test itself, relative to the rootdir."""


@final
class TestPayload:
    """The data about a test and about the run that is new with a report; merged, the data about a test."""

    __test__ = False  # for pytest
    __slots__ = (
        "answer",
        "broken",
        "cluster",
        "collected",
        "compares",
        "comparisons",
        "crash",
        "ended",
        "error",
        "failed",
        "input",
        "is_lost",
        "judge_usage",
        "nodeid",
        "place",
        "repetition",
        "rules",
        "skipped",
        "tags",
        "tolerated",
        "tolerated_report",
        "unanswered",
        "updates",
        "xfail",
    )

    def __init__(self) -> None:
        self.compares: bool = False
        """Whether the test compares, or was meant to; if not, the data is about the run only."""
        self.nodeid: str = ""
        """The node id of the test without the `@group` of pytest-xdist."""
        self.comparisons: list[Comparison] = []
        self.broken: bool = False
        """Whether a comparison has no scores."""
        self.unanswered: str = ""
        """Why there is no answer: the type of the producer's exception, or `NOT_RECORDED`."""
        self.error: str = ""
        """The message of an unanswered case."""
        self.tolerated: bool = False
        """Whether the run is below its threshold and not required to reach it."""
        self.repetition: Repetition | None = None
        self.cluster: str = ""
        """The cluster of the case."""
        self.tags: Tags = {}
        """The tags of the case."""
        self.rules: list[WrittenRule] = []
        """The patterns of the test, each with whether it matched anything."""
        self.input: str = ""
        """The input of the case, for HTML reports."""
        self.answer: str = ""
        """The raw answer if it is text, for HTML reports."""
        self.updates: list[Request] = []
        """Requested changes of golden files."""
        self.judge_usage: JudgeUsage | None = None
        """The usage of judges in this process since the last report."""
        self.collected: list[str] = []
        """The ids of the collected cases."""
        self.place: str = ""
        """In the controller: file and line of the test."""
        self.xfail: bool = False
        self.skipped: bool = False
        self.failed: bool = False
        """In the controller: outcomes of the reports so far."""
        self.ended: bool = False
        """In the controller: whether the test itself has run, or its setup has failed."""
        self.is_lost: bool = False
        """In the controller: whether the worker crashed before it sent anything."""
        self.tolerated_report: pytest.TestReport | None = None
        """In the controller: the report of a tolerated run."""
        self.crash: Crash | None = None
        """In the controller: the first failure."""

    @property
    def run(self) -> Repetition:
        """The repetition that it is; a test that is not repeated is a case with one run."""
        return self.repetition or Repetition(self.nodeid, 1, 1, None)

    @property
    def is_left_out(self) -> bool:
        """Whether it was skipped, or expected to fail."""
        return self.xfail or self.skipped

    @property
    def failed_before(self) -> bool:
        """Whether it failed before or between its comparisons, although there was an answer."""
        return self.failed and (self.broken or not self.comparisons) and not self.unanswered

    def add(self, later: TestPayload) -> None:
        """Add the data about the case from a later report of the test."""
        self.compares = True
        self.nodeid = later.nodeid
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

    def note_crash(self, report: pytest.TestReport, *, is_producers: bool) -> None:
        """Note the failure that a report contains; one with a location in code replaces one without.

        Of a producer's error, and of any other than a failed assertion, only the first line is kept.
        """
        from pytest_jsonmatch.engine.value.errors import first_line, hide_secrets

        location = getattr(report.longrepr, "reprcrash", None)
        path, line, _ = report.location
        test_location = path, (line or 0) + 1
        if location is not None and (self.crash is None or self.crash.line == 0):
            message = str(location.message)
            is_uncut = not is_producers and _UNCUT_MESSAGES.match(message) is not None
            message = hide_secrets(message) if is_uncut else first_line(message)
            self.crash = Crash(str(location.path), location.lineno, message, test_location)
        elif self.crash is None:
            # (That of a crashed worker begins with the name of the worker.)
            text = report.longrepr if isinstance(report.longrepr, str) else report.longreprtext
            # If a fixture is missing, the names of the available ones follow the line with the error.
            lines = [line[1:].strip() for line in text.splitlines() if line.startswith("E  ")]
            self.crash = Crash("", 0, hide_secrets("\n".join(lines) or text), test_location)


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
