"""Parse JSON text inside JSON values, for the transform `parse_json`, before documents are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.errors import JsonParseError
from pytest_jsonmatch.engine.value.paths import ELEMENT
from pytest_jsonmatch.reading.strict import parse_json

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.value.convert import JsonValue


def with_texts_read(plan: Plan, value: JsonValue) -> JsonValue:
    """Return a document in which the texts that a plan reads as JSON are replaced by their values.

    A text that is not strict JSON is kept. The document itself is never changed.

    >>> from pytest_jsonmatch.engine.plan.compile import plan_for
    >>> plan = plan_for("leaf_f1", {"fields": {"calls[].arguments": {"transform": "parse_json"}}})
    >>> with_texts_read(plan, {"calls": [{"name": "1", "arguments": '{"city": "Rome"}'}]})
    {'calls': [{'name': '1', 'arguments': {'city': 'Rome'}}]}
    """
    if not plan.reads_texts:
        return value
    root = [value]
    waiting: list[tuple[Any, Any, Any]] = [(root, 0, plan.root)]
    while waiting:
        holder, at, node = waiting.pop()
        item = holder[at]
        node = node.chosen(item, MISSING)
        if node.reads_text and type(item) is str:
            try:
                holder[at] = item = parse_json(item)
            except JsonParseError:
                continue
            node = node.chosen(item, MISSING)
        if type(item) is dict:
            holder[at] = item = item.copy()
            waiting.extend((item, key, node.children[key]) for key in item)
        elif type(item) is list:
            holder[at] = item = item.copy()
            waiting.extend((item, index, node.children[ELEMENT]) for index in range(len(item)))
    return root[0]
