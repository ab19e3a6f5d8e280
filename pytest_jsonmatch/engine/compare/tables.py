"""Building blocks of the vectorised twins: equality by codes, distinct values, blocks of one kind.

Everything here imports numpy; the comparators import this module only when a pair matrix is asked for.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final

import numpy as np

from pytest_jsonmatch.engine.value.equality import json_equal, scalar_key, strict_equal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from pytest_jsonmatch.engine.compare.base import Edges, FloatFunction, Matrix
    from pytest_jsonmatch.engine.value.convert import JsonValue

__all__ = [
    "CELLS",
    "equal_edges",
    "equality_matrix",
    "joined",
    "near_edges",
    "number_matrix",
    "row_blocks",
    "string_matrix",
]

CELLS: Final = 32_768
"""Cells worked on at a time: 256 KiB of doubles stay in the cache while several passes go over them."""

# Integers up to here are doubles exactly, and so is the difference of any two.
_EXACT_INTEGER: Final = 2**52
# Below this share of distinct strings, scoring the distinct ones and spreading the scores is cheaper.
_DISTINCT_SHARE: Final = 0.7


def row_blocks(rows: int, columns: int) -> list[slice]:
    """Cut `rows` into slices of about CELLS cells each.

    >>> row_blocks(3, 16_384)
    [slice(0, 2, None), slice(2, 3, None)]
    """
    step = max(1, CELLS // max(1, columns))
    return [slice(start, min(start + step, rows)) for start in range(0, rows, step)]


def equality_matrix(
    expected: Sequence[JsonValue], actual: Sequence[JsonValue], *, strict: bool = False
) -> Matrix:
    """Return the n × m matrix of 1.0 where two JSON values are equal, else 0.0 (`strict` tells 42 from 42.0).

    >>> equality_matrix(["a", 1, True], [1.0, "a"]).tolist()
    [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]
    """
    table: dict[object, int] = {}
    buckets: dict[object, list[tuple[JsonValue, int]]] = {}
    key = _strict_key if strict else scalar_key
    equal = strict_equal if strict else json_equal

    def codes(values: Sequence[JsonValue]) -> NDArray[np.int64]:
        if set(map(type, values)) <= {str}:
            found = [table.setdefault(value, len(table)) for value in values]
        else:
            found = [container(v) if type(v) is list or type(v) is dict else scalar(v) for v in values]
        return np.array(found, dtype=np.int64)

    def scalar(value: JsonValue) -> int:
        return table.setdefault(key(value), len(table))

    def container(value: JsonValue) -> int:
        bucket = buckets.setdefault(_outline(value, key), [])
        for known, code in bucket:
            if equal(known, value):
                return code
        code = table.setdefault(object(), len(table))
        bucket.append((value, code))
        return code

    return np.equal(codes(expected)[:, None], codes(actual)[None, :]).astype(np.float64)


def joined(
    left: NDArray[np.intp], first: NDArray[np.intp], last: NDArray[np.intp], most: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """Return each of `left` beside each number from its `first` up to its `last`; None if that is too much.

    >>> joined(np.array([7, 8]), np.array([0, 4]), np.array([2, 5]), most=10)
    (array([7, 7, 8]), array([0, 1, 4]))
    """
    counts = last - first
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    if total > most:
        return None
    return np.repeat(left, counts), np.arange(total) + np.repeat(first - ends + counts, counts)


def equal_edges(expected: Sequence[JsonValue], actual: Sequence[JsonValue], most: int) -> Edges | None:
    """Return the pairs of equal scalars, each scoring 1; None if they are more than `most`.

    >>> [part.tolist() for part in equal_edges(["a", "b"], ["b", "c", "b"], 9)]
    [[1, 1], [0, 2], [1.0, 1.0]]
    """
    places: dict[object, list[int]] = {}
    for at, value in enumerate(actual):
        places.setdefault(scalar_key(value), []).append(at)
    rows: list[int] = []
    columns: list[int] = []
    for at, value in enumerate(expected):
        found = places.get(scalar_key(value))
        if found is not None:
            rows.extend([at] * len(found))
            columns.extend(found)
            if len(rows) > most:
                return None
    return np.array(rows, dtype=np.intp), np.array(columns, dtype=np.intp), np.ones(len(rows))


def near_edges(
    expected: Sequence[JsonValue], actual: Sequence[JsonValue], limit: float, most: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]] | None:
    """Return the pairs of numbers not further apart than `limit`, and how far they are.

    None if they are more than `most`, or if some number is no finite double.
    """
    left, right = _Numbers(expected), _Numbers(actual)
    if not (left.all_plain and right.all_plain):
        return None
    order = np.argsort(right.doubles, kind="stable")
    ranked = right.doubles[order]
    # A little more than the limit is looked at, so that no rounding can hide a pair.
    reach = limit + 4 * np.finfo(np.float64).eps * (np.abs(left.doubles) + limit)
    first = np.searchsorted(ranked, left.doubles - reach, "left")
    last = np.searchsorted(ranked, left.doubles + reach, "right")
    found = joined(np.arange(len(expected)), first, last, most)
    if found is None:
        return None
    rows, columns = found[0], order[found[1]]
    apart = np.abs(left.doubles[rows] - right.doubles[columns])
    near = apart <= limit
    return rows[near], columns[near], apart[near]


def _strict_key(value: JsonValue) -> object:
    kind = type(value)
    return (kind, scalar_key(value)) if kind is float or kind is Decimal else scalar_key(value)


def _outline(value: JsonValue, key: Callable[[JsonValue], object]) -> object:
    """Return something hashable that equal containers share: their own level, and the sizes of the next."""
    if type(value) is dict:
        return frozenset((name, _stub(item, key)) for name, item in value.items())
    return tuple([_stub(item, key) for item in value])


def _stub(value: JsonValue, key: Callable[[JsonValue], object]) -> object:
    kind = type(value)
    return (kind, len(value)) if kind is list or kind is dict else key(value)


def _spread(distinct: Matrix, rows: list[int], columns: list[int]) -> Matrix:
    return distinct.take(np.array(rows, dtype=np.intp), axis=0).take(np.array(columns, dtype=np.intp), axis=1)


def _distinct(values: Sequence[str]) -> tuple[list[str], list[int]]:
    """Return the distinct strings, and for each string the number of its distinct one."""
    table: dict[str, int] = {}
    numbers = [table.setdefault(value, len(table)) for value in values]
    return list(table), numbers


def string_matrix(
    expected: Sequence[JsonValue],
    actual: Sequence[JsonValue],
    block: Callable[[list[str], list[str]], Matrix],
) -> Matrix:
    """Score strings by `block`, other values by JSON equality, and strings against others as 0.

    `block` gets lists of strings; where many repeat it gets the distinct ones only.

    >>> string_matrix(["a", 1], ["b", 1], lambda e, a: np.full((len(e), len(a)), 0.5)).tolist()
    [[0.5, 0.0], [0.0, 1.0]]
    """
    rows = [i for i, value in enumerate(expected) if type(value) is str]
    columns = [j for j, value in enumerate(actual) if type(value) is str]
    if len(rows) == len(expected) and len(columns) == len(actual):
        return _string_block(expected, actual, block)
    scores = equality_matrix(expected, actual)
    if rows and columns:
        texts = _string_block([expected[i] for i in rows], [actual[j] for j in columns], block)
        scores[np.ix_(rows, columns)] = texts
    return scores


def _string_block(
    expected: Sequence[str], actual: Sequence[str], block: Callable[[list[str], list[str]], Matrix]
) -> Matrix:
    if not expected or not actual:
        return np.zeros((len(expected), len(actual)))
    few_expected, rows = _distinct(expected)
    few_actual, columns = _distinct(actual)
    if len(few_expected) * len(few_actual) < _DISTINCT_SHARE * len(expected) * len(actual):
        return _spread(block(few_expected, few_actual), rows, columns)
    return block(list(expected), list(actual))


def number_matrix(
    expected: Sequence[JsonValue],
    actual: Sequence[JsonValue],
    block: Callable[[NDArray[np.float64], NDArray[np.float64]], Matrix],
    scalar: FloatFunction,
) -> Matrix:
    """Score numbers that are exact doubles by `block`, other numbers by `scalar`, other values by equality.

    Args:
        expected: n JSON values.
        actual: m JSON values.
        block: finite doubles (n,) and (m,) to scores (n, m).
        scalar: the plain form, for integers beyond 2**52 and numbers beyond the doubles.

    >>> number_matrix([1, "a"], [2.0, "a"], lambda e, a: e[:, None] / a, lambda e, a: 0.0).tolist()
    [[0.5, 0.0], [0.0, 1.0]]
    """
    left, right = _Numbers(expected), _Numbers(actual)
    if left.all_plain and right.all_plain:
        return block(left.doubles, right.doubles)
    scores = equality_matrix(expected, actual)
    if len(left.doubles) and len(right.doubles):
        scores[np.ix_(left.plain, right.plain)] = block(left.doubles, right.doubles)
    for i in left.wide:
        for j in right.plain + right.wide:
            scores[i, j] = scalar(expected[i], actual[j])
    for j in right.wide:
        for i in left.plain:
            scores[i, j] = scalar(expected[i], actual[j])
    return scores


class _Numbers:
    """JSON values by kind: `plain` numbers with their `doubles`, and `wide` ones that no double holds."""

    __slots__ = ("all_plain", "doubles", "plain", "wide")

    def __init__(self, values: Sequence[JsonValue]) -> None:
        self.plain: list[int] = []
        self.wide: list[int] = []
        if set(map(type, values)) <= {float}:
            self.doubles = np.array(values, dtype=np.float64)
            if np.isfinite(self.doubles).all():
                self.all_plain = True
                self.plain = list(range(len(values)))
                return
        for index, value in enumerate(values):
            kind = type(value)
            if kind is float:
                if value - value == 0.0:
                    self.plain.append(index)
            elif kind is int:
                exact = -_EXACT_INTEGER <= value <= _EXACT_INTEGER
                (self.plain if exact else self.wide).append(index)
            elif kind is Decimal:
                self.wide.append(index)
        self.doubles = np.array([values[index] for index in self.plain], dtype=np.float64)
        self.all_plain = len(self.plain) == len(values)
