"""One place of a schema, in the form that the plan compiles; the schema room makes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@final
@dataclass(slots=True, eq=False, repr=False)
class SchemaNode:
    """One place of a resolved schema with its rules.

    The tree is built once and not changed afterwards; it may contain itself (a recursive `$ref`), which is
    why `properties` and `items` can be filled in after the node is made.
    """

    types: frozenset[str] = frozenset()
    """JSON Schema types allowed here ("integer" and "number" are distinct); empty: any."""
    properties: dict[str, SchemaNode] | None = None
    """Below an object: its listed members. None: nothing is listed, every member is walked by its leaves."""
    rest: SchemaNode | None = None
    """Below an object: the schema of members that are not listed, if there is one."""
    items: SchemaNode | None = None
    """Below an array: its elements. None: walked by their leaves."""
    additional: bool | None = None
    """`additionalProperties`, as written: True, False, or None if the schema does not have it."""
    rules: Mapping[str, Any] = field(default_factory=dict)
    """The `x-eval-*` rules here, by the words of field rules; comparators and alignments as written."""
    enum: tuple[Any, ...] | None = None
    """The values that the schema allows here, if it lists them."""
    type_default: Mapping[str, Any] = field(default_factory=dict)
    """Comparators by JSON Schema type for places without a more specific one (`set_type_default`)."""
    branches: tuple[tuple[Callable[[Any], bool], SchemaNode], ...] = ()
    """Alternatives: the first whose test accepts expected's value applies."""
    description: str | None = None
    digest: str = ""
    """On the root: the hash of the whole schema, which results carry in their signature."""
    violations: Callable[[Any], tuple[str, ...] | None] | None = None
    """On the root: returns what JSON Schema does not allow in a value, or None if that can't be checked."""
