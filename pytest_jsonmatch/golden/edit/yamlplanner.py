"""Edits of YAML, planned."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.golden.edit.planner import BREAK, COMMENT_LINE, Planner
from pytest_jsonmatch.golden.nodes import walk
from pytest_jsonmatch.golden.writing import YamlWriter, block_scalar, yaml_scalar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_jsonmatch.golden.edit.changes import Changes
    from pytest_jsonmatch.golden.nodes import Item, Node

__all__ = ["YamlPlanner"]

_HEADER: Final = re.compile(r"[|>][+-]?[0-9]?[+-]?")


@final
class YamlPlanner(Planner):
    """Plans edits of YAML, in the style of what is there."""

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
            if COMMENT_LINE.match(self.text, at):
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
        """Return a new member or element between brackets."""
        style, key_style = self._style(node), self._key_style(node)
        text = self.writer.flow(value, style=style, key_style=key_style)
        return text if key is None else f"{self.writer.key(key, key_style, flow=True)}: {text}"

    # Replacing a value.

    def replace(self, item: Item | None, node: Node, new: Any, in_flow: bool) -> None:
        """Plan a new value in the place of what a node says."""
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
            lines = BREAK.split(self.text[content : node.end]) if content < node.end else []
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

    def restructure(self, node: Node, changes: Changes) -> None:
        """Plan what takes items out of a container and puts new ones in."""
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
            lines = BREAK.split(self.text[start:end])
            if not any(COMMENT_LINE.match(line) for line in lines[1:]):
                self.put(start, end, "")
                return survivor
        self._drop_compact(items[0].start, items[0].node, "")
        return 1
