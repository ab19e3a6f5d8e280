"""Rules that match no place in any of their comparisons: most likely a pattern is misspelt."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, final

import pytest

from pytest_jsonmatch.running import INI_SKIP, RuleSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_jsonmatch.engine.result.match import MatchResult


@final
class WrittenRule(NamedTuple):
    """A pattern, and where it was given."""

    file: str
    """The path of the file."""
    line: int
    kind: str
    """`fields`, `accept`, `skip`, `threshold`, or `jsonmatch_skip`, the ini option."""
    pattern: str


@final
class Looked(NamedTuple):
    """What one test says about a rule that applies to several."""

    rule: WrittenRule
    fits: bool
    """Whether it matches a place."""
    holders: int | None = None
    """How many tests it applies to, if that is known; told once, as `near`."""
    near: str | None = None
    """The nearest path."""


def is_ignored() -> bool:
    """Tell whether a warning about a rule would be ignored here, such as by a mark of the running test."""
    from pytest_jsonmatch.engine.value.errors import JsonMatchWarning

    fitting = (
        action
        for action, text, kind, module, _ in warnings.filters
        if issubclass(JsonMatchWarning, kind) and not text and not module
    )
    return next(fitting, "default") == "ignore"


def rules_in(node: Any, holders: int | None = None) -> RuleSource:
    """Return the rules in a test's calls, or in a mark of a test, a class or a module: at its first line.

    All parameters of a test share them. Which tests a mark applies to is unknown until all have run.
    """

    def place(*_: str) -> tuple[str, int]:
        is_item = isinstance(node, pytest.Item)
        line = node.location[1] if is_item else node.reportinfo()[1] if isinstance(node, pytest.Class) else 0
        return str(node.path), (line or 0) + 1

    return RuleSource(place, lambda *_: holders)


def rules_in_ini(config: pytest.Config, patterns: Sequence[str]) -> RuleSource:
    """Return the source of patterns in the configuration file, which apply to the whole suite."""
    path = config.inipath or config.rootpath
    lines = path.read_text("utf-8", "replace").splitlines() if patterns and config.inipath is not None else []
    found = {text: next((at for at, line in enumerate(lines, 1) if text in line), 1) for text in patterns}
    return RuleSource(lambda _, pattern: (str(path), found[pattern]), lambda *_: None)


@final
class SharedRules:
    """In each process: the rules that apply to several tests, and what reports say about them.

    A rule that has matched once in this process is not checked again.
    """

    def __init__(self) -> None:
        self._fitted: dict[WrittenRule, bool] = {}
        """Whether a rule has matched, of those seen so far."""

    def look(
        self, result: MatchResult, kind: str, patterns: Iterable[str], source: RuleSource
    ) -> Iterator[Looked]:
        """Yield what the controller has to know: rules that match for the first time, or did not match."""
        rules = [WrittenRule(*source.place(kind, pattern), kind, pattern) for pattern in patterns]
        rules = [rule for rule in rules if not self._fitted.get(rule)]
        unmatched = result.unmatched(rule.pattern for rule in rules)
        for rule in rules:
            fits = rule.pattern not in unmatched
            if fits or rule in self._fitted:
                yield Looked(rule, fits)
            else:
                # Holders and the nearest path take longer, so they are found only once.
                pattern = rule.pattern
                yield Looked(rule, fits, source.holders(kind, pattern), result.nearest_path(pattern))
            self._fitted[rule] = fits


@final
@dataclass(slots=True)
class _Open:
    """A rule that has matched nothing so far."""

    tests: set[str] = field(default_factory=set)
    holders: int | None = None
    near: str | None = None


@final
class RulesOfRun:
    """In the controller: the rules that apply to several tests, from all processes."""

    def __init__(self) -> None:
        self._fitted: set[WrittenRule] = set()
        self._open: dict[WrittenRule, _Open] = {}

    def take(self, nodeid: str, rules: Iterable[Looked]) -> None:
        """Take what one test says."""
        for looked in rules:
            if looked.fits:
                self._fitted.add(looked.rule)
                continue
            known = self._open.setdefault(looked.rule, _Open())
            known.tests.add(nodeid)
            known.holders = known.holders if looked.holders is None else looked.holders
            known.near = known.near or looked.near

    def unmatched(self, *, is_whole: bool, is_suite: bool) -> Iterator[tuple[WrittenRule, str]]:
        """Yield the rules that matched nowhere although all their tests ran, each with its warning.

        Args:
            is_whole: whether all existing tests ran to their end: it decides about rules for which the
                number of tests is unknown.
            is_suite: whether they are all tests of the suite: it decides about rules of the configuration.
        """
        from pytest_jsonmatch.engine.plan.fitting import unmatched_text

        for rule, known in sorted(self._open.items()):
            is_done = is_whole if known.holders is None else len(known.tests) >= known.holders
            if rule not in self._fitted and is_done and (is_suite or rule.kind != INI_SKIP):
                number = len(known.tests)
                of = "" if number == 1 else f" in any of {number:,} tests"
                yield rule, unmatched_text(rule.kind, rule.pattern, known.near, of)


def warn_of_rules(config: pytest.Config, unmatched: Iterable[tuple[WrittenRule, str]]) -> list[str]:
    """Warn of rules, each at its place; return the texts of those that a filter makes errors.

    pytest shows warnings of this late phase only if its own hook is called with them.
    """
    from pytest_jsonmatch.engine.value.errors import JsonMatchWarning

    errors = []
    for rule, text in unmatched:
        with warnings.catch_warnings(record=True) as caught:
            try:
                warnings.warn_explicit(text, JsonMatchWarning, rule.file, rule.line)
            except JsonMatchWarning:
                errors.append(f"{rule.file}:{rule.line}: {text}")
        for warning in caught:
            config.hook.pytest_warning_recorded.call_historic(
                kwargs={"warning_message": warning, "nodeid": "", "when": "runtest", "location": None}
            )
    return errors
