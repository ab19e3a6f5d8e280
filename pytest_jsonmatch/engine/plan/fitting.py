"""Rules whose patterns or keys fit nothing in two documents and their schema, and what was likely meant."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

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
"""So many values are looked at for the nearest path."""
_DEEPEST: Final = 30


def fits(pattern: Pattern, documents: Iterable[JsonValue], schema: SchemaNode | None) -> bool:
    """Tell whether a pattern fits a place of one of the documents, or of the schema."""
    return any(fits_value(pattern, each) for each in documents) or fits_schema(pattern, schema)


def fits_value(pattern: Pattern, value: JsonValue) -> bool:
    """Tell whether a pattern fits a place of a document; a container is a place too.

    >>> from pytest_jsonmatch.engine.value.paths import parse_pattern
    >>> fits_value(parse_pattern("items[].price"), {"items": [{}, {"price": 1}]})
    True
    """
    if ANY_KEY not in pattern.segments and ANY_DEPTH not in pattern.segments:
        return _fits_plainly(pattern.segments, value)
    waiting = [(value, pattern.start())]
    while waiting:
        value, positions = waiting.pop()
        if pattern.accepts(positions):
            return True
        if type(value) is list:
            if below := pattern.step(positions, ELEMENT):
                waiting.extend((element, below) for element in value)
        elif type(value) is dict:
            named = pattern.keys_at(positions)
            keys = value if named is None else named & value.keys()
            waiting.extend((value[key], below) for key in keys if (below := pattern.step(positions, key)))
    return False


def _fits_plainly(segments: Iterable[Segment], value: JsonValue) -> bool:
    """Tell whether a pattern without `*` and `**` fits a place: the usual one, for each comparison anew."""
    level = [value]
    for segment in segments:
        if segment is ELEMENT:
            level = [element for each in level if type(each) is list for element in each]
        else:
            level = [each[segment] for each in level if type(each) is dict and segment in each]
    return bool(level)


def fits_schema(pattern: Pattern, schema: SchemaNode | None) -> bool:
    """Tell whether a pattern fits a place that a schema lists, or one where it takes any member."""
    waiting = [] if schema is None else [(schema, pattern.start())]
    seen = set(waiting)
    while waiting:
        place, positions = waiting.pop()
        if pattern.accepts(positions):
            return True
        below = [(branch, positions) for _, branch in place.branches]
        below += [(child, pattern.step(positions, key)) for key, child in (place.properties or {}).items()]
        if place.items is not None:
            below.append((place.items, pattern.step(positions, ELEMENT)))
        if place.rest is not None:
            named = pattern.keys_at(positions)
            below += [
                (place.rest, pattern.step(positions, key)) for key in ({""} if named is None else named)
            ]
        fresh = {each for each in below if each[1]} - seen
        seen |= fresh
        waiting += fresh
    return False


def nearest_place(pattern: Pattern, places: Iterable[tuple[Segment, ...]]) -> str | None:
    """Return the schema path that a pattern without a place was likely meant to be; None if none is near.

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
        # What is above `*` or `**` is open: the key that is written last says what was meant.
        keys = {place[-1]: place for place in reversed(places) if place and type(place[-1]) is str}
        last = next((segment for segment in reversed(named) if type(segment) is str), "")
        found = nearest(last, keys)
        return None if found is None else format_path(keys[found])
    return nearest(pattern.text, map(format_path, places))


@final
class KeyRule(NamedTuple):
    """A field rule that pairs the elements of arrays by a member."""

    pattern: Pattern
    """Of the arrays."""
    key: str
    elements: Pattern
    members: Pattern
    """Of the members of that name."""


def key_rules(standing: Standing) -> tuple[KeyRule, ...]:
    """Return the field rules that pair elements by a member."""
    found = []
    for pattern, words, _ in standing:
        align = words.get("align")
        if isinstance(align, ByKey):
            elements = *pattern.segments, ELEMENT
            members = Pattern("", (*elements, align.key))
            found.append(KeyRule(pattern, align.key, Pattern("", elements), members))
    return tuple(found)


def keyless(rules: Iterable[KeyRule], expected: JsonValue) -> tuple[str, ...]:
    """Return a sentence for each of the rules whose key no element in expected has."""
    if not rules:
        return ()
    return tuple(
        f"{rule.pattern.text}: elements pair by their member {rule.key!r}, which none in expected has: "
        "all of them count as missing"
        for rule in rules
        if fits_value(rule.elements, expected) and not fits_value(rule.members, expected)
    )


def patterns_of(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the patterns of the rules in options, each with the option that it is of.

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
    """Yield the schema paths of documents and a schema, those near the root first, some several times."""
    waiting: deque[tuple[tuple[Segment, ...], JsonValue | SchemaNode]] = deque(
        ((), each) for each in documents
    )
    if schema is not None:
        waiting.append(((), schema))
    left = _MOST_LOOKED_AT
    while waiting and left:
        left -= 1
        path, value = waiting.popleft()
        yield path
        if len(path) >= _DEEPEST:
            continue
        if isinstance(value, SchemaNode):
            waiting.extend((path, branch) for _, branch in value.branches)
            waiting.extend(((*path, key), child) for key, child in (value.properties or {}).items())
            if value.items is not None:
                waiting.append(((*path, ELEMENT), value.items))
        elif type(value) is dict:
            waiting.extend(((*path, key), child) for key, child in value.items())
        elif type(value) is list:
            waiting.extend(((*path, ELEMENT), child) for child in value[:left])
