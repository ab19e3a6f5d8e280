"""One pytest run: its options, the comparisons of its tests, its verdict, its summary and its files."""

from __future__ import annotations

ATTRIBUTE = "jsonmatch"
"""The attribute of a test report with its payload."""
