"""Pair the elements of arrays."""

from __future__ import annotations
