"""The built-in comparators, one module per family; importing them is cheap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.comparators import amounts, boxes, codes, dates, equality, numbers, text, words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_jsonmatch.engine.comparators.base import Comparator

BUILTIN: Final[Mapping[str, Comparator]] = {
    comparator.name: comparator
    for family in (equality, numbers, text, dates, amounts, codes, words, boxes)
    for comparator in family.COMPARATORS
}
"""The built-in comparators of every registry, by name."""

OPTIONAL: Final[Mapping[str, str]] = {
    "cosine": "pytest_jsonmatch.semantic.cosine:COSINE",
    "semantic": "pytest_jsonmatch.semantic.bench:SEMANTIC",
}
"""The built-in comparators outside the engine, by name; each is imported when it is looked up."""
