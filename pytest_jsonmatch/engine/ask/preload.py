"""Strings shown, before they are compared, to comparators that want to see many at once (embeddings).

Shown are the strings that differ from what they stand against: of two objects those under one key, of ordered
and keyed arrays those of partners, of unordered arrays those of all elements that have no equal one. What is
equal scores 1 and what has no counterpart scores 0 without a look.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from pytest_jsonmatch.engine.align.arrays import pair_by_key
from pytest_jsonmatch.engine.align.keys import Canon
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

    Show: TypeAlias = Callable[[Sequence[str]], object]
    _Texts: TypeAlias = dict[str, None]
    _Asked: TypeAlias = dict[PlanNode, dict[tuple[Show, PlanNode], tuple[_Texts, _Texts]]]

__all__ = ["preload"]

_CONTAINERS: Final = frozenset({dict, list})
_NOTHING: Final[dict[Any, Any]] = {}


def preload(plan: Plan, records: Iterable[tuple[JsonValue, JsonValue]]) -> None:
    """Show the strings of records to the comparators that want to see them: each one's in one call.

    Args:
        plan: a compiled metric whose `preloads` holds.
        records: (expected, actual) of each record that is about to be scored; either may be MISSING.

    Raises:
        ConfigurationError: one of the comparators cannot work at all.
    """
    gatherer = _Gatherer(plan)
    for expected, actual in records:
        gatherer.add(expected, actual)
    for show, texts in gatherer.texts.items():
        show(list(texts))


@final
class _Gatherer:
    """Goes through pairs of documents as the walk will, and takes note of strings."""

    __slots__ = ("_plan", "texts")

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.texts: dict[Show, _Texts] = {}
        """The distinct strings for each comparator, in the order in which they were met."""

    def add(self, expected: JsonValue, actual: JsonValue) -> None:
        """Take note of the strings of one record."""
        plan, node = self._plan, self._plan.root
        for segment in plan.target:
            node = node.chosen(expected, actual).children[ELEMENT if type(segment) is int else segment]
            expected, actual = _member(expected, segment), _member(actual, segment)
        waiting = [(node, expected, actual)]
        while waiting:
            node, one, other = waiting.pop()
            if one is MISSING or other is MISSING:
                continue
            node = node.chosen(one, other)
            if node.skip:
                continue
            kind = type(one)
            if kind not in _CONTAINERS or kind is not type(other) or node.explicit is not None:
                self._meet(node, one, other)
            elif kind is dict:
                waiting.extend((node.children[key], one[key], other[key]) for key in one if key in other)
            elif node.align == "unordered":
                self._unordered(node.children[ELEMENT], one, other)
            else:
                element = node.children[ELEMENT]
                pairs = _partners(node, element, one, other)
                waiting.extend((element, one[at], other[to]) for at, to in pairs)

    def _meet(self, node: PlanNode, expected: JsonValue, actual: JsonValue) -> None:
        """Take note of two values that stand against each other."""
        show = _shown_to(node)
        if show is not None:
            one, other = node.prepare(expected), node.prepare(actual)
            if type(one) is str and type(other) is str and one != other:
                texts = self.texts.setdefault(show, {})
                texts[one] = texts[other] = None

    def _unordered(self, element: PlanNode, expected: list[JsonValue], actual: list[JsonValue]) -> None:
        """Take note of what stands in two arrays whose elements are still to find each other."""
        if not expected or not actual or element.skip:
            return
        wanted, found = Canon(nulls_absent=self._plan.nulls_absent).keys(element, expected, actual)
        twins = Counter(wanted) & Counter(found)
        twins.pop(MISSING, None)
        asked = _asked_about(element, _without(expected, wanted, twins))
        if asked:
            _answer(asked, element, _without(actual, found, twins))
        for places in asked.values():
            for (show, _), (left, right) in places.items():
                met = {**left, **right}
                if right and len(met) > 1:
                    self.texts.setdefault(show, {}).update(met)


def _without(values: list[JsonValue], keys: list[Any], twins: Counter[Any]) -> list[JsonValue]:
    """Return the values that are none of the twins (which of several equal ones does not matter)."""
    left = Counter(twins)
    kept: list[JsonValue] = []
    for value, key in zip(values, keys):
        if left[key] > 0:
            left[key] -= 1
        else:
            kept.append(value)
    return kept


def _asked_about(element: PlanNode, values: list[JsonValue]) -> _Asked:
    """Return the strings below elements of expected that somebody wants to see."""
    asked: _Asked = {}
    waiting = [(element, value) for value in reversed(values)]
    while waiting:
        node, value = waiting.pop()
        node = node.chosen(value, MISSING)
        if node.skip:
            continue
        if type(value) not in _CONTAINERS or node.explicit is not None:
            show = _shown_to(node)
            text = None if show is None else node.prepare(value)
            if show is not None and type(text) is str:
                asked.setdefault(node.place, {}).setdefault((show, node), ({}, {}))[0][text] = None
        else:
            waiting.extend(_below(node, value))
    return asked


def _answer(asked: _Asked, element: PlanNode, values: list[JsonValue]) -> None:
    """Add the strings below elements of actual that stand where strings of expected do.

    (Where a schema gives alternatives, expected chooses; so it is places that are gone through here.)
    """
    waiting = [(element.place, value) for value in reversed(values)]
    while waiting:
        place, value = waiting.pop()
        for (_, node), (_, right) in asked.get(place, _NOTHING).items():
            text = node.prepare(value)
            if type(text) is str:
                right[text] = None
        if type(value) in _CONTAINERS:
            waiting.extend(_below(place, value))


def _below(node: PlanNode, value: JsonValue) -> Iterable[tuple[PlanNode, JsonValue]]:
    """Return what stands in a container, with its nodes."""
    if type(value) is dict:
        return ((node.children[key], item) for key, item in value.items())
    return ((node.children[ELEMENT], item) for item in value)


def _shown_to(node: PlanNode) -> Show | None:
    """Return what wants to see the strings at a node; None if nothing does."""
    bound = node.explicit or node.default_for("", "")
    return None if bound is None else bound.preload


def _partners(
    node: PlanNode, element: PlanNode, expected: list[JsonValue], actual: list[JsonValue]
) -> Iterable[tuple[int, int]]:
    """Return which elements of two ordered or keyed arrays stand against each other."""
    align = node.align
    objects = all(type(item) is dict for side in (expected, actual) for item in side)
    if align == "ordered" or (align[0] == "if_objects" and not objects):
        return ((at, at) for at in range(min(len(expected), len(actual))))
    return pair_by_key(element, align[1], expected, actual)


def _member(value: JsonValue, segment: Any) -> JsonValue:
    """Return what stands at one step of an instance path, or MISSING."""
    if type(segment) is str and type(value) is dict:
        return value.get(segment, MISSING)
    if type(segment) is int and type(value) is list and segment < len(value):
        return value[segment]
    return MISSING
