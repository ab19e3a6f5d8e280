"""The plan of edits in a text, for YAML and JSON alike, in the style of the text."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.equality import json_equal
from pytest_jsonmatch.engine.value.paths import format_path
from pytest_jsonmatch.engine.value.text import render
from pytest_jsonmatch.golden.edit.changes import changes_between
from pytest_jsonmatch.golden.edit.source import BREAK, COMMENT_LINE, skip_blanks
from pytest_jsonmatch.golden.writing import JsonWriter, YamlWriter, block_scalar, yaml_scalar
from pytest_jsonmatch.golden.yamlevents import HALF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.golden.edit.changes import Changes, New
    from pytest_jsonmatch.golden.edit.source import Item, Node, Source
    from pytest_jsonmatch.golden.errors import Trail

_REST_OF_ITEM: Final = re.compile(r"[ \t]*,?[ \t]*(?:#[^\r\n]*)?(?=[\r\n]|\Z)")
_HEADER: Final = re.compile(r"[|>][+-]?[0-9]?[+-]?")


class Edit(NamedTuple):
    """Characters to remove, from `start` to before `end`, and the text to insert there."""

    start: int
    end: int
    text: str


class RefusedError(Exception):
    """A change can't be made; the message says why."""


@final
class Planner:
    """Plans edits of one text.

    Args:
        source: the text.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text
        self.json = _json_style(source) if source.is_json else None
        self.yaml = YamlWriter() if source.is_json else _yaml_style(source)
        self.edits: list[Edit] = []

    def place(self, trail: Trail, new: JsonValue) -> None:
        """Plan a value at a trail: a change of the value there, or a new member."""
        if self.json is None and HALF.search(render(new)):
            raise RefusedError("the new value holds half of a character, which YAML can't express")
        node, value = self.source.root, self.source.value
        for depth, step in enumerate(trail):
            _must_be_own(node, trail[:depth])
            index: Any = step
            if type(value) is dict:
                if step not in value and depth == len(trail) - 1:
                    self.change(node, value, {**value, str(step): new}, trail[:depth])
                    return
                index = next((index for index, key in enumerate(value) if key == step), None)
            if type(index) is not int or index >= len(node.items):
                raise RefusedError(f"{_named(trail)} is not in the file")
            node, value = node.items[index].node, value[step]
        self.change(node, value, new, trail)

    def change(self, node: Node, old: Any, new: Any, trail: Trail) -> None:
        """Plan the change of an old value into a new one."""
        if json_equal(old, new, strict=True):
            return
        _must_be_own(node, trail)
        changes = changes_between(old, new)
        if changes is None or (changes.is_structural and node.style == "pair"):
            _must_not_be_used(node, trail)
            self.replace(node, new)
            return
        for index, (key, value) in enumerate(old.items() if type(old) is dict else enumerate(old)):
            kept, inner = changes.kept[index], node.items[index]
            if kept is not MISSING:
                self.change(inner.node, value, kept, (*trail, key))
                continue
            _must_not_be_used(inner.node, (*trail, key))
            if inner.key is not None:
                _must_not_be_used(inner.key, (*trail, key))
        if changes.is_structural:
            self._restructure(node, changes)

    def put(self, start: int, end: int, text: str) -> None:
        """Plan the replacement of the text between two positions."""
        self.edits.append(Edit(start, end, text))

    def _drop_lines(self, start: int, end: int) -> None:
        """Remove whole lines, except for comments."""
        for line in self.source.without_comments(start, end):
            self.put(*line, "")

    def _refuse_comments(self, start: int, end: int) -> None:
        if self.source.has_comment(start, end):
            raise RefusedError("a comment is inside the text to remove; move it first")

    # Items that are removed and added.

    def _restructure(self, node: Node, changes: Changes) -> None:
        """Plan removed and added items between each two that stay."""
        items = node.items
        in_lines = node.style == "block" or all(map(self._has_own_lines, items))
        staying = [index for index, kept in enumerate(changes.kept) if kept is not MISSING]
        for left, right in zip([-1, *staying], [*staying, len(items)]):
            added = [each for place in range(left + 1, right + 1) for each in changes.added.get(place, ())]
            if added or right - left > 1:
                change = self._change_lines if in_lines else self._change_text
                change(node, left, right, added)

    def _change_text(self, node: Node, left: int, right: int, added: Sequence[New]) -> None:
        """Plan new text between two items that stay; -1 and the number of items stand for the brackets."""
        items = node.items
        between = self._between(node, items[min(left + 1, len(items) - 1)])
        start, end = items[0].start if left < 0 else items[left].node.end, items[-1].node.end
        if right < len(items):
            start, end = items[left + 1].start, items[right].start
        if right - left > 1:
            self._refuse_comments(start, end)
        texts = [self._entry(node, each) for each in added]
        if right < len(items):
            self.put(start, end, "".join(f"{each}{between}" for each in texts))
        else:
            self.put(start, end, between.join([""] * (left >= 0) + texts))

    def _change_lines(self, node: Node, left: int, right: int, added: Sequence[New]) -> None:
        """Plan new lines between two items that stay; comments on lines of their own are kept."""
        items, source = node.items, self.source
        begin = left + 1
        if begin < right and not source.opens_line(items[begin].start):
            begin = self._drop_first_of_compact(node, right)
        for each in items[begin:right]:
            self._drop_lines(source.line_start(each.start), source.next_line(each.node.end))
        if node.style == "block":
            lead = " " * source.column(items[0].start)
            lines = [line for each in added for line in self._new_lines(node, each)]
            text = self._lines(lines, len(lead))
        else:
            lead, comma = source.indent(items[0].start), ","
            if right == len(items):
                comma = self._end_with_comma(node, left, is_followed=bool(added))
            text = f",{source.newline}{lead}".join(self._entry(node, each) for each in added)
            text = f"{lead}{text}{comma}{source.newline}"
        at = source.next_line(items[right - 1].node.end) if right else items[0].start
        if added:
            self.put(at, at, text if right else text.removeprefix(lead) + lead)

    def _end_with_comma(self, node: Node, left: int, *, is_followed: bool) -> str:
        """Plan the comma after the last item that stays; return what ends the last line."""
        items = node.items
        comma = "" if self._comma_after(items[-1]) is None else ","
        if is_followed and left == len(items) - 1 and not comma:
            self.put(items[left].node.end, items[left].node.end, ",")
        elif not is_followed and self.json is not None:
            found = self._comma_after(items[left])
            if found is not None:
                self.put(found, found + 1, "")
        return comma

    def _has_own_lines(self, item: Item) -> bool:
        """Tell whether there is nothing but a comma and a comment beside an item between brackets."""
        rest = _REST_OF_ITEM.match(self.text, item.node.end)
        return rest is not None and self.source.opens_line(item.start)

    def _comma_after(self, item: Item) -> int | None:
        found = skip_blanks(self.text, item.node.end)
        return found if self.text[found] == "," else None

    def _between(self, node: Node, item: Item) -> str:
        """Return the separator of items at this place."""
        if self.source.opens_line(item.start):
            return f",{self.source.newline}{self.source.indent(item.start)}"
        for one, other in zip(node.items, node.items[1:]):
            between = self.text[one.node.end : other.start]
            if re.fullmatch(r"[ \t]*,[ \t]*", between):
                return between
        return ", " if self.json is None else self.json.comma

    def _entry(self, node: Node, new: New) -> str:
        """Return a new member or element between brackets."""
        key, value = new
        if self.json is None:
            style = self._style_of(node)
            text = style.flow(value)
            return text if key is None else f"{style.key(key, flow=True)}: {text}"
        first = node.items[0].start
        is_lined = self.source.opens_line(first)
        writer = self.json if is_lined else replace(self.json, unit=None)
        indent = self.source.indent(first) if is_lined else ""
        return writer.value(value, indent) if key is None else writer.member(key, value, indent)

    # A new value in place of an old one.

    def replace(self, node: Node, new: Any) -> None:
        """Plan a new value in place of a node's."""
        if self.json is not None:
            indent = self.source.indent(node.body if node.item is None else node.item.start)
            is_lined = not node.items or self.source.opens_line(node.items[0].start)
            writer = self.json if is_lined else replace(self.json, unit=None)
            self.put(node.body, node.end, writer.value(new, indent))
            return
        if node.style in {"flow", "pair"}:
            self._refuse_comments(node.body, node.end)
        if self._wants_block(node, new):
            self._write_block(node, new)
            return
        if node.style in {"|", ">"} and type(new) is str and self._write_block_scalar(node, new):
            return
        if type(new) in {dict, list}:
            text = self._style_of(node).flow(new)
        else:
            text = yaml_scalar(new, node.style if node.style in {"'", '"'} else "", flow=node.in_flow)
        if node.style == "block" and self.source.opens_line(node.items[0].start):
            self._drop_lines(*self._lines_of(node))
            at = self._lines_of(node)[0] if node.item is None else _slot(node.item)
            self.put(at, at, f"{text}{self.source.newline}" if node.item is None else f" {text}")
        else:
            self._put_inline(node, text)

    def _put_inline(self, node: Node, text: str) -> None:
        """Replace a value that begins behind a key, a dash or a comma."""
        source = self.source
        if node.style == "block":
            self._put_compact(node.items[0].start, node.end, text)
            return
        end = node.end
        if node.style in {"|", ">"}:
            end = self._header_end(node)
            if source.line_end(end) < node.end:
                self.put(source.line_end(end), node.end, "")
        elif text and node.body == node.end:
            if node.item is not None and node.item.bare:
                text = f": {text}"
            elif self.text[node.body - 1 : node.body] not in {" ", "\t"}:
                text = f" {text}"
        self.put(node.body, end, text)

    def _put_compact(self, start: int, end: int, text: str) -> None:
        """Replace text that begins in a line; comments on later lines are kept."""
        self.put(start, self.source.line_end(start), text)
        self._drop_lines(self.source.next_line(start), self.source.next_line(end))

    def _header_end(self, node: Node) -> int:
        found = _HEADER.match(self.text, node.body)
        return node.body if found is None else found.end()

    def _lines_of(self, node: Node) -> tuple[int, int]:
        """Return where the lines of a block begin and end."""
        return self.source.line_start(node.items[0].start), self.source.next_line(node.end)

    def _wants_block(self, node: Node, new: Any) -> bool:
        """Tell whether an object or array gets lines of its own."""
        if node.in_flow or type(new) not in {dict, list} or not new:
            return False
        if node.style == "flow":
            inner = new.values() if type(new) is dict else new
            if node.items or not any(type(each) in {dict, list} and each for each in inner):
                return False
        if node.style == "block":
            return self.source.opens_line(node.items[0].start)
        if node.item is not None:
            return node.item.key is not None
        # A comment behind the value would have to move.
        rest = self.text[node.end : self.source.line_end(node.end)]
        return node.name is None and not rest.strip(" \t")

    def _write_block(self, node: Node, new: Any) -> None:
        """Replace any value by an object or array on lines of its own."""
        source, writer, item = self.source, self._style_of(node), node.item
        step = writer.step if type(new) is dict else writer.list_step
        text = self._lines(writer.lines(new), 0 if item is None else source.column(item.start) + step)
        if node.style == "block":
            at, end = self._lines_of(node)
            self.put(at, at, text)
            self._drop_lines(at, end)
        elif item is None:
            self._put_inline(node, text.removesuffix(source.newline))
        else:
            self.put(_slot(item), node.body, "")
            self._put_inline(node, "")
            at = source.next_line(node.end)
            self.put(at, at, text)

    def _write_block_scalar(self, node: Node, new: str) -> bool:
        """Replace the text of a literal or folded scalar; return whether that is possible."""
        end = self._header_end(node)
        content = self.source.next_line(end)
        parent = 0 if node.item is None else self.source.column(node.item.start)
        filled = [line for line in BREAK.split(self.text[content : node.end]) if line.strip(" ")]
        indent = min((len(line) - len(line.lstrip(" ")) for line in filled), default=parent + self.yaml.step)
        keeps = "+" in self.text[node.body : end]
        block = block_scalar(new, node.style, indent=indent, parent=parent, keeps=keeps)
        if block is None:
            return False
        self.put(node.body, end, block[0])
        if content < node.end:
            self.put(content, node.end, self.source.newline.join(block[1:]))
        else:
            at = self.source.line_end(end)
            self.put(at, at, "".join(f"{self.source.newline}{line}" for line in block[1:]))
        return True

    def _drop_first_of_compact(self, node: Node, right: int) -> int:
        """Remove the first items of a block that begins behind a dash; return how many."""
        items = node.items
        if right < len(items):
            start, end = items[0].start, items[right].start
            if not any(COMMENT_LINE.match(line) for line in BREAK.split(self.text[start:end])[1:]):
                self.put(start, end, "")
                return right
        self._put_compact(items[0].start, items[0].node.end, "")
        return 1

    def _new_lines(self, node: Node, new: New) -> list[str]:
        style, (key, value) = self._style_of(node), new
        if type(value) in {dict, list} and value and _prefers_flow(node):
            return [f"{'-' if key is None else f'{style.key(key)}:'} {style.flow(value)}"]
        return style.element(value) if key is None else style.member(key, value)

    def _lines(self, lines: Sequence[str], column: int) -> str:
        return "".join(f"{' ' * column if line else ''}{line}{self.source.newline}" for line in lines)

    def _style_of(self, node: Node) -> YamlWriter:
        """Return a writer with the quotes of the last string and of the last key of a container."""
        key = node.items[-1].key if node.items else None
        key_quote = key.style if key is not None and key.style in {"'", '"'} else ""
        quote = ""
        for each in (item.node for item in reversed(node.items) if item.node.kind == "scalar"):
            if each.style in {"'", '"'}:
                quote = each.style
            if quote or re.match(r"(?!(?:true|false|null)\Z)[^\W\d]", self.text[each.body : each.end]):
                break
        return replace(self.yaml, quote=quote, key_quote=key_quote)


def _slot(item: Item) -> int:
    """Return where a value begins: behind its anchor, if it has one."""
    node = item.node
    return item.slot if node.name is None else node.start + 1 + len(node.name)


def _prefers_flow(node: Node) -> bool:
    """Tell whether the objects and arrays among the items of a container are between brackets."""
    inner = [each.node for each in node.items if each.node.items]
    return bool(inner) and all(each.style != "block" for each in inner)


def _must_be_own(node: Node, trail: Trail) -> None:
    """Refuse to change an alias, or a value that has aliases."""
    if node.kind == "alias":
        raise RefusedError(
            f"{_named(trail)} is an alias, *{node.name}: a change would also change the other places; "
            "write the value itself there first"
        )
    if node.shared:
        raise RefusedError(
            f"{_named(trail)} is anchored as &{node.name}, and aliases refer to it: a change would "
            "change them too; write the value itself there first"
        )


def _must_not_be_used(node: Node, trail: Trail) -> None:
    """Refuse to remove a value that has aliases."""
    for each in node.walk():
        if each.shared:
            raise RefusedError(
                f"{_named(trail)} holds &{each.name}, and aliases refer to it; "
                "write their values themselves there first"
            )


def _named(trail: Trail) -> str:
    """Return a trail as text, from `expected` on if it leads through that."""
    steps = list(trail)
    if "expected" in steps and steps[0] in {"cases", "expected"}:
        steps = steps[steps.index("expected") :]
    return format_path(steps) if steps else "the value"


# -- the style of a text -----------------------------------------------------------------------------------


def _yaml_style(source: Source) -> YamlWriter:
    """Return a writer that indents as the text does."""
    step = list_step = None
    padding = ""
    for node in source.root.walk():
        if node.kind == "object" and node.style == "flow" and source.text[node.body + 1] == " ":
            padding = " "
        if node.kind != "object" or node.style != "block":
            continue
        for item in node.items:
            deeper = source.column(item.node.body) - source.column(item.start)
            if item.node.style == "block" and item.node.kind == "object":
                step = deeper
            elif item.node.style == "block":
                list_step = deeper
    return YamlWriter(step or 2, 2 if list_step is None else list_step, padding=padding)


def _json_style(source: Source) -> JsonWriter:
    """Return a writer with the separators, the indentation and the escapes of the text."""
    text = source.text
    colon = comma = unit = None
    for node in source.root.walk():
        for item, following in zip(node.items[:1], [*node.items[1:2], None]):
            if item.key is not None:
                colon = text[item.key.end : item.node.body]
            if unit is None and source.opens_line(item.start):
                inner, outer = source.indent(item.start), source.indent(node.body)
                unit = inner.removeprefix(outer) if inner.startswith(outer) else "  "
            between = "" if following is None else text[item.node.end : following.start]
            if between.strip(" \t") == ",":
                comma = between
    if comma is None:
        comma = "," if colon == ":" else ", "
    if colon is None or colon.strip(" \t") != ":":
        colon = ":" if comma == "," else ": "
    is_ascii = text.isascii() and "\\u" in text
    return JsonWriter(colon, comma, is_ascii, source.newline, unit if source.root.items else "  ")
