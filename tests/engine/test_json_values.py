"""SPEC section 1: what counts as a JSON value, and when two of them are equal."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import json
import pathlib
import re
import uuid
from decimal import Decimal
from unittest.mock import ANY, MagicMock, Mock

import pytest

from pytest_jsonmatch import (
    InvalidExpectedError,
    UnsupportedValueError,
    assert_json_match,
    compare_json,
    to_json_value,
)


class Color(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: int
    y: object


def test_python_forms():
    value = {
        "when": dt.date(2026, 1, 31),
        "at": dt.time(12, 30),
        "stamp": dt.datetime(2026, 1, 31, 12, 30),
        "id": uuid.UUID(int=5),
        "path": pathlib.PurePosixPath("a/b"),
        "color": Color.RED,
        "point": Point(1, (2, Color.RED)),
        "amount": Decimal("12.50"),
        "count": Decimal(3),
        "huge": Decimal("1e400"),
    }
    assert to_json_value(value) == {
        "when": "2026-01-31",
        "at": "12:30:00",
        "stamp": "2026-01-31T12:30:00",
        "id": "00000000-0000-0000-0000-000000000005",
        "path": "a/b",
        "color": "red",
        "point": {"x": 1, "y": [2, "red"]},
        "amount": 12.5,
        "count": 3,
        "huge": Decimal("1e400"),
    }


class Key(str, enum.Enum):
    A = "a"


@pytest.mark.parametrize(
    "make", [lambda: Key.A, lambda: pytest.importorskip("numpy").str_("a")], ids=["enum", "numpy"]
)
@pytest.mark.parametrize(
    "wrap", [lambda value: value, lambda value: [{"deep": value, "n": None}]], ids=["root", "deep"]
)
def test_keys_of_a_subclass_of_str_are_plain_strings(make, wrap):
    key = make()
    result = compare_json(wrap({key: 1}), wrap({key: 2}))
    assert type(result.field_results[0].actual_key) is str


def test_a_comparison_leaves_nothing_of_its_keys_to_the_next_one():
    assert compare_json({"a": 1}, {Key.A: 2}, fields={"*": "skip"}).score == 1.0
    result = compare_json({"a": 1}, {"a": 2}, fields={"*": "skip"})
    assert [(each.path, each.status) for each in result.field_results] == [("a", "skipped")]


def test_pydantic_and_attrs():
    pydantic = pytest.importorskip("pydantic")
    attrs = pytest.importorskip("attrs")

    class Model(pydantic.BaseModel):
        total: Decimal
        tags: list[str]

    made = attrs.make_class("Made", ["a"])
    assert to_json_value({"m": Model(total=Decimal("1.5"), tags=["x"]), "a": made(1)}) == {
        "m": {"total": "1.5", "tags": ["x"]},
        "a": {"a": 1},
    }


def test_scalars_of_numpy_are_what_item_gives():
    np = pytest.importorskip("numpy")
    values = np.int64(3), np.float64(0.1), np.float32(0.1), np.bool_(True), np.array(2**60), np.str_("x")
    assert to_json_value({"v": values}) == {"v": [3, 0.1, 0.10000000149011612, True, 2**60, "x"]}
    assert to_json_value(np.datetime64("2026-01-31")) == "2026-01-31"


@pytest.mark.parametrize(
    ("library", "made", "call"),
    [
        ("numpy", lambda numpy: numpy.array([1]), ".tolist()"),
        ("pandas", lambda pandas: pandas.Series([1]), ".tolist()"),
        ("pandas", lambda pandas: pandas.DataFrame({"a": [1]}), ".to_dict('records')"),
        ("polars", lambda polars: polars.DataFrame({"a": [1]}), ".to_dicts()"),
        ("polars", lambda polars: polars.Series([1]), ".to_list()"),
    ],
)
def test_arrays_and_data_frames_say_what_to_call(library, made, call):
    value = made(pytest.importorskip(library))
    with pytest.raises(UnsupportedValueError, match=f"has no JSON form; call {re.escape(call)}$"):
        to_json_value({"a": value})


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": [1, {"b c": {1, 2}}]}, r'a\[1\]\["b c"\]'),
        ({"a": b"x"}, "at a"),
        ({"a": {1: 2}}, r"^actual has the key 1 \(int\) in the object at a; "),
        (object(), r"at \$"),
    ],
)
def test_what_has_no_json_form_is_a_type_error_that_names_the_path(value, path):
    with pytest.raises(UnsupportedValueError, match=path) as caught:
        to_json_value(value)
    assert isinstance(caught.value, TypeError)


class _Response:
    def json(self):
        return {"a": 1}


async def _ask():
    return {"a": 1}


class _Model:
    @classmethod
    def model_json_schema(cls):
        return {}


@pytest.mark.parametrize("side", ["actual", "expected"])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (_Response(), "a _Response at a, which has no JSON form; call .json()"),
        (_Response, "the class _Response at a, which has no JSON form; give an instance"),
        (_Model, "the class _Model at a, which has no JSON form; give an instance, or the class as `schema`"),
        (int, "the class int at a, which has no JSON form; give an instance"),
        (_ask, "a function at a, which has no JSON form; call it and await the result"),
        (lambda: 1, "a function at a, which has no JSON form; call it"),
        (_Response().json, "a method at a, which has no JSON form; call it"),
        (iter([1]), "a list_iterator at a, which has no JSON form; give a list"),
        (object(), "an object at a, which has no JSON form"),
    ],
)
def test_what_to_do_about_a_value_without_a_json_form(side, value, message):
    sides = ({"a": value}, {"a": 1}) if side == "actual" else ({"a": 1}, {"a": value})
    with pytest.raises(UnsupportedValueError) as error:
        compare_json(*sides)
    assert str(error.value) == f"{side} has {message}"


def test_a_coroutine_has_to_be_awaited():
    asked = _ask()
    with pytest.raises(UnsupportedValueError, match="which has no JSON form; await it first"):
        compare_json(asked, {"a": 1})
    asked.close()


@pytest.mark.parametrize("matcher", [ANY, pytest.approx(1), re.compile("a")], ids=repr)
def test_a_matcher_in_actual_is_on_the_wrong_side(matcher):
    with pytest.raises(
        UnsupportedValueError, match="matchers belong in expected; are the two arguments swap"
    ):
        compare_json({"a": matcher}, {"a": 1})


def test_a_cycle_is_an_error():
    loop = [1]
    loop.append(loop)
    with pytest.raises(UnsupportedValueError, match="contains itself"):
        to_json_value({"a": loop})


def nested(levels, wrap=lambda value: [value]):
    """Return a container of that many levels."""
    value = wrap(1)
    for _ in range(levels - 1):
        value = wrap(value)
    return value


@pytest.mark.parametrize("side", ["expected", "actual"])
@pytest.mark.parametrize(
    "wrap", [lambda v: [v], lambda v: (v, 1), lambda v: {"a": v}, lambda v: {"a": v, "b": b""[:0].decode()}]
)
def test_values_have_at_most_128_levels(side, wrap):
    to_json_value(nested(128, wrap), side=side)
    too_deep = rf"^{side} has more than 128 levels of arrays and objects at (a|\[0\])[^ ]*; compare its parts"
    with pytest.raises(UnsupportedValueError, match=too_deep):
        to_json_value(nested(129, wrap), side=side)


def test_scalars_are_no_level():
    assert to_json_value(
        nested(128, lambda value: {"deep": value, "other": [1.5]} if value != 1 else {"deep": 1})
    )


def test_the_same_list_twice_is_no_cycle():
    shared = [1]
    assert to_json_value([shared, shared]) == [[1], [1]]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf"), Decimal("NaN")])
def test_numbers_that_are_not_json_are_errors_in_expected_and_score_0_in_actual(bad):
    with pytest.raises(InvalidExpectedError, match=r"at a\[0\]"):
        compare_json({"a": [1.5]}, {"a": [bad]})
    for metric in ("field_match", "field_match_normalized", "json_similarity", "pairwise_f1", "leaf_f1"):
        assert compare_json({"a": bad}, {"a": 1.5}, metric=metric).score == 0.0


def test_integers_are_exact_and_equal_doubles():
    def are_equal(expected, actual):
        return compare_json({"v": actual}, {"v": expected}, fields={"v": {"compare": "exact"}}).score == 1.0

    assert not are_equal(2**53, 2**53 + 1)
    assert compare_json({"n": 2**53 + 1}, {"n": 2**53}).score == 0.0
    assert are_equal([1, {"a": 1.0}], [1.0, {"a": 1}])
    assert not are_equal([True], [1])
    assert not are_equal({"a": {"b": False}}, {"a": {"b": 0}})


@pytest.mark.parametrize("side", ["expected", "actual"])
def test_an_integer_of_more_than_4_300_digits_is_an_error(side):
    assert to_json_value([10**4300 - 1, -(10**4300) + 1], side=side)
    with pytest.raises(
        (InvalidExpectedError, UnsupportedValueError), match="at n an integer of more than 4,300 digits"
    ):
        to_json_value({"n": 10**4300}, side=side)


def test_numbers_beyond_doubles_compare_by_value():
    assert compare_json('{"n": 1e400}', f'{{"n": 1{"0" * 400}}}').score == 1.0
    assert compare_json('{"n": 1e999999999}', '{"n": 1e999999998}', metric="json_similarity").score < 1.0


def test_the_caller_s_objects_are_neither_changed_nor_looked_at_again():
    expected, actual = {"a": 1, "b": "x"}, {"a": 1, "b": "y"}
    result = compare_json(actual, expected, metric="json_similarity")
    assert (expected, actual) == ({"a": 1, "b": "x"}, {"a": 1, "b": "y"})
    actual["a"] = expected["b"] = None
    assert [(f.expected, f.actual) for f in result.field_results] == [(1, 1), ("x", "y")]


def test_duplicate_keys_in_actual_text_warn_and_the_last_wins():
    result = compare_json('{"a": 1, "a": 2}', {"a": 2})
    assert (result.score, len(result.warnings)) == (1.0, 1)


def shown(value):
    """A value as a failure shows it, and its line there if that is not the first."""
    with pytest.raises(AssertionError) as caught:
        assert_json_match({"v": 7}, {"v": value}, metric="field_match")
    first, *lines = str(caught.value).splitlines()
    return [first.removeprefix("v ").partition(" → ")[0], *lines[2:]]


def test_a_value_has_a_comma_after_what_is_empty():
    assert shown([[], None, {"a": {}, "b": 1}])[0] == '[[], null, {"a": {}, "b": 1}]'


def test_a_long_value_is_cut():
    assert shown({"a": ["é", None, True, 1.5]})[0] == '{"a": ["é", null, true, 1.5]}'
    words = json.dumps(["word"] * 1000)
    first, *lines = shown(["word"] * 1000)
    assert words.startswith(first.removesuffix("…"))
    (line,) = (line for line in lines if line.startswith("      expected "))
    text = line.removeprefix("      expected ")
    assert (len(line), text[-1], words.startswith(text[:-1])) == (72, "…", True)


def test_a_mock_has_no_json_form():
    for value in (MagicMock(), Mock()):
        with pytest.raises(UnsupportedValueError, match=r"has an? (Magic)?Mock at a, which has no JSON form"):
            to_json_value({"a": value})


def test_the_path_of_a_value_that_is_too_deep_is_cut():
    with pytest.raises(UnsupportedValueError) as caught:
        to_json_value(nested(200))
    assert f"at {'[0]' * 10}…{'[0]' * 10}; compare" in str(caught.value)
