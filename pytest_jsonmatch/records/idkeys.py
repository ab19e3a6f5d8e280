"""Ids of records as keys of 8 bytes, to find ids that occur twice among any number of records."""

from __future__ import annotations

from array import array
from collections import Counter
from typing import Final, final

_PRIME: Final = 2**61 - 1
_SPREAD: Final = 0x9E3779B97F4A7C15
"""An odd number by which products of neighbouring numbers are spread over all keys."""
_LAST: Final = 2**64 - 1
_MANY: Final = 50_000
"""From this number of keys, numpy needs less memory."""


def make_key(record_id: str | int) -> int:
    """Return the key of an id; in every process it is the same, and two ids very rarely share one.

    >>> make_key("r1") == make_key("r1"), make_key("7") == make_key(7)
    (True, False)
    """
    text = record_id.encode("utf-8", "surrogatepass") if isinstance(record_id, str) else b"%d\0" % record_id
    return int.from_bytes(text, "big") % _PRIME * _SPREAD & _LAST


@final
class IdKeys:
    """The keys of ids, in the order in which records were read.

    >>> keys = IdKeys()
    >>> for name in ("a", "b", "a"):
    ...     keys.add(name)
    >>> keys.find_repeated() == {make_key("a")}
    True
    """

    __slots__ = ("_keys",)

    def __init__(self) -> None:
        self._keys = array("Q")

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, record_id: str | int) -> None:
        """Add the key of an id."""
        self._keys.append(make_key(record_id))

    def extend(self, other: IdKeys) -> None:
        """Add the keys of other records."""
        self._keys.extend(other._keys)

    def find_repeated(self) -> set[int]:
        """Return the keys that occur more than once."""
        keys = self._keys
        if len(keys) < _MANY:
            if len(set(keys)) == len(keys):
                return set()
            return {key for key, times in Counter(keys).items() if times > 1}
        import numpy as np

        ordered = np.sort(np.frombuffer(keys, np.uint64))
        return set(ordered[1:][ordered[1:] == ordered[:-1]].tolist())

    def positions(self, key: int) -> list[int]:
        """Return the positions of the records with a key."""
        return [position for position, other in enumerate(self._keys) if other == key]
