"""Public names that are imported when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module


def lazy_names(package: str, homes: Mapping[str, Sequence[str]], within: str) -> Callable[[str], object]:
    """Return what a package has for `__getattr__`.

    Args:
        package: its `__name__`.
        homes: the names that each module defines.
        within: the package that the modules are named from.
    """
    home_of = {name: home for home, names in homes.items() for name in names}

    def resolve(name: str) -> object:
        home = home_of.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(f"{within}.{home}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return resolve
