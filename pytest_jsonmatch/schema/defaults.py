"""The default comparator of each JSON Schema type, and `annotate_xeval`, which writes them into a schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from pytest_jsonmatch.engine.plan.options import read_spec
from pytest_jsonmatch.engine.plan.registry import note_change
from pytest_jsonmatch.engine.value.convert import to_json_value
from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean
from pytest_jsonmatch.reading.frames import to_rows
from pytest_jsonmatch.schema.documents import plain_copy
from pytest_jsonmatch.schema.keywords import COMPARATORS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_BUILTIN: Final[Mapping[str, Any]] = {
    "string": "exact",
    "number": "numeric",
    "integer": "numeric",
    "boolean": "exact",
    "null": "exact",
}

# The changes by `set_type_default`: they apply to this process, as in source 5's API.
_changed: Final[dict[str, Any]] = {}


def set_type_default(json_type: str, comparator: str | Mapping[str, Mapping[str, Any]]) -> None:
    """Change the default comparator of a JSON Schema type for this process.

    It applies to schemas that are parsed and annotated from now on. The rules of a field, its `enum` and the
    options of a call take precedence.

    Args:
        json_type: string, number, integer, boolean or null.
        comparator: a name, or {name: {parameters}}.

    Raises:
        ConfigurationError: the type is unknown, or the comparator has an invalid form. Whether the comparator
            is registered is checked when a schema is parsed.

    >>> set_type_default("string", "levenshtein")
    >>> annotate_xeval({"type": "string"})
    {'type': 'string', 'x-eval-compare': 'levenshtein'}
    >>> reset_type_defaults()
    """
    if json_type not in _BUILTIN:
        raise ConfigurationError(
            f"no default comparator for type {json_type!r}{did_you_mean(str(json_type), _BUILTIN)}"
        )
    read_spec(f"default of type {json_type!r}", comparator)
    _changed[json_type] = comparator
    note_change()


def reset_type_defaults() -> None:
    """Undo every `set_type_default`.

    >>> reset_type_defaults()
    """
    _changed.clear()
    note_change()


def changed_defaults() -> dict[str, Any]:
    """Return the changed default comparators, by JSON Schema type."""
    return dict(_changed)


def fitted_defaults(types: frozenset[str]) -> Mapping[str, Any]:
    """Return the changed default comparators for a schema that allows `types`, by the type of the value.

    In JSON Schema "number" includes integers: if only "number" is declared, its default applies to both. For
    an object or array the defaults apply to unlisted values in it, which can have any type.
    """
    defaults = changed_defaults()
    if types.isdisjoint(("object", "array")):
        for name in {"number", "integer"} - types if types else ():
            defaults.pop(name, None)
    if "number" in defaults:
        defaults.setdefault("integer", defaults["number"])
    return defaults


_DEFINITIONS: Final = ("$defs", "definitions")
_NAMED: Final = ("properties", "patternProperties", *_DEFINITIONS)
_PARTS: Final = (*_NAMED, "items", "additionalProperties", "allOf", "anyOf", "oneOf", "prefixItems")


def annotate_xeval(schema: dict[str, Any], gold: Iterable[object] | None = None) -> dict[str, Any]:
    """Add the default comparator of its type to every leaf of a schema, as `x-eval-compare`, in place.

    Leaves that have a comparator or are skipped do not change, and neither do leaves of several types with
    different defaults: there the type of the value decides. An `enum` gets `binary`.

    Args:
        schema: a JSON Schema; it is changed.
        gold: gold records. If given, comparators of formats, enumerations and keys of arrays that fit all
            their values are proposed first, each with the reason as a `$comment`.

    Returns:
        The same dict.

    Raises:
        ConfigurationError: `schema` is not a dict, or is too deep.
        UnsupportedValueError: (a TypeError) a gold record has no JSON form.

    >>> annotate_xeval({"properties": {"price": {"type": "number"}, "name": {"type": "string"}}})
    {'properties': {'price': {'type': 'number', 'x-eval-compare': 'numeric'}, \
'name': {'type': 'string', 'x-eval-compare': 'exact'}}}
    """
    if not isinstance(cast("object", schema), dict):
        raise ConfigurationError(
            f"annotate_xeval needs a dict, which it changes in place, got {type(schema).__name__}; "
            "make one with resolve_schema_references or infer_schema"
        )
    plain_copy(schema)  # raises an error for a schema that is too deep, or contains itself
    if gold is not None:
        from pytest_jsonmatch.schema.proposals import propose_rules

        records = enumerate(to_rows(gold), 1)
        propose_rules(
            schema, [(number, to_json_value(record, side="expected")) for number, record in records]
        )
    _annotate(schema)
    return schema


def _annotate(node: object) -> None:
    if not isinstance(node, dict):
        return
    # A value with such a rule is one result, without results in it; definitions may be used elsewhere.
    is_decided = not node.keys().isdisjoint(COMPARATORS) or bool(node.get("x-eval-skip"))
    if not is_decided and (comparator := _default_of(node)) is not None:
        node["x-eval-compare"] = comparator
    for key in _DEFINITIONS if is_decided else _PARTS:
        part = node.get(key)
        if isinstance(part, dict) and key in _NAMED:
            part = list(part.values())
        for inner in part if isinstance(part, list) else [part]:
            _annotate(inner)


def _default_of(node: dict[str, Any]) -> Any:
    declared = node.get("type")
    names = [declared] if isinstance(declared, str) else declared
    if "enum" in node or "const" in node:
        return "binary"
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        return None
    if not {"array", "object"}.isdisjoint(names):
        return None
    # A nullable string is compared as a string: every comparator scores null against another value as 0.
    defaults = [_changed.get(name, _BUILTIN.get(name)) for name in names if name != "null" or len(names) == 1]
    return defaults[0] if all(default == defaults[0] for default in defaults) else None
