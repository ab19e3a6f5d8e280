"""A place of a schema, in the form that the plan compiles; `pytest_jsonmatch.schema` creates it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@final
@dataclass(slots=True, eq=False, repr=False)
class SchemaNode:
    """A place of a resolved schema, with its rules.

    The tree is built once and not changed afterwards. It may contain itself (a recursive `$ref`), so
    `properties` and `items` can be filled in after the node is created.
    """

    types: frozenset[str] = frozenset()
    """JSON Schema types allowed here ("integer" and "number" are distinct); empty: any."""
    properties: dict[str, SchemaNode] | None = None
    """The listed members of an object; None if no members are listed: all leaves are compared."""
    rest: SchemaNode | None = None
    """The schema of an object's members that are not listed; None if there is none."""
    items: SchemaNode | None = None
    """The schema of an array's elements; None if all their leaves are compared."""
    additional: bool | None = None
    """`additionalProperties` as written: True or False, or None if the schema does not have it."""
    rules: Mapping[str, Any] = field(default_factory=dict)
    """The `x-eval-*` rules here, by the words of field rules; comparators and alignments as written."""
    enum: tuple[Any, ...] | None = None
    """The values that the schema allows here; None if it does not list them."""
    type_default: Mapping[str, Any] = field(default_factory=dict)
    """Comparators by JSON Schema type for places without a more specific one (`set_type_default`)."""
    branches: tuple[tuple[Callable[[Any], bool], SchemaNode], ...] = ()
    """The alternatives, each with a test; the first whose test accepts expected's value applies."""
    description: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    """Other names of members, each with the name under which the member is listed."""
    digest: str = ""
    """On the root: the hash of the whole schema, which is part of signatures."""
    violations: Callable[[Any], tuple[str, ...] | None] | None = None
    """On the root: returns the violations of the schema by a value, or None if they can't be checked."""
