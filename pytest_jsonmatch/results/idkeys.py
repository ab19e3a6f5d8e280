"""Ids of records as keys of 8 bytes, to find ids that occur twice among any number of records."""

from __future__ import annotations

import struct
from array import array
from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b
from typing import Final, final

_MAX_KEPT: Final = 10_000
"""The maximum number of keys of a run that are kept in its result."""
_MANY: Final = 50_000
"""From this number of keys, numpy needs less memory."""


def make_key(record_id: str | int) -> int:
    """Return the key of an id; in every process it is the same, and two ids very rarely share one.

    >>> make_key("r1") == make_key("r1"), make_key("7") == make_key(7)
    (True, False)
    """
    # The ids of one type differ from those of the other: an int ends in a byte that no text contains.
    text = record_id.encode("utf-8", "surrogatepass") if isinstance(record_id, str) else b"%d\xff" % record_id
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little")


def lowest_keys(keys: Iterable[int]) -> bytes:
    """Return the lowest keys, at most 10,000, in ascending order, as 8 bytes each.

    Of m ids that two runs of n records have in common, they show one with a probability of about
    1 - (1 - 10,000 / n) ** m.

    >>> read_keys(lowest_keys([2**63, 1])) == {1, 2**63}
    True
    """
    lowest = sorted(keys)[:_MAX_KEPT]
    return struct.pack(f"<{len(lowest)}Q", *lowest)


def read_keys(data: bytes) -> set[int]:
    """Return the keys that `lowest_keys` returned as bytes; raise ValueError for other bytes."""
    try:
        return {key for (key,) in struct.iter_unpack("<Q", data)}
    except struct.error as error:
        raise ValueError(str(error)) from None


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

    def add(self, record_id: str | int) -> None:
        """Add the key of an id."""
        self._keys.append(make_key(record_id))

    def extend(self, other: IdKeys) -> None:
        """Add the keys of other records."""
        self._keys.extend(other._keys)

    def lowest(self) -> bytes:
        """Return the lowest keys, at most 10,000: all of a small run, and a sample of a large one."""
        if len(self._keys) < _MANY:
            return lowest_keys(self._keys)
        import numpy as np

        return lowest_keys(np.partition(np.frombuffer(self._keys, np.uint64), _MAX_KEPT)[:_MAX_KEPT].tolist())

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
