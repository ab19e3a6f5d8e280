"""Batch comparators, which score many fields of a record, or of a chunk of records, in one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.compare.base import Batch, Comparator, Question, Scoring
from pytest_jsonmatch.engine.compare.parameters import takes
from pytest_jsonmatch.engine.value.equality import json_equal
from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_jsonmatch.engine.compare.base import Params
    from pytest_jsonmatch.engine.value.convert import JsonValue

_SCOPES: Final = ("record", "chunk")
_FLAGS: Final = ("null_aware", "short_circuit", "judged")


@final
@dataclass(frozen=True, slots=True)
class BatchItem:
    """One pair of values that a batch comparator is asked about.

    >>> from pytest_jsonmatch import compare_json
    >>> from pytest_jsonmatch.engine.plan.registry import session_registry
    >>> seen = []
    >>> def judge(items):
    ...     seen.extend(items)
    ...     return [item.expected_compared == item.actual_compared for item in items]
    >>> with session_registry() as registry:
    ...     registry.comparator("judge", judge)
    ...     rule = {"compare": {"judge": {"strict": False}}, "transform": ["lowercase"]}
    ...     compare_json({"notes": ["A"]}, {"notes": ["a"]}, fields={"notes[]": rule}).score
    1.0
    >>> item = seen[0]
    >>> item.id, item.path, item.expected_path, item.expected_parent, item.params
    ('1', 'notes[]', 'notes[0]', 'notes', {'strict': False})
    >>> item.expected, item.actual, item.actual_compared
    ('a', 'A', 'a')
    """

    id: str
    """Unique in the run; the key of the item's answer in a mapping."""
    record: str | int | None
    """The id of the record; None if a single pair of documents is compared."""
    path: str
    """The schema path, such as `items[].note`."""
    expected_path: str
    """The instance path in expected, such as `items[0].note`."""
    actual_path: str
    """The instance path in actual."""
    expected_parent: str | None
    """The instance path of the object or array that contains the value; None for the root."""
    actual_parent: str | None
    """The same in actual."""
    expected: JsonValue
    """The value as it is in expected."""
    actual: JsonValue
    """The value as it is in actual."""
    expected_compared: JsonValue
    """The value to compare: expected's, after transforms."""
    actual_compared: JsonValue
    """The same for actual."""
    params: Mapping[str, Any]
    """The parameters that the field gives the comparator."""
    description: str | None = None
    """The schema's description of the field, or None; an element may have that of its array."""


def is_batch(fn: Callable[..., object]) -> bool:
    """Tell whether a comparator takes a list of items: it has a `scope`, or takes one argument and not three.

    >>> is_batch(lambda items: [1.0] * len(items)), is_batch(lambda expected, actual, params: 1.0)
    (True, False)
    """
    return isinstance(getattr(fn, "scope", None), str) or (takes(fn, 1) and not takes(fn, 3))


def batch_comparator(name: str, fn: Callable[[list[BatchItem]], object]) -> Comparator:
    """Make a Comparator of a function (or an object with `__call__`) of a list of items.

    Args:
        name: the name to register it under.
        fn: returns a list of answers in the items' order, or a mapping of item id to answer. An answer is a
            number in [0, 1], a bool, a ComparatorResult, or an exception for an item without a score (a
            JsonMatchError is shown by its message alone). It may have these attributes:

            scope: "record" (the default), one call for the items of one record, or "chunk", one call for the
                items of all records of a chunk, answered by id.
            null_aware: True: it is asked about nulls too.
            short_circuit: True: equal values score 1 without a question.
            judged: True: it is called with (items, judge), where `judge` is the judge given to the
                comparison, or None; an exception ends the run.
            check_params: a function that takes the parameters of a field and raises ConfigurationError (or
                any ValueError or TypeError) if they are wrong.

    Raises:
        ConfigurationError: one of these is invalid.

    >>> judge = batch_comparator("judge", lambda items: [0.5 for item in items])
    >>> judge.name, judge.batch.scope
    ('judge', 'record')
    """
    if isinstance(fn, type):
        raise ConfigurationError(
            f"comparator {name!r} is the class {fn.__name__}; register an instance, such as {fn.__name__}()"
        )
    scope = getattr(fn, "scope", None)
    scope = scope if isinstance(scope, str) else "record"
    if scope not in _SCOPES:
        raise ConfigurationError(
            f"comparator {name!r} has the scope {scope!r}{did_you_mean(scope, _SCOPES)}; "
            "it can be 'record' or 'chunk'"
        )
    flags = {flag: getattr(fn, flag, False) for flag in _FLAGS}
    for flag, value in flags.items():
        if not isinstance(value, bool):
            raise ConfigurationError(f"comparator {name!r} has {flag} = {value!r}; it is True or False")
    null_aware, short_circuit, judged = flags.values()
    batch = Batch(name, fn, scope, judged)
    check = getattr(fn, "check_params", None)

    def make(params: Params) -> Scoring:
        given = dict(params)
        if check is not None:
            try:
                check(given)
            except ConfigurationError:
                raise
            except (ValueError, TypeError) as error:
                raise ConfigurationError(f"comparator {name!r}: {error}") from None
        question = Question(batch, given)

        def score(expected: JsonValue, actual: JsonValue) -> float | Question:
            if (expected is None or actual is None) and not null_aware:
                return 1.0 if expected is None and actual is None else 0.0
            if short_circuit and json_equal(expected, actual):
                return 1.0
            return question

        return Scoring(score)

    # Equal values match without a question only if the comparator allows it.
    return Comparator(name, make, reflexive=short_circuit, batch=batch)
