"""What the options say about how values are compared and which gates must hold."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import Any

from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.cli.inputs import read_config
from pytest_jsonmatch.cli.sources import schema_source
from pytest_jsonmatch.gate.expressions import Gate, GateError, parse_gate


def rules_of(options: Namespace) -> dict[str, Any]:
    """Return the metric's options as `compare_json` and `compare_corpus` take them, the schema included.

    Raises:
        OSError: a file can't be read.
        CommandError: a file is not valid.
    """
    found = {} if options.config is None else read_config(options.config)
    if options.nulls is not None:
        found["nulls"] = options.nulls
    if options.schema is not None:
        found["schema"] = schema_source(options.schema)
    return found


def tags_by(texts: Sequence[str]) -> dict[str, str]:
    """Return the paths of tags by name; a path without a name is its own name.

    >>> tags_by(["currency", "source=meta.source"])
    {'currency': 'currency', 'source': 'meta.source'}
    """
    found = {}
    for text in texts:
        name, equals, path = text.partition("=")
        found[name] = path if equals else name
    return found


def gates_of(texts: Sequence[str], read: Callable[[str], Gate] = parse_gate) -> list[Gate]:
    """Return the gates that texts express.

    Args:
        texts: as they were written.
        read: the function that reads one of them.

    Raises:
        CommandError: one of them is not a gate.

    >>> [gate.text for gate in gates_of(["f1 >= 0.9"])]
    ['f1 >= 0.9']
    """
    found = []
    for text in texts:
        try:
            found.append(read(text))
        except GateError as error:
            raise CommandError(f"--gate {text!r}: {error.reason}") from None
    return found
