"""`validate_gold`: extra fields are errors, other types and missing fields are warnings."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import pytest

from pytest_jsonmatch.schema import GoldValidationError, GoldWarning, parse_eval_schema, validate_gold

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer"},
        "pets": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
    },
}


def reported(gold: list[Any], schema: dict[str, Any], **options: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        validate_gold(gold, schema, **options)
    assert all(warning.category is GoldWarning for warning in caught)
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize(
    ("record", "schema"),
    [
        ({"name": "Ada", "age": 36, "pets": [{"name": "Rex"}]}, PERSON),
        ({"name": None, "age": None, "pets": None}, PERSON),
        ({"name": "Ada", "age": 1, "pets": []}, parse_eval_schema(PERSON)),
        ({"a": {"x": 1}}, {"properties": {"a": {"properties": {"b": {}}, "x-eval-skip": True}}}),
        ({"a": {"x": 1}}, {"properties": {"a": {"properties": {"b": {}}, "x-eval-compare": "exact"}}}),
        ({"a": {"x": 1}}, {"properties": {"a": {"type": "object"}}}),
        ({"a": {"x": 1}}, {"properties": {"a": {}}}),
        ({"a": {"x": 1}}, {"type": "object"}),
        ({}, {"properties": {"a": {"x-eval-skip": True}}}),
        (2.0, {"type": "integer"}),
        (2, {"type": "number"}),
        (10**400, {"type": "number"}),
    ],
)
def test_gold_that_fits(record: Any, schema: Any) -> None:
    assert reported([record], schema) == []


@pytest.mark.parametrize(
    ("record", "path", "message"),
    [
        (
            {"name": "Ada", "nmae": "x"},
            "nmae",
            "record 2: 'nmae' is not in the schema; did you mean 'name'?; list it, or add it with \"x-eval-skip\": true",
        ),
        (
            {"pets": [{"name": "a"}, {"legs": 4}]},
            "pets[1].legs",
            "record 2: 'pets[1].legs' is not in the schema; known: name; list it, or add it with \"x-eval-skip\": true",
        ),
    ],
)
def test_an_extra_field_is_an_error(record: object, path: str, message: str) -> None:
    with pytest.raises(GoldValidationError) as caught:
        validate_gold([{"name": "ok", "age": 1, "pets": []}, record], PERSON, warn_missing=False)
    assert (str(caught.value), caught.value.record_id, caught.value.path) == (message, 2, path)


def test_the_error_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(GoldValidationError("told", "r1", "a.b")))
    assert (str(error), error.record_id, error.path) == ("told", "r1", "a.b")


def test_missing_fields_are_reported_once_for_each_field() -> None:
    gold = [
        {"age": 1, "pets": []},
        {"name": "Bo", "age": 2, "pets": [{}, {"name": "x"}, {}]},
        {"age": 3, "pets": []},
    ]
    assert reported(gold, PERSON) == [
        "name: is missing and is not scored there (2 times, first in record 1 at 'name')",
        "pets[].name: is missing and is not scored there (2 times, first in record 2 at 'pets[0].name')",
    ]
    assert reported(gold, PERSON, warn_missing=False) == []


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        ({"type": "object", "properties": {}}, [], "a: is not of type object (once in record 1 at 'a')"),
        ({"type": "string"}, 5, "a: is not of type string (once in record 1 at 'a')"),
        ({"type": "integer"}, 2.5, "a: is not of type integer (once in record 1 at 'a')"),
        ({"type": "integer"}, True, "a: is not of type integer (once in record 1 at 'a')"),
        ({"type": ["string", "null"]}, {}, "a: is not of type null or string (once in record 1 at 'a')"),
        (
            {"anyOf": [{"type": "string", "x-eval-compare": "jaccard"}, {"type": "number"}]},
            [],
            "a: matches none of the alternatives in the schema (once in record 1 at 'a')",
        ),
    ],
)
def test_another_type_is_a_warning(schema: dict[str, Any], value: object, message: str) -> None:
    assert reported([{"a": value}], {"properties": {"a": schema}}) == [message]


def test_ids_name_the_record_and_need_not_be_listed() -> None:
    with pytest.raises(
        GoldValidationError, match=r"^record '10\.1\/x': 'what' is not in the schema"
    ) as caught:
        validate_gold([{"doi": "10.1/x", "name": "a", "what": 1}], PERSON, id="doi", warn_missing=False)
    assert caught.value.record_id == "10.1/x"
    with pytest.raises(GoldValidationError, match=r"'pets\[0\]\.doi' is not in the schema"):
        validate_gold([{"doi": 1, "pets": [{"doi": 1}]}], PERSON, id="doi", warn_missing=False)
    with pytest.raises(GoldValidationError, match="'a' is not in the schema; list it"):
        validate_gold([{"a": 1}], {"type": "object", "properties": {}, "additionalProperties": False})


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"name": "a"}, "record 1: the id field 'doi' is missing"),
        ("text", "record 1: the id field 'doi' is missing"),
        ({"doi": True}, "record 1: the id field 'doi' must be a string or integer, got True"),
        ({"doi": ["x"]}, "record 1: the id field 'doi' must be a string or integer, got ['x']"),
    ],
)
def test_a_record_without_its_id(record: object, message: str) -> None:
    with pytest.raises(GoldValidationError) as caught:
        validate_gold([record], PERSON, id="doi")
    assert str(caught.value) == message


def test_the_first_alternative_that_accepts_the_value_is_the_one_that_counts() -> None:
    schema = {
        "anyOf": [
            {"properties": {"kind": {"const": "dog"}, "legs": {"type": "integer"}}, "required": ["kind"]},
            {"properties": {"kind": {"const": "fish"}, "fins": {"type": "integer"}}, "required": ["kind"]},
        ]
    }
    assert reported([{"kind": "fish", "fins": 2}, {"kind": "dog", "legs": 4}], schema) == []
    with pytest.raises(GoldValidationError, match="record 1: 'legs' is not in the schema"):
        validate_gold([{"kind": "fish", "legs": 2}], schema, warn_missing=False)


def test_a_recursive_schema_and_deep_gold() -> None:
    schema = {"properties": {"child": {"$ref": "#"}, "n": {"type": "integer"}}}
    deep: dict[str, Any] = {"n": "one"}
    for _ in range(127):
        deep = {"child": deep}
    (message,) = reported([deep], schema, warn_missing=False)
    assert message.startswith("child.child.")
    assert ": is not of type integer (once in record 1 at 'child.child." in message
