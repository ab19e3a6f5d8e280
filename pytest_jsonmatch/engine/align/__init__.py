"""Which elements of two arrays belong together."""

from __future__ import annotations
