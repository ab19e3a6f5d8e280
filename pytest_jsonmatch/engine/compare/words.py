"""Comparators of texts by their words and parts: `token_f1`, `partial_ratio` and two more of rapidfuzz."""

from __future__ import annotations

import re
import string
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.compare.base import Comparator, Scoring
from pytest_jsonmatch.engine.compare.equality import NO_TOKEN, scoring_of_sets, scoring_of_strings
from pytest_jsonmatch.engine.value.equality import json_key

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from pytest_jsonmatch.engine.compare.base import Matrix, Params
    from pytest_jsonmatch.engine.value.convert import JsonValue

_DROPPED: Final = str.maketrans("", "", string.punctuation)
_ARTICLES: Final = re.compile(r"\b(a|an|the)\b")


def counted_words(text: str) -> Counter[str]:
    """Return how often each word occurs, lower-cased, without ASCII punctuation and English articles.

    >>> counted_words("The cat's cat, a dog")
    Counter({'cats': 1, 'cat': 1, 'dog': 1})
    """
    return Counter(_ARTICLES.sub(" ", text.lower().translate(_DROPPED)).split())


def _members(value: JsonValue) -> frozenset[Hashable]:
    """Return a word that occurs twice as two members: the word for the first time, and for the second."""
    if type(value) is not str:
        return frozenset({(NO_TOKEN, json_key(value))})
    words = counted_words(value).items()
    return frozenset([(word, at) for word, times in words for at in range(times)]) or NO_TOKEN


def _dice_coefficient(shared: Any, one: Any, other: Any) -> Any:
    """Return the F1 of the members that two values share."""
    return 2 * shared / (one + other)


def _rapidfuzz(name: str) -> Comparator:
    def make(_params: Params) -> Scoring:
        from rapidfuzz import fuzz

        ratio = getattr(fuzz, name)

        def score(expected: str, actual: str) -> float:
            return 1.0 if expected == actual else float(ratio(expected, actual)) / 100

        def block(expected: Sequence[str], actual: Sequence[str]) -> Matrix:
            import numpy as np
            from rapidfuzz.process import cdist

            from pytest_jsonmatch.engine.compare.scoretables import equality_table

            scores: Matrix = cdist(expected, actual, scorer=ratio, dtype=np.float64) / 100
            return np.maximum(scores, equality_table(expected, actual))

        return scoring_of_strings(score, block)

    return Comparator(name, make, ())


TOKEN_F1: Final = Comparator("token_f1", lambda _: scoring_of_sets(_members, _dice_coefficient), ())
"""F1 of the words that two texts share, each as often as it occurs, lower-cased, without punctuation and the
articles a, an, the (as SQuAD); two texts without words score 1."""

PARTIAL_RATIO: Final = _rapidfuzz("partial_ratio")
"""The similarity of the shorter text and the part of the longer one that resembles it most."""

TOKEN_SORT_RATIO: Final = _rapidfuzz("token_sort_ratio")
"""The similarity of two texts once the words of each are sorted."""

TOKEN_SET_RATIO: Final = _rapidfuzz("token_set_ratio")
"""As `token_sort_ratio`, but a text whose words are all in the other scores 1.

Two empty texts score 1, as equal texts do under every comparator; in rapidfuzz they score 0."""

COMPARATORS: Final = (TOKEN_F1, PARTIAL_RATIO, TOKEN_SORT_RATIO, TOKEN_SET_RATIO)
"""The comparators of this module."""
