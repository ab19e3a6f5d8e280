"""What a score was made with, as text that can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

__all__ = ["Signature"]


@final
@dataclass(frozen=True, slots=True)
class Signature:
    """What a score was made with: two scores are comparable only if their signatures are equal.

    `options` are those that differ from the metric's preset, as text; `schema` is the hash of the schema or
    "none"; `version` is the version of the scoring rules, which changes whenever a figure may.

    >>> str(Signature("field_match", "", "none", "1"))
    'field_match|options:none|schema:none|rules:1'
    """

    metric: str
    options: str
    schema: str
    version: str

    def __str__(self) -> str:
        return f"{self.metric}|options:{self.options or 'none'}|schema:{self.schema}|rules:{self.version}"
