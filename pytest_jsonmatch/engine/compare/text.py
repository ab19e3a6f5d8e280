"""Comparators of strings: `levenshtein`, `jaccard`, `normalized_text`, `contains` and `regex`.

Values that are no strings are compared by JSON equality, a string against another type scores 0.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.compare.base import Comparator, equality_score
from pytest_jsonmatch.engine.compare.parameters import check_names, number_parameter
from pytest_jsonmatch.engine.compare.transforms import map_strings, normalize_text
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.equality import json_equal, scalar_key
from pytest_jsonmatch.engine.value.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    import numpy as np
    import regex
    from numpy.typing import NDArray

    from pytest_jsonmatch.engine.compare.base import (
        EdgeFunction,
        Edges,
        FewFunction,
        Matrix,
        PairFunction,
        Params,
        ScalarFunction,
    )
    from pytest_jsonmatch.engine.value.convert import JsonValue

__all__ = ["CONTAINS", "JACCARD", "LEVENSHTEIN", "NORMALIZED_TEXT", "REGEX", "tokens"]

# Starting threads costs more than it saves below this many pairs of short strings (500 × 500, measured).
_PAIRS_FOR_THREADS: Final = 250_000
# A token that more than this share of all pairs have in common is counted by a matrix product.
_COMMON_SHARE: Final = 0.02


# levenshtein


def _bind_levenshtein(params: Params) -> ScalarFunction:
    check_names("comparator 'levenshtein'", params)
    from rapidfuzz.distance.Levenshtein import normalized_similarity

    def levenshtein(expected: JsonValue, actual: JsonValue) -> float:
        if type(expected) is str and type(actual) is str:
            return normalized_similarity(expected, actual)
        return equality_score(expected, actual)

    return levenshtein


def _pairwise_levenshtein(params: Params) -> PairFunction:
    check_names("comparator 'levenshtein'", params)

    def pairwise(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> Matrix:
        from pytest_jsonmatch.engine.compare.tables import string_matrix

        return string_matrix(expected, actual, _levenshtein_block)

    return pairwise


def _levenshtein_block(expected: list[str], actual: list[str]) -> Matrix:
    import numpy as np
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    # Beyond 64 characters a pair costs by the square of its 64-character words.
    words = 1 + max(map(len, expected + actual)) // 65
    workers = -1 if len(expected) * len(actual) * words * words > _PAIRS_FOR_THREADS else 1
    return cdist(
        expected, actual, scorer=Levenshtein.normalized_similarity, dtype=np.float64, workers=workers
    )


LEVENSHTEIN: Final = Comparator("levenshtein", _bind_levenshtein, _pairwise_levenshtein)
"""1 - edit distance / length of the longer string, in code points; two empty strings score 1 (source 3)."""


# jaccard


def tokens(text: str) -> frozenset[str]:
    """Return jaccard's own tokens: the set of the lower-cased words between white space.

    >>> sorted(tokens("The cat  the dog"))
    ['cat', 'dog', 'the']
    """
    return frozenset(text.lower().split())


def _tokenizer(params: Params) -> Callable[[str], frozenset[Hashable]]:
    check_names("comparator 'jaccard'", params, ["tokenizer"])
    tokenizer = params.get("tokenizer")
    if tokenizer is None:
        return tokens
    if not callable(tokenizer):
        raise ConfigurationError(
            "comparator 'jaccard': 'tokenizer' must be a function from a string to its tokens, "
            f"not {type(tokenizer).__name__}"
        )
    split: Callable[[str], Iterable[Hashable]] = tokenizer
    return lambda text: frozenset(split(text))


def _bind_jaccard(params: Params) -> ScalarFunction:
    tokenize = _tokenizer(params)

    def jaccard(expected: JsonValue, actual: JsonValue) -> float:
        if type(expected) is not str or type(actual) is not str:
            return equality_score(expected, actual)
        if expected == actual:
            return 1.0
        left, right = tokenize(expected), tokenize(actual)
        shared = len(left & right)
        union = len(left) + len(right) - shared
        return shared / union if union else 1.0

    return jaccard


def _pairwise_jaccard(params: Params) -> PairFunction:
    tokenize = _tokenizer(params)

    def block(expected: list[str], actual: list[str]) -> Matrix:
        return _jaccard_block([tokenize(text) for text in expected], [tokenize(text) for text in actual])

    def pairwise(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> Matrix:
        from pytest_jsonmatch.engine.compare.tables import string_matrix

        return string_matrix(expected, actual, block)

    return pairwise


def _few_jaccard(params: Params) -> FewFunction:
    tokenize = _tokenizer(params)

    def few(
        expected: Sequence[JsonValue], actual: Sequence[JsonValue]
    ) -> list[tuple[int, int, float]] | None:
        if {*map(type, expected), *map(type, actual)} != {str}:
            return None
        bags = [tokenize(text) for text in actual]
        holders: dict[Hashable, list[int]] = {}
        for to, bag in enumerate(bags):
            for token in bag:
                holders.setdefault(token, []).append(to)
        blanks = [to for to, bag in enumerate(bags) if not bag]
        found: list[tuple[int, int, float]] = []
        for at, text in enumerate(expected):
            bag = tokenize(text)
            if not bag:
                found += [(at, to, 1.0) for to in blanks]
            counts: dict[int, int] = {}
            for token in bag:
                for to in holders.get(token, ()):
                    counts[to] = counts.get(to, 0) + 1
            for to, shared in counts.items():
                found.append((at, to, shared / (len(bag) + len(bags[to]) - shared)))
        return found

    return few


def _sparse_jaccard(params: Params) -> EdgeFunction:
    tokenize = _tokenizer(params)

    def sparse(expected: Sequence[JsonValue], actual: Sequence[JsonValue], most: int) -> Edges | None:
        if {type(value) for value in (*expected, *actual)} != {str}:
            return None
        return _jaccard_edges(list(map(tokenize, expected)), list(map(tokenize, actual)), most)

    return sparse


def _jaccard_edges(
    expected: list[frozenset[Hashable]], actual: list[frozenset[Hashable]], most: int
) -> Edges | None:
    """Count the tokens shared by the pairs that share any; None if those may be more than `most`."""
    import numpy as np

    from pytest_jsonmatch.engine.compare.tables import joined

    codes: dict[Hashable, int] = {}
    for bag in expected:
        for token in bag:
            codes.setdefault(token, len(codes))
    sizes = np.array(list(map(len, expected)))
    others = np.array(list(map(len, actual)))
    tokens_left = np.array([codes[token] for bag in expected for token in bag], dtype=np.intp)
    tokens_right = np.array([codes.get(token, -1) for bag in actual for token in bag], dtype=np.intp)
    owners = np.repeat(np.arange(len(actual)), others)
    order = np.argsort(tokens_right, kind="stable")
    ranked = tokens_right[order]
    rows_left = np.repeat(np.arange(len(expected)), sizes)
    first, last = np.searchsorted(ranked, tokens_left, "left"), np.searchsorted(ranked, tokens_left, "right")
    found = joined(rows_left, first, last, most)
    if found is None:
        return None
    cells, shared = np.unique(found[0] * len(actual) + owners[order[found[1]]], return_counts=True)
    rows, columns = np.divmod(cells, max(len(actual), 1))
    scores = shared / (sizes[rows] + others[columns] - shared)
    blank, blanks = np.flatnonzero(sizes == 0), np.flatnonzero(others == 0)
    if len(blank) and len(blanks):
        if len(blank) * len(blanks) > most:
            return None
        rows = np.concatenate([rows, np.repeat(blank, len(blanks))])
        columns = np.concatenate([columns, np.tile(blanks, len(blank))])
        scores = np.concatenate([scores, np.ones(len(blank) * len(blanks))])
    return rows, columns, scores


def _jaccard_block(expected: list[frozenset[Hashable]], actual: list[frozenset[Hashable]]) -> Matrix:
    """Count shared tokens by an inverted index; the few that many strings share, by a matrix product."""
    import numpy as np

    rows_of: dict[Hashable, list[int]] = {}
    for row, bag in enumerate(expected):
        for token in bag:
            rows_of.setdefault(token, []).append(row)
    columns_of: dict[Hashable, list[int]] = {}
    for column, bag in enumerate(actual):
        for token in bag:
            if token in rows_of:
                columns_of.setdefault(token, []).append(column)

    n, m = len(expected), len(actual)
    common: list[Hashable] = []
    singles: list[int] = []
    cells: list[NDArray[np.intp]] = []
    pending = 0
    shared = np.zeros((n, m))
    for token, columns in columns_of.items():
        rows = rows_of[token]
        pairs = len(rows) * len(columns)
        if pairs > _COMMON_SHARE * n * m:
            common.append(token)
        elif pairs == 1:
            singles.append(rows[0] * m + columns[0])
        else:
            at = np.array(rows, dtype=np.intp)[:, None] * m + np.array(columns, dtype=np.intp)
            cells.append(at.ravel())
            pending += pairs
            if pending > n * m:  # never more waiting than the matrix itself takes
                shared += np.bincount(np.concatenate(cells), minlength=n * m).reshape(n, m)
                cells, pending = [], 0
    cells.append(np.array(singles, dtype=np.intp))
    shared += np.bincount(np.concatenate(cells), minlength=n * m).reshape(n, m)
    if common:
        # Counts this small are exact in single precision, which is twice as fast.
        left = np.zeros((n, len(common)), dtype=np.float32)
        right = np.zeros((len(common), m), dtype=np.float32)
        for number, token in enumerate(common):
            left[rows_of[token], number] = 1.0
            right[number, columns_of[token]] = 1.0
        shared += left @ right
    sizes = np.array([len(bag) for bag in expected], dtype=np.float64)
    union = sizes[:, None] + np.array([len(bag) for bag in actual], dtype=np.float64)
    union -= shared
    empty = union == 0.0
    union[empty] = shared[empty] = 1.0
    shared /= union
    return shared


JACCARD: Final = Comparator(
    "jaccard", _bind_jaccard, _pairwise_jaccard, sparse=_sparse_jaccard, few=_few_jaccard
)
"""Shared tokens / all tokens, of the lower-cased, white-space-split sets; no token on both sides scores 1
(source 4). `tokenizer`: a function from a string to its tokens, in place of that split."""


# normalized_text


def _normalized(value: JsonValue) -> JsonValue:
    return normalize_text(value) if type(value) is str else map_strings(value, normalize_text)


def _normalized_text(expected: JsonValue, actual: JsonValue) -> float:
    if type(expected) is str and type(actual) is str:
        return 1.0 if expected == actual or normalize_text(expected) == normalize_text(actual) else 0.0
    return equality_score(_normalized(expected), _normalized(actual))


def _bind_normalized_text(params: Params) -> ScalarFunction:
    check_names("comparator 'normalized_text'", params)
    return _normalized_text


def _pairwise_normalized_text(params: Params) -> PairFunction:
    check_names("comparator 'normalized_text'", params)

    def pairwise(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> Matrix:
        from pytest_jsonmatch.engine.compare.tables import equality_matrix

        return equality_matrix([_normalized(v) for v in expected], [_normalized(v) for v in actual])

    return pairwise


NORMALIZED_TEXT: Final = Comparator("normalized_text", _bind_normalized_text, _pairwise_normalized_text)
"""1 if the values are equal once every string in them, at any depth, has lost its accents (NFD, category Mn
removed) and its case (full case folding); keys and numbers as they are (source 2)."""


# contains


def _contains(expected: JsonValue, actual: JsonValue) -> float:
    kind = type(actual)
    if kind is str and type(expected) is str:
        return 1.0 if expected in actual else 0.0
    if kind is list:
        return 1.0 if _list_contains(actual, expected) else 0.0
    if kind is dict and type(expected) is dict:
        held = all(json_equal(item, actual.get(key, MISSING)) for key, item in expected.items())
        return 1.0 if held else 0.0
    return equality_score(expected, actual)


def _list_contains(actual: list[JsonValue], expected: JsonValue) -> bool:
    scalars: set[object] = set()
    containers: list[JsonValue] = []
    for item in actual:
        if type(item) is list or type(item) is dict:
            containers.append(item)
        else:
            scalars.add(scalar_key(item))

    def holds(value: JsonValue) -> bool:
        if type(value) is list or type(value) is dict:
            return any(json_equal(value, item) for item in containers)
        return scalar_key(value) in scalars

    return holds(expected) or (type(expected) is list and all(holds(item) for item in expected))


def _bind_contains(params: Params) -> ScalarFunction:
    check_names("comparator 'contains'", params)
    return _contains


CONTAINS: Final = Comparator("contains", _bind_contains)
"""1 if actual contains expected: a string within a string; a value among an array's elements, or every
element of an expected array; the members of an object. Other values: JSON equality."""


# regex


def _bind_regex(params: Params) -> ScalarFunction:
    owner = "comparator 'regex'"
    check_names(owner, params, ["timeout"])
    timeout = number_parameter(owner, "timeout", params.get("timeout", 1.0), above_zero=True)
    compiled = lru_cache(maxsize=1024)(_compile)

    def match(expected: JsonValue, actual: JsonValue) -> float:
        if type(expected) is not str or type(actual) is not str:
            return equality_score(expected, actual) if type(expected) is not str else 0.0
        try:
            return 1.0 if compiled(expected).fullmatch(actual, timeout=timeout) else 0.0
        except TimeoutError:
            raise TimeoutError(
                f"the pattern {_short(expected)} took more than {timeout:g} s on a text of {len(actual)} "
                "characters; make it simpler, or give the comparator a longer 'timeout'"
            ) from None

    return match


def _compile(pattern: str) -> regex.Pattern[str]:
    import regex

    try:
        return regex.compile(pattern)
    except (regex.error, ValueError, OverflowError, RecursionError, IndexError, TypeError) as error:
        raise ValueError(f"the pattern {_short(pattern)} is not a regular expression: {error}") from error


def _short(text: str) -> str:
    return repr(text) if len(text) <= 60 else repr(text[:59]) + "…"


REGEX: Final = Comparator("regex", _bind_regex, reflexive=False)
"""Expected is a pattern (syntax of the `regex` package) that the whole of actual must match. `timeout`:
seconds per match, default 1. Raises ValueError for a bad pattern and TimeoutError for one that takes too
long. A pattern against what is no string scores 0."""
