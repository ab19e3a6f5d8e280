"""Show strings, before they are compared, to comparators that work on many at once (embeddings)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeAlias

from pytest_jsonmatch.engine.value.convert import CONTAINERS, MISSING
from pytest_jsonmatch.engine.value.paths import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

    Prepare: TypeAlias = Callable[[Sequence[str]], object]
    Strings: TypeAlias = defaultdict[tuple[Prepare, PlanNode], dict[str, None]]
    """Distinct strings of one side, by who wants to see them and schema path."""


def prepare(plan: Plan, records: Iterable[tuple[JsonValue, JsonValue]]) -> None:
    """Show strings of records to the comparators that prepare for them, in one call each.

    At each schema path of a record, strings that only one side has are shown if the other side has any, too.
    Most strings of both sides meet their equals, which score 1; the rest are encoded when they are compared.

    Args:
        plan: a compiled metric whose `prepares` is true.
        records: (expected, actual) of each record to be scored; either may be MISSING.

    Raises:
        ConfigurationError: one of the comparators cannot work at all.
    """
    differing: defaultdict[Prepare, dict[str, None]] = defaultdict(dict)
    for record in records:
        sides: list[Strings] = [defaultdict(dict), defaultdict(dict)]
        for value, strings in zip(record, sides):
            _collect(plan.root, value, strings)
        left, right = sides
        for key in filter(right.__contains__, left):
            one, other = left[key], right[key]
            only = [text for text in (*one, *other) if not (text in one and text in other)]
            differing[key[0]].update(dict.fromkeys(only))
    for show, texts in differing.items():
        if texts:
            show(list(texts))


def _collect(node: PlanNode, value: JsonValue, strings: Strings) -> None:
    """Add the strings in a value that a comparator wants to see, after the transforms of their places."""
    node = node.choose(value, MISSING)
    bound = node.rules.explicit_comparator or node.rules.types.bound["string"]
    if node.rules.skip or (type(value) in CONTAINERS and node.rules.explicit_comparator is not None):
        return
    if type(value) is dict:
        for key, item in value.items():
            _collect(node.children[key], item, strings)
    elif type(value) is list:
        for item in value:
            _collect(node.children[ELEMENT], item, strings)
    elif bound.prepare is not None and type(text := node.rules.try_transform(value)) is str:
        strings[bound.prepare, node.place][text] = None
