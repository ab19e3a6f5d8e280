"""The walk: what is found at every place."""

from __future__ import annotations
