"""Shared helpers: reading and writing files, defaults, immutable classes, lazy imports, the version."""
