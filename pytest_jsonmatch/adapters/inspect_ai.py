"""A scorer for Inspect (`inspect_ai`, the extra `inspect`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspect_ai.scorer import Score, mean, scorer, stderr

from pytest_jsonmatch.adapters import check_options, grade

if TYPE_CHECKING:
    from inspect_ai.scorer import Scorer, Target
    from inspect_ai.solver import TaskState


@scorer(metrics=[mean(), stderr()])
def json_match(**options: Any) -> Scorer:
    """Return a scorer of a sample's completion against its target (JSON text or a string), field by field.

    Args:
        **options: `metric` and its options, as for `compare_json`.

    The explanation of a score names the fields that lower it. The metadata has score, precision, recall and
    F1.
    """
    check_options(options)

    async def score(state: TaskState, target: Target) -> Score:
        answer = state.output.completion
        graded = grade(answer, target.text, options)
        return Score(value=graded.score, answer=answer, explanation=graded.reason, metadata=graded.scores)

    return score
