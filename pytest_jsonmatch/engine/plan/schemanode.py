"""What a schema says of one place, as the plan wants it: the schema room makes it, the plan compiles it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@final
@dataclass(slots=True, eq=False, repr=False)
class SchemaNode:
    """One place of a resolved schema with its rules.

    The tree is built once and not changed afterwards; it may hold itself (a recursive `$ref`), which is why
    `properties` and `items` can be filled in after the node is made.
    """

    types: frozenset[str] = frozenset()
    """JSON Schema types allowed here ("integer" and "number" are told apart); empty: any."""
    properties: dict[str, SchemaNode] | None = None
    """Below an object: its listed members. None: nothing is listed, every member is walked by its leaves."""
    rest: SchemaNode | None = None
    """Below an object: members that are not listed, where the schema says what they are."""
    items: SchemaNode | None = None
    """Below an array: its elements. None: walked by their leaves."""
    additional: bool | None = None
    """`additionalProperties`, as written: True, False, or None where the schema does not say."""
    rules: Mapping[str, Any] = field(default_factory=dict)
    """What `x-eval-*` says here, by the words of field rules; comparators and alignments as written."""
    enum: tuple[Any, ...] | None = None
    """The values that the schema allows here, if it lists them."""
    type_default: Mapping[str, Any] = field(default_factory=dict)
    """Comparators by JSON Schema type where nothing nearer is said (`set_type_default`)."""
    branches: tuple[tuple[Callable[[Any], bool], SchemaNode], ...] = ()
    """Alternatives told apart by the value: the first whose test accepts expected's value holds."""
    description: str | None = None
    digest: str = ""
    """On the root: the hash of the whole schema, which results carry in their signature."""
    violations: Callable[[Any], tuple[str, ...] | None] | None = None
    """On the root: gives what JSON Schema does not allow in a value, or None if that can't be told."""
