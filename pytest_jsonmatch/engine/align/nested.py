"""The elements of all unordered arrays at one place, and which of two arrays are equal."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, final

from pytest_jsonmatch.engine.align.column import distinct_values
from pytest_jsonmatch.engine.value.convert import MISSING

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from pytest_jsonmatch.engine.align.context import Context
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue


@final
class Flat(NamedTuple):
    """The elements of all arrays of one side."""

    arrays: Sequence[list[JsonValue]]
    orders: list[list[int]]
    """For each array the indices of its elements in canonical order."""
    codes: list[list[int]]
    """For each array the numbers of its elements' values."""
    keys: list[list[Hashable]]
    """For each array what its elements share with equal ones."""
    values: list[JsonValue]
    """The distinct values; containers are each one of their own."""


def flatten(
    aligner: Context, element: PlanNode, sides: tuple[Sequence[list[JsonValue]], ...]
) -> tuple[Flat, Flat]:
    """Return the elements of the arrays of both sides."""
    canon = aligner.canon
    elements = [[item for array in arrays for item in array] for arrays in sides]
    keys = canon.keys(element, *elements)
    alike = {dict, list}.isdisjoint({type(item) for items in elements for item in items})
    flat: list[Flat] = []
    for arrays, items, own in zip(sides, elements, keys):
        orders, codes, kept = [], [], []
        values: list[JsonValue]
        values, numbers = distinct_values(items) if alike else (items, None)
        start = 0
        for array in arrays:
            end = start + len(array)
            orders.append(canon.order(element, array, list(range(len(array)))))
            codes.append(list(range(start, end)) if numbers is None else numbers[start:end])
            kept.append(own[start:end])
            start = end
        flat.append(Flat(arrays, orders, codes, kept, values))
    return flat[0], flat[1]


def twins(
    expected: Sequence[Hashable], actual: Sequence[Hashable]
) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """Pair equal elements in order of position; return the pairs, and what is left of each side.

    Args:
        expected: what each element shares with those equal to it, MISSING for one that equals nothing.
        actual: the same of the other side.
    """
    free: dict[Hashable, list[int]] = {}
    for at in range(len(actual) - 1, -1, -1):
        free.setdefault(actual[at], []).append(at)
    free.pop(MISSING, None)
    pairs: list[tuple[int, int]] = []
    rows: list[int] = []
    for at, key in enumerate(expected):
        found = free.get(key)
        if found:
            pairs.append((at, found.pop()))
        else:
            rows.append(at)
    if not pairs:
        return pairs, rows, list(range(len(actual)))
    taken = {to for _, to in pairs}
    return pairs, rows, [at for at in range(len(actual)) if at not in taken]
