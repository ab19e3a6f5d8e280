"""`compare_json(schema=...)`: what the rules of an eval schema make of a comparison."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_jsonmatch import ConfigurationError, GoldValidationError, compare_json
from pytest_jsonmatch.schema import reset_type_defaults, set_type_default


def reported(result: Any) -> list[tuple[Any, ...]]:
    return [(each.path, each.status, each.score, each.weight) for each in result.field_results]


def scored(actual: object, expected: object, schema: Any, **options: Any) -> list[tuple[Any, ...]]:
    return reported(compare_json(actual, expected, metric="leaf_f1", schema=schema, **options))


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def test_each_place_is_scored_by_its_own_rules() -> None:
    schema = of(
        name={"type": "string", "x-eval-transform": ["strip", "lowercase"]},
        price={"type": "number", "x-eval-compare": {"numeric": {"tolerance": {"rel": 0.1}}}},
        note={"type": "string", "x-eval-skip": True},
        total={"type": "number", "x-eval-weight": 3},
    )
    expected = {"name": "Ann", "price": 100, "note": "a", "total": 5}
    actual = {"name": " ANN ", "price": 109, "note": "b", "total": 6}
    assert scored(actual, expected, schema) == [
        ("name", "match", 1.0, 1.0),
        ("price", "match", 1.0, 1.0),
        ("note", "skipped", 0.0, 1.0),
        ("total", "mismatch", 0.0, 3.0),
    ]


@pytest.mark.parametrize("metric", ["leaf_f1", "pairwise_f1", "json_similarity", "field_match"])
@pytest.mark.parametrize("actual", [{}, {"items": None}, {"items": [{"colour": 1, "n": 1}]}])
def test_expected_outside_the_schema_is_an_error_whatever_the_answer_is(metric: str, actual: object) -> None:
    schema = of(items={"type": "array", "items": of(n={"type": "integer"})})
    with pytest.raises(GoldValidationError) as caught:
        compare_json(actual, {"items": [{"n": 1, "colour": 2}]}, metric=metric, schema=schema)
    assert (caught.value.path, str(caught.value)) == (
        "items[0].colour",
        """'items[0].colour' is not in the schema; known: n; list it, or add it with "x-eval-skip": true""",
    )


def test_a_mistyped_enumerated_value_counts_the_leaves_of_both_sides() -> None:
    result = compare_json({"a": [1, 2, 3]}, {"a": "x"}, metric="leaf_f1", schema=of(a={"enum": ["x"]}))
    assert (result.field_results[0].expected_leaves, result.field_results[0].actual_leaves) == (1, 3)


def test_what_outweighs_what() -> None:
    schema = of(a={"type": "string", "x-eval-compare": "levenshtein"}, b={"type": "string"})
    expected, actual = {"a": "ab", "b": "ab"}, {"a": "ac", "b": "ac"}
    fields = {"a": {"compare": "jaccard"}}

    def comparators(**options: Any) -> list[str | None]:
        result = compare_json(actual, expected, metric="leaf_f1", schema=schema, **options)
        return [each.comparator for each in result.field_results]

    set_type_default("string", "contains")
    try:
        found = [
            comparators(),
            comparators(compare={"string": "normalized_text"}),
            comparators(compare={"number": "relative"}),
            comparators(fields=fields),
        ]
    finally:
        reset_type_defaults()
    assert found == [
        ["levenshtein", "contains"],
        ["levenshtein", "normalized_text"],
        ["levenshtein", "contains"],
        ["jaccard", "contains"],
    ]


def test_a_type_default_holds_below_places_that_the_schema_does_not_describe() -> None:
    set_type_default("string", "levenshtein")
    try:
        result = compare_json({"m": {"a": "ab"}}, {"m": {"a": "ac"}}, metric="leaf_f1", schema=of(m={}))
    finally:
        reset_type_defaults()
    assert result.field_results[0].comparator == "levenshtein"


def test_a_rule_of_the_call_replaces_that_of_the_schema() -> None:
    schema = of(a={**of(b={"x-eval-weight": 2}), "x-eval-weight": 3})
    expected = {"a": {"b": 1}}
    assert [
        scored(expected, expected, schema)[0][3],
        scored(expected, expected, schema, fields={"a.b": {"weight": 5}})[0][3],
        scored(expected, expected, schema, fields={"a": {"weight": 1}})[0][3],
    ] == [6.0, 15.0, 2.0]
    skipped = of(a={"x-eval-skip": True})
    assert scored({"a": 1}, {"a": 1}, skipped, fields={"a": {"skip": False}}) == [("a", "match", 1.0, 1.0)]


def test_arrays_are_aligned_as_the_schema_says() -> None:
    row = of(id={"type": "integer"}, tags={"type": "array", "x-eval-align": {"match_by": "hungarian"}})
    schema = of(rows={"type": "array", "x-eval-align": {"match_by": "key_field", "key": "id"}, "items": row})
    expected = {"rows": [{"id": 1, "tags": ["a", "b"]}, {"id": 2, "tags": ["c"]}]}
    actual = {"rows": [{"id": 2, "tags": ["c"]}, {"id": 1, "tags": ["b", "a"]}]}
    assert compare_json(actual, expected, metric="leaf_f1", schema=schema).f1 == 1.0


def test_rows_are_paired_by_the_key_of_the_alternative_that_each_row_chooses() -> None:
    row = {"anyOf": [of(id={"type": "string", "x-eval-transform": ["lowercase"]}, n={}), of(other={})]}
    rows = {"type": "array", "x-eval-align": {"match_by": "key_field", "key": "id"}, "items": row}
    pages = {"type": "array", "x-eval-align": {"match_by": "hungarian"}, "items": of(rows=rows)}
    expected = [{"id": "A", "n": 1}, {"id": "B", "n": 2}]
    actual = [{"id": "b", "n": 2}, {"id": "a", "n": 1}]
    for schema, turn in ((rows, lambda value: value), (pages, lambda value: [{"rows": value}, {"rows": []}])):
        result = compare_json(turn(actual)[::-1], turn(expected), metric="leaf_f1", schema=schema)
        assert (result.score, result.warnings) == (1.0, ())


EITHER = {
    "anyOf": [
        {"type": "string", "x-eval-compare": "levenshtein"},
        {"type": "number", "x-eval-compare": {"numeric": {"tolerance": {"abs": 1}}}, "x-eval-weight": 2},
        of(a={"type": "string", "x-eval-transform": ["lowercase"]}),
    ]
}


def test_the_value_expected_chooses_among_alternatives() -> None:
    expected = {"x": "ab", "y": 5, "z": {"a": "Q"}}
    actual = {"x": "ac", "y": 6, "z": {"a": "q"}}
    assert scored(actual, expected, of(x=EITHER, y=EITHER, z=EITHER)) == [
        ("x", "mismatch", 0.5, 1.0),
        ("y", "match", 1.0, 2.0),
        ("z.a", "match", 1.0, 1.0),
    ]


def test_where_nothing_is_expected_the_answer_chooses() -> None:
    assert scored({"y": 5}, {}, of(y=EITHER)) == [("y", "hallucination", 0.0, 2.0)]


def test_a_value_that_no_alternative_accepts_is_walked_by_its_leaves() -> None:
    assert scored({"x": [1, 2]}, {"x": [1, 3]}, of(x=EITHER)) == [
        ("x[]", "match", 1.0, 1.0),
        ("x[]", "mismatch", 0.0, 1.0),
    ]


def test_field_match_takes_a_schema_too() -> None:
    schema = of(a={"type": "string", "x-eval-transform": ["lowercase"]}, b=EITHER, c={"x-eval-skip": True})
    result = compare_json(
        {"a": "X", "b": {"a": "Q"}, "c": 1},
        {"a": "x", "b": {"a": "q"}, "c": 2},
        metric="field_match",
        schema=schema,
    )
    assert reported(result) == [
        ("a", "match", 1.0, 1.0),
        ("b", "match", 1.0, 1.0),
        ("c", "skipped", 0.0, 1.0),
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"string_evaluation_type": "binary"},
            (
                'string_evaluation_type must be {"evaluation_type": NAME, "evaluation_params": {parameters}}, '
                "got 'binary'"
            ),
        ),
        (
            {"string_evaluation_type": {"evaluation_typ": "binary"}},
            "string_evaluation_type: unknown key 'evaluation_typ'; did you mean 'evaluation_type'?",
        ),
        (
            {"compare": "exact", "string_evaluation_type": {"evaluation_type": "binary"}},
            "compare and string_evaluation_type both name a comparator for string values; give one",
        ),
        ({"array_matching_threshold": 2}, "array_threshold must be a number from 0 to 1, got 2"),
    ],
)
def test_what_is_wrong_with_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        compare_json({}, {}, metric="pairwise_f1", **options)
    assert str(caught.value) == message


def test_a_declared_type_decides_between_integers_and_numbers() -> None:
    config = {"number": {"threshold": {"threshold": 10}}, "integer": "binary"}
    result = compare_json(
        {"a": 101, "b": 101, "c": 101},
        {"a": 100, "b": 100, "c": 100},
        metric="pairwise_f1",
        schema=of(a={"type": "number"}, b={"type": "integer"}, c={}),
        compare=config,
    )
    assert [(each.comparator, each.score) for each in result.field_results] == [
        ("threshold", 0.9),
        ("binary", 0.0),
        ("binary", 0.0),
    ]
