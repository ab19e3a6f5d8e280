"""Matchers in files of expected values: objects whose only key is a word such as `$regex`."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.align.arrays import check_compared_by_members
from pytest_jsonmatch.engine.align.keys import find_key, read_key_value
from pytest_jsonmatch.engine.comparators.parameters import (
    check_names,
    format_value,
    get_required,
    read_number,
)
from pytest_jsonmatch.engine.plan.accept import READERS
from pytest_jsonmatch.engine.plan.node import refuse_matchers
from pytest_jsonmatch.engine.plan.options import ByMembers
from pytest_jsonmatch.engine.value.convert import MISSING, NUMBERS, Matcher, get_value, json_type
from pytest_jsonmatch.engine.value.equality import make_json_key
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.matchers import to_matcher
from pytest_jsonmatch.engine.value.paths import ELEMENT
from pytest_jsonmatch.engine.value.text import render
from pytest_jsonmatch.reading.errors import InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.reading.errors import Steps

    Condition = tuple[Callable[[JsonValue], object], Collection[str]]
    """Returns whether a value is accepted; and the JSON types of the values that may be."""

_LITERAL: Final = "$literal"
ABSENT: Final = "$absent"
"""The word for a member that must not be there."""
_MIN_SIMILARITY: Final = 0.8
"""The similarity from which a key counts as a misspelt word: `$regx` does, `$ref` and `$and` are data."""


def with_matchers(value: JsonValue, steps: Steps = ()) -> JsonValue:
    """Return a copy of an expected value in which objects such as `{$any: true}` are matchers.

    Raises:
        InvalidValueError: a matcher is not valid, or its word is misspelt.

    >>> with_matchers({"n": {"$range": [1, 5]}, "data": {"$literal": {"$any": True}}})
    {'n': {"$range": [1, 5]}, 'data': {'$any': True}}
    """
    if type(value) is list:
        return [with_matchers(item, (*steps, index)) for index, item in enumerate(value)]
    if type(value) is not dict:
        return value
    word = _word(value)
    if word is None:
        return {key: with_matchers(item, (*steps, key)) for key, item in value.items()}
    ((key, argument),) = value.items()
    if key != word:
        reason = (
            f": unknown matcher {key!r}; did you mean {word!r}? Write data as {{{_LITERAL}: {{{key}: …}}}}"
        )
        raise InvalidValueError(reason, *steps, key)
    if word == _LITERAL:
        return argument
    if word == ABSENT and (not steps or type(steps[-1]) is not str):
        raise InvalidValueError(f": {ABSENT} must be the value of an object's member", *steps, key)
    try:
        return Matcher(value, render(value), *_MAKERS[word](argument))
    except ConfigurationError as error:
        raise InvalidValueError(f": {error}", *steps, key) from None


def _word(value: dict[str, JsonValue]) -> str | None:
    """Return the word that is equal or similar to the only key of an object; None for other objects."""
    key = next(iter(value)) if len(value) == 1 else ""
    near = get_close_matches(key.lower(), MATCHER_WORDS, 1, _MIN_SIMILARITY) if key.startswith("$") else ()
    return next(iter(near), None)


def is_matcher(value: JsonValue) -> bool:
    """Return whether a value of a golden file is read as a matcher; `$literal` is not a matcher."""
    return type(value) is dict and len(value) == 1 and not _MAKERS.keys().isdisjoint(value)


def to_file_form(value: JsonValue) -> JsonValue:
    """Return an expected value in the form of a golden file; data that looks like a matcher gets `$literal`.

    >>> to_file_form({"n": {"$any": True}}), to_file_form(with_matchers([{"$any": True}]))
    ({'n': {'$literal': {'$any': True}}}, [{'$any': True}])
    """
    if type(value) is Matcher:
        return value.form
    if type(value) is list:
        return list(map(to_file_form, value))
    if type(value) is not dict:
        return value
    return {_LITERAL: value} if _word(value) else {key: to_file_form(item) for key, item in value.items()}


def check_matcher_places(plan: Plan, expected: JsonValue) -> None:
    """Check that expected has no matchers where the plan needs values.

    Raises:
        InvalidValueError: a matcher is the key of an element, or part of a value that is compared as a unit.
    """
    node, steps = plan.root, plan.target
    for step in steps:
        node = node.choose(expected).undecided[ELEMENT if type(step) is int else step]
        expected = get_value(expected, (step,))
    _check_matcher_places(node.choose(expected), expected, steps)


def _check_matcher_places(node: PlanNode, value: JsonValue, steps: Steps) -> None:
    if type(value) not in {dict, list}:
        return
    if node.rules.skip:
        return
    try:
        if node.rules.explicit_comparator is not None:
            refuse_matchers(node.rules.explicit_comparator, node.path, value)
            return
        if type(value) is list and (key := find_key(node, value, [])) is not None:
            element = node.undecided[ELEMENT]
            for index, item in enumerate(value):
                if type(item) is dict and type(item.get(key)) is Matcher:
                    steps = (*steps, index)
                    read_key_value(element, item, key)
        if type(value) is list and isinstance(node.rules.align, ByMembers):
            for index, item in enumerate(value):
                if type(item) is Matcher:
                    steps = (*steps, index)
                    check_compared_by_members(node.undecided[ELEMENT], [item])
    except ConfigurationError as error:
        raise InvalidValueError(f": {error}", *steps) from None
    for step, child, item in node.iter_children(value):
        _check_matcher_places(child, item, (*steps, step))


def without_matchers(value: JsonValue) -> JsonValue:
    """Return an expected value without members and elements that are matchers; MISSING for a matcher.

    >>> without_matchers(with_matchers({"id": {"$any": True}, "n": [1, {"$range": [1, 2]}]}))
    {'n': [1]}
    """
    if type(value) is dict:
        members = {key: without_matchers(item) for key, item in value.items()}
        return {key: item for key, item in members.items() if item is not MISSING}
    if type(value) is list:
        return [item for item in map(without_matchers, value) if item is not MISSING]
    return MISSING if type(value) is Matcher else value


def iter_matchers(value: JsonValue) -> Iterator[Matcher]:
    """Yield the matchers in an expected value."""
    if type(value) is Matcher:
        yield value
    elif type(value) in {dict, list}:
        for item in value.values() if type(value) is dict else value:
            yield from iter_matchers(item)


def _one_of(argument: Any) -> Condition:
    values = [alternative.value for alternative in READERS["values"]("$one_of", argument).alternatives]
    keys = set(map(make_json_key, values))
    return (lambda actual: make_json_key(actual) in keys), frozenset(map(json_type, values))


def _approx(argument: Any) -> Condition:
    import pytest

    parameters = argument if type(argument) is dict else {"value": argument}
    check_names("$approx", parameters, ("value", "rel", "abs"))
    value = get_required("$approx", parameters, "value", "{value: 9.99, abs: 0.01}")
    if type(value) not in NUMBERS:
        raise ConfigurationError(f"$approx: 'value' must be a number, got {format_value(value)}")
    limits: Any = {
        name: read_number("$approx", name, parameters[name]) for name in parameters if name != "value"
    }
    matcher: Any = to_matcher(pytest.approx(value, **limits))
    return (lambda actual: matcher.score(None, actual)), ("number",)


def _predicate(word: str, name: str) -> Callable[[Any], Condition]:
    def make(argument: Any) -> Condition:
        predicate = READERS[word](name, argument).predicates[0]
        return predicate.holds, predicate.types

    return make


def _absent(argument: Any) -> Condition:
    if argument is not True:
        raise ConfigurationError(f"{ABSENT} must be true, got {format_value(argument)}")
    return (lambda _actual: False), ()


def _length(argument: Any) -> Condition:
    bounds = argument if type(argument) is list else [argument, argument]
    if len(bounds) != 2 or not all(type(bound) is int and bound >= 0 for bound in bounds):
        raise ConfigurationError(
            f"$length must be a number of elements, members or characters, or [low, high] of these, "
            f"got {format_value(argument)}"
        )
    low, high = bounds
    if low > high:
        raise ConfigurationError(f"$length must be [low, high], got {format_value(argument)}")
    kinds = frozenset({str, list, dict})
    return (lambda actual: type(actual) in kinds and low <= len(actual) <= high), (
        "string",
        "array",
        "object",
    )


_MAKERS: Final[Mapping[str, Callable[[Any], Condition]]] = {
    "$regex": _predicate("regex", "$regex"),
    "$range": _predicate("range", "$range"),
    "$any": lambda argument: _predicate("any" if argument is True else "type", "$any")(argument),
    "$one_of": _one_of,
    "$approx": _approx,
    ABSENT: _absent,
    "$length": _length,
}
MATCHER_WORDS: Final = (*_MAKERS, _LITERAL)
"""The keys of objects that are matchers, or data that looks like a matcher."""
