"""Find rules whose patterns match nothing in documents and their schema, and the nearest paths."""

from __future__ import annotations

from itertools import islice, repeat
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
from pytest_jsonmatch.engine.value.errors import find_closest
from pytest_jsonmatch.engine.value.paths import ANY_DEPTH, ANY_KEY, ELEMENT, format_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.engine.value.paths import Pattern, Segment

_MAX_VALUES: Final = 10_000
"""The maximum number of values of each level to search for the nearest path."""
_MAX_LEVELS: Final = 30


def matches_somewhere(
    pattern: Pattern, documents: Iterable[JsonValue], schema: SchemaNode | None = None
) -> bool:
    """Return whether a pattern matches a place in a document, or one that the schema lists or leaves open.

    Containers are places, too.

    >>> from pytest_jsonmatch.engine.value.paths import parse_pattern
    >>> matches_somewhere(parse_pattern("items[].price"), [{"items": [{}, {"price": 1}]}])
    True
    """
    seen: set[tuple[SchemaNode, int]] = set()
    return any(_matches_below(pattern.segments, place, seen) for place in _find_roots(documents, schema))


def _matches_below(segments: tuple[Segment, ...], place: Any, seen: set[tuple[SchemaNode, int]]) -> bool:
    """Return whether the rest of a pattern matches at or below a place; `seen` has visited schema nodes."""
    if not segments:
        return True
    if isinstance(place, SchemaNode):
        if (place, len(segments)) in seen:
            return False  # a schema may contain itself
        seen.add((place, len(segments)))
    first, rest = segments[0], segments[1:]
    if first is ANY_DEPTH:
        return _matches_below(rest, place, seen) or any(
            _matches_below(segments, child, seen) for _, child in _iter_below(place)
        )
    if type(place) is dict and type(first) is str:
        return first in place and _matches_below(rest, place[first], seen)
    return any(
        _matches_below(rest, child, seen)
        for step, child in _iter_below(place)
        if step == first or (ANY_KEY in (step, first) and ELEMENT not in (step, first))
    )


def _find_roots(documents: Iterable[JsonValue], schema: SchemaNode | None) -> list[Any]:
    """Return the documents and, if there is one, their schema."""
    return [*documents] if schema is None else [*documents, schema]


def _iter_below(place: Any) -> Iterator[tuple[Segment, Any]]:
    """Yield the children of a place in a document or schema; what a schema leaves open is ANY_KEY."""
    if type(place) is dict:
        yield from place.items()
    elif type(place) is list:
        yield from zip(repeat(ELEMENT), place)
    elif isinstance(place, SchemaNode):
        for _, branch in place.branches:
            yield from _iter_below(branch)
        yield from (place.properties or {}).items()
        yield from ((step, child) for step, child in ((ELEMENT, place.items), (ANY_KEY, place.rest)) if child)


def find_nearest_path(pattern: Pattern, places: Iterable[tuple[Segment, ...]]) -> str | None:
    """Return the schema path that a pattern without a match probably means; None if no path is near.

    >>> from pytest_jsonmatch.engine.value.paths import parse_pattern
    >>> find_nearest_path(parse_pattern("a.b"), iter_paths([{"a": [{"b": 1, "ab": 2}]}], None))
    'a[].b'
    """
    places = list(dict.fromkeys(places))
    key_segments = [segment for segment in pattern.segments if segment is not ELEMENT]
    same_keys = [place for place in places if [step for step in place if step is not ELEMENT] == key_segments]
    if same_keys:
        return format_path(min(same_keys, key=lambda place: abs(len(place) - len(pattern.segments))))
    if any(segment is ANY_KEY or segment is ANY_DEPTH for segment in key_segments):
        # `*` and `**` leave open what is above, so the last key is compared.
        keys = {place[-1]: place for place in reversed(places) if place and type(place[-1]) is str}
        last = next((segment for segment in reversed(key_segments) if type(segment) is str), "")
        key = find_closest(last, keys)
        return None if key is None else format_path(keys[key])
    return find_closest(pattern.text, map(format_path, places))


def collect_patterns(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the patterns of the rules in options, each with the name of its option.

    >>> collect_patterns({"fields": {"a": {"weight": 2}}, "skip": ["b"], "nulls": "absent"})
    {'a': 'fields', 'b': 'skip'}
    """
    return {pattern: kind for kind in ("fields", "accept", "skip") for pattern in options.get(kind) or ()}


def format_unmatched(kind: str, pattern: str, suggestion: str | None, where: str = "") -> str:
    """Return the sentence about a pattern of `fields`, `accept`, `skip` or `threshold` that matches nothing.

    >>> format_unmatched("fields", "a.b", "a[].b")
    "fields: 'a.b' matches nothing in expected, actual or schema; did you mean 'a[].b'?"
    """
    hint = "" if suggestion is None else f"; did you mean {suggestion!r}?"
    return f"{kind}: {pattern!r} matches nothing in expected, actual or schema{where}{hint}"


def iter_paths(documents: Iterable[JsonValue], schema: SchemaNode | None) -> Iterator[tuple[Segment, ...]]:
    """Yield the schema paths of documents and a schema, nearest to the root first, with duplicates."""
    level: list[tuple[tuple[Segment, ...], Any]] = [((), place) for place in _find_roots(documents, schema)]
    for _ in range(_MAX_LEVELS):
        yield from (path for path, _ in level)
        below = (((*path, step), child) for path, place in level for step, child in _iter_below(place))
        level = list(islice(below, _MAX_VALUES))
