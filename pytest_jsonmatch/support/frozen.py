"""Immutable values as plain classes: to create a dataclass or a named tuple takes 20 to 100 times as long.

The classes that a run of pytest without comparisons imports, and those that a first comparison imports, are
such classes; `tests/plugin/test_idle.py` lists the exceptions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")


class Frozen:
    """The base of values with equality, hash, repr and pickling as those of a frozen dataclass.

    The fields of a class are the arguments of its `__init__`, which sets each of them once.

    >>> class Share(Frozen):
    ...     __slots__ = ("of", "part")
    ...
    ...     def __init__(self, part: int, of: int = 100) -> None:
    ...         self.part = part
    ...         self.of = of
    >>> Share(7) == Share(7, 100), Share(7)
    (True, Share(part=7, of=100))
    >>> Share(7).part = 8
    Traceback (most recent call last):
    dataclasses.FrozenInstanceError: cannot assign to field 'part'
    """

    __slots__ = ()

    if not TYPE_CHECKING:  # a type checker would accept any attribute

        def __setattr__(self, name: str, value: object) -> None:
            if hasattr(self, name):
                from dataclasses import FrozenInstanceError

                raise FrozenInstanceError(f"cannot assign to field {name!r}")
            object.__setattr__(self, name, value)

        def __delattr__(self, name: str) -> None:
            from dataclasses import FrozenInstanceError

            raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in list_fields(type(self)))

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, name) for name in list_fields(type(self))))

    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in list_fields(type(self)))
        return f"{type(self).__qualname__}({', '.join(shown)})"


def list_fields(kind: type[object]) -> tuple[str, ...]:
    """Return the names of the fields of a class, which are the arguments of its `__init__`."""
    code: Any = kind.__init__.__code__
    names: tuple[str, ...] = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    return names


def to_dict(value: object) -> dict[str, Any]:
    """Return the fields of a value, by name."""
    return {name: getattr(value, name) for name in list_fields(type(value))}


def replace(value: T, /, **changes: Any) -> T:
    """Return a copy of a value with other values of some fields."""
    return type(value)(**to_dict(value) | changes)
