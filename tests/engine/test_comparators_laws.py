"""Laws of the comparators, for any JSON values."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pytest_jsonmatch.engine.compare import BUILTIN, explain
from pytest_jsonmatch.engine.value.convert import json_type
from pytest_jsonmatch.engine.value.equality import json_equal

BOUND = {
    "exact": {},
    "exact strict": {"strict_number_type": True},
    "binary": {},
    "numeric": {},
    "numeric rel": {"tolerance": {"rel": 0.1}},
    "numeric abs": {"tolerance": {"abs": 0.5}},
    "numeric both": {"tolerance": {"rel": 0.5, "abs": 2}},
    "relative": {},
    "threshold": {"threshold": 10},
    "threshold steep": {"threshold": 3, "difference_penalty_weighting": 0.1},
    "threshold step": {"threshold": 2.5, "difference_penalty_weighting": 0},
    "levenshtein": {},
    "jaccard": {},
    "oneof": {"values": ["a", 1, None, [True]]},
    "oneof groups": {"groups": [["a", "b", 1], [None, "n/a"], [1, 2.5]]},
    "normalized_text": {},
    "date": {},
    "date formats": {"formats": ["%d/%m/%Y", "%Y"]},
    "contains": {},
}
SCALAR = {key: BUILTIN[key.split()[0]].bind(params) for key, params in BOUND.items()}
SCALAR["regex"] = lambda e, a: BUILTIN["regex"].bind({})("a.c" if type(e) is str else e, a)
PAIRWISE = {
    key: BUILTIN[key.split()[0]].pairwise(params)
    for key, params in BOUND.items()
    if BUILTIN[key.split()[0]].pairwise
}
SPARSE = {
    key: BUILTIN[key.split()[0]].sparse(params)
    for key, params in BOUND.items()
    if BUILTIN[key.split()[0]].sparse
}
FEW = {
    key: BUILTIN[key.split()[0]].few(params) for key, params in BOUND.items() if BUILTIN[key.split()[0]].few
}
REFLEXIVE = [key for key in BOUND if key != "oneof"]
SYMMETRIC = [
    "exact",
    "exact strict",
    "binary",
    "numeric",
    "numeric abs",
    "threshold",
    "threshold steep",
    "threshold step",
    "levenshtein",
    "jaccard",
    "oneof groups",
    "normalized_text",
    "date",
    "date formats",
]

texts = (
    st.text(st.characters(), max_size=8)
    | st.text(st.sampled_from("abA é\u0301ßİ.\ud800"), max_size=5)
    | st.sampled_from(
        ["42", " 4.0", "1e400", "a b", "b  A", "2026-01-31", "31.01.2026", "31/01/2026", "n/a", "2026"]
    )
)
finite = (
    st.integers(-20, 20)
    | st.integers()
    | st.sampled_from([2**52, 2**53, 2**53 + 1, 10**400, -(10**400) - 1])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.floats(-30, 30).map(lambda x: round(x, 1))
    | st.sampled_from(
        [Decimal("1e400"), Decimal("1.01e400"), Decimal("-1e999999999"), 0.0, -0.0, 1e-12, 5e-324]
    )
)
scalars = st.none() | st.booleans() | finite | texts
expected_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
strange = st.sampled_from([math.nan, math.inf, -math.inf])
actual_values = expected_values | strange | st.lists(strange, max_size=2)


@pytest.mark.parametrize("key", SCALAR)
@given(expected=expected_values, actual=actual_values)
@settings(max_examples=40)
def test_any_two_values_get_a_score_from_0_to_1(key, expected, actual):
    score = SCALAR[key](expected, actual)
    assert type(score) is float
    assert 0.0 <= score <= 1.0


@pytest.mark.parametrize("key", REFLEXIVE)
@given(value=expected_values)
@settings(max_examples=40)
def test_a_value_matches_itself(key, value):
    assert SCALAR[key](value, value) == 1.0


@pytest.mark.parametrize("key", ["exact", "binary", "numeric", "relative", "levenshtein"])
@given(expected=expected_values, actual=actual_values)
@settings(max_examples=40)
def test_only_equal_values_score_1(key, expected, actual):
    assume(not json_equal(expected, actual))
    numeric_text = key == "numeric" and str in {type(expected), type(actual)}
    both_near_zero = key == "relative" and {type(expected), type(actual)} <= {int, float}
    if both_near_zero:
        assume(abs(expected) > 1e-12)
    assume(not numeric_text)
    assert SCALAR[key](expected, actual) < 1.0


@pytest.mark.parametrize("key", SYMMETRIC)
@given(one=expected_values, other=expected_values)
@settings(max_examples=40)
def test_the_sides_may_be_exchanged(key, one, other):
    assert SCALAR[key](one, other) == pytest.approx(SCALAR[key](other, one), abs=1e-12)


@pytest.mark.parametrize("key", SCALAR)
@given(expected=expected_values, actual=strange)
@settings(max_examples=10)
def test_nan_and_infinities_match_nothing(key, expected, actual):
    assert SCALAR[key](expected, actual) == 0.0


@pytest.mark.parametrize("key", [key for key in BOUND if not key.startswith("oneof")])
@given(value=actual_values.filter(lambda value: value is not None))
@settings(max_examples=20)
def test_null_matches_null_only(key, value):
    assume(not (key == "contains" and type(value) is list))
    assert (SCALAR[key](None, None), SCALAR[key](None, value)) == (1.0, 0.0)


@pytest.mark.parametrize("key", ["numeric", "numeric rel", "relative", "threshold", "threshold step"])
@given(value=st.booleans(), number=finite)
@settings(max_examples=20)
def test_a_boolean_is_no_number(key, value, number):
    assert (SCALAR[key](value, number), SCALAR[key](number, value)) == (0.0, 0.0)


@pytest.mark.parametrize("key", PAIRWISE)
@given(expected=st.lists(expected_values, max_size=6), actual=st.lists(actual_values, max_size=6))
@settings(max_examples=40)
def test_the_vectorised_form_says_the_same(key, expected, actual):
    scores = PAIRWISE[key](expected, actual)
    assert (scores.shape, scores.dtype) == ((len(expected), len(actual)), "float64")
    for row, e in zip(scores.tolist(), expected, strict=True):
        assert row == pytest.approx([SCALAR[key](e, a) for a in actual], abs=1e-12)


some_texts = st.lists(texts | st.sampled_from(["a b", "b c", "c", "C a"]), min_size=1, max_size=8)
near_numbers = st.lists(finite | st.sampled_from([0, 2.5, 3, 5.5, 10, 13]), min_size=1, max_size=8)


@pytest.mark.parametrize("key", SPARSE)
@given(sides=st.tuples(some_texts, some_texts) | st.tuples(near_numbers, near_numbers))
@settings(max_examples=60)
def test_the_pairs_that_do_not_score_0_are_those_of_the_scalar_form(key, sides):
    expected, actual = sides
    edges = SPARSE[key](expected, actual, len(expected) * len(actual))
    if edges is None:
        return
    rows, columns, scores = (part.tolist() for part in edges)
    found = dict(zip(zip(rows, columns, strict=True), scores, strict=True))
    assert len(found) == len(rows)
    for i, e in enumerate(expected):
        said = [found.get((i, j), 0.0) for j in range(len(actual))]
        assert said == pytest.approx([SCALAR[key](e, a) for a in actual], abs=1e-12)


@pytest.mark.parametrize("key", FEW)
@given(
    sides=st.tuples(some_texts, some_texts)
    | st.tuples(near_numbers, near_numbers)
    | st.tuples(st.lists(scalars, min_size=1), st.lists(scalars | strange, min_size=1))
)
@settings(max_examples=60)
def test_so_are_those_of_short_lists(key, sides):
    expected, actual = sides
    edges = FEW[key](expected, actual)
    if edges is None:
        return
    found = {(i, j): score for i, j, score in edges}
    assert len(found) == len(edges)
    for i, e in enumerate(expected):
        said = [found.get((i, j), 0.0) for j in range(len(actual))]
        assert said == pytest.approx([SCALAR[key](e, a) for a in actual], abs=1e-12)


@pytest.mark.parametrize("key", ["exact", "binary", "numeric", "jaccard", "threshold"])
def test_too_many_pairs_that_score_are_not_listed(key):
    values = ["a", "a", "a"] if key == "jaccard" else [1, 1, 1]
    assert SPARSE[key](values, values, 9)[0].tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert SPARSE[key](values, values, 4) is None


@pytest.mark.parametrize(
    "key", [key for key in PAIRWISE if key.split()[0] in {"numeric", "relative", "threshold"}]
)
@given(
    expected=st.lists(finite, min_size=1, max_size=8),
    offsets=st.lists(st.sampled_from([0, 0.1, 0.5, 2.5, 3, -0.5, 10, 1e-17]), min_size=1, max_size=8),
)
@settings(max_examples=40)
def test_the_vectorised_form_says_the_same_of_numbers_at_the_limits(key, expected, offsets):
    doubles = [e for e in expected if type(e) is not Decimal and abs(e) < 1e300]
    near = [e + offset for e, offset in zip(doubles, offsets, strict=False)]
    scores = PAIRWISE[key](expected, near)
    for row, e in zip(scores.tolist(), expected, strict=True):
        assert row == pytest.approx([SCALAR[key](e, a) for a in near], abs=1e-12)


@given(
    name=st.sampled_from([*BUILTIN, "mine", None]),
    params=st.sampled_from([{}, *BOUND.values()]),
    expected=expected_values,
    actual=actual_values,
)
@settings(max_examples=150)
def test_explain_survives_anything(name, params, expected, actual):
    reason = explain(name, params, expected, actual)
    assert reason is None or (0 < len(reason) < 100 and reason.isprintable())


@given(expected=expected_values, actual=expected_values)
def test_explain_names_both_types_where_they_differ(expected, actual):
    assume(json_type(expected) != json_type(actual))
    assert explain("exact", {}, expected, actual) == f"{json_type(expected)} against {json_type(actual)}"


def test_values_nested_far_deeper_than_python_recurses():
    deep, other, texts_too = [], [], "Ä"
    for _ in range(30_000):
        deep, other, texts_too = [deep], [other], [texts_too]
    other = [other]
    assert [SCALAR[key](deep, deep) for key in REFLEXIVE] == [1.0] * len(REFLEXIVE)
    # An empty array within an array: one level more is "contained" by none.
    assert [SCALAR[key](other, deep) for key in REFLEXIVE if key != "contains"] == [0.0] * (
        len(REFLEXIVE) - 1
    )
    assert [PAIRWISE[key]([deep, other], [deep]).tolist() for key in PAIRWISE] == [[[1.0], [0.0]]] * len(
        PAIRWISE
    )
    assert SCALAR["normalized_text"](texts_too, texts_too) == 1.0
