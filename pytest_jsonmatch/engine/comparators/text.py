"""Comparators of strings: `levenshtein`, `jaccard`, `normalized_text`, `contains` and `regex`.

Values that are not strings are compared by JSON equality; a string against another type scores 0.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.comparators.base import Comparator, Scoring
from pytest_jsonmatch.engine.comparators.equality import (
    NO_TOKEN,
    compute_jaccard,
    make_equality,
    make_set_scoring,
    make_string_scoring,
    score_equality,
)
from pytest_jsonmatch.engine.comparators.transforms import map_scalars, normalize_text
from pytest_jsonmatch.engine.value.convert import CONTAINERS
from pytest_jsonmatch.engine.value.equality import make_json_key
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.matchers import compile_pattern, matches_fully
from pytest_jsonmatch.support.frozen import replace

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from pytest_jsonmatch.engine.comparators.base import Matrix, Params
    from pytest_jsonmatch.engine.value.convert import JsonValue

# Below this many pairs of short strings, threads cost more than they save (500 × 500, measured).
_PAIRS_FOR_THREADS: Final = 250_000
# Up to this length of either string, an edit distance takes a fraction of a microsecond.
_SHORT: Final = 64
# Up to this many pairs of long strings are scored without upper bounds.
_FEW_PAIRS: Final = 400
# With more pairs of characters, an edit distance would take minutes.
_MAX_EDIT_CELLS: Final = 10**10


# levenshtein


def _make_levenshtein(_params: Params) -> Scoring:
    from rapidfuzz.distance.Levenshtein import normalized_similarity

    def levenshtein(expected: str, actual: str) -> float:
        if len(expected) * len(actual) > _MAX_EDIT_CELLS and expected != actual:
            raise ValueError(
                f"{len(expected):,} × {len(actual):,} characters are too many for an edit distance; "
                "compare long texts by 'token_f1' or 'exact'"
            )
        return normalized_similarity(expected, actual)

    def block(expected: Sequence[str], actual: Sequence[str]) -> Matrix:
        from pytest_jsonmatch.engine.comparators.scoretables import make_score_table

        too_long = _find_longest(expected) * _find_longest(actual) > _MAX_EDIT_CELLS
        return (
            make_score_table(expected, actual, levenshtein)
            if too_long
            else _score_levenshtein_block(expected, actual)
        )

    return replace(make_string_scoring(levenshtein, block), upper_bounds=_bound_levenshtein)


def _find_longest(values: Sequence[JsonValue]) -> int:
    return max([len(value) for value in values if type(value) is str], default=0)


def _score_levenshtein_block(expected: Sequence[str], actual: Sequence[str]) -> Matrix:
    import numpy as np
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    # Beyond 64 characters, the cost of a pair grows with the square of its number of 64-character words.
    words = 1 + max(_find_longest(expected), _find_longest(actual)) // 65
    workers = -1 if len(expected) * len(actual) * words * words > _PAIRS_FOR_THREADS else 1
    return cdist(
        expected, actual, scorer=Levenshtein.normalized_similarity, dtype=np.float64, workers=workers
    )


def _bound_levenshtein(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> Matrix | None:
    """Return upper bounds of the scores of strings; None if few strings are long or some are too long.

    Strings are paired by the words that they share. If half of a pair's score is the price of each of its
    strings, no other pair should score more than the sum of its two prices (linear programming duality).
    Proving that for a pair is much faster than computing its score: 200 × 200 strings of 1.5 KB take a fifth
    of the time.
    """
    rows, columns = (
        sum([type(value) is str and len(value) > _SHORT for value in side]) for side in (expected, actual)
    )
    if rows * columns <= _FEW_PAIRS or _find_longest(expected) * _find_longest(actual) > _MAX_EDIT_CELLS:
        return None
    from pytest_jsonmatch.engine.comparators.scoretables import make_string_table

    return make_string_table(expected, actual, _bound_long)


def _bound_long(expected: Sequence[str], actual: Sequence[str]) -> Matrix:
    import numpy as np
    from rapidfuzz.distance.Levenshtein import normalized_similarity
    from rapidfuzz.process import cdist
    from scipy.optimize import linear_sum_assignment

    from pytest_jsonmatch.engine.comparators.scoretables import count_shared_members

    words = [[split_tokens(text) for text in side] for side in (expected, actual)]
    rows, columns = linear_sum_assignment(count_shared_members(*words), maximize=True)
    scores = [
        normalized_similarity(expected[at], actual[to]) for at, to in zip(rows.tolist(), columns.tolist())
    ]
    row_prices, column_prices = np.zeros(len(expected)), np.zeros(len(actual))
    row_prices[rows] = column_prices[columns] = np.array(scores) / 2
    bounds = np.empty((len(expected), len(actual)))
    for at, limit in enumerate((row_prices + column_prices.min()).tolist()):
        row = cdist(
            expected[at : at + 1], actual, scorer=normalized_similarity, dtype=np.float64, score_cutoff=limit
        )
        bounds[at] = np.where(row > 0.0, row, limit)
    bounds[rows, columns] = scores
    return bounds


LEVENSHTEIN: Final = Comparator("levenshtein", _make_levenshtein, ())
"""1 - edit distance / length of the longer string, in code points; two empty strings score 1 (source 3).
Raises ValueError for two different strings with more than 10^10 pairs of characters."""


# jaccard


def split_tokens(text: str) -> frozenset[Hashable]:
    """Return jaccard's default tokens: the set of lower-cased words between white space.

    >>> sorted(split_tokens("The cat  the dog"))
    ['cat', 'dog', 'the']
    """
    return frozenset(text.lower().split())


def _make_jaccard(params: Params) -> Scoring:
    tokenizer = params.get("tokenizer")
    if tokenizer is not None and not callable(tokenizer):
        raise ConfigurationError(
            "comparator 'jaccard': 'tokenizer' must be a function from a string to its tokens, "
            f"got {type(tokenizer).__name__}"
        )
    split = split_tokens if tokenizer is None else lambda text: frozenset(tokenizer(text))

    def members(value: JsonValue) -> frozenset[Hashable]:
        # A value that is not a string has a single member, which is not a token and which equal values share;
        # a string without tokens has one, too.
        if type(value) is str:
            return split(value) or NO_TOKEN
        return frozenset({(NO_TOKEN, make_json_key(value))})

    return make_set_scoring(members, compute_jaccard)


JACCARD: Final = Comparator("jaccard", _make_jaccard, ("tokenizer",))
"""Shared tokens / all tokens, of the sets of lower-cased words between white space; two texts without tokens
score 1 (source 4). `tokenizer`: a function from a string to its tokens, instead of that split."""


# normalized_text


def _normalize(value: JsonValue) -> JsonValue:
    return normalize_text(value) if type(value) is str else value


NORMALIZED_TEXT: Final = Comparator(
    "normalized_text",
    lambda _: make_equality(lambda value: make_json_key(map_scalars(value, _normalize))),
    (),
)
"""1 if the values are equal after removing accents (NFD, then category Mn removed) and case (full case
folding) from every string in them, at any depth; keys and numbers are unchanged (source 2)."""


# contains


def _make_part_keys(value: JsonValue) -> frozenset[Hashable]:
    """Return the keys of the elements of an array or of the members of an object."""
    if type(value) is list:
        return frozenset(map(make_json_key, value))
    return frozenset((name, make_json_key(item)) for name, item in value.items())


def _score_contains(expected: JsonValue, actual: JsonValue) -> float:
    kind = type(actual)
    if kind is str and type(expected) is str:
        return float(expected in actual)
    if kind in CONTAINERS and kind is type(expected) and _make_part_keys(expected) <= _make_part_keys(actual):
        return 1.0
    if kind is list:
        return float(expected is not None and make_json_key(expected) in _make_part_keys(actual))
    return score_equality(expected, actual)


def _make_contains_table(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> Matrix:
    from pytest_jsonmatch.engine.comparators.scoretables import make_score_table

    return make_score_table(expected, actual, _score_contains)


CONTAINS: Final = Comparator("contains", lambda _: Scoring(_score_contains, _make_contains_table), ())
"""1 if actual contains expected: a string within a string; a value among an array's elements, or every
element of an expected array; the members of an object. Other values: JSON equality."""


# regex


def _make_regex(_params: Params) -> Scoring:
    compiled = lru_cache(maxsize=1024)(compile_pattern)

    def match(expected: JsonValue, actual: JsonValue) -> float:
        if type(expected) is not str or type(actual) is not str:
            return score_equality(expected, actual)
        return float(matches_fully(compiled(expected), actual))

    return Scoring(match)


REGEX: Final = Comparator("regex", _make_regex, (), reflexive=False)
"""Expected is a pattern (syntax of the `regex` package) that must match all of actual. Raises ValueError for
an invalid pattern, and TimeoutError after a second on one text or five seconds in one comparison. A pattern
against a value that is not a string scores 0."""

COMPARATORS: Final = (LEVENSHTEIN, JACCARD, NORMALIZED_TEXT, CONTAINS, REGEX)
"""The comparators of this module."""
