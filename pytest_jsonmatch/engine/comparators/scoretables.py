"""Score tables: all pairs of distinct expected and actual values, scored at once.

Everything here needs numpy; the comparators import this module only when a table is needed.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pytest_jsonmatch.engine.comparators.base import score_or_zero
from pytest_jsonmatch.engine.value.equality import make_json_key

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence
    from collections.abc import Set as AbstractSet

    from numpy.typing import NDArray

    from pytest_jsonmatch.engine.comparators.base import Formula, Matrix, ScoreFunction
    from pytest_jsonmatch.engine.value.convert import JsonValue

# Integers up to this size, and their differences, are exact as doubles.
_EXACT_INTEGER: Final = 2**52
# Members shared by more than this fraction of all pairs of sets are counted by a matrix product; for rarer
# members, counting pair by pair is faster at any size (measured from 50 to 3,000 sets).
_COMMON_SHARE: Final = 0.02


def split_rows(rows: int, columns: int, cells: int = 65_536) -> list[slice]:
    """Split `rows` into slices of about `cells` cells each; 512 KiB of doubles stay in the cache.

    >>> split_rows(3, 32_768)
    [slice(0, 2, None), slice(2, 3, None)]
    >>> split_rows(2, 100_000), split_rows(2, 0)
    ([slice(0, 1, None), slice(1, 2, None)], [slice(0, 2, None)])
    """
    step = max(1, cells // max(1, columns))
    return [slice(start, min(start + step, rows)) for start in range(0, rows, step)]


def make_equality_table(
    expected: Sequence[JsonValue],
    actual: Sequence[JsonValue],
    make_key: Callable[[JsonValue], Hashable] = make_json_key,
) -> Matrix:
    """Return the (u, v) array with 1.0 where `make_key` returns equal keys for two values, else 0.0.

    >>> make_equality_table(["a", 1, True], [1.0, "a"]).tolist()
    [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]
    """
    codes: dict[Hashable, int] = {}
    left, right = (
        np.array([codes.setdefault(key, len(codes)) for key in map(make_key, values)], dtype=np.intp)
        for values in (expected, actual)
    )
    return np.equal(left[:, None], right).astype(np.float64)


def make_score_table(
    expected: Sequence[JsonValue], actual: Sequence[JsonValue], score: ScoreFunction
) -> Matrix:
    """Return the scores of all pairs, computed one by one; 0 for a pair for which the comparator raises."""
    scores = [[score_or_zero(score, one, other) for other in actual] for one in expected]
    return np.array(scores, dtype=np.float64).reshape(len(expected), len(actual))


def make_string_table(
    expected: Sequence[JsonValue],
    actual: Sequence[JsonValue],
    score_block: Callable[[Sequence[str], Sequence[str]], Matrix],
) -> Matrix:
    """Score strings by `score_block`, other values by JSON equality; a string against another type scores 0.

    `score_block` gets two non-empty lists of strings.

    >>> make_string_table(["a", 1], ["b", 1], lambda e, a: np.full((len(e), len(a)), 0.5)).tolist()
    [[0.5, 0.0], [0.0, 1.0]]
    """
    places = [[at for at, value in enumerate(values) if type(value) is str] for values in (expected, actual)]
    return add_equality(expected, actual, places, score_block)


def make_number_table(
    expected: Sequence[JsonValue],
    actual: Sequence[JsonValue],
    score_block: Callable[[NDArray[np.float64], NDArray[np.float64]], Matrix],
    score: Callable[[JsonValue, JsonValue], float],
) -> Matrix:
    """Score exact doubles by `score_block`, other numbers by `score`, and other values by equality.

    Args:
        expected: u JSON values.
        actual: v JSON values.
        score_block: returns the scores (k, v) of finite doubles (k, 1) and (v,), for a block of rows.
        score: scores two values; used for integers beyond 2**52 and numbers too large for doubles.

    >>> make_number_table([1, "a"], [2.0, "a"], lambda e, a: e / a, lambda e, a: 0.0).tolist()
    [[0.5, 0.0], [0.0, 1.0]]
    """

    def blocks(left: Sequence[JsonValue], right: Sequence[JsonValue]) -> Matrix:
        column, row = np.array(left, dtype=np.float64)[:, None], np.array(right, dtype=np.float64)
        scores = np.empty((len(left), len(right)))
        with np.errstate(all="ignore"):
            for rows in split_rows(*scores.shape):
                scores[rows] = score_block(column[rows], row)
        return scores

    sides = expected, actual
    rows, columns = ([at for at, value in enumerate(side) if _is_double(value)] for side in sides)
    scores = add_equality(expected, actual, [rows, columns], blocks)
    for i in _find_wide(expected):
        scores[i] = [score(expected[i], other) for other in actual]
    for j in _find_wide(actual):
        scores[:, j] = [score(one, actual[j]) for one in expected]
    return scores


def _is_double(value: JsonValue) -> bool:
    """Return whether a value is a finite number that is exact as a double."""
    if type(value) is int:
        return -_EXACT_INTEGER <= value <= _EXACT_INTEGER
    return type(value) is float and value - value == 0.0


def _find_wide(values: Sequence[JsonValue]) -> list[int]:
    """Return the positions of numbers that are not exact as doubles."""
    return [at for at, value in enumerate(values) if type(value) in {int, Decimal} and not _is_double(value)]


def add_equality(
    expected: Sequence[JsonValue],
    actual: Sequence[JsonValue],
    places: Sequence[Sequence[int]],
    score_block: Callable[[Sequence[Any], Sequence[Any]], Matrix],
) -> Matrix:
    """Score the values at some positions of both sides by `score_block`, and all others by JSON equality."""
    rows, columns = places
    if not rows or not columns:
        return make_equality_table(expected, actual)
    if len(rows) == len(expected) and len(columns) == len(actual):
        return score_block(expected, actual)
    scores = make_equality_table(expected, actual)
    scores[np.ix_(rows, columns)] = score_block([expected[i] for i in rows], [actual[j] for j in columns])
    return scores


def count_shared_members(
    expected: Sequence[AbstractSet[Hashable]], actual: Sequence[AbstractSet[Hashable]]
) -> Matrix:
    """Return the number of members that each set of expected shares with each set of actual.

    >>> count_shared_members([{"a", "b"}, set()], [{"b", "c"}, {"a", "b"}]).tolist()
    [[1.0, 2.0], [0.0, 0.0]]
    """
    n, m = len(expected), len(actual)
    codes: dict[Hashable, int] = {}
    left = np.array(
        [codes.setdefault(member, len(codes)) for members in expected for member in members], np.intp
    )
    right = np.array([codes.get(member, -1) for members in actual for member in members], np.intp)
    rows = np.repeat(np.arange(n), list(map(len, expected)))
    columns = np.repeat(np.arange(m), list(map(len, actual)))
    columns, right = columns[right >= 0], right[right >= 0]
    owner_counts = np.bincount(right, minlength=len(codes))
    pairs = np.bincount(left, minlength=len(codes)) * owner_counts
    is_common = pairs > _COMMON_SHARE * n * m
    shared = np.zeros((n, m))
    if is_common.any():
        # A product of 0/1 matrices without their last column, which is for all other members.
        number = np.where(is_common, np.cumsum(is_common) - 1, -1)
        left_matrix, right_matrix = (
            np.zeros((size, int(is_common.sum()) + 1), dtype=np.float32) for size in (n, m)
        )
        left_matrix[rows, number[left]] = 1.0
        right_matrix[columns, number[right]] = 1.0
        shared += left_matrix[:, :-1] @ right_matrix[:, :-1].T
    rare = owner_counts * ~is_common
    has_rare = rare[left] > 0
    if has_rare.any():
        # Count pair by pair: `columns` lists the owners of each member consecutively.
        left, rows = left[has_rare], rows[has_rare]
        columns = columns[np.argsort(right, kind="stable")]
        starts = np.cumsum(owner_counts) - owner_counts
        for block in split_rows(n, m, 2**18):
            members = slice(*np.searchsorted(rows, (block.start, block.stop)))
            counts = rare[left[members]]
            ends = np.cumsum(counts)
            places = np.arange(counts.sum()) + np.repeat(starts[left[members]] - ends + counts, counts)
            cells = np.repeat((rows[members] - block.start) * m, counts) + columns[places]
            np.add.at(shared[block].reshape(-1), cells, 1.0)
    return shared


def score_overlaps(
    expected: Sequence[AbstractSet[Hashable]], actual: Sequence[AbstractSet[Hashable]], formula: Formula
) -> Any:
    """Return the scores of pairs of sets that share members, as a sparse matrix (scipy's COO).

    >>> from pytest_jsonmatch.engine.comparators.equality import compute_jaccard
    >>> scores = score_overlaps([{"a", "b"}, {"x"}], [{"b", "c"}, {"a", "b"}], compute_jaccard)
    >>> scores.toarray().round(2).tolist()
    [[0.33, 1.0], [0.0, 0.0]]
    """
    from scipy.sparse import csr_matrix

    codes: dict[Hashable, int] = {}
    matrices = []
    for sets in (expected, actual):
        members = [codes.setdefault(member, len(codes)) for item_set in sets for member in item_set]
        matrices.append((np.ones(len(members)), members, np.cumsum([0, *map(len, sets)])))
    left, right = (csr_matrix(one, shape=(len(one[2]) - 1, len(codes))) for one in matrices)
    shared = (left @ right.T).tocoo()
    shared.data = formula(shared.data, np.diff(left.indptr)[shared.row], np.diff(right.indptr)[shared.col])
    return shared
