"""`annotate_xeval` and the defaults of the types."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_jsonmatch import ConfigurationError, compare_json
from pytest_jsonmatch.schema import (
    annotate_xeval,
    infer_schema,
    parse_eval_schema,
    reset_type_defaults,
    set_type_default,
)


def test_leaves_get_the_default_of_their_type() -> None:
    schema: dict[str, Any] = infer_schema(
        [{"s": "a", "n": 1.5, "i": 1, "b": True, "list": ["a"], "o": {"x": 1}}]
    )
    same = annotate_xeval(schema)
    assert same is schema
    assert {name: member.get("x-eval-compare") for name, member in schema["properties"].items()} == {
        "s": "exact",
        "n": "numeric",
        "i": "numeric",
        "b": "exact",
        "list": None,
        "o": None,
    }
    assert schema["properties"]["list"]["items"] == {"type": "string", "x-eval-compare": "exact"}
    assert schema["properties"]["o"]["properties"]["x"] == {"type": "integer", "x-eval-compare": "numeric"}


@pytest.mark.parametrize(
    ("leaf", "comparator"),
    [
        ({"type": ["string", "null"]}, "exact"),
        ({"type": ["integer", "number"]}, "numeric"),
        # The type of the value decides.
        ({"type": ["string", "number"]}, None),
        ({"type": ["string", "object"]}, None),
        ({"type": "null"}, "exact"),
        ({}, None),
        # No valid type: left for the reader of the schema to report.
        ({"type": [["string"], "null"]}, None),
        ({"enum": ["a", "b"]}, "binary"),
        ({"const": 1}, "binary"),
    ],
)
def test_a_leaf(leaf: dict[str, Any], comparator: str | None) -> None:
    assert annotate_xeval(leaf).get("x-eval-compare") == comparator


@pytest.mark.parametrize(
    "leaf",
    [
        {"type": "string", "x-eval-compare": "jaccard"},
        {"type": "string", "x-eval-skip": True},
        {"type": "number", "x-eval-tolerance": 0.01},
        {"type": "string", "x-override-evaluator": {"evaluation_type": "binary"}},
        {"type": "object", "x-eval-compare": "exact", "properties": {"a": {"type": "string"}}},
    ],
)
def test_what_is_written_already_stays(leaf: dict[str, Any]) -> None:
    before = repr(leaf)
    assert repr(annotate_xeval(leaf)) == before


def test_definitions_and_branches_are_annotated() -> None:
    schema = annotate_xeval(
        {
            "$ref": "#/$defs/a",
            "$defs": {"a": {"type": "string"}},
            "properties": {"b": {"anyOf": [{"type": "number"}, {"type": "string"}]}},
        }
    )
    assert schema == {
        "$ref": "#/$defs/a",
        "$defs": {"a": {"type": "string", "x-eval-compare": "exact"}},
        "properties": {
            "b": {
                "anyOf": [
                    {"type": "number", "x-eval-compare": "numeric"},
                    {"type": "string", "x-eval-compare": "exact"},
                ]
            }
        },
    }


def test_only_a_dict_can_be_changed_in_place() -> None:
    with pytest.raises(
        ConfigurationError, match=r"^annotate_xeval needs a dict, which it changes in place, got str; "
    ):
        annotate_xeval("schema.json")  # type: ignore[arg-type]


def test_a_changed_default_is_written() -> None:
    set_type_default("number", {"numeric": {"tolerance": {"rel": 0.01}}})
    schema = annotate_xeval({"properties": {"a": {"type": "number"}, "b": {"type": "integer"}}})
    assert schema["properties"] == {
        "a": {"type": "number", "x-eval-compare": {"numeric": {"tolerance": {"rel": 0.01}}}},
        "b": {"type": "integer", "x-eval-compare": "numeric"},
    }


@pytest.mark.parametrize(
    ("types", "defaults"),
    [
        ("string", {"string": "jaccard"}),
        ("number", {"string": "jaccard", "number": "relative", "integer": "relative"}),
        ("integer", {"string": "jaccard"}),
        (None, {"string": "jaccard", "number": "relative", "integer": "relative"}),
    ],
)
def test_nodes_hold_what_was_changed_by_the_type_of_the_value(
    types: str | None, defaults: dict[str, str]
) -> None:
    set_type_default("string", "jaccard")
    set_type_default("number", "relative")
    assert dict(parse_eval_schema({} if types is None else {"type": types}).type_default) == defaults


def test_a_schema_parsed_before_a_change_is_parsed_again() -> None:
    schema = {"type": "string"}
    parse_eval_schema(schema)
    set_type_default("string", "jaccard")
    assert dict(parse_eval_schema(schema).type_default) == {"string": "jaccard"}


@pytest.mark.parametrize("options", [{}, {"extra": "ignore"}, {"schema": {}}])
def test_a_comparison_made_before_a_change_is_made_again(options: dict[str, object]) -> None:
    assert compare_json({"a": "x"}, {"a": "xy"}, **options).score == 0.0
    set_type_default("string", "levenshtein")
    assert compare_json({"a": "x"}, {"a": "xy"}, **options).score == 0.5
    reset_type_defaults()
    assert compare_json({"a": "x"}, {"a": "xy"}, **options).score == 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("strnig", "exact"), "no default comparator for type 'strnig'; did you mean 'string'?"),
        (("string", "exakt"), "default of type 'string': unknown comparator 'exakt'; did you mean 'exact'?"),
        (
            ("number", {"numeric": {"tolerence": 1}}),
            "default of type 'number': comparator 'numeric' has no parameter 'tolerence'; did you mean 'tolerance'?",
        ),
    ],
)
def test_a_wrong_default_is_an_error_before_scoring(arguments: tuple[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        set_type_default(*arguments)
        parse_eval_schema({"type": "string"})
    assert str(caught.value) == message
