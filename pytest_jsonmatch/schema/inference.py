"""`infer_schema`: a schema that all instances match."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, final

from pytest_jsonmatch.engine.value.convert import json_type, to_json_value
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.reading.frames import to_rows

if TYPE_CHECKING:
    from collections.abc import Iterable


@final
class _SeenValues:
    """The values at one path, in order of first appearance."""

    __slots__ = ("elements", "kinds", "members", "values")

    def __init__(self) -> None:
        self.values = 0
        self.kinds: dict[str, int] = {}
        """The number of values of each type."""
        self.members: defaultdict[str, _SeenValues] = defaultdict(_SeenValues)
        self.elements: _SeenValues | None = None


def infer_schema(instances: Iterable[object]) -> dict[str, Any]:
    """Infer a resolved schema from instances, such as all gold records.

    Integers and fractions together give "number". Values of several types give a list of types. A key that
    every object has is "required". Empty arrays and objects give only a type.

    Args:
        instances: one or more values with a JSON form; an iterator is read once, and its items are not kept.

    Returns:
        A JSON Schema of `type`, `properties`, `required` and `items`, with keys in order of first appearance.

    Raises:
        ConfigurationError: (a ValueError) there is no instance, or a single object instead of a list.
        UnsupportedValueError: (a TypeError) an instance has no JSON form.

    >>> infer_schema([{"id": 1, "tags": []}, {"id": 2.5, "tags": ["new", None]}])
    {'type': 'object', 'properties': {'id': {'type': 'number'}, 'tags': {'type': 'array', \
'items': {'type': ['string', 'null']}}}, 'required': ['id', 'tags']}
    """
    instances = to_rows(instances)
    if isinstance(instances, (Mapping, str, bytes)) or hasattr(instances, "model_dump"):
        raise ConfigurationError(
            f"infer_schema needs a list of instances, got one {type(instances).__name__}; write [instance]"
        )
    root = _SeenValues()
    for instance in instances:
        _note(root, to_json_value(instance, side="expected"))
    if not root.kinds:
        raise ConfigurationError("a schema needs at least one record to infer it from")
    return _to_schema(root)


def _note(seen: _SeenValues, value: Any) -> None:
    kind = "integer" if type(value) is int else json_type(value)
    seen.values += 1
    seen.kinds[kind] = seen.kinds.get(kind, 0) + 1
    if kind == "object":
        for key, member in value.items():
            _note(seen.members[key], member)
    elif kind == "array" and value:
        seen.elements = seen.elements or _SeenValues()
        for element in value:
            _note(seen.elements, element)


def _to_schema(seen: _SeenValues) -> dict[str, Any]:
    names = [name for name in seen.kinds if name != "integer" or "number" not in seen.kinds]
    # By convention null comes last.
    names.sort(key="null".__eq__)
    schema: dict[str, Any] = {"type": names[0] if len(names) == 1 else names}
    if seen.members:
        objects = seen.kinds["object"]
        schema["properties"] = {name: _to_schema(member) for name, member in seen.members.items()}
        schema["required"] = [name for name, member in seen.members.items() if member.values == objects]
    if seen.elements is not None:
        schema["items"] = _to_schema(seen.elements)
    return schema
