"""Compile options and rules: decide once how the values at each schema path are scored."""

from __future__ import annotations
