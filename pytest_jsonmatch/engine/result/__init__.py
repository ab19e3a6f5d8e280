"""What a comparison says, to people and programs."""

from __future__ import annotations
