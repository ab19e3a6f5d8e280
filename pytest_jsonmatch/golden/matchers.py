"""Matchers in `expected` of golden files: objects whose only key is a word such as `$regex`."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.align.arrays import check_compared_by_members
from pytest_jsonmatch.engine.align.keys import find_key, read_key_value
from pytest_jsonmatch.engine.compare.parameters import check_names, format_value, get_required, read_number
from pytest_jsonmatch.engine.plan.accept import READERS
from pytest_jsonmatch.engine.plan.node import refuse_matchers
from pytest_jsonmatch.engine.plan.options import ByMembers
from pytest_jsonmatch.engine.value.convert import MISSING, NUMBERS, Matcher, get_value
from pytest_jsonmatch.engine.value.equality import make_json_key
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.matchers import to_matcher
from pytest_jsonmatch.engine.value.paths import ELEMENT
from pytest_jsonmatch.engine.value.text import render
from pytest_jsonmatch.golden.errors import InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.golden.errors import Steps

    Accepts = Callable[[JsonValue], object]

_LITERAL: Final = "$literal"
_ALIKE: Final = 0.8
"""How similar to a word a key must be to be a mistake: `$regx` is, `$ref` and `$and` are data."""


def with_matchers(value: JsonValue, at: Steps = ()) -> JsonValue:
    """Return a copy of an expected value in which the objects that are matchers have become matchers.

    Raises:
        InvalidValueError: a matcher is not valid, or its word is misspelt.

    >>> with_matchers({"n": {"$range": [1, 5]}, "data": {"$literal": {"$any": True}}})
    {'n': {"$range": [1, 5]}, 'data': {'$any': True}}
    """
    if type(value) is list:
        return [with_matchers(item, (*at, index)) for index, item in enumerate(value)]
    if type(value) is not dict:
        return value
    word = _word(value)
    if word is None:
        return {key: with_matchers(item, (*at, key)) for key, item in value.items()}
    ((key, said),) = value.items()
    if key != word:
        reason = (
            f": unknown matcher {key!r}; did you mean {word!r}? Write data as {{{_LITERAL}: {{{key}: …}}}}"
        )
        raise InvalidValueError(reason, *at, key)
    if word == _LITERAL:
        return said
    try:
        return Matcher(value, render(value), _MAKERS[word](said))
    except ConfigurationError as error:
        raise InvalidValueError(f": {error}", *at, key) from None


def _word(value: dict[str, JsonValue]) -> str | None:
    """Return the word that the only key of an object is, or resembles; None for all other objects."""
    key = next(iter(value)) if len(value) == 1 else ""
    near = get_close_matches(key.lower(), MATCHER_WORDS, 1, _ALIKE) if key.startswith("$") else ()
    return next(iter(near), None)


def is_matcher(value: JsonValue) -> bool:
    """Tell whether a value of a golden file reads as a matcher; `$literal` is none."""
    return type(value) is dict and len(value) == 1 and not _MAKERS.keys().isdisjoint(value)


def as_written(value: JsonValue) -> JsonValue:
    """Return an expected value as a golden file has it; data that looks like a matcher gets `$literal`.

    >>> as_written({"n": {"$any": True}}), as_written(with_matchers([{"$any": True}]))
    ({'n': {'$literal': {'$any': True}}}, [{'$any': True}])
    """
    if type(value) is Matcher:
        return value.form
    if type(value) is list:
        return list(map(as_written, value))
    if type(value) is not dict:
        return value
    return {_LITERAL: value} if _word(value) else {key: as_written(item) for key, item in value.items()}


def check_places(plan: Plan, expected: JsonValue) -> None:
    """Check that the plan asks for no value where expected has a matcher.

    Raises:
        InvalidValueError: a matcher is the key of an element, or inside a value that is compared as a whole.
    """
    node, at = plan.root, plan.target
    for step in at:
        node = node.choose(expected, MISSING).children[ELEMENT if type(step) is int else step]
        expected = get_value(expected, (step,))
    _check_places(node, expected, at)


def _check_places(node: PlanNode, value: JsonValue, at: Steps) -> None:
    if type(value) not in {dict, list}:
        return
    node = node.choose(value, MISSING)
    if node.rules.skip:
        return
    try:
        if node.rules.explicit_comparator is not None:
            refuse_matchers(node.rules.explicit_comparator, node.path, value)
            return
        if type(value) is list and (key := find_key(node, value, [])) is not None:
            member = node.children[ELEMENT].children[key]
            for index, item in enumerate(value):
                if type(item) is dict and type(item.get(key)) is Matcher:
                    at = (*at, index)
                    read_key_value(member, item, key)
        if type(value) is list and isinstance(node.rules.align, ByMembers):
            for index, item in enumerate(value):
                if type(item) is Matcher:
                    at = (*at, index)
                    check_compared_by_members(node.children[ELEMENT], [item])
    except ConfigurationError as error:
        raise InvalidValueError(f": {error}", *at) from None
    for step, item in value.items() if type(value) is dict else enumerate(value):
        _check_places(node.children[ELEMENT if type(step) is int else step], item, (*at, step))


def data_of(value: JsonValue) -> JsonValue:
    """Return an expected value without the members and elements that are matchers; MISSING if it is one.

    >>> data_of(with_matchers({"id": {"$any": True}, "n": [1, {"$range": [1, 2]}]}))
    {'n': [1]}
    """
    if type(value) is dict:
        members = {key: data_of(item) for key, item in value.items()}
        return {key: item for key, item in members.items() if item is not MISSING}
    if type(value) is list:
        return [item for item in map(data_of, value) if item is not MISSING]
    return MISSING if type(value) is Matcher else value


def matchers_in(value: JsonValue) -> Iterator[Matcher]:
    """Yield the matchers in an expected value."""
    if type(value) is Matcher:
        yield value
    elif type(value) in {dict, list}:
        for item in value.values() if type(value) is dict else value:
            yield from matchers_in(item)


def _one_of(said: Any) -> Accepts:
    keys = {make_json_key(each.value) for each in READERS["values"]("$one_of", said).alternatives}
    return lambda actual: make_json_key(actual) in keys


def _approx(said: Any) -> Accepts:
    import pytest

    given = said if type(said) is dict else {"value": said}
    check_names("$approx", given, ("value", "rel", "abs"))
    value = get_required("$approx", given, "value", "{value: 9.99, abs: 0.01}")
    if type(value) not in NUMBERS:
        raise ConfigurationError(f"$approx: 'value' must be a number, got {format_value(value)}")
    limits: Any = {name: read_number("$approx", name, given[name]) for name in given if name != "value"}
    matcher: Any = to_matcher(pytest.approx(value, **limits))
    return lambda actual: matcher.score(None, actual)


def _predicate(word: str, name: str) -> Callable[[Any], Accepts]:
    return lambda said: READERS[word](name, said).predicates[0].holds


_MAKERS: Final[Mapping[str, Callable[[Any], Accepts]]] = {
    "$regex": _predicate("regex", "$regex"),
    "$range": _predicate("range", "$range"),
    "$any": lambda said: _predicate("any" if said is True else "type", "$any")(said),
    "$one_of": _one_of,
    "$approx": _approx,
}
MATCHER_WORDS: Final = (*_MAKERS, _LITERAL)
"""The keys of objects that are matchers, or data that looks like one."""
