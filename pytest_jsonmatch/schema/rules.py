"""The `x-eval-*` keys of a schema: the words of field rules, behind a prefix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.plan.options import FIELD_WORDS
from pytest_jsonmatch.engine.plan.written import read_evaluation
from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

_PREFIX: Final = "x-eval-"
OVERRIDE: Final = "x-override-evaluator"
RULE_KEYS: Final = frozenset({OVERRIDE, *(_PREFIX + word for word in FIELD_WORDS)})
"""The keys of a schema that are rules."""
_AS_WRITTEN: Final = frozenset({"compare", "align", "accept"})
"""Rules that are kept as they are written; plans read them once more."""
DECISIVE: Final = ("compare", "skip")
"""Rules that make a place one result, whatever the schema says below it."""


def own_rules(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rules written at one schema by their names without `x-eval-`, checked for their form.

    `x-override-evaluator` comes out as `compare`.

    Raises:
        ConfigurationError: an unknown `x-eval-` key, two comparators, or an invalid rule.
    """
    rules: dict[str, Any] = {}
    for key, value in schema.items():
        if key != OVERRIDE and not key.startswith(_PREFIX):
            continue
        if key not in RULE_KEYS:
            raise ConfigurationError(f"unknown key {key!r}{did_you_mean(key, RULE_KEYS)}")
        if value is None:
            continue  # as some writers of JSON write a missing key
        word = "compare" if key == OVERRIDE else key.removeprefix(_PREFIX)
        if word in rules:
            raise ConfigurationError(f"has both x-eval-compare and {OVERRIDE}; give one")
        read = (read_evaluation if key == OVERRIDE else FIELD_WORDS[word])(key, value)
        rules[word] = value if word in _AS_WRITTEN and key != OVERRIDE else read
    return rules


def written_rules(rules: Mapping[str, Any]) -> dict[str, Any]:
    """Return rules as they are written in a schema."""
    return {_PREFIX + word: value for word, value in rules.items()}
