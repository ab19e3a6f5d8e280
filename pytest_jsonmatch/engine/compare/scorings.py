"""Scorings by what values are made into: equal keys, shared members, forms of short texts."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pytest_jsonmatch.engine.compare.base import Scoring
from pytest_jsonmatch.engine.value.equality import json_equal, json_key

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from pytest_jsonmatch.engine.compare.base import Matrix
    from pytest_jsonmatch.engine.value.convert import JsonValue

Form = TypeVar("Form")

# Longer texts are no date, amount or number of any kind; reading them would only cost time.
_LONGEST: Final = 100


def equality_score(expected: JsonValue, actual: JsonValue) -> float:
    """Return 1.0 for equal JSON values and 0.0 for others: what built-ins say of types they are not made for.

    >>> equality_score([1, "a"], [1.0, "a"]), equality_score(True, 1)
    (1.0, 0.0)
    """
    return 1.0 if json_equal(expected, actual) else 0.0


def equality_of(prepare: Callable[[JsonValue], Hashable]) -> Scoring:
    """Return a scoring that gives 1 where what `prepare` makes of two values is equal, else 0.

    >>> first_letter = equality_of(lambda text: text[:1])
    >>> first_letter.score("Bern", "Berlin"), first_letter.table(["Bern", "Rome"], ["Berlin"]).tolist()
    (1.0, [[1.0], [0.0]])
    """

    def score(expected: JsonValue, actual: JsonValue) -> float:
        return 1.0 if prepare(expected) == prepare(actual) else 0.0

    def table(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> Matrix:
        from pytest_jsonmatch.engine.compare.tables import equality_table

        return equality_table(expected, actual, prepare)

    def rows(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> list[dict[int, float]]:
        equal: dict[Hashable, dict[int, float]] = {}
        for to, value in enumerate(actual):
            equal.setdefault(prepare(value), {})[to] = 1.0
        return [equal.get(prepare(value), {}) for value in expected]

    # Equal values share their only member.
    related = scoring_of_sets(lambda value: frozenset({prepare(value)}), graded=True).related
    return Scoring(score, table, rows=rows, related=related)


def scoring_of_sets(members: Callable[[JsonValue], frozenset[Hashable]], *, graded: bool) -> Scoring:
    """Return a scoring of values by the members that they share.

    Args:
        members: returns the members of a value, at least one.
        graded: the score is shared members / all members; if not, it is 1 for one shared member or more.

    >>> letters = scoring_of_sets(frozenset, graded=True)
    >>> letters.score("abc", "ab"), letters.rows(["abc", "d"], ["ab", "x"])
    (0.6666666666666666, [{0: 0.6666666666666666}, {}])
    """

    def score(expected: JsonValue, actual: JsonValue) -> float:
        one, other = members(expected), members(actual)
        if one.isdisjoint(other):
            return 0.0
        shared = len(one & other)
        return shared / (len(one) + len(other) - shared) if graded else 1.0

    def table(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> Matrix:
        import numpy as np

        from pytest_jsonmatch.engine.compare.tables import row_blocks, shared_members

        left, right = list(map(members, expected)), list(map(members, actual))
        shared = shared_members(left, right)
        if not graded:
            return shared.clip(max=1.0)
        sizes, others = (np.array(list(map(len, sets)), dtype=np.float64) for sets in (left, right))
        for some in row_blocks(*shared.shape):
            shared[some] /= sizes[some, None] + others - shared[some]
        return shared

    def rows(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> list[dict[int, float]]:
        # Most pairs have nothing in common: they are not looked at.
        holders: dict[Hashable, list[int]] = {}
        sizes: list[int] = []
        for to, other in enumerate(map(members, actual)):
            sizes.append(len(other))
            for member in other:
                holders.setdefault(member, []).append(to)
        found: list[dict[int, float]] = []
        for one in map(members, expected):
            shared: dict[int, int] = {}
            for member in one:
                for to in holders.get(member, ()):
                    shared[to] = shared.get(to, 0) + 1
            if graded:
                size = len(one)
                found.append({to: number / (size + sizes[to] - number) for to, number in shared.items()})
            else:
                found.append(dict.fromkeys(shared, 1.0))
        return found

    def related(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> Any:
        from pytest_jsonmatch.engine.compare.tables import overlaps

        return overlaps(list(map(members, expected)), list(map(members, actual)))

    return Scoring(score, table, rows=rows, related=related if graded else None)


def text_reader(read: Callable[[str], Form | None]) -> Callable[[JsonValue], Form | None]:
    """Return a function that reads texts with `read`, and integers by their digits; None for all else.

    `read` gets short texts, without white space at the ends, each once. A year or an ISBN often comes as an
    integer.

    >>> reader = text_reader(str.upper)
    >>> reader(" ab "), reader(20260131), reader(["ab"])
    ('AB', '20260131', None)
    """
    kept = lru_cache(maxsize=4096)(read)

    def read_value(value: JsonValue) -> Form | None:
        kind = type(value)
        if kind is str:
            return kept(value.strip()) if len(value) <= _LONGEST else None
        return kept(str(value)) if kind is int and 0 <= value < 10**18 else None

    return read_value


def compare_forms(read: Callable[[JsonValue], Hashable | None]) -> Scoring:
    """Return a scoring that gives 1 for equal forms, else 0; values without one are compared as they are.

    >>> compare_forms(text_reader(lambda text: text.lower() if text.isalpha() else None)).score("A", "a")
    1.0
    """

    def key(value: JsonValue) -> Hashable:
        form = read(value)
        return json_key(value) if form is None else (compare_forms, form)

    return equality_of(key)
