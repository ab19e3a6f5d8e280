"""Confidences and what became of them, counted in bounded memory."""

from __future__ import annotations

from array import array
from collections import defaultdict
from dataclasses import dataclass, field
from math import floor, log10
from typing import Final, final

GROUPS: Final = 40
"""Clusters are dealt out to so many groups: a figure's interval goes by how much it differs between these.
Groups with even numbers are the half that thresholds are chosen on, the others that they are checked on."""
_DIGITS: Final = 2
"""Of a confidence's distance to 0 or 1."""


def _row() -> array[float]:
    return array("d", bytes(8 * (2 * GROUPS + 1)))


@final
@dataclass(slots=True)
class Tally:
    """How often values with a confidence were right, by confidence and group.

    Confidences are cut downwards, so that a threshold among them is one of the values before the cut, too.
    """

    counts: defaultdict[float, array[float]] = field(default_factory=lambda: defaultdict(_row))
    """Of each confidence how many values were wrong in each group, how many right, and at the end the sum of
    what it was before the cut."""
    seen: bytearray = field(default_factory=bytearray)
    """A bit for each cluster that has a value here."""
    without: int = 0
    """How many values had no confidence."""

    def add(self, confidence: float, right: bool, group: int, cluster: int) -> None:
        """Count a value."""
        row = self.counts[_cut(confidence)]
        row[right * GROUPS + group] += 1
        row[-1] += confidence
        byte, bit = divmod(cluster, 8)
        if byte >= len(self.seen):
            self.seen += bytes(byte + 1 - len(self.seen))
        self.seen[byte] |= 1 << bit


def _cut(confidence: float) -> float:
    """Return a confidence with two digits of its distance to 0 or 1, and never more than it was.

    >>> _cut(0.0123), _cut(0.98765), _cut(0.5), _cut(1.0)
    (0.012, 0.987, 0.5, 1.0)
    """
    if confidence in {0.0, 1.0}:
        return confidence
    distance = min(confidence, 1 - confidence)
    scale = 10.0 ** (_DIGITS - 1 - floor(log10(distance)))
    # The decimal below, told apart from a double just under it.
    return floor(round(confidence * scale, 6)) / scale
