"""What peers get wrong: each number derived by hand from precision = Σ/A, recall = Σ/E, F1 = 2Σ/(E + A)."""

from __future__ import annotations

from itertools import permutations

import pytest

from pytest_jsonmatch import compare_json
from tests.conftest import session_registry

TREE_METRICS = ["pairwise_f1", "leaf_f1"]


def all_scores(result):
    return result.precision, result.recall, result.f1


def rows(result):
    return [(field.expected_path, field.actual_path, field.status) for field in result.field_results]


# -- what is missing lowers recall -----------------------------------------------------------------------------


@pytest.mark.parametrize("metric", TREE_METRICS)
@pytest.mark.parametrize(
    ("expected", "leaves"),
    [
        ({"b": 2, "c": None, "d": False}, ["b", "c", "d"]),
        (
            {"seller": {"name": "Ann", "address": {"city": "Bern", "zip": "3000"}}},
            ["seller.name", "seller.address.city", "seller.address.zip"],
        ),
        (
            {"lines": [{"sku": "a", "n": 1}, {"sku": "b", "n": 2}], "tags": ["x"]},
            ["lines[].sku", "lines[].n", "lines[].sku", "lines[].n", "tags[]"],
        ),
    ],
)
def test_what_is_missing_counts_each_of_its_leaves_in_recall_alone(metric, expected, leaves):
    result = compare_json({"id": 7}, {"id": 7, **expected}, metric=metric)
    assert all_scores(result) == (1.0, 1 / (1 + len(leaves)), 2 / (2 + len(leaves)))
    assert [field.path for field in result.field_results if field.status == "omission"] == leaves


@pytest.mark.parametrize("metric", TREE_METRICS)
def test_an_empty_array_in_place_of_a_full_one_loses_all_of_it(metric):
    result = compare_json({"id": 7, "lines": []}, {"id": 7, "lines": [1, 2, 3]}, metric=metric)
    assert all_scores(result) == (1.0, 1 / 4, 2 / 5)


@pytest.mark.parametrize("metric", TREE_METRICS)
def test_null_in_place_of_an_object_is_one_mismatch_with_the_leaves_of_both(metric):
    result = compare_json({"id": 7, "at": None}, {"id": 7, "at": {"x": 1, "y": 2, "z": 3}}, metric=metric)
    # Only id is right: Σ is 1, of 1 + 3 leaves of expected and 1 + 1 of actual.
    assert all_scores(result) == (1 / 2, 1 / 4, 1 / 3)
    assert result.counts == {"match": 1, "mismatch": 1}


# -- arrays of arrays ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", TREE_METRICS)
def test_arrays_of_arrays_count(metric):
    result = compare_json({"grid": [[1, 2], [3, 5]]}, {"grid": [[1, 2], [3, 4]]}, metric=metric)
    assert all_scores(result) == (3 / 4, 3 / 4, 3 / 4)
    assert {field.path for field in result.field_results} == {"grid[][]"}


def test_arrays_of_arrays_pair_without_order_at_both_levels():
    result = compare_json({"grid": [[5, 3], [2, 1]]}, {"grid": [[1, 2], [3, 4]]}, metric="pairwise_f1")
    # [1, 2] and [2, 1] are twins; [3, 4] and [5, 3] share 3: their F1 of 1/2 is above 0.3; 4 and 5 find no partner.
    assert all_scores(result) == (3 / 4, 3 / 4, 3 / 4)
    assert result.counts == {"match": 3, "omission": 1, "hallucination": 1}


# -- rules inside arrays ---------------------------------------------------------------------------------------


def test_rules_of_the_schema_work_inside_arrays():
    schema = {
        "type": "object",
        "properties": {
            "lines": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "sku": {"type": "string", "x-eval-transform": ["lowercase"]},
                        "price": {
                            "type": "number",
                            "x-eval-compare": {"numeric": {"tolerance": {"abs": 0.5}}},
                        },
                        "note": {"type": "string", "x-eval-skip": True},
                        "n": {"type": "integer", "x-eval-weight": 3},
                    },
                },
            }
        },
    }
    expected = {
        "lines": [{"sku": "A1", "price": 10.0, "note": "x", "n": 1}, {"sku": "B2", "price": 5.0, "n": 2}]
    }
    actual = {
        "lines": [{"sku": "a1", "price": 10.4, "note": "y", "n": 1}, {"sku": "b2", "price": 5.6, "n": 2}]
    }
    result = compare_json(actual, expected, metric="leaf_f1", schema=schema)
    # Σ = 1 + 1 + 3 in the first line, 1 + 0 + 3 in the second; E = A = 5 + 5
    assert all_scores(result) == (9 / 10, 9 / 10, 9 / 10)
    assert result.counts == {"match": 5, "mismatch": 1, "skipped": 1}


def test_a_rule_decides_which_elements_pair():
    items = {"type": "object", "properties": {"id": {"x-eval-skip": True}, "name": {"type": "string"}}}
    schema = {"type": "array", "items": items, "x-eval-align": {"match_by": "hungarian"}}
    expected, actual = (
        [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}],
        [{"id": 1, "name": "b"}, {"id": 2, "name": "a"}],
    )
    result = compare_json(actual, expected, metric="leaf_f1", schema=schema)
    assert result.f1 == 1.0
    assert ("[0].name", "[1].name", "match") in rows(result)


# -- size ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", TREE_METRICS)
def test_2000_reversed_numbers_pair_fully(metric):
    numbers = list(range(2000))
    result = compare_json(numbers[::-1], numbers, metric=metric, arrays="unordered")
    assert (result.f1, result.counts) == (1.0, {"match": 2000})


def objects(size):
    """Objects of six members, and answers in another order: every tenth is lost, every fifth has two members wrong.

    Of ten objects one is missing (6 leaves of expected), two have 4 of 6 right, seven are right:
    Σ = 7·6 + 2·4 = 50, E = 60, A = 54.
    """
    expected = [
        {"id": f"n{i}", "city": f"c{i}", "x": i, "y": -i, "ok": i % 2 == 0, "name": f"first{i} last{i}"}
        for i in range(size)
    ]
    actual = [dict(item) for i, item in enumerate(expected) if i % 10 != 9]
    for item in actual:
        if item["x"] % 5 == 2:
            item.update(city="?", y=0.5)
    return expected, actual[::-1]


@pytest.mark.parametrize("size", [50, 500, 2000])
def test_many_objects_score_as_few_do(size):
    expected, actual = objects(size)
    schema = {"type": "array", "items": {"type": "object", "properties": {name: {} for name in expected[0]}}}
    pairwise = compare_json(actual, expected, metric="pairwise_f1", schema=schema)
    assert all_scores(pairwise) == pytest.approx((50 / 54, 50 / 60, 100 / 114), abs=1e-12)
    by_key = {**schema, "x-eval-align": {"match_by": "key_field", "key": "id"}}
    keyed = compare_json(actual, expected, metric="leaf_f1", schema=by_key)
    assert all_scores(keyed) == pytest.approx((50 / 54, 50 / 60, 100 / 114), abs=1e-12)
    # No threshold here: a lost object could only pair with a left-over answer, and there is none.
    result = compare_json(actual, expected, metric="leaf_f1", arrays="unordered")
    assert all_scores(result) == pytest.approx((50 / 54, 50 / 60, 100 / 114), abs=1e-12)


# -- keys ------------------------------------------------------------------------------------------------------


def test_keys_with_dots_are_keys_and_no_paths():
    expected = {"a.b": 1, "a": {"b": 2}, "c[0]": 3, "c": [4], "": 5, "$": 6, "*": 7}
    result = compare_json({**expected, "a.b": 0, "c[0]": 0}, expected, metric="leaf_f1")
    assert all_scores(result) == (5 / 7, 5 / 7, 5 / 7)
    assert [field.path for field in result.field_results if field.status == "mismatch"] == [
        '["a.b"]',
        '["c[0]"]',
    ]


def test_rules_tell_keys_with_dots_from_paths():
    schema = {
        "type": "object",
        "properties": {
            "a.b": {"type": "string", "x-eval-skip": True},
            "a": {"type": "object", "properties": {"b": {"type": "string"}}},
        },
    }
    expected, actual = {"a.b": "x", "a": {"b": "y"}}, {"a.b": "?", "a": {"b": "y"}}
    assert compare_json(actual, expected, metric="leaf_f1", schema=schema).counts == {
        "match": 1,
        "skipped": 1,
    }
    skip_path = {"a.b": {"skip": True}, '["a.b"]': {"skip": False}}
    result = compare_json(actual, expected, metric="leaf_f1", schema=schema, fields=skip_path)
    assert result.counts == {"mismatch": 1, "skipped": 1}


# -- wrong types -----------------------------------------------------------------------------------------------

TRANSFORMS = [
    "lowercase",
    "strip",
    "sort_tokens",
    "strip_accents",
    {"round_digits": {"digits": 1}},
    {"unicode": {"form": "NFC"}},
]


@pytest.mark.parametrize("wrong", [5, 5.5, True, None, ["a"], {"a": 1}, float("nan"), 10**400])
@pytest.mark.parametrize("transform", TRANSFORMS, ids=str)
def test_a_value_of_another_type_under_a_transform_fails_by_itself(wrong, transform):
    schema = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "x-eval-transform": [transform]},
            "id": {"type": "integer"},
        },
    }
    result = compare_json({"name": wrong, "id": 1}, {"name": "Ann", "id": 1}, metric="leaf_f1", schema=schema)
    assert all_scores(result) == (1 / 2, 1 / 2, 1 / 2)
    assert result.errors == ()


# -- numbers that are hard -------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", TREE_METRICS)
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_nan_and_infinities_equal_nothing(metric, bad):
    result = compare_json({"x": bad, "y": [1.5, bad]}, {"x": 1.5, "y": [1.5, 2.5]}, metric=metric)
    assert (result.precision, result.counts["match"]) == (1 / 3, 1)


def test_nan_equals_nothing_under_an_explicit_comparator_either():
    for spec in (
        "exact",
        {"numeric": {"tolerance": {"rel": 1}}},
        "relative",
        {"threshold": {"threshold": 5}},
    ):
        schema = {"type": "object", "properties": {"x": {"type": "number", "x-eval-compare": spec}}}
        assert compare_json({"x": float("nan")}, {"x": 1.0}, metric="leaf_f1", schema=schema).f1 == 0.0


@pytest.mark.parametrize("metric", TREE_METRICS)
def test_integers_of_400_digits_are_exact(metric):
    big = 10**400
    same = compare_json({"n": big, "m": [big + 1]}, {"n": big, "m": [big + 1]}, metric=metric)
    off = compare_json({"n": big + 1, "m": [big + 1]}, {"n": big, "m": [big + 1]}, metric=metric)
    assert (same.f1, off.f1) == (1.0, 1 / 2)


def test_integers_of_400_digits_have_tolerances_too():
    schema = {
        "properties": {"n": {"type": "integer", "x-eval-compare": {"numeric": {"tolerance": {"rel": 0.01}}}}}
    }
    near = compare_json({"n": 10**400 + 10**397}, {"n": 10**400}, metric="leaf_f1", schema=schema)
    far = compare_json({"n": 10**400 + 10**399}, {"n": 10**400}, metric="leaf_f1", schema=schema)
    assert (near.f1, far.f1) == (1.0, 0.0)


@pytest.mark.parametrize("metric", TREE_METRICS)
def test_integers_beyond_doubles_pair_with_their_own(metric):
    numbers = [2**53, 2**53 + 1, 10**400, 10**400 + 1]
    result = compare_json(numbers[::-1], numbers, metric=metric, arrays="unordered")
    assert (result.f1, result.counts) == (1.0, {"match": 4})


@pytest.mark.parametrize("metric", TREE_METRICS)
def test_true_is_not_1_at_any_depth(metric):
    result = compare_json(
        {"a": [True, {"b": [0]}]}, {"a": [1, {"b": [False]}]}, metric=metric, arrays="ordered"
    )
    assert (result.f1, result.counts) == (0.0, {"mismatch": 2})


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("metric", TREE_METRICS)
@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_a_number_that_json_lacks_equals_nothing_wherever_it_stands_in_nested_arrays(metric, bad):
    expected = [[[0, 0.1, 0.1, 0.1]], "\ud800"]
    scores = {
        compare_json([[order], "\ud800"], expected, metric=metric, arrays="unordered").score
        for order in permutations([0, 0.10001, bad, 0.1])
    }
    assert len(scores) == 1
    assert compare_json([[0, 0.10001, bad, 0.1]], [[0, 0.1, 0.1, 0.1]], metric="pairwise_f1").score == 0.75
    same = [[bad, bad], [bad]]
    assert compare_json(same, [[0, 0], [0]], metric=metric, arrays="unordered").score == 0.0


@pytest.fixture
def registry():
    with session_registry() as names:
        yield names


def test_a_judge_is_asked_once_for_one_place(registry):
    asked = []
    registry.comparator("batch", lambda items: asked.extend(items) or [0.5] * len(items))
    rules = {"b": {"compare": "batch"}}
    result = compare_json(
        {"x": None, "b": "w"}, {"x": None, "b": "q"}, metric="field_match", nulls="absent", fields=rules
    )
    assert (len(asked), result.score) == (1, 0.5)


def test_a_comparator_that_raises_is_called_once_for_one_place(registry):
    calls = []

    def broken(expected, actual, params):
        calls.append((expected, actual))
        raise ZeroDivisionError

    registry.comparator("broken", broken)
    result = compare_json(
        {"a": 1, "b": [1]}, {"a": 1, "b": [2]}, compare={"number": "broken"}, metric="leaf_f1"
    )
    assert len(result.field_results) == len(result.errors) == len(calls) == 2
