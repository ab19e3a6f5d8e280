"""What pairs of a few elements are worth, field by field, in plain Python.

Of a dozen elements on each side the walk would score every field of every pair, and numpy would be called for
what takes less time than the calls. Here each field is looked at once for all elements: equal values, shared
words and near numbers are found by look-up, so that pairs which have nothing in common cost nothing.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pytest_jsonmatch.engine.plan.rules import is_integral

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.plan.rules import BoundComparator
    from pytest_jsonmatch.engine.value.convert import JsonValue

__all__ = ["MOST_CELLS", "few_similarities"]

_Scored: TypeAlias = "list[tuple[int, int, float]]"
"""Pairs of positions, each with its score."""

MOST_CELLS: Final = 2_500
"""Beyond so many pairs numpy is faster."""

_CONTAINERS: Final = frozenset({dict, list})
_NOTHING: Final = 1e-300


def few_similarities(
    element: PlanNode,
    expected: Sequence[JsonValue],
    actual: Sequence[JsonValue],
    *,
    count_extra: bool,
    above: float,
) -> tuple[list[int], list[int], list[float]] | None:
    """Return the pairs that are more alike than a number, or None where they need the walk, or a bound.

    Args:
        element: where the elements stand.
        expected: scalars, or objects of scalars.
        actual: the same.
        count_extra: whether leaves that only actual has count.
        above: at least 0; what a similarity has to exceed.

    Returns:
        Positions in `expected`, positions in `actual`, similarities.
    """
    options = element.plan.options
    if element.branches is not None or element.skip:
        return None
    of_expected, of_actual = set(map(type, expected)), set(map(type, actual))
    sums = [[0.0] * len(actual) for _ in expected]
    as_ratio = options.reduce == "ratio"
    if not of_expected & _CONTAINERS and not of_actual & _CONTAINERS:
        # (A pair of two scalars is worth its score, whatever its weight.)
        places = range(len(expected)), range(len(actual))
        if not _add(element, sums, 1.0, places, expected, actual):
            return None
        return _above(sums, [1.0] * len(expected), None, above)
    if of_expected != {dict} or of_actual != {dict} or element.explicit is not None:
        return None
    own, other = [0.0] * len(expected), [0.0] * len(actual)
    if options.nulls == "absent":
        expected, actual = _without_nulls(expected), _without_nulls(actual)
    left, right = _by_key(expected), _by_key(actual)
    for key in left if right.keys() <= left.keys() else {**left, **right}:
        child = element.children[key]
        if child.skip:
            continue
        if child.branches is not None:
            return None
        rows, values = left.get(key, _NOBODY)
        columns, others = right.get(key, _NOBODY)
        if len(rows) < len(expected) and columns and not (count_extra or as_ratio):
            # What a pair counts depends on who has the key.
            return None
        weight = child.weight
        if not _add(child, sums, weight, (rows, columns), values, others):
            return None
        for at in rows:
            own[at] += weight
        for to in columns:
            other[to] += weight
    if min(own) <= _NOTHING or min(other) <= _NOTHING:
        # Elements without a leaf are another matter.
        return None
    return _above(sums, own, None if as_ratio else other, above)


def _above(
    sums: list[list[float]], own: list[float], other: list[float] | None, above: float
) -> tuple[list[int], list[int], list[float]]:
    """Return the pairs above a similarity: the sum by the leaves of its own side, or by the mean of both."""
    rows: list[int] = []
    columns: list[int] = []
    found: list[float] = []
    least = 0.0 if other is None else min(other)
    for at, (line, whole) in enumerate(zip(sums, own)):
        # (What is not above this cannot be above the limit with any partner.)
        limit = above * (whole if other is None else (whole + least) * 0.5) * (1.0 - 1e-12)
        for to, score in enumerate(line):
            if score > limit:
                similarity = min(score / (whole if other is None else (whole + other[to]) * 0.5), 1.0)
                if similarity > above:
                    rows.append(at)
                    columns.append(to)
                    found.append(similarity)
    return rows, columns, found


_NOBODY: Final[tuple[Sequence[int], Sequence[Any]]] = ((), ())


def _without_nulls(items: Sequence[Any]) -> list[Any]:
    return [{key: value for key, value in item.items() if value is not None} for item in items]


def _by_key(items: Sequence[Any]) -> dict[str, tuple[Sequence[int], Sequence[JsonValue]]]:
    """Return for each key who has it, and what."""
    first = items[0]
    if all(item.keys() == first.keys() for item in items):
        return {key: (range(len(items)), [item[key] for item in items]) for key in first}
    found: dict[str, tuple[list[int], list[JsonValue]]] = {}
    for at, item in enumerate(items):
        for key, value in item.items():
            held = found.get(key)
            if held is None:
                found[key] = ([at], [value])
            else:
                held[0].append(at)
                held[1].append(value)
    return dict(found)


def _add(
    node: PlanNode,
    sums: list[list[float]],
    weight: float,
    places: tuple[Sequence[int], Sequence[int]],
    expected: Sequence[JsonValue],
    actual: Sequence[JsonValue],
) -> bool:
    """Add the weighted scores of the values at one node to the sums; False if they cannot be told here."""
    if node.transforms:
        expected, actual = list(map(node.prepare, expected)), list(map(node.prepare, actual))
    kinds = {*map(type, expected), *map(type, actual)}
    if kinds & _CONTAINERS:
        return False
    found = _scored(node, kinds, expected, actual) if expected and actual else []
    if found is None:
        return False
    limit = node.plan.options.leaf_threshold
    rows, columns = places
    for at, to, score in found:
        if limit is None or score > limit or score == 1.0:
            sums[rows[at]][columns[to]] += weight * score
    return True


def _scored(
    node: PlanNode, kinds: AbstractSet[type], expected: Sequence[JsonValue], actual: Sequence[JsonValue]
) -> _Scored | None:
    """Return the pairs that do not score 0, with their scores; None where a user's comparator has a say."""
    if node.explicit is not None:
        if type(None) not in kinds or node.explicit.comparator.null_aware:
            return _edges(node.explicit, expected, actual)
        # Null is equal to null and to nothing else.
        nulls = _selected(expected, _NULL), _selected(actual, _NULL)
        others = _selected(expected, kinds - _NULL), _selected(actual, kinds - _NULL)
        rest = _edges(node.explicit, others[0][1], others[1][1])
        if rest is None:
            return None
        both = [(at, to, 1.0) for at in nulls[0][0] for to in nulls[1][0]]
        return both + [(others[0][0][at], others[1][0][to], score) for at, to, score in rest]
    if len(kinds) == 1 and not kinds & _NUMBERS:
        return _edges(node.default_for(expected[0], actual[0]), expected, actual)
    if kinds <= _NUMBERS:
        return _numbers(node, expected, actual)
    # Values of two types have nothing in common.
    found: _Scored = []
    for group in (_NUMBERS, *({kind} for kind in kinds - _NUMBERS)):
        rows, some = _selected(expected, group)
        columns, others_of_it = _selected(actual, group)
        if rows and columns:
            part = _scored(node, group & kinds, some, others_of_it)
            if part is None:
                return None
            found += [(rows[at], columns[to], score) for at, to, score in part]
    return found


def _selected(values: Sequence[JsonValue], kinds: AbstractSet[type]) -> tuple[list[int], list[JsonValue]]:
    """Return the values of some types, and where they stand."""
    kept = [at for at, value in enumerate(values) if type(value) in kinds]
    return kept, [values[at] for at in kept]


def _numbers(node: PlanNode, expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> _Scored | None:
    """Score numbers; two integers may have a comparator of their own."""
    fractional, integer = node.default_for(0.5, 0.5), node.default_for(0, 0)
    if fractional is integer:
        return _edges(fractional, expected, actual)
    rows = [at for at, value in enumerate(expected) if is_integral(value)]
    columns = [to for to, value in enumerate(actual) if is_integral(value)]
    if len(rows) == len(expected) and len(columns) == len(actual):
        return _edges(integer, expected, actual)
    found = _edges(fractional, expected, actual)
    if found is None or not (rows and columns):
        return found
    whole = _edges(integer, [expected[at] for at in rows], [actual[to] for to in columns])
    if whole is None:
        return None
    here, there = set(rows), set(columns)
    kept = [edge for edge in found if edge[0] not in here or edge[1] not in there]
    return kept + [(rows[at], columns[to], score) for at, to, score in whole]


def _edges(
    bound: BoundComparator | None, expected: Sequence[JsonValue], actual: Sequence[JsonValue]
) -> _Scored | None:
    """Return the pairs that do not score 0, with their scores; None if the comparator is a user's."""
    if bound is None or bound.comparator.pairwise is None or bound.batch:
        # (It may fail, or be dear, or say more than a number.)
        return None
    if not (expected and actual):
        return []
    few = bound.few()
    found = None if few is None else few(expected, actual)
    if found is None:
        fn = bound.fn
        found = [
            (at, to, score)
            for at, one in enumerate(expected)
            for to, other in enumerate(actual)
            if (score := fn(one, other))
        ]
    return found


_NULL: Final = frozenset({type(None)})
_NUMBERS: Final = frozenset({int, float, Decimal})
