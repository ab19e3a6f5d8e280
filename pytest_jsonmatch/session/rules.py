"""Rules that match no place in any of their comparisons: most likely a pattern is misspelt."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple, final

from pytest_jsonmatch.running import WrittenRule

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    import pytest

    from pytest_jsonmatch.engine.result.match import MatchResult


@final
class CheckedRule(NamedTuple):
    """What one test says about a pattern."""

    file: str
    line: int
    kind: str
    pattern: str
    matched: bool
    """Whether it matches a place."""
    is_shared: bool = False
    """Whether other tests may have it, too."""
    near: str | None = None
    """The nearest path; sent once from each process."""


def is_ignored() -> bool:
    """Tell whether a warning about a rule would be ignored here, such as by a mark of the running test."""
    from pytest_jsonmatch.engine.value.errors import JsonMatchWarning

    fitting = (
        action
        for action, text, kind, module, _ in warnings.filters
        if issubclass(JsonMatchWarning, kind) and not text and not module
    )
    return next(fitting, "default") == "ignore"


def checked(
    result: MatchResult | None,
    rules: Iterable[WrittenRule],
    item: pytest.Item,
    known: dict[WrittenRule, bool],
) -> Iterator[CheckedRule]:
    """Yield what a comparison says about its patterns.

    Args:
        result: the result; None for an unreadable answer, which may match any of them.
        rules: the patterns.
        item: its test.
        known: whether a pattern has matched in this process, which is updated: then it is not checked again.
    """
    own = str(item.path), (item.location[1] or 0) + 1
    is_shared = getattr(item.parent, "compares", False) or hasattr(item, "callspec")
    placed = (rule if rule.file else WrittenRule(*own, *rule[2:]) for rule in rules)
    unknown = [rule for rule in placed if not known.get(rule)]
    unmatched = () if result is None else result.unmatched(rule.pattern for rule in unknown)
    for rule in unknown:
        matched = rule.pattern not in unmatched
        is_new = result is not None and not matched and rule not in known
        near = result.nearest_path(rule.pattern) if result is not None and is_new else None
        known[rule] = matched
        yield CheckedRule(*rule, matched, is_shared, near)


@final
class RulesOfRun:
    """In the controller: the patterns of all tests, from all processes."""

    def __init__(self) -> None:
        self._matched: set[WrittenRule] = set()
        self._tests: dict[WrittenRule, set[str]] = {}
        """The tests in which a pattern has matched nothing."""
        self._near: dict[WrittenRule, str] = {}
        self._shared: set[WrittenRule] = set()

    def take(self, nodeid: str, rules: Iterable[CheckedRule]) -> None:
        """Take what one test says."""
        for each in rules:
            rule = WrittenRule(*each[:4])
            if each.matched:
                self._matched.add(rule)
            else:
                self._tests.setdefault(rule, set()).add(nodeid)
            if each.near is not None:
                self._near[rule] = each.near
            if each.is_shared:
                self._shared.add(rule)

    def unmatched(self, *, is_part: bool, broken: Container[str]) -> Iterator[tuple[WrittenRule, str]]:
        """Yield the patterns that matched nowhere, each with its warning.

        Those that several tests may have are left out if some of these may not have compared.

        Args:
            is_part: whether not all tests have run.
            broken: the files with tests that did not compare.
        """
        from pytest_jsonmatch.engine.plan.unmatched import format_unmatched

        for rule, tests in sorted(self._tests.items()):
            has_gaps = is_part or any(nodeid.partition("::")[0] in broken for nodeid in tests)
            if rule not in self._matched and not (has_gaps and rule in self._shared):
                of = "" if len(tests) == 1 else f" in any of {len(tests):,} tests"
                yield rule, format_unmatched(rule.kind, rule.pattern, self._near.get(rule), of)


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
