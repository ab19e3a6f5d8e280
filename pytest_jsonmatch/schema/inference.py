"""`infer_schema`: a schema that fits all instances."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, final

from pytest_jsonmatch.engine.value.convert import json_type, to_json_value
from pytest_jsonmatch.engine.value.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable


@final
class _Seen:
    """What was seen at one place, in the order of first appearance."""

    __slots__ = ("elements", "kinds", "members", "values")

    def __init__(self) -> None:
        self.values = 0
        self.kinds: dict[str, int] = {}
        """How many of the values have a type."""
        self.members: defaultdict[str, _Seen] = defaultdict(_Seen)
        self.elements: _Seen | None = None


def infer_schema(instances: Iterable[object]) -> dict[str, Any]:
    """Infer a resolved schema from instances, such as all gold records.

    Integers and fractions together give "number". Values of several types give a list of types. A key that
    every object has is "required". Empty arrays and objects give only a type.

    Args:
        instances: one or more values with a JSON form; an iterator is read once, and not kept.

    Returns:
        A JSON Schema of `type`, `properties`, `required` and `items`, with keys in the order first seen.

    Raises:
        ConfigurationError: (a ValueError) no instance, or a single object instead of a list of them.
        UnsupportedValueError: (a TypeError) an instance has no JSON form.

    >>> infer_schema([{"id": 1, "tags": []}, {"id": 2.5, "tags": ["new", None]}])
    {'type': 'object', 'properties': {'id': {'type': 'number'}, 'tags': {'type': 'array', \
'items': {'type': ['string', 'null']}}}, 'required': ['id', 'tags']}
    """
    if isinstance(instances, (Mapping, str, bytes)) or hasattr(instances, "model_dump"):
        raise ConfigurationError(
            f"infer_schema takes a list of instances, not one {type(instances).__name__}; write [instance]"
        )
    root = _Seen()
    for instance in instances:
        _note(root, to_json_value(instance, side="expected"))
    if not root.kinds:
        raise ConfigurationError("infer_schema needs at least one instance")
    return _written(root)


def _note(root: _Seen, value: Any) -> None:
    waiting: list[tuple[_Seen, Any]] = [(root, value)]
    while waiting:
        seen, item = waiting.pop()
        kind = "integer" if type(item) is int else json_type(item)
        seen.values += 1
        seen.kinds[kind] = seen.kinds.get(kind, 0) + 1
        if kind == "object":
            members = [seen.members[key] for key in item]
            waiting.extend(zip(reversed(members), reversed(item.values())))
        elif kind == "array" and item:
            elements = seen.elements = seen.elements or _Seen()
            waiting.extend((elements, element) for element in reversed(item))


def _written(root: _Seen) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    waiting: list[tuple[_Seen, dict[str, Any]]] = [(root, schema)]
    while waiting:
        seen, target = waiting.pop()
        names = [name for name in seen.kinds if name != "integer" or "number" not in seen.kinds]
        # By convention null comes last.
        names.sort(key="null".__eq__)
        target["type"] = names[0] if len(names) == 1 else names
        if seen.members:
            properties: dict[str, dict[str, Any]] = {name: {} for name in seen.members}
            target["properties"] = properties
            objects = seen.kinds["object"]
            target["required"] = [name for name, each in seen.members.items() if each.values == objects]
            waiting.extend((member, properties[name]) for name, member in seen.members.items())
        if seen.elements is not None:
            target["items"] = {}
            waiting.append((seen.elements, target["items"]))
    return schema
