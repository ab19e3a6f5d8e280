"""Records that are nearly the same, found without comparing all with all.

Imported when it is asked for: it imports numpy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from hashlib import blake2b
from typing import IO, TYPE_CHECKING, Final, NamedTuple, final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_jsonmatch.study.records import Record

_BANDS, _ROWS = 16, 4
_MOST: Final = 200_000
"""So many candidates are compared."""
_LISTED: Final = 100
_MIX: Final = np.random.RandomState(7).randint(0, 2**62, _BANDS * _ROWS).astype(np.uint64) * np.uint64(2) + 1


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

    def __init__(self, file: IO[bytes]) -> None:
        self.pairs: list[Duplicate] = []
        """The first hundred."""
        self.is_cut = False
        """Whether there were too many candidates to compare them all."""
        self._file = file
        """Sixteen numbers of 32 bits for each record."""
        self._records = 0
        self._first: dict[int, int] = {}

    def add(self, features: set[int]) -> None:
        """Add a record by the numbers of its values; one without any is like no other."""
        self._records += 1
        if not features:
            self._file.write(blake2b(b"alone %d" % self._records, digest_size=4 * _BANDS).digest())
            return
        values = np.fromiter(features, dtype=np.uint64, count=len(features))
        with np.errstate(over="ignore"):
            mixed = (values ^ (values >> np.uint64(31))) * _MIX[:, None]
            least = (mixed ^ (mixed >> np.uint64(29))).min(axis=1).reshape(_BANDS, _ROWS)
            mixed = (least * _MIX[:_ROWS]).sum(axis=1, dtype=np.uint64) >> np.uint64(32)
            self._file.write(mixed.astype(np.uint32).tobytes())

    def _band(self, number: int) -> NDArray[np.uint32]:
        """Return a number of each record: so much of them is held at a time."""
        self._file.seek(0)
        parts = iter(partial(self._file.read, 1 << 20), b"")
        return np.concatenate([np.frombuffer(part, np.uint32)[number::_BANDS] for part in parts])

    def link(
        self, record: Callable[[int], Record], score: Callable[[Record, Record], float], near: float
    ) -> None:
        """Compare the candidates; what scores at least `near` is nearly the same."""
        tried: set[tuple[int, int]] = set()
        for band in map(self._band, range(_BANDS)):
            order = np.argsort(band, kind="stable")
            for at in np.flatnonzero(band[order][1:] == band[order][:-1]).tolist():
                one, other = self._root(int(order[at])), self._root(int(order[at + 1]))
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
        """Return the first of the records that one is like; itself if there is none."""
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
