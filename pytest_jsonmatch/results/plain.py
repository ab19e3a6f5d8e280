"""Results as dicts of built-in types, and back: for result files, and between the processes of a run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, partial
from typing import Any, Final, TypeVar, cast

from pytest_jsonmatch.answer import Spent
from pytest_jsonmatch.engine.result.aggregation import FieldAggregation
from pytest_jsonmatch.engine.result.rows import RowCounts
from pytest_jsonmatch.results.comparison import Case, CaseRun, Comparison, Difference

T = TypeVar("T")
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


def to_plain(value: object) -> Any:
    """Return a value with dataclasses and named tuples as dicts, and other tuples as lists.

    The dicts have the members that differ from their default, in the order of the class; those of a field
    begin with its mean score, for people.

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
    """Return the members of a dataclass or named tuple, each with its default; None for other types."""
    if isinstance(kind, type) and is_dataclass(kind):
        return {
            each.name: each.default if each.default_factory is MISSING else each.default_factory()
            for each in fields(kind)
        }
    names: tuple[str, ...] | None = getattr(kind, "_fields", None)
    defaults: dict[str, object] = getattr(kind, "_field_defaults", {})
    return None if names is None else {**dict.fromkeys(names, MISSING), **defaults}


def from_plain(kind: Callable[..., T], plain: Mapping[str, Any]) -> T:
    """Return the object that `to_plain` made a dict of; unknown keys, of later releases, are ignored.

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


def _several(kind: Callable[..., T]) -> Callable[[Iterable[Any]], tuple[T, ...]]:
    return lambda found: tuple(from_plain(kind, each) for each in found)


def _by_name(read: Callable[[Any], T]) -> Callable[[Mapping[str, Any]], dict[str, T]]:
    # Few names occur in many results: each is kept in memory once.
    return lambda found: {sys.intern(name): read(each) for name, each in found.items()}


_of_fields: Final = _by_name(partial(from_plain, FieldAggregation))
_READERS: Final[Mapping[Callable[..., Any], Mapping[str, Callable[[Any], Any]]]] = {
    Comparison: {
        "signature": sys.intern,
        "fields": _of_fields,
        "rows": _by_name(partial(from_plain, RowCounts)),
        "differences": _by_name(_several(Difference)),
        "spent": partial(from_plain, Spent),
        **dict.fromkeys(("errors", "warnings", "violations", "params"), tuple),
    },
    Difference: {"rows": tuple, "unpaired": tuple},
    CaseRun: {"comparisons": _several(Comparison)},
    Case: {"runs": _several(CaseRun)},
}
"""How members that are no built-in types are read, by class."""
