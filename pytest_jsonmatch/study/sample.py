"""A fair sample of values, of bounded size."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Generic, TypeVar, final

T = TypeVar("T")


@final
class Sample(Generic[T]):
    """A fair sample of so many values, the same in each run (Vitter 1985, Random sampling with a reservoir).

    >>> sample = Sample[int](2)
    >>> for number in range(100):
    ...     sample.add(number)
    >>> len(sample.values), sample.alike
    (2, 0.25)
    """

    def __init__(self, size: int) -> None:
        self.values: list[T] = []
        self._size = size
        self._seen = 0
        self._random = Random(0)  # noqa: S311 - no secret

    def add(self, value: T) -> None:
        """Take note of a value."""
        self._seen += 1
        if len(self.values) < self._size:
            self.values.append(value)
        elif (place := self._random.randrange(self._seen)) < self._size:
            self.values[place] = value

    @property
    def alike(self) -> float:
        """How often two values are alike; in the beginning every other pair is."""
        number = len(self.values)
        alike = sum(each * (each - 1) for each in Counter(self.values).values())
        return (alike + 1) / (number * (number - 1) + 2)
