"""`jsonmatch cases`: what editors need to know of golden cases."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from pytest_jsonmatch.cli.arguments import FINE, CommandError, add
from pytest_jsonmatch.cli.options import add_options
from pytest_jsonmatch.cli.output import write_output
from pytest_jsonmatch.cli.sources import resolved_schema
from pytest_jsonmatch.golden.bounds import UNLIMITED, Bounds
from pytest_jsonmatch.golden.editor import completed
from pytest_jsonmatch.golden.loader import load_cases
from pytest_jsonmatch.schema.resolving import resolve_schema_references

_SCHEMA: Final = "Write the JSON Schema of golden files, for editors."
_SCHEMA_EXAMPLES: Final = """\
jsonmatch cases schema > golden-cases.schema.json
jsonmatch cases schema --for receipts.golden.yaml --output receipts.schema.json
jsonmatch cases schema --expected shop.models:Receipt --output receipts.schema.json
jsonmatch cases schema --expected receipt.schema.json > receipts.schema.json
"""
_HEADER: Final = "Write the comment that tells an editor which schema a golden file has: its first line."
_HEADER_EXAMPLES: Final = """\
jsonmatch cases header golden-cases.schema.json
jsonmatch cases header golden-cases.schema.json tests/golden/receipts.golden.yaml
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the subcommands of `jsonmatch cases`."""
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    schema = commands.add_parser(
        "schema",
        help="the JSON Schema of golden files",
        description=_SCHEMA,
        examples=_SCHEMA_EXAMPLES,
        run=_write_schema,
    )
    known = schema.add_mutually_exclusive_group()
    told = "golden files: each `expected` in them has the schema that its `schema` names"
    add(known, "--for FILE", told, dest="files", nargs="+", type=Path, default=[])
    told = "the schema of every `expected`: the path of a JSON file, or a pydantic model as module:Model"
    add(known, "--expected SCHEMA", told)
    add_options(schema, "--output")
    header = commands.add_parser(
        "header",
        help="the comment that names the schema",
        description=_HEADER,
        examples=_HEADER_EXAMPLES,
        run=_write_header,
    )
    add(header, "SCHEMA", "the path of the schema, or its URL")
    add(header, "FILE", "the golden file, to which the path is made relative", nargs="?")


def _write_schema(options: Namespace) -> int:
    expected = None if options.expected is None else resolved_schema(options.expected)
    document = completed(expected, _schemas_of(options.files))
    write_output(json.dumps(document, indent=2, ensure_ascii=False) + "\n", options.output)
    return FINE


def _write_header(options: Namespace) -> int:
    where: str = options.schema
    if "://" not in where:
        if options.file is not None:
            try:
                where = os.path.relpath(where, os.path.dirname(options.file) or ".")  # noqa: PTH120 - as typed
            except ValueError:  # on another drive
                where = os.path.abspath(where)  # noqa: PTH100 - as typed
        # The comment ends at white space.
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
