"""`resolve_schema_references`: a JSON Schema without references and combinations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.value.convert import MAX_DEPTH, SCHEMA_TYPES, TOO_DEEP
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.schema.documents import Documents, plain_copy
from pytest_jsonmatch.schema.flattening import SchemaReader
from pytest_jsonmatch.schema.keywords import PREFIX
from pytest_jsonmatch.schema.parsing import walk

if TYPE_CHECKING:
    from pytest_jsonmatch.schema.documents import SchemaSource
    from pytest_jsonmatch.schema.flattening import FlatSchema, Subschema

# Definitions that use each other twice double the size with every level: raise before memory runs out.
_MAX_SUBSCHEMAS: Final = 200_000


def resolve_schema_references(schema: SchemaSource) -> dict[str, Any]:
    """Return an equivalent schema of `type`, `properties` and `items`.

    `$ref` is replaced by its target, `allOf` is merged, and so are `anyOf` and `oneOf` whose branches have
    different types. Real alternatives stay as `anyOf`, and recursive schemas as `$ref`. Keywords that only
    restrict values (`pattern`, `minimum`) and the `x-eval-*` keys are kept; `not`, `if` and other keywords
    that combine schemas are dropped.

    Args:
        schema: a dict, the path of a JSON file, or a pydantic model class; not changed.

    Raises:
        ConfigurationError: a `$ref` does not resolve, parts contradict each other, or the resolved schema
            would be too large; the message begins with the path.

    >>> resolve_schema_references(
    ...     {"properties": {"unit": {"$ref": "#/$defs/unit"}}, "$defs": {"unit": {"type": "string"}}}
    ... )
    {'type': 'object', 'properties': {'unit': {'type': 'string'}}}
    """
    return _Writer(SchemaReader(Documents.open(schema))).write()


@final
class _Writer:
    def __init__(self, reader: SchemaReader) -> None:
        walk(reader)  # raises errors with their path
        self._reader = reader
        self._root = reader.flat(reader.root)
        self._open: set[FlatSchema] = set()
        """The schemas that are being written; one that contains itself becomes a reference."""
        self._names: dict[FlatSchema, str] = {}
        """The names of the schemas that are written as references."""
        self._count = 0

    def write(self) -> dict[str, Any]:
        document, known = self._body(self._root), 0
        definitions: dict[str, Any] = {}
        while known < len(self._names):  # write again, with the new ones as references
            known, self._count = len(self._names), 0
            document = self._body(self._root)
            definitions = {name: self._body(flat) for flat, name in [*self._names.items()]}
        if definitions:
            document["$defs"] = definitions
        original = self._reader.documents.root
        if isinstance(original, dict) and "$schema" in original:
            document = {"$schema": original["$schema"], **document}
        # A copy, since enums and other values are shared with the reader.
        copy: dict[str, Any] = plain_copy(document)
        return copy

    def _body(self, flat: FlatSchema, depth: int = 1) -> dict[str, Any]:
        """Return a schema at a depth, which is 1 for the root."""
        self._count += 1
        if self._count > _MAX_SUBSCHEMAS:
            raise ConfigurationError(
                f"the schema has more than {_MAX_SUBSCHEMAS:,} subschemas when it is written out; "
                "use it unresolved: comparing and parsing do not need a resolved schema"
            )
        if depth > MAX_DEPTH:
            raise ConfigurationError(
                f"the schema has {TOO_DEEP} when it is written out; use it as it is, with its references"
            )

        def child_schema(subschema: Subschema) -> dict[str, Any]:
            child = self._reader.flat(subschema)
            if child is self._root:
                return {"$ref": "#"}
            if child in self._open or child in self._names:
                name = self._names.setdefault(child, f"node{len(self._names) + 1}")
                return {"$ref": f"#/$defs/{name}"}
            return self._body(child, depth + 1)

        self._open.add(flat)
        body = _keywords(flat)
        if flat.alternatives:
            body["anyOf"] = [child_schema(branch.node) for branch in flat.alternatives]
        if flat.properties is not None:
            body["properties"] = {name: child_schema(member) for name, member in flat.properties.items()}
        if flat.rest is not None:
            body["additionalProperties"] = child_schema(flat.rest)
        if flat.items is not None:
            body["items"] = child_schema(flat.items)
        self._open.discard(flat)
        return body


def _keywords(flat: FlatSchema) -> dict[str, Any]:
    """Return the keywords of a schema that do not contain schemas."""
    keywords: dict[str, Any] = {}
    names = [name for name in (*SCHEMA_TYPES[1:], "null") if name in flat.kinds]
    if names and not flat.alternatives:
        keywords["type"] = names[0] if len(names) == 1 else names
    keywords |= flat.notes
    if not flat.alternatives:
        optional = {"enum": flat.enum, "required": flat.required, "additionalProperties": flat.additional}
        keywords |= {key: value for key, value in optional.items() if value is not None}
    return keywords | {PREFIX + word: value for word, value in flat.rules.items() if value is not None}
