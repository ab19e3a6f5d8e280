"""Elements of keyed arrays that can't be paired, and so cost points: each is told once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.align.keys import key_value
from pytest_jsonmatch.engine.score.outcome import instance_path
from pytest_jsonmatch.engine.value.convert import MISSING, json_type
from pytest_jsonmatch.engine.value.paths import ELEMENT
from pytest_jsonmatch.engine.value.text import count, render

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.score.outcome import Place
    from pytest_jsonmatch.engine.score.passes import Aligned
    from pytest_jsonmatch.engine.value.convert import JsonValue, Side

_MOST_SHOWN: Final = 3


def key_warnings(arrays: Iterable[Aligned]) -> tuple[str, ...]:
    """Return a sentence for each keyed array's schema path and side with elements that nothing can match."""
    odd: dict[tuple[str, str, Side], list[tuple[Place, int, str]]] = {}
    for array in arrays:
        key = array.node.align[1]
        member = array.node.children[ELEMENT].children[key]
        sides: tuple[tuple[Side, list[JsonValue]], ...] = (
            ("expected", array.expected),
            ("actual", array.actual),
        )
        for side, values in sides:
            if found := [(array.place, at, why) for at, why in _oddities(member, key, values)]:
                odd.setdefault((array.node.path, key, side), []).extend(found)
    return tuple(
        f"{path}: elements pair by their member {key!r}; {count(len(found), 'element')} of {side} can't, and "
        f"{'count' if len(found) > 1 else 'counts'} as {'missing' if side == 'expected' else 'invented'}: "
        + ", ".join(f"{instance_path(place, side)}[{at}] ({why})" for place, at, why in found[:_MOST_SHOWN])
        + (", …" if len(found) > _MOST_SHOWN else "")
        for (path, key, side), found in odd.items()
    )


def _oddities(member: PlanNode, key: str, values: list[JsonValue]) -> Iterator[tuple[int, str]]:
    """Yield the elements that can't be paired, and why."""
    seen: set[JsonValue] = set()
    for at, item in enumerate(values):
        value = key_value(member, item, key)
        if value is MISSING:
            found = item.get(key, MISSING) if type(item) is dict else MISSING
            kind = "" if found is MISSING else json_type(found)
            article = {"b": "a ", "o": "an ", "a": "an "}.get(kind[:1], "")
            yield at, f"{key!r} is {article}{kind}" if kind else f"no {key!r}"
        elif value in seen:
            yield at, f"{key!r} is {render(value, 30)} again"
        seen.add(value)
