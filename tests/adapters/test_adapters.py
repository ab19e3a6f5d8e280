"""Scorers inside other frameworks: run by the real packages, where they are installed."""

from __future__ import annotations

import asyncio

import pytest

from pytest_jsonmatch import ConfigurationError
from pytest_jsonmatch.adapters import check_options

EXPECTED = {"shop": "Corner Bakery", "total": 12.5}
ANSWER = 'Here it is: {"shop": "Corner Bakery", "total": 12}'
RIGHT = '{"total": 12.5, "shop": "Corner Bakery"}'
REASON = "total 0: 4 % off"


def test_options_are_checked_when_a_scorer_is_made():
    check_options({"metric": "pairwise_f1", "fields": {"total": {"skip": True}}})
    with pytest.raises(ConfigurationError, match="unknown metric 'leaf_f2'; did you mean 'leaf_f1'"):
        check_options({"metric": "leaf_f2"})


def test_pydantic_evals():
    pytest.importorskip("pydantic_evals", reason="the extra pydantic-evals")
    from pydantic_evals import Case, Dataset

    from pytest_jsonmatch.adapters import pydantic_evals as adapter

    answers = {"wrong": ANSWER, "right": RIGHT, "broken": "no idea", "free": "anything"}
    cases = [Case(name=name, inputs=name, expected_output=EXPECTED) for name in ("wrong", "right", "broken")]
    dataset = Dataset(
        name="receipts", cases=[*cases, Case(name="free", inputs="free")], evaluators=[adapter.JsonMatch()]
    )
    report = dataset.evaluate_sync(answers.__getitem__, progress=False)
    assert not report.failures
    scores = {case.name: {name: score.value for name, score in case.scores.items()} for case in report.cases}
    assert scores["wrong"] == {
        "jsonmatch": 0.5,
        "jsonmatch_precision": 0.5,
        "jsonmatch_recall": 0.5,
        "jsonmatch_f1": 0.5,
    }
    assert (scores["right"]["jsonmatch"], scores["broken"]["jsonmatch"], scores["free"]) == (1.0, 0.0, {})
    (wrong,) = (case for case in report.cases if case.name == "wrong")
    assert wrong.scores["jsonmatch"].reason == REASON
    with pytest.raises(ConfigurationError, match="unknown metric"):
        adapter.JsonMatch({"metric": "leaf_f2"})


def test_deepeval(monkeypatch):
    monkeypatch.setenv("DEEPEVAL_TELEMETRY_OPT_OUT", "1")
    pytest.importorskip("deepeval", reason="the extra deepeval")
    from deepeval import assert_test
    from deepeval.test_case import LLMTestCase

    from pytest_jsonmatch.adapters import deepeval as adapter

    wrong = LLMTestCase(
        input="?", actual_output=ANSWER, expected_output='{"shop": "Corner Bakery", "total": 12.5}'
    )
    metric = adapter.JsonMatchMetric()
    assert (metric.measure(wrong), metric.reason, metric.is_successful()) == (0.5, REASON, False)
    with pytest.raises(AssertionError, match="JSON match"):
        assert_test(wrong, [metric], run_async=False)
    assert_test(wrong, [adapter.JsonMatchMetric(threshold=0.4, metric="json_similarity")], run_async=False)
    assert asyncio.run(metric.a_measure(wrong)) == 0.5
    with pytest.raises(ConfigurationError, match="unknown metric"):
        adapter.JsonMatchMetric(metric="leaf_f2")


def test_mlflow(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/runs.db")
    mlflow = pytest.importorskip("mlflow", reason="the extra mlflow")
    from pytest_jsonmatch.adapters import mlflow as adapter

    rows = [
        {"inputs": {"q": "1"}, "outputs": ANSWER, "expectations": {"expected_response": EXPECTED}},
        {"inputs": {"q": "2"}, "outputs": RIGHT, "expectations": {"expected_response": EXPECTED}},
    ]
    result = mlflow.genai.evaluate(data=rows, scorers=[adapter.json_match()])
    assert result.metrics["json_match/mean"] == 0.75
    feedback = adapter.json_match()(outputs=ANSWER, expectations={"expected_response": EXPECTED})
    assert (feedback.value, feedback.rationale, feedback.metadata["recall"]) == (0.5, REASON, "0.5")
    with pytest.raises(ValueError, match="the row has no expectation 'expected_response'; it has 'other'"):
        adapter.json_match()(outputs=ANSWER, expectations={"other": 1})
    with pytest.raises(ConfigurationError, match="unknown metric"):
        adapter.json_match(metric="leaf_f2")


def test_inspect_ai(tmp_path):
    pytest.importorskip("inspect_ai", reason="the extra inspect")
    from inspect_ai import Task
    from inspect_ai import eval as run_task
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import solver

    from pytest_jsonmatch.adapters import inspect_ai as adapter

    @solver
    def answers():
        async def solve(state, generate):
            # (A mocked model counts tokens by a table that it downloads.)
            state.output = ModelOutput.from_content("mockllm/model", state.input_text)
            return state

        return solve

    target = '{"shop": "Corner Bakery", "total": 12.5}'
    samples = [Sample(input=text, target=target) for text in (ANSWER, RIGHT, "no idea")]
    (log,) = run_task(
        Task(dataset=samples, solver=answers(), scorer=adapter.json_match()),
        model="mockllm/model",
        log_dir=str(tmp_path),
        display="none",
    )
    assert log.status == "success"
    assert log.results.scores[0].metrics["mean"].value == 0.5
    (score,) = log.samples[0].scores.values()
    assert (score.value, score.explanation, score.metadata["f1"]) == (0.5, REASON, 0.5)
    with pytest.raises(ConfigurationError, match="unknown metric"):
        adapter.json_match(metric="leaf_f2")
