from __future__ import annotations

import hashlib
import json
import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_jsonmatch import JudgeError, JudgeItem
from pytest_jsonmatch.semantic.prompts import (
    ANSWER_SCHEMA,
    PROMPT_VERSION,
    assign_ids,
    format_value,
    make_messages,
    write_question,
)

UNSEEN = "\x00\x1b\x7f\x9b\xad\u200b\u202e\u2028\u2066\udfff\ue000\ufeff\uffff\U000e0041\U0010fffd"
TEXTS = st.text() | st.lists(st.sampled_from([*UNSEEN, *'"\\<>[]{}', "[INST]", "a"])).map("".join)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def pairs_of(*items):
    asked = assign_ids([write_question(each) for each in items])
    text = make_messages(asked)[1]["content"]
    return text, json.loads(text)["pairs"], list(asked)


@given(VALUES, VALUES, TEXTS, st.none() | TEXTS, st.none() | TEXTS)
def test_every_value_comes_back_as_it_was_and_stays_in_its_place(
    expected, actual, path, description, criterion
):
    item = JudgeItem("1", path, expected, actual, description, criterion)
    other = JudgeItem("2", "x", 1, 2)
    text, pairs, (name, _) = pairs_of(item, other)
    said = {"description": description, "criterion": criterion}
    assert pairs[0] == {
        "id": name,
        "field": path,
        **{key: value for key, value in said.items() if value is not None},
        "expected": expected,
        "actual": actual,
    }
    assert (len(pairs), [mark for mark in ("<", ">", "[INST]", *UNSEEN) if mark in text]) == (2, [])
    text.encode("utf-8")


def test_ids_depend_on_all_values_of_a_request_and_are_the_same_for_the_same():
    one, other, third = (write_question(JudgeItem("1", "a", value, value)) for value in ("x", "y", "z"))
    first = list(assign_ids([one, other]))
    assert list(assign_ids([one, other])) == first
    assert set(first).isdisjoint(assign_ids([one, third]))
    assert set(first).isdisjoint(assign_ids([one, other], attempt=1))
    assert len(assign_ids([one] * 3)) == 3


@pytest.mark.parametrize("value", [math.nan, math.inf, {"a": [-math.inf]}])
def test_what_is_no_json_is_not_asked_about(value):
    with pytest.raises(JudgeError, match=r"^invalid: a value contains NaN or an infinity"):
        write_question(JudgeItem("1", "a", 1, value))


def test_words_and_large_numbers_are_json():
    assert format_value(["NaN", Decimal("1e999999999")], 100) == '["NaN", 1E+999999999]'


@pytest.mark.parametrize("value", ["x" * 50_000, ["x"] * 50_000, "\u200b" * 10_000])
def test_a_huge_value_is_not_asked_about(value):
    with pytest.raises(
        JudgeError, match=r"^invalid: a value is too long to be judged: over 40,000 characters"
    ):
        write_question(JudgeItem("1", "a", 1, value))


def test_what_the_judge_is_told_has_changed_only_with_its_version():
    # If this fails, raise PROMPT_VERSION: verdicts that were kept are answers to another question.
    told = make_messages(
        assign_ids([write_question(JudgeItem("1", "city", "New York", "NYC", "Where", "the place"))])
    )
    digest = hashlib.sha256(json.dumps([told, ANSWER_SCHEMA]).encode()).hexdigest()
    assert {PROMPT_VERSION: digest[:16]} == {"1": "d94309e58f1f1e71"}
