"""Read invoices out of letters with a language model."""

from __future__ import annotations

from invoices.reader import Reader, read

__all__ = ["Reader", "read"]
