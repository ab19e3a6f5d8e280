"""The values of one side at one node: selected and distinct values, and the comparators that score them."""

from __future__ import annotations

from decimal import Decimal
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from pytest_jsonmatch.engine.comparators.base import score_or_zero
from pytest_jsonmatch.engine.value.convert import MISSING, NO_SCALARS, NUMBERS, Matcher
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from pytest_jsonmatch.engine.align.keys import EqualityKeys
    from pytest_jsonmatch.engine.comparators.base import BoundComparator
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.plan.valuerules import Thresholds
    from pytest_jsonmatch.engine.value.convert import JsonValue

_EQUAL_KINDS: Final = frozenset({bool, *NUMBERS})
"""The types whose values can be equal in Python but different in JSON: 1, 1.0 and True."""


@final
class ScalarColumn(NamedTuple):
    """The values of one side at one node."""

    values: list[JsonValue]
    """The distinct values, after transforms."""
    codes: list[int] | None
    """The number of each element's value, -1 if it has none; None if element i has value i."""

    def find_positions(self, size: int) -> list[list[int]]:
        """Return, for each distinct value, the positions of the elements that have it."""
        if self.codes is None:
            return [[at] for at in range(size)]
        positions: list[list[int]] = [[] for _ in self.values]
        for at, code in enumerate(self.codes):
            if code >= 0:
                positions[code].append(at)
        return positions


@final
class Block(NamedTuple):
    """The values of two columns that one comparator scores, by position; None for all values."""

    bound: BoundComparator
    rows: list[int] | None
    columns: list[int] | None


@final
class Selection(NamedTuple):
    """Selected values of one side: those of one type, or those that are present."""

    positions: list[int]
    values: list[JsonValue]
    size: int
    """The number of all values of the side."""

    @classmethod
    def at(cls, positions: list[int], values: Sequence[JsonValue]) -> Selection:
        """Select the values at some positions."""
        return cls(positions, select(positions, values), len(values))

    @classmethod
    def present(cls, values: Sequence[JsonValue]) -> Selection:
        """Select the values that are not MISSING."""
        return cls.at([at for at, value in enumerate(values) if value is not MISSING], values)

    @property
    def is_all(self) -> bool:
        """Whether all values of the side are selected."""
        return len(self.positions) == self.size

    @property
    def others(self) -> list[int]:
        """The positions of the values that are not selected."""
        selected = set(self.positions)
        return [at for at in range(self.size) if at not in selected]


def select(positions: Sequence[int], values: Sequence[JsonValue]) -> list[JsonValue]:
    """Return the values at some positions."""
    return [values[at] for at in positions]


def group_by_key(keys: AbstractSet[Any], values: Sequence[dict[Any, JsonValue]]) -> dict[Any, Selection]:
    """Return, for each of some keys, the objects' members under it."""
    selections = {key: Selection([], [], len(values)) for key in keys}
    for at, value in enumerate(values):
        for key in keys & value.keys():
            selections[key].positions.append(at)
            selections[key].values.append(value[key])
    return selections


def group_by_kind(values: Sequence[JsonValue]) -> dict[type, list[int]]:
    """Return the positions of objects, arrays, matchers, and all other values."""
    positions: dict[type, list[int]] = {}
    for at, value in enumerate(values):
        kind = type(value)
        positions.setdefault(kind if kind in NO_SCALARS else object, []).append(at)
    return positions


def make_column(node: PlanNode, values: list[JsonValue]) -> ScalarColumn | None:
    """Return the column of values, which may be MISSING; None if it has matchers or containers to enter."""
    kinds = set(map(type, values))
    if not kinds.isdisjoint(NO_SCALARS):
        if node.rules.explicit_comparator is None or Matcher in kinds:
            return None
        # A comparator compares containers as a whole. They are not hashable, so each is a distinct value.
        present = [at for at, value in enumerate(values) if value is not MISSING]
        codes = [-1] * len(values)
        for code, at in enumerate(present):
            codes[at] = code
        return ScalarColumn([node.rules.try_transform(values[at]) for at in present], codes)
    distinct, distinct_codes = find_distinct(values)
    return ScalarColumn(
        list(map(node.rules.try_transform, distinct)) if node.rules.transforms else distinct, distinct_codes
    )


def split_by_comparator(
    node: PlanNode, left: Sequence[JsonValue], right: Sequence[JsonValue]
) -> Iterator[Block]:
    """Yield the comparators of two columns, each with the values that it scores.

    Pairs of values that are in no block are of different types and score 0.
    """
    if node.rules.explicit_comparator is not None:
        yield Block(node.rules.explicit_comparator, None, None)
        return
    bounds = node.rules.types.bound
    rows_by_type, columns_by_type = _group_by_type(left, bounds), _group_by_type(right, bounds)
    if len(rows_by_type) == 1 and rows_by_type.keys() == columns_by_type.keys():
        yield Block(bounds[next(iter(rows_by_type))], None, None)
        return
    for name, rows in rows_by_type.items():
        columns = columns_by_type.get(name, [])
        if name == "number":
            columns = columns + columns_by_type.get("integer", [])
        elif name == "integer" and "number" in columns_by_type:
            yield Block(bounds["number"], rows, columns_by_type["number"])
        if name in node.rules.types.cross_types:
            same_types = {name, "integer", "number"} if name in {"integer", "number"} else {name}
            columns = columns + [
                at
                for kind, positions in columns_by_type.items()
                if kind not in same_types
                for at in positions
            ]
        if columns:
            yield Block(bounds[name], rows, columns)


def _group_by_type(
    values: Sequence[JsonValue], bounds: Mapping[str, BoundComparator]
) -> dict[str, list[int]]:
    """Return the positions of the values of each type with a comparator; 1.0 is an integer."""
    types = set(map(type, values))
    is_same = bounds["integer"] is bounds["number"]
    if len(types) == 1 and (is_same or float not in types):
        name = _TYPES[types.pop()]
        return {"number" if is_same and name == "integer" else name: list(range(len(values)))}
    positions: dict[str, list[int]] = {}
    for at, value in enumerate(values):
        name = _TYPES[type(value)]
        if name == "number" and not is_same and value.is_integer():
            name = "integer"
        elif name == "integer" and is_same:
            name = "number"
        positions.setdefault(name, []).append(at)
    return positions


_TYPES: Final = {
    str: "string",
    bool: "boolean",
    type(None): "null",
    int: "integer",
    Decimal: "integer",
    float: "number",
}


def find_distinct(values: Sequence[JsonValue]) -> tuple[list[JsonValue], list[int] | None]:
    """Return the distinct scalars and the number of each value (-1 for MISSING), or None if all are distinct.

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


@final
class FlatArrays:
    """The elements of all nested arrays of one side."""

    __slots__ = ("arrays", "codes", "keys", "orders", "values")

    def __init__(
        self,
        arrays: Sequence[list[JsonValue]],
        orders: list[list[int]],
        codes: list[list[int]],
        keys: list[list[Hashable]],
        values: list[JsonValue],
    ) -> None:
        self.arrays: Final = arrays
        self.orders: Final = orders
        """For each array, the indices of its elements in canonical order."""
        self.codes: Final = codes
        """For each array, the numbers of its elements' values."""
        self.keys: Final = keys
        """For each array, the equality keys of its elements."""
        self.values: Final = values
        """The distinct values."""


def flatten(
    equality: EqualityKeys, node: PlanNode, sides: tuple[Sequence[list[JsonValue]], ...]
) -> tuple[FlatArrays, FlatArrays]:
    """Return the elements of the arrays of both sides at a node."""
    element = node.undecided[ELEMENT]
    elements = [[item for array in arrays for item in array] for arrays in sides]
    plain = equality.are_plain(element, chain(*elements))
    keys = equality.make_keys(element, *elements, plain=plain)
    are_scalars = {dict, list}.isdisjoint({type(item) for items in elements for item in items})
    flat: list[FlatArrays] = []
    for arrays, items, own_keys in zip(sides, elements, keys):
        orders, codes, array_keys = [], [], []
        values: list[JsonValue]
        values, numbers = items, None
        if are_scalars:
            values, numbers = find_distinct(items)
        elif node.rules.align == "unordered":
            # Not for arrays with a key: equal objects may differ in that member if it is skipped.
            values, numbers = _find_distinct_containers(equality, element, items, own_keys)
        start = 0
        for array in arrays:
            end = start + len(array)
            orders.append(equality.sort_positions(element, array, list(range(len(array))), plain=plain))
            codes.append(list(range(start, end)) if numbers is None else numbers[start:end])
            array_keys.append(own_keys[start:end])
            start = end
        flat.append(FlatArrays(arrays, orders, codes, array_keys, values))
    return flat[0], flat[1]


def _find_distinct_containers(
    equality: EqualityKeys, element: PlanNode, values: list[JsonValue], keys: Sequence[Hashable]
) -> tuple[list[JsonValue], list[int] | None]:
    """Return the distinct values and containers, and the number of each, or None if all are distinct."""
    if len(set(keys)) == len(keys):
        return values, None
    numbers: dict[Hashable, int] = {}
    # Keys do not distinguish 1 from 1.0, and texts not a container from its text; comparators may.
    codes = [
        numbers.setdefault((key, equality.make_text(element.choose(value), value)), len(numbers))
        for key, value in zip(keys, values)
    ]
    distinct = dict(zip(reversed(codes), reversed(values)))
    return [distinct[at] for at in range(len(numbers))], codes


@final
class CostlyValues:
    """The values of a column with scores that are upper bounds until a pair is chosen."""

    __slots__ = ("accepted", "block", "left", "right", "thresholds", "weight")

    def __init__(
        self,
        block: Block,
        left: ScalarColumn,
        right: ScalarColumn,
        weight: float,
        thresholds: Thresholds,
        accepted: list[float] | None,
    ) -> None:
        self.block: Final = block
        self.left: Final = left
        self.right: Final = right
        self.weight: Final = weight
        self.thresholds: Final = thresholds
        self.accepted: Final = accepted
        """The minimum score of each value of actual as an accepted alternative."""

    def find_positions(self, rows: int, columns: int) -> tuple[dict[int, int], dict[int, int]]:
        """Return the number of each row's and column's value, without values of other comparators."""
        positions = []
        for column, scored_values, size in zip((self.left, self.right), self.block[1:], (rows, columns)):
            codes = enumerate(range(size) if column.codes is None else column.codes)
            scored = set(range(len(column.values)) if scored_values is None else scored_values)
            positions.append({at: code for at, code in codes if code in scored})
        return positions[0], positions[1]

    def total_score(self, row: int, column: int) -> float:
        """Return the weighted score of two values, given their numbers."""
        score: float = score_or_zero(self.block.bound.score, self.left.values[row], self.right.values[column])
        if self.accepted is not None:
            score = max(score, self.accepted[column])
        return self.weight * self.thresholds.apply(score)

    def keep(self, row: int, column: int) -> None:
        """Do nothing, since values contain no arrays."""
