"""How the values at every schema path are scored, decided once."""

from __future__ import annotations
