"""What a JSON value is, and where it stands."""

from __future__ import annotations
