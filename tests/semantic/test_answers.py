from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_jsonmatch import JudgeError, Verdict
from pytest_jsonmatch.semantic.prompts import read_answer

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


@given(
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
