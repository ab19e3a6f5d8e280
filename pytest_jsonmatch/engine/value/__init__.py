"""JSON values, their paths, and the basics that the rest of the engine shares."""

from __future__ import annotations
