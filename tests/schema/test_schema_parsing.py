"""`parse_eval_schema`: what the tree says, and what is an error before anything is scored."""

from __future__ import annotations

import json
import sys
import warnings
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from pytest_jsonmatch import (
    ConfigurationError,
    JsonMatchWarning,
    compare_corpus,
    compare_json,
    register_comparator,
)
from pytest_jsonmatch.schema import (
    SchemaNode,
    annotate_xeval,
    parse_eval_schema,
    resolve_schema_references,
    validate_gold,
)


def test_the_tree_follows_properties_and_items() -> None:
    root = parse_eval_schema(
        {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "total": {"type": "number", "description": "With tax."},
                "lines": {"type": "array", "items": {"type": ["string", "null"]}},
                "anything": {},
                "map": {"type": "object"},
            },
        }
    )
    members = root.properties or {}
    assert (root.types, root.additional, list(members)) == (
        {"object"},
        False,
        ["total", "lines", "anything", "map"],
    )
    assert (members["total"].types, members["total"].description) == ({"number"}, "With tax.")
    lines = members["lines"].items
    assert lines is not None
    assert lines.types == {"string", "null"}
    assert members["anything"].types == frozenset()
    # Without properties an object is walked by its leaves.
    assert (members["map"].types, members["map"].properties) == ({"object"}, None)


@pytest.mark.parametrize(
    ("written", "compare"),
    [
        ({"x-override-evaluator": {"evaluation_type": "binary", "evaluation_params": None}}, "binary"),
        (
            {"x-override-evaluator": {"evaluation_type": "oneof", "evaluation_params": {"values": ["a"]}}},
            {"oneof": {"values": ["a"]}},
        ),
        ({"x-eval-tolerance": 2}, {"numeric": {"tolerance": {"abs": 2.0}}}),
        ({"x-eval-compare": None}, None),
    ],
)
def test_ways_to_write_a_comparator(written: dict[str, Any], compare: object) -> None:
    assert parse_eval_schema({"x-eval-transform": None, **written}).rules == (
        {} if compare is None else {"compare": compare}
    )


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({"enum": ["a", 1, None]}, {"string", "integer", "null"}),
        ({"const": 1.5}, {"number"}),
        ({"properties": {"a": {}}}, {"object"}),
        ({"items": {}}, {"array"}),
        ({"type": "string", "minLength": 1}, {"string"}),
        ({"allOf": [{"type": "number"}, {"type": "integer"}]}, {"integer"}),
        ({"allOf": [{"type": ["string", "null"]}, {"type": ["null", "number"]}]}, {"null"}),
        ({"allOf": [{"type": "number"}, {"minimum": 1}]}, {"number"}),
        ({"allOf": [{"type": ["integer", "string"]}, {"type": "number"}]}, {"integer"}),
    ],
)
def test_types(schema: dict[str, Any], types: set[str]) -> None:
    assert parse_eval_schema(schema).types == types


def test_enum_and_elements_that_say_nothing() -> None:
    assert parse_eval_schema({"enum": ["a", 1]}).enum == ("a", 1)
    assert parse_eval_schema({"const": "a"}).enum == ("a",)
    for schema in ({}, True, {"items": True}, {"items": False}):
        assert parse_eval_schema(schema).items is None


def test_references() -> None:
    node = parse_eval_schema(
        {
            "properties": {
                "a": {"$ref": "#/$defs/money"},
                "b": {"$ref": "#/definitions/a~1b%20c"},
                "c": {"$ref": "#/$defs/money", "description": "here", "x-eval-compare": "exact"},
                "d": {"$ref": "#/properties/e/anyOf/1"},
                "e": {"anyOf": [{"type": "null"}, {"type": "boolean"}]},
            },
            "$defs": {"money": {"type": "number", "description": "there", "x-eval-compare": "numeric"}},
            "definitions": {"a/b c": {"type": "string"}},
        }
    )
    members = node.properties or {}
    assert (members["a"].types, members["a"].rules.get("compare")) == ({"number"}, "numeric")
    assert members["b"].types == {"string"}
    # What is written at the place outweighs what it refers to.
    assert (members["c"].types, members["c"].rules.get("compare"), members["c"].description) == (
        {"number"},
        "exact",
        "here",
    )
    assert members["d"].types == {"boolean"}


def test_a_recursive_schema_is_a_tree_that_holds_itself() -> None:
    node = parse_eval_schema(
        {
            "$ref": "#/$defs/part",
            "$defs": {
                "part": {
                    "properties": {
                        "name": {"type": "string"},
                        "parts": {"type": "array", "items": {"$ref": "#/$defs/part"}},
                        "inside": {"anyOf": [{"$ref": "#/$defs/part"}, {"type": "null"}]},
                    }
                }
            },
        }
    )
    members = node.properties or {}
    assert members["parts"].items is node
    inside = members["inside"]
    assert inside.types == {"object", "null"}
    assert (inside.properties or {})["inside"] is inside


def test_parts_of_all_of_are_merged() -> None:
    node = parse_eval_schema(
        {
            "allOf": [
                {"$ref": "#/$defs/base"},
                {"properties": {"id": {"x-eval-compare": "exact"}, "more": {"type": "boolean"}}},
                {"required": ["id"], "additionalProperties": False},
            ],
            "x-eval-weight": 3,
            "$defs": {
                "base": {"type": "object", "properties": {"id": {"type": "string"}, "n": {"type": "number"}}}
            },
        }
    )
    members = node.properties or {}
    assert (list(members), node.rules.get("weight", 1.0), node.additional) == (
        ["id", "n", "more"],
        3.0,
        False,
    )
    assert (members["id"].types, members["id"].rules.get("compare")) == ({"string"}, "exact")


@pytest.mark.parametrize("union", ["anyOf", "oneOf"])
@pytest.mark.parametrize(
    ("branches", "types"),
    [
        ([{"type": "string"}, {"type": "null"}], {"string", "null"}),
        ([{"type": "string", "format": "date"}, {"type": "string"}], {"string"}),
        ([{"type": "integer"}, {"type": "number"}], {"integer", "number"}),
        ([{"enum": ["a"]}, {"enum": [1]}], {"string", "integer"}),
        (
            [{"type": "object", "properties": {"a": {}}}, {"type": "array", "items": {}}, {"type": "null"}],
            {"object", "array", "null"},
        ),
        ([{"required": ["a"]}, {"required": ["b"]}], set()),
        ([{"type": "string"}, False], {"string"}),
        ([{"type": "string"}], {"string"}),
    ],
)
def test_branches_that_differ_in_type_or_in_nothing_are_one_place(
    union: str, branches: list[Any], types: set[str]
) -> None:
    node = parse_eval_schema({union: branches})
    assert (node.types, node.branches) == (types, ())


def test_branches_with_rules_of_their_own_are_distinguished_by_type() -> None:
    node = parse_eval_schema(
        {
            "x-eval-weight": 2,
            "anyOf": [
                {"type": "string", "x-eval-compare": "jaccard"},
                {"type": "number", "x-eval-compare": "relative"},
                {"type": "null"},
            ],
        }
    )
    compares = ["jaccard", "relative", None]
    assert [
        (branch.rules.get("compare"), branch.rules.get("weight", 1.0)) for _, branch in node.branches
    ] == [(name, 2.0) for name in compares]
    assert [[test(value) for test, _ in node.branches] for value in ("a", 1, None, True)] == [
        [True, False, False],
        [False, True, False],
        [False, False, True],
        [False, False, False],
    ]


def test_alternatives_of_one_type_are_tried_in_order() -> None:
    node = parse_eval_schema(
        {
            "properties": {"at": {"$ref": "#/$defs/place"}},
            "$defs": {
                "place": {
                    "oneOf": [
                        {"type": "object", "required": ["x"], "properties": {"x": {"$ref": "#/$defs/n"}}},
                        {"type": "object", "properties": {"city": {"type": "string"}}},
                        {"type": "string"},
                    ]
                },
                "n": {"type": "number", "maximum": 90},
            },
        }
    )
    branches = (node.properties or {})["at"].branches
    values: list[Any] = [{"x": 1}, {"x": 100}, {"city": "Rome"}, "Rome", {"city": 5}, 5]
    chosen = [next((i for i, (test, _) in enumerate(branches) if test(value)), None) for value in values]
    assert chosen == [0, 1, 1, 2, None, None]
    assert [list(branch.properties or {}) for _, branch in branches] == [["x"], ["city"], []]


def test_a_union_holds_with_all_that_stands_next_to_it_and_a_second_one_is_an_error() -> None:
    schema: dict[str, Any] = {
        "properties": {"a": {}},
        "anyOf": [
            {"properties": {"c": {}}, "required": ["c"]},
            {"properties": {"d": {}}, "type": "object"},
            {"type": "string"},
        ],
        "allOf": [{"type": "object", "properties": {"b": {}}}],
    }
    branches = parse_eval_schema(schema).branches
    assert [sorted(branch.properties or {}) for _, branch in branches] == [["a", "b", "c"], ["a", "b", "d"]]
    schema["oneOf"] = schema["anyOf"]
    with pytest.raises(ConfigurationError, match=r"^\$: only one union \(anyOf, oneOf\) is allowed here"):
        parse_eval_schema(schema)


def test_a_union_inside_a_branch_holds_with_what_stands_next_to_it() -> None:
    node = parse_eval_schema(
        {
            "anyOf": [
                {
                    "properties": {"kind": {"const": "dog"}},
                    "required": ["kind"],
                    "anyOf": [
                        {"properties": {"legs": {}}, "required": ["legs"]},
                        {"properties": {"tail": {}}},
                    ],
                },
                {"properties": {"fins": {}}},
            ]
        }
    )
    values: list[Any] = [{"kind": "dog", "legs": 4}, {"kind": "dog"}, {"legs": 4}]
    chosen = [next(i for i, (test, _) in enumerate(node.branches) if test(value)) for value in values]
    assert chosen == [0, 1, 2]
    assert [sorted(branch.properties or {}) for _, branch in node.branches] == [
        ["kind", "legs"],
        ["kind", "tail"],
        ["fins"],
    ]


@pytest.mark.parametrize(
    "align",
    [
        "ordered",
        "unordered",
        {"ordered": True},
        {"ordered": False, "match_by": "hungarian"},
        {"match_by": "ordered"},
        {"match_by": "key_field", "key": "id"},
        {"key": "id"},
    ],
)
@pytest.mark.parametrize("elements", [{}, {"properties": {"name": {}}, "additionalProperties": True}])
def test_every_way_to_write_an_alignment(align: object, elements: dict[str, Any]) -> None:
    schema = {"type": "array", "items": elements, "x-eval-align": align}
    assert parse_eval_schema(schema).rules["align"] == align


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (
            {"items": {"type": "string"}, "x-eval-align": {"match_by": "key_field", "key": "id"}},
            "$: x-eval-align: only objects have a member 'id', and the elements are string",
        ),
        (
            {"x-eval-align": {"ordered": False}},
            (
                "$: x-eval-align does not say how elements are paired; "
                'add "match_by": "hungarian" or "sequence", or "key_field" and a "key"'
            ),
        ),
        (
            {"x-eval-align": {"ordered": True, "match_by": "hungarian"}},
            (
                "$: x-eval-align must be 'ordered', 'unordered', 'sequence', {'key': NAME} or {'by': [NAME, ...], 'threshold': NUMBER}, "
                "got {'ordered': True, 'match_by': 'hungarian'}"
            ),
        ),
    ],
)
def test_an_alignment_that_pairs_nothing(schema: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_eval_schema({"type": "array", **schema})
    assert str(caught.value) == message


def test_a_list_of_synonyms_that_takes_the_whole_enum_is_odd() -> None:
    currency = {"enum": ["EUR", "USD"], "x-eval-compare": {"oneof": {"values": ["EUR", "USD", "GBP"]}}}
    with pytest.warns(JsonMatchWarning) as caught:
        parse_eval_schema({"properties": {"currency": currency}})
    (reported,) = caught
    assert str(reported.message) == "currency: oneof accepts every value of the enum; did you mean exact?"


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({"prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False}, {"integer", "string"}),
        ({"prefixItems": [{"type": "integer"}], "items": {"type": "null"}}, {"integer", "null"}),
        ({"items": [{"type": "integer"}], "additionalItems": {"type": "null"}}, {"integer", "null"}),
        ({"items": {"type": "integer"}}, {"integer"}),
    ],
)
def test_the_elements_of_a_tuple_share_one_place(schema: dict[str, Any], types: set[str]) -> None:
    items = parse_eval_schema(schema).items
    assert items is not None
    assert items.types == types


def test_members_that_are_not_listed() -> None:
    node = parse_eval_schema({"additionalProperties": {"type": "string", "x-eval-compare": "jaccard"}})
    assert node.rest is not None
    assert (node.properties, node.rest.rules.get("compare")) == (None, "jaccard")
    node = parse_eval_schema({"properties": {"a": {}, "never": False, "c": True}})
    assert list(node.properties or {}) == ["a", "c"]


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        *[
            ({"properties": {"a": member}}, f"a: {message}")
            for member, message in (
                ({"x-eval-comapre": "exact"}, "unknown key 'x-eval-comapre'; did you mean 'x-eval-compare'?"),
                (
                    {"x-override-evaluator": {"evaluation_typ": "binary"}},
                    "x-override-evaluator: unknown key 'evaluation_typ'; did you mean 'evaluation_type'?",
                ),
                (
                    {"x-override-evaluator": "binary"},
                    'x-override-evaluator must be {"evaluation_type": NAME, "evaluation_params": {parameters}}, got \'binary\'',
                ),
                ({"x-eval-skip": "yes"}, "x-eval-skip must be true or false, got 'yes'"),
                ({"x-eval-weight": -1}, "x-eval-weight must be a number from 0 to 1,000,000, got -1"),
                (
                    {"x-eval-align": {"match_by": "hungarain"}},
                    "x-eval-align: match_by is 'hungarain'; did you mean 'hungarian'?",
                ),
                (
                    {"type": "string", "x-eval-align": {"match_by": "hungarian"}},
                    "x-eval-align needs an array, got string",
                ),
                ({"type": "strng"}, "unknown type 'strng'; did you mean 'string'?"),
                ({"enum": "x"}, "enum must be a list of values, got 'x'"),
                ({"$ref": 5}, "$ref must be text such as '#/$defs/item', got 5"),
                (
                    {"allOf": [{"type": "string"}, {"type": ["array", "object"]}]},
                    "no value fits all parts: one allows only string, another only array or object",
                ),
                ({"$dynamicRef": "#x"}, "$dynamicRef is not supported; write $ref"),
                (
                    {"anyOf": [{"properties": {"b": {}}, "required": 5}, {"properties": {"c": {}}}]},
                    'not a valid JSON Schema: 5 is not of type "array" (at /properties/a/anyOf/0/required)',
                ),
            )
        ],
        (
            {"properties": {"items": {"items": {"properties": {"price": {"x-eval-compare": "exakt"}}}}}},
            "items[].price: unknown comparator 'exakt'; did you mean 'exact'?",
        ),
        (
            {"properties": {"unit price": {"x-eval-compare": {"numeric": {"tolerence": {"rel": 1}}}}}},
            "[\"unit price\"]: comparator 'numeric' has no parameter 'tolerence'; did you mean 'tolerance'?",
        ),
        ({"x-eval-transform": ["lowecase"]}, "$: unknown transform 'lowecase'; did you mean 'lowercase'?"),
        (
            {"x-eval-compare": "exact", "x-override-evaluator": {"evaluation_type": "exact"}},
            "$: has both x-eval-compare and x-override-evaluator; give one",
        ),
        ({"properties": {"a": 5}}, "$: properties['a'] must be a schema (an object, true or false), got 5"),
        ({"allOf": []}, "$: allOf must be a list of schemas, got []"),
        (
            {"properties": {"a": {"$ref": "#/$defs/itm"}}, "$defs": {"item": {}}},
            "a: $ref '#/$defs/itm' does not resolve: there is no 'itm'; did you mean 'item'?",
        ),
        (
            {
                "properties": {"a": {"$ref": "#/properties/c"}, "b": {"$ref": "#/title"}, "c": {}},
                "title": "T",
            },
            "b: $ref '#/title' leads to \"T\", which is not a schema",
        ),
        ({"$ref": "#"}, "$: the schema refers to itself with nothing in between"),
        ({"anyOf": [{"$ref": "#"}, {}]}, "$: the schema refers to itself with nothing in between"),
    ],
)
def test_what_is_wrong_is_an_error_that_names_the_path(schema: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_eval_schema(schema)
    assert str(caught.value) == message


def test_definitions_that_use_each_other_again_and_again_are_shared() -> None:
    definitions: dict[str, Any] = {"d0": {"type": "string"}}
    for level in range(1, 60):
        below = {"$ref": f"#/$defs/d{level - 1}"}
        definitions[f"d{level}"] = {"properties": {"l": below, "r": below}}
    node: SchemaNode = parse_eval_schema({"$ref": "#/$defs/d59", "$defs": definitions})
    for _ in range(59):
        node = (node.properties or {})["r"]
    assert node.types == {"string"}


def test_the_same_content_is_parsed_once() -> None:
    schema: dict[str, Any] = {"properties": {"a": {"type": "string"}}}
    node = parse_eval_schema(schema)
    assert parse_eval_schema(deepcopy(schema)) is node
    assert parse_eval_schema(node) is node
    schema["properties"]["a"]["x-eval-skip"] = True
    changed = parse_eval_schema(schema)
    assert (changed.properties or {})["a"].rules.get("skip", False) is True


def test_a_new_comparator_makes_a_schema_valid() -> None:
    schema = {"x-eval-compare": "schema_parsing_same_size"}
    with pytest.raises(ConfigurationError):
        parse_eval_schema(schema)
    register_comparator("schema_parsing_same_size", lambda expected, actual, _: len(expected) == len(actual))
    assert parse_eval_schema(schema).rules.get("compare") == "schema_parsing_same_size"


# Limits.


def around(schema: dict[str, Any], levels: int, key: str) -> dict[str, Any]:
    """Return a schema of so many levels."""
    for _ in range(levels - 1):
        schema = {key: schema}
    return schema


ITSELF: dict[str, Any] = {"properties": {}}
ITSELF["properties"]["child"] = ITSELF


@pytest.mark.parametrize("read", [parse_eval_schema, resolve_schema_references, annotate_xeval])
@pytest.mark.parametrize(
    ("schema", "place"),
    [
        (around({}, 129, "items"), "items." * 127 + "items"),
        (around({}, 5_000, "not"), "not." * 127 + "not"),
        (ITSELF, "properties.child." * 63 + "properties.child"),
    ],
)
def test_a_schema_of_more_than_128_levels_is_refused_with_its_place(
    read: Any, schema: Any, place: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read(schema)
    shown = place if len(place) <= 200 else f"{place[:150]}"
    assert str(caught.value).startswith(
        f"the schema has more than 128 levels of arrays and objects at {shown}"
    )
    assert "put parts under $defs, and refer to them with $ref" in str(caught.value)


def test_128_levels_are_read_and_a_file_beyond_them_is_an_error_with_line_and_column(tmp_path: Path) -> None:
    schema = around({"type": "string", "x-eval-compare": "exakt"}, 128, "items")
    with pytest.raises(ConfigurationError, match=r"^(\[\]){127}: unknown comparator 'exakt'"):
        parse_eval_schema(schema)
    path = tmp_path / "deep.json"
    path.write_text("\n" + json.dumps(around({}, 129, "items")), encoding="utf-8")
    with pytest.raises(
        ConfigurationError, match=r"deep\.json': .*\(line 2, column 1281\): more than 128 levels"
    ):
        parse_eval_schema(path)


def test_references_go_on_where_levels_end() -> None:
    definitions = {f"d{at}": {"properties": {"a": {"$ref": f"#/$defs/d{at + 1}"}}} for at in range(120)}
    schema = {"$ref": "#/$defs/d0", "$defs": {**definitions, "d120": {"type": "integer"}}}
    value: Any = "x"
    for _ in range(120):
        value = {"a": value}
    assert compare_json(value, value, schema=schema).score == 1.0
    (row,) = compare_json(value, value, schema=schema, validate="report").violations
    assert row.startswith("a.a.a.")
    with pytest.raises(
        ConfigurationError, match="more than 128 levels of arrays and objects when it is written out"
    ):
        resolve_schema_references(
            {
                **schema,
                "$defs": {
                    **definitions,
                    "d120": {"properties": {"a": {"$ref": "#/$defs/e0"}}},
                    **{f"e{at}": {"properties": {"a": {"$ref": f"#/$defs/e{at + 1}"}}} for at in range(120)},
                    "e120": {},
                },
            }
        )


def test_a_lone_surrogate_above_alternatives_is_an_error_that_says_so() -> None:
    union = {"oneOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"a": {"type": "integer"}}}]}
    with pytest.raises(ConfigurationError, match="schemas with lone surrogates"):
        parse_eval_schema({"properties": {"\ud800": union}})


INNER: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
NO_KEYWORD = "$: not a JSON Schema: no keyword of JSON Schema is among its members "
ITS_PLACE = "; the schema in it is at {}: give that"


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (
            {"name": "invoice", "strict": True, "schema": INNER},
            NO_KEYWORD + "'name', 'strict', 'schema'" + ITS_PLACE.format("['schema']"),
        ),
        (
            {"name": "f", "description": "Reads.", "parameters": INNER},
            NO_KEYWORD + "'name', 'description', 'parameters'" + ITS_PLACE.format("['parameters']"),
        ),
        (
            {"name": "f", "description": "Reads.", "input_schema": INNER},
            NO_KEYWORD + "'name', 'description', 'input_schema'" + ITS_PLACE.format("['input_schema']"),
        ),
        (
            {"type": "json_schema", "json_schema": {"name": "invoice", "schema": INNER}},
            "$: not a JSON Schema: its type is 'json_schema'" + ITS_PLACE.format("['json_schema']['schema']"),
        ),
        (
            {"type": "function", "function": {"name": "f", "parameters": INNER}},
            "$: not a JSON Schema: its type is 'function'" + ITS_PLACE.format("['function']['parameters']"),
        ),
        (
            {"number": "A-1", "total": 5},
            NO_KEYWORD + "'number', 'total'; to make a schema from gold data, run 'jsonmatch schema infer'",
        ),
        (
            {str(number): {} for number in range(9)},
            NO_KEYWORD + "'0', '1', '2', '3', '4', '5', 3 more; to make a schema from gold data, "
            "run 'jsonmatch schema infer'",
        ),
        ({"Type": "object"}, NO_KEYWORD + "'Type'; 'Type': did you mean 'type'?"),
    ],
)
def test_what_is_no_schema_is_an_error(schema: dict[str, Any], message: str, tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    file.write_text(json.dumps(schema))
    for source in (schema, file):
        for use in (
            parse_eval_schema,
            resolve_schema_references,
            lambda schema: compare_json({"a": 1}, {"a": 1}, schema=schema, validate="require"),
            lambda schema: validate_gold([{"a": 1}], schema),
            lambda schema: compare_corpus([{"a": 1}], [{"a": 1}], schema=schema, validate="require"),
        ):
            with pytest.raises(ConfigurationError) as caught:
                use(source)
            assert str(caught.value) == message


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"title": "Anything"},
        {"title": "Anything", "owner": "Ann"},
        {"$defs": {}},
        {"x-eval-compare": "exact"},
        {"required": ["schema"], "properties": {"schema": {"type": "object", "x-of": 1}}},
        {"type": "object", "schema": INNER},
    ],
)
def test_a_schema_may_restrict_little(schema: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parse_eval_schema(schema)


@pytest.mark.parametrize(
    ("schema", "place", "key", "keyword"),
    [
        ({"type": "object", "propertis": {}}, "", "propertis", "properties"),
        ({"properties": {"a": {"typ": "string"}}}, " at /properties/a", "typ", "type"),
        ({"items": {"allOf": [{"requried": ["a"]}]}}, " at /items/allOf/0", "requried", "required"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"enums": ["a"]}}}, " at /$defs/a", "enums", "enum"),
        ({"anyOf": [{"type": "array", "item": {}}, {"type": "null"}]}, " at /anyOf/0", "item", "items"),
        (
            {"type": "object", "additionalproperties": False},
            "",
            "additionalproperties",
            "additionalProperties",
        ),
        ({"type": "array", "maxitems": 3, "x-eval-skip": False}, "", "maxitems", "maxItems"),
    ],
)
def test_a_misspelt_keyword_is_a_warning(schema: dict[str, Any], place: str, key: str, keyword: str) -> None:
    with pytest.warns(JsonMatchWarning) as caught:
        parse_eval_schema(schema)
    message = f"schema{place}: unknown keyword {key!r} has no effect; did you mean {keyword!r}?"
    assert [str(warning.message) for warning in caught] == [message]


def test_words_of_openapi_and_of_all_drafts_are_known() -> None:
    words = """
        nullable discriminator example xml externalDocs readOnly writeOnly deprecated
        divisibleBy extends disallow id definitions dependencies additionalItems contentSchema $anchor
        $comment $vocabulary examples default title description format
        note label unit comment notes order propertyOrdering markdownDescription errorMessage x-order
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parse_eval_schema(
            {"type": "object", "properties": {"a": dict.fromkeys(words.split(), 1) | {"type": "string"}}}
        )


def test_the_name_of_a_pydantic_model(tmp_path, monkeypatch):
    pytest.importorskip("pydantic")
    text = "import pydantic\nclass Receipt(pydantic.BaseModel):\n    total: float\n"
    (tmp_path / "named_models.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    named = parse_eval_schema("named_models:Receipt")
    assert named is parse_eval_schema(sys.modules["named_models"].Receipt)
    assert compare_json({"total": 1}, {"total": 1}, schema="named_models:Receipt", validate="report").valid
    (tmp_path / "named_models:Receipt").write_text('{"type": "array"}', encoding="utf-8")
    assert parse_eval_schema("named_models:Receipt").types == {"array"}
