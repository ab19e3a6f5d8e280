"""`infer_schema`: the schema that instances have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from pytest_jsonmatch import ConfigurationError, UnsupportedValueError
from pytest_jsonmatch.schema import infer_schema


@pytest.mark.parametrize(
    ("instances", "schema"),
    [
        (["a"], {"type": "string"}),
        ([True], {"type": "boolean"}),
        ([1], {"type": "integer"}),
        ([1.5], {"type": "number"}),
        ([None], {"type": "null"}),
        ([1, 1.5], {"type": "number"}),
        ([1, "a"], {"type": ["integer", "string"]}),
        ([None, "a"], {"type": ["string", "null"]}),
        ([1.5, None, 2, "a"], {"type": ["number", "string", "null"]}),
        ([[]], {"type": "array"}),
        ([[], [1]], {"type": "array", "items": {"type": "integer"}}),
        (
            [[[1], ["a"]]],
            {"type": "array", "items": {"type": "array", "items": {"type": ["integer", "string"]}}},
        ),
        ([{}], {"type": "object"}),
        (
            [{"a": 1}, "x"],
            {"type": ["object", "string"], "properties": {"a": {"type": "integer"}}, "required": ["a"]},
        ),
    ],
)
def test_types(instances: list[object], schema: dict[str, object]) -> None:
    assert infer_schema(instances) == schema


def test_keys_stand_in_the_order_first_seen_and_are_required_if_every_object_has_them() -> None:
    schema = infer_schema(iter([{"z": 1, "a": "x"}, {"m": True, "a": "y"}]))
    assert list(schema["properties"]) == ["z", "a", "m"]
    assert schema["required"] == ["a"]


def test_what_has_a_json_form_is_taken() -> None:
    @dataclass
    class Record:
        name: str
        tags: tuple[str, ...]

    assert infer_schema([Record("x", ("a",))])["properties"] == {
        "name": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
    }


@pytest.mark.parametrize(
    ("instances", "message"),
    [
        ([], "^a schema needs at least one record to infer it from$"),
        ({"a": 1}, r"needs a list of instances, got one dict; write \[instance\]$"),
    ],
)
def test_what_is_no_list_of_instances(instances: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        infer_schema(instances)


def test_what_has_no_json_form_is_an_error() -> None:
    with pytest.raises(UnsupportedValueError, match=r"at a\[0\]"):
        infer_schema([{"a": [object()]}])
