"""Post-processors: what becomes of field results before numbers are made of them."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_jsonmatch import (
    NullHandling,
    compare_corpus,
    compare_json,
    propagate_batch_errors,
    reclassify_nulls,
    register_comparator,
)


def statuses(expected: Any, actual: Any, **options: Any) -> list[tuple[str, str]]:
    fields = compare_json({"v": actual}, {"v": expected}, metric="leaf_f1").field_results
    return [(each.path, each.status) for each in reclassify_nulls(fields, NullHandling(**options))]


@pytest.mark.parametrize(
    ("expected", "actual", "options", "status"),
    [
        (None, None, {}, "skipped"),
        (None, None, {"both_absent_skip": False}, "match"),
        (None, 5, {}, "hallucination"),
        (5, None, {}, "omission"),
        (5, 5, {}, "match"),
        (5, 6, {}, "mismatch"),
        ("N/A", None, {"absent_values": [None, "N/A"]}, "skipped"),
        ("N/A", "", {"absent_values": [None, "N/A", ""], "both_absent_skip": False}, "match"),
        ("", 5, {"absent_values": [""]}, "hallucination"),
        (0, None, {"absent_values": [None, False]}, "omission"),
        ([], None, {"absent_values": [None, []]}, "skipped"),
    ],
)
def test_values_that_say_nothing(expected, actual, options, status):
    assert statuses(expected, actual, **options) == [("v", status)]


def test_a_container_against_nothing_counts_its_leaves_and_is_never_skipped():
    gold, extracted = [{"v": {"a": 1, "b": [2, 3]}, "w": None}], [{"v": None, "w": [1, 2]}]
    result = compare_corpus(extracted, gold, post_process=reclassify_nulls)
    fields = result.records[0].field_results
    leaves = [(each.path, each.status, each.expected_leaves, each.actual_leaves) for each in fields]
    assert leaves == [("v", "omission", 3, 0), ("w", "hallucination", 0, 2)]
    assert (result.micro_precision, result.micro_recall) == (0.0, 0.0)
    assert (result.per_field["v"].expected_weight, result.per_field["w"].actual_weight) == (3.0, 2.0)


def test_a_container_of_another_type_stays_a_mismatch():
    assert statuses({"a": 1}, [1]) == [("v", "mismatch")]


def test_post_processors_run_one_after_the_other():
    def forgive(results):
        return [each.replaced(status="match", score=1.0) if each.path == "a" else each for each in results]

    def drop(results):
        return [each for each in results if each.path != "b"]

    result = compare_corpus([{"a": 3, "b": 4}], [{"a": 1, "b": 2}], post_process=[forgive, drop])
    assert (result.mean_f1, result.total_fields) == (1.0, 1)


def test_a_post_processor_that_fails_is_named_and_changes_nothing():
    def fails(results):
        raise KeyError("oh")

    def forgets(results):
        return [1]

    result = compare_corpus([{"a": 1}], [{"a": 1}], post_process=[fails, forgets])
    assert result.mean_f1 == 1.0
    assert [str(each) for each in result.errors] == [
        "record 1: the post-processor fails raised KeyError: 'oh'",
        "record 1: the post-processor forgets returned something other than field results",
    ]


def test_batch_errors_spread_over_the_fields_of_their_comparator():
    def some_fail(items):
        return [TimeoutError("30 s") if item.actual == 2 else 1.0 for item in items]

    register_comparator("some_fail", some_fail, overwrite=True)
    answer = {"a": 1, "b": 2, "c": 3, "d": 4}
    rules = {name: {"compare": "some_fail"} for name in ("a", "b")}
    fields = compare_json(answer, answer, metric="leaf_f1", fields=rules).field_results
    assert [each.status for each in fields] == ["match", "batch_error", "match", "match"]
    spread = propagate_batch_errors(fields)
    assert [each.status for each in spread] == ["batch_error", "batch_error", "match", "match"]
    assert spread[0].reason == "some_fail failed for another field"
    unharmed = compare_json({"a": 1, "c": 1}, {"a": 1, "b": 2}, metric="leaf_f1").field_results
    assert propagate_batch_errors(unharmed) == list(unharmed)


def test_nulls_are_reported_after_transforms_and_with_a_reason():
    rules = {"fields": {"a": {"transform": ["strip"]}}}
    fields = compare_json({"a": "  "}, {"a": "x"}, metric="leaf_f1", **rules).field_results
    (found,) = reclassify_nulls(fields, NullHandling(absent_values=[""]))
    assert (found.status, found.reason) == ("omission", 'actual is "", which counts as no value')


def test_a_result_is_replaced_and_not_changed():
    def changing(results):
        results[0].status = "skipped"

    (error,) = compare_corpus([{"a": 1}], [{"a": 2}], post_process=changing).errors
    assert "AttributeError" in str(error)


@pytest.mark.parametrize(("skip", "status"), [(True, "skipped"), (False, "match")])
def test_a_null_in_an_unpaired_element_is_absent_on_both_sides(skip, status):
    handling = NullHandling(both_absent_skip=skip)
    run = compare_corpus(
        [[{"a": 2, "b": None}]],
        [[{"a": 1, "b": None}]],
        post_process=lambda results: reclassify_nulls(results, handling),
        fields={"$": {"align": {"key": "a"}}},
    )
    assert [(each.path, each.status) for each in run.records[0].field_results] == [
        ("[].a", "omission"),
        ("[].b", status),
        ("[].a", "hallucination"),
        ("[].b", status),
    ]


def test_pairs_are_made_before_and_scored_after():
    run = compare_corpus(
        [[{"a": 1, "b": None}]],
        [[{"a": 1, "b": 5}]],
        post_process=lambda results: [each.replaced(status="match") for each in results],
        arrays="unordered",
    )
    assert run.records[0].match.alignments[0].pairs == ((0, 0, 1.0),)
