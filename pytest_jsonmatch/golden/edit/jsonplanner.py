"""Edits of JSON, planned."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, final

from pytest_jsonmatch.golden.edit.planner import Planner
from pytest_jsonmatch.golden.nodes import walk
from pytest_jsonmatch.golden.writing import JsonWriter

if TYPE_CHECKING:
    from pytest_jsonmatch.golden.edit.changes import Changes
    from pytest_jsonmatch.golden.nodes import Item, Node

__all__ = ["JsonPlanner"]


@final
class JsonPlanner(Planner):
    """Plans edits of JSON, in the style of what is there."""

    drops_last_comma = True
    _found: JsonWriter | None = None

    def replace(self, item: Item | None, node: Node, new: Any, in_flow: bool) -> None:  # noqa: ARG002
        """Plan a new value in the place of what a node says."""
        line = self.line_start(node.body if item is None else item.start)
        found = re.match(r"[ \t]*", self.text[line:])
        indent = "" if found is None else found[0]
        self.put(node.body, node.end, self._writer(node).value(new, indent))

    def restructure(self, node: Node, changes: Changes) -> None:
        """Plan what takes items out of a container and puts new ones in."""
        self.restructure_flow(node, changes)

    def entry(self, node: Node, key: str | None, value: Any, indent: str) -> str:
        """Return a new member or element."""
        writer = self._writer(node)
        return writer.value(value, indent) if key is None else writer.member(key, value, indent)

    def separator(self, node: Node) -> str:
        """Return what stands between the items of a container on one line."""
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
