"""Show strings, before they are compared, to comparators that want to see many at once (embeddings).

Shown are strings that differ from their counterparts: under the same key of two objects, in partners of
ordered and keyed arrays, in all elements of unordered arrays that have no equal one. Equal strings score 1,
and strings without a counterpart 0, without being seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, final

from pytest_jsonmatch.engine.align.keys import Canon, key_of, pair_by_key, twins
from pytest_jsonmatch.engine.score.documents import member_of
from pytest_jsonmatch.engine.value.convert import CONTAINERS, MISSING
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

    Show: TypeAlias = Callable[[Sequence[str]], object]
    Texts: TypeAlias = dict[str, None]
    """Distinct strings, in the order in which they were met."""


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
            expected, actual = member_of(expected, segment), member_of(actual, segment)
        waiting = [(node, expected, actual)]
        while waiting:
            node, one, other = waiting.pop()
            if one is MISSING or other is MISSING:
                continue
            node = node.chosen(one, other)
            if node.skip:
                continue
            kind = type(one)
            if kind not in CONTAINERS or kind is not type(other) or node.explicit is not None:
                self._meet(node, [one], [other])
            elif kind is dict:
                waiting.extend((node.children[key], one[key], other[key]) for key in one if key in other)
            elif node.align == "unordered":
                self._unordered(node.children[ELEMENT], one, other)
            else:
                element = node.children[ELEMENT]
                waiting.extend((element, one[at], other[to]) for at, to in _partners(node, one, other))

    def _meet(self, node: PlanNode, expected: list[JsonValue], actual: list[JsonValue]) -> None:
        """Take note of the strings among values that may stand against each other, if any of them differ."""
        show = _shown_to(node)
        if show is not None:
            one, other = (
                {text: None for value in values if type(text := node.prepare(value)) is str}
                for values in (expected, actual)
            )
            if one and other and len(one | other) > 1:
                self.texts.setdefault(show, {}).update(one | other)

    def _unordered(self, element: PlanNode, expected: list[JsonValue], actual: list[JsonValue]) -> None:
        """Take note of what stands in two arrays whose elements are still to find each other."""
        if not expected or not actual or element.skip:
            return
        _, rows, columns = twins(*Canon(nulls_absent=self._plan.nulls_absent).keys(element, expected, actual))
        wanted: dict[PlanNode, list[JsonValue]] = {}
        for node, value in _below(element, [expected[at] for at in rows], chosen=True):
            if _shown_to(node) is not None:
                wanted.setdefault(node, []).append(value)
        # Where a schema gives alternatives, expected chooses the node: in actual only places are known.
        others: dict[PlanNode, list[JsonValue]] = {}
        for place, value in _below(element.place, [actual[at] for at in columns] if wanted else []):
            others.setdefault(place, []).append(value)
        for node, values in wanted.items():
            self._meet(node, values, others.get(node.place, []))


def _below(
    element: PlanNode, values: Iterable[JsonValue], *, chosen: bool = False
) -> Iterator[tuple[PlanNode, JsonValue]]:
    """Yield elements and all that stands in them, with their nodes.

    If `chosen`, values choose among alternatives, and nothing is yielded that is skipped or in a container
    that a comparator takes whole.
    """
    waiting = [(element, value) for value in values][::-1]
    while waiting:
        node, value = waiting.pop()
        if chosen:
            node = node.chosen(value, MISSING)
            if node.skip:
                continue
        yield node, value
        if chosen and node.explicit is not None:
            continue
        if type(value) is dict:
            waiting.extend((node.children[key], item) for key, item in value.items())
        elif type(value) is list:
            waiting.extend((node.children[ELEMENT], item) for item in value)


def _shown_to(node: PlanNode) -> Show | None:
    """Return what wants to see the strings at a node; None if nothing does."""
    bound = node.explicit or node.types.find("", "")
    return None if bound is None else bound.preload


def _partners(
    node: PlanNode, expected: list[JsonValue], actual: list[JsonValue]
) -> Iterable[tuple[int, int]]:
    """Return which elements of two ordered or keyed arrays stand against each other."""
    key = key_of(node, expected, actual)
    if key is None:
        return ((at, at) for at in range(min(len(expected), len(actual))))
    return pair_by_key(node.children[ELEMENT], key, expected, actual)
