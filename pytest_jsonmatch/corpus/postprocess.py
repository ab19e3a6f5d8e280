"""Post-processors change a record's field results before its figures are computed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.score.outcome import BATCH_ERROR, HALLUCINATION, LEAVES, MATCH, OMISSION, SKIPPED
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.equality import json_equal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.value.convert import JsonValue

__all__ = ["NullHandling", "propagate_batch_errors", "reclassify_nulls"]


@final
@dataclass(frozen=True, slots=True)
class NullHandling:
    """Say which values stand for "no value", and how two of them are scored.

    >>> NullHandling(absent_values=[None, "", "N/A"]).is_absent("N/A")
    True
    """

    absent_values: Sequence[Any] = field(default_factory=lambda: [None])
    both_absent_skip: bool = True
    """Whether a field absent on both sides is skipped; if not, it is a match."""

    def is_absent(self, value: JsonValue) -> bool:
        """Tell whether a value stands for "no value"."""
        return value is MISSING or any(json_equal(value, absent) for absent in self.absent_values)


_DEFAULT: Final = NullHandling()


def reclassify_nulls(results: Iterable[FieldResult], handling: NullHandling = _DEFAULT) -> list[FieldResult]:
    """Return results in which values that stand for "no value" count as absent.

    Args:
        results: the field results of one record.
        handling: which values these are; by default null.

    Returns:
        The results in their order. Absent on both sides: skipped, or a match. Absent in expected only: a
        hallucination; in actual only: an omission. An object or array against an absent value counts its
        leaves, and is never skipped. All other results are unchanged.

    >>> from pytest_jsonmatch import compare_json
    >>> expected, actual = {"a": 5, "b": None, "c": None}, {"a": None, "b": 1, "c": None}
    >>> result = compare_json(actual, expected, metric="leaf_f1")
    >>> [(each.path, each.status) for each in reclassify_nulls(result.field_results)]
    [('a', 'omission'), ('b', 'hallucination'), ('c', 'skipped')]
    """
    return [_reclassified(result, handling) for result in results]


def _reclassified(result: FieldResult, handling: NullHandling) -> FieldResult:
    if result.status not in LEAVES:
        return result
    nothing_expected, nothing_actual = handling.is_absent(result.expected), handling.is_absent(result.actual)
    if nothing_expected and nothing_actual:
        if handling.both_absent_skip:
            return result.replaced(status=SKIPPED)
        return result.replaced(status=MATCH, score=1.0)
    status = result.status
    if nothing_expected or nothing_actual:
        status = HALLUCINATION if nothing_expected else OMISSION
    return result if status == result.status else result.replaced(status=status)


def propagate_batch_errors(results: Iterable[FieldResult]) -> list[FieldResult]:
    """Return results in which a record with a batch error counts in no figure.

    If a batch comparator fails for one field of a record, the other fields are scored as if that field did
    not exist. This makes them batch errors too: the record shows as failed, and not as better or worse.

    Args:
        results: the field results of one record.

    Returns:
        The results in their order; if any is a batch error, so are all that count in figures.

    >>> from pytest_jsonmatch import compare_json
    >>> fields = compare_json({"a": 1, "b": 2}, {"a": 1, "b": 2}, metric="leaf_f1").field_results
    >>> failed = [fields[0].replaced(status="batch_error", reason="timeout"), fields[1]]
    >>> [each.status for each in propagate_batch_errors(failed)]
    ['batch_error', 'batch_error']
    """
    held = list(results)
    if all(result.status != BATCH_ERROR for result in held):
        return held
    return [
        result.replaced(status=BATCH_ERROR, reason="another field of the record has a batch error")
        if result.status in LEAVES
        else result
        for result in held
    ]
