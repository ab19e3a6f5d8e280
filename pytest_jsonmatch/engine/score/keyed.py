"""Elements of keyed arrays that can't be paired, and so cost points: each array's are told once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_jsonmatch.engine.align.keys import key_value
from pytest_jsonmatch.engine.score.outcome import Place, instance_path
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.paths import ELEMENT
from pytest_jsonmatch.engine.value.text import count

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_jsonmatch.engine.score.passes import Aligned
    from pytest_jsonmatch.engine.value.convert import JsonValue, Side


def key_warnings(arrays: Iterable[Aligned]) -> tuple[str, ...]:
    """Return a sentence for each keyed array's schema path and side with elements that nothing can match."""
    odd: dict[tuple[str, str, Side], list[str]] = {}
    for array in arrays:
        align = array.node.align
        if isinstance(align, str) or len(array.pairs) == len(array.expected) == len(array.actual):
            continue
        key = align.key
        member = array.node.children[ELEMENT].children[key]
        sides: dict[Side, list[JsonValue]] = {"expected": array.expected, "actual": array.actual}
        for side, values in sides.items():
            seen: set[JsonValue] = {MISSING}
            for at, item in enumerate(values):
                if (value := key_value(member, item, key)) in seen:
                    path = instance_path(Place(array.place, at, at), side)
                    odd.setdefault((array.node.path, key, side), []).append(path)
                seen.add(value)
    return tuple(
        f"{path}: elements pair by their member {key!r}; {count(len(places), 'element')} of {side} can't, "
        f"the first is {places[0]}: {key!r} is missing, null, a boolean, an object, an array, or there before"
        for (path, key, side), places in odd.items()
    )
