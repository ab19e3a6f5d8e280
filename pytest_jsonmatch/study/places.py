"""Places in gold records: their fields, the values there, and where an answer disagrees."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.score.field import LEAFLESS, MATCH, get_instance_keys
from pytest_jsonmatch.engine.value.convert import MISSING, get_value
from pytest_jsonmatch.engine.value.paths import ELEMENT, format_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.value.convert import JsonValue

    Steps: TypeAlias = tuple[str | int, ...]
    """Keys and indices that lead to a place."""


def field_of(trail: Sequence[Any]) -> str:
    """Return the schema path of a place.

    >>> field_of(("items", 3, "price")), field_of(("items", 3))
    ('items[].price', 'items[]')
    """
    return format_path(tuple(ELEMENT if type(step) is int else step for step in trail))


def disagreements(result: MatchResult) -> dict[Steps, list[JsonValue]]:
    """Return what an answer says where it is wrong, by the place in expected.

    Anything missing or superfluous is given as a whole at its topmost place: a superfluous element at the
    index after the last one of its array. A place that the answer lacks has MISSING.

    >>> from pytest_jsonmatch import compare_json
    >>> disagreements(compare_json({"a": 1, "b": [1, {"c": 2}]}, {"a": 2, "b": [1]}))
    {('a',): [1], ('b', 1): [{'c': 2}]}
    """
    expected, actual = result.documents
    by_place: dict[Steps, dict[Steps, JsonValue]] = {}
    for leaf in results_of(result):
        if leaf.status != MATCH and leaf.status not in LEAFLESS:
            place, source = _topmost(leaf, expected)
            by_place.setdefault(place, {})[source] = get_value(actual, source)
    return {place: list(by_source.values()) for place, by_source in by_place.items()}


def results_of(result: MatchResult) -> Iterator[FieldResult]:
    """Yield the results of leaves, including those below a key that is compared as a whole."""
    for one in result.field_results:
        yield from one.differences or (one,)


def _topmost(leaf: FieldResult, expected: JsonValue) -> tuple[Steps, Steps]:
    """Return where a leaf is on both sides, or else the topmost value around it that one of them lacks."""
    places = get_instance_keys(leaf.place, "expected"), get_instance_keys(leaf.place, "actual")
    place: list[Any] = []
    source: list[Any] = []
    for of_expected, of_actual in zip(*places):
        place.append(of_expected)
        source.append(of_actual)
        if of_expected is MISSING:
            around = get_value(expected, tuple(place[:-1]))
            place[-1] = len(around) if type(around) is list else of_actual
            break
        if of_actual is MISSING:
            break
    return tuple(place), tuple(source)


def nodes_of(value: JsonValue, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], JsonValue]]:
    """Yield a value and everything in it, from top to bottom, each with the segments of its schema path."""
    yield path, value
    if type(value) is dict:
        for key, inner in value.items():
            yield from nodes_of(inner, (*path, key))
    elif type(value) is list:
        for inner in value:
            yield from nodes_of(inner, (*path, ELEMENT))


path_of: Final = lru_cache(maxsize=1 << 12)(format_path)
