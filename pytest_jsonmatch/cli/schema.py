"""`jsonmatch schema`: eval schemas, from gold data to a file that scores."""

from __future__ import annotations

import json
import warnings
from argparse import ArgumentParser, Namespace
from itertools import count
from typing import Any

from pytest_jsonmatch.cli.arguments import FINE, NOT_FINE, CommandError, add
from pytest_jsonmatch.cli.inputs import name_of
from pytest_jsonmatch.cli.options import add_options
from pytest_jsonmatch.cli.output import write_output
from pytest_jsonmatch.cli.plugins import plugins
from pytest_jsonmatch.cli.records import gold_records
from pytest_jsonmatch.cli.sources import resolved_schema, schema_source
from pytest_jsonmatch.engine.value.errors import ConfigurationError, GoldValidationError
from pytest_jsonmatch.report.escape import printable
from pytest_jsonmatch.schema.defaults import annotate_xeval
from pytest_jsonmatch.schema.documents import Documents
from pytest_jsonmatch.schema.gold import validate_gold
from pytest_jsonmatch.schema.inference import infer_schema
from pytest_jsonmatch.schema.parsing import load_schema


def add_arguments(parser: ArgumentParser) -> None:
    """Add the subcommands of `jsonmatch schema`."""
    commands: Any = parser.add_subparsers(metavar="COMMAND", required=True)
    infer = commands.add_parser(
        "infer",
        help="the schema of gold records",
        description=(
            "Write the schema of gold records: their types, members and which of these are always there."
        ),
        examples=(
            "jsonmatch schema infer gold.jsonl --annotate --output receipt.schema.json\n"
            "jsonmatch schema infer gold/ > receipt.schema.json"
        ),
        run=_infer,
    )
    told = "JSON Lines (.jsonl), a JSON file, a folder of JSON files, - for standard input"
    add(infer, "GOLD", told)
    add(infer, "--annotate", "with the comparator of its type at every leaf")
    resolve = commands.add_parser(
        "resolve",
        help="a schema without $ref and allOf",
        description="Write a schema without $ref and allOf that says the same.",
        examples="jsonmatch schema resolve shop.models:Receipt > receipt.schema.json",
        run=_resolve,
    )
    annotate = commands.add_parser(
        "annotate",
        help="a schema with a comparator at every leaf",
        description="Write a schema, resolved, with the comparator of its type at every leaf that has none.",
        examples="jsonmatch schema annotate receipt.schema.json --output receipt.eval.json",
        run=_resolve,
    )
    resolve.set_defaults(annotate=False)
    annotate.set_defaults(annotate=True)
    validate = commands.add_parser(
        "validate",
        help="what is wrong with a schema",
        description="Report what is wrong with an eval schema, and which gold records do not fit it.",
        examples=(
            "jsonmatch schema validate receipt.eval.json\n"
            "jsonmatch schema validate receipt.eval.json --gold gold.jsonl --id-field id"
        ),
        run=_validate,
    )
    for command in (resolve, annotate, validate):
        add(command, "SCHEMA", "a JSON file, or a pydantic model as module:Model")
    for command in (infer, resolve, annotate):
        add_options(command, "--output")
    add(validate, "--gold GOLD", "gold records to hold against it, as for infer")
    add_options(validate, id_field="the member that is a record's id, for the messages")
    add(validate, "--strict-types", "a value of another type is an error too")
    add_options(validate, "-p")


def _infer(options: Namespace) -> int:
    try:
        return _write(infer_schema(gold_records(options.gold)), options)
    except ConfigurationError as error:
        raise CommandError(f"{name_of(options.gold)}: {error}") from None


def _resolve(options: Namespace) -> int:
    return _write(resolved_schema(options.schema), options)


def _write(schema: dict[str, Any], options: Namespace) -> int:
    schema = annotate_xeval(schema) if options.annotate else schema
    write_output(json.dumps(schema, indent=2, ensure_ascii=False) + "\n", options.output)
    return FINE


def _validate(options: Namespace) -> int:
    source = schema_source(options.schema)
    Documents.open(source)  # an unreadable file is bad input (code 2), not a bad schema (code 1)
    lines: list[str] = []
    with plugins(options):
        try:
            node = load_schema(source)
        except ConfigurationError as error:
            return _told([f"{options.schema}: {error}"], NOT_FINE)
        if options.gold is None:
            return _told([f"{options.schema} is valid"], FINE)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            places = count()
            records = (record for record, _ in zip(gold_records(options.gold), places, strict=False))
            try:
                validate_gold(records, node, id_field=options.id_field, strict_types=options.strict_types)
            except GoldValidationError as error:
                lines.append(f"error: {error}")
    lines = [*(f"warning: {each.message}" for each in caught), *lines]
    if not lines:
        number = next(places)
        fit = "record fits" if number == 1 else "records fit"
        lines = [f"{name_of(options.gold)}: {number:,} {fit} {options.schema}"]
    return _told(lines, NOT_FINE if lines[-1].startswith("error: ") else FINE)


def _told(lines: list[str], code: int) -> int:
    write_output("".join(f"{printable(line)}\n" for line in lines), None)
    return code
