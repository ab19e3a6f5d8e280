"""Records that are nearly the same, found without comparing all with all.

Import this module late: it imports numpy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple, final

import numpy as np

if TYPE_CHECKING:
    from sqlite3 import Connection

    from pytest_jsonmatch.study.records import Record

_BANDS, _ROWS = 16, 4
_MOST: Final = 200_000
"""At most this many candidates are compared."""
_LISTED: Final = 100
_MIX: Final = np.random.RandomState(7).randint(0, 2**62, _BANDS * _ROWS).astype(np.uint64) * np.uint64(2) + 1
_NEIGHBOURS: Final = """
    SELECT one, record FROM (
        SELECT band, record, lag(record) OVER (PARTITION BY band ORDER BY record) AS one FROM bands
    ) WHERE one IS NOT NULL ORDER BY band, record
"""
"""Each record of a band, with the one before it."""


class Duplicate(NamedTuple):
    """Two gold records that are nearly the same, and the score of one as the answer to the other."""

    split: str
    id: str | int
    other_split: str
    other_id: str | int
    score: float


@final
class Twins:
    """Records that are nearly the same.

    Candidates share one of 16 bands of a MinHash of their values (Broder 1997): of two records with eight in
    ten values in common, 99.98 % do. The first record that has a band is compared with the others.
    """

    def __init__(self, database: Connection) -> None:
        self.pairs: list[Duplicate] = []
        """The first hundred."""
        self.is_cut = False
        """Whether there were too many candidates to compare them all."""
        self._database = database
        database.execute("CREATE TABLE bands (band INTEGER, record INTEGER)")
        self._first: dict[int, int] = {}

    def add(self, record: int, features: set[int]) -> None:
        """Add a record by its number and the numbers of its values."""
        values = np.fromiter(features, dtype=np.uint64, count=len(features))
        with np.errstate(over="ignore"):
            mixed = (values ^ (values >> np.uint64(31))) * _MIX[:, None]
            least = (mixed ^ (mixed >> np.uint64(29))).min(axis=1).reshape(_BANDS, _ROWS)
            bands = (least * _MIX[:_ROWS]).sum(axis=1, dtype=np.uint64) >> np.uint64(32)
        rows = ((number << 32 | band, record) for number, band in enumerate(bands.tolist()))
        self._database.executemany("INSERT INTO bands VALUES (?, ?)", rows)

    def link(
        self, record: Callable[[int], Record], score: Callable[[Record, Record], float], near: float
    ) -> None:
        """Compare the candidates; those that score at least `near` are nearly the same."""
        tried: set[tuple[int, int]] = set()
        for pair in self._database.execute(_NEIGHBOURS):
            one, other = map(self._root, pair)
            if one == other or (one, other) in tried:
                continue
            if len(tried) == _MOST:
                self.is_cut = True
                return
            tried.add((one, other))
            first, second = record(one), record(other)
            found = score(first, second)
            if found >= near:
                self._first[max(one, other)] = min(one, other)
                if len(self.pairs) < _LISTED:
                    self.pairs.append(Duplicate(first.gold, first.id, second.gold, second.id, found))

    def _root(self, number: int) -> int:
        """Return the first of the records that a record is like; itself if there is none."""
        while number in self._first:
            number = self._first[number]
        return number

    def counts(self, gold_of: Callable[[int], str]) -> tuple[int, int]:
        """Return how many records are like an earlier one, and how many like one of another gold."""
        groups: dict[int, Counter[str]] = {}
        for number in self._first:
            root = self._root(number)
            groups.setdefault(root, Counter([gold_of(root)]))[gold_of(number)] += 1
        return len(self._first), sum(sum(group.values()) for group in groups.values() if len(group) > 1)
