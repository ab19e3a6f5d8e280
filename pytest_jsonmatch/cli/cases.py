"""`jsonmatch cases`: what editors need to know about golden cases."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pytest_jsonmatch.cli.arguments import FINE, CommandError
from pytest_jsonmatch.cli.inputs import resolved_schema
from pytest_jsonmatch.cli.output import write_output
from pytest_jsonmatch.golden.editor import completed
from pytest_jsonmatch.golden.files import UNLIMITED, Bounds
from pytest_jsonmatch.golden.loader import load_cases
from pytest_jsonmatch.schema.resolving import resolve_schema_references


def schema(options: Namespace) -> int:
    """Run `jsonmatch cases schema`."""
    expected = None if options.expected is None else resolved_schema(options.expected)
    document = completed(expected, _schemas_of(options.files))
    write_output(json.dumps(document, indent=2, ensure_ascii=False) + "\n", options.output)
    return FINE


def header(options: Namespace) -> int:
    """Run `jsonmatch cases header`."""
    where: str = options.schema
    if "://" not in where:
        if options.file is not None:
            try:
                where = os.path.relpath(where, os.path.dirname(options.file) or ".")  # noqa: PTH120 - as typed
            except ValueError:  # on another drive
                where = os.path.abspath(where)  # noqa: PTH100 - as typed
        # White space would end the path in the comment.
        where = quote(where.replace(os.sep, "/"), safe="/:.~")
    write_output(f"# yaml-language-server: $schema={where}\n", None)
    return FINE


def _schemas_of(files: Sequence[Path]) -> list[tuple[Any, dict[str, Any]]]:
    """Return the values of the key `schema` in golden files, each with the schema that it means."""
    found: dict[str, tuple[Any, Any, Path]] = {}
    for file in files:
        loaded = load_cases(file.read_bytes(), file, str(file), bounds=Bounds(UNLIMITED))
        for case in loaded.by_id.values():
            meant = case.schema
            if meant is None:
                continue
            written = case.given("schema")
            text = json.dumps(written, sort_keys=True)
            where = meant.resolve() if isinstance(meant, Path) else meant
            _, known, first = found.setdefault(text, (written, where, file))
            if known != where:
                raise CommandError(
                    f"`schema: {written}` means one file in {first} and another in {file}; "
                    "write a schema for each of the two"
                )
    return [(written, resolve_schema_references(meant)) for written, meant, _ in found.values()]
