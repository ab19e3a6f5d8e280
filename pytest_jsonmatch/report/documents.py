"""A whole document as text, with what differs in it marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from pytest_jsonmatch.engine.value.paths import format_path
from pytest_jsonmatch.engine.value.text import render

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from pytest_jsonmatch.engine.value.convert import JsonValue

__all__ = ["Run", "document_runs"]

Run: TypeAlias = "tuple[str, str]"
"""A piece of text: ("=" or a mark, text). Line breaks are between the lines of a document."""

_LEVELS: Final = 40
"""Deeper containers stand on one line."""
_MAX_SCALAR: Final = 1000
_MAX_RUNS: Final = 40
"""So many places are marked; a page has to stay small."""
_CUT: Final = "…"


def document_runs(value: JsonValue, marked: AbstractSet[str], mark: str, limit: int) -> list[Run]:
    r"""Return a JSON value as indented text, in pieces that are marked or not.

    Args:
        value: a document.
        marked: the instance paths of what is to be marked; what is in a marked container is marked as well.
        mark: what marks it.
        limit: about so many characters; "…" on a line of its own is what is cut off.

    >>> document_runs({"a": 1, "b": [2, 3]}, {"b[1]"}, "-", 1000)
    [('=', '{\n  "a": 1,\n  "b": [\n    2,\n    '), ('-', '3'), ('=', '\n  ]\n}')]
    """
    runs: list[Run] = []
    length = marks = 0
    for indent, text, is_marked in _lines(value, marked):
        lead = "\n" + "  " * indent if runs else ""
        length += len(lead) + len(text)
        if runs and length > limit:
            _add(runs, "=", f"{lead}{_CUT}")
            break
        if is_marked and runs and runs[-1][0] == mark:
            _add(runs, mark, lead + text)
        elif is_marked and marks < _MAX_RUNS:
            marks += 1
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


class _Frame(NamedTuple):
    """A container that is being written."""

    members: Iterator[tuple[Any, Any]]
    left: list[int]
    """How many members are still to come, as the only item."""
    closing: str
    path: str | None
    """None: nothing in it has to be looked up, since all of it is marked, or nothing of the document."""
    is_marked: bool


def _lines(value: JsonValue, marked: AbstractSet[str]) -> Iterator[tuple[int, str, bool]]:
    """Yield the lines of a document: (levels of indentation, text, whether it is marked)."""
    is_marked = "$" in marked
    if not _is_open(value):
        yield 0, render(value, _MAX_SCALAR), is_marked
        return
    frames = [_frame(value, "" if marked and not is_marked else None, is_marked=is_marked)]
    yield 0, _opening(value), is_marked
    while frames:
        members, left, closing, path, all_marked = frames[-1]
        member = next(members, None)
        if member is None:
            frames.pop()
            comma = "," if frames and frames[-1].left[0] else ""
            yield len(frames), closing + comma, all_marked
            continue
        key, item = member
        left[0] -= 1
        below = None if path is None else _below(path, key)
        is_marked = all_marked or below in marked
        lead = f"{render(key, _MAX_SCALAR)}: " if type(key) is str else ""
        if _is_open(item) and len(frames) < _LEVELS:
            yield len(frames), lead + _opening(item), is_marked
            frames.append(_frame(item, None if is_marked else below, is_marked=is_marked))
        else:
            yield len(frames), f"{lead}{render(item, _MAX_SCALAR)}{',' if left[0] else ''}", is_marked


def _below(path: str, key: str | int) -> str:
    """Return the instance path of a member.

    >>> _below("a", "b"), _below("", "b"), _below("a", 0), _below("", "b c")
    ('a.b', 'b', 'a[0]', '["b c"]')
    """
    own = format_path((key,))
    return f"{path}.{own}" if path and not own.startswith("[") else path + own


def _is_open(value: JsonValue) -> bool:
    return (type(value) is dict or type(value) is list) and len(value) > 0


def _opening(value: JsonValue) -> str:
    return "{" if type(value) is dict else "["


def _frame(value: Any, path: str | None, *, is_marked: bool) -> _Frame:
    if type(value) is dict:
        return _Frame(iter(value.items()), [len(value)], "}", path, is_marked)
    return _Frame(iter(enumerate(value)), [len(value)], "]", path, is_marked)
