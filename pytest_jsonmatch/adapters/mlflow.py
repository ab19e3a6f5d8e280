"""A scorer for MLflow's `mlflow.genai.evaluate` (the extra `mlflow`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mlflow.entities import Feedback
from mlflow.genai.scorers import scorer

from pytest_jsonmatch.adapters import check_options, grade

if TYPE_CHECKING:
    from mlflow.genai.scorers import Scorer


def json_match(expectation: str = "expected_response", **options: Any) -> Scorer:
    """Return a scorer of `outputs` against one of a row's `expectations`, field by field.

    Args:
        expectation: the name of the expectation with the expected JSON value or text.
        **options: `metric` and its options, as for `compare_json`.

    The feedback has the score as its value, the fields that lower it as rationale, and score, precision,
    recall and F1 as metadata.
    """
    check_options(options)

    @scorer(name="json_match")
    def json_match(outputs: Any, expectations: dict[str, Any]) -> Feedback:
        if expectation not in expectations:
            known = ", ".join(map(repr, expectations)) or "none"
            raise ValueError(f"the row has no expectation {expectation!r}; it has {known}")
        graded = grade(outputs, expectations[expectation], options)
        metadata = {name: f"{score:.6g}" for name, score in graded.scores.items()}
        return Feedback(value=graded.score, rationale=graded.reason, metadata=metadata)

    return json_match
