"""Paths in gold records, the values there, and the paths at which an answer disagrees."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.score.field import MATCH, UNCOUNTED, get_instance_keys
from pytest_jsonmatch.engine.value.convert import MISSING, get_value
from pytest_jsonmatch.engine.value.paths import ELEMENT, format_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.value.convert import JsonValue

    Steps: TypeAlias = tuple[str | int, ...]
    """The keys and indices of an instance path."""


def format_schema_path(steps: Sequence[Any]) -> str:
    """Return the schema path of an instance path.

    >>> format_schema_path(("items", 3, "price")), format_schema_path(("items", 3))
    ('items[].price', 'items[]')
    """
    return format_path(tuple(ELEMENT if type(step) is int else step for step in steps))


def find_disagreements(result: MatchResult) -> dict[Steps, list[JsonValue]]:
    """Return the wrong values of an answer by their paths in expected.

    A missing or extra object or array is one value. The path of an extra element has the index after the last
    element of its array. A missing value is MISSING.

    >>> from pytest_jsonmatch import compare_json
    >>> find_disagreements(compare_json({"a": 1, "b": [1, {"c": 2}]}, {"a": 2, "b": [1]}))
    {('a',): [1], ('b', 1): [{'c': 2}]}
    """
    expected, actual = result.documents
    by_place: dict[Steps, dict[Steps, JsonValue]] = {}
    for leaf in iter_leaf_results(result):
        if leaf.status != MATCH and leaf.status not in UNCOUNTED:
            place, source = _topmost(leaf, expected)
            by_place.setdefault(place, {})[source] = get_value(actual, source)
    return {place: list(by_source.values()) for place, by_source in by_place.items()}


def iter_leaf_results(result: MatchResult) -> Iterator[FieldResult]:
    """Yield the results of leaves, including those in objects and arrays that are scored as one field."""
    for one in result.field_results:
        yield from one.differences or (one,)


def _topmost(leaf: FieldResult, expected: JsonValue) -> tuple[Steps, Steps]:
    """Return the paths of a leaf on both sides, or those of the topmost ancestor that one side lacks."""
    places = get_instance_keys(leaf.place, "expected"), get_instance_keys(leaf.place, "actual")
    place: list[Any] = []
    source: list[Any] = []
    for expected_key, actual_key in zip(*places):
        place.append(expected_key)
        source.append(actual_key)
        if expected_key is MISSING:
            around = get_value(expected, tuple(place[:-1]))
            place[-1] = len(around) if type(around) is list else actual_key
            break
        if actual_key is MISSING:
            break
    return tuple(place), tuple(source)


def iter_nodes(value: JsonValue, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], JsonValue]]:
    """Yield a value and all values in it, top-down, each with the segments of its schema path."""
    yield path, value
    if type(value) is dict:
        for key, inner in value.items():
            yield from iter_nodes(inner, (*path, key))
    elif type(value) is list:
        for inner in value:
            yield from iter_nodes(inner, (*path, ELEMENT))


format_cached: Final = lru_cache(maxsize=1 << 12)(format_path)
