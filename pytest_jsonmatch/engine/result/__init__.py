"""The result of a comparison, for people and programs."""

from __future__ import annotations
