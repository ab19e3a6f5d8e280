"""The walk through two documents, and its findings at every place."""

from __future__ import annotations
