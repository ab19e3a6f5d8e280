"""The text of a YAML or JSON file, with the start and end of every value."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.reading.datafiles import is_json_file
from pytest_jsonmatch.reading.yamlevents import load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_jsonmatch.engine.value.convert import JsonValue

_BREAK: Final = re.compile(r"\r\n|\r|\n")
_COMMENT: Final = re.compile(r"(?<!\S)#[^\r\n]*")
_BOM: Final = b"\xef\xbb\xbf"
_BLANKS: Final = re.compile(r"(?:[ \t\r\n]+|#[^\r\n]*)*")
_HEADER: Final = re.compile(r"[|>]([+-]?[0-9]?[+-]?)")
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@final
@dataclass(slots=True, eq=False)
class Node:
    """A value in a text.

    Args:
        slot: the first position where the value may begin: after its dash or colon, and after its anchor.
        column: the column of its key or dash; -2 for the root.
        in_flow: whether it is between brackets.
        start: the position of its first character, without its anchor.
        end: the position after its last character, without the line break that ends a block.
        style: for a scalar: empty (plain), a quote, `|` or `>`; for a container: "block", "flow", or "pair"
            (the mapping without braces that `[a: 1]` has as its element); for an alias: "alias".
        anchor: the name of its anchor, or of the anchor that an alias refers to.
        is_shared: whether aliases refer to it.
        key: the key, if the value is a member.
        has_no_colon: whether it is a member without a colon, as in `{a}`.
        items: the values in a container, by key or index.
    """

    slot: int
    column: int = -2
    in_flow: bool = False
    start: int = 0
    end: int = 0
    style: str = ""
    anchor: str = ""
    is_shared: bool = False
    key: Node | None = None
    has_no_colon: bool = False
    items: dict[Any, Node] = field(default_factory=dict)

    def shared(self) -> Node | None:
        """Return the node itself, or a node in it, that aliases refer to; None if there is none."""
        if self.is_shared or (self.key is not None and self.key.is_shared):
            return self if self.is_shared else self.key
        return next((found for item in self.items.values() if (found := item.shared()) is not None), None)


@final
class Source:
    """One file: its text, its value, and the node of every value.

    Args:
        data: the content of the file.
        name: the name of the file in errors; its suffix decides between JSON and YAML.

    Raises:
        GoldenFileError: the file is not valid.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self.is_json: bool = is_json_file(name)
        self.has_bom: bool = data.startswith(_BOM)
        self._document = load(data, name, holds_cases=True, has_spans=True)
        self.value: JsonValue = self._document.value
        self.text: str = data.decode("utf-8").removeprefix("\ufeff")
        found = _BREAK.search(self.text)
        self.newline: str = "\n" if found is None else found[0]
        self._starts = [0, *(line_break.end() for line_break in _BREAK.finditer(self.text))]
        self._scalars: list[tuple[int, int]] = []
        self.root: Node = self._node(Node(0), self.value, 0, {})
        self._comments = [] if self.is_json else list(self._find_comments())

    @property
    def comments(self) -> list[str]:
        """The comments, in file order."""
        return [self.text[start : self.line_end(start)] for start in self._comments]

    def with_text(self, text: str) -> bytes:
        """Return a new text as the content of the file."""
        return (_BOM if self.has_bom else b"") + text.encode("utf-8")

    def line_start(self, position: int) -> int:
        """Return the start of the line of a position."""
        return self._starts[bisect_right(self._starts, position) - 1]

    def line_end(self, position: int) -> int:
        """Return the end of the line of a position, before its line break."""
        found = _BREAK.search(self.text, position)
        return len(self.text) if found is None else found.start()

    def column(self, position: int) -> int:
        """Return the column of a position, from 0."""
        return position - self.line_start(position)

    def indent(self, position: int) -> str:
        """Return the indentation of the line of a position."""
        line = self.text[self.line_start(position) : position]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def opens_line(self, position: int) -> bool:
        """Return whether only blanks precede a position in its line."""
        return len(self.indent(position)) == self.column(position)

    def has_comment(self, start: int, end: int) -> bool:
        """Return whether a comment begins between two positions."""
        index = bisect_left(self._comments, start)
        return index < len(self._comments) and self._comments[index] < end

    def skip_blanks(self, position: int) -> int:
        """Return the next position that is not a space, a line break, or in a comment."""
        found = _BLANKS.match(self.text, position)
        return position if found is None else found.end()

    def _find_comments(self) -> Iterator[int]:
        """Yield the starts of comments; a `#` in a scalar does not start one."""
        position = 0
        for start, end in [*sorted(self._scalars), (len(self.text), 0)]:
            yield from (found.start() for found in _COMMENT.finditer(self.text, position, start))
            position = end

    def _node(self, node: Node, value: JsonValue, number: int, anchors: dict[str, Node]) -> Node:
        """Complete the node of a value, given its slot and its number in the document."""
        text, (event, ending) = self.text, self._document.spans[number]
        node.start, node.end, node.anchor = event.start_mark.index, ending.end_mark.index, event.anchor or ""
        if not hasattr(event, "tag"):
            node.style = "alias"
            anchors[event.anchor].is_shared = True
            return node
        if node.anchor:
            anchors[node.anchor] = node
            node.slot = node.start + 1 + len(node.anchor)
            node.start = self.skip_blanks(node.slot)
        if event is not ending:
            node.style = "block"
            if event.flow_style:
                node.style = "flow" if text[node.start] in "{[" else "pair"
            self._add_items(node, value, number, anchors)
            return node
        node.start = min(node.start, node.end)  # after an anchor there may be nothing
        node.style = event.style or ""
        if node.style in ("|", ">"):
            node.end = _end_of_block(text, node.start, node.end)
            self._scalars.append((self.line_end(node.start), node.end))  # its header may have a comment
        else:
            self._scalars.append((node.start, node.end))
        return node

    def _add_items(self, node: Node, value: Any, number: int, anchors: dict[str, Node]) -> None:
        position = node.start + (node.style == "flow")
        for name, (key_number, value_number) in self._document.children(value, number):
            position = self.skip_blanks(position)
            if node.style == "flow" and self.text[position] == ",":
                position = self.skip_blanks(position + 1)
            item = Node(position, column=self.column(position), in_flow=node.in_flow or node.style != "block")
            if key_number != value_number:
                item.key = self._node(Node(position), name, key_number, anchors)
                colon = self.skip_blanks(item.key.end)
                item.has_no_colon = self.text[colon : colon + 1] != ":"
                item.slot = item.key.end if item.has_no_colon else colon + 1
            elif node.style == "block":
                item.slot = position + 1
            node.items[name] = self._node(item, value[name], value_number, anchors)
            position = item.end
            if node.style != "flow":
                node.end = position


def _end_of_block(text: str, start: int, end: int) -> int:
    """Return the end of the content of a literal or folded scalar, without lines that its header drops."""
    header = _HEADER.match(text, start)
    if header is None or _BREAK.search(text, start, end) is None:
        return start if header is None else header.end()
    lines = [line[0] for line in _LINE.finditer(text, start, end)]
    contents = [line.rstrip("\r\n") for line in lines[1:]]
    indent = min((len(line) - len(line.lstrip(" ")) for line in contents if line.strip(" ")), default=0)
    while contents and "+" not in header[1] and not contents[-1].strip(" ") and len(contents[-1]) <= indent:
        contents.pop()
    if not contents:
        return header.end()
    return start + sum(map(len, lines[: len(contents)])) + len(contents[-1])
