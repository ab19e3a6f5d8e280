"""Defaults of assertions, golden cases, corpora and every command."""

from __future__ import annotations

from typing import Final

METRIC: Final = "leaf_f1"
"""With the threshold below it requires that every leaf is equal and nothing is invented."""
THRESHOLD: Final = 1.0
MAX_REPEATS: Final = 10_000
"""At most this many runs of a golden case."""
