"""Comparators, transforms and metrics of other packages, through the hook `pytest_jsonmatch_register`.

pytest plugins are not imported here: that would take longer than most commands, and some of them change the
process that imports them. A package names its module in an entry point group of our own:

    [project.entry-points.jsonmatch]
    its-name = "its_package.its_module"
"""

from __future__ import annotations

import warnings
from argparse import Namespace
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import entry_points
from inspect import signature
from operator import attrgetter
from typing import Any, Final

from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.cli.inputs import import_named
from pytest_jsonmatch.engine.plan.registry import session_registry
from pytest_jsonmatch.engine.value.errors import JsonMatchError, JsonMatchWarning, format_error

ENTRY_POINTS: Final = "jsonmatch"
"""The group of entry points in which packages name a module with the hook."""
_HOOK: Final = "pytest_jsonmatch_register"
_POST_PROCESS: Final = "post_process"
"""The name of a post-processor, or of a list of them, in a module of `-p`."""
_POST_PROCESSING: Final = "jsonmatch evaluate"
"""The command that applies post-processors."""


@contextmanager
def plugins(options: Namespace) -> Iterator[None]:
    """Register the comparators, transforms and metrics of installed packages and `-p` while a command runs.

    Raises:
        CommandError: a module can't be imported, does not have the hook, or registers something invalid.
    """
    modules = [*_installed(), *((name, import_named(name)) for name in options.plugins)]
    with session_registry() as registry:
        for name, plugin in {id(plugin): (name, plugin) for name, plugin in modules}.values():
            hook = getattr(plugin, _HOOK, None)
            has_post_processor = name in options.plugins and hasattr(plugin, _POST_PROCESS)
            if has_post_processor and options.command != _POST_PROCESSING:
                warnings.warn(
                    f"{_POST_PROCESS} of {name} is not applied: only {_POST_PROCESSING} does that",
                    JsonMatchWarning,
                    stacklevel=1,
                )
            if hook is None and has_post_processor:
                continue
            if hook is None:
                raise CommandError(
                    f"plugin {name!r} has no function {_HOOK}(registry) and no {_POST_PROCESS}"
                )
            try:
                # As in pytest, a function with the hook's name needs neither a decorator nor an argument.
                hook(**{"registry": registry} if signature(hook).parameters else {})
            except JsonMatchError as error:
                raise CommandError(f"plugin {name!r}: {error}") from error
            except Exception as error:  # a plugin's hook may raise anything
                raise CommandError(f"plugin {name!r} raised {format_error(error)}") from error
        yield


def post_processors(options: Namespace) -> list[Any]:
    """Return the post-processors of the modules of `-p`, in order."""
    found: list[Any] = []
    for name in options.plugins:
        given = getattr(import_named(name), _POST_PROCESS, ())
        found += given if isinstance(given, (list, tuple)) else [given]
    return found


def load_in_worker(names: list[str]) -> None:
    """Register what the installed plugins and the modules of `-p` have, for the rest of this process."""
    _kept.enter_context(plugins(Namespace(plugins=names, command=_POST_PROCESSING)))


_kept: Final = ExitStack()


def _installed() -> Iterator[tuple[str, Any]]:
    for entry_point in sorted(entry_points(group=ENTRY_POINTS), key=attrgetter("name")):
        try:
            yield entry_point.name, entry_point.load()
        except Exception as error:  # importing a module may raise anything
            reason = f"the installed plugin {entry_point.name!r} can't be imported: {format_error(error)}"
            raise CommandError(reason) from error
