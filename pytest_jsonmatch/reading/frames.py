"""Convert data frames of pandas and polars to records."""

from __future__ import annotations

from typing import Any


def to_rows(records: Any) -> Any:
    """Return the rows of a data frame as dicts, with None for missing cells; return anything else unchanged.

    >>> to_rows([{"a": 1}])
    [{'a': 1}]
    """
    if type(records).__name__ != "DataFrame":
        return records
    if hasattr(records, "to_dicts"):
        return records.to_dicts()
    return records.astype(object).where(records.notna(), None).to_dict("records")
