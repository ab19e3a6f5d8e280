"""Laws of the schema room, on generated schemas and values."""

from __future__ import annotations

import warnings
from contextlib import suppress
from copy import deepcopy
from typing import Any

import jsonschema_rs
from hypothesis import assume
from hypothesis import strategies as st

from pytest_jsonmatch import ConfigurationError, JsonMatchError, compare_json
from pytest_jsonmatch.schema import (
    GoldValidationError,
    GoldWarning,
    SchemaNode,
    annotate_xeval,
    infer_schema,
    parse_eval_schema,
    resolve_schema_references,
    validate_gold,
)
from tests.fuzz.documents import WORDS, near, nonfinite, scalars, scores_of
from tests.laws import law

KEYS = st.sampled_from(["a", "b", "a.b", "é", "$ref", "properties"])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.5, 2.0, 1e300])
    | st.sampled_from("ab")
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
TYPE_NAMES = ["null", "boolean", "integer", "number", "string", "array", "object"]
REFERENCES = st.sampled_from(["#", "#/$defs/one", "#/$defs/two", "#/$defs/three"])
RULES = st.fixed_dictionaries(
    {},
    optional={
        "x-eval-compare": st.sampled_from(["exact", "levenshtein", {"numeric": {"tolerance": {"abs": 1}}}]),
        "x-eval-transform": st.just(["strip"]),
        "x-eval-weight": st.sampled_from([0.0, 2.0]),
        "x-eval-skip": st.booleans(),
    },
)


def schemas_over(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=3)
    keywords = st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(TYPE_NAMES)
            | st.lists(st.sampled_from(TYPE_NAMES), min_size=1, max_size=3, unique=True),
            "properties": st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3),
            "required": st.lists(st.sampled_from(["a", "b"]), max_size=2, unique=True),
            "items": inner,
            "additionalProperties": st.booleans(),
            "minimum": st.just(1),
        },
    )
    unions = st.builds(
        lambda name, parts: {name: parts}, st.sampled_from(["anyOf", "oneOf", "allOf"]), several
    )
    plain = st.builds(lambda one, two: with_type({**one, **two}), keywords, RULES)
    return plain | unions | st.builds(lambda one, two: {**one, **two}, plain, unions)


def with_type(schema: dict[str, Any]) -> dict[str, Any]:
    """Say which type the keywords are about: the room reads it so anyway, JSON Schema does not."""
    about = [
        ("properties", "object"),
        ("additionalProperties", "object"),
        ("required", "object"),
        ("items", "array"),
    ]
    names = list(dict.fromkeys(name for keyword, name in about if keyword in schema))
    return {"type": names, **schema} if names else schema


LEAVES: st.SearchStrategy[Any] = (
    st.builds(lambda name: {"type": name}, st.sampled_from(TYPE_NAMES))
    | st.sampled_from([{}, {"enum": ["a", 1]}, {"const": None}, {"type": ["string", "null"]}])
    | st.builds(lambda reference: {"$ref": reference}, REFERENCES)
    | st.builds(lambda reference, rules: {"$ref": reference, **rules}, REFERENCES, RULES)
)
PARTS = st.recursive(LEAVES, schemas_over, max_leaves=6)
SCHEMAS = st.builds(
    lambda root, one, two, three: {**root, "$defs": {"one": one, "two": two, "three": three}},
    schemas_over(PARTS),
    PARTS,
    PARTS,
    PARTS,
)


def outline(root: SchemaNode) -> list[Any]:
    """Everything that a tree says, as plain data; a node met before is its number."""
    numbers: dict[int, int] = {}
    waiting: list[SchemaNode] = []

    def number(node: SchemaNode | None) -> int | None:
        if node is None:
            return None
        if id(node) not in numbers:
            numbers[id(node)] = len(numbers)
            waiting.append(node)
        return numbers[id(node)]

    def printed(node: SchemaNode) -> Any:
        return (
            sorted(node.types),
            None
            if node.properties is None
            else {key: number(member) for key, member in node.properties.items()},
            number(node.items),
            (node.additional, node.rules, node.enum),
            [number(branch) for _, branch in node.branches],
        )

    number(root)
    # It grows while it is read.
    return [printed(node) for node in waiting]


def unfolded(root: SchemaNode, depth: int) -> Any:
    """What a tree says down to some depth, however its nodes are shared."""
    if depth == 0:
        return ...
    return (
        sorted(root.types),
        None
        if root.properties is None
        else {key: unfolded(member, depth - 1) for key, member in root.properties.items()},
        None if root.items is None else unfolded(root.items, depth - 1),
        (root.additional, root.rules, root.enum),
        [unfolded(branch, depth - 1) for _, branch in root.branches],
    )


def valid(schema: dict[str, Any], value: Any) -> bool:
    try:
        verdict: bool = jsonschema_rs.Draft202012Validator(schema).is_valid(value)
    except ValueError:
        # A definition that refers to itself with nothing in between, where no value can get to it.
        return False
    return verdict


def problems(value: Any, schema: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", GoldWarning)
        validate_gold([value], schema, warn_missing=False)
    return [str(warning.message) for warning in caught]


def sorted_types(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {key: sorted_types(value) for key, value in schema.items()}
    return sorted(schema) if isinstance(schema, list) else schema


@law(st.lists(VALUES, min_size=1, max_size=4))
def test_what_a_schema_was_inferred_from_fits_it(values: list[Any]) -> None:
    schema = infer_schema(deepcopy(values))
    with warnings.catch_warnings():
        warnings.simplefilter("error", GoldWarning)
        validate_gold(values, schema, warn_missing=False, strict_types=True)
    assert all(jsonschema_rs.Draft202012Validator(schema).is_valid(value) for value in values)
    assert sorted_types(resolve_schema_references(schema)) == sorted_types(schema)


@law(st.lists(VALUES, min_size=1, max_size=4))
def test_inferring_and_annotating_give_a_schema_that_parses(values: list[Any]) -> None:
    schema = infer_schema(values)
    before = deepcopy(schema)
    annotated = annotate_xeval(deepcopy(schema))
    assert parse_eval_schema(annotated).types == parse_eval_schema(schema).types
    assert annotate_xeval(deepcopy(annotated)) == annotated
    assert schema == before


@law(SCHEMAS)
def test_resolving_is_idempotent_and_says_the_same_and_changes_nothing(schema: dict[str, Any]) -> None:
    before = deepcopy(schema)
    try:
        tree = parse_eval_schema(schema)
        resolved = resolve_schema_references(schema)
    except ConfigurationError:
        assume(False)
        raise
    assert resolve_schema_references(resolved) == resolved
    assert unfolded(parse_eval_schema(resolved), 5) == unfolded(tree, 5)
    assert schema == before


@law(SCHEMAS, VALUES)
def test_a_value_that_is_valid_is_of_the_types_that_the_tree_tells(
    schema: dict[str, Any], value: Any
) -> None:
    try:
        tree = parse_eval_schema(schema)
    except ConfigurationError:
        assume(False)
        raise
    assume(valid(schema, value))
    try:
        reported = problems(value, tree)
    except GoldValidationError:
        # Members that the schema allows and does not list: none of the types' business.
        assume(False)
        raise
    assert reported == []


# -- whatever a schema holds ----------------------------------------------------------------------------------

KEYWORDS = [
    *("$id", "$defs", "$anchor", "$dynamicRef", "$schema", "allOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"),
    *("prefixItems", "contains", "additionalProperties", "patternProperties", "unevaluatedProperties", "propertyNames"),
    *("const", "enum", "required", "nullable", "format", "pattern", "minimum", "multipleOf", "maxItems", "discriminator"),
    *("x-eval-skip", "x-eval-weight", "x-eval-transform", "x-eval-accept", "x-eval-nonsense"),
]  # fmt: skip
NAMES = st.sampled_from([*KEYWORDS, *WORDS])
ODD = st.sampled_from(
    ["#/$defs/one", "#/", "#/properties/a", "#one", "https://example.org/x", "[", "a" * 200]
)
wild = st.recursive(
    scalars | nonfinite | ODD | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=10,
)


@st.composite
def damaged(draw):
    """A schema that is valid, with a few of its parts exchanged, added or lost."""
    schema = deepcopy(draw(SCHEMAS))
    for _ in range(draw(st.integers(1, 3))):
        nodes = [schema]
        for node in nodes:
            inside = node.values() if isinstance(node, dict) else node
            nodes += [each for each in inside if isinstance(each, (dict, list))]
        node = draw(st.sampled_from(nodes))
        if isinstance(node, list):
            node.insert(draw(st.integers(0, len(node))), draw(wild))
        elif node and draw(st.booleans()):
            name = draw(st.sampled_from(sorted(node)))
            node[name] = draw(wild)
        else:
            node[draw(NAMES)] = draw(wild)
    return schema


def annotate(schema, gold=None):
    return annotate_xeval(deepcopy(schema), gold)


@law(SCHEMAS | damaged() | wild, VALUES, VALUES, examples=200)
def test_any_schema_gives_scores_or_a_documented_error(schema, expected, actual):
    before = repr(schema)
    for use in (
        parse_eval_schema,
        resolve_schema_references,
        annotate,
        lambda each: annotate(each, [expected]),
    ):
        with suppress(JsonMatchError):
            use(schema)
    with suppress(JsonMatchError):
        result = compare_json(actual, expected, schema=schema)
        assert all(0.0 <= score <= 1.0 for score in scores_of(result) if score is not None)
    assert repr(schema) == before


@law(SCHEMAS, VALUES, VALUES)
def test_a_resolved_schema_scores_as_its_source(schema, expected, actual):
    try:
        assume(jsonschema_rs.is_valid(schema, expected))  # a value that fits no alternative has no rules
    except ValueError:  # a schema that needs itself
        return
    with suppress(JsonMatchError):
        resolved = resolve_schema_references(schema)
        one, two = (compare_json(actual, expected, schema=each) for each in (schema, resolved))
        assert near(scores_of(one), scores_of(two))
        assert one.counts == two.counts


@law(st.lists(VALUES, min_size=1, max_size=3), VALUES)
def test_an_inferred_schema_scores_as_none(documents, actual):
    with suppress(JsonMatchError):
        schema = infer_schema(deepcopy(documents))
        one, two = compare_json(actual, documents[0]), compare_json(actual, documents[0], schema=schema)
        assert near(scores_of(one), scores_of(two))
