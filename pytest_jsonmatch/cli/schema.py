"""`jsonmatch schema`: infer, resolve, annotate and validate eval schemas."""

from __future__ import annotations

import json
import warnings
from argparse import Namespace
from typing import Any

from pytest_jsonmatch.cli.arguments import FAILURE, SUCCESS, CommandError
from pytest_jsonmatch.cli.inputs import gold_records, name_of, resolved_schema, schema_source
from pytest_jsonmatch.cli.output import write_output
from pytest_jsonmatch.cli.plugins import plugins
from pytest_jsonmatch.engine.value.errors import ConfigurationError, GoldValidationError
from pytest_jsonmatch.report.escape import printable
from pytest_jsonmatch.schema.defaults import annotate_xeval
from pytest_jsonmatch.schema.documents import Documents
from pytest_jsonmatch.schema.gold import validate_gold
from pytest_jsonmatch.schema.inference import infer_schema
from pytest_jsonmatch.schema.parsing import parse_eval_schema


def infer(options: Namespace) -> int:
    """Run `jsonmatch schema infer`."""
    try:
        schema = infer_schema(gold_records(options.gold))
        return _write(annotate_xeval(schema) if options.annotate else schema, options)
    except ConfigurationError as error:
        raise CommandError(f"{name_of(options.gold)}: {error}") from None


def resolve(options: Namespace) -> int:
    """Run `jsonmatch schema resolve`."""
    return _write(resolved_schema(options.schema), options)


def annotate(options: Namespace) -> int:
    """Run `jsonmatch schema annotate`."""
    gold = None if options.gold is None else gold_records(options.gold)
    return _write(annotate_xeval(resolved_schema(options.schema), gold), options)


def _write(schema: dict[str, Any], options: Namespace) -> int:
    write_output(json.dumps(schema, indent=2, ensure_ascii=False) + "\n", options.output)
    return SUCCESS


def validate(options: Namespace) -> int:
    """Run `jsonmatch schema validate`."""
    source = schema_source(options.schema)
    Documents.open(source)  # an unreadable file is bad input (code 2), not a bad schema (code 1)
    error_lines = []
    with plugins(options), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            node = parse_eval_schema(source)
        except ConfigurationError as error:
            return _print_lines([f"{options.schema}: {error}"], FAILURE)
        if options.gold is not None:
            try:
                validate_gold(gold_records(options.gold), node, id=options.id)
            except GoldValidationError as error:
                error_lines = [f"error: {error}"]
    lines = [*(f"warning: {warning.message}" for warning in caught), *error_lines]
    valid = f"{options.schema} is valid"
    if options.gold is not None:
        valid = f"{name_of(options.gold)} matches {options.schema}"
    return _print_lines(lines or [valid], FAILURE if error_lines else SUCCESS)


def _print_lines(lines: list[str], code: int) -> int:
    write_output("".join(f"{printable(line)}\n" for line in lines), None)
    return code
