"""Scorings of values by sets that are made of them: what do two of them share?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_jsonmatch.engine.compare.base import Scoring

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from pytest_jsonmatch.engine.compare.base import Matrix
    from pytest_jsonmatch.engine.value.convert import JsonValue


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
