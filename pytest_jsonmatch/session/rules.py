"""Rules that match nothing in any of their comparisons: most likely a pattern is misspelt."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple, final

from pytest_jsonmatch.comparing.running import WrittenRule

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    import pytest

    from pytest_jsonmatch.engine.result.match import MatchResult


@final
class CheckedRule(NamedTuple):
    """A pattern, and whether it matched in one test."""

    file: str
    line: int
    kind: str
    pattern: str
    matched: bool
    """Whether it matched anything."""
    is_shared: bool = False
    """Whether other tests may have the pattern, too."""
    near: str | None = None
    """The most similar path; sent once from each process."""


def is_ignored() -> bool:
    """Return whether a warning filter, such as a mark of the running test, ignores warnings about rules."""
    from pytest_jsonmatch.engine.value.errors import JsonMatchWarning

    actions = (
        action
        for action, text, kind, module, _ in warnings.filters
        if issubclass(JsonMatchWarning, kind) and not text and not module
    )
    return next(actions, "default") == "ignore"


def check_rules(
    result: MatchResult | None,
    rules: Iterable[WrittenRule],
    item: pytest.Item,
    known: dict[WrittenRule, bool],
) -> Iterator[CheckedRule]:
    """Yield the patterns of a comparison, each with whether it matched.

    Args:
        result: the result; None for an unreadable answer: then every pattern counts as matched.
        rules: the patterns.
        item: the running test.
        known: by pattern, whether it has matched in this process; updated. A pattern that has matched is not
            checked again.
    """
    location = str(item.path), (item.location[1] or 0) + 1
    is_shared = getattr(item.parent, "compares", False) or hasattr(item, "callspec")
    located = (rule if rule.file else WrittenRule(*location, *rule[2:]) for rule in rules)
    unknown = [rule for rule in located if not known.get(rule)]
    unmatched = () if result is None else result.unmatched(rule.pattern for rule in unknown)
    for rule in unknown:
        matched = rule.pattern not in unmatched
        is_new = result is not None and not matched and rule not in known
        near = result.nearest_path(rule.pattern) if result is not None and is_new else None
        known[rule] = matched
        yield CheckedRule(*rule, matched, is_shared, near)


@final
class RuleLog:
    """In the controller: the patterns of all tests, from all processes."""

    def __init__(self) -> None:
        self._matched: set[WrittenRule] = set()
        self._tests: dict[WrittenRule, set[str]] = {}
        """The node ids of the tests in which a pattern has matched nothing, by pattern."""
        self._near: dict[WrittenRule, str] = {}
        self._shared: set[WrittenRule] = set()

    def add(self, nodeid: str, rules: Iterable[CheckedRule]) -> None:
        """Add the checked patterns of a test."""
        for checked_rule in rules:
            rule = WrittenRule(*checked_rule[:4])
            if checked_rule.matched:
                self._matched.add(rule)
            else:
                self._tests.setdefault(rule, set()).add(nodeid)
            if checked_rule.near is not None:
                self._near[rule] = checked_rule.near
            if checked_rule.is_shared:
                self._shared.add(rule)

    def unmatched(self, *, is_part: bool, broken: Container[str]) -> Iterator[tuple[WrittenRule, str]]:
        """Yield the patterns that matched nothing in any test, each with its warning.

        A pattern that several tests may have is left out if some of these tests may not have compared.

        Args:
            is_part: whether some tests have not run.
            broken: the files with tests that did not compare.
        """
        from pytest_jsonmatch.engine.plan.unmatched import format_unmatched

        for rule, tests in sorted(self._tests.items()):
            has_gaps = is_part or any(nodeid.partition("::")[0] in broken for nodeid in tests)
            if rule not in self._matched and not (has_gaps and rule in self._shared):
                scope = "" if len(tests) == 1 else f" in any of {len(tests):,} tests"
                yield rule, format_unmatched(rule.kind, rule.pattern, self._near.get(rule), scope)


def warn_about_rules(config: pytest.Config, unmatched: Iterable[tuple[WrittenRule, str]]) -> list[str]:
    """Warn about rules, each at its file and line; return the messages that a filter turns into errors.

    pytest shows warnings this late only if its own hook is called with them.
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
