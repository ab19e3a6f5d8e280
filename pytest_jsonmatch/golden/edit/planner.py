"""Edits of a text, planned: what YAML and JSON have in common."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_jsonmatch.golden.edit.changes import identical, of_elements, of_members
from pytest_jsonmatch.golden.nodes import skip_blanks, walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.golden.edit.changes import Changes, Trail
    from pytest_jsonmatch.golden.nodes import Item, Node

__all__ = ["BREAK", "COMMENT_LINE", "Edit", "Planner", "RefusedError", "newline_of"]

BREAK: Final = re.compile(r"\r\n|\r|\n")
COMMENT_LINE: Final = re.compile(r"[ \t]*#")
_REST_OF_ITEM: Final = re.compile(r"[ \t]*,?[ \t]*(?:#[^\r\n]*)?(?=[\r\n]|\Z)")


class Edit(NamedTuple):
    """Characters to take out, from `start` to before `end`, and text to put there."""

    start: int
    end: int
    text: str


class RefusedError(Exception):
    """Why a change can't be made."""


def newline_of(text: str) -> str:
    """Return the first line break of a text."""
    found = BREAK.search(text)
    return "\n" if found is None else found[0]


class Planner(ABC):
    """Plans edits of one text; those of YAML and of JSON differ in how values are written."""

    def __init__(self, text: str, tree: Node) -> None:
        self.text = text
        self.tree = tree
        self.newline = newline_of(text)
        self.has_old_breaks = "\r" in text.replace("\r\n", "")
        self.edits: list[Edit] = []

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
                raise RefusedError(f"{_named(trail)} is not in the file")
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
            changes = of_members(old, new)
        elif old and new and type(old) is type(new) is list:
            changes = of_elements(old, new)
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
                raise RefusedError(
                    f"{_named(trail)} has keys behind question marks; write them as `key: value` first"
                )
            self.restructure(node, changes)

    @abstractmethod
    def replace(self, item: Item | None, node: Node, new: Any, in_flow: bool) -> None:
        """Plan a new value in the place of what a node says."""

    @abstractmethod
    def restructure(self, node: Node, changes: Changes) -> None:
        """Plan what takes items out of a container and puts new ones in."""

    def _must_be_own(self, node: Node, trail: Trail) -> None:
        """Refuse what stands somewhere else, or is what others stand for."""
        if node.kind == "alias":
            raise RefusedError(
                f"{_named(trail)} is an alias, *{node.name}: a change would change what others see; "
                "write the value itself there first"
            )
        if node.shared:
            raise RefusedError(
                f"{_named(trail)} is anchored as &{node.name}, and aliases stand for it: a change would "
                "change them too; write the value itself there first"
            )

    def _must_not_be_used(self, node: Node, trail: Trail) -> None:
        """Refuse to take away what others stand for."""
        for each in walk(node):
            if each.shared:
                raise RefusedError(
                    f"{_named(trail)} holds &{each.name}, and aliases stand for it; "
                    "write their values themselves there first"
                )

    # Lines, by positions in the text.

    def line_start(self, position: int) -> int:
        """Return where the line of a position begins."""
        start = self.text.rfind("\n", 0, position) + 1
        if self.has_old_breaks:
            start = max(start, self.text.rfind("\r", 0, position) + 1)
        return start

    def line_end(self, position: int) -> int:
        """Return where the line of a position ends, before its line break."""
        found = BREAK.search(self.text, position)
        return len(self.text) if found is None else found.start()

    def next_line(self, position: int) -> int:
        """Return where the line after that of a position begins."""
        found = BREAK.search(self.text, position)
        return len(self.text) if found is None else found.end()

    def column(self, position: int) -> int:
        """Return how far into its line a position is."""
        return position - self.line_start(position)

    def opens_line(self, position: int) -> bool:
        """Tell whether only spaces stand before a position in its line."""
        return not self.text[self.line_start(position) : position].strip(" \t")

    def put(self, start: int, end: int, text: str) -> None:
        """Plan a text in the place of what stands between two positions."""
        self.edits.append(Edit(start, end, text))

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
            if inside or not COMMENT_LINE.match(self.text, start):
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

    @abstractmethod
    def entry(self, node: Node, key: str | None, value: Any, indent: str) -> str:
        """Return a new member or element between brackets."""

    def restructure_flow(self, node: Node, changes: Changes) -> None:
        """Plan what takes items out from between brackets and puts new ones in."""
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

    def _refill(self, node: Node, changes: Changes) -> None:
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
            raise RefusedError("a comment stands inside what would have to go; move it first")

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
