"""Rules that match nothing in any of their comparisons: most likely a pattern is misspelt."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from pytest_jsonmatch.comparing.running import WrittenRule

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    import pytest

    from pytest_jsonmatch.comparing.running import RuleKey
    from pytest_jsonmatch.engine.result.match import MatchResult


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
    known: dict[RuleKey, bool],
) -> Iterator[WrittenRule]:
    """Yield the rules of a comparison, each with whether it matched.

    Args:
        result: the result; None for an unreadable answer: then every rule counts as matched.
        rules: the rules.
        item: the running test.
        known: by the key of a rule, whether it has matched in this process; updated. A rule that has matched
            is not checked again.
    """
    location = str(item.path), (item.location[1] or 0) + 1
    is_shared = getattr(item.parent, "compares", False) or hasattr(item, "callspec")
    located = [rule if rule.file else WrittenRule(*location, rule.kind, rule.pattern) for rule in rules]
    unknown = [rule for rule in located if not known.get(rule.key)]
    unmatched = () if result is None else result.unmatched(rule.pattern for rule in unknown)
    for rule in unknown:
        matched = rule.pattern not in unmatched
        is_new = not matched and rule.key not in known
        near = result.nearest_path(rule.pattern) if result is not None and is_new else None
        known[rule.key] = matched
        yield WrittenRule(*rule.key, matched=matched, is_shared=is_shared, near=near)


def add_rules(known: dict[RuleKey, WrittenRule], nodeid: str, rules: Iterable[WrittenRule]) -> None:
    """In the controller: add the checked rules of a test, from any process, to those of all tests."""
    for rule in rules:
        merged = known.setdefault(rule.key, rule)
        merged.matched |= rule.matched
        merged.is_shared |= rule.is_shared
        merged.near = rule.near or merged.near
        if not rule.matched:
            merged.tests.add(nodeid)


def list_unmatched(
    rules: Mapping[RuleKey, WrittenRule], *, is_part: bool, broken: Container[str]
) -> Iterator[tuple[WrittenRule, str]]:
    """Yield the rules that matched nothing in any test, each with its warning.

    A rule that several tests may have is left out if some of these tests may not have compared.

    Args:
        rules: the rules of all tests.
        is_part: whether some tests have not run.
        broken: the files with tests that did not compare.
    """
    from pytest_jsonmatch.engine.plan.unmatched import format_unmatched

    for _, rule in sorted(rules.items()):
        has_gaps = is_part or any(nodeid.partition("::")[0] in broken for nodeid in rule.tests)
        if not rule.matched and not (has_gaps and rule.is_shared):
            scope = "" if len(rule.tests) == 1 else f" in any of {len(rule.tests):,} tests"
            yield rule, format_unmatched(rule.kind, rule.pattern, rule.near, scope)


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
