"""Results in a notebook: a data frame of pandas or polars, or a small HTML table."""

from __future__ import annotations

import json
import sys
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal

from pytest_jsonmatch.engine.result.figures import RATES, short_score
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_jsonmatch.engine.result.figures import FieldAggregation
    from pytest_jsonmatch.engine.score.field import FieldResult

Library = Literal["pandas", "polars"]
LIBRARIES: Final[tuple[Library, ...]] = ("pandas", "polars")
_MOST_ROWS: Final = 50
_LEAF: Final = (
    "path",
    "expected_path",
    "actual_path",
    "status",
    "score",
    "weight",
    "expected",
    "actual",
    "comparator",
    "reason",
)
_FIGURES: Final = {
    "total": "n",
    "matches": "match",
    "mismatches": "mismatch",
    "omissions": "omitted",
    "hallucinations": "invented",
    "mean_score": "score",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
}
"""The figures shown for a schema path, and the titles of their columns in HTML."""


def data_frame(columns: Mapping[str, Sequence[Any]], library: Library | None = None) -> Any:
    """Return columns as a data frame of pandas or polars.

    Args:
        columns: by name, all of the same length.
        library: "pandas" or "polars"; None for the one imported already, else the first installed.

    Raises:
        ConfigurationError: there is no such library, or neither is installed.
    """
    if library is not None and library not in LIBRARIES:
        raise ConfigurationError(f"library must be one of {', '.join(LIBRARIES)}; got {library!r}")
    wanted = [library] if library is not None else sorted(LIBRARIES, key=lambda name: name not in sys.modules)
    for name in wanted:
        try:
            module: Any = import_module(name)
        except ImportError:
            continue
        if name == "pandas":
            return module.DataFrame(dict(columns))
        # A column of JSON values can hold several types at once; polars keeps those only as text.
        return module.DataFrame({key: _plain(values) for key, values in columns.items()}, strict=False)
    missing = " or ".join(wanted)
    raise ConfigurationError(f"to_dataframe needs {missing}: pip install {wanted[0]}")


def _plain(values: Sequence[Any]) -> list[Any]:
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) <= 1 and not kinds & {dict, list}:
        return list(values)
    if kinds <= {int, float}:
        return [None if value is None else float(value) for value in values]
    return [None if value is None else json.dumps(value, ensure_ascii=False, default=str) for value in values]


def leaf_columns(fields: Sequence[FieldResult]) -> dict[str, list[Any]]:
    """Return the leaves of a comparison as columns; a side without a value has None."""
    columns = {name: [getattr(field, name) for field in fields] for name in _LEAF}
    for name in ("expected", "actual"):
        columns[name] = [None if value is MISSING else value for value in columns[name]]
    return columns


def field_columns(fields: Mapping[str, FieldAggregation]) -> dict[str, list[Any]]:
    """Return figures by schema path as columns."""
    figures = {name: [getattr(each, name) for each in fields.values()] for name in (*_FIGURES, *RATES)}
    return {"path": list(fields), **figures}


def fields_html(head: str, fields: Mapping[str, FieldAggregation]) -> str:
    """Return an HTML table of figures by schema path, the worst first, below a line of text."""
    worst = sorted(fields, key=lambda path: (fields[path].mean_score or 0.0, path))
    titles = "".join(f"<th>{title}</th>" for title in ("field", *_FIGURES.values()))
    rows = "".join(
        f"<tr>{_cell(path)}{''.join(_cell(getattr(fields[path], name)) for name in _FIGURES)}</tr>"
        for path in worst[:_MOST_ROWS]
    )
    more = f"<p>and {len(worst) - _MOST_ROWS:,} more</p>" if len(worst) > _MOST_ROWS else ""
    table = f"<table><thead><tr>{titles}</tr></thead><tbody>{rows}</tbody></table>" if rows else ""
    return f"<div><p>{escape(head)}</p>{table}{more}</div>"


def _cell(value: Any) -> str:
    if isinstance(value, str):
        # Control characters would not show, and directional ones would reverse the text.
        text = escape("".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in value))
    else:
        text = "–" if value is None else f"{value:,}" if isinstance(value, int) else short_score(value)
    return f"<td>{text}</td>"
