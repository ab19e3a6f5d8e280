"""Confidences and what became of them, counted in bounded memory."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from math import floor, log10
from typing import Final, final

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

    counts: dict[float, array[float]] = field(default_factory=dict)
    """Of each confidence how many values were wrong in each group, how many right, and at the end the sum of
    what it was before the cut."""
    squares: array[float] = field(default_factory=lambda: array("d", bytes(8 * GROUPS)))
    """Of each group the sum of squared differences between confidence and outcome."""
    seen: bytearray = field(default_factory=bytearray)
    """A bit for each cluster that has a value here."""
    digits: int | None = None
    without: int = 0
    """How many values had no confidence."""

    def add(self, confidence: float, right: bool, group: int, cluster: int) -> None:
        """Count a value."""
        row = self._row(confidence)
        row[right * GROUPS + group] += 1
        row[-1] += confidence
        self.squares[group] += (confidence - right) ** 2
        byte, bit = divmod(cluster, 8)
        if byte >= len(self.seen):
            self.seen += bytes(byte + 1 - len(self.seen))
        self.seen[byte] |= 1 << bit

    def _row(self, confidence: float) -> array[float]:
        value = confidence if self.digits is None else _cut(confidence, self.digits)
        row = self.counts.get(value)
        if row is None and len(self.counts) >= _MOST_VALUES:
            self._coarsen()
            return self._row(confidence)
        return self.counts.setdefault(value, array("d", bytes(8 * (2 * GROUPS + 1)))) if row is None else row

    def _coarsen(self) -> None:
        self.digits = 2 if self.digits is None else 1
        counts, self.counts = self.counts, {}
        for value, old in counts.items():
            row = self._row(value)
            for at, number in enumerate(old):
                row[at] += number


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
