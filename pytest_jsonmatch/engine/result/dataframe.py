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

By = Literal["record", "field", "leaf", "rows"]
Library = Literal["pandas", "polars"]


def make_data_frame(
    rows_by: Mapping[str, Iterable[Mapping[str, Any]]],
    by: str,
    library: Library | None,
    names: Sequence[str] = (),
) -> Any:
    """Return rows as a data frame of pandas or polars.

    Args:
        rows_by: the rows for each value that `by` may have.
        by: which of them.
        library: "pandas" or "polars"; None for the one imported already, else the first installed.
        names: the columns if there is no row.

    Raises:
        ConfigurationError: there are no such rows, no such library, or it is not installed.
    """
    if by not in rows_by:
        raise ConfigurationError(f"by must be one of {', '.join(rows_by)}; got {by!r}")
    rows = list(rows_by[by])
    found = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in found or names}
    for each in sorted(("pandas", "polars"), key=lambda each: each not in sys.modules):
        with suppress(ImportError):
            if library in {None, each}:
                module: Any = import_module(each)
                if each == "pandas":
                    return module.DataFrame(columns)
                # A column of JSON values can hold several types at once; polars keeps those only as text.
                plain = {name: _to_plain(values) for name, values in columns.items()}
                return module.DataFrame(plain, strict=False)
    missing = "" if library is None else f", and {library!r} is not installed"
    raise ConfigurationError(f"to_dataframe needs pandas or polars{missing}: pip install pandas")


def _to_plain(values: Sequence[Any]) -> Sequence[Any]:
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} or (len(kinds) == 1 and not kinds & {dict, list}):
        return values
    return [None if value is None else json.dumps(value, ensure_ascii=False, default=str) for value in values]


def iter_field_rows(fields: Mapping[str, FieldAggregation]) -> Iterator[dict[str, Any]]:
    """Yield the scores of each schema path."""
    return ({"path": path, "total": each.total, **each.to_dict()} for path, each in fields.items())
