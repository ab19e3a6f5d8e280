"""`assert_json_match`: thresholds, what it returns and raises. No run of pytest inside these tests is needed."""

from __future__ import annotations

import math

import pytest

from pytest_jsonmatch import (
    ComparatorError,
    ConfigurationError,
    JsonExtractionError,
    RootTypeError,
    assert_json_match,
)

HALF = ({"a": 1, "b": 2}, {"a": 1, "b": 3})
ORDERS = (
    {"items": [{"price": 10, "name": "ink"}, {"price": 30, "name": "pen"}]},
    {"items": [{"price": 10, "name": "ink"}, {"price": 20, "name": "pen"}]},
)


NAMES = {"score": "", "precision": "precision ", "recall": "recall ", "f1": "F1 "}


def first_line(error):
    return str(error.value).splitlines()[0]


def test_an_extra_value_fails_it():
    with pytest.raises(AssertionError) as error:
        assert_json_match({"a": 1, "b": 2}, {"a": 1})
    assert first_line(error) == "b (nothing) → 2 (leaf_f1 0.67 < 1.00)"


def test_text_is_read_on_both_sides():
    assert assert_json_match('```json\n{"a": [1.0]}\n```', b'{"a": [1]}').score == 1.0


def test_the_threshold_is_1_by_default():
    with pytest.raises(AssertionError) as error:
        assert_json_match(*HALF)
    assert first_line(error) == "b 3 → 2 (leaf_f1 0.50 < 1.00)"
    assert type(error.value) is AssertionError


@pytest.mark.parametrize(
    "threshold", [0, 0.0, 0.5, {"score": 0.5}, {"recall": 0.5, "precision": 0.5, "f1": 0.5}]
)
def test_thresholds_that_are_reached(threshold):
    assert assert_json_match(*HALF, threshold=threshold).score == 0.5


@pytest.mark.parametrize("one_score", ["score", "precision", "recall", "f1"])
def test_every_score_has_a_threshold(one_score):
    with pytest.raises(AssertionError) as error:
        assert_json_match(*HALF, threshold={one_score: 0.51})
    assert first_line(error) == f"b 3 → 2 (leaf_f1 {NAMES[one_score]}0.50 < 0.51)"


def test_every_score_that_is_too_low_is_named():
    with pytest.raises(AssertionError) as error:
        assert_json_match(*HALF, threshold={"score": 0.6, "recall": 0.7, "precision": 0.4})
    assert first_line(error) == "b 3 → 2 (leaf_f1 0.50 < 0.60, 1 more score too low)"
    assert "also recall 0.50 < 0.70" in str(error.value)
    assert "precision 0.50 < 0.40" not in str(error.value)


def test_a_field_has_to_reach_its_own_threshold():
    threshold = {"fields": {"items[].name": 1, "items[].price": 0.75}}
    assert assert_json_match(*ORDERS, metric="json_similarity", threshold=threshold).score == 0.875


def test_a_field_below_its_threshold_is_named():
    with pytest.raises(AssertionError) as error:
        assert_json_match(*ORDERS, metric="json_similarity", threshold={"fields": {"items[].*": 0.8}})
    assert first_line(error) == ("items[1].price 20 → 30 (json_similarity of items[].price 0.75 < 0.80)")


@pytest.mark.filterwarnings("ignore::pytest_jsonmatch.JsonMatchWarning")
def test_a_pattern_without_a_field_fails_and_names_the_nearest():
    with pytest.raises(AssertionError) as error:
        assert_json_match(*ORDERS, metric="json_similarity", threshold={"fields": {"items[].prize": 0.1}})
    lines = str(error.value).splitlines()
    assert lines[0] == 'json_similarity fields["items[].prize"] is undefined, needs 0.10'
    assert (
        lines[-1]
        == "no compared field matches the threshold's 'items[].prize'; did you mean 'items[].price'?"
    )


def test_a_skipped_field_has_no_score():
    with pytest.raises(AssertionError, match="is undefined"):
        assert_json_match(*HALF, fields={"b": {"skip": True}}, threshold={"fields": {"b": 0.1}})


def test_the_last_bit_of_a_sum_decides_nothing():
    actual, expected = {"a": 0, "b": 0, "c": 6}, {"a": 10, "b": 10, "c": 10}
    result = assert_json_match(actual, expected, metric="json_similarity", threshold=0.2)
    assert result.score == 0.19999999999999998  # 0.6 / 3


def test_nothing_but_perfection_reaches_1():
    expected = {"text": "x" * 100_000}
    actual = {"text": "x" * 99_999 + "y"}
    with pytest.raises(AssertionError) as error:
        assert_json_match(actual, expected, metric="json_similarity", threshold=1)
    assert not first_line(error).endswith("(json_similarity 1.00 < 1.00)")


@pytest.mark.parametrize(
    ("threshold", "message"),
    [
        (1.5, "threshold must be a number from 0 to 1, or a mapping of score, precision, recall, f1 and fields to such numbers, got 1.5"),
        (-0.1, "threshold must be a number from 0 to 1, or a mapping of score, precision, recall, f1 and fields to such numbers, got -0.1"),
        (math.nan, "threshold must be a number from 0 to 1, or a mapping of score, precision, recall, f1 and fields to such numbers, got nan"),
        (True, "threshold must be a number from 0 to 1, or a mapping of score, precision, recall, f1 and fields to such numbers, got True"),
        ("0.9", "threshold must be a number from 0 to 1, or a mapping of score, precision, recall, f1 and fields to such numbers, got '0.9'"),
        ({"recall": 2}, "threshold['recall'] must be a number from 0 to 1, got 2"),
        ({"recal": 1}, "unknown threshold 'recal'; did you mean 'recall'?"),
        ({"fields": 0.9}, "threshold['fields'] must map path patterns to numbers from 0 to 1, got 0.9"),
        ({"fields": {"a": False}}, "threshold['fields']['a'] must be a number from 0 to 1, got False"),
        ({}, "threshold {} is empty; name one of score, precision, recall, f1 or fields"),
        ({"fields": {}}, "threshold {'fields': {}} is empty; name one of score, precision, recall, f1 or fields"),
    ],
)  # fmt: skip
def test_a_wrong_threshold_is_an_error_before_anything_is_compared(threshold, message):
    with pytest.raises(ConfigurationError) as error:
        assert_json_match("no JSON at all", {}, threshold=threshold)
    assert str(error.value) == message


def test_a_wrong_pattern_is_an_error():
    with pytest.raises(ConfigurationError, match="not a path pattern"):
        assert_json_match({}, {}, threshold={"fields": {"a[": 1}})


def test_a_wrong_name_is_an_error():
    with pytest.raises(ConfigurationError, match="name must be a non-empty string, got 3"):
        assert_json_match({}, {}, name=3)


def test_errors_of_the_engine_come_as_they_are():
    with pytest.raises(JsonExtractionError):
        assert_json_match("no JSON at all", {"a": 1})
    with pytest.raises(RootTypeError):
        assert_json_match([1], {"a": 1}, metric="field_match")
    with pytest.raises(ConfigurationError, match="did you mean 'json_similarity'"):
        assert_json_match({}, {}, metric="json_similarty")


def test_a_comparator_that_raises_is_an_error_of_its_own():
    def broken(expected, actual, params):
        raise ZeroDivisionError("by zero")

    from tests.conftest import session_registry

    with session_registry() as registry:
        registry.comparator("broken", broken)
        with pytest.raises(ComparatorError) as error:
            assert_json_match({"a": 1}, {"a": 2}, fields={"a": {"compare": "broken"}}, threshold=0)
    assert "broken" in str(error.value)
    assert "by zero" in str(error.value)
