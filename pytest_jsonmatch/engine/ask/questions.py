"""Turn open places into items for batch comparators, and their answers into scores."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.compare.base import ComparatorResult
from pytest_jsonmatch.engine.compare.batched import BatchItem, NoAnswer
from pytest_jsonmatch.engine.score.outcome import instance_path
from pytest_jsonmatch.engine.value.equality import json_key
from pytest_jsonmatch.engine.value.errors import error_text

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from pytest_jsonmatch.engine.compare.base import Batch
    from pytest_jsonmatch.engine.score.outcome import Answer, Asked


def item_of(asked: Asked, record: str | int | None, number: int) -> BatchItem:
    """Return an open place as the item that a batch comparator is given.

    Args:
        asked: the place.
        record: the id of its record; None where one pair of documents is compared.
        number: tells the items of a record apart.
    """
    finding = asked.finding
    place, around = finding.place, finding.trail
    return BatchItem(
        id=str(number) if record is None else f"{record}:{number}",
        record=record,
        path=finding.node.path,
        expected_path=instance_path(place, "expected"),
        actual_path=instance_path(place, "actual"),
        expected_parent=None if place is None else instance_path(around, "expected"),
        actual_parent=None if place is None else instance_path(around, "actual"),
        expected=finding.expected,
        actual=finding.actual,
        expected_compared=asked.expected,
        actual_compared=asked.actual,
        params=dict(asked.question.params),
        description=finding.node.description,
    )


def values_key(asked: Asked) -> Hashable:
    """Return what two open places share that differ in nothing but where they stand."""
    values = asked.finding.expected, asked.finding.actual, asked.expected, asked.actual
    return (_text(asked.question.params), *(json_key(value, strict=True) for value in values))


def _text(params: Mapping[str, Any]) -> str:
    try:
        return json.dumps(params, sort_keys=True, default=repr)
    except (RecursionError, TypeError):
        # Nested too deep, or with keys of several types: of this place alone, whose plan keeps them.
        return f"{id(params)}"


_MORE: Final = "one answer for each item, in their order"


def read_answers(batch: Batch, items: Sequence[BatchItem], answer: object) -> list[Answer]:
    """Return an answer for each item, or the reason why it has none."""
    read = _by_id(items, answer) if isinstance(answer, Mapping) else _in_order(batch, items, answer)
    return [read] * len(items) if isinstance(read, str) else read


def _in_order(batch: Batch, items: Sequence[BatchItem], answer: object) -> list[Answer] | str:
    """Return the answers of a list, or what is wrong with it as a whole."""
    if inspect.iscoroutine(answer):
        answer.close()
        return "is a coroutine function; it has to wait for its answers itself"
    if batch.scope == "chunk":
        return f"returned {_kind(answer)}; with scope 'chunk' it returns a mapping of item id to answer"
    if isinstance(answer, (str, bytes, set, frozenset)) or not isinstance(answer, Iterable):
        return f"returned {_kind(answer)}; it returns a list with {_MORE}, or a mapping of item id to answer"
    answers = list(answer)
    if len(answers) != len(items):
        counts = f"{_count(len(answers), 'answer')} for {_count(len(items), 'item')}"
        return f"returned {counts}; a list has {_MORE}"
    return list(map(_checked, answers))


def _by_id(items: Sequence[BatchItem], answer: Mapping[Any, object]) -> list[Answer] | str:
    """Return the answers of a mapping, or what is wrong with it as a whole."""
    given = dict(answer)
    known = {item.id for item in items}
    unknown = [key for key in given if key not in known]
    if unknown:
        shown = ", ".join(map(repr, unknown[:3])) + (", …" if len(unknown) > 3 else "")
        return f"answered for ids that it was not asked about: {shown}"
    return [
        _checked(given[item.id]) if item.id in given else "gave no answer for this item" for item in items
    ]


def _checked(answer: object) -> Answer:
    """Return one item's answer, or what is wrong with it."""
    if isinstance(answer, NoAnswer):
        return answer.reason
    if isinstance(answer, BaseException):
        return f"could not score this item: {error_text(answer)}"
    score = answer.score if isinstance(answer, ComparatorResult) else answer
    # numpy's scalars and bools have __float__ as well; a string and None have not.
    number = float(score) if hasattr(type(score), "__float__") else math.nan  # type: ignore[arg-type]
    if not 0.0 <= number <= 1.0:
        return f"returned {score!r} for this item, which is no score in [0, 1]"
    if not isinstance(answer, ComparatorResult):
        return number
    return ComparatorResult(number, answer.reason, answer.skip, answer.comparator)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _kind(value: object) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"
