"""Confidences and what became of them, in bounded memory. It imports numpy: import it in functions."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from math import floor, log10
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

GROUPS: Final = 40
"""Clusters are dealt out to so many groups: a figure's interval goes by how much it differs between these.
Groups with even numbers are the half that thresholds are chosen on, the others that they are checked on."""
_MOST_VALUES: Final = 512
"""So many confidences that differ are kept apart; of more, the last digits are dropped."""


@final
@dataclass(slots=True)
class Tally:
    """How often values with a confidence were right, by confidence and group.

    With more than 512 different confidences they are cut to two digits of their distance to 0 or 1, whichever
    is nearer: downwards, so that a threshold among them means the same for values before and after the cut.
    """

    values: dict[float, int] = field(default_factory=dict)
    """The place of each confidence in `counts`."""
    counts: array[int] = field(default_factory=lambda: array("L"))
    """Of each confidence how many values were wrong in each group, and then how many were right."""
    sums: array[float] = field(default_factory=lambda: array("d"))
    """Of each confidence the sum of what it was before the cut."""
    squares: array[float] = field(default_factory=lambda: array("d", bytes(8 * GROUPS)))
    """Of each group the sum of squared differences between confidence and outcome."""
    seen: bytearray = field(default_factory=bytearray)
    """A bit for each cluster that has a value here."""
    digits: int | None = None

    def add(self, confidence: float, right: bool, group: int, cluster: int) -> None:
        """Count a value."""
        value = confidence if self.digits is None else _cut(confidence, self.digits)
        place = self.values.get(value)
        if place is None:
            if len(self.values) >= _MOST_VALUES:
                self._coarsen()
                value = _cut(confidence, self.digits or 1)
            place = self.values.setdefault(value, len(self.values))
            if place == len(self.sums):
                self.sums.append(0.0)
                self.counts.frombytes(bytes(2 * GROUPS * self.counts.itemsize))
        self.counts[(2 * place + right) * GROUPS + group] += 1
        self.sums[place] += confidence
        self.squares[group] += (confidence - right) ** 2
        byte, bit = divmod(cluster, 8)
        if byte >= len(self.seen):
            self.seen += bytes(byte + 1 - len(self.seen))
        self.seen[byte] |= 1 << bit

    def _coarsen(self) -> None:
        self.digits = 2 if self.digits is None else 1
        counts, sums = self._shaped(), np.frombuffer(self.sums).copy()
        merged: dict[float, int] = {}
        places = [
            merged.setdefault(_cut(value, self.digits), len(merged))
            for value in sorted(self.values, key=self.values.__getitem__)
        ]
        new_counts = np.zeros((len(merged), 2, GROUPS), counts.dtype)
        new_sums = np.zeros(len(merged))
        np.add.at(new_counts, places, counts)
        np.add.at(new_sums, places, sums)
        self.values = merged
        self.counts, self.sums = array("L", new_counts.tobytes()), array("d", new_sums.tobytes())

    def _shaped(self) -> NDArray[Any]:
        return np.frombuffer(self.counts, np.dtype("L")).reshape(-1, 2, GROUPS).copy()

    def sorted(self) -> Outcomes:
        """Return what was counted, by rising confidence."""
        order = np.argsort(np.fromiter(self.values, float))
        places = np.fromiter(self.values.values(), int)[order]
        counts = self._shaped()[places].astype(float)
        wrong, right = counts[:, 0].T, counts[:, 1].T
        number = (wrong + right).sum(0)
        means = np.frombuffer(self.sums).copy()[places] / number
        squares = np.frombuffer(self.squares).copy()
        clusters = int.from_bytes(self.seen, "little").bit_count()
        return Outcomes(np.fromiter(self.values, float)[order], means, wrong, right, squares, clusters)


def _cut(confidence: float, digits: int) -> float:
    """Return a confidence with so many digits of its distance to 0 or 1, and never more than it was.

    >>> _cut(0.0123, 2), _cut(0.98765, 2), _cut(0.5, 2), _cut(1.0, 2)
    (0.012, 0.987, 0.5, 1.0)
    """
    if confidence in {0.0, 1.0}:
        return confidence
    distance = min(confidence, 1 - confidence)
    unit = digits - 1 - floor(log10(distance))
    # The decimal below, told apart from a double just under it.
    scale = 10.0**unit
    return floor(round(confidence * scale, 6)) / scale


@final
@dataclass(frozen=True, slots=True)
class Outcomes:
    """Counts of values by confidence.

    Args:
        values: the V confidences, rising.
        means: of each the mean of the confidences that were cut to it.
        wrong: a row for each group, with as many columns as confidences: how many values were wrong.
        right: the same of those that were right.
        squares: of each group the sum of squared differences between confidence and outcome.
        clusters: how many clusters the values come from.
    """

    values: NDArray[np.float64]
    means: NDArray[np.float64]
    wrong: NDArray[np.float64]
    right: NDArray[np.float64]
    squares: NDArray[np.float64]
    clusters: int

    @property
    def number(self) -> int:
        """How many values there are."""
        return int(self.wrong.sum() + self.right.sum())

    @property
    def wrong_number(self) -> int:
        """How many of them are wrong."""
        return int(self.wrong.sum())

    @property
    def used(self) -> NDArray[np.bool_]:
        """Which groups have values."""
        used: NDArray[np.bool_] = (self.wrong + self.right).sum(1) > 0
        return used

    def half(self, remainder: int) -> Outcomes:
        """Return the half with even groups (0) or with odd ones (1); its clusters are half of all."""
        rows = slice(remainder, None, 2)
        wrong, right = self.wrong[rows], self.right[rows]
        share = (wrong.sum() + right.sum()) / max(self.number, 1)
        return Outcomes(
            self.values, self.means, wrong, right, self.squares[rows], round(self.clusters * float(share))
        )
