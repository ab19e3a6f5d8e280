"""Find rules whose patterns or keys fit nothing in two documents and their schema, and the nearest ones."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
from pytest_jsonmatch.engine.plan.written import ByKey
from pytest_jsonmatch.engine.value.errors import nearest
from pytest_jsonmatch.engine.value.paths import ANY_DEPTH, ANY_KEY, ELEMENT, Pattern, format_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pytest_jsonmatch.engine.plan.rules import Standing
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.engine.value.paths import Segment

_MOST_LOOKED_AT: Final = 10_000
"""Look at no more than this many values for the nearest path."""
_DEEPEST: Final = 30


def fits(pattern: Pattern, documents: Iterable[JsonValue], schema: SchemaNode | None = None) -> bool:
    """Tell whether a pattern fits a place of a document, or one that the schema lists or leaves open.

    A container is a place too.

    >>> from pytest_jsonmatch.engine.value.paths import parse_pattern
    >>> fits(parse_pattern("items[].price"), [{"items": [{}, {"price": 1}]}])
    True
    """
    if ANY_KEY not in pattern.segments and ANY_DEPTH not in pattern.segments:
        if any(_fits_plainly(pattern.segments, each) for each in documents):
            return True
        documents = ()
    waiting = [(place, pattern.start()) for place in _roots(documents, schema)]
    seen: set[tuple[int, frozenset[int]]] = set()
    while waiting:
        place, positions = waiting.pop()
        if pattern.accepts(positions):
            return True
        for step, child in _below(place):
            reached = positions if step is None else pattern.step(positions, step)
            # A schema may contain itself.
            known = id(child), reached
            if reached and known not in seen:
                seen.add(known)
                waiting.append((child, reached))
    return False


def _fits_plainly(segments: Iterable[Segment], value: JsonValue) -> bool:
    """Tell whether a pattern without `*` and `**` fits a place; fast, since each comparison asks this."""
    level = [value]
    for segment in segments:
        if segment is ELEMENT:
            level = [element for each in level if type(each) is list for element in each]
        else:
            level = [each[segment] for each in level if type(each) is dict and segment in each]
    return bool(level)


def _roots(documents: Iterable[JsonValue], schema: SchemaNode | None) -> list[Any]:
    """Return documents and, if there is one, their schema."""
    return [*documents] if schema is None else [*documents, schema]


def _below(place: Any) -> Iterator[tuple[Segment | None, Any]]:
    """Yield what is one step below a place of a document or schema, with that step.

    Alternatives of a schema are at the same place (step None); members that it leaves open have any key.
    """
    if type(place) is dict:
        yield from place.items()
    elif type(place) is list:
        yield from ((ELEMENT, each) for each in place)
    elif isinstance(place, SchemaNode):
        yield from ((None, branch) for _, branch in place.branches)
        yield from (place.properties or {}).items()
        yield from ((step, each) for step, each in ((ELEMENT, place.items), (ANY_KEY, place.rest)) if each)


def nearest_place(pattern: Pattern, places: Iterable[tuple[Segment, ...]]) -> str | None:
    """Return the schema path that was likely meant by a pattern that fits nowhere; None if none is near.

    >>> from pytest_jsonmatch.engine.value.paths import parse_pattern
    >>> nearest_place(parse_pattern("a.b"), places_in([{"a": [{"b": 1, "ab": 2}]}], None))
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
        found = nearest(last, keys)
        return None if found is None else format_path(keys[found])
    return nearest(pattern.text, map(format_path, places))


def keyless(standing: Standing, expected: JsonValue) -> tuple[str, ...]:
    """Return a sentence for each rule that pairs elements by a member that no element in expected has."""
    if not standing:
        return ()  # each comparison asks this
    keyed = [(pattern, words["align"]) for pattern, words, _ in standing if "align" in words]
    return tuple(
        f"{pattern.text}: elements pair by their member {align.key!r}, which none in expected has: "
        "all of them count as missing"
        for pattern, align in keyed
        if isinstance(align, ByKey)
        and fits(Pattern("", (*pattern.segments, ELEMENT)), [expected])
        and not fits(Pattern("", (*pattern.segments, ELEMENT, align.key)), [expected])
    )


def patterns_of(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the patterns of the rules in options, each with its option.

    >>> patterns_of({"fields": {"a": {"skip": True}}, "accept": {"b": [1]}, "nulls": "absent"})
    {'a': 'fields', 'b': 'accept'}
    """
    return {pattern: kind for kind in ("fields", "accept") for pattern in options.get(kind) or ()}


def unmatched_text(kind: str, pattern: str, near: str | None, where: str = "") -> str:
    """Return the sentence about a pattern of `fields`, `accept` or `threshold` that fits nowhere.

    >>> unmatched_text("fields", "a.b", "a[].b")
    "fields: 'a.b' fits no place of expected, actual or schema; did you mean 'a[].b'?"
    """
    hint = "" if near is None else f"; did you mean {near!r}?"
    return f"{kind}: {pattern!r} fits no place of expected, actual or schema{where}{hint}"


def places_in(documents: Iterable[JsonValue], schema: SchemaNode | None) -> Iterator[tuple[Segment, ...]]:
    """Yield the schema paths of documents and a schema, nearest to the root first, with repeats."""
    waiting: deque[tuple[tuple[Segment, ...], Any]] = deque(((), each) for each in _roots(documents, schema))
    left = _MOST_LOOKED_AT
    while waiting and left:
        left -= 1
        path, place = waiting.popleft()
        yield path
        below = islice(_below(place), left) if len(path) < _DEEPEST else ()
        waiting.extend((path if step is None else (*path, step), child) for step, child in below)
