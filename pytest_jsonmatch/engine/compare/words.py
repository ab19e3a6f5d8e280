"""Comparators of texts by their words and parts: `token_f1`, `partial_ratio` and two more of rapidfuzz."""

from __future__ import annotations

import re
import string
from collections import Counter
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.compare.base import Comparator, Scoring
from pytest_jsonmatch.engine.compare.equality import equality_score

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def _token_f1(expected: JsonValue, actual: JsonValue) -> float:
    if type(expected) is not str or type(actual) is not str:
        return equality_score(expected, actual)
    left, right = counted_words(expected), counted_words(actual)
    total = left.total() + right.total()
    return 2 * (left & right).total() / total if total else 1.0


def _token_f1_strings(expected: Sequence[str], actual: Sequence[str]) -> Matrix:
    import numpy as np

    from pytest_jsonmatch.engine.compare.tables import shared_members

    # A word that occurs twice is two members: the word for the first time, and for the second.
    words = [
        [{(word, at) for word, times in counted_words(text).items() for at in range(times)} for text in side]
        for side in (expected, actual)
    ]
    totals = np.add.outer(*(np.array(list(map(len, side)), dtype=np.float64) for side in words))
    return np.where(totals, 2 * shared_members(*words) / np.maximum(totals, 1.0), 1.0)


def _token_f1_table(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> Matrix:
    from pytest_jsonmatch.engine.compare.tables import string_table

    return string_table(expected, actual, _token_f1_strings)


def _rapidfuzz(name: str) -> Comparator:
    def make(_params: Params) -> Scoring:
        from rapidfuzz import fuzz

        ratio = getattr(fuzz, name)

        def score(expected: JsonValue, actual: JsonValue) -> float:
            if type(expected) is str and type(actual) is str and expected != actual:
                return float(ratio(expected, actual)) / 100
            return equality_score(expected, actual)

        def strings(expected: Sequence[str], actual: Sequence[str]) -> Matrix:
            import numpy as np
            from rapidfuzz.process import cdist

            from pytest_jsonmatch.engine.compare.tables import equality_table

            scores: Matrix = cdist(expected, actual, scorer=ratio, dtype=np.float64) / 100
            return np.maximum(scores, equality_table(expected, actual))

        def table(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> Matrix:
            from pytest_jsonmatch.engine.compare.tables import string_table

            return string_table(expected, actual, strings)

        return Scoring(score, table)

    return Comparator(name, make, ())


TOKEN_F1: Final = Comparator("token_f1", lambda _: Scoring(_token_f1, _token_f1_table), ())
"""F1 of the words that two texts share, each as often as it occurs, lower-cased, without punctuation and the
articles a, an, the (as SQuAD); two texts without words score 1."""

PARTIAL_RATIO: Final = _rapidfuzz("partial_ratio")
"""The similarity of the shorter text and the part of the longer one that resembles it most."""

TOKEN_SORT_RATIO: Final = _rapidfuzz("token_sort_ratio")
"""The similarity of two texts once the words of each are sorted."""

TOKEN_SET_RATIO: Final = _rapidfuzz("token_set_ratio")
"""As `token_sort_ratio`, but a text whose words are all in the other scores 1."""
