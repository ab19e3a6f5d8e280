"""A YAML or JSON text, with the exact start and end of every value in it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, final

from pytest_jsonmatch.golden.files import is_json_file
from pytest_jsonmatch.golden.yamlevents import hide_old_breaks, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_jsonmatch.engine.value.convert import JsonValue

Kind: TypeAlias = Literal["scalar", "object", "array", "alias"]


@final
@dataclass(slots=True, eq=False)
class Node:
    """A value in a text.

    Args:
        kind: of the value.
        start: its first character, that of its anchor if it has one.
        body: its first character without the anchor.
        end: after its last character, without the line break that ends a block.
        style: of a scalar: empty (plain), a quote, `|` or `>`; of a container: "block", "flow", or "pair"
            (the one member that `[a: 1]` makes a mapping of, without braces).
        name: of its anchor, or of the anchor that an alias refers to.
        shared: whether aliases refer to it.
        items: of a container.
        item: whose value it is; None for the root, and for keys.
        in_flow: whether it is between brackets.
    """

    kind: Kind
    start: int
    body: int
    end: int
    style: str
    name: str | None = None
    shared: bool = False
    items: list[Item] = field(default_factory=list)
    item: Item | None = None
    in_flow: bool = False

    def walk(self) -> Iterator[Node]:
        """Yield the node and all nodes below it, keys too."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += [each for item in node.items for each in (item.key, item.node) if each is not None]


@final
@dataclass(slots=True, eq=False)
class Item:
    """A member of an object or an element of an array.

    Args:
        start: where it begins: at its dash, its question mark, its key, or its value.
        node: the value.
        key: the key of a member.
        slot: where the value may begin: in YAML after the dash or the colon.
        bare: a member without a colon, as in `{a}`.
    """

    start: int
    node: Node
    key: Node | None
    slot: int
    bare: bool = False


BREAK: Final = re.compile(r"\r\n|\r|\n")
COMMENT_LINE: Final = re.compile(r"[ \t]*#")
_COMMENT: Final = re.compile(r"(?<!\S)#[^\r\n]*")
_BOM: Final = b"\xef\xbb\xbf"
_ANCHOR: Final = re.compile(r"&[^\s,\[\]{}]+")
_BLANKS: Final = re.compile(r"(?:[ \t\r\n]+|#[^\r\n]*)*")
_HEADER: Final = re.compile(r"[|>]([+-]?[0-9]?[+-]?)")
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def skip_blanks(text: str, position: int) -> int:
    r"""Return the first position that is no space, no line break, and in no comment.

    >>> skip_blanks("a: # b\n  c", 2)
    9
    """
    found = _BLANKS.match(text, position)
    return position if found is None else found.end()


def yaml_tree(text: str) -> Node:
    r"""Return the root of a YAML text that `load` takes; it ends with a line break.

    >>> root = yaml_tree("a: [1, 2]  # two\n")
    >>> root.style, root.items[0].node.style, root.items[0].node.end
    ('block', 'flow', 9)
    """
    import yaml

    hidden, _ = hide_old_breaks(text)
    parser = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(hidden)
    try:
        return _tree(text, _yaml_parts(text, parser.get_event, yaml.events))
    finally:
        parser.dispose()


def _tree(text: str, parts: Iterable[Node | int]) -> Node:
    """Return the root of a text, given each node where it begins, and the end of each container."""
    stack: list[Node] = []
    key: Node | None = None
    for part in parts:
        if isinstance(part, int):
            node = stack.pop()
            node.end = part if node.style == "flow" else node.items[-1].node.end
        else:
            node = part
            if stack and stack[-1].kind == "object" and key is None:
                key = node
                continue
            if stack:
                node.item = _item(text, stack[-1], key, node)
                node.in_flow = stack[-1].in_flow or stack[-1].style != "block"
                stack[-1].items.append(node.item)
                key = None
            if node.kind in ("object", "array"):
                stack.append(node)
        if not stack:
            return node
    raise ValueError("the text ends in the middle of a value")  # pragma: no cover - it was read before


# `Any`: PyYAML's events are untyped.
def _yaml_parts(text: str, get_event: Any, events: Any) -> Iterator[Node | int]:
    get_event()
    get_event()
    anchors: dict[str, Node] = {}
    while True:
        event = get_event()
        kind = type(event)
        if kind is events.MappingEndEvent or kind is events.SequenceEndEvent:
            yield event.end_mark.index
            continue
        node = _node(text, event, events)
        if kind is events.AliasEvent:
            anchors[event.anchor].shared = True
        elif event.anchor is not None:
            anchors[event.anchor] = node
        yield node


def _node(text: str, event: Any, events: Any) -> Node:
    start, end = event.start_mark.index, event.end_mark.index
    kind = type(event)
    if kind is events.AliasEvent:
        return Node("alias", start, start, end, "", event.anchor)
    body = start
    found = None if event.anchor is None else _ANCHOR.match(text, start)
    if found is not None:
        body = skip_blanks(text, found.end())
    if kind is not events.ScalarEvent:
        name: Kind = "object" if kind is events.MappingStartEvent else "array"
        bracket = "{" if name == "object" else "["
        style = "block"
        if event.flow_style:
            style = "flow" if text[body] == bracket else "pair"
        return Node(name, start, body, body, style, event.anchor)
    body = min(body, end)  # behind an anchor there may be nothing
    style = event.style or ""
    if style in ("|", ">"):
        end = _end_of_block(text, body, end)
    return Node("scalar", start, body, end, style, event.anchor)


def _end_of_block(text: str, body: int, end: int) -> int:
    """Return where the content of a literal or folded scalar ends, without what its header drops."""
    header = _HEADER.match(text, body)
    if header is None or BREAK.search(text, body, end) is None:
        return body if header is None else header.end()
    lines = [line[0] for line in _LINE.finditer(text, body, end)]
    contents = [line.rstrip("\r\n") for line in lines[1:]]
    indent = min((len(line) - len(line.lstrip(" ")) for line in contents if line.strip(" ")), default=0)
    while contents and "+" not in header[1] and not contents[-1].strip(" ") and len(contents[-1]) <= indent:
        contents.pop()
    if not contents:
        return header.end()
    return body + sum(map(len, lines[: len(contents)])) + len(contents[-1])


def _item(text: str, parent: Node, key: Node | None, node: Node) -> Item:
    at = parent.items[-1].node.end if parent.items else parent.body + (parent.style == "flow")
    at = skip_blanks(text, at)
    if parent.style == "flow" and parent.items and text[at : at + 1] == ",":
        at = skip_blanks(text, at + 1)
    if key is None:
        return Item(at, node, None, at + 1 if parent.style == "block" else node.start)
    colon = skip_blanks(text, key.end)
    bare = text[colon : colon + 1] != ":"
    start = at if text[at : at + 1] == "?" else key.start
    return Item(start, node, key, key.end if bare else colon + 1, bare=bare)


_JSON_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)


def json_tree(text: str) -> Node:
    """Return the root of a text that is strict JSON.

    >>> [item.node.start for item in json_tree('{"a": 1, "b": [2]}').items]
    [6, 14]
    """
    return _tree(text, _json_parts(text))


def _json_parts(text: str) -> Iterator[Node | int]:
    for found in _JSON_TOKEN.finditer(text):
        part, start, end = found[0], found.start(), found.end()
        if part in ("}", "]"):
            yield end
        elif part in ("{", "["):
            yield Node("object" if part == "{" else "array", start, start, start, "flow")
        elif part not in (",", ":"):
            yield Node("scalar", start, start, end, '"' if part[0] == '"' else "")


@final
class Source:
    """One file: its text with a line break at its end, its value, and the place of everything in it.

    Args:
        data: the file's content.
        name: what errors call the file; by its ending it is JSON or YAML.

    Raises:
        GoldenFileError: the file is not valid.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self.is_json = is_json_file(name)
        self.has_bom = data.startswith(_BOM)
        self.before = self.value = self.parse(data)
        self.text = data.decode("utf-8").removeprefix("\ufeff")
        found = BREAK.search(self.text)
        self.newline = "\n" if found is None else found[0]
        self.is_ended = self.text.endswith(("\n", "\r"))
        if not self.is_ended:  # in a literal block, the line break added here may become part of the value
            self.text += self.newline
            self.value = self.parse(self.text.encode("utf-8"))
        self.root = json_tree(self.text) if self.is_json else yaml_tree(self.text)
        self._starts = [0, *(each.end() for each in BREAK.finditer(self.text))]
        self._comments = list(self._find_comments())

    def parse(self, data: bytes) -> JsonValue:
        """Return the value of other content for this file."""
        return parse(data, self.name)

    def encode(self, text: str) -> bytes:
        """Return a text as the file's content."""
        if not self.is_ended:
            text = re.sub(r"(?:\r\n|\r|\n)\Z", "", text)
        return (_BOM if self.has_bom else b"") + text.encode("utf-8")

    def line_start(self, position: int) -> int:
        """Return where the line of a position begins."""
        return self._starts[bisect_right(self._starts, position) - 1]

    def next_line(self, position: int) -> int:
        """Return where the line after that of a position begins."""
        index = bisect_right(self._starts, position)
        return self._starts[index] if index < len(self._starts) else len(self.text)

    def line_end(self, position: int) -> int:
        """Return where the line of a position ends, before its line break."""
        start = self.line_start(position)
        return start + len(self.text[start : self.next_line(position)].rstrip("\r\n"))

    def column(self, position: int) -> int:
        """Return the column of a position, from 0."""
        return position - self.line_start(position)

    def indent(self, position: int) -> str:
        """Return the indentation of the line of a position."""
        line = self.text[self.line_start(position) : position]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def opens_line(self, position: int) -> bool:
        """Tell whether only blanks precede a position in its line."""
        return len(self.indent(position)) == self.column(position)

    def without_comments(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the lines between two positions, except for comments."""
        while start < end:
            following = self.next_line(start)
            if not (COMMENT_LINE.match(self.text, start) and self.has_comment(start, following)):
                yield start, following
            start = following

    def has_comment(self, start: int, end: int) -> bool:
        """Tell whether a comment begins between two positions."""
        index = bisect_left(self._comments, start)
        return index < len(self._comments) and self._comments[index] < end

    def _find_comments(self) -> Iterator[int]:
        """Yield where the comments begin: a `#` in a scalar is none."""
        scalars = sorted((each.body, each.end) for each in self.root.walk() if each.kind == "scalar")
        position = 0
        for start, end in [*scalars, (len(self.text), 0)]:
            yield from (found.start() for found in _COMMENT.finditer(self.text, position, start))
            position = end
