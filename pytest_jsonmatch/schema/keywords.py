"""Read and check the keywords of a schema, with `x-eval-*` keys; an error is a ConfigurationError."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.plan.options import FIELD_WORDS, THRESHOLDS, read_evaluation
from pytest_jsonmatch.engine.value.convert import SCHEMA_TYPES
from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_jsonmatch.schema.documents import Schema

PREFIX: Final = "x-eval-"
OVERRIDE: Final = "x-override-evaluator"
RULE_KEYS: Final = frozenset({OVERRIDE, *(PREFIX + word for word in FIELD_WORDS)})
"""The keys of a schema that are rules."""
_UNREAD: Final = frozenset({"compare", "align", "accept"})
"""Rules that keep their original form, since plans read them again."""
COMPARATORS: Final = (PREFIX + "compare", OVERRIDE, PREFIX + "tolerance")
"""Keys that name a comparator: a schema has at most one of them."""
_THRESHOLDS: Final = tuple(PREFIX + word for word in THRESHOLDS)
"""Keys that set a threshold: a schema has at most one of them."""
DECISIVE: Final = ("compare", "skip")
"""Rules that make a value a single result, whatever the schema says about its parts."""


def types_of(schema: dict[str, Any]) -> frozenset[str]:
    """Return the types that `type` allows; empty without `type`."""
    declared = schema.get("type")
    if declared is None:
        return frozenset()
    names = [declared] if isinstance(declared, str) else declared
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise ConfigurationError(
            f"type must be a name or a list of names ({', '.join(SCHEMA_TYPES)}), got {declared!r}"
        )
    for name in names:
        if name not in SCHEMA_TYPES:
            raise ConfigurationError(f"unknown type {name!r}{did_you_mean(name, SCHEMA_TYPES)}")
    return frozenset(names)


def enum_of(schema: dict[str, Any]) -> list[Any] | None:
    """Return the values that `enum` or `const` lists; None without either."""
    if "const" in schema:
        return [schema["const"]]
    values = schema.get("enum")
    if values is not None and not isinstance(values, list):
        raise ConfigurationError(f"enum must be a list of values, got {values!r}")
    return values


def schemas_of(schema: dict[str, Any], keyword: str) -> list[Schema]:
    """Return the list of schemas at a keyword, which must be present."""
    parts = schema[keyword]
    if not isinstance(parts, list) or not parts:
        raise ConfigurationError(f"{keyword} must be a list of schemas, got {parts!r}")
    for part in parts:
        if not isinstance(part, (dict, bool)):
            raise not_a_schema(f"one of {keyword}", part)
    return parts


def named_schemas(schema: dict[str, Any], keyword: str) -> dict[str, Schema]:
    """Return the schemas at a keyword, by name; empty without the keyword."""
    parts = schema.get(keyword)
    if parts is None:
        return {}
    if not isinstance(parts, dict):
        raise ConfigurationError(f"{keyword} must map names to schemas, got {parts!r}")
    for name, part in parts.items():
        if not isinstance(part, (dict, bool)):
            raise not_a_schema(f"{keyword}[{name!r}]", part)
    return parts


def not_a_schema(what: str, value: object) -> ConfigurationError:
    """Return the error for a value that is not a schema."""
    return ConfigurationError(f"{what} must be a schema (an object, true or false), got {value!r}")


def own_rules(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rules of one schema, by name without `x-eval-`, after a check of their form.

    `x-override-evaluator` and `x-eval-tolerance` are returned as `compare`.

    Raises:
        ConfigurationError: a key is unknown, a rule is invalid, or there are two comparators or thresholds.
    """
    for alternatives in (COMPARATORS, _THRESHOLDS):
        named = [key for key in alternatives if schema.get(key) is not None]
        if len(named) > 1:
            raise ConfigurationError(f"has both {' and '.join(named)}; give one")
    rules: dict[str, Any] = {}
    for key, value in schema.items():
        if key != OVERRIDE and not key.startswith(PREFIX):
            continue
        if key not in RULE_KEYS:
            raise ConfigurationError(f"unknown key {key!r}{did_you_mean(key, RULE_KEYS)}")
        if value is None:
            continue  # some libraries write null instead of leaving out a key
        word = key.removeprefix(PREFIX)
        read = (read_evaluation if key == OVERRIDE else FIELD_WORDS[word])(key, value)
        if key in _THRESHOLDS:
            rules |= dict.fromkeys(THRESHOLDS)  # one replaces the other when schemas are merged
        rules["compare" if key in COMPARATORS else word] = value if word in _UNREAD else read
    return rules
