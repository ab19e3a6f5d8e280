"""The built-in comparators, one module per family. Importing them imports nothing heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.compare.amounts import AMOUNT
from pytest_jsonmatch.engine.compare.codes import IDENTIFIER, PHONE
from pytest_jsonmatch.engine.compare.dates import DATE
from pytest_jsonmatch.engine.compare.equality import BINARY, EXACT, ONEOF
from pytest_jsonmatch.engine.compare.numbers import NUMERIC, RELATIVE, THRESHOLD
from pytest_jsonmatch.engine.compare.text import CONTAINS, JACCARD, LEVENSHTEIN, NORMALIZED_TEXT, REGEX
from pytest_jsonmatch.engine.compare.words import (
    PARTIAL_RATIO,
    TOKEN_F1,
    TOKEN_SET_RATIO,
    TOKEN_SORT_RATIO,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_jsonmatch.engine.compare.base import Comparator

BUILTIN: Final[Mapping[str, Comparator]] = {
    comparator.name: comparator
    for comparator in (
        EXACT,
        BINARY,
        NUMERIC,
        RELATIVE,
        THRESHOLD,
        LEVENSHTEIN,
        JACCARD,
        ONEOF,
        NORMALIZED_TEXT,
        DATE,
        AMOUNT,
        PHONE,
        IDENTIFIER,
        REGEX,
        CONTAINS,
        TOKEN_F1,
        PARTIAL_RATIO,
        TOKEN_SORT_RATIO,
        TOKEN_SET_RATIO,
    )
}
"""The comparators every registry starts with, by name."""

OPTIONAL: Final[Mapping[str, str]] = {
    "cosine": "pytest_jsonmatch.semantic.cosine:COSINE",
    "semantic": "pytest_jsonmatch.semantic.bench:SEMANTIC",
}
"""More built-in names, of comparators outside the engine; each is imported when it is looked up."""
