"""Comparators, transforms and metrics of other packages, through the hook `pytest_jsonmatch_register`.

Plugins of pytest are not imported here: that would take longer than most commands, and some of them change
the process that imports them. A package makes itself known in an entry point group of ours:

    [project.entry-points.jsonmatch]
    its-name = "its_package.its_module"
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import entry_points
from typing import Any, Final

from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.cli.inputs import imported
from pytest_jsonmatch.engine.value.errors import JsonMatchError, did_you_mean, error_text

ENTRY_POINTS: Final = "jsonmatch"
"""The group of entry points in which packages name a module with the hook."""
_HOOK: Final = "pytest_jsonmatch_register"


@contextmanager
def plugins(options: Namespace) -> Iterator[None]:
    """Register what installed packages and `-p` provide, for as long as a command runs.

    Raises:
        CommandError: a module can't be imported, does not have the hook, or registers something invalid.
    """
    asked = [(name, imported(name)) for name in options.plugins if not name.startswith("no:")]
    found = [*_installed(options.plugins), *asked]
    if not found:
        yield
        return
    from pluggy import PluginManager, PluginValidationError

    from pytest_jsonmatch import hooks
    from pytest_jsonmatch.engine.plan.registry import session_registry

    class Manager(PluginManager):
        """As in pytest, a function of the hook's name needs no decorator."""

        def parse_hookimpl_opts(self, plugin: object, name: str) -> Any:
            if name != _HOOK:
                return None
            return super().parse_hookimpl_opts(plugin, name) or {}

    manager = Manager("pytest")
    manager.add_hookspecs(hooks)
    with session_registry() as registry:
        manager.hook.pytest_jsonmatch_register.call_historic(kwargs={"registry": registry})
        for name, plugin in found:
            if not hasattr(plugin, _HOOK):
                raise CommandError(f"plugin {name!r} has no function {_HOOK}(registry)")
            if manager.is_registered(plugin):
                continue
            try:
                manager.register(plugin, name)
            except JsonMatchError as error:
                raise CommandError(f"plugin {name!r}: {error}") from error
            except PluginValidationError as error:
                told = " ".join(str(error).split())
                raise CommandError(f"plugin {name!r}: {told}") from error
            except Exception as error:  # a plugin's hook may raise anything
                raise CommandError(f"plugin {name!r} raised {error_text(error)}") from error
        yield


def _installed(asked: Sequence[str]) -> Iterator[tuple[str, Any]]:
    left_out = {name.removeprefix("no:") for name in asked if name.startswith("no:")}
    points = sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.name)
    names = {point.name for point in points}
    for name in sorted(left_out - names):
        hint = did_you_mean(name, names) if names else "; there are none"
        raise CommandError(f"-p no:{name}: no plugin {name!r} is installed{hint}")
    for point in points:
        if point.name not in left_out:
            try:
                yield point.name, point.load()
            except Exception as error:  # importing a module may raise anything
                raise CommandError(
                    f"the plugin {point.name!r} can't be imported: {error_text(error)} "
                    f"(-p no:{point.name} leaves it out)"
                ) from error
