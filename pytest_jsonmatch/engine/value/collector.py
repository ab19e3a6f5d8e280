"""Pause the garbage collector for deep documents.

Chains of 100,000 containers are its worst case: building them triggers full collections again and again, each
of which walks the whole chain, and most of the time goes there. The engine makes no cyclic garbage meanwhile.
"""

from __future__ import annotations

import gc
from typing import Final, final

DEEP: Final = 1_000
"""From this depth on, a pause saves time."""


@final
class CollectorPause:
    """Switches the collector off, and on again at the end if it was on."""

    __slots__ = ("_paused",)

    def __init__(self) -> None:
        self._paused = False

    def begin(self) -> None:
        """Pause the collector, unless it is off already: whoever did that switches it on again."""
        if gc.isenabled():
            gc.disable()
            self._paused = True

    def end(self) -> None:
        """Resume the collector, if `begin` paused it."""
        if self._paused:
            self._paused = False
            gc.enable()
