"""Comparators of strings: `levenshtein`, `jaccard`, `normalized_text`, `contains` and `regex`.

Values that are not strings are compared by JSON equality; a string against another type scores 0.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_jsonmatch.engine.compare.base import Comparator, Scoring, score_of
from pytest_jsonmatch.engine.compare.equality import equality_of, equality_score, scoring_of_sets
from pytest_jsonmatch.engine.compare.parameters import shown
from pytest_jsonmatch.engine.compare.transforms import map_scalars, normalize_text
from pytest_jsonmatch.engine.value.convert import CONTAINERS
from pytest_jsonmatch.engine.value.equality import json_key
from pytest_jsonmatch.engine.value.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    import regex

    from pytest_jsonmatch.engine.compare.base import Matrix, Params
    from pytest_jsonmatch.engine.value.convert import JsonValue

# Below this many pairs of short strings, threads cost more than they save (500 × 500, measured).
_PAIRS_FOR_THREADS: Final = 250_000
# Up to this length of either string an edit distance takes a fraction of a microsecond.
_SHORT: Final = 64
# Up to this many pairs of long strings are measured without upper bounds.
_FEW_PAIRS: Final = 400
# An edit distance of more pairs of characters would take minutes.
_MOST_EDITS: Final = 10**10
# A regular expression may take this long on one text.
_SECONDS: Final = 1.0


# levenshtein


def _make_levenshtein(_params: Params) -> Scoring:
    from rapidfuzz.distance.Levenshtein import normalized_similarity

    def levenshtein(expected: JsonValue, actual: JsonValue) -> float:
        if type(expected) is str and type(actual) is str:
            if len(expected) * len(actual) > _MOST_EDITS and expected != actual:
                raise ValueError(
                    f"{len(expected):,} × {len(actual):,} characters are too many for an edit distance; "
                    "compare long texts by 'token_f1' or 'exact'"
                )
            return normalized_similarity(expected, actual)
        return equality_score(expected, actual)

    def table(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> Matrix:
        if _longest(expected) * _longest(actual) <= _MOST_EDITS:
            return _levenshtein_table(expected, actual)
        import numpy as np

        return np.array([[score_of(levenshtein, one, other) for other in actual] for one in expected])

    return Scoring(levenshtein, table, ceiling=_levenshtein_ceiling)


def _levenshtein_table(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> Matrix:
    from pytest_jsonmatch.engine.compare.tables import string_table

    return string_table(expected, actual, _levenshtein_block)


def _longest(values: Sequence[JsonValue]) -> int:
    return max([len(value) for value in values if type(value) is str], default=0)


def _levenshtein_block(expected: Sequence[str], actual: Sequence[str]) -> Matrix:
    import numpy as np
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    # Beyond 64 characters the cost of a pair is the square of its number of 64-character words.
    words = 1 + max(_longest(expected), _longest(actual)) // 65
    workers = -1 if len(expected) * len(actual) * words * words > _PAIRS_FOR_THREADS else 1
    return cdist(
        expected, actual, scorer=Levenshtein.normalized_similarity, dtype=np.float64, workers=workers
    )


def _levenshtein_ceiling(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> Matrix | None:
    """Bound pairs of long strings; other pairs are exact.

    Strings are paired by the words that they share. If half of a pair's score is the price of both, no other
    pair should be worth more than its two prices (linear programming duality). Proving that is much faster
    than computing its score: 200 × 200 strings of 1.5 KB take a fifth of the time.
    """
    places = [[at for at, value in enumerate(side) if _is_long(value)] for side in (expected, actual)]
    rows, columns = places
    too_long = _longest(expected) * _longest(actual) > _MOST_EDITS
    if len(rows) * len(columns) <= _FEW_PAIRS or too_long:
        return None
    import numpy as np

    texts, others = [expected[at] for at in rows], [actual[to] for to in columns]
    scores = np.empty((len(expected), len(actual)))
    short = [at for at, value in enumerate(expected) if not _is_long(value)]
    scores[short] = _levenshtein_table([expected[at] for at in short], actual)
    short = [to for to, value in enumerate(actual) if not _is_long(value)]
    scores[np.ix_(rows, short)] = _levenshtein_table(texts, [actual[to] for to in short])
    scores[np.ix_(rows, columns)] = _long_bounds(texts, others)
    return scores


def _long_bounds(expected: Sequence[str], actual: Sequence[str]) -> Matrix:
    import numpy as np
    from rapidfuzz.distance.Levenshtein import normalized_similarity
    from rapidfuzz.process import cdist
    from scipy.optimize import linear_sum_assignment

    from pytest_jsonmatch.engine.compare.tables import shared_members

    words = [[tokens(text) for text in side] for side in (expected, actual)]
    rows, columns = linear_sum_assignment(shared_members(*words), maximize=True)
    scores = [
        normalized_similarity(expected[at], actual[to]) for at, to in zip(rows.tolist(), columns.tolist())
    ]
    row_prices, column_prices = np.zeros(len(expected)), np.zeros(len(actual))
    row_prices[rows] = column_prices[columns] = np.array(scores) / 2
    bounds = np.empty((len(expected), len(actual)))
    for at, limit in enumerate((row_prices + column_prices.min()).tolist()):
        line = cdist(
            expected[at : at + 1], actual, scorer=normalized_similarity, dtype=np.float64, score_cutoff=limit
        )
        bounds[at] = np.where(line > 0.0, line, limit)
    bounds[rows, columns] = scores
    return bounds


def _is_long(value: JsonValue) -> bool:
    return type(value) is str and len(value) > _SHORT


LEVENSHTEIN: Final = Comparator("levenshtein", _make_levenshtein, ())
"""1 - edit distance / length of the longer string, in code points; two empty strings score 1 (source 3).
Raises ValueError for two different strings of more than 10^10 pairs of characters."""


# jaccard


def tokens(text: str) -> frozenset[Hashable]:
    """Return jaccard's default tokens: the set of lower-cased words between white space.

    >>> sorted(tokens("The cat  the dog"))
    ['cat', 'dog', 'the']
    """
    return frozenset(text.lower().split())


def _make_jaccard(params: Params) -> Scoring:
    tokenizer = params.get("tokenizer")
    if tokenizer is not None and not callable(tokenizer):
        raise ConfigurationError(
            "comparator 'jaccard': 'tokenizer' must be a function from a string to its tokens, "
            f"not {type(tokenizer).__name__}"
        )
    split: Callable[[str], frozenset[Hashable]] = tokens
    if tokenizer is not None:
        split = lambda text: frozenset(tokenizer(text))  # noqa: E731 - as short as its name

    def members(value: JsonValue) -> frozenset[Hashable]:
        # A value that is not a string has one member, which equal values share and which is not a token; so
        # has a string without tokens.
        if type(value) is str:
            return split(value) or _NO_TOKEN
        return frozenset({(_NO_TOKEN, json_key(value))})

    return scoring_of_sets(members, graded=True)


_NO_TOKEN: Final = frozenset({object()})


JACCARD: Final = Comparator("jaccard", _make_jaccard, ("tokenizer",))
"""Shared tokens / all tokens, of the sets of lower-cased words between white space; two texts without tokens
score 1 (source 4). `tokenizer`: a function from a string to its tokens, in place of that split."""


# normalized_text


def _normalized(value: JsonValue) -> JsonValue:
    return normalize_text(value) if type(value) is str else value


def _normalized_key(value: JsonValue) -> Hashable:
    key: Hashable = normalize_text(value) if type(value) is str else json_key(map_scalars(value, _normalized))
    return key


NORMALIZED_TEXT: Final = Comparator("normalized_text", lambda _: equality_of(_normalized_key), ())
"""1 if the values are equal once every string in them, at any depth, has lost its accents (NFD, category Mn
removed) and its case (full case folding); keys and numbers are unchanged (source 2)."""


# contains


class _Whole(NamedTuple):
    """A value and its parts, computed once per value, not once per pair."""

    value: JsonValue
    key: Hashable
    parts: frozenset[Hashable] = frozenset()
    """Keys of its elements or members, if it is a container."""

    @classmethod
    def of(cls, value: JsonValue) -> _Whole:
        if type(value) is list:
            return cls(value, json_key(value), frozenset(map(json_key, value)))
        if type(value) is dict:
            return cls(
                value, json_key(value), frozenset((name, json_key(item)) for name, item in value.items())
            )
        return cls(value, json_key(value))

    def contains(self, other: _Whole) -> bool:
        kind = type(self.value)
        if kind is str and type(other.value) is str:
            return other.value in self.value
        if kind in CONTAINERS and kind is type(other.value) and other.parts <= self.parts:
            return True
        if kind is list:
            return other.value is not None and other.key in self.parts
        return self.key == other.key


def _contains(expected: JsonValue, actual: JsonValue) -> float:
    return 1.0 if _Whole.of(actual).contains(_Whole.of(expected)) else 0.0


def _contains_table(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> Matrix:
    import numpy as np

    others = list(map(_Whole.of, actual))
    scores = [[other.contains(one) for other in others] for one in map(_Whole.of, expected)]
    return np.array(scores, dtype=np.float64).reshape(len(expected), len(actual))


CONTAINS: Final = Comparator("contains", lambda _: Scoring(_contains, _contains_table), ())
"""1 if actual contains expected: a string within a string; a value among an array's elements, or every
element of an expected array; the members of an object. Other values: JSON equality."""


# regex


def _make_regex(_params: Params) -> Scoring:
    compiled = lru_cache(maxsize=1024)(compile_pattern)

    def match(expected: JsonValue, actual: JsonValue) -> float:
        if type(expected) is not str or type(actual) is not str:
            return equality_score(expected, actual)
        return float(matches_whole(compiled(expected), actual))

    return Scoring(match)


def compile_pattern(pattern: str) -> regex.Pattern[str]:
    """Return a regular expression of the `regex` package, or raise a ValueError that says what is wrong."""
    import regex

    try:
        return regex.compile(pattern)
    except (regex.error, ValueError, OverflowError, RecursionError, IndexError, TypeError) as error:
        raise ValueError(f"the pattern {shown(pattern)} is not a regular expression: {error}") from error


def matches_whole(pattern: regex.Pattern[str], text: str) -> bool:
    """Tell whether the whole of a text matches; a TimeoutError names a pattern that takes too long."""
    try:
        return pattern.fullmatch(text, timeout=_SECONDS) is not None
    except TimeoutError:
        raise TimeoutError(
            f"the pattern {shown(pattern.pattern)} took more than {_SECONDS:g} s on a text of {len(text)} "
            "characters; make it simpler"
        ) from None


REGEX: Final = Comparator("regex", _make_regex, (), reflexive=False)
"""Expected is a pattern (syntax of the `regex` package) that the whole of actual must match. Raises
ValueError for a bad pattern, and TimeoutError after a second. A pattern against a value that is not a string
scores 0."""
