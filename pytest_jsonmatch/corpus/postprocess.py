"""Post-processors, which change the field results of a record before its scores are computed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.score.field import BATCH_ERROR, HALLUCINATION, LEAVES, MATCH, OMISSION, SKIPPED
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.equality import json_equal
from pytest_jsonmatch.engine.value.text import render

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.value.convert import JsonValue


@final
@dataclass(frozen=True, slots=True)
class NullHandling:
    """Which values mean "no value", and how two of them are scored.

    >>> NullHandling(absent_values=[None, "", "N/A"]).is_absent("N/A")
    True
    """

    absent_values: Sequence[Any] = field(default_factory=lambda: [None])
    both_absent_skip: bool = True
    """Whether a field that is absent on both sides is skipped; otherwise it is a match."""

    def is_absent(self, value: JsonValue) -> bool:
        """Return whether a value means "no value"."""
        return value is MISSING or any(json_equal(value, absent) for absent in self.absent_values)


_DEFAULT: Final = NullHandling()


def reclassify_nulls(results: Iterable[FieldResult], handling: NullHandling = _DEFAULT) -> list[FieldResult]:
    """Return results in which values that mean "no value" count as absent.

    Args:
        results: the field results of one record.
        handling: the values that mean "no value"; by default null.

    Returns:
        The results in the same order. A field that is absent on both sides is skipped or a match; absent only
        in expected, it is a hallucination; absent only in actual, an omission. A missing value is absent,
        too, so a null in an unpaired element is absent on both sides. An object or array against an absent
        value counts its leaves, and is never skipped. All other results are unchanged.

    >>> from pytest_jsonmatch import compare_json
    >>> expected, actual = {"a": 5, "b": None, "c": None}, {"a": None, "b": 1, "c": None}
    >>> result = compare_json(actual, expected, metric="leaf_f1")
    >>> [(each.path, each.status) for each in reclassify_nulls(result.field_results)]
    [('a', 'omission'), ('b', 'hallucination'), ('c', 'skipped')]
    """
    return [_reclassify(result, handling) for result in results]


def _reclassify(result: FieldResult, handling: NullHandling) -> FieldResult:
    if result.status not in LEAVES:
        return result
    expected, actual = result.expected_compared, result.actual_compared
    nothing_expected, nothing_actual = handling.is_absent(expected), handling.is_absent(actual)
    if nothing_expected and nothing_actual:
        if handling.both_absent_skip:
            return result.replaced(status=SKIPPED, reason="no value on either side")
        return result.replaced(status=MATCH, score=1.0, reason="no value on either side")
    if not nothing_expected and not nothing_actual:
        return result
    side, value = ("expected", expected) if nothing_expected else ("actual", actual)
    if value is MISSING:
        return result
    return result.replaced(
        status=HALLUCINATION if nothing_expected else OMISSION,
        reason=f"{side} is {render(value, limit=40)}, which counts as no value",
    )


def propagate_batch_errors(results: Iterable[FieldResult]) -> list[FieldResult]:
    """Return results in which a batch comparator that failed for one field fails for all of its fields.

    A batch comparator may score the fields of a record together. If it fails for one field, its scores for
    the others are unreliable.

    Args:
        results: the field results of one record.

    Returns:
        The results in the same order. If one is a batch error, so are all results of its comparator. Other
        results are unchanged.

    >>> from pytest_jsonmatch import compare_json, register_comparator
    >>> def judge(items):
    ...     return [TimeoutError("30 s") if item.actual == 2 else 1.0 for item in items]
    >>> register_comparator("judge", judge)
    >>> rules = {name: {"compare": "judge"} for name in ("a", "b")}
    >>> values = {"a": 1, "b": 2, "c": 3}
    >>> fields = compare_json(values, values, metric="leaf_f1", fields=rules).field_results
    >>> [each.status for each in fields]
    ['match', 'batch_error', 'match']
    >>> [each.status for each in propagate_batch_errors(fields)]
    ['batch_error', 'batch_error', 'match']
    """
    listed = list(results)
    failed = {result.comparator for result in listed if result.status == BATCH_ERROR} - {None}
    return [
        result.replaced(status=BATCH_ERROR, reason=f"{result.comparator} failed for another field")
        if result.status in LEAVES and result.comparator in failed
        else result
        for result in listed
    ]
