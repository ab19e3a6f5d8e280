from __future__ import annotations

import pickle
import threading

import pytest

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.semantic.judging import (
    CallableJudge,
    Judge,
    JudgeError,
    JudgeItem,
    JudgeUsage,
    Verdict,
)


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


def test_a_judge_is_made_of_a_function():
    with pytest.raises(TypeError, match="not from str"):
        CallableJudge("exact")


def test_threads_lose_no_count():
    together = threading.Barrier(8)
    judge = CallableJudge(lambda one: True)

    def ask():
        together.wait()
        for _ in range(200):
            judge.judge([item()])

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert judge.usage == JudgeUsage(calls=1600, items=1600)


def test_an_error_can_be_pickled():
    error = pickle.loads(pickle.dumps(JudgeError("timeout", "no answer")))
    assert (error.kind, error.message, str(error)) == ("timeout", "no answer", "timeout: no answer")


def test_all_judges_are_judges(tmp_path):
    from pytest_jsonmatch.semantic.cache import CachedJudge
    from pytest_jsonmatch.semantic.openaijudge import OpenAIJudge

    mine = CallableJudge(lambda one: True)
    judges = [mine, OpenAIJudge("m"), CachedJudge(mine, tmp_path / "v"), CachedJudge(None, tmp_path / "v")]
    assert [isinstance(judge, Judge) for judge in judges] == [True] * 4
