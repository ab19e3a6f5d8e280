"""A whole document as text, with what differs in it marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from pytest_jsonmatch.engine.value.paths import Segment, parse_path
from pytest_jsonmatch.engine.value.text import render
from pytest_jsonmatch.report.escape import printable

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.value.convert import JsonValue

Run: TypeAlias = "tuple[str, str]"
"""A piece of text: ("=" or a mark, text). Line breaks are between the lines of a document."""
_Path: TypeAlias = "tuple[Segment, ...]"

_LEVELS: Final = 40
"""Deeper containers stand on one line."""
_MAX_SCALAR: Final = 1000
_MAX_RUNS: Final = 40
"""So many places are marked; a page has to stay small."""
_CUT: Final = "…"


class _Place(NamedTuple):
    """Where a value stands in a document: its level, what is before and after it, what marks it."""

    depth: int
    lead: str
    comma: str
    mark: str


def document_runs(value: JsonValue, marks: Mapping[str, str], limit: int) -> list[Run]:
    r"""Return a JSON value as indented, printable text, in pieces that are marked or not.

    Args:
        value: a document.
        marks: by instance path; the mark of a container holds for all that is in it.
        limit: about so many characters; "…" on a line of its own is what is cut off.

    >>> document_runs({"a": 1, "b": [2, 3]}, {"b[1]": "-"}, 1000)
    [('=', '{\n  "a": 1,\n  "b": [\n    2,\n    '), ('-', '3'), ('=', '\n  ]\n}')]
    """
    runs: list[Run] = []
    length = marked = 0
    by_place = {parse_path(path): mark for path, mark in marks.items()}
    root = _Place(0, "", "", by_place.get((), ""))
    for indent, raw, mark in _lines(value, by_place, () if marks else None, root):
        text = printable(raw)
        lead = "\n" + "  " * indent if runs else ""
        length += len(lead) + len(text)
        if runs and length > limit:
            _add(runs, "=", f"{lead}{_CUT}")
            break
        if mark and runs and runs[-1][0] == mark:
            _add(runs, mark, lead + text)
        elif mark and marked < _MAX_RUNS:
            marked += 1
            _add(runs, "=", lead)
            _add(runs, mark, text)
        else:
            _add(runs, "=", lead + text)
    return runs


def _add(runs: list[Run], kind: str, text: str) -> None:
    if runs and runs[-1][0] == kind:
        runs[-1] = kind, runs[-1][1] + text
    elif text:
        runs.append((kind, text))


def _lines(
    value: JsonValue, marks: Mapping[_Path, str], path: _Path | None, place: _Place
) -> Iterator[tuple[int, str, str]]:
    """Yield the lines of a value: (levels of indentation, text, its mark or "").

    Without a path nothing in it has to be looked up: all of it is marked, or nothing of the document.
    """
    depth, lead, comma, mark = place
    if (type(value) is not dict and type(value) is not list) or not value or depth == _LEVELS:
        yield depth, f"{lead}{render(value, _MAX_SCALAR)}{comma}", mark
        return
    is_object = type(value) is dict
    yield depth, lead + ("{" if is_object else "["), mark
    members: Any = value.items() if type(value) is dict else enumerate(value)
    for left, (key, item) in zip(range(len(value) - 1, -1, -1), members, strict=True):
        below = None if path is None or mark else (*path, key)
        name = f"{render(key, _MAX_SCALAR)}: " if is_object else ""
        own = mark if below is None else marks.get(below, "")
        inner = _Place(depth + 1, name, "," if left else "", own)
        yield from _lines(item, marks, below, inner)
    yield depth, ("}" if is_object else "]") + comma, mark
