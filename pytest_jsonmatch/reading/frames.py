"""Data frames of pandas and polars as records."""

from __future__ import annotations

from typing import Any


def rows_of(records: Any) -> Any:
    """Return the rows of a data frame as a list of dicts, with null for missing cells; all else as it is.

    >>> rows_of([{"a": 1}])
    [{'a': 1}]
    """
    if type(records).__name__ != "DataFrame":
        return records
    if hasattr(records, "to_dicts"):
        return records.to_dicts()
    return records.astype(object).where(records.notna(), None).to_dict("records")
