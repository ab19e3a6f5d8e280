"""Pause the garbage collector while documents are gone through.

Chains of 100,000 containers are its worst case: building them triggers full collections again and again, each
of which walks the whole chain, and most of the time goes there. The engine makes no cyclic garbage meanwhile.
"""

from __future__ import annotations

import gc
from typing import final


@final
class CollectorPause:
    """A context in which the collector is off; after it, it is on if it was on before."""

    __slots__ = ("_was_on",)

    def __enter__(self) -> None:
        self._was_on = gc.isenabled()
        gc.disable()

    def __exit__(self, *_exception: object) -> None:
        if self._was_on:
            gc.enable()
