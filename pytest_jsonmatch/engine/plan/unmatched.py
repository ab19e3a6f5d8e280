"""Find rules whose patterns fit nothing in two documents and their schema, and the nearest paths."""

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

_MOST_LOOKED_AT: Final = 10_000
"""Look at no more than this many values of each level for the nearest path."""
_DEEPEST: Final = 30


def matches_somewhere(
    pattern: Pattern, documents: Iterable[JsonValue], schema: SchemaNode | None = None
) -> bool:
    """Return whether a pattern fits a place of a document, or one that the schema lists or leaves open.

    A container is a place too.

    >>> from pytest_jsonmatch.engine.value.paths import parse_pattern
    >>> matches_somewhere(parse_pattern("items[].price"), [{"items": [{}, {"price": 1}]}])
    True
    """
    seen: set[tuple[SchemaNode, int]] = set()
    return any(_matches_below(pattern.segments, place, seen) for place in _find_roots(documents, schema))


def _matches_below(segments: tuple[Segment, ...], place: Any, seen: set[tuple[SchemaNode, int]]) -> bool:
    """Return whether the rest of a pattern fits a place below this one; `seen` are places of the schema."""
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
    """Return documents and, if there is one, their schema."""
    return [*documents] if schema is None else [*documents, schema]


def _iter_below(place: Any) -> Iterator[tuple[Segment, Any]]:
    """Yield what is one step below a place of a document or schema; what a schema leaves open has any key."""
    if type(place) is dict:
        yield from place.items()
    elif type(place) is list:
        yield from zip(repeat(ELEMENT), place)
    elif isinstance(place, SchemaNode):
        for _, branch in place.branches:
            yield from _iter_below(branch)
        yield from (place.properties or {}).items()
        yield from ((step, each) for step, each in ((ELEMENT, place.items), (ANY_KEY, place.rest)) if each)


def find_nearest_path(pattern: Pattern, places: Iterable[tuple[Segment, ...]]) -> str | None:
    """Return the schema path that was likely meant by a pattern that fits nowhere; None if none is near.

    >>> from pytest_jsonmatch.engine.value.paths import parse_pattern
    >>> find_nearest_path(parse_pattern("a.b"), iter_paths([{"a": [{"b": 1, "ab": 2}]}], None))
    'a[].b'
    """
    places = list(dict.fromkeys(places))
    named = [segment for segment in pattern.segments if segment is not ELEMENT]
    alike = [place for place in places if [each for each in place if each is not ELEMENT] == named]
    if alike:
        return format_path(min(alike, key=lambda place: abs(len(place) - len(pattern.segments))))
    if any(segment is ANY_KEY or segment is ANY_DEPTH for segment in named):
        # What is above `*` or `**` is open, so the last key shows what was meant.
        keys = {place[-1]: place for place in reversed(places) if place and type(place[-1]) is str}
        last = next((segment for segment in reversed(named) if type(segment) is str), "")
        found = find_closest(last, keys)
        return None if found is None else format_path(keys[found])
    return find_closest(pattern.text, map(format_path, places))


def collect_patterns(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the patterns of the rules in options, each with its option.

    >>> collect_patterns({"fields": {"a": {"weight": 2}}, "skip": ["b"], "nulls": "absent"})
    {'a': 'fields', 'b': 'skip'}
    """
    return {pattern: kind for kind in ("fields", "accept", "skip") for pattern in options.get(kind) or ()}


def format_unmatched(kind: str, pattern: str, near: str | None, where: str = "") -> str:
    """Return the sentence about a pattern of `fields`, `accept`, `skip` or `threshold` that fits nowhere.

    >>> format_unmatched("fields", "a.b", "a[].b")
    "fields: 'a.b' matches nothing in expected, actual or schema; did you mean 'a[].b'?"
    """
    hint = "" if near is None else f"; did you mean {near!r}?"
    return f"{kind}: {pattern!r} matches nothing in expected, actual or schema{where}{hint}"


def iter_paths(documents: Iterable[JsonValue], schema: SchemaNode | None) -> Iterator[tuple[Segment, ...]]:
    """Yield the schema paths of documents and a schema, nearest to the root first, with repeats."""
    level: list[tuple[tuple[Segment, ...], Any]] = [((), place) for place in _find_roots(documents, schema)]
    for _ in range(_DEEPEST):
        yield from (path for path, _ in level)
        below = (((*path, step), child) for path, place in level for step, child in _iter_below(place))
        level = list(islice(below, _MOST_LOOKED_AT))
