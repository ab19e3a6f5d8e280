"""Edits of files: planned, made, and read again before anybody gets them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.value.errors import JsonParseError
from pytest_jsonmatch.golden.bounds import UNLIMITED
from pytest_jsonmatch.golden.edit.changes import identical
from pytest_jsonmatch.golden.edit.jsonplanner import JsonPlanner
from pytest_jsonmatch.golden.edit.planner import RefusedError, newline_of
from pytest_jsonmatch.golden.edit.yamlplanner import YamlPlanner
from pytest_jsonmatch.golden.errors import GoldenFileError
from pytest_jsonmatch.golden.nodes import json_tree, yaml_tree
from pytest_jsonmatch.golden.writing import HALF
from pytest_jsonmatch.golden.yamlevents import load

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.golden.edit.changes import Trail
    from pytest_jsonmatch.golden.edit.planner import Edit, Planner
    from pytest_jsonmatch.golden.nodes import Node

__all__ = ["Edited", "Editor", "edit"]

MAX_LEVELS: Final = 200

_BOM: Final = b"\xef\xbb\xbf"
_UNPROVEN: Final = (
    "the text around the value can't be edited so that nothing else changes; write the value by hand"
)


@final
@dataclass(frozen=True, slots=True)
class Edited:
    """What came of an edit.

    Args:
        data: the new content of the file; the old one if nothing was changed.
        changed: the values that were written, or already were what they should be.
        refused: why each of the others was not.
    """

    data: bytes
    changed: frozenset[Trail]
    refused: Mapping[Trail, str]


def edit(data: bytes, name: str, changes: Mapping[Trail, JsonValue], *, is_json: bool = False) -> Edited:
    r"""Return a file's content with some of its values changed, and nothing else.

    Comments, quotes, indentation, the order of keys, anchors, line breaks, a byte order mark: all stay as
    they are. The result is read again before it is returned: each value is what it should be, and all others
    are what they were; a change for which this does not hold is refused.

    Args:
        data: the file's content: YAML, or JSON.
        name: what errors call the file.
        changes: new values by their trail; a member that an object does not have yet is added.
        is_json: whether it is JSON.

    Raises:
        GoldenFileError: the file is not valid.

    >>> edit(b"a: 'x'  # why\nb: 2\n", "x.yaml", {("a",): "y"}).data
    b"a: 'y'  # why\nb: 2\n"
    >>> edit(b"a: &x {n: 1}\nb: *x\n", "x.yaml", {("b", "n"): 2}).refused
    {('b', 'n'): 'b is an alias, *x: ...'}
    """
    file = _File.read(data, name, is_json=is_json)
    planned: dict[Trail, list[Edit]] = {}
    refused: dict[Trail, str] = {}
    for trail, value in changes.items():
        try:
            planned[trail] = file.plan(trail, value)
        except RefusedError as refusal:
            refused[trail] = str(refusal)
    text = file.text
    for group in _good_groups(file, planned, changes, refused):
        edits = [each for trail in group for each in planned[trail]]
        text = file.apply(edits)
    changed = frozenset(trail for trail in planned if trail not in refused)
    if text == file.text:
        return Edited(data, changed, refused)
    return Edited(file.encode(text), changed, refused)


@final
class Editor:
    """One file, of which to ask what could be edited; `edit` makes the edits.

    Args:
        data: the file's content.
        name: what errors call the file.
        is_json: whether it is JSON.

    Raises:
        GoldenFileError: the file is not valid.
    """

    __slots__ = ("_file",)

    def __init__(self, data: bytes, name: str, *, is_json: bool = False) -> None:
        self._file = _File.read(data, name, is_json=is_json)

    def refusal(self, trail: Trail, value: JsonValue) -> str | None:
        r"""Return why a value can't be put at a trail, as far as that can be told without doing it.

        >>> Editor(b"a: &x 1\nb: *x\n", "x.yaml").refusal(("b",), 2)
        'b is an alias, *x: ...'
        """
        try:
            self._file.plan(trail, value)
        except RefusedError as refusal:
            return str(refusal)
        return None


def _good_groups(
    file: _File,
    planned: Mapping[Trail, list[Edit]],
    changes: Mapping[Trail, JsonValue],
    refused: dict[Trail, str],
) -> Iterator[list[Trail]]:
    """Yield the changes that can be made together; add to `refused` those that can't be made."""
    wanted = [trail for trail, edits in planned.items() if edits]
    if not wanted:
        return
    if file.holds(wanted, planned, changes):
        yield wanted
        return
    # Which of them is to blame is looked for only now: a file is read once, nearly always.
    waiting = [wanted]
    good: list[Trail] = []
    while waiting:
        group = waiting.pop()
        if len(group) > 1:
            half = len(group) // 2
            waiting += [group[half:], group[:half]]
        elif file.holds(group, planned, changes):
            good += group
        else:
            refused[group[0]] = _UNPROVEN
    if not good:
        return
    if file.holds(good, planned, changes):
        yield good
    else:
        refused.update(dict.fromkeys(good, _UNPROVEN))


@final
@dataclass(slots=True)
class _File:
    """One file: its text with a line break at its end, its value, and where everything stands."""

    name: str
    text: str
    value: JsonValue
    tree: Node
    is_json: bool
    has_bom: bool
    is_ended: bool
    """Whether the file itself ends with a line break."""
    planner: Planner | None = None

    @classmethod
    def read(cls, data: bytes, name: str, *, is_json: bool) -> _File:
        has_bom = data.startswith(_BOM)
        value = _parse(data, name, is_json=is_json)
        text = data.decode("utf-8").removeprefix("\ufeff")
        is_ended = text.endswith(("\n", "\r"))
        if not is_ended:
            text += newline_of(text)
            value = _parse(text.encode("utf-8"), name, is_json=is_json)
        tree = json_tree(text) if is_json else yaml_tree(text)
        return cls(name, text, value, tree, is_json, has_bom, is_ended)

    def plan(self, trail: Trail, value: JsonValue) -> list[Edit]:
        """Return the edits that put a value at a trail; raise the reason if that can't be done."""
        _check_value(value, is_json=self.is_json)
        planner = self.planner
        if planner is None:
            kind = JsonPlanner if self.is_json else YamlPlanner
            planner = self.planner = kind(self.text, self.tree)
        planner.edits = []
        try:
            planner.place(self.value, trail, value)
        except RecursionError:
            raise RefusedError(_too_deep()) from None
        return planner.edits

    def apply(self, edits: Sequence[Edit]) -> str:
        """Return the text after edits, which may touch but not overlap."""
        parts: list[str] = []
        position = 0
        # An insertion comes before what is taken out at the same place; else the order of planning holds.
        for start, end, new in sorted(edits, key=lambda each: (each.start, each.end != each.start)):
            if start < position:
                raise RefusedError(_UNPROVEN)
            parts += (self.text[position:start], new)
            position = end
        parts.append(self.text[position:])
        return "".join(parts)

    def encode(self, text: str) -> bytes:
        """Return a text as the file's content."""
        if not self.is_ended:
            text = re.sub(r"(?:\r\n|\r|\n)\Z", "", text)
        data = text.encode("utf-8")
        return _BOM + data if self.has_bom else data

    def holds(
        self,
        trails: Sequence[Trail],
        planned: Mapping[Trail, list[Edit]],
        changes: Mapping[Trail, JsonValue],
    ) -> bool:
        """Tell whether the file, with these edits, says what it should: read it again and compare."""
        try:
            data = self.encode(self.apply([each for trail in trails for each in planned[trail]]))
            found = _parse(data, self.name, is_json=self.is_json)
        except (RefusedError, GoldenFileError, UnicodeEncodeError):
            return False
        if self.is_ended:
            before = self.value
        else:  # without the line break that we have added
            before = _parse(self.encode(self.text), self.name, is_json=self.is_json)
        wanted = _Overlay(before)
        for trail in trails:
            wanted.put(trail, changes[trail])
        return identical(found, wanted.value)


def _parse(data: bytes, name: str, *, is_json: bool) -> JsonValue:
    if not is_json:
        return load(data, name, limit=UNLIMITED).value
    from pytest_jsonmatch.reading.strict import parse_json

    try:
        return parse_json(data.decode("utf-8").removeprefix("\ufeff"))
    except JsonParseError as error:
        raise GoldenFileError(name, error.line, error.column, error.reason) from None
    except UnicodeDecodeError as error:
        raise GoldenFileError(name, 1, 1, f"not UTF-8 text: {error}") from None


@final
class _Overlay:
    """A value in which some values are put; containers on the way are copied: others may be the same."""

    def __init__(self, value: JsonValue) -> None:
        self._root: dict[Any, Any] = {"": value}

    @property
    def value(self) -> JsonValue:
        value: JsonValue = self._root[""]
        return value

    def put(self, trail: Trail, value: JsonValue) -> None:
        container: Any = self._root
        steps: list[Any] = ["", *trail]
        for step in steps[:-1]:
            container[step] = container[step].copy()
            container = container[step]
        container[steps[-1]] = value


def _check_value(value: JsonValue, *, is_json: bool) -> None:
    """Raise the reason why a value can't be written, wherever it stands."""
    waiting: list[tuple[Any, int]] = [(value, 0)]
    while waiting:
        each, level = waiting.pop()
        if type(each) in {dict, list}:
            if level >= MAX_LEVELS:
                raise RefusedError(_too_deep())
            if type(each) is dict:
                waiting += [(key, level) for key in each]
                waiting += [(inner, level + 1) for inner in each.values()]
            else:
                waiting += [(inner, level + 1) for inner in each]
        elif type(each) is str:
            if not is_json and HALF.search(each):
                raise RefusedError("the new value holds half of a character, which YAML can't say")
        elif isinstance(each, (float, Decimal)) and not _is_finite(each):
            raise RefusedError("the new value holds NaN or an infinity, which JSON does not have")


def _is_finite(number: float | Decimal) -> bool:
    return number.is_finite() if isinstance(number, Decimal) else number - number == 0


def _too_deep() -> str:
    return f"the value is nested deeper than {MAX_LEVELS} levels; write it by hand"
