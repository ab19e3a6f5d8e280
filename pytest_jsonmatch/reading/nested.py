"""Parse JSON text inside JSON values, for the transform `parse_json`, before documents are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_jsonmatch.engine.value.convert import MAX_DEPTH
from pytest_jsonmatch.engine.value.errors import JsonParseError
from pytest_jsonmatch.engine.value.paths import ELEMENT
from pytest_jsonmatch.reading.strict import count_levels, parse_json

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue


def parse_nested_texts(plan: Plan, value: JsonValue) -> JsonValue:
    """Return a document with the texts that a plan reads as JSON replaced by their values.

    A text that is not strict JSON, or that would make the document too deep, is kept. The document itself
    is not changed.

    >>> from pytest_jsonmatch.engine.plan.compile import compile_plan
    >>> plan = compile_plan("leaf_f1", {"fields": {"calls[].arguments": {"transform": "parse_json"}}})
    >>> parse_nested_texts(plan, {"calls": [{"name": "1", "arguments": '{"city": "Rome"}'}]})
    {'calls': [{'name': '1', 'arguments': {'city': 'Rome'}}]}
    """
    return _parse_texts(plan.root, value, 0) if plan.reads_texts else value


def _parse_texts(undecided: PlanNode, value: JsonValue, depth: int) -> JsonValue:
    """Return a value with its texts replaced; `depth` is the number of containers around it."""
    node = undecided.choose(value)
    if node.rules.reads_text and type(value) is str:
        try:
            inner = parse_json(value)
        except JsonParseError:
            return value
        if depth + count_levels(inner) > MAX_DEPTH:
            return value
        # The walk sees only the value inside, which may choose another alternative than the text.
        value, node = inner, undecided.choose(inner)
    if type(value) is dict:
        return {key: _parse_texts(node.undecided[key], item, depth + 1) for key, item in value.items()}
    if type(value) is list:
        return [_parse_texts(node.undecided[ELEMENT], item, depth + 1) for item in value]
    return value
