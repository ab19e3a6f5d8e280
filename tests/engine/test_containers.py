"""Precision, recall and F1 of every object and array, and the pairs of aligned arrays."""

from __future__ import annotations

import copy
import json
import pickle
import random
from typing import Any

import pytest

from pytest_jsonmatch import compare_json


def scores(result: Any) -> list[tuple[Any, ...]]:
    return [
        (each.expected_path, each.actual_path, each.kind, each.precision, each.recall, each.f1)
        for each in result.containers
    ]


def test_every_object_and_array_has_its_scores():
    expected = {"name": "a", "rows": [{"x": 1, "y": 2}, {"x": 3}], "meta": {"k": [1, 2]}}
    actual = {"name": "b", "rows": [{"x": 1, "y": 5, "z": 0}, {"x": 3}, {"x": 9}], "meta": {"k": [1]}}
    assert scores(compare_json(actual, expected, metric="leaf_f1")) == [
        ("$", "$", "object", 3 / 7, 3 / 6, 6 / 13),
        ("rows", "rows", "array", 2 / 5, 2 / 3, 4 / 8),
        ("rows[0]", "rows[0]", "object", 1 / 3, 1 / 2, 2 / 5),
        ("rows[1]", "rows[1]", "object", 1.0, 1.0, 1.0),
        (None, "rows[2]", "object", 0.0, 1.0, 0.0),
        ("meta", "meta", "object", 1.0, 1 / 2, 2 / 3),
        ("meta.k", "meta.k", "array", 1.0, 1 / 2, 2 / 3),
    ]


def test_containers_that_one_side_lacks_or_has_of_another_kind():
    expected = {"gone": {"a": [1]}, "other": [1, 2], "empty": []}
    actual = {"other": {"b": 1}, "empty": [], "new": {"c": {}}}
    assert scores(compare_json(actual, expected, metric="leaf_f1")) == [
        ("$", "$", "object", 1 / 3, 1 / 4, 2 / 7),
        ("gone", None, "object", 1.0, 0.0, 0.0),
        ("gone.a", None, "array", 1.0, 0.0, 0.0),
        ("other", "other", "array", 0.0, 0.0, 0.0),
        ("empty", "empty", "array", 1.0, 1.0, 1.0),
        (None, "new", "object", 0.0, 1.0, 0.0),
        (None, "new.c", "object", 0.0, 1.0, 0.0),
    ]


def test_weights_count_in_containers():
    result = compare_json(
        {"a": {"x": 1, "y": 2}}, {"a": {"x": 1, "y": 3}}, metric="leaf_f1", fields={"a.x": {"weight": 3}}
    )
    assert (result.containers[1].precision, result.containers[1].expected_leaves) == (3 / 4, 4.0)


def test_a_result_without_containers():
    assert scores(compare_json(1, 1, metric="leaf_f1")) == []


def test_the_schema_path_of_a_container():
    result = compare_json({"a b": [{"c": [1]}]}, {"a b": [{"c": [1]}]}, metric="leaf_f1")
    assert [each.path for each in result.containers] == ["$", '["a b"]', '["a b"][]', '["a b"][].c']


def test_the_root_has_the_scores_of_the_result():
    rng = random.Random(5)
    for _ in range(200):
        expected, actual = (
            [rng.choice([1, "a", [1, 2], {"k": rng.random()}]) for _ in range(rng.randint(1, 4))]
            for _ in "ab"
        )
        result = compare_json(actual, expected, metric="pairwise_f1")
        root = result.containers[0]
        assert (root.precision, root.recall, root.f1) == pytest.approx(
            (result.precision, result.recall, result.f1), abs=1e-12
        )


def test_every_pair_keeps_both_indices_and_its_f1():
    expected = [{"n": "tv", "h": 5}, {"n": "books", "h": 1}, {"n": "chess", "h": 9}]
    actual = [{"n": "books", "h": 2}, {"n": "tv", "h": 5}, {"n": "golf", "h": 7}]
    (alignment,) = compare_json(actual, expected, metric="pairwise_f1").alignments
    assert (alignment.kind, alignment.pairs) == ("unordered", ((0, 1, 1.0), (1, 0, 0.5)))
    assert (alignment.unmatched_expected, alignment.unmatched_actual) == ((2,), (2,))


def test_pairs_of_nested_arrays_and_of_keys():
    expected = {"o": [{"id": 1, "t": ["a", "b"]}, {"id": 2, "t": ["c"]}]}
    actual = {"o": [{"id": 2, "t": ["c"]}, {"id": 1, "t": ["b", "x"]}]}
    result = compare_json(
        actual,
        expected,
        metric="leaf_f1",
        fields={"o": {"align": {"key": "id"}}, "o[].t": {"align": "unordered"}},
    )
    assert [
        (each.expected_path, each.actual_path, each.kind, each.pairs, each.unmatched_expected)
        for each in result.alignments
    ] == [
        ("o", "o", "key", ((0, 1, 2 / 3), (1, 0, 1.0)), ()),
        ("o[0].t", "o[1].t", "unordered", ((1, 0, 1.0),), (0,)),
        ("o[1].t", "o[0].t", "unordered", ((0, 0, 1.0),), ()),
    ]


def test_pairs_of_elements_with_nothing_to_compare():
    (alignment,) = compare_json([[], 1], [1, []], metric="pairwise_f1").alignments
    assert alignment.pairs == ((0, 1, 1.0), (1, 0, 1.0))


def test_arrays_inside_a_unit_have_no_rows_to_tell_of():
    result = compare_json({"a": [1, 2]}, {"a": [2, 1]}, metric="field_match", arrays="unordered")
    assert (result.score, list(result.alignments)) == (1.0, [])


def test_to_dict_has_containers_and_alignments():
    plain = compare_json([2, 1], [1, 2], metric="pairwise_f1").to_dict()
    assert json.loads(json.dumps(plain))["alignments"] == [
        {
            "path": "$",
            "expected_path": "$",
            "actual_path": "$",
            "kind": "unordered",
            "pairs": [[0, 1, 1.0], [1, 0, 1.0]],
            "unmatched_expected": [],
            "unmatched_actual": [],
        }
    ]


@pytest.mark.parametrize("item", [1, 0.5, "some text"])
def test_a_result_can_be_pickled_and_copied(item):
    result = compare_json(
        {"n": [item, 2, {"a": item}], "b": item}, {"n": [2, item, {"a": 2}], "b": 2.5}, arrays="unordered"
    )
    for same in (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)):
        assert [each.to_dict() for each in same.field_results] == [
            each.to_dict() for each in result.field_results
        ]
        assert (same.score, same.signature) == (result.score, result.signature)
        assert same.alignments == result.alignments


def test_a_field_that_was_only_skipped_has_no_aggregate():
    result = compare_json({"a": 1, "b": 2}, {"a": 1, "b": 3}, fields={"b": {"skip": True}})
    assert (list(result.per_field), result.counts) == (["a"], {"match": 1, "skipped": 1})
