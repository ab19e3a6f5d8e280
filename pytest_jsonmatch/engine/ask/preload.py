"""Show strings, before they are compared, to comparators that want to see many at once (embeddings).

Shown are strings that differ from their counterparts: under the same key of two objects, in partners of
ordered and keyed arrays, in all elements of unordered arrays that have no equal one. Equal strings score 1,
and strings without a counterpart 0, without being seen.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, TypeAlias, final

from pytest_jsonmatch.engine.align.keys import Canon, key_of, pair_by_key, twins
from pytest_jsonmatch.engine.value.convert import MISSING, value_at
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

    Show: TypeAlias = Callable[[Sequence[str]], object]
    Texts: TypeAlias = dict[str, None]
    """Distinct strings, in the order in which they were met."""
    Group: TypeAlias = tuple[PlanNode, list[JsonValue], list[JsonValue]]
    """Values of expected and of actual any of which may stand against each other, with their node."""


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
        self.texts: dict[Show, Texts] = {}
        """What to show to each comparator."""

    def add(self, expected: JsonValue, actual: JsonValue) -> None:
        """Take note of the strings of one record."""
        plan, node = self._plan, self._plan.root
        for segment in plan.target:
            node = node.chosen(expected, actual).children[ELEMENT if type(segment) is int else segment]
            expected, actual = value_at(expected, (segment,)), value_at(actual, (segment,))
        waiting: list[Group] = []
        if expected is not MISSING and actual is not MISSING:
            waiting.append((node, [expected], [actual]))
        while waiting:
            node, values, others = waiting.pop()
            # (Where a schema gives alternatives, expected chooses.)
            chosen: dict[PlanNode, list[JsonValue]] = {}
            for value in values:
                chosen.setdefault(node.chosen(value, MISSING), []).append(value)
            for own, alike in chosen.items():
                if not own.skip:
                    self._meet(own, alike, others)
                    waiting += self._below(own, alike, others)

    def _meet(self, node: PlanNode, expected: list[JsonValue], actual: list[JsonValue]) -> None:
        """Take note of the strings among values that may stand against each other, if any of them differ."""
        bound = node.explicit or node.types.find("", "")
        if bound is not None and bound.preload is not None:
            one, other = (
                {text: None for value in values if type(text := node.prepare(value)) is str}
                for values in (expected, actual)
            )
            if one and other and len(one | other) > 1:
                self.texts.setdefault(bound.preload, {}).update(one | other)

    def _below(self, node: PlanNode, expected: list[JsonValue], actual: list[JsonValue]) -> Iterator[Group]:
        """Yield what may stand against each other one step below containers that may."""
        if node.explicit is not None:
            return
        objects = [each for each in expected if type(each) is dict]
        others = [each for each in actual if type(each) is dict]
        for key in dict.fromkeys(chain.from_iterable(objects)):
            met = [each[key] for each in others if key in each]
            if met:
                yield node.children[key], [each[key] for each in objects if key in each], met
        arrays = [each for each in expected if type(each) is list]
        other_arrays = [each for each in actual if type(each) is list]
        if len(arrays) == len(other_arrays) == 1:
            yield from self._elements(node, arrays[0], other_arrays[0])
        elif arrays and other_arrays:
            elements = list(chain.from_iterable(arrays)), list(chain.from_iterable(other_arrays))
            yield node.children[ELEMENT], *elements

    def _elements(
        self, node: PlanNode, expected: list[JsonValue], actual: list[JsonValue]
    ) -> Iterator[Group]:
        """Yield which elements of two arrays may stand against each other."""
        element = node.children[ELEMENT]
        if node.align == "unordered":
            keys = Canon(nulls_absent=self._plan.nulls_absent).keys(element, expected, actual)
            _, rows, columns = twins(*keys)
            yield element, [expected[at] for at in rows], [actual[at] for at in columns]
            return
        key = key_of(node, expected, actual)
        pairs = enumerate(range(min(len(expected), len(actual))))
        for at, to in pairs if key is None else pair_by_key(element, key, expected, actual):
            yield element, [expected[at]], [actual[to]]
