"""Questions about answers and gold records that a score does not answer.

Each has a function that takes plain Python values and returns a frozen dataclass. The names are resolved when
they are first used: importing this package imports nothing else.
"""

from __future__ import annotations

from importlib import import_module
from typing import Final

__all__: list[str] = []

_HOMES: Final[dict[str, tuple[str, ...]]] = {}
"""By module of this package the public names that it has."""
_HOME_OF: Final = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
