from __future__ import annotations

import pickle

import pytest

from pytest_jsonmatch import CallableJudge, ConfigurationError, JudgeError, JudgeItem, JudgeUsage, Verdict


def item(name="1", expected="NYC", actual="nyc"):
    return JudgeItem(name, "city", expected, actual)


BUDGET = JudgeError("budget", "no more")


@pytest.mark.parametrize(
    ("answer", "printed"),
    [
        (True, Verdict(True)),
        (Verdict(False, "other city"), Verdict(False, "other city")),
        (BUDGET, BUDGET),
        *[
            (answer, f"invalid: the judge must return a bool or a Verdict, got {answer!r}")
            for answer in (0.5, 1, "true", None, [True])
        ],
        (KeyError("x"), "invalid: the judge raised KeyError: 'x'"),
    ],
)
def test_a_function_s_answer_is_a_verdict_or_that_item_s_error(answer, printed):
    def fn(one):
        if isinstance(answer, KeyError) and one.id == "b":
            raise answer
        return answer if one.id == "b" else True

    judge = CallableJudge(fn)
    answers = judge.judge([item("a"), item("b")])
    found = answers["b"] if isinstance(answers["b"], Verdict) or answers["b"] is BUDGET else str(answers["b"])
    assert (answers["a"], found) == (Verdict(True), printed)
    assert judge.usage == JudgeUsage(calls=2, items=2, errors=int(not isinstance(answers["b"], Verdict)))


def test_a_configuration_error_ends_the_run():
    def judge(one):
        raise ConfigurationError("no key")

    with pytest.raises(ConfigurationError, match="no key"):
        CallableJudge(judge).judge([item()])


def test_an_error_can_be_pickled():
    error = pickle.loads(pickle.dumps(JudgeError("timeout", "no answer")))
    assert (error.kind, error.message, str(error)) == ("timeout", "no answer", "timeout: no answer")
