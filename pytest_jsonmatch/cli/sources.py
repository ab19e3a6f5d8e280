"""Schemas and modules named on the command line: files, models, anything importable."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import TYPE_CHECKING, Any

from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.named import object_named

if TYPE_CHECKING:
    from pytest_jsonmatch.schema.documents import SchemaSource


@contextmanager
def finding_modules_here() -> Iterator[None]:
    """Make modules of the current folder importable, after all others: a configuration may name one.

    >>> with finding_modules_here():
    ...     os.getcwd() in sys.path
    True
    """
    folder = None
    with suppress(OSError):  # it may be gone
        folder = os.getcwd()  # noqa: PTH109 - sys.path holds strings
    if folder is None or folder in sys.path:
        yield
        return
    sys.path.append(folder)
    try:
        yield
    finally:
        if folder in sys.path:
            sys.path.remove(folder)


def imported(written: str) -> Any:
    """Import a module or `module:name`, looking in the current folder first, as `python -m` does.

    Raises:
        CommandError: it can't be imported, or the module has no such name.

    >>> imported("json").__name__
    'json'
    """
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - sys.path holds strings
    try:
        # What a module prints must not mix with the command's output.
        with redirect_stdout(sys.stderr):
            return object_named(written)
    except ConfigurationError as error:
        raise CommandError(str(error).splitlines()[0]) from error
    finally:
        del sys.path[0]


def schema_source(written: str) -> SchemaSource:
    """Return the source of a schema: a JSON file's path as it is, or the class that `module:Model` names.

    Raises:
        CommandError: there is no such module, or no such class in it.

    >>> schema_source("receipt.json")
    'receipt.json'
    """
    _, colon, name = written.partition(":")
    if not colon or not name.isidentifier() or os.path.exists(written):  # noqa: PTH110 - not yet a path
        return written
    model: SchemaSource = imported(written)
    return model


def resolved_schema(written: str) -> dict[str, Any]:
    """Return the named schema, its references resolved."""
    from pytest_jsonmatch.schema.resolving import resolve_schema_references

    return resolve_schema_references(schema_source(written))
