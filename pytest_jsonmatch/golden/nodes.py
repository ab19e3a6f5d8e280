"""Where every value of a YAML or JSON text begins and ends, to the character: what an edit has to know."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, final

from pytest_jsonmatch.golden.yamlevents import hide_old_breaks

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Item", "Kind", "Node", "json_tree", "skip_blanks", "walk", "yaml_tree"]

Kind: TypeAlias = Literal["scalar", "object", "array", "alias"]


@final
@dataclass(slots=True, eq=False)
class Node:
    """A value in a text.

    Args:
        kind: what stands there.
        start: its first character, that of its anchor if it has one.
        body: its first character without the anchor.
        end: after its last character. The line break that ends a block is not part of it.
        style: of a scalar: empty (plain), a quote, `|` or `>`; of a container: "block", "flow", or "pair"
            (the one member that `[a: 1]` makes a mapping of, without braces).
        name: of an anchor, or of what an alias stands for.
        shared: whether aliases stand for it.
        items: what a container holds.
    """

    kind: Kind
    start: int
    body: int
    end: int
    style: str
    name: str | None = None
    shared: bool = False
    items: list[Item] = field(default_factory=list)


@final
@dataclass(slots=True, eq=False)
class Item:
    """A member of an object or an element of an array.

    Args:
        start: where it begins: at its dash, its question mark, its key, or its value.
        node: the value.
        key: the key of a member.
        slot: after the dash or the colon, where the value may begin.
        bare: a member without a colon, as in `{a}`.
        explicit: a member whose key follows a question mark.
    """

    start: int
    node: Node
    key: Node | None
    slot: int
    bare: bool = False
    explicit: bool = False


_ANCHOR: Final = re.compile(r"&[^\s,\[\]{}]+")
_BLANKS: Final = re.compile(r"(?:[ \t\r\n]+|#[^\r\n]*)*")
_HEADER: Final = re.compile(r"[|>]([+-]?[0-9]?[+-]?)")
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")


def skip_blanks(text: str, position: int) -> int:
    r"""Return the first position that is no space, no line break, and in no comment.

    >>> skip_blanks("a: # b\n  c", 2)
    9
    """
    found = _BLANKS.match(text, position)
    return position if found is None else found.end()


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and all nodes below it, keys too."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        for item in node.items:
            if item.key is not None:
                waiting.append(item.key)
            waiting.append(item.node)


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
        return _from_events(text, parser.get_event, yaml.events)
    finally:
        parser.dispose()


# `Any`: PyYAML's events are untyped.
def _from_events(text: str, get_event: Any, events: Any) -> Node:
    get_event()
    get_event()
    anchors: dict[str, Node] = {}
    stack: list[Node] = []
    key: Node | None = None
    while True:
        event = get_event()
        kind = type(event)
        if kind is events.MappingEndEvent or kind is events.SequenceEndEvent:
            node = stack.pop()
            node.end = event.end_mark.index if node.style == "flow" else node.items[-1].node.end
            if not stack:
                return node
            continue
        node = _node(text, event, events)
        if kind is events.AliasEvent:
            anchors[event.anchor].shared = True
        elif event.anchor is not None:
            anchors[event.anchor] = node
        if stack:
            if stack[-1].kind == "object" and key is None:
                key = node
                continue
            stack[-1].items.append(_item(text, stack[-1], key, node))
            key = None
        if node.kind in ("object", "array"):
            stack.append(node)
        elif not stack:
            return node


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
    body = min(body, end)  # there may be nothing behind an anchor
    style = event.style or ""
    if style in ("|", ">"):
        end = _end_of_block(text, body, end)
    return Node("scalar", start, body, end, style, event.anchor)


def _end_of_block(text: str, body: int, end: int) -> int:
    """Return where the content of a literal or folded scalar ends, without what its header tells to drop."""
    header = _HEADER.match(text, body)
    lines: list[tuple[int, int]] = []
    position = body
    while position < end:
        line = _LINE.match(text, position)
        if line is None:
            break
        lines.append((position, line.end()))
        position = line.end()
    keeps = header is not None and "+" in header[1]
    contents = [text[first:last].rstrip("\r\n") for first, last in lines]
    indent = min((len(line) - len(line.lstrip(" ")) for line in contents[1:] if line.strip(" ")), default=0)
    while len(lines) > 1 and not keeps and not contents[-1].strip(" ") and len(contents[-1]) <= indent:
        lines.pop()
        contents.pop()
    if len(lines) == 1:
        return body if header is None else header.end()
    return lines[-1][0] + len(contents[-1])


def _item(text: str, parent: Node, key: Node | None, node: Node) -> Item:
    at = parent.items[-1].node.end if parent.items else parent.body + (parent.style == "flow")
    at = skip_blanks(text, at)
    if parent.style == "flow" and parent.items and text[at : at + 1] == ",":
        at = skip_blanks(text, at + 1)
    if key is None:
        return Item(at, node, None, at + 1 if parent.style == "block" else node.start)
    explicit = at < key.start and text[at : at + 1] == "?"
    colon = skip_blanks(text, key.end)
    bare = text[colon : colon + 1] != ":"
    start = at if explicit else key.start
    return Item(start, node, key, key.end if bare else colon + 1, bare=bare, explicit=explicit)


_JSON_TOKEN: Final = re.compile(r'[ \t\r\n]*("(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+)', re.DOTALL)


def json_tree(text: str) -> Node:
    """Return the root of a text that is strict JSON.

    >>> [item.node.start for item in json_tree('{"a": 1, "b": [2]}').items]
    [6, 14]
    """
    stack: list[Node] = []
    key: Node | None = None
    slot = position = 0
    while True:
        found = _JSON_TOKEN.match(text, position)
        if found is None:
            raise ValueError("the text ends in the middle of a value")
        part, start, position = found[1], found.start(1), found.end()
        if part == ",":
            continue
        if part == ":":
            slot = position
            continue
        if part in ("}", "]"):
            node = stack.pop()
            node.end = position
            if not stack:
                return node
            continue
        if part in ("{", "["):
            node = Node("object" if part == "{" else "array", start, start, start, "flow")
        else:
            node = Node("scalar", start, start, position, '"' if part[0] == '"' else "")
            if stack and stack[-1].kind == "object" and key is None:
                key = node
                continue
        if stack:
            begin = start if key is None else key.start
            stack[-1].items.append(Item(begin, node, key, start if key is None else slot))
            key = None
        if part in ("{", "["):
            stack.append(node)
        elif not stack:
            return node
