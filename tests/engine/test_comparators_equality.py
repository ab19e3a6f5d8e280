"""exact, binary, oneof."""

from __future__ import annotations

from decimal import Decimal

import pytest

from pytest_jsonmatch import compare_json
from pytest_jsonmatch.engine.compare import BUILTIN
from pytest_jsonmatch.engine.compare.equality import in_same_group

INF, NAN = float("inf"), float("nan")


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
        (NAN, NAN, 0.0),
        (INF, INF, 0.0),
        ("\ud800", "\ud800", 1.0),
    ],
)
@pytest.mark.parametrize("name", ["exact", "binary"])
def test_equality(name, expected, actual, score):
    assert BUILTIN[name].bind({}).score(expected, actual) == score
    assert BUILTIN[name].bind({}).table([expected], [actual]).tolist() == [[score]]


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
        ([NAN], [NAN], 0.0),
    ],
)
def test_strict_number_type(expected, actual, score):
    params = {"strict_number_type": True}
    assert BUILTIN["exact"].bind(params).score(expected, actual) == score
    assert BUILTIN["exact"].bind(params).table([expected], [actual]).tolist() == [[score]]


def test_an_equality_matrix_of_everything():
    expected = ["1", 1, True, None, [1, 2], [2, 1], {"a": [1]}, {"a": [1.0]}, NAN]
    actual = [1.0, "1", True, [1.0, 2], {"a": [1]}, None, NAN]
    assert BUILTIN["binary"].bind({}).table(expected, actual).tolist() == [
        [0, 1, 0, 0, 0, 0, 0],
        [1, 0, 0, 0, 0, 0, 0],
        [0, 0, 1, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 1, 0],
        [0, 0, 0, 1, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 1, 0, 0],
        [0, 0, 0, 0, 1, 0, 0],
        [0, 0, 0, 0, 0, 0, 0],
    ]


def test_oneof_values_looks_at_actual_only():
    compare = BUILTIN["oneof"].bind({"values": ["PVD", "CVD", 3, None, [1]]}).score
    scores = [compare("anything", actual) for actual in ("CVD", "ALD", 3.0, True, None, [1.0], [2], NAN)]
    assert scores == [1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0]


def test_oneof_values_may_refuse_null_against_null():
    assert BUILTIN["oneof"].bind({"values": ["a"]}).score(None, None) == 0.0


def test_oneof_takes_python_values_for_json_ones():
    compare = BUILTIN["oneof"].bind({"values": ({"k": (1, 2)}, True)}).score
    assert [compare(None, {"k": [1, 2]}), compare(None, True), compare(None, 1)] == [1.0, 1.0, 0.0]


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
    assert BUILTIN["oneof"].bind({"groups": groups}).score(expected, actual) == score


def test_oneof_lists_can_be_transformed_like_the_data():
    oneof = BUILTIN["oneof"]
    values = oneof.map_params({"values": ("A", 1)}, lambda v: v.lower() if isinstance(v, str) else v)
    groups = oneof.map_params({"groups": [["A", "B"]]}, str.lower)
    assert (values, groups) == ({"values": ["a", 1]}, {"groups": [["a", "b"]]})


def test_containers_in_oneof_lists_are_transformed_as_the_data_are():
    rule = {"compare": {"oneof": {"values": [{"city": "PARIS"}]}}, "transform": ["lowercase"]}
    assert compare_json({"at": {"city": "Paris"}}, {"at": {"city": "x"}}, fields={"at": rule}).score == 1.0


def test_in_same_group():
    assert in_same_group({"groups": [["a"], [{"k": 1}]]}, {"k": 1.0})
    assert not in_same_group({"groups": [["a"]]}, "b")
