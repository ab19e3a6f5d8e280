"""What is named on the command line as a schema or a module: files, models, what can be imported."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, redirect_stdout, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pytest_jsonmatch.cli.arguments import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from pytest_jsonmatch.schema.documents import SchemaSource


@contextmanager
def finding_modules_here() -> Iterator[None]:
    """Let modules of the current folder be found, after all others: what a configuration names may be one.

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


def import_from_here(module_name: str, written: str) -> ModuleType:
    """Import a module as `python -m` finds it: from the current folder, then from what is installed.

    Args:
        module_name: the module.
        written: what stands on the command line, for the message.

    Raises:
        CommandError: it can't be imported.

    >>> import_from_here("json", "json").__name__
    'json'
    """
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - sys.path holds strings
    try:
        # What a module prints is not part of a command's result.
        with redirect_stdout(sys.stderr):
            return import_module(module_name)
    except Exception as error:  # whatever a module does when it is imported
        message = f"{written!r} can't be imported: {type(error).__name__}: {error}".splitlines()[0]
        raise CommandError(message) from error
    finally:
        del sys.path[0]


def schema_source(written: str) -> SchemaSource:
    """Return what names a schema: the path of a JSON file as it is, or the class that `module:Model` names.

    Raises:
        CommandError: there is no such module, or no such class in it.

    >>> schema_source("receipt.json")
    'receipt.json'
    """
    module_name, colon, name = written.partition(":")
    if not colon or not name.isidentifier() or os.path.exists(written):  # noqa: PTH110 - not yet a path
        return written
    module: Any = import_from_here(module_name, written)
    try:
        model: SchemaSource = getattr(module, name)
    except AttributeError:
        from pytest_jsonmatch.engine.value.errors import did_you_mean

        public = [each for each in dir(module) if each[:1].isupper()]
        raise CommandError(
            f"{written!r}: {module_name!r} has no {name!r}{did_you_mean(name, public)}"
        ) from None
    return model
