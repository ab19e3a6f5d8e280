"""Write pydantic models as JSON, as pydantic does; they are recognised without importing pydantic."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_jsonmatch.engine.value.paths import Segment

Form: TypeAlias = Literal["configured", "alias", "name", "marked"]
"""Members by alias unless the configuration says otherwise, by alias, or by name; or with types marked."""
Marked: TypeAlias = Literal["decimal", "set", "set of objects"]
"""A type of Python that its JSON does not show."""

_DECIMAL: Final = "Decimal"
"""The marker of a Decimal in the form "marked", in which all other scalars are null."""
_SET: Final = "set"
"""In the form "marked", a set is an object with this member."""


def is_model(value: object) -> bool:
    """Return whether a value is an instance of a pydantic model or of a pydantic dataclass."""
    kind = type(value)
    return hasattr(kind, "__pydantic_serializer__") and not isinstance(value, type)


def dump_model(model: Any, form: Form = "configured") -> Any:
    """Return a model as JSON; where pydantic can't write it, as in a model of matchers, as Python values."""
    kind = type(model)
    config = getattr(kind, "model_config", None) or getattr(kind, "__pydantic_config__", None) or {}
    by_alias = form == "alias" or (form != "name" and config.get("serialize_by_alias") is not False)
    serializer = kind.__pydantic_serializer__
    if form == "marked":
        dump_python = partial(serializer.to_python, model, by_alias=False, warnings=False)
        with suppress(Exception):  # as below; as Python values, models can't be in sets
            return _mark(model, dump_python(mode="json", fallback=lambda _: None))
        return _mark(model, dump_python())
    with suppress(Exception):  # of pydantic, or of a user's serializer
        dump = getattr(model, "model_dump_json", None)
        return json.loads(
            serializer.to_json(model, by_alias=by_alias) if dump is None else dump(by_alias=by_alias)
        )
    return _to_json(serializer.to_python(model, by_alias=by_alias, warnings=False))


def _mark(value: Any, written: Any) -> Any:
    """Return what pydantic wrote for a value, by name, with the markers of Decimals and sets."""
    if getattr(type(value), "__pydantic_root_model__", False):
        return _mark(value.root, written)
    if type(written) is dict:
        keys = list(map(str, written))
        values = value.values() if isinstance(value, Mapping) else [getattr(value, key, None) for key in keys]
        return {key: _mark(*pair) for key, *pair in zip(keys, values, written.values(), strict=False)}
    if isinstance(written, (list, tuple, set, frozenset)):
        elements = value if isinstance(value, Collection) else ()
        marked = [_mark(*pair) for pair in zip(elements, written, strict=False)]
        return {_SET: marked} if isinstance(value, AbstractSet) else marked
    return _DECIMAL if isinstance(value, Decimal) and str(written) == str(value) else None


def _to_json(value: Any) -> Any:
    """Return Python values with those as JSON that pydantic can write alone; others, as matchers, stay."""
    if isinstance(value, Mapping):
        return {str(key): _to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(map(_to_json, value))
    with suppress(Exception):  # of pydantic
        return sys.modules["pydantic_core"].to_jsonable_python(value)
    return value


def follow_names(by_alias: Any, by_name: Any, actual: list[Any]) -> Any:
    """Return a value with the members of objects by name where actual has their names only.

    Args:
        by_alias: the value with the aliases of members.
        by_name: the same value with their names.
        actual: the values of actual that may be compared with it.

    >>> follow_names({"a": 1, "userName": "x"}, {"a": 1, "user_name": "x"}, [{"user_name": "y"}])
    {'a': 1, 'user_name': 'x'}
    """
    if type(by_alias) is list:
        elements = [item for array in actual if type(array) is list for item in array]
        return [follow_names(one, other, elements) for one, other in zip(by_alias, by_name, strict=True)]
    if type(by_alias) is not dict:
        return by_alias
    objects = [value for value in actual if type(value) is dict]
    keys = {key for value in objects for key in value}
    renamed = [pair for pair in zip(by_alias, by_name, strict=True) if pair[0] != pair[1]]
    uses_names = not any(alias in keys for alias, _ in renamed) and any(name in keys for _, name in renamed)
    followed = {}
    for (alias, one), (name, other) in zip(by_alias.items(), by_name.items(), strict=True):
        key = name if uses_names else alias
        followed[key] = follow_names(one, other, [value[key] for value in objects if key in value])
    return followed


def find_aliases(by_alias: Any, by_name: Any) -> dict[str, str]:
    """Return the aliases of members in a value, by their names."""
    if type(by_alias) is not dict:
        pairs = zip(by_alias, by_name, strict=True) if type(by_alias) is list else ()
        return {name: alias for pair in pairs for name, alias in find_aliases(*pair).items()}
    found = {name: alias for alias, name in zip(by_alias, by_name, strict=True) if alias != name}
    for one, other in zip(by_alias.values(), by_name.values(), strict=True):
        found |= find_aliases(one, other)
    return found


def rename_members(value: Any, names: Mapping[str, str], expected: Any) -> Any:
    """Return a value with the members of objects renamed that expected has under the other name.

    >>> rename_members([{"userName": "x"}], {"userName": "user_name"}, [{"user_name": "x"}])
    [{'user_name': 'x'}]
    """
    if type(value) is list:
        others = expected if type(expected) is list else []
        return [rename_members(item, names, find_like(at, others)) for at, item in enumerate(value)]
    if type(value) is not dict:
        return value
    listed = expected if type(expected) is dict else {}
    renamed = {}
    for key, item in value.items():
        name = names[key] if key in names and key not in listed and names[key] in listed else key
        renamed[name] = rename_members(item, names, listed.get(name))
    return renamed


def find_like(at: int, elements: list[Any]) -> Any:
    """Return the element at a position, or else the last one; None without any."""
    return elements[min(at, len(elements) - 1)] if elements else None


def find_marked(
    value: Any, marked: Any, element: Segment, path: tuple[Segment, ...] = ()
) -> Iterator[tuple[tuple[Segment, ...], Marked]]:
    """Yield the schema paths of Decimals and sets in a value; `element` is the segment of elements."""
    if marked == _DECIMAL and type(value) is str:
        yield path, "decimal"
    elif type(value) is list:
        if type(marked) is dict and _SET in marked:
            yield path, "set of objects" if any(type(item) is dict for item in value) else "set"
            marked = marked[_SET]
        for item, mark in zip(value, marked if type(marked) is list else (), strict=False):
            yield from find_marked(item, mark, element, (*path, element))
    elif type(value) is dict and type(marked) is dict:
        for (key, item), mark in zip(value.items(), marked.values(), strict=False):
            yield from find_marked(item, mark, element, (*path, key))
