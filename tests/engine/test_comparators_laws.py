"""Laws of the comparators, for any JSON values."""

from __future__ import annotations

import math
from decimal import Decimal
from unittest import mock

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from pytest_jsonmatch.engine.comparators import BUILTIN, text
from pytest_jsonmatch.engine.comparators.explain import explain, explain_match
from pytest_jsonmatch.engine.comparators.kinds import OTHER_VALUE, find_kind
from pytest_jsonmatch.engine.value.convert import json_type
from pytest_jsonmatch.engine.value.equality import json_equal
from tests.fuzz.comparators import REFLEXIVE, SYMMETRIC, VARIANTS
from tests.laws import law

SCORING = {key: BUILTIN[key.split()[0]].bind(params) for key, params in VARIANTS.items()}
SCORE = {key: scoring.score for key, scoring in SCORING.items()}
SCORE["date languages"](
    "", "3. April 2024"
)  # the first time, languages are loaded; that takes longer than a test may
SCORE["regex"] = lambda e, a: BUILTIN["regex"].bind({}).score("a.c" if type(e) is str else e, a)
TABLE = {key: scoring.table for key, scoring in SCORING.items() if scoring.table}

texts = (
    st.text(st.characters(), max_size=8)
    | st.text(st.sampled_from("abA é\u0301ßİ.\ud800"), max_size=5)
    | st.sampled_from(
        ["42", " 4.0", "1e400", "a b", "b  A", "2026-01-31", "31.01.2026", "31/01/2026", "n/a", "2026"]
    )
    | st.sampled_from(
        ["1.234,5 €", "1234.5", "$1,234.50", "1,234", "(4) EUR", "-4 USD", "¥4", "3/4/2026", "3. April 2026"]
    )
    | st.sampled_from(["030 123456", "+4930123456", "+1 202 555 0123", "0-306-40615-2", "9780306406157"])
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


@law(expected_values, actual_values, each=SCORE, examples=40)
def test_any_two_values_get_a_score_from_0_to_1(key, expected, actual):
    score = SCORE[key](expected, actual)
    assert type(score) is float
    assert 0.0 <= score <= 1.0


@law(expected_values, each=REFLEXIVE, examples=40)
def test_a_value_matches_itself(key, value):
    assert SCORE[key](value, value) == 1.0


@law(
    expected_values,
    actual_values,
    each=["exact", "binary", "numeric", "relative", "levenshtein"],
    examples=40,
)
def test_only_equal_values_score_1(key, expected, actual):
    assume(not json_equal(expected, actual))
    numeric_text = key == "numeric" and str in {type(expected), type(actual)}
    both_near_zero = key == "relative" and {type(expected), type(actual)} <= {int, float}
    if both_near_zero:
        assume(abs(expected) > 1e-12)
    assume(not numeric_text)
    assert SCORE[key](expected, actual) < 1.0


@law(expected_values, expected_values, each=sorted(SYMMETRIC), examples=40)
def test_the_sides_may_be_exchanged(key, one, other):
    assert SCORE[key](one, other) == pytest.approx(SCORE[key](other, one), abs=1e-12)


@law(expected_values, strange, each=SCORE, examples=10)
def test_nan_and_infinities_match_nothing(key, expected, actual):
    assert SCORE[key](expected, actual) == 0.0


@law(
    actual_values.filter(lambda value: value is not None),
    each=[key for key in VARIANTS if not key.startswith("oneof")],
    examples=20,
)
def test_null_matches_null_only(key, value):
    assume(not (key == "contains" and type(value) is list))
    assert (SCORE[key](None, None), SCORE[key](None, value)) == (1.0, 0.0)


@law(
    st.booleans(),
    finite,
    each=["numeric", "numeric rel", "relative", "threshold", "threshold step", "amount abs"],
    examples=20,
)
def test_a_boolean_is_not_a_number(key, value, number):
    assert (SCORE[key](value, number), SCORE[key](number, value)) == (0.0, 0.0)


@law(st.lists(expected_values, max_size=6), st.lists(actual_values, max_size=6), each=TABLE, examples=40)
def test_the_table_says_the_same(key, expected, actual):
    scores = TABLE[key](expected, actual)
    assert (scores.shape, scores.dtype) == ((len(expected), len(actual)), "float64")
    for row, e in zip(scores.tolist(), expected, strict=True):
        assert row == pytest.approx([SCORE[key](e, a) for a in actual], abs=1e-12)


@law(
    st.lists(expected_values, max_size=6),
    st.lists(actual_values, max_size=6),
    each=[key for key, scoring in SCORING.items() if scoring.rows],
    examples=60,
)
def test_scores_by_row_are_those_that_are_not_0(key, expected, actual):
    scores = [{to: SCORE[key](one, other) for to, other in enumerate(actual)} for one in expected]
    found = SCORING[key].rows(expected, actual)
    assert [dict.fromkeys(line, 0.0) | own for line, own in zip(scores, found, strict=True)] == scores


@law(
    st.lists(finite, min_size=1, max_size=8),
    st.lists(st.sampled_from([0, 0.1, 0.5, 2.5, 3, -0.5, 10, 1e-17]), min_size=1, max_size=8),
    each=[key for key in TABLE if key.split()[0] in {"numeric", "relative", "threshold", "amount"}],
    examples=40,
)
def test_the_table_says_the_same_of_numbers_at_the_limits(key, expected, offsets):
    doubles = [e for e in expected if type(e) is not Decimal and abs(e) < 1e300]
    near = [e + offset for e, offset in zip(doubles, offsets, strict=False)]
    scores = TABLE[key](expected, near)
    for row, e in zip(scores.tolist(), expected, strict=True):
        assert row == pytest.approx([SCORE[key](e, a) for a in near], abs=1e-12)


@law(
    st.sampled_from([*BUILTIN, "mine", None]),
    st.sampled_from([{}, *VARIANTS.values()]),
    expected_values,
    actual_values,
    examples=150,
)
def test_explain_survives_anything(name, params, expected, actual):
    reason = explain(name, params, expected, actual) or explain_match(name, params, expected, actual)
    assert reason is None or (0 < len(reason) < 100 and reason.isprintable())


@law(expected_values, expected_values)
def test_explain_names_both_types_where_no_kind_says_more(expected, actual):
    assume(json_type(expected) != json_type(actual))
    assume(find_kind(expected, actual) == OTHER_VALUE)
    assert explain("exact", {}, expected, actual) == f"{json_type(expected)} against {json_type(actual)}"


def test_values_as_deep_as_they_may_be():
    deep, other, texts_too = [], [], "Ä"
    for _ in range(126):
        deep, other, texts_too = [deep], [other], [texts_too]
    other = [other]
    assert [SCORE[key](deep, deep) for key in REFLEXIVE] == [1.0] * len(REFLEXIVE)
    # An empty array within an array: one level more is "contained" by none.
    assert [SCORE[key](other, deep) for key in REFLEXIVE if key != "contains"] == [0.0] * (len(REFLEXIVE) - 1)
    assert {key: TABLE[key]([deep, other], [deep]).tolist() for key in TABLE if key in REFLEXIVE} == {
        key: [[1.0], [0.0]] for key in TABLE if key in REFLEXIVE
    }
    assert SCORE["normalized_text"](texts_too, texts_too) == 1.0


long_texts = st.text(st.sampled_from("ab é\U0001f600\ud800"), min_size=75, max_size=90)


@law(
    long_texts,
    st.lists(long_texts | scalars, max_size=4),
    st.lists(long_texts | scalars, max_size=3),
    st.integers(0, 9),
)
def test_a_ceiling_is_never_below_the_score(first, more, others, cut):
    expected = [first, *more]
    actual = [*(value[cut:] if type(value) is str else value for value in expected), *others]
    with mock.patch.object(text, "_FEW_PAIRS", 0):
        upper_bounds = SCORING["levenshtein"].upper_bounds(expected, actual)
    assert (upper_bounds >= SCORING["levenshtein"].table(expected, actual)).all()
    assert upper_bounds.max() <= 1.0


def test_a_ceiling_proves_most_pairs_of_texts_to_be_worse_than_their_own():
    words = [[f"{letter}{at}" for at in range(40)] for letter in "abcdefghijklmnopqrstuvwxy"]
    expected, actual = ([" ".join(own[first : first + 30]) for own in words] for first in (0, 10))
    upper_bounds = SCORING["levenshtein"].upper_bounds(expected, actual)
    exact = SCORING["levenshtein"].table(expected, actual)
    assert upper_bounds.diagonal().tolist() == exact.diagonal().tolist()
    assert (upper_bounds >= exact).all()
    assert upper_bounds.max(initial=0.0, where=~np.eye(25, dtype=bool)) <= exact.diagonal().max()
