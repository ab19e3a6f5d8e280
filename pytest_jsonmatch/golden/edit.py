"""New values into golden files: only the characters of what changed are touched, everything else stays."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from decimal import Decimal
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.errors import JsonParseError
from pytest_jsonmatch.engine.values import MISSING
from pytest_jsonmatch.golden.bounds import UNLIMITED
from pytest_jsonmatch.golden.errors import GoldenFileError
from pytest_jsonmatch.golden.nodes import json_tree, skip_blanks, walk, yaml_tree
from pytest_jsonmatch.golden.writing import HALF, JsonWriter, YamlWriter, block_scalar, yaml_scalar
from pytest_jsonmatch.golden.yamlevents import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_jsonmatch.engine.values import JsonValue
    from pytest_jsonmatch.golden.nodes import Item, Node

__all__ = ["Edited", "Editor", "Trail", "edit", "identical", "merge"]

Trail: TypeAlias = "tuple[str | int, ...]"
"""Where a value stands: object keys and array indices, from the root of the document."""
Accept: TypeAlias = "Callable[[Trail, JsonValue, JsonValue], bool]"

MAX_LEVELS: Final = 200
# Lists that differ in more than this (length by length) are paired element by element, in their order.
_SEARCHED: Final = 1_000_000

_BOM: Final = b"\xef\xbb\xbf"
_BREAK: Final = re.compile(r"\r\n|\r|\n")
_HEADER: Final = re.compile(r"[|>][+-]?[0-9]?[+-]?")
_REST_OF_ITEM: Final = re.compile(r"[ \t]*,?[ \t]*(?:#[^\r\n]*)?(?=[\r\n]|\Z)")
_COMMENT_LINE: Final = re.compile(r"[ \t]*#")


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
    planned: dict[Trail, list[_Edit]] = {}
    refused: dict[Trail, str] = {}
    for trail, value in changes.items():
        try:
            planned[trail] = file.plan(trail, value)
        except _RefusedError as refusal:
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
        except _RefusedError as refusal:
            return str(refusal)
        return None


def merge(old: JsonValue, new: JsonValue, accept: Accept, trail: Trail = ()) -> JsonValue:
    """Return the old value with those changes towards the new one that are accepted.

    Args:
        old: a value.
        new: what it might become.
        accept: called with the trail of a change, the old value there and the new one (MISSING for what
            comes or goes); it tells whether to make the change.
        trail: where the values stand.

    >>> merge({"a": 1, "b": 2}, {"a": 3, "c": 4}, lambda trail, old, new: trail != ("a",))
    {'a': 1, 'c': 4}
    """
    if identical(old, new):
        return old
    if old and new and type(old) is type(new) is dict:
        merged = {}
        for key, value in old.items():
            if key in new:
                merged[key] = merge(value, new[key], accept, (*trail, key))
            elif not accept((*trail, key), value, MISSING):
                merged[key] = value
        comes = {key: value for key, value in new.items() if key not in old}
        return merged | {key: value for key, value in comes.items() if accept((*trail, key), MISSING, value)}
    if old and new and type(old) is type(new) is list:
        elements: list[Any] = []
        changes = _of_elements(old, new)
        for index in range(len(old) + 1):
            for _, value in changes.added.get(index, ()):
                if accept((*trail, index), MISSING, value):
                    elements.append(value)
            if index < len(old):
                kept = changes.kept[index]
                if kept is not None:
                    elements.append(merge(old[index], kept[0], accept, (*trail, index)))
                elif not accept((*trail, index), old[index], MISSING):
                    elements.append(old[index])
        return elements
    return new if accept(trail, old, new) else old


def _good_groups(
    file: _File,
    planned: Mapping[Trail, list[_Edit]],
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
    waiting, good = [wanted], list[Trail]()
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


_UNPROVEN: Final = (
    "the text around the value can't be edited so that nothing else changes; write the value by hand"
)


def identical(one: JsonValue, other: JsonValue) -> bool:
    """Tell whether two JSON values are the same to the letter: 1 is not 1.0, and -0.0 is not 0.0.

    >>> identical({"a": 1, "b": 2}, {"b": 2, "a": 1}), identical([1], [1.0]), identical(True, 1)
    (True, False, False)
    """
    waiting: list[tuple[Any, Any]] = [(one, other)]
    while waiting:
        left, right = waiting.pop()
        if left is right:
            continue
        if type(left) is not type(right):
            return False
        if type(left) is dict:
            if left.keys() != right.keys():
                return False
            waiting += [(each, right[key]) for key, each in left.items()]
        elif type(left) is list:
            if len(left) != len(right):
                return False
            waiting += zip(left, right)
        elif left != right or (type(left) is float and str(left) != str(right)):
            return False
    return True


class _Edit(NamedTuple):
    """Characters to take out, from `start` to before `end`, and text to put there."""

    start: int
    end: int
    text: str


class _RefusedError(Exception):
    """Why a change can't be made."""


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
    planner: _Planner | None = None

    @classmethod
    def read(cls, data: bytes, name: str, *, is_json: bool) -> _File:
        has_bom = data.startswith(_BOM)
        value = _parse(data, name, is_json=is_json)
        text = data.decode("utf-8").removeprefix("\ufeff")
        is_ended = text.endswith(("\n", "\r"))
        if not is_ended:
            text += _newline(text)
            value = _parse(text.encode("utf-8"), name, is_json=is_json)
        tree = json_tree(text) if is_json else yaml_tree(text)
        return cls(name, text, value, tree, is_json, has_bom, is_ended)

    def plan(self, trail: Trail, value: JsonValue) -> list[_Edit]:
        """Return the edits that put a value at a trail; raise the reason if that can't be done."""
        _check_value(value, is_json=self.is_json)
        planner = self.planner
        if planner is None:
            kind = _JsonPlanner if self.is_json else _YamlPlanner
            planner = self.planner = kind(self.text, self.tree)
        planner.edits = []
        try:
            planner.place(self.value, trail, value)
        except RecursionError:
            raise _RefusedError(_too_deep()) from None
        return planner.edits

    def apply(self, edits: Sequence[_Edit]) -> str:
        """Return the text after edits, which may touch but not overlap."""
        parts: list[str] = []
        position = 0
        # An insertion comes before what is taken out at the same place; else the order of planning holds.
        for start, end, new in sorted(edits, key=lambda each: (each.start, each.end != each.start)):
            if start < position:
                raise _RefusedError(_UNPROVEN)
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
        planned: Mapping[Trail, list[_Edit]],
        changes: Mapping[Trail, JsonValue],
    ) -> bool:
        """Tell whether the file, with these edits, says what it should: read it again and compare."""
        try:
            data = self.encode(self.apply([each for trail in trails for each in planned[trail]]))
            found = _parse(data, self.name, is_json=self.is_json)
        except (_RefusedError, GoldenFileError, UnicodeEncodeError):
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
    from pytest_jsonmatch.engine.parsing import parse_json

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
                raise _RefusedError(_too_deep())
            if type(each) is dict:
                waiting += [(key, level) for key in each]
                waiting += [(inner, level + 1) for inner in each.values()]
            else:
                waiting += [(inner, level + 1) for inner in each]
        elif type(each) is str:
            if not is_json and HALF.search(each):
                raise _RefusedError("the new value holds half of a character, which YAML can't say")
        elif isinstance(each, (float, Decimal)) and not _is_finite(each):
            raise _RefusedError("the new value holds NaN or an infinity, which JSON does not have")


def _is_finite(number: float | Decimal) -> bool:
    return number.is_finite() if isinstance(number, Decimal) else number - number == 0


def _too_deep() -> str:
    return f"the value is nested deeper than {MAX_LEVELS} levels; write it by hand"


def _newline(text: str) -> str:
    found = _BREAK.search(text)
    return "\n" if found is None else found[0]


# -- what changes between two values -----------------------------------------------------------------------


@final
@dataclass(slots=True)
class _Changes:
    """How the items of a container become others.

    Args:
        kept: for each old item, its new value in a one-element list, or None if it goes.
        added: new items by the index of the old item that they come before, or by the count of old items.
    """

    kept: list[list[Any] | None]
    added: dict[int, list[tuple[str | None, Any]]] = field(default_factory=dict)

    @property
    def is_structural(self) -> bool:
        return bool(self.added) or None in self.kept

    @property
    def all_added(self) -> list[tuple[str | None, Any]]:
        return [each for index in sorted(self.added) for each in self.added[index]]


def _of_members(old: dict[str, Any], new: dict[str, Any]) -> _Changes:
    found = _Changes([[new[key]] if key in new else None for key in old])
    added: list[tuple[str | None, Any]] = [(key, value) for key, value in new.items() if key not in old]
    if added:
        found.added[len(old)] = added
    return found


def _of_elements(old: list[Any], new: list[Any]) -> _Changes:
    found = _Changes([None] * len(old))
    ours, theirs = [_key(each) for each in old], [_key(each) for each in new]
    # What both begin with and end with is most of a long list; the rest is all that has to be searched.
    shorter = min(len(old), len(new))
    head = next((index for index in range(shorter) if ours[index] != theirs[index]), shorter)
    tail = next(
        (index for index in range(shorter - head) if ours[-1 - index] != theirs[-1 - index]), shorter - head
    )
    for index in range(head):
        found.kept[index] = [new[index]]
    for index in range(1, tail + 1):
        found.kept[-index] = [new[-index]]
    ours, theirs = ours[head : len(old) - tail], theirs[head : len(new) - tail]
    if len(ours) * len(theirs) > _SEARCHED:
        _pair(found, old, new, (head, len(old) - tail, head, len(new) - tail))
        return found
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    for kind, *bounds in matcher.get_opcodes():
        start, end, first, last = (head + bound for bound in bounds)
        if kind == "equal" or end - start == last - first:
            for index in range(end - start):
                found.kept[start + index] = [new[first + index]]
        elif kind == "insert":
            found.added[start] = [(None, each) for each in new[first:last]]
        elif kind == "replace":
            _pair(found, old, new, (start, end, first, last))
    return found


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=lambda number: {"\0": str(number)})


def _pair(found: _Changes, old: list[Any], new: list[Any], span: tuple[int, int, int, int]) -> None:
    """Pair elements of two runs, in their order and as like each other as can be."""
    start, end, first, last = span
    rows, columns = end - start, last - first
    if rows * columns > 10_000:
        pairs = [(start + index, first + index) for index in range(min(rows, columns))]
    else:
        best = [[0] * (columns + 1) for _ in range(rows + 1)]
        for row in reversed(range(rows)):
            for column in reversed(range(columns)):
                paired = best[row + 1][column + 1] + _likeness(old[start + row], new[first + column])
                best[row][column] = max(paired, best[row + 1][column], best[row][column + 1])
        pairs = []
        row = column = 0
        while row < rows and column < columns:
            paired = best[row + 1][column + 1] + _likeness(old[start + row], new[first + column])
            # All of the shorter run are paired: what is left over may be skipped, and no more.
            if best[row][column] == paired or (rows - row == columns - column):
                pairs.append((start + row, first + column))
                row, column = row + 1, column + 1
            elif rows - row > columns - column:
                row += 1
            else:
                column += 1
    partners = dict(pairs)
    taken = set(partners.values())
    for one, other in pairs:
        found.kept[one] = [new[other]]
    following = end
    by_partner = {other: one for one, other in pairs}
    for index in reversed(range(first, last)):
        if index in taken:
            following = by_partner[index]
        else:
            found.added.setdefault(following, []).insert(0, (None, new[index]))


def _likeness(one: Any, other: Any) -> int:
    if type(one) is not type(other):
        return 1
    if type(one) is dict:
        return 2 + 4 * sum(key in other and _key(other[key]) == _key(each) for key, each in one.items())
    return 2


# -- edits of any text -------------------------------------------------------------------------------------


class _Planner:
    """Plans edits of one text; those of YAML and of JSON differ in how values are written."""

    def __init__(self, text: str, tree: Node) -> None:
        self.text = text
        self.tree = tree
        self.newline = _newline(text)
        self.has_old_breaks = "\r" in text.replace("\r\n", "")
        self.edits: list[_Edit] = []

    def place(self, root: JsonValue, trail: Trail, new: JsonValue) -> None:
        """Plan a value at a trail: a change of what stands there, or a member that is not there yet."""
        node, item = self.tree, None
        value: Any = root
        in_flow = False
        for depth, step in enumerate(trail):
            self._must_be_own(node, trail[:depth])
            index: Any = step
            if type(value) is dict:
                if step not in value and depth == len(trail) - 1:
                    self.change(item, node, value, {**value, str(step): new}, in_flow, trail[:depth])
                    return
                index = next((index for index, key in enumerate(value) if key == step), None)
            if type(index) is not int or index >= len(node.items):
                raise _RefusedError(f"{_named(trail)} is not in the file")
            in_flow |= node.style != "block"
            item = node.items[index]
            node, value = item.node, value[step]
        self.change(item, node, value, new, in_flow, trail)

    def change(self, item: Item | None, node: Node, old: Any, new: Any, in_flow: bool, trail: Trail) -> None:
        """Plan what makes a new value of an old one; `item` is what holds it, None for the root."""
        if identical(old, new):
            return
        self._must_be_own(node, trail)
        changes = None
        if old and new and type(old) is type(new) is dict:
            changes = _of_members(old, new)
        elif old and new and type(old) is type(new) is list:
            changes = _of_elements(old, new)
        if changes is None or (changes.is_structural and node.style == "pair"):
            self._must_not_be_used(node, trail)
            self.replace(item, node, new, in_flow)
            return
        for index, (key, value) in enumerate(old.items() if type(old) is dict else enumerate(old)):
            kept, inner = changes.kept[index], node.items[index]
            if kept is None:
                self._must_not_be_used(inner.node, (*trail, key))
                if inner.key is not None:
                    self._must_not_be_used(inner.key, (*trail, key))
            else:
                self.change(
                    inner, inner.node, value, kept[0], in_flow or node.style != "block", (*trail, key)
                )
        if changes.is_structural:
            if any(each.explicit for each in node.items):
                raise _RefusedError(
                    f"{_named(trail)} has keys behind question marks; write them as `key: value` first"
                )
            self.restructure(node, changes)

    def replace(self, item: Item | None, node: Node, new: Any, in_flow: bool) -> None:
        raise NotImplementedError

    def restructure(self, node: Node, changes: _Changes) -> None:
        raise NotImplementedError

    def _must_be_own(self, node: Node, trail: Trail) -> None:
        """Refuse what stands somewhere else, or is what others stand for."""
        if node.kind == "alias":
            raise _RefusedError(
                f"{_named(trail)} is an alias, *{node.name}: a change would change what others see; "
                "write the value itself there first"
            )
        if node.shared:
            raise _RefusedError(
                f"{_named(trail)} is anchored as &{node.name}, and aliases stand for it: a change would "
                "change them too; write the value itself there first"
            )

    def _must_not_be_used(self, node: Node, trail: Trail) -> None:
        """Refuse to take away what others stand for."""
        for each in walk(node):
            if each.shared:
                raise _RefusedError(
                    f"{_named(trail)} holds &{each.name}, and aliases stand for it; "
                    "write their values themselves there first"
                )

    # Lines, by positions in the text.

    def line_start(self, position: int) -> int:
        start = self.text.rfind("\n", 0, position) + 1
        if self.has_old_breaks:
            start = max(start, self.text.rfind("\r", 0, position) + 1)
        return start

    def line_end(self, position: int) -> int:
        found = _BREAK.search(self.text, position)
        return len(self.text) if found is None else found.start()

    def next_line(self, position: int) -> int:
        found = _BREAK.search(self.text, position)
        return len(self.text) if found is None else found.end()

    def column(self, position: int) -> int:
        return position - self.line_start(position)

    def opens_line(self, position: int) -> bool:
        """Tell whether only spaces stand before a position in its line."""
        return not self.text[self.line_start(position) : position].strip(" \t")

    def put(self, start: int, end: int, text: str) -> None:
        self.edits.append(_Edit(start, end, text))

    def drop_lines(self, start: int, end: int, node: Node) -> None:
        """Take out whole lines, all but those that are comments."""
        spans = sorted(
            (each.body, each.end) for each in walk(node) if each.kind == "scalar" and each.end > each.body
        )
        begins = [span[0] for span in spans]
        while start < end:
            following = self.next_line(start)
            index = bisect_right(begins, start) - 1
            inside = index >= 0 and spans[index][0] < start < spans[index][1]
            if inside or not _COMMENT_LINE.match(self.text, start):
                self.put(start, following, "")
            start = following

    def has_comment(self, start: int, end: int, nodes: Sequence[Node]) -> bool:
        """Tell whether there is a comment between two positions."""
        spans = sorted(
            (each.body, each.end) for node in nodes for each in walk(node) if each.kind == "scalar"
        )
        for first, last in [*spans, (end, end)]:
            if first >= start and re.search(r"(?:^|\s)#", self.text[start : min(first, end)]):
                return True
            start = max(start, last)
        return False

    # What stands between brackets, in YAML or JSON.

    def entry(self, node: Node, key: str | None, value: Any, indent: str) -> str:
        """Return a new member or element between brackets."""
        raise NotImplementedError

    def restructure_flow(self, node: Node, changes: _Changes) -> None:
        items, kept = node.items, changes.kept
        count = len(items)
        if all(each is None for each in kept):
            self._refill(node, changes)
            return
        first = 0
        while first < count:
            if kept[first] is not None:
                first += 1
                continue
            last = first
            while last + 1 < count and kept[last + 1] is None:
                last += 1
            self._drop_run(node, first, last, is_followed=bool(changes.added.get(count)))
            first = last + 1
        for index, added in changes.added.items():
            if index < count:
                self._insert_before(node, index, added)
            else:
                self._append(node, added, last_kept=kept[-1] is not None)

    def _has_own_line(self, item: Item) -> bool:
        return self.opens_line(item.start) and _REST_OF_ITEM.match(self.text, item.node.end) is not None

    def _comma_after(self, item: Item) -> int | None:
        found = skip_blanks(self.text, item.node.end)
        return found if self.text[found] == "," else None

    def _refill(self, node: Node, changes: _Changes) -> None:
        """Put new items in the place of all old ones."""
        items = node.items
        start, end = items[0].start, items[-1].node.end
        self._refuse_comments(start, end, node)
        indent, separator = "", self.separator(node)
        if self.opens_line(start):
            indent = self.text[self.line_start(start) : start]
            separator = f",{self.newline}{indent}"
        texts = [self.entry(node, key, value, indent) for key, value in changes.all_added]
        self.put(start, end, separator.join(texts))

    def _refuse_comments(self, start: int, end: int, node: Node) -> None:
        if self.has_comment(start, end, [node]):
            raise _RefusedError("a comment stands inside what would have to go; move it first")

    def separator(self, node: Node) -> str:
        """Return what stands between the items of a flow collection on one line."""
        for one, other in zip(node.items, node.items[1:]):
            between = self.text[one.node.end : other.start]
            if re.fullmatch(r"[ \t]*,[ \t]*", between):
                return between
        return ", "

    def _drop_run(self, node: Node, first: int, last: int, *, is_followed: bool) -> None:
        items = node.items
        run = items[first : last + 1]
        if all(self._has_own_line(item) for item in run):
            for item in run:
                self.drop_lines(self.line_start(item.start), self.next_line(item.node.end), item.node)
            comma = self._comma_after(items[first - 1]) if first and last + 1 == len(items) else None
            if comma is not None and not is_followed and self.drops_last_comma:
                self.put(comma, comma + 1, "")
        elif last + 1 < len(items):
            self._refuse_comments(items[first].start, items[last + 1].start, node)
            self.put(items[first].start, items[last + 1].start, "")
        else:
            self._refuse_comments(items[first - 1].node.end, items[last].node.end, node)
            self.put(items[first - 1].node.end, items[last].node.end, "")

    drops_last_comma = False

    def _insert_before(self, node: Node, index: int, added: list[tuple[str | None, Any]]) -> None:
        start = node.items[index].start
        if self.opens_line(start):
            indent = self.text[self.line_start(start) : start]
            separator = f",{self.newline}{indent}"
        else:
            indent, separator = "", self.separator(node)
        texts = [self.entry(node, key, value, indent) for key, value in added]
        self.put(start, start, "".join(f"{text}{separator}" for text in texts))

    def _append(self, node: Node, added: list[tuple[str | None, Any]], *, last_kept: bool) -> None:
        last = node.items[-1]
        comma = self._comma_after(last)
        start, end = last.start, last.node.end
        lined = self.opens_line(start)
        indent = self.text[self.line_start(start) : start] if lined else ""
        texts = [self.entry(node, key, value, indent) for key, value in added]
        if not lined:
            separator = self.separator(node)
            if comma is None or not last_kept:
                self.put(end, end, "".join(f"{separator}{text}" for text in texts))
            else:
                self.put(comma + 1, comma + 1, f" {separator.join(texts)}")
            return
        block = f",{self.newline}{indent}".join(texts)
        ending = "" if comma is None else ","
        if not last_kept:
            if self._has_own_line(last):
                following = self.next_line(end)
                self.put(following, following, f"{indent}{block}{ending}{self.newline}")
            else:
                self.put(end, end, f",{self.newline}{indent}{block}")
            return
        after = end
        if comma is None:
            self.put(end, end, ",")
        else:
            after = comma + 1
        rest = _REST_OF_ITEM.match(self.text, after)
        at = after if rest is None else rest.end()
        self.put(at, at, f"{self.newline}{indent}{block}{ending}")


def _named(trail: Sequence[str | int]) -> str:
    """Return a trail as people write it, from `expected` on where it leads through that."""
    steps = list(trail)
    if "expected" in steps and steps[0] in {"cases", "expected"}:
        steps = steps[steps.index("expected") :]
    text = ""
    for step in steps:
        text += f"[{step}]" if isinstance(step, int) else f".{step}"
    return text.removeprefix(".") or "the value"


# -- JSON --------------------------------------------------------------------------------------------------


@final
class _JsonPlanner(_Planner):
    drops_last_comma = True
    _found: JsonWriter | None = None

    def replace(self, item: Item | None, node: Node, new: Any, in_flow: bool) -> None:  # noqa: ARG002
        line = self.line_start(node.body if item is None else item.start)
        found = re.match(r"[ \t]*", self.text[line:])
        indent = "" if found is None else found[0]
        self.put(node.body, node.end, self._writer(node).value(new, indent))

    def restructure(self, node: Node, changes: _Changes) -> None:
        self.restructure_flow(node, changes)

    def entry(self, node: Node, key: str | None, value: Any, indent: str) -> str:
        writer = self._writer(node)
        return writer.value(value, indent) if key is None else writer.member(key, value, indent)

    def separator(self, node: Node) -> str:
        return super().separator(node) if len(node.items) > 1 else self.style.comma

    def _writer(self, node: Node) -> JsonWriter:
        """Return a writer in the style of the text; on one line if that is where the neighbours are."""
        if node.items and not self.opens_line(node.items[0].start):
            return replace(self.style, unit=None)
        return self.style

    @property
    def style(self) -> JsonWriter:
        """The style of the text: its separators, its indentation, its escapes."""
        if self._found is None:
            colon = comma = unit = None
            for node in walk(self.tree):
                for item in node.items[:1]:
                    if item.key is not None:
                        colon = self.text[item.key.end : item.node.body]
                    if self.opens_line(item.start) and unit is None:
                        unit = self._unit(node, item)
                pair = node.items[:2]
                between = self.text[pair[0].node.end : pair[1].start] if len(pair) == 2 else ""
                if between.strip(" \t") == ",":
                    comma = between
            if not self.tree.items:
                unit = "  "
            if comma is None:
                comma = "," if colon == ":" else ", "
            if colon is None or colon.strip(" \t") != ":":
                colon = ":" if comma == "," else ": "
            is_ascii = self.text.isascii() and "\\u" in self.text
            self._found = JsonWriter(colon, comma, is_ascii, self.newline, unit)
        return self._found

    def _unit(self, node: Node, item: Item) -> str:
        """Return what a level adds to the indentation."""
        inner = self.text[self.line_start(item.start) : item.start]
        line = self.line_start(node.body)
        found = re.match(r"[ \t]*", self.text[line:])
        outer = "" if found is None else found[0]
        return inner.removeprefix(outer) if inner.startswith(outer) else "  "


# -- YAML --------------------------------------------------------------------------------------------------


@final
class _YamlPlanner(_Planner):
    _writer: YamlWriter | None = None

    @property
    def writer(self) -> YamlWriter:
        """A writer that indents as the text does."""
        if self._writer is None:
            step = list_step = None
            padding = ""
            for node in walk(self.tree):
                if node.kind == "object" and node.style == "flow" and self.text[node.body + 1] == " ":
                    padding = " "
                if node.kind != "object" or node.style != "block":
                    continue
                for item in node.items:
                    if item.node.style != "block":
                        continue
                    deeper = self.column(item.node.body) - self.column(item.start)
                    if item.node.kind == "object":
                        step = deeper
                    elif item.node.kind == "array":
                        list_step = deeper
            self._writer = YamlWriter(step or 2, 2 if list_step is None else list_step, padding=padding)
        return self._writer

    def _writer_before(self, start: int, end: int) -> YamlWriter:
        """Return a writer for lines after which those from `start` to `end` go, all but the comments.

        A comment behind a literal block could be taken for a part of it.
        """
        at = start if self.line_start(start) == start else self.next_line(start)
        while at < len(self.text):
            if _COMMENT_LINE.match(self.text, at):
                return replace(self.writer, literals=False)
            if at >= end and self.text[at : self.line_end(at)].strip(" \t"):
                break
            at = self.next_line(at)
        return self.writer

    # The style of neighbours.

    def _style(self, node: Node) -> str:
        """Return the quotes of the last string among the items of a container: empty if it has none."""
        for item in reversed(node.items):
            if item.node.kind == "scalar" and item.node.style in ("'", '"'):
                return item.node.style
            if item.node.kind == "scalar" and self._reads_as_text(item.node):
                return ""
        return ""

    def _reads_as_text(self, node: Node) -> bool:
        return re.match(r"[^\W\d]", self.text[node.body : node.end]) is not None and self.text[
            node.body : node.end
        ] not in {"true", "false", "null"}

    def _key_style(self, node: Node) -> str:
        key = node.items[-1].key if node.items else None
        return key.style if key is not None and key.style in ("'", '"') else ""

    def _prefers_flow(self, node: Node) -> bool:
        """Tell whether the objects and arrays among the items of a container are between brackets."""
        inner = [
            each.node for each in node.items if each.node.kind in {"object", "array"} and each.node.items
        ]
        return bool(inner) and all(each.style != "block" for each in inner)

    def entry(self, node: Node, key: str | None, value: Any, indent: str) -> str:  # noqa: ARG002
        style, key_style = self._style(node), self._key_style(node)
        text = self.writer.flow(value, style=style, key_style=key_style)
        return text if key is None else f"{self.writer.key(key, key_style, flow=True)}: {text}"

    # Replacing a value.

    def replace(self, item: Item | None, node: Node, new: Any, in_flow: bool) -> None:
        in_flow |= node.style == "pair"
        if node.kind in {"object", "array"} and node.style != "block":
            self._refuse_comments(node.body, node.end, node)
        if self._wants_block(item, node, new, in_flow=in_flow):
            self._write_block(item, node, new)
            return
        if node.kind == "scalar" and node.style in ("|", ">"):
            self._replace_block_scalar(item, node, new)
        elif node.style == "block":
            self._replace_block(item, node, self._inline(node, new, flow=False))
        else:
            text = self._inline(node, new, flow=in_flow)
            self.put(node.body, node.end, self._spaced(item, node, text))

    def _inline(self, node: Node, new: Any, *, flow: bool) -> str:
        if type(new) in {dict, list}:
            return self.writer.flow(new, style=self._style(node), key_style=self._key_style(node))
        style = node.style if node.kind == "scalar" and node.style in ("'", '"') else ""
        return yaml_scalar(new, style, flow=flow)

    def _spaced(self, item: Item | None, node: Node, text: str) -> str:
        """Return a text with what has to stand before it where nothing stood so far."""
        if node.body < node.end:
            return text
        if item is not None and item.bare:
            return f": {text}"
        return text if self.text[node.body - 1 : node.body] in {" ", "\t"} else f" {text}"

    def _wants_block(self, item: Item | None, node: Node, new: Any, *, in_flow: bool) -> bool:
        if in_flow or type(new) not in {dict, list} or not new:
            return False
        if node.kind in {"object", "array"} and node.style == "flow":
            inner = new.values() if type(new) is dict else new
            if node.items or not any(type(each) in {dict, list} and each for each in inner):
                return False
        if node.style == "block" or (item is not None and item.key is not None):
            return True
        # Behind a dash there is no room for an anchor, and a comment could not stay where it is.
        return node.name is None and not self.text[node.end : self.line_end(node.end)].strip(" \t")

    def _replace_block_scalar(self, item: Item | None, node: Node, new: Any) -> None:
        header = _HEADER.match(self.text, node.body)
        end = node.body if header is None else header.end()
        content = self.next_line(end)
        if type(new) is str:
            parent = 0 if item is None else self.column(item.start)
            lines = _BREAK.split(self.text[content : node.end]) if content < node.end else []
            filled = [line for line in lines if line.strip(" ")]
            indent = parent + self.writer.step
            if filled:
                indent = min(len(line) - len(line.lstrip(" ")) for line in filled)
            keeps = "+" in self.text[node.body : end]
            block = block_scalar(new, node.style, indent=indent, parent=parent, keeps=keeps)
            if block is not None:
                self.put(node.body, end, block[0])
                if content < node.end:
                    self.put(content, node.end, self.newline.join(block[1:]))
                else:
                    at = self.line_end(end)
                    self.put(at, at, "".join(f"{self.newline}{line}" for line in block[1:]))
                return
        self.put(node.body, end, self._inline(node, new, flow=False))
        self._drop_content(end, node)

    def _drop_content(self, header_end: int, node: Node) -> None:
        line_end = self.line_end(header_end)
        if line_end < node.end:
            self.put(line_end, node.end, "")

    def _slot(self, item: Item, node: Node) -> int:
        """Return where a value has to begin: behind its anchor if it has one."""
        if node.name is None:
            return item.slot
        return node.start + 1 + len(node.name)

    def _first(self, node: Node) -> int:
        return node.items[0].start

    def _replace_block(self, item: Item | None, node: Node, text: str) -> None:
        """Put a value of one line in the place of a block of several."""
        first = self._first(node)
        start = self.line_start(first)
        if self.opens_line(first):
            if item is None:
                self.put(start, start, f"{text}{self.newline}")
            else:
                slot = self._slot(item, node)
                self.put(slot, slot, f" {text}")
            self.drop_lines(start, self.next_line(node.end), node)
        else:
            self._drop_compact(first, node, text)

    def _drop_compact(self, first: int, node: Node, text: str) -> None:
        """Put a text in the place of a block that begins behind a dash."""
        self.put(first, max(self._line_end_outside(first, node), first), text)
        self.drop_lines(self.next_line(first), self.next_line(node.end), node)

    def _line_end_outside(self, first: int, node: Node) -> int:
        return min(self.line_end(first), self.line_end(node.end))

    def _write_block(self, item: Item | None, node: Node, new: Any) -> None:
        """Put a block in the place of any value."""
        start = node.items[0].start if node.style == "block" else node.end
        writer = self._writer_before(start, node.end)
        lines = writer.lines(new, self._style(node), self._key_style(node))
        if node.style == "block":
            first = self._first(node)
            if self.opens_line(first):
                column = self.column(first)
                if item is not None and type(new) is dict and column <= self.column(item.start):
                    column = self.column(item.start) + self.writer.step
                start = self.line_start(first)
                self.put(start, start, self._lines(lines, column))
                self.drop_lines(start, self.next_line(node.end), node)
            else:
                self._drop_compact(first, node, self._hanging(lines, self.column(first)))
            return
        header = _HEADER.match(self.text, node.body) if node.style in ("|", ">") else None
        end = node.end if header is None else header.end()
        if item is None or item.key is None:
            column = 0 if item is None else self.column(max(node.body, item.slot + 1))
            if item is not None and node.body == node.end:
                column = self.column(item.slot) + 1
            text = self._hanging(lines, column)
            at = end if header is not None else self.line_end(end)  # blanks would be the last line's
            self.put(node.body, at, text if item is None else self._spaced(item, node, text))
            if header is not None:
                self._drop_content(end, node)
            return
        slot = self._slot(item, node)
        self.put(slot, end, "")
        if header is not None:
            self._drop_content(end, node)
        step = self.writer.step if type(new) is dict else self.writer.list_step
        at = self.next_line(node.end)
        self.put(at, at, self._lines(lines, self.column(item.start) + step))

    def _lines(self, lines: Sequence[str], column: int) -> str:
        return "".join(f"{' ' * column if line else ''}{line}{self.newline}" for line in lines)

    def _hanging(self, lines: Sequence[str], column: int) -> str:
        """Return lines the first of which needs no indentation, and the last no line break."""
        return self._lines(lines, column).strip(" ").removesuffix(self.newline)

    # Items of blocks.

    def restructure(self, node: Node, changes: _Changes) -> None:
        if node.style == "flow":
            self.restructure_flow(node, changes)
            return
        self._drop_items(node, changes.kept)
        column = self.column(self._first(node))
        for index, added in changes.added.items():
            at = self.next_line(node.items[index - 1].node.end) if index else self._first(node)
            writer = self._writer_before(at, node.end)
            lines = [line for key, value in added for line in self._new_lines(writer, node, key, value)]
            if index:
                self.put(at, at, self._lines(lines, column))
            else:
                self.put(at, at, self._lines(lines, column).lstrip(" ") + " " * column)

    def _new_lines(self, writer: YamlWriter, node: Node, key: str | None, value: Any) -> list[str]:
        style, key_style = self._style(node), self._key_style(node)
        if type(value) in {dict, list} and value and self._prefers_flow(node):
            text = writer.flow(value, style=style)
            return [f"- {text}" if key is None else f"{writer.key(key, key_style, flow=False)}: {text}"]
        if key is None:
            return writer.element(value, style=style)
        return writer.member(key, value, style=style, key_style=key_style)

    def _drop_items(self, node: Node, kept: Sequence[list[Any] | None]) -> None:
        items = node.items
        index = 0
        if kept[0] is None and not self.opens_line(items[0].start):
            index = self._drop_first_of_compact(node, kept)
        for position in range(index, len(items)):
            item = items[position]
            if kept[position] is None:
                self.drop_lines(self.line_start(item.start), self.next_line(item.node.end), item.node)

    def _drop_first_of_compact(self, node: Node, kept: Sequence[list[Any] | None]) -> int:
        """Take out the first items of a block that begins behind a dash; return how many."""
        items = node.items
        survivor = next((index for index, each in enumerate(kept) if each is not None), None)
        if survivor is not None:
            start, end = items[0].start, items[survivor].start
            lines = _BREAK.split(self.text[start:end])
            if not any(_COMMENT_LINE.match(line) for line in lines[1:]):
                self.put(start, end, "")
                return survivor
        self._drop_compact(items[0].start, items[0].node, "")
        return 1
