"""The hint at the option `absent` where values such as null and "" explain a loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.comparators.kinds import NOTHING
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.errors import write_argument
from pytest_jsonmatch.engine.value.text import render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.value.convert import JsonValue

_MIN_SHARE: Final = 0.5
"""The share of the loss from which values count as its explanation."""
_MAX_VALUES: Final = 6


def suggest_absent(
    results: Iterable[MatchResult], write: Callable[[dict[str, Any]], list[str]] | None = None
) -> str | None:
    """Return a hint if members that are null, empty or the like explain at least half of the loss.

    Args:
        results: results by the same options; values that `absent` already has stay in it.
        write: writes a change of options; None for the form of all messages.

    >>> from pytest_jsonmatch import compare_json
    >>> suggest_absent([compare_json({"a": 1, "b": None, "c": ""}, {"a": 1})])
    "null and empty values explain 100 % of the loss: absent=[None, ''] counts such members as missing"
    """
    loss = explained = 0.0
    values: dict[str, JsonValue] = {}
    known: dict[str, JsonValue] = {}
    for result in results:
        known |= {render(value): value for value in result.plan.options.absent}
        for difference in result.differences:
            field = difference.field
            loss += difference.cost
            if difference.kind == NOTHING and {type(field.expected_key), type(field.actual_key)} & {str}:
                explained += difference.cost
                sides = (field.expected, field.actual)
                values |= {render(value): value for value in sides if value is not MISSING}
    if not explained or explained < _MIN_SHARE * loss or len(values) > _MAX_VALUES:
        return None
    absent = list({**known, **values}.values())
    if write is None:
        option = write_argument("absent", absent)
    else:
        option = "; ".join(write({"options": {"absent": absent}}))
    share = f"explain {explained / loss:.0%} of the loss".replace("%", " %")
    return f"null and empty values {share}: {option} counts such members as missing"
