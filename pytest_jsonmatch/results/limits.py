"""Limits that both the command line and files keep to; importing them imports nothing else."""

from __future__ import annotations

from typing import Final

MAX_REPEATS: Final = 10_000
"""How often a golden case may run."""
