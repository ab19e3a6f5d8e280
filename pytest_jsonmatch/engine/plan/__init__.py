"""What is to be done at every schema path, decided once."""

from __future__ import annotations
