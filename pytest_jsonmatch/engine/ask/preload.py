"""Show strings, before they are compared, to comparators that work on many at once (embeddings).

Only strings that differ from their counterparts are shown: under the same key of two objects, in partners of
ordered and keyed arrays, and in all elements of unordered arrays that have no equal. Equal strings score 1,
and strings without a counterpart 0, so neither need be shown.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from pytest_jsonmatch.engine.align.keys import Canon, key_of, pair_by_key, twins
from pytest_jsonmatch.engine.value.convert import MISSING, value_at
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

    Show: TypeAlias = Callable[[Sequence[str]], object]
    Group: TypeAlias = tuple[PlanNode, list[JsonValue], list[JsonValue]]
    """Values of expected and of actual, any of which may be compared with each other, and their node."""


def preload(plan: Plan, records: Iterable[tuple[JsonValue, JsonValue]]) -> None:
    """Show the strings of records to the comparators that preload them, in one call each.

    Args:
        plan: a compiled metric whose `preloads` is true.
        records: (expected, actual) of each record to be scored; either may be MISSING.

    Raises:
        ConfigurationError: one of the comparators cannot work at all.
    """
    texts: dict[Show, dict[str, None]] = {}
    for expected, actual in records:
        _collect(plan, expected, actual, texts)
    for show, distinct in texts.items():
        show(list(distinct))


def _collect(plan: Plan, expected: JsonValue, actual: JsonValue, texts: dict[Show, dict[str, None]]) -> None:
    """Go through a record as the walk will, and collect distinct strings for each comparator."""
    node = plan.root
    for segment in plan.target:
        node = node.chosen(expected, actual).children[ELEMENT if type(segment) is int else segment]
        expected, actual = value_at(expected, (segment,)), value_at(actual, (segment,))
    waiting: list[Group] = []
    if expected is not MISSING and actual is not MISSING:
        waiting.append((node, [expected], [actual]))
    while waiting:
        node, values, others = waiting.pop()
        # Expected chooses among the alternatives of a schema.
        chosen: dict[PlanNode, list[JsonValue]] = {}
        for value in values:
            chosen.setdefault(node.chosen(value, MISSING), []).append(value)
        for own, alike in chosen.items():
            if own.skip:
                continue
            bound = own.explicit or own.types.find("", "")
            if bound is not None and bound.preload is not None:
                one, other = _strings(own, alike), _strings(own, others)
                if one and other and len(one | other) > 1:
                    texts.setdefault(bound.preload, {}).update(one | other)
            if own.explicit is None:
                waiting += _below(own, alike, others)


def _strings(node: PlanNode, values: list[JsonValue]) -> dict[str, None]:
    """Return the distinct strings among values, after the transforms of their place."""
    return {text: None for value in values if type(text := node.prepare(value)) is str}


def _below(node: PlanNode, expected: list[JsonValue], actual: list[JsonValue]) -> Iterator[Group]:
    """Yield the values, one step below such containers, that may be compared with each other."""
    objects = [each for each in expected if type(each) is dict]
    others = [each for each in actual if type(each) is dict]
    for key in dict.fromkeys(chain.from_iterable(objects)):
        met = [each[key] for each in others if key in each]
        if met:
            yield node.children[key], [each[key] for each in objects if key in each], met
    arrays = [each for each in expected if type(each) is list]
    other_arrays = [each for each in actual if type(each) is list]
    if len(arrays) == len(other_arrays) == 1:
        yield from _elements(node, arrays[0], other_arrays[0])
    elif arrays and other_arrays:
        elements = list(chain.from_iterable(arrays)), list(chain.from_iterable(other_arrays))
        yield node.children[ELEMENT], *elements


def _elements(node: PlanNode, expected: list[JsonValue], actual: list[JsonValue]) -> Iterator[Group]:
    """Yield the elements of two arrays that may be compared with each other."""
    element = node.children[ELEMENT]
    if node.align == "unordered":
        keys = Canon(nulls_absent=node.plan.nulls_absent).keys(element, expected, actual)
        _, rows, columns = twins(*keys)
        yield element, [expected[at] for at in rows], [actual[at] for at in columns]
        return
    key = key_of(node, expected, actual)
    pairs = enumerate(range(min(len(expected), len(actual))))
    for at, to in pairs if key is None else pair_by_key(element, key, expected, actual):
        yield element, [expected[at]], [actual[to]]
