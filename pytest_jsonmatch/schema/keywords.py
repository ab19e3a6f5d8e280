"""Read and check the keywords of a schema, with `x-eval-*` keys; an error is a ConfigurationError."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pytest_jsonmatch.engine.plan.options import FIELD_WORDS, THRESHOLDS, read_evaluation
from pytest_jsonmatch.engine.value.convert import SCHEMA_TYPES
from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

Schema: TypeAlias = "dict[str, Any] | bool"
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


def _split(names: str) -> frozenset[str]:
    return frozenset(names.split())


_RESTRICTING: Final = _split("""
    $ref $dynamicRef $recursiveRef allOf anyOf oneOf not if then else properties patternProperties
    additionalProperties propertyNames unevaluatedProperties dependentSchemas dependentRequired dependencies
    items prefixItems additionalItems unevaluatedItems contains type enum const multipleOf maximum
    exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems
    maxContains minContains maxProperties minProperties required format contentEncoding contentMediaType
    contentSchema $defs definitions divisibleBy extends disallow
""")
"""Keywords of JSON Schema, from draft 3 to 2020-12, that restrict values or contain schemas."""
_DESCRIBING: Final = _split("""
    $schema $id id $anchor $dynamicAnchor $recursiveAnchor $vocabulary $comment title description default
    examples deprecated readOnly writeOnly nullable discriminator example xml externalDocs
""")
"""Keywords that describe a schema or its values, those of OpenAPI included."""
_COMMON_WORDS: Final = frozenset({"not", "if", "then", "else", "id", "xml"})
"""Keywords that other words look like; only other keywords are suggested."""
_NEAR: Final = 0.82
_WRAPPERS: Final = (
    *("schema", "parameters", "input_schema", "json_schema", "function", "inputSchema", "output_schema"),
    *("outputSchema", "response_schema", "responseSchema", "response_format", "format", "args_schema"),
)
"""Members that contain the schema in the requests of APIs of language models."""
_MAX_NAMED: Final = 6


def check_root(schema: Schema) -> None:
    """Check that an object is a JSON Schema, not something around it or something else.

    Raises:
        ConfigurationError: there is no keyword of JSON Schema in it; the message names the members.
    """
    if not isinstance(schema, dict) or not schema:
        return
    inner = _find_inner_schema(schema)
    declared = schema.get("type")
    if inner and isinstance(declared, str) and declared not in SCHEMA_TYPES:
        what = f"its type is {declared!r}"
    elif any(map(_is_restricting, schema)):
        return
    elif inner or _DESCRIBING.isdisjoint(schema):
        names = [repr(name) for name in schema]
        more = [f"{len(names) - _MAX_NAMED} more"] if len(names) > _MAX_NAMED else []
        what = f"no keyword of JSON Schema is among its members {', '.join(names[:_MAX_NAMED] + more)}"
    else:
        return
    if inner:
        hint = f"the schema in it is at {''.join(f'[{step!r}]' for step in inner)}: give that"
    elif misspelt := find_misspelt(schema):
        key, keyword = next(iter(misspelt.items()))
        hint = f"{key!r}: did you mean {keyword!r}?"
    else:
        hint = "to make a schema from gold data, run 'jsonmatch schema infer'"
    raise ConfigurationError(f"not a JSON Schema: {what}; {hint}")


def _is_restricting(key: str) -> bool:
    return key in _RESTRICTING or key in RULE_KEYS or key.startswith(PREFIX)


def _find_inner_schema(value: Any, depth: int = 3) -> tuple[str, ...] | None:
    """Return the way to a schema inside the request of an API; None without one."""
    for name in _WRAPPERS if isinstance(value, dict) and depth else ():
        inner = value.get(name)
        if isinstance(inner, dict):
            deeper = _find_inner_schema(inner, depth - 1)
            if deeper is not None:
                return (name, *deeper)
            declared = inner.get("type", "object")
            if any(map(_is_restricting, inner)) and (declared in SCHEMA_TYPES or isinstance(declared, list)):
                return (name,)
    return None


def find_misspelt(schema: Mapping[str, Any]) -> dict[str, str]:
    """Return the unknown members of a schema that look like a keyword, each with that keyword."""
    found: dict[str, str] = {}
    for key in schema:
        if key in _RESTRICTING or key in _DESCRIBING or key.startswith("x-"):
            continue
        near = get_close_matches(key.lower(), _SUGGESTED, 1, _NEAR)
        if near:
            found[key] = _SUGGESTED[near[0]]
    return found


_SUGGESTED: Final[Mapping[str, str]] = {
    name.lower(): name
    for name in (*sorted(_RESTRICTING), "title", "description", "default", "examples")
    if name not in _COMMON_WORDS
}
"""The keywords to suggest, by their names in lower case."""


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
