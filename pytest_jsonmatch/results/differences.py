"""What was wrong, by field: values that differ, as text, and how often each pair of them occurs."""

from __future__ import annotations

from itertools import islice
from os.path import commonprefix
from typing import TYPE_CHECKING, Final, NamedTuple, final

from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.text import render, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_jsonmatch.engine.score.field import FieldResult

_MOST_KEPT: Final = 10
"""A comparison keeps at most this many pairs of a field."""
_MOST_READ: Final = 1_000
"""No more leaves of a comparison are looked at."""
_LONGEST: Final = 80
"""Values are kept with at most this many characters."""
_RENDERED: Final = 20_000
"""No more characters of a value are searched for the first difference."""


@final
class Difference(NamedTuple):
    """An expected and an actual value of a field that differ."""

    expected: str | None = None
    """As JSON text, cut around the first difference; None if nothing is expected there: it is invented."""
    actual: str | None = None
    """Likewise; None if it is omitted."""
    times: int = 1
    """How often the pair occurs."""
    score: float = 0.0
    """The lowest score of the pair."""
    at: str = ""
    """The schema path of the leaf, if it is below a field that is scored as a whole."""

    @property
    def status(self) -> str:
        """The status of the leaf.

        >>> Difference(expected="1").status, Difference(actual="1").status, Difference("1", "2").status
        ('omission', 'hallucination', 'mismatch')
        """
        if self.actual is None:
            return "omission"
        return "hallucination" if self.expected is None else "mismatch"

    def cut(self, limit: int) -> Difference:
        """Return it with values of at most `limit` characters, cut so that their difference is in view.

        >>> Difference('"Kingston Road 12 a"', '"Kingston Road 12 b"').cut(12)[:2]
        ('… Road 12 a"', '… Road 12 b"')
        """
        sides = self.expected, self.actual
        shared = len(commonprefix([side or "" for side in sides]))  # noqa: RUF071 - these are no paths
        texts = (None if side is None else _cut(side, shared, limit) for side in sides)
        return self._replace(expected=next(texts), actual=next(texts))


def _cut(text: str, shared: int, limit: int) -> str:
    start = max(0, min(shared - limit // 3, len(text) - limit + 1))
    return shortened(f"…{text[start:]}" if start else text, limit)


def differences_of(results: Iterable[FieldResult]) -> dict[str, tuple[Difference, ...]]:
    """Return the most frequent differences among the results of a comparison, by schema path."""
    by_path: dict[str, list[Difference]] = {}
    leaves = ((field, leaf) for field in results for leaf in field.differences or (field,))
    wrong = (pair for pair in leaves if pair[1].status in {"mismatch", "omission", "hallucination"})
    for field, leaf in islice(wrong, _MOST_READ):
        expected, actual = (
            None if value is MISSING else render(value, _RENDERED) for value in (leaf.expected, leaf.actual)
        )
        at = "" if leaf.path == field.path else leaf.path
        found = Difference(expected, actual, score=leaf.score, at=at)
        by_path.setdefault(field.path, []).append(found.cut(_LONGEST))
    return {path: most_frequent(found, _MOST_KEPT) for path, found in by_path.items()}


def most_frequent(differences: Iterable[Difference], most: int) -> tuple[Difference, ...]:
    """Return differences with equal ones as one: the most frequent, and of equally frequent ones the worst.

    >>> one, other = Difference("1", "2", score=0.5), Difference("1", "3")
    >>> [(each.actual, each.times) for each in most_frequent([one, other, other._replace(times=2)], 2)]
    [('3', 3), ('2', 1)]
    """
    pairs: dict[tuple[str, str | None, str | None], Difference] = {}
    for each in differences:
        key = each.at, each.expected, each.actual
        known = pairs.get(key, each._replace(times=0))
        pairs[key] = each._replace(times=known.times + each.times, score=min(known.score, each.score))
    order = sorted(pairs.values(), key=lambda each: (-each.times, each.score, each.at, each.expected or ""))
    return tuple(order[:most])
