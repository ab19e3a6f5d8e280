"""Results in a notebook: as a data frame, and as a small HTML table. Imports no library until it is asked."""

from __future__ import annotations

import json
import sys
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal

from pytest_jsonmatch.engine.result.match import short_score
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.text import render

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_jsonmatch.corpus.result import RunResult
    from pytest_jsonmatch.engine.result.match import FieldAggregation, MatchResult

__all__ = ["Library", "data_frame", "leaves_of", "match_html", "per_field_of", "run_html"]

Library = Literal["pandas", "polars"]
LIBRARIES: Final[tuple[Library, ...]] = ("pandas", "polars")
_MOST_ROWS: Final = 50
_WIDEST: Final = 60
_FIGURES: Final = (
    "matches",
    "mismatches",
    "omissions",
    "hallucinations",
    "mean_score",
    "precision",
    "recall",
    "f1",
)


def data_frame(columns: Mapping[str, Sequence[Any]], library: Library | None = None) -> Any:
    """Return columns as a data frame of pandas or polars.

    Args:
        columns: by name, all of one length.
        library: "pandas" or "polars"; None for the one that is imported already, else whichever is installed.

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
        # Values of JSON have all sorts of types in one column; polars keeps them as they are only as text.
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


def leaves_of(result: MatchResult) -> dict[str, list[Any]]:
    """Return the leaves of a comparison as columns; a side without a value has None."""
    rows = result.field_results
    return {
        "path": [row.path for row in rows],
        "expected_path": [row.expected_path for row in rows],
        "actual_path": [row.actual_path for row in rows],
        "status": [row.status for row in rows],
        "score": [row.score for row in rows],
        "weight": [row.weight for row in rows],
        "expected": [None if row.expected is MISSING else row.expected for row in rows],
        "actual": [None if row.actual is MISSING else row.actual for row in rows],
        "comparator": [row.comparator for row in rows],
        "reason": [row.reason for row in rows],
    }


def per_field_of(fields: Mapping[str, FieldAggregation]) -> dict[str, list[Any]]:
    """Return the figures by field as columns."""
    columns: dict[str, list[Any]] = {"path": list(fields)}
    for name in ("total", *_FIGURES):
        columns[name] = [getattr(figures, name) for figures in fields.values()]
    return columns


def match_html(result: MatchResult) -> str:
    """Return a comparison as an HTML table of what is not right, the figures above it."""
    rows = [row for row in result.field_results if row.status not in {"match", "skipped"}]
    head = (
        f"{result.metric}: score {short_score(result.score)}, precision {short_score(result.precision)}, "
        f"recall {short_score(result.recall)}, F1 {short_score(result.f1)}"
    )
    cells = (
        (
            row.expected_path or row.actual_path or row.path,
            row.status,
            row.score,
            _shown(row.expected),
            _shown(row.actual),
        )
        for row in rows[:_MOST_ROWS]
    )
    titles = ("path", "status", "score", "expected", "actual")
    counts = ", ".join(f"{number:,} {status}" for status, number in result.counts.items())
    return _table(f"{head} ({counts or 'nothing to compare'})", titles, cells, len(rows) - _MOST_ROWS)


def run_html(run: RunResult) -> str:
    """Return a corpus as an HTML table of its fields, the worst first."""
    means = [
        ("score", run.mean_score),
        ("precision", run.mean_precision),
        ("recall", run.mean_recall),
        ("F1", run.mean_f1),
    ]
    figures = ", ".join(f"mean {name} {short_score(value)}" for name, value in means if value is not None)
    fields = sorted(
        run.per_field.items(),
        key=lambda item: (1.0 if item[1].mean_score is None else item[1].mean_score, item[0]),
    )
    cells = (
        (path, each.total, *(getattr(each, name) for name in _FIGURES)) for path, each in fields[:_MOST_ROWS]
    )
    titles = ("field", "n", "match", "mismatch", "omitted", "invented", "score", "precision", "recall", "F1")
    noun = "record" if run.total_records == 1 else "records"
    head = f"{run.metric}: {run.total_records:,} {noun}, {figures or 'no figures'}"
    if failed := run.total_batch_errors:
        head += f"; left out of the figures, since a batch comparator failed: {failed:,}"
    return _table(head, titles, cells, len(fields) - _MOST_ROWS)


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
        # (Controls would not show, and those of direction would turn the text around.)
        shown = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in value)
        return f'<td style="text-align: left">{escape(shown)}</td>'
    text = "–" if value is None else f"{value:,}" if isinstance(value, int) else short_score(value)
    return f'<td style="text-align: right">{text}</td>'
