"""What test reports carry from the process of a test to the controller."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.running import Turn
from pytest_jsonmatch.session.rules import CheckedRule

if TYPE_CHECKING:
    import pytest

    from pytest_jsonmatch.results.tags import Tags
    from pytest_jsonmatch.semantic.judging import JudgeUsage

_ATTRIBUTE: Final = "jsonmatch"
"""The attribute of test reports: ASCII text, which passes between processes whatever strings hold."""


@final
@dataclass(slots=True)
class TestNews:
    """What is new about a test that compares; everything but the turn is sent only once."""

    __test__ = False  # for pytest

    comparisons: dict[str, str] = field(default_factory=dict)
    """By id, the text of each comparison: read when needed, and cheap for the garbage collector."""
    broken: bool = False
    """Whether a comparison yielded no figures."""
    raised: str = ""
    """What the producer of the answer raised, if gates alone decide."""
    tolerated: bool = False
    """Whether the run is under its threshold, but need not reach it."""
    turn: Turn | None = None
    cluster: str = ""
    """What the case belongs to."""
    tags: Tags = field(default_factory=dict)
    """The tags of the case."""
    rules: list[CheckedRule] = field(default_factory=list)
    """Its patterns, and whether they match anything here."""
    details: dict[str, str] = field(default_factory=dict)
    """What a page shows of each comparison, by id."""
    source: str = ""
    """What a page shows of the case: JSON text of its input and its answer."""
    updates: list[str] = field(default_factory=list)
    """Changes to golden files: the texts of `Request`s."""
    outputs: list[str] = field(default_factory=list)
    """Lines for the file of `--jsonmatch-record`."""

    def add(self, later: TestNews) -> None:
        """Add what a later report of the test says about its case."""
        self.comparisons.update(later.comparisons)
        self.details.update(later.details)
        self.updates += later.updates
        self.broken |= later.broken
        self.raised = self.raised or later.raised
        self.turn = self.turn or later.turn
        self.cluster = later.cluster or self.cluster
        self.tags = later.tags or self.tags
        self.source = later.source or self.source


@final
@dataclass(slots=True)
class RunNews:
    """What is new about the run in one process."""

    judged: JudgeUsage | None = None
    """What judges did since the last report."""
    collected: list[str] = field(default_factory=list)
    """The ids of the collected cases; sent once."""


def attach(report: pytest.TestReport, test: TestNews | None, run: RunNews | None) -> None:
    """Let a report carry something."""
    from pytest_jsonmatch.results.plain import as_text

    setattr(report, _ATTRIBUTE, as_text({"test": test, "run": run}))


def carried_by(report: pytest.TestReport) -> tuple[TestNews | None, RunNews | None]:
    """Return what a report carries about its test, and about the run."""
    text: str | None = getattr(report, _ATTRIBUTE, None)
    carried: dict[str, Any] = {} if text is None else json.loads(text)
    test, run = carried.get("test"), carried.get("run")
    return None if test is None else _test(test), None if run is None else _run(run)


def _test(members: dict[str, Any]) -> TestNews:
    if "turn" in members:
        members["turn"] = Turn(**members["turn"])
    if "rules" in members:
        members["rules"] = [CheckedRule(**each) for each in members["rules"]]
    return TestNews(**members)


def _run(members: dict[str, Any]) -> RunNews:
    if "judged" in members:
        from pytest_jsonmatch.semantic.judging import JudgeUsage

        members["judged"] = JudgeUsage(**members["judged"])
    return RunNews(**members)
