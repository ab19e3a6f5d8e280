"""`resolve_schema_references`: a schema of type, properties and items that says the same."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

from pytest_jsonmatch import ConfigurationError
from pytest_jsonmatch.schema import resolve_schema_references, resolving

STRING = {"type": "string"}


@pytest.mark.parametrize(
    ("schema", "resolved"),
    [
        ({}, {}),
        (True, {}),
        (
            {"properties": {"a": {"$ref": "#/$defs/s"}, "b": {"$ref": "#/$defs/s"}}, "$defs": {"s": STRING}},
            {"type": "object", "properties": {"a": STRING, "b": STRING}},
        ),
        (
            {"allOf": [{"properties": {"a": STRING}, "required": ["a"]}, {"properties": {"b": STRING}}]},
            {"type": "object", "properties": {"a": STRING, "b": STRING}, "required": ["a"]},
        ),
        ({"anyOf": [STRING, {"type": "null"}]}, {"type": ["string", "null"]}),
        ({"anyOf": [{"enum": ["a"]}, {"type": "null"}]}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"allOf": [{"enum": [1, 2, 3]}, {"enum": [3, 2.0]}]}, {"type": "integer", "enum": [2, 3]}),
        ({"const": "x"}, {"type": "string", "enum": ["x"]}),
        (
            {"$ref": "#/$defs/s", "description": "here", "$defs": {"s": {**STRING, "description": "there"}}},
            {"type": "string", "description": "here"},
        ),
        (
            {"type": "string", "pattern": "a+", "not": {"const": "aa"}, "x-eval-weight": 2, "x-own": [1]},
            {"type": "string", "pattern": "a+", "x-eval-weight": 2.0, "x-own": [1]},
        ),
        (
            {"x-override-evaluator": {"evaluation_type": "threshold", "evaluation_params": {"threshold": 1}}},
            {"x-eval-compare": {"threshold": {"threshold": 1}}},
        ),
        (
            {"type": "array", "x-eval-transform": "strip", "prefixItems": [STRING, {"type": "null"}]},
            {"type": "array", "x-eval-transform": ["strip"], "items": {"type": ["string", "null"]}},
        ),
        (
            {"additionalProperties": {"$ref": "#/$defs/s"}, "$defs": {"s": STRING}},
            {"type": "object", "additionalProperties": STRING},
        ),
        (
            {"patternProperties": {"^a": STRING}, "additionalProperties": False},
            {"type": "object", "additionalProperties": STRING},
        ),
        (
            {"properties": {}, "additionalProperties": False},
            {"type": "object", "properties": {}, "additionalProperties": False},
        ),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#", **STRING},
            {"$schema": "http://json-schema.org/draft-07/schema#", **STRING},
        ),
        (
            {"anyOf": [{"properties": {"a": STRING}}, {"properties": {"b": STRING}}], "title": "T"},
            {
                "title": "T",
                "anyOf": [
                    {"type": "object", "title": "T", "properties": {"a": STRING}},
                    {"type": "object", "title": "T", "properties": {"b": STRING}},
                ],
            },
        ),
    ],
)
def test_resolved(schema: Any, resolved: dict[str, Any]) -> None:
    assert resolve_schema_references(schema) == resolved
    assert resolve_schema_references(resolved) == resolved


@pytest.mark.parametrize(
    ("schema", "resolved"),
    [
        (
            {"properties": {"child": {"$ref": "#"}}},
            {"type": "object", "properties": {"child": {"$ref": "#"}}},
        ),
        (
            {
                "$ref": "#/$defs/tree",
                "$defs": {"tree": {"properties": {"kids": {"items": {"$ref": "#/$defs/tree"}}}}},
            },
            {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#"}}}},
        ),
        (
            {
                "properties": {"x": {"$ref": "#/$defs/a/b"}, "y": {"$ref": "#/$defs/a~1b"}},
                "$defs": {"a/b": {"properties": {"next": {"$ref": "#/$defs/a~1b"}}}, "a": {"b": STRING}},
            },
            {
                "type": "object",
                "properties": {"x": STRING, "y": {"$ref": "#/$defs/node1"}},
                "$defs": {"node1": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node1"}}}},
            },
        ),
        (
            {
                "properties": {"x": {"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]}},
                "$defs": {
                    "n": {"properties": {"next": {"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]}}}
                },
            },
            {
                "type": "object",
                "properties": {
                    "x": {"type": ["object", "null"], "properties": {"next": {"$ref": "#/$defs/node1"}}}
                },
                "$defs": {
                    "node1": {"type": ["object", "null"], "properties": {"next": {"$ref": "#/$defs/node1"}}}
                },
            },
        ),
        (
            {"properties": {"a": {"$ref": "#"}, "b": {"anyOf": [{"type": "null"}, {"$ref": "#"}]}}},
            {
                "type": "object",
                "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#/$defs/node1"}},
                "$defs": {
                    "node1": {
                        "type": ["object", "null"],
                        "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#/$defs/node1"}},
                    }
                },
            },
        ),
    ],
)
def test_a_recursive_schema_keeps_its_references(schema: dict[str, Any], resolved: dict[str, Any]) -> None:
    assert resolve_schema_references(schema) == resolved
    assert resolve_schema_references(resolved) == resolved


def test_the_result_shares_nothing_with_the_schema() -> None:
    schema = {
        "properties": {"a": {"$ref": "#/$defs/e"}, "b": {"$ref": "#/$defs/e"}},
        "$defs": {"e": {"enum": [["x"]]}},
    }
    before = deepcopy(schema)
    resolved = resolve_schema_references(schema)
    resolved["properties"]["a"]["enum"][0].append("y")
    assert schema == before
    assert resolved["properties"]["b"]["enum"] == [["x"]]


def test_what_cannot_be_written_out_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    assert resolving._MAX_SUBSCHEMAS == 200_000
    monkeypatch.setattr(resolving, "_MAX_SUBSCHEMAS", 2_000)
    definitions: dict[str, Any] = {"d0": STRING}
    for level in range(1, 20):
        below = {"$ref": f"#/$defs/d{level - 1}"}
        definitions[f"d{level}"] = {"properties": {"l": below, "r": below}}
    with pytest.raises(ConfigurationError, match="more than 2,000 subschemas when it is written out"):
        resolve_schema_references({"$ref": "#/$defs/d19", "$defs": definitions})


def test_errors_name_the_path() -> None:
    with pytest.raises(ConfigurationError, match=r"^a\[\]: \$ref '#/\$defs/b' does not resolve"):
        resolve_schema_references({"properties": {"a": {"items": {"$ref": "#/$defs/b"}}}})


def test_it_is_json() -> None:
    schema = {"properties": {"a": {"x-eval-transform": ["strip", {"round_digits": {"digits": 1}}]}}}
    assert json.loads(json.dumps(resolve_schema_references(schema))) == {"type": "object", **schema}
