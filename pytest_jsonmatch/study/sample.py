"""A fair sample of values, of bounded size."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Generic, TypeVar, final

if TYPE_CHECKING:
    from collections.abc import MutableSequence

T = TypeVar("T")


@final
class Sample(Generic[T]):
    """A fair sample of values, the same in each run (Vitter 1985, Random sampling with a reservoir).

    Args:
        size: how many values are kept at most.
        values: an empty list or array that takes them.

    >>> sample = Sample[int](2, [])
    >>> for number in range(100):
    ...     sample.add(number)
    >>> len(sample.values), sample.alike
    (2, 0.25)
    """

    def __init__(self, size: int, values: MutableSequence[T]) -> None:
        self.values = values
        self.seen = 0
        """How many values there were."""
        self._size = size
        self._random = Random(0)  # noqa: S311 - no secret

    def add(self, value: T) -> None:
        """Add a value, which may enter the sample."""
        self.seen += 1
        if len(self.values) < self._size:
            self.values.append(value)
        elif (place := self._random.randrange(self.seen)) < self._size:
            self.values[place] = value

    @property
    def alike(self) -> float:
        """How often two values are alike; one half before there are any."""
        number = len(self.values)
        alike = sum(each * (each - 1) for each in Counter(self.values).values())
        return (alike + 1) / (number * (number - 1) + 2)
