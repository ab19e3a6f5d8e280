"""Edit values in the text of golden files: replace scalars, and insert new members after the last one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.value.convert import get_value, replace_value
from pytest_jsonmatch.engine.value.equality import json_equal, make_json_key
from pytest_jsonmatch.engine.value.paths import format_path
from pytest_jsonmatch.engine.value.text import render
from pytest_jsonmatch.golden.source import Source
from pytest_jsonmatch.golden.writing import (
    json_text,
    yaml_entry,
    yaml_flow,
    yaml_key,
    yaml_scalar,
)
from pytest_jsonmatch.reading.errors import GoldenFileError
from pytest_jsonmatch.reading.yamlevents import HALF

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.golden.source import Node
    from pytest_jsonmatch.reading.errors import Steps

_UNIT: Final = re.compile(r"[\r\n]([ \t]+)\S")
_COMMENT_BELOW: Final = re.compile(r"\s*#")
_UNSAFE: Final = (
    "the text around the value can't be edited so that nothing else changes; write the value by hand"
)


@final
@dataclass(frozen=True, slots=True)
class Edited:
    """The result of an edit.

    Args:
        data: the new content of the file; the old one if nothing was changed.
        refused: the reason for each change that can't be made.
        old: the old value of each change; MISSING if there was none.
    """

    data: bytes
    refused: Mapping[Steps, str]
    old: Mapping[Steps, JsonValue]


def edit(data: bytes, name: str, changes: Mapping[Steps, JsonValue]) -> Edited:
    r"""Return the content of a file with some values changed; no other value and no comment is lost.

    A scalar is replaced, and new members or elements are inserted after the last one. An object or array that
    loses some is rewritten completely; that is refused if there are comments in it. The result is read again
    before it is returned: if it differs in anything but these values, every change is refused.

    Args:
        data: the content of the file.
        name: the name of the file in errors; its suffix decides between JSON and YAML.
        changes: the new values, by the steps to them; a member that an object does not have yet is added.

    Raises:
        GoldenFileError: the file is not valid.

    >>> edit(b"a: 'x'  # why\nb: 2\n", "x.yaml", {("a",): "y"}).data
    b"a: 'y'  # why\nb: 2\n"
    >>> edit(b"a: &x {n: 1}\nb: *x\n", "x.yaml", {("b", "n"): 2}).refused
    {('b', 'n'): 'b is an alias, *x: ...'}
    """
    source = Source(data, name)
    old = {steps: get_value(source.value, steps) for steps in changes}
    refused: dict[Steps, str] = {}
    splices: list[_Splice] = []
    expected = source.value
    for steps, new in changes.items():
        plan = _Plan(source)
        try:
            plan.change_value(steps, new)
        except _RefusedError as refusal:
            refused[steps] = str(refusal)
        else:
            splices += plan.splices
            expected = replace_value(expected, steps, new)
    if not splices:
        return Edited(data, refused, old)
    parts: list[str] = []
    position = 0
    # At the same position an insertion comes before a removal.
    for splice in sorted(splices, key=lambda splice: (splice.start, splice.end != splice.start)):
        parts += (source.text[position : splice.start], splice.text)
        position = splice.end
    after = source.with_text("".join([*parts, source.text[position:]]))
    try:
        edited = Source(after, name)
        is_right = json_equal(edited.value, expected, strict=True) and edited.comments == source.comments
    except GoldenFileError:
        is_right = False
    if not is_right:
        return Edited(data, dict.fromkeys(changes, _UNSAFE) | refused, old)
    return Edited(after, refused, old)


def edit_lines(data: bytes, name: str, changes: Mapping[Steps, JsonValue]) -> Edited:
    r"""Return the content of a JSON Lines file with some values changed, as by `edit`; other lines stay.

    Args:
        data: the content of the file.
        name: the name of the file in errors, with a suffix of JSON Lines.
        changes: the new values, by the steps to them; the first step is the line, from 0.

    Raises:
        GoldenFileError: one of these lines is not valid.

    >>> edit_lines(b'{"a": 1}\n{"a":2}\n', "x.jsonl", {(1, "a"): 3}).data
    b'{"a": 1}\n{"a":3}\n'
    """
    lines = data.split(b"\n")
    by_line: dict[Any, dict[Steps, JsonValue]] = {}
    for (line, *steps), value in changes.items():
        by_line.setdefault(line, {})[tuple(steps)] = value
    refused: dict[Steps, str] = {}
    old: dict[Steps, JsonValue] = {}
    for line, line_changes in by_line.items():
        edited = edit(lines[line], f"{name}:{line + 1}", line_changes)
        lines[line] = edited.data
        refused.update({(line, *steps): reason for steps, reason in edited.refused.items()})
        old.update({(line, *steps): value for steps, value in edited.old.items()})
    return Edited(b"\n".join(lines), refused, old)


class _RefusedError(Exception):
    """A change can't be made; the message says why."""


@final
@dataclass(frozen=True, slots=True)
class _Splice:
    """The characters to remove, from `start` to before `end`, and the text to insert there."""

    start: int
    end: int
    text: str


@final
class _Plan:
    """The splices for one change of a text."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text
        self.splices: list[_Splice] = []

    def change_value(self, steps: Steps, new: JsonValue) -> None:
        """Plan a new value: a change of the old value, or a new member."""
        if not self.source.is_json and HALF.search(render(new)):
            raise _RefusedError("the new value contains a lone surrogate, which YAML can't express")
        node, value = self.source.root, self.source.value
        for depth, step in enumerate(steps):
            _check_own(node, steps[:depth])
            if step not in node.items:
                if type(value) is not dict or depth < len(steps) - 1:
                    raise _RefusedError(f"{_path_text(steps)} is not in the file")
                if value:
                    self._append(node, step, new)
                else:
                    self._replace(node, {str(step): new}, steps[:depth])
                return
            node, value = node.items[step], get_value(value, (step,))
        self._change(node, value, new, steps)

    def _change(self, node: Node, old: Any, new: Any, steps: Steps) -> None:
        """Plan the change of an old value to a new one, scalar by scalar where the structure stays."""
        if json_equal(old, new, strict=True):
            return
        _check_own(node, steps)
        can_append = self.source.is_json or node.style in {"block", "flow"}
        if type(old) is not type(new) or not node.items or not _is_extended(old, new, can_append=can_append):
            self._replace(node, new, steps)
            return
        keys: Sequence[Any] = list(new) if type(new) is dict else range(len(new))
        for key in keys[: len(old)]:
            self._change(node.items[key], old[key], new[key], (*steps, key))
        for key in keys[len(old) :]:
            self._append(node, key, new[key])

    def _add_splice(self, start: int, end: int, text: str) -> None:
        self.splices.append(_Splice(start, end, text))

    def _append(self, node: Node, key: str | int, new: JsonValue) -> None:
        """Plan a new member after the last one of an object, or a new element after that of an array."""
        source, is_element = self.source, type(key) is int
        name = str(key)
        first, last = next(iter(node.items.values())), next(reversed(node.items.values()))
        if source.is_json:
            begin = first.start if is_element else self.text.index('"', node.start)
            lead = f"{source.newline}{source.indent(begin)}" if source.opens_line(begin) else " "
            unit = self._unit() if source.opens_line(begin) else None
            head = "" if is_element else f"{json_text(name)}: "
            self._add_splice(last.end, last.end, f",{lead}{head}{json_text(new, lead, unit)}")
        elif node.style == "block":
            position = source.line_end(last.end)
            head = "-" if is_element else f"{yaml_key(name)}:"
            lines = yaml_entry(head, new, literal=self._can_end_literal(last))
            self._add_splice(position, position, self._lines(lines, first.column))
        elif node.style == "flow":
            head = "" if is_element else f"{yaml_key(name, flow=True)}: "
            self._add_splice(last.end, last.end, f", {head}{yaml_flow(new)}")
        else:
            raise _RefusedError(_UNSAFE)

    def _replace(self, node: Node, new: Any, steps: Steps) -> None:
        """Plan the replacement of the value of a node."""
        shared = node.shared()
        if shared is not None:
            raise _RefusedError(
                f"{_path_text(steps)} holds &{shared.anchor}, and aliases refer to it; "
                "write their values themselves there first"
            )
        source, begin, end = self.source, node.start, node.end
        is_block = node.style in {"block", "|", ">"}
        if source.is_json:
            is_lined = not node.items or len(self.text[begin:end].splitlines()) > 1
            lead = f"{source.newline}{source.indent(begin)}"
            text = json_text(new, lead, self._unit() if is_lined else None)
        elif is_block or (type(new) in {dict, list} and new and self._can_use_lines(node)):
            is_below = node.style == "block" and source.opens_line(begin)
            in_item = self.text[node.slot - 1 : node.slot] == "-" and not is_below
            first, *others = yaml_entry("-" if in_item else "", new, literal=self._can_end_literal(node))
            text = first.removeprefix("-") + self._lines(others, node.column)
            end = source.line_end(end)
            if node.column < 0:
                text = text.lstrip()
            else:
                # A value below its key does not change the line of the key.
                begin = node.slot if first or not is_below else source.line_end(node.slot)
        else:
            quote = node.style if node.style in {"'", '"'} else ""
            text = yaml_flow(new) if type(new) in {dict, list} else yaml_scalar(new, quote, flow=node.in_flow)
            if begin == end and node.has_no_colon:
                text = f": {text}"
            elif begin == end and self.text[begin - 1 : begin] not in {" ", "\t"}:
                text = f" {text}"
        if (node.items or is_block) and source.has_comment(begin, end):
            raise _RefusedError(
                f"rewriting {_path_text(steps)} would lose the comments in it; move them first"
            )
        self._add_splice(begin, end, text)

    def _unit(self) -> str | None:
        """Return the additional indentation of each level of JSON; None if everything is on one line."""
        found = _UNIT.search(self.text)
        if found is not None:
            return found[1]
        # (A line of JSON Lines has no line break here.)
        return None if self.source.root.items or not self.text.endswith("\n") else "  "

    def _can_end_literal(self, node: Node) -> bool:
        """Return whether a literal scalar may end here, so that no comment below becomes a part of it."""
        rest = self.text[self.source.line_end(node.end) :]
        return bool(rest) and _COMMENT_BELOW.match(rest) is None

    def _can_use_lines(self, node: Node) -> bool:
        """Return whether an object or array may be written on several lines instead of one."""
        if node.in_flow or (node.style in {"flow", "pair"} and node.items):
            return False
        rest = self.text[node.end : self.source.line_end(node.end)]
        is_placed = node.column >= 0 or self.source.opens_line(node.start)
        return is_placed and not rest.strip() and not self.source.has_comment(node.slot, node.end)

    def _lines(self, lines: Sequence[str], column: int) -> str:
        """Return lines with line breaks, indented to a column; below 0, with less indentation than now."""
        return "".join(
            f"{self.source.newline}{' ' * column if line else ''}{line[max(-column, 0) :]}" for line in lines
        )


def _is_extended(old: Any, new: Any, *, can_append: bool) -> bool:
    """Return whether a new object or array has all keys of the old one, in the same order, and maybe more.

    An array whose elements have moved does not count: their comments would stay with other elements.
    """
    if len(new) < len(old) or (len(new) > len(old) and not can_append):
        return False
    if type(old) is dict:
        return old.keys() == new.keys() if len(new) == len(old) else list(new)[: len(old)] == list(old)
    if len(new) == len(old):
        return True
    keys = {make_json_key(item, strict=True) for item in new}
    changed = (one for one, other in zip(old, new) if not json_equal(one, other, strict=True))
    return not any(make_json_key(one, strict=True) in keys for one in changed)


def _check_own(node: Node, steps: Steps) -> None:
    """Raise _RefusedError for an alias, or for a value with aliases."""
    if node.style == "alias":
        raise _RefusedError(
            f"{_path_text(steps)} is an alias, *{node.anchor}: a change would also change the other places; "
            "write the value itself there first"
        )
    if node.is_shared:
        raise _RefusedError(
            f"{_path_text(steps)} is anchored as &{node.anchor}, and aliases refer to it: a change would "
            "change them too; write the value itself there first"
        )


def _path_text(steps: Steps) -> str:
    """Return steps as a path, from `expected` on if they lead through it."""
    path = list(steps)
    if "expected" in path and path[0] in {"cases", "expected"}:
        path = path[path.index("expected") :]
    return format_path(path) if path else "the value"
