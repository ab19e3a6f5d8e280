"""Lazy imports of public names."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module


def make_lazy_names(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """Return a package's `__all__`, `__getattr__` and `__dir__`.

    Args:
        package: the package's `__name__`.
        homes: modules of `pytest_jsonmatch`, mapped to the public names that each defines.
    """
    home_of = {name: home for home, names in homes.items() for name in names}
    public = sorted(home_of)

    def resolve(name: str) -> object:
        home = home_of.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(f"pytest_jsonmatch.{home}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return public, resolve, public.copy
