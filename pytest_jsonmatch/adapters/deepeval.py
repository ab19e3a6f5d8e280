"""A metric for DeepEval (the extra `deepeval`)."""

from __future__ import annotations

from typing import Any

from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase, SingleTurnParams

from pytest_jsonmatch.adapters import check_options, grade
from pytest_jsonmatch.support import defaults


class JsonMatchMetric(BaseMetric):
    """Score a test case: its `actual_output` against its `expected_output`, both text, field by field.

    Args:
        threshold: the lowest score that passes, from 0 to 1.
        **options: `metric` and its options, as for `compare_json`.
    """

    _required_params = [SingleTurnParams.ACTUAL_OUTPUT, SingleTurnParams.EXPECTED_OUTPUT]  # noqa: RUF012 - DeepEval's

    def __init__(self, threshold: float = defaults.THRESHOLD, **options: Any) -> None:
        self.threshold: float = threshold
        self._options = options
        check_options(options)

    def measure(self, test_case: LLMTestCase, *_args: Any, **_options: Any) -> float:
        """Score one test case."""
        graded = grade(test_case.actual_output, test_case.expected_output, self._options)
        self.score: float = graded.score
        self.reason: str = graded.reason
        self.score_breakdown: dict[str, float] = graded.scores
        self.success: bool = graded.score >= self.threshold
        return graded.score

    async def a_measure(self, test_case: LLMTestCase, *_args: Any, **_options: Any) -> float:
        """Score one test case, as `measure` does."""
        return self.measure(test_case)

    @property
    def __name__(self) -> str:  # type: ignore[override] # DeepEval's name of a metric
        return "JSON match"
