"""Results as data frames of pandas or polars."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from pytest_jsonmatch.engine.value.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_jsonmatch.engine.result.aggregation import FieldAggregation

By = Literal["record", "field", "leaf", "rows", "kind"]
Library = Literal["pandas", "polars"]


def make_data_frame(
    rows_by: Mapping[str, Iterable[Mapping[str, Any]]],
    by: str,
    library: Library | None,
    names: Sequence[str] = (),
) -> Any:
    """Return rows as a data frame of pandas or polars.

    Args:
        rows_by: the rows for each valid value of `by`.
        by: the rows to return.
        library: "pandas" or "polars"; None for the one that is already imported, else the first installed.
        names: the columns if there are no rows.

    Raises:
        ConfigurationError: `by` is invalid, or the library is unknown or not installed.
    """
    if by not in rows_by:
        raise ConfigurationError(f"by must be one of {', '.join(rows_by)}, got {by!r}")
    rows = list(rows_by[by])
    names_in_rows = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names_in_rows or names}
    for candidate in sorted(("pandas", "polars"), key=lambda candidate: candidate not in sys.modules):
        with suppress(ImportError):
            if library in {None, candidate}:
                module: Any = import_module(candidate)
                if candidate == "pandas":
                    return module.DataFrame(columns)
                # A column of JSON values can contain several types, which polars keeps only as text.
                converted = {name: _to_plain(values) for name, values in columns.items()}
                return module.DataFrame(converted, strict=False)
    missing = "" if library is None else f", and {library!r} is not installed"
    raise ConfigurationError(f"to_dataframe needs pandas or polars{missing}: pip install pandas")


def _to_plain(values: Sequence[Any]) -> Sequence[Any]:
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} or (len(kinds) == 1 and not kinds & {dict, list}):
        return values
    return [None if value is None else json.dumps(value, ensure_ascii=False, default=str) for value in values]


def iter_field_rows(fields: Mapping[str, FieldAggregation]) -> Iterator[dict[str, Any]]:
    """Yield a row of counts and scores for each schema path."""
    return (
        {"path": path, "total": aggregation.total, **aggregation.to_dict()}
        for path, aggregation in fields.items()
    )
