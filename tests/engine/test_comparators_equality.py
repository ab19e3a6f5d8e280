"""exact, binary, oneof."""

from __future__ import annotations

from decimal import Decimal

import pytest

from pytest_jsonmatch import compare_json

INF, NAN = float("inf"), float("nan")


def scored(compare, expected, actual):
    """The score at one place."""
    return compare_json({"v": actual}, {"v": expected}, fields={"v": {"compare": compare}}).score


@pytest.mark.parametrize(
    ("expected", "actual", "score"),
    [
        ("a", "a", 1.0),
        ("a", "A", 0.0),
        (1, 1.0, 1.0),
        (1.5, 1.5, 1.0),
        (1.5, 1.25, 0.0),
        (True, 1, 0.0),
        (False, False, 1.0),
        (None, None, 1.0),
        (None, 0, 0.0),
        ("1", 1, 0.0),
        ([True], [1], 0.0),
        ({"a": [1, {"b": None}]}, {"a": [1.0, {"b": None}]}, 1.0),
        (2**53 + 1, float(2**53), 0.0),
        (Decimal("1e400"), 10**400, 1.0),
        (1.0, NAN, 0.0),
        (1.0, INF, 0.0),
        ("\ud800", "\ud800", 1.0),
    ],
)
@pytest.mark.parametrize("name", ["exact", "binary"])
def test_equality(name, expected, actual, score):
    assert scored(name, expected, actual) == score


@pytest.mark.parametrize(
    ("expected", "actual", "score"),
    [
        (42, 42.0, 0.0),
        (42, 42, 1.0),
        (42.0, 42.0, 1.0),
        ("a", "a", 1.0),
        (None, None, 1.0),
        ({"n": [42]}, {"n": [42.0]}, 0.0),
        ({"n": [42]}, {"n": [42]}, 1.0),
        ({"n": 42}, {"m": 42}, 0.0),
        ({"n": 42}, {"n": 42, "m": 1}, 0.0),
        ([1, 2], [1], 0.0),
        (10**400, Decimal("1e400"), 0.0),
        (Decimal("1e400"), Decimal("1e400"), 1.0),
        ([1], [NAN], 0.0),
    ],
)
def test_strict_number_type(expected, actual, score):
    assert scored({"exact": {"strict_number_type": True}}, expected, actual) == score


@pytest.mark.parametrize(
    ("values", "expected", "others", "scores"),
    [
        (["PVD", "CVD", 3, None, [1]], "any", ["CVD", "ALD", 3.0, True, None, [1.0], [2], NAN], "10101100"),
        (["a"], None, [None, "a"], "01"),
        (({"k": (1, 2)}, True), None, [{"k": [1, 2]}, True, 1], "110"),
    ],
)
def test_oneof_values_looks_at_actual_only(values, expected, others, scores):
    compare = {"oneof": {"values": values}}
    assert [scored(compare, expected, actual) for actual in others] == list(map(float, scores))


@pytest.mark.parametrize(
    ("expected", "actual", "score"),
    [
        ("New York", "NYC", 1.0),
        ("NYC", "New York", 1.0),
        ("NYC", "Lisbon", 0.0),
        ("NYC", "York", 0.0),
        ("York", "York", 1.0),
        (None, "unknown", 1.0),
        (None, None, 1.0),
        ("NYC", "Big Apple", 1.0),
        ("New York", "Big Apple", 0.0),
        ("Oslo", "Lima", 0.0),
    ],
)
def test_oneof_groups(expected, actual, score):
    groups = [["New York", "NYC"], ["Lisbon", "Lisboa"], [None, "unknown"], ["NYC", "Big Apple"]]
    assert scored({"oneof": {"groups": groups}}, expected, actual) == score


def test_containers_in_oneof_lists_are_transformed_as_the_data_are():
    rule = {"compare": {"oneof": {"values": [{"city": "PARIS"}]}}, "transform": ["lowercase"]}
    assert compare_json({"at": {"city": "Paris"}}, {"at": {"city": "x"}}, fields={"at": rule}).score == 1.0
