"""What a test report carries from the process of a test to the controller, and its form between processes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, final

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from pytest_jsonmatch.golden.update import Request
    from pytest_jsonmatch.results.comparison import Comparison
    from pytest_jsonmatch.results.tags import Tags
    from pytest_jsonmatch.running import Repetition
    from pytest_jsonmatch.semantic.judging import JudgeUsage
    from pytest_jsonmatch.session.rules import CheckedRule

ATTRIBUTE: Final = "jsonmatch"
"""The attribute of a test report with its payload."""


@final
@dataclass(slots=True)
class TestPayload:
    """What is new about a test, and about the run; everything but the repetition is sent only once."""

    __test__ = False  # for pytest

    compares: bool = False
    """Whether the test compares, or was meant to; if not, only the run is concerned."""
    comparisons: list[Comparison] = field(default_factory=list)
    broken: bool = False
    """Whether a comparison yielded no figures."""
    raised: str = ""
    """What the producer of the answer raised: the type of the exception, and its message."""
    tolerated: bool = False
    """Whether the run is under its threshold, but need not reach it."""
    repetition: Repetition | None = None
    cluster: str = ""
    """What the case belongs to."""
    tags: Tags = field(default_factory=dict)
    """The tags of the case."""
    rules: list[CheckedRule] = field(default_factory=list)
    """Its patterns, and whether they match anything here."""
    input: str = ""
    """The input of the case, for pages."""
    answer: str = ""
    """The raw answer if it is text, for pages."""
    updates: list[Request] = field(default_factory=list)
    """Changes to golden files."""
    outputs: list[str] = field(default_factory=list)
    """Lines for the file of `--jsonmatch-record`."""
    judged: JudgeUsage | None = None
    """What judges did in this process since the last report."""
    collected: list[str] = field(default_factory=list)
    """The ids of the collected cases."""

    def add(self, later: TestPayload) -> None:
        """Add what a later report of the test says about its case."""
        self.comparisons += later.comparisons
        self.updates += later.updates
        self.broken |= later.broken
        self.raised = self.raised or later.raised
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
    r"""Return a payload as ASCII JSON text: execnet refuses lone surrogates, which strings may hold.

    >>> decode(encode(TestPayload(raised="\ud800"))) == TestPayload(raised="\ud800")
    True
    """
    from pytest_jsonmatch.results.plain import to_plain

    return json.dumps(to_plain(payload))


def decode(text: str) -> TestPayload:
    """Return the payload of the text of `encode`."""
    plain: dict[str, Any] = json.loads(text)
    return TestPayload(**{name: _READERS.get(name, _same)(value) for name, value in plain.items()})


def _same(value: Any) -> Any:
    return value


def _comparisons(found: list[Any]) -> list[Comparison]:
    from pytest_jsonmatch.results.comparison import Comparison
    from pytest_jsonmatch.results.plain import from_plain

    return [from_plain(Comparison, each) for each in found]


def _repetition(found: dict[str, Any]) -> Repetition:
    from pytest_jsonmatch.running import Repetition

    return Repetition(**found)


def _rules(found: list[Any]) -> list[CheckedRule]:
    from pytest_jsonmatch.session.rules import CheckedRule

    return [CheckedRule(**each) for each in found]


def _updates(found: list[Any]) -> list[Request]:
    from pytest_jsonmatch.golden.update import Request

    return [Request(**each) for each in found]


def _judged(found: dict[str, Any]) -> JudgeUsage:
    from pytest_jsonmatch.semantic.judging import JudgeUsage

    return JudgeUsage(**found)


_READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "comparisons": _comparisons,
    "repetition": _repetition,
    "rules": _rules,
    "updates": _updates,
    "judged": _judged,
}
"""How members that are no built-in types are read. Their types are imported only if they occur."""
