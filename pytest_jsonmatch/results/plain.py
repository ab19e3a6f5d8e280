"""Convert results to dicts of built-in types and back, for result files and between processes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, partial
from inspect import signature
from typing import Any, Final, TypeVar, cast

from pytest_jsonmatch.engine.result.aggregation import FieldAggregation
from pytest_jsonmatch.engine.result.kinds import KindCounts
from pytest_jsonmatch.engine.result.rows import RowCounts
from pytest_jsonmatch.results.answer import Spent
from pytest_jsonmatch.results.comparison import Case, CaseRun, Comparison, Difference

T = TypeVar("T")
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


def to_plain(value: object) -> Any:
    """Return a value with our classes and named tuples as dicts, and other tuples as lists.

    The dicts have the members that differ from their default, in the order of the class. The dict of a field
    aggregation starts with the mean score, for readers of result files.

    >>> to_plain({"a": (Difference("1", "2", 3, 0.5),)})
    {'a': [{'expected': '1', 'actual': '2', 'times': 3, 'score': 0.5}]}
    """
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is dict:
        return {name: to_plain(item) for name, item in cast("dict[str, Any]", value).items()}
    members = _members(cast("Hashable", kind))
    if members is None:
        return [to_plain(item) for item in value] if isinstance(value, (tuple, list)) else value
    plain: dict[str, Any] = {"score": value.mean_score} if isinstance(value, FieldAggregation) else {}
    for name, default in members.items():
        member = getattr(value, name)
        if member != default:
            plain[name] = member if type(member) in _SCALARS else to_plain(member)
    return plain


@cache
def _members(kind: Hashable) -> dict[str, object] | None:
    """Return the members of a class of values with their defaults; None for other types."""
    if isinstance(kind, type) and is_dataclass(kind):
        return {
            member.name: member.default if member.default_factory is MISSING else member.default_factory()
            for member in fields(kind)
        }
    if isinstance(kind, type) and vars(kind).get("__slots__"):
        return {name: parameter.default for name, parameter in signature(kind).parameters.items()}
    names: tuple[str, ...] | None = getattr(kind, "_fields", None)
    defaults: dict[str, object] = getattr(kind, "_field_defaults", {})
    return None if names is None else {**dict.fromkeys(names, MISSING), **defaults}


def from_plain(kind: Callable[..., T], plain: Mapping[str, Any]) -> T:
    """Return the object from the dict of `to_plain`; unknown keys, of later releases, are ignored.

    >>> from_plain(Difference, {"expected": "2", "later": 1}).expected
    '2'
    """
    readers = _READERS.get(kind, {})
    members = _members(kind) or {}
    known = {name: value for name, value in plain.items() if name in members}
    for name, read in readers.items():
        if name in known:
            known[name] = read(known[name])
    return kind(**known)


def _read_many(kind: Callable[..., T]) -> Callable[[Iterable[Any]], tuple[T, ...]]:
    return lambda found: tuple(from_plain(kind, plain) for plain in found)


def _read_by_name(read: Callable[[Any], T]) -> Callable[[Mapping[str, Any]], dict[str, T]]:
    # A few names occur in many results, so each is kept in memory once.
    return lambda found: {sys.intern(name): read(plain) for name, plain in found.items()}


_read_fields: Final = _read_by_name(partial(from_plain, FieldAggregation))
_READERS: Final[Mapping[Callable[..., Any], Mapping[str, Callable[[Any], Any]]]] = {
    Comparison: {
        "signature": sys.intern,
        "fields": _read_fields,
        "rows": _read_by_name(partial(from_plain, RowCounts)),
        "differences": _read_by_name(_read_many(Difference)),
        "kinds": _read_by_name(partial(from_plain, KindCounts)),
        "spent": partial(from_plain, Spent),
        **dict.fromkeys(("errors", "warnings", "violations", "params"), tuple),
    },
    Difference: {"rows": tuple, "unpaired": tuple},
    KindCounts: {"fields": _read_by_name(tuple)},
    CaseRun: {"comparisons": _read_many(Comparison)},
    Case: {"runs": _read_many(CaseRun)},
}
"""The functions that read members which are not built-in types, by class."""
