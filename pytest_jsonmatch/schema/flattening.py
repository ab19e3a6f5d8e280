"""Flatten schemas: follow `$ref`, merge `allOf`, and merge `anyOf` and `oneOf` or let the value decide.

A `Subschema` is a schema in a schema, or a combination of several; `SchemaReader.flat` returns what it says
about a value, a `FlatSchema`, whose members are subschemas again. Subschemas are interned, so a recursive
schema is a finite graph of them.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final
from urllib.parse import unquote

from pytest_jsonmatch.engine.value.convert import json_type
from pytest_jsonmatch.engine.value.equality import json_equal
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.paths import ANY_KEY, ELEMENT
from pytest_jsonmatch.schema.keywords import (
    DECISIVE,
    RULE_KEYS,
    enum_of,
    find_misspelt,
    named_schemas,
    not_a_schema,
    own_rules,
    schemas_of,
    types_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pytest_jsonmatch.engine.value.paths import Segment
    from pytest_jsonmatch.schema.documents import Documents
    from pytest_jsonmatch.schema.keywords import Schema

_ENDLESS: Final = "the schema refers to itself with nothing in between"
_ANY: Final[frozenset[str]] = frozenset()
# The keys that do not restrict or describe values.
_SILENT: Final = frozenset(
    {"$ref", "$defs", "definitions", "$schema", "$id", "$anchor", "$comment", "$vocabulary", "discriminator"}
    | {"allOf", "anyOf", "oneOf"}
)
# These, and the keys for which `FlatSchema` has attributes; all others are notes.
_READ: Final = (
    (_SILENT - {"$comment"})
    | RULE_KEYS
    | {"type", "enum", "const", "required", "properties", "patternProperties", "propertyNames"}
    | {"additionalProperties", "unevaluatedProperties", "items", "prefixItems", "additionalItems"}
    | {"unevaluatedItems", "contains", "if", "then", "else", "not"}
    | {"dependentSchemas", "dependentRequired", "dependencies"}
)


@final
@dataclass(frozen=True, slots=True, eq=False)
class WrittenSchema:
    """A schema in a document; with `own`, without its `$ref`, `allOf`, `anyOf` and `oneOf`."""

    schema: Schema
    own: bool


@final
@dataclass(frozen=True, slots=True, eq=False)
class AllOf:
    """All parts apply; later ones take precedence."""

    parts: tuple[Subschema, ...]


@final
@dataclass(frozen=True, slots=True, eq=False)
class AnyOf:
    """The first branch that accepts the value applies."""

    branches: tuple[Subschema, ...]


Subschema: TypeAlias = "WrittenSchema | AllOf | AnyOf"


@final
@dataclass(frozen=True, slots=True)
class Branch:
    """One of several schemas that may apply to a value."""

    test: Subschema
    """The schema that the value is tested against."""
    node: Subschema
    """The schema that applies if the test passes."""
    by_type: bool
    """Whether the value's type decides, since no other alternative has its types."""


@final
@dataclass(slots=True, eq=False)
class FlatSchema:
    """A schema without references and combinations."""

    types: frozenset[str] = _ANY
    properties: dict[str, Subschema] | None = None
    required: tuple[str, ...] | None = None
    rest: Subschema | None = None
    """The schema of members that are not listed (`additionalProperties` or `patternProperties`)."""
    additional: bool | None = None
    items: Subschema | None = None
    enum: list[Any] | None = None
    rules: dict[str, Any] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)
    """All other keywords, unchanged."""
    alternatives: tuple[Branch, ...] = ()

    @property
    def of_objects(self) -> bool:
        """Whether the schema describes the members of objects."""
        return self.properties is not None or self.rest is not None or self.additional is not None

    @property
    def kinds(self) -> frozenset[str]:
        """The allowed types; without `type`, the types that the other keywords are about."""
        if self.types or not (self.of_objects or self.items):
            return self.types
        described = ("object", self.of_objects), ("array", self.items is not None)
        return frozenset(name for name, is_described in described if is_described)

    def children(self) -> Iterator[tuple[Segment | None, Subschema]]:
        """Yield the direct subschemas, each with the path segment to it; None for alternatives."""
        yield from (self.properties or {}).items()
        if self.rest is not None:
            yield ANY_KEY, self.rest
        if self.items is not None:
            yield ELEMENT, self.items
        for alternative in self.alternatives:
            yield None, alternative.node


class _ContradictionError(ConfigurationError):
    """No value can match all parts."""


@final
class SchemaReader:
    """Reads a schema, with the files that it refers to, one subschema at a time."""

    def __init__(self, documents: Documents) -> None:
        self.documents = documents
        self._interned: dict[Any, Subschema] = {}
        self._flats: dict[Subschema, FlatSchema] = {}
        self._open: set[Subschema] = set()
        self.oddities: list[str] = []
        """Warnings of the schemas that were read."""
        self.root: Subschema = self.source(documents.root)

    def source(self, schema: Schema, *, own: bool = False) -> Subschema:
        """Return a schema as a subschema; with `own`, without its references and combinations."""
        key = (id(schema), own) if type(schema) is dict else (schema, own)
        return self._interned.setdefault(key, WrittenSchema(schema, own))

    def all_of(self, parts: Iterable[Subschema]) -> Subschema:
        """Return the subschema that all parts must match; of duplicates, the last one counts."""
        flat: dict[Subschema, None] = {}
        for part in parts:
            for single_part in part.parts if isinstance(part, AllOf) else (part,):
                flat.pop(single_part, None)
                flat[single_part] = None
        distinct = tuple(flat)
        return distinct[0] if len(distinct) == 1 else self._interned.setdefault(distinct, AllOf(distinct))

    def any_of(self, branches: Iterable[Subschema]) -> Subschema:
        """Return the subschema where the first branch that accepts the value applies."""
        distinct = tuple(dict.fromkeys(branches))
        if len(distinct) == 1:
            return distinct[0]
        return self._interned.setdefault(("any", *distinct), AnyOf(distinct))

    def flat(self, subschema: Subschema) -> FlatSchema:
        """Return the flat schema of a subschema; for a plain reference, the same object as for its target.

        Raises:
            ConfigurationError: the schema is invalid; the message does not contain the path.
        """
        flat = self._flats.get(subschema)
        if flat is None:
            if subschema in self._open:
                raise ConfigurationError(_ENDLESS)
            self._open.add(subschema)
            try:
                if isinstance(subschema, AllOf):
                    flat = self._merge(subschema.parts)
                elif isinstance(subschema, AnyOf):
                    flat = self._unite(subschema.branches)
                else:
                    flat = self._read(subschema)
            finally:
                self._open.discard(subschema)
            self._flats[subschema] = flat
        return flat

    # A single schema.

    def _read(self, source: WrittenSchema) -> FlatSchema:
        schema = source.schema
        if type(schema) is bool:
            return FlatSchema()
        if source.own:
            return self._read_own(schema)
        parts = self.parts(source)
        return self.flat(parts[0]) if len(parts) == 1 else self._merge(parts)

    def parts(self, source: WrittenSchema) -> tuple[Subschema, ...]:
        """Return the subschemas that a schema combines: its references, branches, and own keywords."""
        schema = source.schema
        if type(schema) is bool or source.own:
            return (source,)
        parts: list[Subschema] = []
        if "$ref" in schema:
            parts.append(self.source(self.documents.target(schema)))
        if "allOf" in schema:
            parts.extend(map(self.source, schemas_of(schema, "allOf")))
        parts.extend(
            self.any_of(map(self.source, schemas_of(schema, union)))
            for union in ("anyOf", "oneOf")
            if union in schema
        )
        if not parts or not schema.keys() <= _SILENT:
            parts.append(self.source(schema, own=True))
        return tuple(parts)

    def _read_own(self, schema: dict[str, Any]) -> FlatSchema:
        for keyword in ("$dynamicRef", "$recursiveRef"):
            if keyword in schema:
                raise ConfigurationError(f"{keyword} is not supported; write $ref")
        flat = FlatSchema(rules=own_rules(schema), types=types_of(schema), enum=enum_of(schema))
        if flat.enum is not None and not flat.types:
            flat.types = frozenset(
                "integer" if type(value) is int else json_type(value) for value in flat.enum
            )
        required = schema.get("required")
        if isinstance(required, list):
            flat.required = tuple(name for name in required if isinstance(name, str))
        self._read_members(flat, schema)
        self._read_elements(flat, schema)
        flat.notes = {key: value for key, value in schema.items() if key not in _READ}
        if flat.notes and (misspelt := find_misspelt(flat.notes)):
            place = unquote(self.documents.location(schema).rpartition("#")[2])
            self.oddities += [
                f"schema{f' at {place}' if place else ''}: unknown keyword {key!r} has no effect; "
                f"did you mean {keyword!r}?"
                for key, keyword in misspelt.items()
            ]
        return _drop_impossible(flat)

    def _read_members(self, flat: FlatSchema, schema: dict[str, Any]) -> None:
        listed = {
            # A member with the schema `false` is not allowed, so it is not listed.
            name: self.source(member)
            for name, member in named_schemas(schema, "properties").items()
            if member is not False
        }
        rest = [*map(self.source, named_schemas(schema, "patternProperties").values())]
        keyword = "additionalProperties" if "additionalProperties" in schema else "unevaluatedProperties"
        additional = schema.get(keyword)
        if isinstance(additional, dict) and additional:
            rest.append(self.source(additional))
        elif isinstance(additional, (bool, dict)):
            flat.additional = additional is not False
        elif additional is not None:
            raise not_a_schema(keyword, additional)
        if rest:
            flat.rest = self.any_of(rest)
        if listed or (flat.additional is False and not rest):
            flat.properties = listed

    def _read_elements(self, flat: FlatSchema, schema: dict[str, Any]) -> None:
        elements: list[Any] = []
        if "prefixItems" in schema:
            elements.extend(schemas_of(schema, "prefixItems"))
        items = schema.get("items")
        if isinstance(items, list):
            elements.extend(schemas_of(schema, "items"))
            items = schema.get("additionalItems")
        if isinstance(items, dict):
            elements.append(items)
        elif items is not None and not isinstance(items, bool):
            raise not_a_schema("items", items)
        # The elements of a tuple share one path, `[]`: the first schema that accepts an element applies.
        if elements:
            flat.items = self.any_of(map(self.source, elements))

    # Several schemas that all apply.

    def _merge(self, parts: Sequence[Subschema]) -> FlatSchema:
        flats = [self.flat(part) for part in parts]
        merged = FlatSchema()
        for flat in flats:
            merged.types = _intersect_types(merged.types, flat.types)
            merged.rules |= flat.rules
        if any(flat.alternatives for flat in flats) and not any(merged.rules.get(rule) for rule in DECISIVE):
            chosen = self._choose(self._distribute(parts, flats))
            if not chosen.alternatives:
                return chosen
            merged.types = chosen.types
            merged.alternatives = chosen.alternatives
            for flat in flats:
                merged.notes |= flat.notes
            return merged
        for flat in flats:
            self._add(merged, flat)
        return _drop_impossible(merged)

    def _add(self, merged: FlatSchema, flat: FlatSchema) -> None:
        merged.notes |= flat.notes
        if flat.required is not None:
            merged.required = tuple(dict.fromkeys((*(merged.required or ()), *flat.required)))
        merged.items = self._merge_optional(merged.items, flat.items)
        merged.rest = self._merge_optional(merged.rest, flat.rest)
        if flat.additional is not None:
            merged.additional = flat.additional and merged.additional is not False
        if flat.enum is not None:
            merged.enum = (
                flat.enum
                if merged.enum is None
                else [value for value in merged.enum if any(json_equal(value, other) for other in flat.enum)]
            )
        if flat.properties is not None:
            known = merged.properties or {}
            merged.properties = known | {
                name: self.all_of((known[name], subschema)) if name in known else subschema
                for name, subschema in flat.properties.items()
            }

    def _merge_optional(self, left: Subschema | None, right: Subschema | None) -> Subschema | None:
        if left is None or right is None:
            return left or right
        return self.all_of((left, right))

    def _distribute(
        self, parts: Sequence[Subschema], flats: list[FlatSchema]
    ) -> list[tuple[Subschema, Subschema]]:
        """Combine each alternative of one part with all other parts, and drop contradictory ones."""
        union, *others = (index for index, flat in enumerate(flats) if flat.alternatives)
        if others:
            raise ConfigurationError("only one union (anyOf, oneOf) is allowed here; write them as one")
        combinations: list[tuple[Subschema, Subschema]] = []
        for branch in flats[union].alternatives:
            node = self.all_of((*parts[:union], branch.node, *parts[union + 1 :]))
            with suppress(_ContradictionError):
                self.flat(node)
                combinations.append((branch.test, node))
        return combinations

    # Alternatives: several schemas, only one of which applies.

    def _unite(self, branches: Sequence[Subschema]) -> FlatSchema:
        entries: list[tuple[Subschema, Subschema]] = []
        for branch in branches:
            if isinstance(branch, WrittenSchema) and branch.schema is False:
                continue
            alternatives = self.flat(branch).alternatives
            # The rest of the branch must accept the value, too.
            entries.extend((self.all_of((branch, inner.test)), inner.node) for inner in alternatives)
            if not alternatives:
                entries.append((branch, branch))
        return self._choose(entries)

    def _choose(self, entries: list[tuple[Subschema, Subschema]]) -> FlatSchema:
        """Return the flat schema of several alternatives, each given as (test, schema)."""
        tests: dict[Subschema, list[Subschema]] = {}
        for test, node in entries:
            tests.setdefault(node, []).append(test)
        entries = [(self.any_of(tried), node) for node, tried in tests.items()]
        flats = [self.flat(node) for _, node in entries]
        if len(flats) == 1:
            return flats[0]
        kinds = [flat.kinds for flat in flats]
        united = FlatSchema(types=frozenset().union(*kinds) if all(kinds) else _ANY)
        if not flats:
            return united
        if _can_share(flats):
            return _share(united, flats)
        for index, (test, node) in enumerate(entries):
            others = (*kinds[:index], *kinds[index + 1 :])
            by_type = not any(overlap(kinds[index], other) for other in others)
            united.alternatives += (Branch(test, node, by_type),)
        return united


def _drop_impossible(flat: FlatSchema) -> FlatSchema:
    """Drop the keywords about members or elements if no object or array is allowed."""
    if flat.types and "object" not in flat.types:
        flat.properties = flat.rest = flat.additional = None
        flat.required = None
    if flat.types and "array" not in flat.types:
        flat.items = None
    return flat


def overlap(left: frozenset[str], right: frozenset[str]) -> bool:
    """Return whether a value can match both sets of types; an empty set allows all types.

    >>> overlap(frozenset({"number"}), frozenset({"integer"}))
    True
    >>> overlap(frozenset({"null"}), frozenset({"array", "object"}))
    False
    """
    return not left or not right or bool(_widen(left) & _widen(right))


def _widen(types: frozenset[str]) -> frozenset[str]:
    return types | {"integer"} if "number" in types else types


def _intersect_types(left: frozenset[str], right: frozenset[str]) -> frozenset[str]:
    """Return the types that both sets allow."""
    if not left or not right:
        return left or right
    both = (left & _widen(right)) | (_widen(left) & right)
    if not both:
        raise _ContradictionError(
            f"no value fits all parts: one allows only {' or '.join(sorted(left))}, "
            f"another only {' or '.join(sorted(right))}"
        )
    return both - {"integer"} if {"integer", "number"} <= both else both


def _can_share(flats: list[FlatSchema]) -> bool:
    """Return whether one node can represent all branches, so that the value need not be tested."""
    described = [flat for flat in flats if not _is_only_null(flat)]
    if any(_scalar_rules(flat) != _scalar_rules(described[0]) for flat in described[1:]):
        return False
    return all(
        not any(has_structure(flat) for flat in flats)
        or sum(1 for flat in flats if not flat.kinds or kind in flat.kinds) == 1
        for kind, has_structure in _STRUCTURES
    )


_STRUCTURES: Final[tuple[tuple[str, Callable[[FlatSchema], bool]], ...]] = (
    ("object", lambda flat: flat.of_objects),
    ("array", lambda flat: flat.items is not None or "align" in flat.rules),
)


def _is_only_null(flat: FlatSchema) -> bool:
    return flat.types == {"null"} and not flat.rules


def _scalar_rules(flat: FlatSchema) -> tuple[dict[str, Any], bool]:
    """Return the rules of a branch that apply to values of all its types, and whether it has an `enum`."""
    return {name: rule for name, rule in flat.rules.items() if name != "align"}, flat.enum is not None


def _share(united: FlatSchema, flats: list[FlatSchema]) -> FlatSchema:
    described = [flat for flat in flats if not _is_only_null(flat)]
    for flat in described:
        united.rules |= flat.rules
        if flat.of_objects:
            united.properties, united.rest = flat.properties, flat.rest
            united.additional, united.required = flat.additional, flat.required
        united.items = united.items or flat.items
        if flat.enum is not None:
            united.enum = [*(united.enum or []), *flat.enum]
    if (
        united.enum is not None
        and len(described) < len(flats)
        and not any(value is None for value in united.enum)
    ):
        united.enum.append(None)
    if len(described) == 1:
        united.notes = described[0].notes
    return united
