"""YAML with JSON's types, built in one pass over PyYAML's events, with the place of every node.

Only what JSON can say comes out: a plain scalar is null (`null`, `~` or nothing), `true`, `false`, a number
if it is written as JSON writes numbers, and a string otherwise. So `NO`, `on`, `012`, `12:30`, `1_000`,
`2024-01-31`, `0x1F`, `.nan`, `.inf` and `True` are strings, and `1e3` is a number.
"""

from __future__ import annotations

import gc
import re
from array import array
from contextlib import contextmanager
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, final

from pytest_jsonmatch.engine.errors import nearest
from pytest_jsonmatch.engine.values import json_type, parse_number, render
from pytest_jsonmatch.golden.errors import GoldenFileError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_jsonmatch.engine.values import JsonValue

__all__ = ["Document", "Position", "hide_old_breaks", "load", "paused_collection", "reads_as_string"]

EMPTY: Final = "the file is empty; it should hold a case, or `cases:`"
MAX_DEPTH: Final = 1_000
MAX_ALIASED_NODES: Final = 1_000_000

_ATOMS: Final[dict[str, JsonValue]] = {"": None, "~": None, "null": None, "true": True, "false": False}
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)((?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)")
_NUMBER_STARTS: Final = frozenset("-0123456789")
# Up to here int() is exact and can meet no limit on the digits of an integer.
_SHORT: Final = 300

_FROZEN_BY_PYTHON: Final = 1_000

_HALF: Final = re.compile("[\ud800-\udfff]")

# What YAML 1.2 allows in a document; PyYAML reports the position of anything else in bytes or in characters,
# depending on how it was built, so we look for ourselves.
_FORBIDDEN: Final = re.compile("[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# To YAML 1.1, and so to PyYAML, these three break a line; to YAML 1.2 and to every editor they do not. While
# PyYAML looks at the text, characters for private use that it does not contain stand in for them.
_OLD_BREAKS: Final = "\x85\u2028\u2029"
_PRIVATE_USE: Final = range(0xE000, 0xF900)

_HINTS: Final = {
    "\t": "a tab can't indent in YAML; use spaces",
    "@": "a plain value can't begin with '@'; put it in quotes",
    "`": "a plain value can't begin with '`'; put it in quotes",
    "%": "a plain value can't begin with '%'; put it in quotes",
}
_SECOND_DOCUMENT: Final = (
    "a second document begins here; keep one document a file, and list several cases below `cases:`"
)
_MERGE_KEY: Final = 'YAML 1.2 has no merge keys; repeat the keys, or write "<<" in quotes to mean the name'
_KEY_KIND: Final = "a key is an {}; JSON's keys are strings"
_TOO_DEEP: Final = f"nested deeper than {MAX_DEPTH:,} levels; keep such data in a JSON file of its own"
_TOO_MANY: Final = f"aliases stand for more than {MAX_ALIASED_NODES:,} values up to here; use fewer of them"
_TAG: Final = "the tag {!r}: values have JSON's types only; leave it out, and quote what is to be a string"
_CLOSED_BY_A_MARK: Final = re.compile("flow|quoted")
_SURROGATE_ESCAPE: Final = "found invalid Unicode character escape code"
_SURROGATE_REASON: Final = (
    "an escape names half of a character (YAML has no surrogate pairs); write the character itself, "
    "or keep the JSON in a file of its own"
)


class Position(NamedTuple):
    """A place in a text: line and column, both counted from 1."""

    line: int
    column: int


@final
class Document:
    """A loaded YAML document: its JSON value, and where each node of it stands.

    Nodes are numbered as their events come: a mapping, its first key, that key's value, and so on. `marks`
    has one entry a node, `ends` the number after the last node inside each container, `aliases` the node
    that each alias stands for. That is cheap to build; paths are looked up only when something fails.
    """

    __slots__ = ("_aliases", "_ends", "_marks", "name", "value")

    def __init__(
        self, name: str, value: JsonValue, marks: array[int], ends: dict[int, int], aliases: dict[int, int]
    ) -> None:
        self.name = name
        self.value = value
        self._marks = marks
        self._ends = ends
        self._aliases = aliases

    def position(self, path: Sequence[str | int] = ()) -> Position:
        r"""Return where the entry at `path` begins: the key of an object's member, the item of an array.

        Where nothing stands at `path`, it is the nearest entry around it.

        Args:
            path: object keys and array indices, from the document's root.

        >>> load(b"a:\n  - b: 1\n", "x.yaml").position(["a", 0, "b"])
        Position(line=2, column=5)
        """
        value, node, place = self.value, 0, 0
        for step in path:
            for found, key_node, value_node in self._children(value, node):
                if found == step:
                    value, node, place = value[found], value_node, key_node
                    break
            else:
                break
        return self._place(place)

    def item_positions(self, key: str) -> list[Position]:
        r"""Return where each item of the array below one of the root's keys begins.

        >>> load(b"a:\n- 1\n- 2\n", "x.yaml").item_positions("a")
        [Position(line=2, column=3), Position(line=3, column=3)]
        """
        node = next(node for found, _, node in self._children(self.value, 0) if found == key)
        return [self._place(item) for _, item, _ in self._children(self.value[key], node)]

    def error(self, path: Sequence[str | int], reason: str) -> GoldenFileError:
        """Return the error that says `reason` about the entry at `path`."""
        line, column = self.position(path)
        return GoldenFileError(self.name, line, column, reason)

    def _place(self, node: int) -> Position:
        mark = self._marks[node]
        return Position((mark >> 32) + 1, (mark & 0xFFFFFFFF) + 1)

    def _children(self, value: JsonValue, node: int) -> Iterator[tuple[str | int, int, int]]:
        """Yield (key or index, node of the key, node of the value) for each child of a container."""
        ends = self._ends
        child = self._aliases.get(node, node) + 1
        if type(value) is dict:
            for name in value:
                yield name, child, child + 1
                child = ends.get(child + 1, child + 2)
        elif type(value) is list:
            for index in range(len(value)):
                yield index, child, child
                child = ends.get(child, child + 1)


def load(data: bytes | str, name: str) -> Document:
    r"""Load one YAML document.

    Args:
        data: the file's content; bytes are UTF-8, with or without a byte order mark.
        name: what the errors call the file.

    Raises:
        GoldenFileError: the text is not one well-formed document of JSON's types. Its message begins
            name:line:column.

    >>> load("country: NO\nprice: 1e3\nbooked: 2024-01-31\n", "x.yaml").value
    {'country': 'NO', 'price': 1000.0, 'booked': '2024-01-31'}
    """
    text = _decode(data, name) if isinstance(data, bytes) else data
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        line, column = _line_and_column(text, text.index("\0"))
        raise GoldenFileError(name, line, column, "a NUL character; the file is damaged, or no text at all")
    text, restore = hide_old_breaks(text)
    with paused_collection():
        return _Builder(text, name, restore).build()


@contextmanager
def paused_collection() -> Iterator[None]:
    """Pause the garbage collector: for making thousands of objects none of which is garbage.

    >>> with paused_collection():
    ...     gc.isenabled()
    False
    """
    paused = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if paused:
            _call_all_old()
            gc.enable()


def _call_all_old() -> None:
    """Move every object to the collector's oldest generation, as if it had looked at them all.

    Else the very next object made would have it look at each of the thousands, and find no garbage.
    """
    # This thaws what somebody froze (Python itself freezes a few hundred); PyPy has no such thing.
    if hasattr(gc, "freeze") and gc.get_freeze_count() < _FROZEN_BY_PYTHON:
        gc.freeze()
        gc.unfreeze()


def reads_as_string(text: str) -> bool:
    """Tell whether a plain scalar, that is one without quotes, stands for a string.

    >>> reads_as_string("NO"), reads_as_string("12:30"), reads_as_string("1e3"), reads_as_string("~")
    (True, True, False, False)
    """
    return text not in _ATOMS and text != "<<" and _NUMBER.fullmatch(text) is None


def _decode(data: bytes, name: str) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise GoldenFileError(name, 1, 1, "the file is UTF-16; save it as UTF-8")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8").removeprefix("\ufeff")
        line, column = _line_and_column(before, len(before))
        reason = f"the byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8"
        raise GoldenFileError(name, line, column, reason) from None


def _line_and_column(text: str, index: int) -> Position:
    before = text[:index].replace("\r\n", "\n").replace("\r", "\n")
    return Position(before.count("\n") + 1, len(before) - before.rfind("\n"))


def hide_old_breaks(text: str) -> tuple[str, dict[int, str] | None]:
    """Return the text without YAML 1.1's additional line breaks, and the table that brings them back."""
    if text.isascii() or not any(character in text for character in _OLD_BREAKS):
        return text, None
    used = set(text)
    free = (chr(code) for code in _PRIVATE_USE if chr(code) not in used)
    stand_ins = dict(zip(_OLD_BREAKS, free))
    return (
        text.translate({ord(old): new for old, new in stand_ins.items()}),
        {ord(new): old for old, new in stand_ins.items()},
    )


@final
class _Builder:
    """One pass over the events of one text."""

    def __init__(self, text: str, name: str, restore: dict[int, str] | None) -> None:
        self.text = text
        self.name = name
        self.restore = restore
        self.unusual = restore is not None
        self.marks: array[int] = array("Q")
        self.ends: dict[int, int] = {}
        self.aliases: dict[int, int] = {}
        # By anchor name: node, value, and how many nodes it stands for (None while it is still open).
        self.anchors: dict[str, tuple[int, JsonValue, int | None]] = {}
        self.aliased = 0

    def build(self) -> Document:
        import yaml

        try:
            # libyaml's parser where PyYAML was built with it; the same events, slower, where it was not.
            loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
            self.unusual |= loader is yaml.SafeLoader
            parser = loader(self.text)
            try:
                value = self._document(parser.get_event, yaml.events)
            finally:
                parser.dispose()
        except (yaml.reader.ReaderError, UnicodeEncodeError):
            raise self._forbidden_character() from None
        except yaml.MarkedYAMLError as error:
            raise self._syntax_error(error) from None
        return Document(self.name, value, self.marks, self.ends, self.aliases)

    # `Any`: PyYAML's events are untyped.
    def _document(self, get_event: Any, events: Any) -> JsonValue:
        get_event()
        event = get_event()
        if type(event) is events.StreamEndEvent:
            raise GoldenFileError(self.name, 1, 1, EMPTY)
        value = self._node(get_event, events)
        get_event()
        event = get_event()
        if type(event) is not events.StreamEndEvent:
            self._fail(event.start_mark, _SECOND_DOCUMENT)
        return value

    def _node(self, get_event: Any, events: Any) -> JsonValue:
        scalar, alias = events.ScalarEvent, events.AliasEvent
        mapping, sequence = events.MappingStartEvent, events.SequenceStartEvent
        marks, ends, anchors = self.marks, self.ends, self.anchors
        append_mark = marks.append
        same_keys: dict[str, str] = {}
        as_key = same_keys.setdefault
        root: list[JsonValue] = []
        # The container we stand in: `target`, its node, and (for a mapping) the key that waits for its value.
        target: Any = root
        in_mapping = False
        key: str | None = None
        node = -1
        anchor: str | None = None
        aliased_before = 0
        stack: list[tuple[Any, bool, str | None, int, str | None, int]] = []
        while True:
            event = get_event()
            kind = type(event)
            if kind is scalar:
                mark = event.start_mark
                append_mark(mark.line << 32 | mark.column)
                value: JsonValue = event.value
                if event.tag is not None:
                    self._tag(event)
                if not event.style:
                    if value in _ATOMS:
                        value = _ATOMS[value]
                    elif value[0] in _NUMBER_STARTS and (number := _NUMBER.fullmatch(value)):
                        value = int(value) if not number[1] and len(value) < _SHORT else self._number(event)
                    elif value == "<<" and in_mapping and key is None:
                        self._fail(mark, _MERGE_KEY)
                if self.unusual and type(value) is str:
                    value = self._mended(event, value)
                if event.anchor is not None:
                    anchors[event.anchor] = (len(marks) - 1, value, 1)
            elif kind is mapping or kind is sequence:
                mark = event.start_mark
                append_mark(mark.line << 32 | mark.column)
                if event.tag is not None:
                    self._tag(event)
                if in_mapping and key is None:
                    self._fail(mark, _KEY_KIND.format("object" if kind is mapping else "array"))
                if len(stack) == MAX_DEPTH:
                    self._fail(mark, _TOO_DEEP)
                stack.append((target, in_mapping, key, node, anchor, aliased_before))
                target = {} if kind is mapping else []
                in_mapping, key = kind is mapping, None
                node = len(marks) - 1
                aliased_before = self.aliased
                anchor = event.anchor
                if anchor is not None:
                    anchors[anchor] = (node, target, None)
                continue
            elif kind is alias:
                value = self._alias(event)
            else:
                # The end of a mapping or of a sequence, whichever is open.
                ends[node] = len(marks)
                if anchor is not None and anchors[anchor][0] == node:
                    anchors[anchor] = (node, target, len(marks) - node + self.aliased - aliased_before)
                value = target
                target, in_mapping, key, node, anchor, aliased_before = stack.pop()
            if in_mapping:
                if key is None:
                    if type(value) is not str:
                        self._bad_key(event.start_mark, value)
                    key = as_key(value, value)
                    if key in target:
                        self._duplicate(event.start_mark, target, node, key)
                else:
                    target[key] = value
                    key = None
            else:
                target.append(value)
                if target is root:
                    return value

    def _mended(self, event: Any, value: str) -> str:
        """Return a string as it stands in the text; refuse half a character, as libyaml does by itself."""
        if _HALF.search(value):
            self._fail(event.start_mark, _SURROGATE_REASON)
        return value if self.restore is None else value.translate(self.restore)

    def _number(self, event: Any) -> JsonValue:
        try:
            return parse_number(event.value)
        except ValueError as error:
            self._fail(event.start_mark, str(error))

    def _alias(self, event: Any) -> JsonValue:
        mark = event.start_mark
        found = self.anchors.get(event.anchor)
        if found is None:
            guess = nearest(event.anchor, self.anchors)
            hint = f"; did you mean *{guess}?" if guess else ""
            self._fail(mark, f"no anchor &{event.anchor} stands before this alias{hint}")
        node, value, size = found
        if size is None:
            self._fail(mark, f"*{event.anchor} stands inside the value it names; JSON has no cycles")
        self.aliases[len(self.marks)] = node
        self.marks.append(mark.line << 32 | mark.column)
        self.aliased += size
        if self.aliased > MAX_ALIASED_NODES:
            self._fail(mark, _TOO_MANY)
        return value

    def _tag(self, event: Any) -> NoReturn:
        tag = event.tag.replace("tag:yaml.org,2002:", "!!", 1)
        self._fail(event.start_mark, _TAG.format(tag))

    def _bad_key(self, mark: Any, value: JsonValue) -> NoReturn:
        if type(value) in {dict, list}:
            self._fail(mark, _KEY_KIND.format(json_type(value)))
        text = render(value, limit=40)
        self._fail(mark, f'the key {text} is not a string, as JSON\'s keys are; write "{text}"')

    def _duplicate(self, mark: Any, target: dict[str, JsonValue], node: int, key: str) -> NoReturn:
        first = node + 1
        for _ in takewhile(key.__ne__, target):
            first = self.ends.get(first + 1, first + 2)
        line = (self.marks[first] >> 32) + 1
        self._fail(mark, f"the key {key!r} is already at line {line}; keep one of them")

    def _fail(self, mark: Any, reason: str) -> NoReturn:
        raise GoldenFileError(self.name, mark.line + 1, mark.column + 1, reason)

    def _forbidden_character(self) -> GoldenFileError:
        found = _FORBIDDEN.search(self.text)
        if found is None:  # pragma: no cover - PyYAML refuses more than the standard does
            return GoldenFileError(self.name, 1, 1, "a character that YAML does not allow")
        line, column = _line_and_column(self.text, found.start())
        code = ord(found[0])
        reason = (
            f"the character U+{code:04X} can't stand in YAML as it is; write it as an escape in double quotes"
        )
        return GoldenFileError(self.name, line, column, reason)

    def _syntax_error(self, error: Any) -> GoldenFileError:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        problem = error.problem or error.context or "not YAML"
        lines = re.split("\r\n|\r|\n", self.text)
        at = lines[line - 1][column - 1 : column] if line <= len(lines) else ""
        opened = error.context_mark
        if "cannot start any token" in problem and at in _HINTS:
            reason = _HINTS[at]
        elif line >= len(lines) and opened is not None and _CLOSED_BY_A_MARK.search(error.context):
            # Something was opened and the text ended: its beginning is what a person has to look for.
            line, column = opened.line + 1, opened.column + 1
            reason = f"not YAML: {error.context.removeprefix('while ')} that begins here, the text ends"
        elif problem == _SURROGATE_ESCAPE:
            reason = _SURROGATE_REASON
        else:
            reason = f"not YAML: {problem}"
            if error.context and error.context_mark and error.context_mark.line != line - 1:
                reason += f" ({error.context} that begins at line {error.context_mark.line + 1})"
        return GoldenFileError(self.name, min(line, len(lines)), column, reason)
