"""Canonical forms: which elements are equal under a plan, and a text to order them by.

Transforms are applied, skipped fields left out, and unordered arrays inside are multisets. Containers are
interned, so that a form is hashed and compared one level at a time, whatever the depth.
"""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.paths import ELEMENT
from pytest_jsonmatch.engine.value.text import number_text

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

__all__ = ["Canon"]

_NUMBERS: Final = frozenset({int, float, Decimal})
# Booleans are no numbers: True would be equal to 1, as a key too.
_TRUE: Final = ("true",)
_FALSE: Final = ("false",)
_SKIPPED: Final = ("skipped",)


@final
class _Form:
    """A container's form: one object for all containers that are equal under the plan."""

    __slots__ = ()


@final
class Canon:
    """Canonical forms under one plan; those of one Canon can be compared."""

    __slots__ = ("_forms", "_known", "_nulls_absent")

    def __init__(self, *, nulls_absent: bool) -> None:
        self._forms: dict[Hashable, _Form] = {}
        # Containers by their id, so that what is nested is not gone through again at every level.
        self._known: dict[int, Any] = {}
        self._nulls_absent = nulls_absent

    def keys(self, element: PlanNode, *sides: list[JsonValue]) -> list[list[Hashable]]:
        """Return, side by side, what equal elements share; MISSING for one that equals nothing."""
        if not self._nulls_absent and element.explicit is None and _plain(element):
            kinds = {type(value) for side in sides for value in side}
            if kinds == {str}:
                return [list(side) for side in sides]
            if kinds == {dict} and self._flat(element, sides):
                return [[frozenset(value.items()) for value in side] for side in sides]
        return [[self.key(element, value) for value in side] for side in sides]

    @staticmethod
    def _flat(element: PlanNode, sides: tuple[list[dict[str, JsonValue]], ...]) -> bool:
        """Tell whether objects of scalars are equal under the plan just where Python finds them equal."""
        kinds = {(key, type(item)) for side in sides for value in side for key, item in value.items()}
        types = {kind for _, kind in kinds}
        if dict in types or list in types:
            return False
        if bool in types:
            # A boolean is equal to a number in Python, so where both are found Python must not be asked.
            with_flags = {key for key, kind in kinds if kind is bool}
            if any(key in with_flags and kind in _NUMBERS for key, kind in kinds):
                return False
        if float in types:
            total = sum(
                item for side in sides for value in side for item in value.values() if type(item) is float
            )
            if total - total != 0.0:  # not a finite number, or a sum beyond the doubles: look closer
                return False
        return all(_plain(element.children[key]) for key in {key for key, _ in kinds})

    def key(self, node: PlanNode, value: JsonValue) -> Hashable:
        """Return what values share that are equal under the plan; MISSING for one that equals nothing."""
        key: Hashable = _fold(
            node, value, _scalar_key, self._intern, known=self._known, nulls_absent=self._nulls_absent
        )
        return key

    def text(self, node: PlanNode, value: JsonValue) -> str:
        """Return the canonical JSON text: keys sorted, no spaces, integral numbers without a fraction."""
        text: Any = _fold(
            node, value, _scalar_text, _container_text, known={}, nulls_absent=self._nulls_absent
        )
        return "…" if text is _SKIPPED else str(text)

    def _intern(self, kind: str, parts: list[Any], keys: list[str]) -> Hashable:
        if MISSING in parts:
            return MISSING
        flat: Hashable
        if kind == "object":
            flat = frozenset(zip(keys, parts))
        elif kind == "multiset":
            flat = (kind, frozenset(Counter(parts).items()))
        else:
            flat = (kind, *parts)
        return self._forms.setdefault(flat, _Form())


def _plain(node: PlanNode) -> bool:
    """Tell whether scalars at a node are compared as they are."""
    return not (node.skip or node.transforms) and node.branches is None


def _scalar_key(value: JsonValue) -> Any:
    if type(value) is bool:
        return _TRUE if value else _FALSE
    if type(value) is float and value - value != 0.0:
        return MISSING
    return value


# (json.dumps makes an encoder at each call.)
_quoted: Final = json.JSONEncoder(ensure_ascii=False).encode


def _scalar_text(value: JsonValue) -> str:
    if type(value) is str:
        return _quoted(value)
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) in {int, float, Decimal}:
        return number_text(value)
    return json.dumps(value)


def _container_text(kind: str, parts: list[Any], keys: list[str]) -> str:
    texts = ["…" if part is _SKIPPED else part for part in parts]
    if kind == "object":
        pairs = sorted(zip(keys, texts))
        members = (text if text == "…" else f"{_quoted(key)}:{text}" for key, text in pairs)
        return "{" + ",".join(members) + "}"
    return "[" + ",".join(sorted(texts) if kind == "multiset" else texts) + "]"


def _fold(
    node: PlanNode,
    value: JsonValue,
    scalar: Callable[[JsonValue], Any],
    combine: Callable[[str, list[Any], list[str]], Any],
    *,
    known: dict[int, Any],
    nulls_absent: bool,
) -> Any:
    """Make one form of a value, from the leaves up, with an explicit stack.

    `known` holds the forms of containers by id; one container stands at one place of one document.
    """
    if node.branches is not None:
        node = node.chosen(value, MISSING)
        if node.skip:
            return _SKIPPED
    if type(value) is not dict and type(value) is not list:
        return scalar(node.prepare(value))
    if (form := known.get(id(value))) is not None:
        return form
    # A frame: (kind, members still to do, forms done, their keys). A node of None: a value that a
    # comparator takes whole, to which no rule of the plan applies any more.
    top: list[Any] = []
    stack = [_frame(node, value, nulls_absent=nulls_absent)]
    while stack:
        kind, members, parts, keys, ident = stack[-1]
        for key, below, item in members:
            keys.append(key)
            if below is not None and below.branches is not None:
                below = below.chosen(item, MISSING)  # noqa: PLW2901 - what holds for this value
            if below is not None and below.skip:
                parts.append(_SKIPPED)
            elif type(item) is dict or type(item) is list:
                if below is not None and (form := known.get(id(item))) is not None:
                    parts.append(form)
                    continue
                stack.append(_frame(below, item, nulls_absent=nulls_absent))
                break
            else:
                parts.append(scalar(item if below is None else below.prepare(item)))
        else:
            stack.pop()
            form = combine(kind, *_without_skipped(parts, keys))
            if ident:
                known[ident] = form
            (stack[-1][2] if stack else top).append(form)
    return top[0]


def _without_skipped(parts: list[Any], keys: list[str]) -> tuple[list[Any], list[str]]:
    """Leave skipped members out; where nothing else is, one of them stays: that is not an empty container."""
    if _SKIPPED not in parts:
        return parts, keys
    kept = [(part, key) for part, key in zip(parts, keys) if part is not _SKIPPED]
    if not kept:
        return [_SKIPPED], [""]
    return [part for part, _ in kept], [key for _, key in kept]


def _frame(
    node: PlanNode | None, value: JsonValue, *, nulls_absent: bool
) -> tuple[str, Iterator[tuple[str, PlanNode | None, JsonValue]], list[Any], list[str], int]:
    ident = id(value)
    if node is None:
        ident = 0
    elif node.explicit is not None:
        # (Transformed at every depth, it is a copy: what is in it has no id to be known by.)
        value = node.prepare(value)
        node = None
    kind = "object" if type(value) is dict else "array"
    members: Iterator[tuple[str, PlanNode | None, JsonValue]]
    if kind == "object":
        present = (
            (key, item) for key, item in value.items() if item is not None or node is None or not nulls_absent
        )
        members = ((key, None if node is None else node.children[key], item) for key, item in present)
    else:
        element = None if node is None else node.children[ELEMENT]
        members = (("", element, item) for item in value)
        if node is not None and node.align == "unordered":
            kind = "multiset"
    return kind, members, [], [], ident
