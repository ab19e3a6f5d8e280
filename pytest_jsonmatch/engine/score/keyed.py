"""Elements of keyed arrays that can't be paired, and so cost points: each is told once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_jsonmatch.engine.align.keys import key_value
from pytest_jsonmatch.engine.score.outcome import instance_path
from pytest_jsonmatch.engine.value.convert import MISSING, json_type
from pytest_jsonmatch.engine.value.paths import ELEMENT
from pytest_jsonmatch.engine.value.text import count, render

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.score.passes import Aligned
    from pytest_jsonmatch.engine.value.convert import JsonValue, Side

_MOST_SHOWN = 3


def key_warnings(arrays: Iterable[Aligned]) -> tuple[str, ...]:
    """Return a sentence for each keyed array's schema path and side with elements that nothing can match."""
    odd: dict[tuple[str, str, Side], list[str]] = {}
    for array in arrays:
        key = array.node.align[1]
        sides: tuple[tuple[Side, list[JsonValue]], ...] = (
            ("expected", array.expected),
            ("actual", array.actual),
        )
        for side, values in sides:
            where = instance_path(array.place, side)
            for at, why in _oddities(array.node.children[ELEMENT].children[key], key, values):
                odd.setdefault((array.node.path, key, side), []).append(f"{where}[{at}] ({why})")
    return tuple(
        f"{path}: elements pair by their member {key!r}; {count(len(told), 'element')} of {side} can't, and "
        f"{'count' if len(told) > 1 else 'counts'} as {'missing' if side == 'expected' else 'invented'}: "
        f"{', '.join(told[:_MOST_SHOWN])}{', …' if len(told) > _MOST_SHOWN else ''}"
        for (path, key, side), told in odd.items()
    )


def _oddities(member: PlanNode, key: str, values: list[JsonValue]) -> Iterable[tuple[int, str]]:
    """Yield the elements that can't be paired, and why."""
    seen: set[JsonValue] = set()
    for at, item in enumerate(values):
        value = key_value(member, item, key)
        if value is MISSING:
            found = item.get(key, MISSING) if type(item) is dict else MISSING
            yield at, f"no {key!r}" if found is MISSING else f"{key!r} is {_named(found)}"
        elif value in seen:
            yield at, f"{key!r} is {render(value, 30)} again"
        else:
            seen.add(value)


def _named(value: JsonValue) -> str:
    kind = json_type(value)
    return kind if kind in {"null", "number"} else f"{'an' if kind[0] in 'ao' else 'a'} {kind}"
