"""Compute the tags of gold records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast, final

from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.records.columns import find_column
from pytest_jsonmatch.results.tags import read_tags

if TYPE_CHECKING:
    from collections.abc import Callable

TagSource: TypeAlias = "Callable[[Any], Mapping[str, Any]] | Mapping[str, str]"
"""A function that returns the tags of a gold record, or a mapping of tag names to paths in gold records."""


@final
@dataclass(frozen=True, slots=True)
class Tagger:
    """Returns the tags of gold records.

    >>> Tagger({"source": "meta.source"})({"meta": {"source": "phone"}, "total": 3})
    {'source': 'phone'}
    """

    source: TagSource

    def __post_init__(self) -> None:
        if callable(self.source):
            return
        if not isinstance(self.source, Mapping):
            raise ConfigurationError(
                "tags must be a function of a gold record, or map names to paths, such as "
                f"{{'source': 'meta.source'}}, got {self.source!r}"
            )
        for name, column in self.source.items():
            if not isinstance(cast("object", column), str) or not column:
                raise ConfigurationError(f"tags[{name!r}] must name a column of gold records, got {column!r}")

    def __call__(self, record: Any) -> dict[str, Any]:
        """Return the tags of a record.

        Raises:
            ConfigurationError: a tag is invalid.
        """
        if callable(self.source):
            return read_tags(self.source(record))
        at = {
            name: find_column(record, path) if type(record) is dict else MISSING
            for name, path in self.source.items()
        }
        return read_tags({name: value for name, value in at.items() if value is not MISSING})
