"""Read JSON from text: strictly, or found in a model's answer."""

from __future__ import annotations
