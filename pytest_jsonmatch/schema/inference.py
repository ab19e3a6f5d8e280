"""`infer_schema`: a schema that fits all instances."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, final

from pytest_jsonmatch.engine.value.convert import json_type, to_json_value
from pytest_jsonmatch.engine.value.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable


@final
class _Seen:
    """What was seen at one place, in the order of first appearance."""

    __slots__ = ("counts", "elements", "kinds", "members", "objects")

    def __init__(self) -> None:
        self.kinds: dict[str, None] = {}
        self.members: dict[str, _Seen] = {}
        self.counts: dict[str, int] = {}
        self.objects = 0
        self.elements: _Seen | None = None


def infer_schema(instances: Iterable[object]) -> dict[str, Any]:
    """Infer a resolved schema from instances, such as all gold records.

    Integers and fractions together are "number". Values of several types give a list of types. A key that
    every object has is "required". Of an empty array or object only the type is known.

    Args:
        instances: values with a JSON form, one or more; an iterator is read once, and not kept.

    Returns:
        A JSON Schema of `type`, `properties`, `required` and `items`, keys in the order first seen.

    Raises:
        ConfigurationError: (a ValueError) no instance at all, or one object instead of a list of them.
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
        seen.kinds[kind] = None
        if kind == "object":
            seen.objects += 1
            for key in item:
                if key not in seen.members:
                    seen.members[key] = _Seen()
                seen.counts[key] = seen.counts.get(key, 0) + 1
            waiting.extend((seen.members[key], member) for key, member in reversed(item.items()))
        elif kind == "array" and item:
            if seen.elements is None:
                seen.elements = _Seen()
            elements = seen.elements
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
            target["required"] = [name for name, count in seen.counts.items() if count == seen.objects]
            waiting.extend((member, properties[name]) for name, member in seen.members.items())
        if seen.elements is not None:
            target["items"] = {}
            waiting.append((seen.elements, target["items"]))
    return schema
