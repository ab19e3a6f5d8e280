"""Comparators that answer later, many questions at a time."""

from __future__ import annotations
