"""A run as a table for other programs: CSV or Parquet, one row per case and field."""

from __future__ import annotations

from io import BytesIO
from typing import Any, Final, Literal

from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.engine.result.notebook import data_frame, field_columns
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.results.comparison import Case, by_metric, merged_fields
from pytest_jsonmatch.results.model import ResultSet
from pytest_jsonmatch.results.tags import tags_of, tags_of_case

_OF_CASE: Final = ("case", "metric", "passed")
"""The first columns; those of the tags and then those of the field follow."""


def table_of(results: ResultSet, form: Literal["csv", "parquet"]) -> bytes:
    """Return one row for each case, metric and field; polars or pandas write it, whichever is installed.

    Raises:
        CommandError: neither is installed, or pandas lacks what it needs for Parquet.
    """
    columns = _columns(results)
    for library in ("polars", "pandas"):
        try:
            frame = data_frame(columns, library)
        except ConfigurationError:
            continue
        written = BytesIO()
        try:
            if library == "polars":
                getattr(frame, f"write_{form}")(written)
            else:
                getattr(frame, f"to_{form}")(written, index=False)
        except ImportError:
            raise CommandError(f"--{form} with pandas needs pyarrow: pip install pyarrow") from None
        return written.getvalue()
    raise CommandError(f"--{form} needs polars or pandas: pip install polars")


def _columns(results: ResultSet) -> dict[str, list[Any]]:
    """Return the columns; if a case has several runs, its figures are of all of them together."""
    tags = sorted({tag.partition("=")[0] for tag in tags_of(results)})
    names = *_OF_CASE, *(f"tags.{name}" for name in tags)
    columns: dict[str, list[Any]] = {name: [] for name in (*names, *field_columns({}))}
    for case in results.cases:
        values = [_values(case, name) for name in tags]
        for metric, compared in by_metric([case]).items():
            of_fields = field_columns(merged_fields(compared))
            number = len(of_fields["path"])
            for name, value in zip(names, (case.id, metric, case.passed, *values), strict=True):
                columns[name] += [value] * number
            for name, figures in of_fields.items():
                columns[name] += figures
    return columns


def _values(case: Case, name: str) -> str | None:
    """Return the values of a tag in a case as one text; None if there is none."""
    parts = (tag.partition("=") for tag in sorted(tags_of_case(case)))
    return ", ".join(value for of, _, value in parts if of == name) or None
