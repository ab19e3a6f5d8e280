"""An evaluator for pydantic-evals (the extra `pydantic-evals`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic_evals.evaluators import EvaluationReason, Evaluator

from pytest_jsonmatch.adapters import check_options, grade

if TYPE_CHECKING:
    from pydantic_evals.evaluators import EvaluatorContext


@dataclass
class JsonMatch(Evaluator[Any, Any, Any]):
    """Score a case's output against its `expected_output`, field by field.

    Args:
        options: `metric` and its options, as for `compare_json`.

    The report has `jsonmatch` (the score, with the fields that lower it as the reason), precision, recall
    and F1. A case without an expected output is not scored.
    """

    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_options(self.options)

    def evaluate(self, ctx: EvaluatorContext[Any, Any, Any]) -> dict[str, Any]:
        """Score one case."""
        if ctx.expected_output is None:
            return {}
        graded = grade(ctx.output, ctx.expected_output, self.options)
        scores = {f"jsonmatch_{name}": score for name, score in graded.scores.items() if name != "score"}
        return {"jsonmatch": EvaluationReason(graded.score, graded.reason), **scores}
