"""The garbage collector, out of the way of deep documents.

Chains of 100,000 containers are its worst case: each full collection walks them all, and making them asks for
one again and again, so that most of the time goes there. Nothing the engine builds is cyclic garbage while it
works.
"""

from __future__ import annotations

import gc
from typing import Final, final

__all__ = ["DEEP", "CollectorPause"]

DEEP: Final = 1_000
"""From this depth on it pays to pause."""


@final
class CollectorPause:
    """Switches the collector off when asked, and on again at the end if it was on."""

    __slots__ = ("_paused",)

    def __init__(self) -> None:
        self._paused = False

    def begin(self) -> None:
        """Pause the collector, unless it is off already (then it is somebody else's to switch on)."""
        if gc.isenabled():
            gc.disable()
            self._paused = True

    def end(self) -> None:
        """Let the collector go on, if `begin` paused it."""
        if self._paused:
            self._paused = False
            gc.enable()
