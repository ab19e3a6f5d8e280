"""Many records: brought together, scored in chunks, summed up."""

from __future__ import annotations
