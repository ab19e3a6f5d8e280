from __future__ import annotations

import pickle

import pytest

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.semantic.judging import CallableJudge, JudgeError, JudgeItem, JudgeUsage, Verdict


def item(name="1", expected="NYC", actual="nyc"):
    return JudgeItem(name, "city", expected, actual)


def test_a_function_may_answer_with_a_bool_a_verdict_or_an_error():
    budget = JudgeError("budget", "no more")
    answers = {"a": True, "b": Verdict(False, "other city"), "c": budget}
    judge = CallableJudge(lambda one: answers[one.id])
    assert judge.judge([item("a"), item("b"), item("c")]) == {
        "a": Verdict(True),
        "b": Verdict(False, "other city"),
        "c": budget,
    }
    assert judge.usage == JudgeUsage(calls=3, items=3, errors=1)


@pytest.mark.parametrize("answer", [0.5, 1, 0, "maybe", "true", None, [True]])
def test_what_is_no_verdict_is_that_item_s_error(answer):
    error = CallableJudge(lambda one: answer if one.id == "b" else True).judge([item("a"), item("b")])["b"]
    assert str(error) == f"invalid: the judge returned {answer!r}; it must return a bool or a Verdict"


def test_what_a_function_raises_is_that_item_s_error():
    def judge(one):
        if one.id == "b":
            raise KeyError("x")
        return True

    answers = CallableJudge(judge).judge([item("a"), item("b")])
    assert [answers["a"], str(answers["b"])] == [Verdict(True), "invalid: the judge raised KeyError: 'x'"]


def test_a_configuration_error_ends_the_run():
    def judge(one):
        raise ConfigurationError("no key")

    with pytest.raises(ConfigurationError, match="no key"):
        CallableJudge(judge).judge([item()])


def test_an_error_can_be_pickled():
    error = pickle.loads(pickle.dumps(JudgeError("timeout", "no answer")))
    assert (error.kind, error.message, str(error)) == ("timeout", "no answer", "timeout: no answer")
