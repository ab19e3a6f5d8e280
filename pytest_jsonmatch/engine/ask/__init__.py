"""Comparators that answer many questions at a time, after the first walk."""

from __future__ import annotations
