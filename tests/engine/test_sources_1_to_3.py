"""Every number, rule and example of sources 1, 2 and 3 (benchmarks/sources.md names the differences)."""

from __future__ import annotations

import pytest

from pytest_jsonmatch import JsonExtractionError, RootTypeError, compare_json

# -- source 1: field_match -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("actual", "expected", "score"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "b": 2}, 1.0),
        ({"a": 1, "b": 3}, {"a": 1, "b": 2}, 0.5),
        ({"a": 9}, {"a": 1}, 0.0),
        ({"a": 1}, {}, 1.0),
        ({"a": 1, "extra": 5}, {"a": 1}, 1.0),
        ({}, {"a": 1, "b": 2}, 0.0),
        ({"age": 30}, {"age": "30"}, 0.0),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 2]}}, 1.0),
        ({"a": {"b": [2, 1]}}, {"a": {"b": [1, 2]}}, 0.0),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, 0.0),
        ({"a": True}, {"a": 1}, 0.0),
        ({"a": [True]}, {"a": [1]}, 0.0),
        ({"a": 1}, {"a": 1.0}, 1.0),
    ],
)
def test_field_match_is_one_minus_the_share_of_fields_that_do_not_match(actual, expected, score):
    assert compare_json(actual, expected, metric="field_match").score == score


def test_actual_is_parsed_leniently():
    assert compare_json('Here:\n```json\n{"a": 1}\n```\nBye', {"a": 1}).score == 1.0
    assert compare_json('The answer is {"a": 1}.', '{"a": 1}', metric="json-field-match").score == 1.0


def test_what_has_no_json_object_is_an_error():
    with pytest.raises(JsonExtractionError):
        compare_json("no idea", {"a": 1})


@pytest.mark.parametrize(
    ("actual", "expected", "side"), [([1], {"a": 1}, "actual"), ({"a": 1}, [1], "expected")]
)
def test_both_sides_must_be_objects_and_the_error_names_a_metric_that_fits(actual, expected, side):
    with pytest.raises(RootTypeError, match=f"{side} is of type array; json_similarity"):
        compare_json(actual, expected, metric="field_match")


def test_the_unit_is_the_key_and_the_leaves_that_differ_are_named():
    expected = {"items": [{"price": 1}, {"price": 2}, {"price": 3}], "id": 7}
    actual = {"items": [{"price": 1}, {"price": 2}, {"price": 4}], "id": 7}
    result = compare_json(actual, expected, metric="field_match")
    assert [(f.path, f.status, f.score) for f in result.field_results] == [
        ("items", "mismatch", 0.0),
        ("id", "match", 1.0),
    ]
    assert [f.expected_path for f in result.field_results[0].differences] == ["items[2].price"]


# -- source 2: field_match_normalized ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("actual", "expected", "score"),
    [
        ({"a": "SI"}, {"a": "Sí"}, 1.0),
        ({"a": "Jose"}, {"a": "José"}, 1.0),
        ({"a": "STRASSE"}, {"a": "straße"}, 1.0),
        ({"a": 30}, {"a": "30"}, 0.0),
        ({"roles": ["user", "admin"]}, {"roles": ["ADMIN", "USER"]}, 0.0),
        ({"roles": ["admin", "user"]}, {"roles": ["ADMIN", "USER"]}, 1.0),
        ({"p": {"q": ["É"]}}, {"p": {"q": ["e"]}}, 1.0),
        ({"NAME": "x"}, {"name": "x"}, 0.0),
    ],
)
def test_field_match_normalized_forgets_accents_and_case_of_string_values(actual, expected, score):
    assert compare_json(actual, expected, metric="field_match_normalized").score == score


# -- source 3: json_similarity -------------------------------------------------------------------------------


def similarity(actual, expected, **options):
    return compare_json(actual, expected, metric="json_similarity", **options)


def test_a_perfect_match_and_its_details():
    same = {"name": "John Doe", "age": 30, "city": "New York"}
    result = similarity(same, dict(same))
    assert (result.score, result.details) == (1.0, "Matched leaves: 3, Total leaves: 3")


def test_a_number_drifts():
    result = similarity({"temperature": 20.5, "humidity": 65}, {"temperature": 20.3, "humidity": 65})
    assert round(result.score, 4) == 0.9951


def test_a_typo():
    result = similarity({"status": "completed successfully"}, {"status": "completed sucessfully"})
    assert round(result.score, 4) == 0.9545


def test_arrays_go_by_position_and_the_source_s_score_needs_a_match_threshold():
    actual, expected = {"items": ["apple", "banana", "orange"]}, {"items": ["apple", "banana", "grape"]}
    assert round(similarity(actual, expected).score, 4) == 0.8333
    assert round(similarity(actual, expected, match_threshold=0.6).score, 4) == 0.6667


def test_extra_keys_and_items_are_free():
    assert similarity({"name": "Bob", "age": 30, "extra": "x"}, {"name": "Bob", "age": 30}).score == 1.0
    assert similarity([1, 2, 3], [1, 2]).score == 1.0


def test_a_target_is_compared_alone_with_paths_of_the_whole():
    actual = {"result": {"score": 95, "passed": True}, "metadata": {"timestamp": "2024-01-01"}}
    expected = {"result": {"score": 95, "passed": True}}
    result = similarity(actual, expected, target_output_key="result")
    assert (result.score, [f.path for f in result.field_results]) == (1.0, ["result.score", "result.passed"])


@pytest.mark.parametrize(
    ("actual", "expected", "score"),
    [
        ("", "", 1.0),
        (0, 0, 1.0),
        (5, 0, 0.0),
        (1e-13, 0, 1.0),
        (-100, 100, 0.0),
        (98, 100, 0.98),
        (True, 1, 0.0),
        (None, None, 1.0),
        (None, 0, 0.0),
        ({}, {"a": {}}, 0.0),
        ({"a": 1}, {"a": {"b": 1, "c": 2}, "d": 3}, 0.0),
    ],
)
def test_leaf_similarities(actual, expected, score):
    actual, expected = {"v": actual}, {"v": expected}
    assert similarity(actual, expected).score == pytest.approx(score, abs=1e-12)


def test_a_missing_subtree_counts_its_scalars_and_at_least_one():
    assert similarity({"a": 1}, {"a": 1, "b": {"c": 1, "d": [2, 3]}}).total_leaves == 4
    assert similarity({"a": 1}, {"a": 1, "b": {"c": {}}}).total_leaves == 2
