from __future__ import annotations

import hashlib
import json
import math
from decimal import Decimal

import pytest
from hypothesis import strategies as st

from pytest_jsonmatch import JudgeError, JudgeItem, Verdict
from pytest_jsonmatch.semantic.prompts import (
    ANSWER_SCHEMA,
    PROMPT_VERSION,
    assign_ids,
    format_value,
    make_messages,
    read_answer,
    write_question,
)
from tests.laws import law

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


@law(VALUES, VALUES, TEXTS, st.none() | TEXTS, st.none() | TEXTS)
def test_every_value_comes_back_as_it_was_and_stays_in_its_place(
    expected, actual, path, description, criterion
):
    item = JudgeItem("1", path, expected, actual, description, criterion)
    other = JudgeItem("2", "x", 1, 2)
    text, pairs, (name, _) = pairs_of(item, other)
    printed = {"description": description, "criterion": criterion}
    assert pairs[0] == {
        "id": name,
        "field": path,
        **{key: value for key, value in printed.items() if value is not None},
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
def test_what_is_not_json_is_not_asked_about(value):
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


def test_the_prompt_has_changed_only_with_its_version():
    # If this fails, raise PROMPT_VERSION: verdicts that were kept are answers to another question.
    reported = make_messages(
        assign_ids([write_question(JudgeItem("1", "city", "New York", "NYC", "Where", "the place"))])
    )
    digest = hashlib.sha256(json.dumps([reported, ANSWER_SCHEMA]).encode()).hexdigest()
    assert {PROMPT_VERSION: digest[:16]} == {"1": "d94309e58f1f1e71"}


# -- answers ---------------------------------------------------------------------------------------------

GOOD = '{"verdicts": [{"id": "a", "reason": "same", "equivalent": true}, {"id": "b", "reason": "", "equivalent": false}]}'
READ = {"a": Verdict(True, "same"), "b": Verdict(False)}


def read(*entries, ids=("a", "b")):
    answers = read_answer(json.dumps({"verdicts": list(entries)}), ids)
    return {name: answer if isinstance(answer, Verdict) else str(answer) for name, answer in answers.items()}


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"<think>a is {{}}, so true</think>\n{GOOD}",
        f"Here you are: {GOOD} I hope that helps!",
    ],
)
def test_an_answer_is_found_in_fences_and_prose(text):
    assert read_answer(text, ["a", "b"]) == READ


@pytest.mark.parametrize("value", [0.5, 1, 0, "maybe", "true", None, [True], {"equivalent": True}])
def test_a_verdict_is_true_or_false(value):
    shown = json.dumps(value)
    assert read({"id": "a", "equivalent": value}, {"id": "b", "equivalent": True}) == {
        "a": f"invalid: the judge's verdict must be true or false, got {shown}",
        "b": Verdict(True),
    }


LEFT_OUT = "missing: the judge's answer leaves this pair out"
TWO = "invalid: the judge's answer has two verdicts for this pair: true and false"


@pytest.mark.parametrize(
    ("entries", "first"),
    [
        ([], LEFT_OUT),
        ([{"id": "A", "equivalent": True}, {"id": 7}, "b"], LEFT_OUT),
        ([{"id": "a", "equivalent": True}] * 2, Verdict(True)),
        ([{"id": "a", "equivalent": value} for value in (True, False)], TWO),
    ],
)
def test_each_id_has_its_own_verdict(entries, first):
    assert read(*entries, {"id": "b", "equivalent": True}) == {"a": first, "b": Verdict(True)}


@pytest.mark.parametrize("reason", [None, 7, "", " \n ", ["x"]])
def test_a_reason_is_a_text_or_none(reason):
    assert read({"id": "a", "equivalent": True, "reason": reason}, ids=["a"]) == {"a": Verdict(True)}


def test_a_long_reason_is_cut():
    reason = read({"id": "a", "equivalent": True, "reason": "so " * 1000}, ids=["a"])["a"].reason
    assert (len(reason), reason[-1]) == (300, "…")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the judge's answer is not JSON: the text is empty"),
        (
            "All the same.",
            "the judge's answer is not JSON: there is no object in the text; it begins 'All the same.'",
        ),
        (GOOD[:-10], "the judge's answer is not JSON: output ends inside an object opened at line 1"),
        ('{"a": true}', 'the judge\'s answer has no list of verdicts: {"a": true}'),
        (
            '{"verdicts": {"a": true}}',
            'the judge\'s answer has no list of verdicts: {"verdicts": {"a": true}}',
        ),
        ("[true]", "the judge's answer is not JSON: "),
    ],
)
def test_an_answer_without_verdicts(text, message):
    with pytest.raises(JudgeError) as caught:
        read_answer(text, ["a"])
    assert (caught.value.kind, caught.value.message[: len(message)]) == ("invalid", message)


@law(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.sampled_from(["a", "b", "id", "verdicts"]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["id", "equivalent", "verdicts", "reason"]), inner, max_size=4)
        ),
    )
)
def test_any_json_gives_every_id_a_verdict_or_an_error(value):
    try:
        answers = read_answer(json.dumps(value), ["a", "b"])
    except JudgeError:
        return
    assert [(name, isinstance(answer, (Verdict, JudgeError))) for name, answer in answers.items()] == [
        ("a", True),
        ("b", True),
    ]
