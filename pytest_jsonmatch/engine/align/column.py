"""One column: the distinct values of one side at one node, and which comparator scores which of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from pytest_jsonmatch.engine.plan.rules import is_integral
from pytest_jsonmatch.engine.value.convert import CONTAINERS, MISSING, NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_jsonmatch.engine.compare.base import Bound
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

__all__ = ["Block", "Column", "blocks_of", "column_of", "distinct_values"]

_EQUAL_KINDS: Final = frozenset({bool, *NUMBERS})
"""Values of these can be equal in Python and yet differ: 1, 1.0 and True."""


@final
class Column(NamedTuple):
    """The values of one side at one node."""

    values: list[JsonValue]
    """The distinct ones, as they are compared."""
    codes: list[int] | None
    """For each element the number of its value, -1 for none; None: element i has value i."""

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
    """The values of two columns that one comparator scores; positions of None: all values."""

    bound: Bound
    rows: list[int] | None
    columns: list[int] | None


def column_of(node: PlanNode, values: list[JsonValue]) -> Column | None:
    """Return the column of values, MISSING among them; None if there are containers to go down into."""
    kinds = set(map(type, values))
    if not kinds.isdisjoint(CONTAINERS):
        if node.explicit is None:
            return None
        # What a comparator takes whole may have no hash: each is a value of its own.
        present = [at for at, value in enumerate(values) if value is not MISSING]
        codes = [-1] * len(values)
        for code, at in enumerate(present):
            codes[at] = code
        return Column([node.prepare(values[at]) for at in present], codes)
    distinct, found = distinct_values(values)
    return Column(list(map(node.prepare, distinct)) if node.transforms else distinct, found)


def blocks_of(node: PlanNode, left: Sequence[JsonValue], right: Sequence[JsonValue]) -> Iterator[Block]:
    """Yield which comparator scores which values of two columns.

    Values that are in no block together are of different types: they score 0.
    """
    if node.explicit is not None:
        yield Block(node.explicit, None, None)
        return
    kinds, others = _by_kind(left), _by_kind(right)
    alone = len(kinds) == 1 and kinds.keys() == others.keys()
    for kind, rows in kinds.items():
        columns = others.get(kind)
        if columns is None:
            continue
        if kind is not float:
            example = left[rows[0]]
            yield _block(node.default_for(example, example), (rows, columns), alone=alone)
            continue
        fractional, integer = node.default_for(0.5, 0.5), node.default_for(0, 0)
        if fractional is integer:
            yield _block(fractional, (rows, columns), alone=alone)
            continue
        whole_rows, other_rows = _split(left, rows)
        whole_columns, other_columns = _split(right, columns)
        alone = alone and not (other_rows or other_columns)
        for bound, of_left, of_right in (
            (integer, whole_rows, whole_columns),
            (fractional, whole_rows, other_columns),
            (fractional, other_rows, columns),
        ):
            if of_left and of_right:
                yield _block(bound, (of_left, of_right), alone=alone)


def _block(bound: Bound | None, places: tuple[list[int], list[int]], *, alone: bool) -> Block:
    assert bound is not None  # noqa: S101 - for the type checker: scalars have a comparator
    return Block(bound, None, None) if alone else Block(bound, *places)


def _split(values: Sequence[JsonValue], places: list[int]) -> tuple[list[int], list[int]]:
    """Return the places of whole numbers, and those of all others."""
    whole: list[int] = []
    others: list[int] = []
    for at in places:
        (whole if is_integral(values[at]) else others).append(at)
    return whole, others


def _by_kind(values: Sequence[JsonValue]) -> dict[type, list[int]]:
    """Return the positions of the values of each kind; `float` stands for all numbers."""
    types = list(map(type, values))
    kinds = {float if kind in NUMBERS else kind for kind in set(types)}
    if len(kinds) == 1:
        return {kinds.pop(): list(range(len(values)))}
    found: dict[type, list[int]] = {kind: [] for kind in kinds}
    for at, kind in enumerate(types):
        found[float if kind in NUMBERS else kind].append(at)
    return found


def distinct_values(values: Sequence[JsonValue]) -> tuple[list[JsonValue], list[int] | None]:
    """Return the distinct scalars, and for each value its number, -1 for MISSING; None: all are distinct.

    1, 1.0 and True, equal in Python, are told apart.
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
