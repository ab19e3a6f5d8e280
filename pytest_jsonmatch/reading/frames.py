"""Convert data frames of pandas and polars to records."""

from __future__ import annotations

import warnings
from typing import Any, Final

from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonMatchWarning

_MAX_NAMED: Final = 5


def to_rows(records: Any) -> Any:
    """Return the rows of a data frame as dicts; return anything else unchanged.

    Missing cells (NaN, NaT, pandas.NA) become missing members: pandas writes them where a record lacks a key.
    None becomes null.

    Raises:
        ConfigurationError: two columns have the same name.

    >>> to_rows([{"a": 1}])
    [{'a': 1}]
    """
    if type(records).__name__ != "DataFrame":
        return records
    if hasattr(records, "to_dicts"):
        rows = records.to_dicts()
        has_nan = any(type(cell) is float and cell != cell for row in rows for cell in row.values())  # noqa: PLR0124 - NaN
        return [_drop_nan(row) for row in rows] if has_nan else rows
    if not records.columns.is_unique:
        name = records.columns[records.columns.duplicated()][0]
        raise ConfigurationError(f"two columns of the data frame have the name {name!r}; rename one")
    if not len(records):
        return []
    missing = records.isna().to_numpy(copy=True)
    for at, kind in enumerate(records.dtypes):
        if str(kind) == "object":  # None in other columns is NaN or pandas.NA
            missing[:, at] &= [cell is not None for cell in records.iloc[:, at]]
    rows = records.astype(object).to_dict("records")
    if not missing.any():
        return rows
    return [
        {name: cell for (name, cell), is_missing in zip(row.items(), line) if not is_missing}
        for row, line in zip(rows, missing.tolist())
    ]


def warn_about_nulls(*sides: Any) -> None:
    """Warn if a data frame of polars has nulls: it can't tell a null from a member that a record lacks."""
    for frame in sides:
        if type(frame).__name__ != "DataFrame" or not hasattr(frame, "null_count"):
            continue
        counts = zip(frame.columns, frame.null_count().row(0))
        names = [repr(name) for name, nulls in counts if nulls]
        if names:
            columns = f"column{'s' * (len(names) > 1)} {', '.join(names[:_MAX_NAMED])}"
            more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
            message = (
                f"{columns}{more} of a data frame of polars: null counts as a value, even where a record "
                "lacked the key; give nulls='absent' if it is missing there, or nulls='value'"
            )
            warnings.warn(message, JsonMatchWarning, stacklevel=3)


def _drop_nan(row: dict[str, Any]) -> dict[str, Any]:
    return {name: cell for name, cell in row.items() if type(cell) is not float or cell == cell}  # noqa: PLR0124 - NaN
