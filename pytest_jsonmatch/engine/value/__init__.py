"""JSON values, their paths, errors, and other basics of the engine."""

from __future__ import annotations
