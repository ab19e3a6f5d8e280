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
from pytest_jsonmatch.engine.value.text import render

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_jsonmatch.engine.result.figures import FieldAggregation
    from pytest_jsonmatch.engine.score.field import FieldResult

Library = Literal["pandas", "polars"]
LIBRARIES: Final[tuple[Library, ...]] = ("pandas", "polars")
_MOST_ROWS: Final = 50
_WIDEST: Final = 60
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


def leaves_html(head: str, fields: Sequence[FieldResult]) -> str:
    """Return an HTML table of the leaves that do not match, below a line of text."""
    wrong = [field for field in fields if field.status not in {"match", "skipped"}]
    cells = (
        (
            field.expected_path or field.actual_path or field.path,
            field.status,
            field.score,
            _shown(field.expected),
            _shown(field.actual),
        )
        for field in wrong[:_MOST_ROWS]
    )
    titles = ("path", "status", "score", "expected", "actual")
    return _table(head, titles, cells, len(wrong) - _MOST_ROWS)


def fields_html(head: str, fields: Mapping[str, FieldAggregation]) -> str:
    """Return an HTML table of figures by schema path, the worst first, below a line of text."""

    def rank(path: str) -> tuple[float, str]:
        mean = fields[path].mean_score
        return (1.0 if mean is None else mean), path

    worst = sorted(fields, key=rank)
    cells = ((path, *(getattr(fields[path], name) for name in _FIGURES)) for path in worst[:_MOST_ROWS])
    return _table(head, ("field", *_FIGURES.values()), cells, len(worst) - _MOST_ROWS)


def _shown(value: Any) -> str:
    return "" if value is MISSING else render(value, limit=_WIDEST)


def _table(head: str, titles: Iterable[str], rows: Iterable[Sequence[Any]], hidden: int) -> str:
    parts = [f"<p>{escape(head)}</p>"]
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    if body:
        header = "".join(f'<th style="text-align: left">{escape(title)}</th>' for title in titles)
        parts.append(f"<table><thead><tr>{header}</tr></thead><tbody>{body}</tbody></table>")
    if hidden > 0:
        parts.append(f"<p>and {hidden:,} more</p>")
    return f"<div>{''.join(parts)}</div>"


def _cell(value: Any) -> str:
    if isinstance(value, str):
        # Control characters would not show, and directional ones would reverse the text.
        shown = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in value)
        return f'<td style="text-align: left">{escape(shown)}</td>'
    text = "–" if value is None else f"{value:,}" if isinstance(value, int) else short_score(value)
    return f'<td style="text-align: right">{text}</td>'
