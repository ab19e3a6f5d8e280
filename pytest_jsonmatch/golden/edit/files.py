"""Edits of files: planned, made, and verified by reading the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.value.convert import value_at, with_value
from pytest_jsonmatch.engine.value.equality import json_equal
from pytest_jsonmatch.golden.edit.planner import Planner, RefusedError
from pytest_jsonmatch.golden.edit.source import Source
from pytest_jsonmatch.golden.errors import GoldenFileError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.golden.edit.planner import Edit
    from pytest_jsonmatch.golden.errors import Trail

_TOO_DEEP: Final = "the value is nested too deeply to be written; write it by hand"
_UNPROVEN: Final = (
    "the text around the value can't be edited so that nothing else changes; write the value by hand"
)


@final
@dataclass(frozen=True, slots=True)
class Edited:
    """The result of an edit.

    Args:
        data: the new content of the file; the old one if nothing was changed.
        refused: the reason for each change that can't be made.
        old: the old value at each trail; MISSING if there was none.
    """

    data: bytes
    refused: Mapping[Trail, str]
    old: Mapping[Trail, JsonValue]


def edit(data: bytes, name: str, changes: Mapping[Trail, JsonValue]) -> Edited:
    r"""Return a file's content with some of its values changed, and nothing else.

    Comments, quotes, indentation, the order of keys, anchors, line breaks and a byte order mark stay as they
    are. The result is read again before it is returned: the changed values must be right, and all others
    unchanged; a change that fails this check is refused.

    Args:
        data: the file's content.
        name: what errors call the file; by its ending it is JSON or YAML.
        changes: new values by their trail; a member that an object does not have yet is added.

    Raises:
        GoldenFileError: the file is not valid.

    >>> edit(b"a: 'x'  # why\nb: 2\n", "x.yaml", {("a",): "y"}).data
    b"a: 'y'  # why\nb: 2\n"
    >>> edit(b"a: &x {n: 1}\nb: *x\n", "x.yaml", {("b", "n"): 2}).refused
    {('b', 'n'): 'b is an alias, *x: ...'}
    """
    source = Source(data, name)
    old = {trail: value_at(source.before, trail) for trail in changes}
    planned, refused = _planned(Planner(source), changes)
    found = _made(source, planned, planned, changes) if planned else data
    if found is None:
        # The changes to blame are searched for by halves, and only now: nearly always one check is enough.
        good: list[Trail] = []
        waiting = [list(planned)]
        while waiting:
            group = waiting.pop()
            made = _made(source, [*good, *group], planned, changes)
            if made is not None:
                good, found = [*good, *group], made
            elif len(group) == 1:
                refused[group[0]] = _UNPROVEN
            else:
                middle = len(group) // 2
                waiting += (group[middle:], group[:middle])
    return Edited(found or data, refused, old)


def _planned(
    planner: Planner, changes: Mapping[Trail, JsonValue]
) -> tuple[dict[Trail, list[Edit]], dict[Trail, str]]:
    """Return the edits of each change, and why others can't be made."""
    planned: dict[Trail, list[Edit]] = {}
    refused: dict[Trail, str] = {}
    for trail, value in changes.items():
        planner.edits = []
        try:
            planner.place(trail, value)
        except RefusedError as refusal:
            refused[trail] = str(refusal)
        except RecursionError:
            refused[trail] = _TOO_DEEP
        else:
            if planner.edits:
                planned[trail] = planner.edits
    return planned, refused


def edit_lines(data: bytes, name: str, changes: Mapping[Trail, JsonValue]) -> Edited:
    r"""Return the content of a JSON Lines file with some values changed as `edit` does; other lines stay.

    Args:
        data: the file's content.
        name: what errors call the file; it ends as names of such files do.
        changes: new values by their trail, whose first step is the line, counted from 0.

    Raises:
        GoldenFileError: one of these lines is not valid.

    >>> edit_lines(b'{"a": 1}\n{"a":2}\n', "x.jsonl", {(1, "a"): 3}).data
    b'{"a": 1}\n{"a":3}\n'
    """
    lines = data.split(b"\n")
    by_line: dict[Any, dict[Trail, JsonValue]] = {}
    for (line, *trail), value in changes.items():
        by_line.setdefault(line, {})[tuple(trail)] = value
    refused: dict[Trail, str] = {}
    old: dict[Trail, JsonValue] = {}
    for line, wanted in by_line.items():
        edited = edit(lines[line], f"{name}:{line + 1}", wanted)
        lines[line] = edited.data
        refused.update({(line, *trail): reason for trail, reason in edited.refused.items()})
        old.update({(line, *trail): value for trail, value in edited.old.items()})
    return Edited(b"\n".join(lines), refused, old)


def _made(
    source: Source,
    trails: Iterable[Trail],
    planned: Mapping[Trail, list[Edit]],
    changes: Mapping[Trail, JsonValue],
) -> bytes | None:
    """Return the file with some changes; None unless exactly these values have changed."""
    wanted: JsonValue = source.before
    for trail in trails:
        wanted = with_value(wanted, trail, changes[trail])
    try:
        text = _applied(source.text, [each for trail in trails for each in planned[trail]])
        data = source.encode(text)
        found = source.parse(data)
    except (GoldenFileError, UnicodeEncodeError):
        return None
    return data if json_equal(found, wanted, strict=True) else None


def _applied(text: str, edits: Iterable[Edit]) -> str:
    """Return a text after edits, which may touch; if they overlap, reading the result will tell."""
    parts: list[str] = []
    position = 0
    # At the same place an insertion comes before a removal; otherwise the order of planning applies.
    for start, end, new in sorted(edits, key=lambda each: (each.start, each.end != each.start)):
        parts += (text[position:start], new)
        position = end
    return "".join([*parts, text[position:]])
