"""The comparator `semantic`: what reaches a judge, what becomes of its verdicts, and who judges."""

from __future__ import annotations

import importlib
import multiprocessing
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

from pytest_jsonmatch import (
    CallableJudge,
    ConfigurationError,
    JudgeError,
    Verdict,
    compare_corpus,
    compare_json,
)
from tests.conftest import session_registry

SEMANTIC = {"metric": "leaf_f1", "compare": {"string": "semantic"}}
OF_ANY_TYPE = {"metric": "leaf_f1", "fields": {"*": {"compare": "semantic"}}}


class Asked:
    """A judge that takes texts for the same but for case, and counts what it is asked."""

    def __init__(self, answer=None):
        self.answer = answer
        self.items = []

    def __call__(self, item):
        self.items.append(item)
        same = str(item.expected).lower() == str(item.actual).lower()
        return same if self.answer is None else self.answer(item)

    @property
    def pairs(self):
        return [(item.expected, item.actual) for item in self.items]


def statuses(result):
    return {field.path: (field.status, field.score, field.reason) for field in result.field_results}


def test_verdicts_are_scores():
    def say(item):
        return Verdict(item.actual == "NYC", "an abbreviation" if item.actual == "NYC" else "another city")

    result = compare_json({"a": "NYC", "b": "LA"}, {"a": "New York", "b": "New York"}, judge=say, **SEMANTIC)
    assert statuses(result) == {
        "a": ("match", 1.0, "an abbreviation"),
        "b": ("mismatch", 0.0, "another city"),
    }


def test_equal_values_never_reach_the_judge_also_after_transforms():
    judge = Asked()
    actual, expected = (
        {"same": "x", "spaced": " x ", "other": "X"},
        {"same": "x", "spaced": "x", "other": "x"},
    )
    compare_json(actual, expected, transform=["strip"], judge=judge, **SEMANTIC)
    assert judge.pairs == [("x", "X")]


def test_nulls_are_not_worth_a_question():
    judge = Asked(lambda item: True)
    actual, expected = {"a": None, "b": "x", "c": None}, {"a": "x", "b": None, "c": None}
    result = compare_json(actual, expected, judge=judge, **OF_ANY_TYPE)
    assert ([field.score for field in result.field_results], judge.items) == ([0.0, 0.0, 1.0], [])


def test_named_for_a_field_it_gets_values_of_any_type():
    judge = Asked(lambda item: True)
    actual, expected = (
        {"n": "twelve", "o": {"street": "Main St 1"}},
        {"n": 12, "o": {"road": "1 Main Street"}},
    )
    compare_json(actual, expected, judge=judge, **OF_ANY_TYPE)
    assert judge.pairs == [(12, "twelve"), ({"road": "1 Main Street"}, {"street": "Main St 1"})]


def test_path_criterion_and_the_words_of_the_schema_go_along():
    judge = Asked(lambda item: True)
    wish = {"type": "string", "x-eval-compare": {"semantic": {"criterion": "the same wish"}}}
    words = {"title": "Notes", "description": "What the waiter wrote down."}
    plain = {"type": "string", "x-eval-compare": "semantic"}
    schema = {
        "type": "object",
        "properties": {"notes": {"type": "array", "items": wish, **words}, "plain": plain},
    }
    actual, expected = {"notes": ["no ice"], "plain": "a"}, {"notes": ["without ice"], "plain": "b"}
    compare_json(actual, expected, metric="leaf_f1", schema=schema, judge=judge)
    assert [(item.path, item.description, item.criterion) for item in judge.items] == [
        ("notes[]", "Notes: What the waiter wrote down.", "the same wish"),
        ("plain", None, None),
    ]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"criterium": "x"}, " has no parameter 'criterium'; did you mean"),
        ({"criterion": 5}, ": 'criterion' must be text, got 5"),
        ({"judge": " "}, ": 'judge' must be text, got ' '"),
    ],
)
def test_parameters_are_checked_when_the_plan_is_made(parameters, message):
    with pytest.raises(ConfigurationError, match=f"comparator 'semantic'{message}"):
        compare_json({"a": 1}, {"a": 1}, fields={"a": {"compare": {"semantic": parameters}}})


# -- errors ------------------------------------------------------------------------------------------------


def test_an_item_without_a_verdict_is_a_batch_error_with_its_reason():
    def say(item):
        return JudgeError("budget", "max_calls=1 is used up") if item.actual == "x" else True

    result = compare_json({"a": "x", "b": "y"}, {"a": "1", "b": "2"}, judge=say, **SEMANTIC)
    assert (statuses(result)["a"], result.counts, result.score, list(map(str, result.errors))) == (
        ("batch_error", 0.0, "budget: max_calls=1 is used up"),
        {"match": 1, "batch_error": 1},
        1.0,
        ["a: comparator 'semantic' budget: max_calls=1 is used up"],
    )


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        (lambda item: {}, "missing: the judge gave no answer for this item"),
        (lambda item: None, "missing: the judge gave no answer for this item"),
        (lambda item: {item.id: 0.5}, "invalid: the judge answered 0.5, which is not a Verdict"),
        (
            lambda item: {item.id: Verdict("yes")},
            "invalid: the judge answered Verdict(equivalent='yes', reason=None), which is not a Verdict",
        ),
        (lambda item: 1 / 0, "invalid: the judge raised ZeroDivisionError: division by zero"),
    ],
)
def test_answers_that_are_none_are_errors_and_no_guess(answers, reason):
    class Wrong:
        def judge(self, items):
            return answers(*items)

    result = compare_json({"a": "x"}, {"a": "y"}, judge=Wrong(), **SEMANTIC)
    assert [field.reason for field in result.field_results] == [reason]


# -- who judges --------------------------------------------------------------------------------------------


def test_without_a_judge_the_error_says_how_to_get_one():
    with session_registry(), pytest.raises(ConfigurationError) as caught:
        compare_json({"a": "x"}, {"a": "y"}, **SEMANTIC)
    assert str(caught.value) == (
        "no judge is configured: register one, or pass judge=...; in pytest set jsonmatch_judge (docs/judge.md)"
    )


def test_the_nearest_judge_is_asked():
    with session_registry() as registry:
        registry.judge("default", lambda item: Verdict(equivalent=True, reason="the default"))
        registry.judge("strict", lambda item: Verdict(equivalent=True, reason="strict"))
        fields = {"named": {"compare": {"semantic": {"judge": "strict"}}}}
        actual, expected = {"named": "x", "plain": "x"}, {"named": "y", "plain": "y"}
        judges = (None, "strict", lambda item: Verdict(True, "own"))
        results = [compare_json(actual, expected, fields=fields, judge=each, **SEMANTIC) for each in judges]
    reasons = [[field.reason for field in result.field_results] for result in results]
    assert reasons == [["strict", "the default"], ["strict", "strict"], ["strict", "own"]]


@pytest.mark.parametrize(
    ("judge", "message"),
    [
        (5, "a function of one item, or the name of a registered judge, got 5"),
        (CallableJudge, "judge, got <class 'pytest_jsonmatch.semantic.judging.CallableJudge'>"),
        ("strct", "unknown judge 'strct'; did you mean 'strict'?"),
    ],
)
def test_what_is_no_judge_is_refused(judge, message):
    with session_registry() as registry, pytest.raises(ConfigurationError, match=message):
        registry.judge("strict", lambda item: True)
        compare_json({"a": "x"}, {"a": "y"}, judge=judge, **SEMANTIC)


# -- equal questions ---------------------------------------------------------------------------------------


def test_equal_questions_are_asked_once_a_run_whatever_the_chunks():
    judge = Asked()
    gold, answers = [{"city": "Rome", "land": "Rome"}] * 7, [{"city": "ROME", "land": "ROME"}] * 7
    run = compare_corpus(answers, gold, judge=judge, chunk_size=2, compare={"string": "semantic"})
    assert (run.mean_f1, [(item.path, item.actual) for item in judge.items]) == (
        1.0,
        [("city", "ROME"), ("land", "ROME")],
    )


def test_the_first_verdict_counts_in_all_threads_that_ask_the_same():
    both, verdicts = threading.Barrier(2, timeout=30), iter([True, False])

    def judge(item):
        both.wait()
        return next(verdicts)

    gold, answers = [{"city": "Rome"}] * 2, [{"city": "Roma"}] * 2
    with ThreadPoolExecutor(2) as threads:
        run = compare_corpus(answers, gold, judge=judge, chunk_size=1, executor=threads, **SEMANTIC)
    one, other = (record.score for record in run.records)
    assert (one, run.mean_f1) == (other, other)


def test_what_ended_without_a_verdict_is_asked_again_when_it_comes_again():
    answers = iter([JudgeError("connection", "cut"), True])
    judge = Asked(lambda item: next(answers))
    gold, extracted = [{"city": "Rome"}] * 3, [{"city": "Roma"}] * 3
    run = compare_corpus(extracted, gold, judge=judge, chunk_size=1, keep="all", **SEMANTIC)
    counts = [[field.status for field in record.field_results] for record in run.records]
    assert (counts, len(judge.items)) == ([["batch_error"], ["match"], ["match"]], 2)


# -- other processes ---------------------------------------------------------------------------------------


def everything_is_the_same(item):
    return True


def test_a_function_reaches_the_processes_of_an_executor(tmp_path, monkeypatch):
    # (In a module that other processes find too.)
    (tmp_path / "same_for_all.py").write_text("def judge(item):\n    return True\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    judge = importlib.import_module("same_for_all").judge
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        run = compare_corpus(
            [{"a": "y"}], [{"a": "x"}], judge=judge, executor=executor, compare={"string": "semantic"}
        )
    assert run.mean_f1 == 1.0


# -- unordered arrays --------------------------------------------------------------------------------------


def test_the_pairing_is_by_what_the_judge_says():
    same = {("cat", "Katze"), ("dog", "Hund")}
    judge = Asked(lambda item: (item.expected, item.actual) in same)
    result = compare_json(["Hund", "Katze"], ["cat", "dog"], arrays="unordered", judge=judge, **SEMANTIC)
    assert (result.score, [(f.expected_path, f.actual_path) for f in result.field_results]) == (
        1.0,
        [("[0]", "[1]"), ("[1]", "[0]")],
    )
