"""A place of a schema, in the form that the plan compiles; `pytest_jsonmatch.schema` creates it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@final
class SchemaNode:
    """A place of a resolved schema, with its rules.

    The tree is built once and not changed afterwards. It may contain itself (a recursive `$ref`), so
    `properties` and `items` can be filled in after the node is created.
    """

    __slots__ = (
        "additional",
        "branches",
        "description",
        "digest",
        "enum",
        "items",
        "names",
        "properties",
        "rest",
        "rules",
        "type_default",
        "types",
        "violations",
    )

    def __init__(
        self,
        types: frozenset[str] = frozenset(),
        properties: dict[str, SchemaNode] | None = None,
        rest: SchemaNode | None = None,
        items: SchemaNode | None = None,
        additional: bool | None = None,
        rules: Mapping[str, Any] | None = None,
        enum: tuple[Any, ...] | None = None,
        type_default: Mapping[str, Any] | None = None,
        branches: tuple[tuple[Callable[[Any], bool], SchemaNode], ...] = (),
        description: str | None = None,
        names: Mapping[str, str] | None = None,
        digest: str = "",
        violations: Callable[[Any], tuple[str, ...] | None] | None = None,
    ) -> None:
        self.types: frozenset[str] = types
        """JSON Schema types allowed here ("integer" and "number" are distinct); empty: any."""
        self.properties: dict[str, SchemaNode] | None = properties
        """The listed members of an object; None if no members are listed: all leaves are compared."""
        self.rest: SchemaNode | None = rest
        """The schema of an object's members that are not listed; None if there is none."""
        self.items: SchemaNode | None = items
        """The schema of an array's elements; None if all their leaves are compared."""
        self.additional: bool | None = additional
        """`additionalProperties` as written: True or False, or None if the schema does not have it."""
        self.rules: Mapping[str, Any] = {} if rules is None else rules
        """The `x-eval-*` rules here, by the words of field rules; comparators and alignments as written."""
        self.enum: tuple[Any, ...] | None = enum
        """The values that the schema allows here; None if it does not list them."""
        self.type_default: Mapping[str, Any] = {} if type_default is None else type_default
        """Comparators by JSON Schema type for places without a more specific one (`set_type_default`)."""
        self.branches: tuple[tuple[Callable[[Any], bool], SchemaNode], ...] = branches
        """The alternatives, each with a test; the first whose test accepts expected's value applies."""
        self.description: str | None = description
        self.names: Mapping[str, str] = {} if names is None else names
        """Other names of members, each with the name under which the member is listed."""
        self.digest: str = digest
        """On the root: the hash of the whole schema, which is part of signatures."""
        self.violations: Callable[[Any], tuple[str, ...] | None] | None = violations
        """On the root: returns the violations of the schema by a value, or None if they can't be checked."""
