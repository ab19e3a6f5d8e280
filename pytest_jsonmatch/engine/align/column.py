"""Values of one side at one node: some of them, the distinct ones, and the comparators that score them."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from pytest_jsonmatch.engine.value.convert import CONTAINERS, MISSING, NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from pytest_jsonmatch.engine.compare.base import Bound
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

_EQUAL_KINDS: Final = frozenset({bool, *NUMBERS})
"""Values of these types can be equal in Python and yet differ in JSON: 1, 1.0 and True."""


@final
class Column(NamedTuple):
    """The values of one side at one node."""

    values: list[JsonValue]
    """The distinct values, transformed."""
    codes: list[int] | None
    """For each element the number of its value, -1 if it has none; None: element i has value i."""

    def places(self, size: int) -> list[list[int]]:
        """Return, for each distinct value, the elements that have it."""
        if self.codes is None:
            return [[at] for at in range(size)]
        found: list[list[int]] = [[] for _ in self.values]
        for at, code in enumerate(self.codes):
            if code >= 0:
                found[code].append(at)
        return found


@final
class Block(NamedTuple):
    """The values of two columns that one comparator scores, by position; None: all values."""

    bound: Bound
    rows: list[int] | None
    columns: list[int] | None


@final
class Some(NamedTuple):
    """Some values of one side: those of one shape, or those that are not missing."""

    places: list[int]
    values: list[JsonValue]
    size: int
    """The number of values of the side."""

    @classmethod
    def at(cls, places: list[int], values: Sequence[JsonValue]) -> Some:
        """Return the values at some places."""
        return cls(places, at_places(places, values), len(values))

    @classmethod
    def there(cls, values: Sequence[JsonValue]) -> Some:
        """Return the values that are not MISSING."""
        return cls.at([at for at, value in enumerate(values) if value is not MISSING], values)

    @property
    def is_all(self) -> bool:
        """Whether these are all values of the side."""
        return len(self.places) == self.size

    @property
    def others(self) -> list[int]:
        """The places of all other values."""
        known = set(self.places)
        return [at for at in range(self.size) if at not in known]


def at_places(places: Sequence[int], values: Sequence[JsonValue]) -> list[JsonValue]:
    """Return the values at some places."""
    return [values[at] for at in places]


def by_key(keys: AbstractSet[Any], values: Sequence[dict[Any, JsonValue]]) -> dict[Any, Some]:
    """Return, for each of some keys, the members of objects under it."""
    found = {key: Some([], [], len(values)) for key in keys}
    for at, value in enumerate(values):
        for key in keys & value.keys():
            found[key].places.append(at)
            found[key].values.append(value[key])
    return found


def by_shape(values: Sequence[JsonValue]) -> dict[type, list[int]]:
    """Return the positions of objects, of arrays, and of all other values."""
    found: dict[type, list[int]] = {}
    for at, value in enumerate(values):
        kind = type(value)
        found.setdefault(kind if kind in CONTAINERS else object, []).append(at)
    return found


def column_of(node: PlanNode, values: list[JsonValue]) -> Column | None:
    """Return the column of values, which may be MISSING; None if there are containers to descend into."""
    kinds = set(map(type, values))
    if not kinds.isdisjoint(CONTAINERS):
        if node.explicit is None:
            return None
        # A comparator takes containers whole. They have no hash, so each is a distinct value.
        present = [at for at, value in enumerate(values) if value is not MISSING]
        codes = [-1] * len(values)
        for code, at in enumerate(present):
            codes[at] = code
        return Column([node.prepare(values[at]) for at in present], codes)
    distinct, found = distinct_values(values)
    return Column(list(map(node.prepare, distinct)) if node.transforms else distinct, found)


def blocks_of(node: PlanNode, left: Sequence[JsonValue], right: Sequence[JsonValue]) -> Iterator[Block]:
    """Yield the comparators of two columns, each with the values that it scores.

    Values that share no block are of different types, and score 0.
    """
    if node.explicit is not None:
        yield Block(node.explicit, None, None)
        return
    bounds = node.types.bound
    own, others = _by_type(left, bounds), _by_type(right, bounds)
    if len(own) == 1 and own.keys() == others.keys():
        yield Block(bounds[next(iter(own))], None, None)
        return
    for name, rows in own.items():
        columns = others.get(name, [])
        if name == "number":
            columns = columns + others.get("integer", [])
        elif name == "integer" and "number" in others:
            yield Block(bounds["number"], rows, others["number"])
        if name in node.types.called:
            alike = {name, "integer", "number"} if name in {"integer", "number"} else {name}
            columns = columns + [at for kind, some in others.items() if kind not in alike for at in some]
        if columns:
            yield Block(bounds[name], rows, columns)


def _by_type(values: Sequence[JsonValue], bounds: Mapping[str, Bound]) -> dict[str, list[int]]:
    """Return the positions of the values of each type that has a comparator; 1.0 is an integer."""
    types = set(map(type, values))
    alike = bounds["integer"] is bounds["number"]
    if len(types) == 1 and (alike or float not in types):
        name = _TYPES[types.pop()]
        return {"number" if alike and name == "integer" else name: list(range(len(values)))}
    found: dict[str, list[int]] = {}
    for at, value in enumerate(values):
        name = _TYPES[type(value)]
        if name == "number" and not alike and value.is_integer():
            name = "integer"
        elif name == "integer" and alike:
            name = "number"
        found.setdefault(name, []).append(at)
    return found


_TYPES: Final = {
    str: "string",
    bool: "boolean",
    type(None): "null",
    int: "integer",
    Decimal: "integer",
    float: "number",
}


def distinct_values(values: Sequence[JsonValue]) -> tuple[list[JsonValue], list[int] | None]:
    """Return the distinct scalars, and the number of each value, -1 for MISSING; None if all are distinct.

    1, 1.0 and True are distinct here, although they are equal in Python.
    """
    kinds = set(map(type, values))
    kinds.discard(type(MISSING))
    if not kinds:
        return [], [-1] * len(values)
    mixed = len(kinds) > 1 and len(kinds & _EQUAL_KINDS) > 1
    keys: Sequence[Any] = list(zip(map(type, values), values)) if mixed else values
    index = dict.fromkeys(keys)
    missing: Any = (type(MISSING), MISSING) if mixed else MISSING
    if missing in index:
        del index[missing]
    distinct = [value for _, value in index] if mixed else list(index)
    if len(distinct) == len(values):
        return distinct, None
    numbers: dict[Any, int] = dict(zip(index, range(len(index))))
    numbers[missing] = -1
    return distinct, list(map(numbers.__getitem__, keys))
