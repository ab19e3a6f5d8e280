"""Schemas: whatever one holds, a comparison gets scores or a documented error, and the schema stays as it was."""

from __future__ import annotations

import copy
from contextlib import suppress

import jsonschema_rs
from hypothesis import assume
from hypothesis import strategies as st
from laws import law
from pairs import WORDS, figures, near, nonfinite, scalars
from test_schema_laws import SCHEMAS, VALUES

from pytest_jsonmatch import JsonMatchError, compare_json
from pytest_jsonmatch.schema import annotate_xeval, infer_schema, parse_eval_schema, resolve_schema_references

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
    schema = copy.deepcopy(draw(SCHEMAS))
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
    return annotate_xeval(copy.deepcopy(schema), gold)


@law(SCHEMAS | damaged() | wild, VALUES, VALUES, examples=200)
def any_schema_gives_figures_or_a_documented_error(schema, expected, actual):
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
        assert all(0.0 <= figure <= 1.0 for figure in figures(result) if figure is not None)
    assert repr(schema) == before


@law(SCHEMAS, VALUES, VALUES)
def a_resolved_schema_scores_as_its_source(schema, expected, actual):
    try:
        assume(jsonschema_rs.is_valid(schema, expected))  # a value that fits no alternative has no rules
    except ValueError:  # a schema that needs itself
        return
    with suppress(JsonMatchError):
        resolved = resolve_schema_references(schema)
        one, two = (compare_json(actual, expected, schema=each) for each in (schema, resolved))
        assert near(figures(one), figures(two))
        assert one.counts == two.counts


@law(st.lists(VALUES, min_size=1, max_size=3), VALUES)
def an_inferred_schema_scores_as_none(documents, actual):
    with suppress(JsonMatchError):
        schema = infer_schema(copy.deepcopy(documents))
        one, two = compare_json(actual, documents[0]), compare_json(actual, documents[0], schema=schema)
        assert near(figures(one), figures(two))
