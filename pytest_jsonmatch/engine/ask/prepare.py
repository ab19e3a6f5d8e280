"""Pass strings to comparators that prepare many at once (embeddings), before they are compared."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeAlias

from pytest_jsonmatch.engine.value.convert import CONTAINERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

    Prepare: TypeAlias = Callable[[Sequence[str]], object]
    Strings: TypeAlias = defaultdict[tuple[Prepare, PlanNode], dict[str, None]]
    """The distinct strings of one side, by function that prepares them and schema path."""


def prepare(plan: Plan, records: Iterable[tuple[JsonValue, JsonValue]]) -> None:
    """Pass the strings of records to the comparators that prepare them, in one call each.

    At each schema path of a record, the strings that only one side has are passed if the other side has any.
    Most strings that both sides have are paired with their equals, which score 1 without preparation; others
    are encoded when they are compared.

    Args:
        plan: a compiled metric whose `prepares` is true.
        records: (expected, actual) of each record to score; either may be MISSING.

    Raises:
        ConfigurationError: one of the comparators is not usable.
    """
    differing: defaultdict[Prepare, dict[str, None]] = defaultdict(dict)
    for record in records:
        sides: list[Strings] = [defaultdict(dict), defaultdict(dict)]
        for value, strings in zip(record, sides):
            _collect(plan.root.choose(value), value, strings)
        left, right = sides
        for key in filter(right.__contains__, left):
            one, other = left[key], right[key]
            one_sided = [text for text in (*one, *other) if not (text in one and text in other)]
            differing[key[0]].update(dict.fromkeys(one_sided))
    for prepare_strings, texts in differing.items():
        if texts:
            prepare_strings(list(texts))


def _collect(node: PlanNode, value: JsonValue, strings: Strings) -> None:
    """Add the strings in a value that a comparator prepares, after the transforms of their places."""
    bound = node.rules.explicit_comparator or node.rules.types.bound["string"]
    if node.rules.skip or (type(value) in CONTAINERS and node.rules.explicit_comparator is not None):
        return
    if type(value) in CONTAINERS:
        for _, child, item in node.iter_children(value):
            _collect(child, item, strings)
    elif bound.prepare is not None and type(text := node.rules.try_transform(value)) is str:
        strings[bound.prepare, node.place][text] = None
