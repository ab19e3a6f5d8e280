"""Show strings, before they are compared, to comparators that work on many at once (embeddings)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeAlias

from pytest_jsonmatch.engine.value.convert import CONTAINERS, MISSING, value_at
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

    Show: TypeAlias = Callable[[Sequence[str]], object]
    Met: TypeAlias = defaultdict[tuple[Show, PlanNode], dict[str, None]]
    """Distinct strings of one side, by who wants to see them and schema path."""


def preload(plan: Plan, records: Iterable[tuple[JsonValue, JsonValue]]) -> None:
    """Show strings of records to the comparators that preload them, in one call each.

    At each schema path of a record, strings that only one side has are shown if the other side has any, too.
    Most strings of both sides meet their equals, which score 1; the rest are encoded when they are compared.

    Args:
        plan: a compiled metric whose `preloads` is true.
        records: (expected, actual) of each record to be scored; either may be MISSING.

    Raises:
        ConfigurationError: one of the comparators cannot work at all.
    """
    texts: dict[Show, dict[str, None]] = {}
    for record in records:
        sides: list[Met] = [defaultdict(dict), defaultdict(dict)]
        node, *values = plan.root, *record
        for segment in plan.target:
            node = node.chosen(*values).children[ELEMENT if type(segment) is int else segment]
            values = [value_at(value, (segment,)) for value in values]
        for value, met in zip(values, sides):
            _collect(node, value, met)
        left, right = sides
        for key in filter(right.__contains__, left):
            one, other = left[key], right[key]
            differing = [text for text in (*one, *other) if not (text in one and text in other)]
            texts.setdefault(key[0], {}).update(dict.fromkeys(differing))
    for show, distinct in texts.items():
        if distinct:
            show(list(distinct))


def _collect(node: PlanNode, value: JsonValue, met: Met) -> None:
    """Add the strings in a value that a comparator wants to see, after the transforms of their places."""
    node = node.chosen(value, MISSING)
    if node.skip:
        return
    bound = node.explicit or node.types.find("", "")
    if type(value) not in CONTAINERS:
        text = node.prepare(value)
        if type(text) is str and bound is not None and bound.preload is not None:
            met[bound.preload, node.place][text] = None
    elif node.explicit is not None:
        return
    elif type(value) is dict:
        for key, item in value.items():
            _collect(node.children[key], item, met)
    else:
        for item in value:
            _collect(node.children[ELEMENT], item, met)
