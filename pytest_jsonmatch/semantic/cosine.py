"""The comparator `cosine`: the cosine similarity of two strings' embeddings.

Values other than strings are compared by JSON equality; a string against another type scores 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.comparators.base import Comparator, Scoring
from pytest_jsonmatch.engine.comparators.equality import score_equality
from pytest_jsonmatch.engine.comparators.parameters import check_names
from pytest_jsonmatch.engine.value.convert import JsonValue
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.semantic.encoders import DEFAULT_MODEL, find_vectors
from pytest_jsonmatch.semantic.vectors import ONE, Vectors

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.comparators.base import Matrix, Params

_NAME: Final = "comparator 'cosine'"
# The seventh digit of a model's vector depends on the other strings that are encoded in the same call.
_STEPS: Final = 10_000.0


def _find_vectors(params: Params) -> Vectors:
    """Return the vectors of the model named by the parameters."""
    check_names(_NAME, params, ["embedding_model"])
    model = params.get("embedding_model", DEFAULT_MODEL)
    if not isinstance(model, str) or not model.strip():
        raise ConfigurationError(
            f"{_NAME}: 'embedding_model' must be the name of a model, a folder, or the name of a "
            f"registered encoder, got {model!r}"
        )
    return find_vectors(model)


def _to_scores(products: Any) -> Any:
    """Return the score for a scalar product of vectors, or the scores for an array of products."""
    import numpy as np

    return np.rint(np.clip(products / ONE, 0.0, 1.0) * _STEPS) / _STEPS


def _bind(params: Params) -> Scoring:
    vectors = _find_vectors(params)

    def cosine(expected: JsonValue, actual: JsonValue) -> float:
        if type(expected) is not str or type(actual) is not str:
            return score_equality(expected, actual)
        if expected == actual:
            return 1.0
        return float(_to_scores(vectors.product(expected, actual)))

    def block(expected: Sequence[str], actual: Sequence[str]) -> Matrix:
        from pytest_jsonmatch.engine.comparators.scoretables import make_equality_table

        # Equal strings match even if they have no vectors.
        scores: Matrix = _to_scores(vectors.products(expected, actual))
        scores[make_equality_table(expected, actual) == 1.0] = 1.0
        return scores

    def table(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> Matrix:
        from pytest_jsonmatch.engine.comparators.scoretables import make_string_table

        return make_string_table(expected, actual, block)

    return Scoring(cosine, table, prepare=vectors.prepare)


COSINE: Final = Comparator("cosine", _bind)
"""max(0, cosine) of two strings' embeddings, as in structeval, to four digits; equal strings score 1."""
