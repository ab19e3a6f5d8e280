"""Comparators of texts by words and parts: `token_f1`, and three ratios of rapidfuzz."""

from __future__ import annotations

import re
import string
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.comparators.base import Comparator, Scoring
from pytest_jsonmatch.engine.comparators.equality import NO_TOKEN, make_set_scoring, make_string_scoring
from pytest_jsonmatch.engine.value.equality import make_json_key

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from pytest_jsonmatch.engine.comparators.base import Matrix, Params
    from pytest_jsonmatch.engine.value.convert import JsonValue

_DROPPED: Final = str.maketrans("", "", string.punctuation)
_ARTICLES: Final = re.compile(r"\b(a|an|the)\b")


def count_words(text: str) -> Counter[str]:
    """Return the number of occurrences of each word, lower-cased, without ASCII punctuation and articles.

    >>> count_words("The cat's cat, a dog")
    Counter({'cats': 1, 'cat': 1, 'dog': 1})
    """
    return Counter(_ARTICLES.sub(" ", text.lower().translate(_DROPPED)).split())


def _number_words(value: JsonValue) -> frozenset[Hashable]:
    """Return the words of a text, numbered by occurrence, so that a word that occurs twice is two members."""
    if type(value) is not str:
        return frozenset({(NO_TOKEN, make_json_key(value))})
    words = count_words(value).items()
    return frozenset([(word, at) for word, times in words for at in range(times)]) or NO_TOKEN


def _compute_dice(shared: Any, one: Any, other: Any) -> Any:
    """Return the F1 score of the members that two values share."""
    return 2 * shared / (one + other)


def _make_rapidfuzz(name: str) -> Comparator:
    def make(_params: Params) -> Scoring:
        from rapidfuzz import fuzz

        ratio = getattr(fuzz, name)

        def score(expected: str, actual: str) -> float:
            return 1.0 if expected == actual else float(ratio(expected, actual)) / 100

        def block(expected: Sequence[str], actual: Sequence[str]) -> Matrix:
            import numpy as np
            from rapidfuzz.process import cdist

            from pytest_jsonmatch.engine.comparators.scoretables import make_equality_table

            scores: Matrix = cdist(expected, actual, scorer=ratio, dtype=np.float64) / 100
            return np.maximum(scores, make_equality_table(expected, actual))

        return make_string_scoring(score, block)

    return Comparator(name, make, ())


TOKEN_F1: Final = Comparator("token_f1", lambda _: make_set_scoring(_number_words, _compute_dice), ())
"""F1 of the words that two texts share, with repetitions, lower-cased, without punctuation and the
articles a, an, the (as SQuAD); two texts without words score 1."""

PARTIAL_RATIO: Final = _make_rapidfuzz("partial_ratio")
"""The similarity of the shorter text and the most similar part of the longer text."""

TOKEN_SORT_RATIO: Final = _make_rapidfuzz("token_sort_ratio")
"""The similarity of two texts after the words of each are sorted."""

TOKEN_SET_RATIO: Final = _make_rapidfuzz("token_set_ratio")
"""As `token_sort_ratio`, except that a text scores 1 if all its words are in the other.

Two empty texts score 1, like all equal texts under every comparator; in rapidfuzz they score 0."""

COMPARATORS: Final = (TOKEN_F1, PARTIAL_RATIO, TOKEN_SORT_RATIO, TOKEN_SET_RATIO)
"""The comparators of this module."""
