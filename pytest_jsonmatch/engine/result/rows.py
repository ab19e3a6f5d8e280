"""Count rows: elements of arrays of objects that are not paired by position."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from pytest_jsonmatch.engine.score.field import HALLUCINATION, OMISSION, Detail, get_instance_keys
from pytest_jsonmatch.engine.value.convert import MISSING, Matcher, get_value
from pytest_jsonmatch.engine.value.paths import ELEMENT
from pytest_jsonmatch.engine.value.text import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pytest_jsonmatch.engine.score.field import FieldResult, Place
    from pytest_jsonmatch.engine.score.walkstate import AlignedArrays, Outcome
    from pytest_jsonmatch.engine.value.convert import JsonValue

RATES_OF_ROWS: Final = ("recall", "precision", "f1")
"""The rates of rows that gates test."""


@final
class RowCounts(NamedTuple):
    """The numbers of rows expected, found, and in actual, over any number of comparisons.

    >>> rows = RowCounts(expected=50, found=48, actual=49)
    >>> rows.missing, rows.extra, rows.recall
    (2, 1, 0.96)
    """

    expected: int = 0
    """The number of elements of expected."""
    found: int = 0
    """The number of elements of expected that are paired with an element of actual."""
    actual: int = 0
    """The number of elements of actual; 0 if the metric does not count extra values."""

    @property
    def missing(self) -> int:
        """The number of elements of expected without a partner."""
        return self.expected - self.found

    @property
    def extra(self) -> int:
        """The number of elements of actual without a partner; 0 if they are not counted."""
        return max(self.actual - self.found, 0)

    @property
    def recall(self) -> float | None:
        """Found rows divided by those of expected; None for 0/0."""
        return self.found / self.expected if self.expected else None

    @property
    def precision(self) -> float | None:
        """Found rows divided by those of actual; None for 0/0 or if actual's are not counted."""
        return self.found / self.actual if self.actual else None

    @property
    def f1(self) -> float | None:
        """Twice the found rows divided by both sides' rows; None for 0/0 or if actual's are not counted."""
        total = self.expected + self.actual
        return 2 * self.found / total if total and self.actual >= self.found else None

    def merge(self, other: RowCounts) -> RowCounts:
        """Return the sums of both counts."""
        return RowCounts(*map(sum, zip(self, other)))

    def to_dict(self) -> dict[str, Any]:
        """Return counts and rates as plain JSON types."""
        return {**self._asdict(), **{name: getattr(self, name) for name in RATES_OF_ROWS}}


def add_rows(sums: dict[str, RowCounts], other: Mapping[str, RowCounts]) -> None:
    """Add counts by schema path to `sums`."""
    for path, rows in other.items():
        sums[path] = sums[path].merge(rows) if path in sums else rows


def count_rows(outcome: Outcome) -> dict[str, RowCounts]:
    """Return the row counts of a comparison by the schema path of the array."""
    counts: dict[str, RowCounts] = {}
    for arrays in (*outcome.alignments, *outcome.one_sided_arrays):
        if has_rows(arrays):
            node, _, pairs, expected, actual = arrays
            in_actual = len(actual) if node.plan.options.extra != "ignore" else 0
            add_rows(counts, {node.path: RowCounts(len(expected), len(pairs), in_actual)})
    return counts


def has_rows(arrays: AlignedArrays) -> bool:
    """Return whether the elements of two arrays are rows: those of expected, else of actual, are objects.

    Skipped elements are not rows.
    """
    elements: list[JsonValue] = arrays.expected or arrays.actual
    kinds = {*map(type, elements)}
    return dict in kinds and kinds <= _OBJECTS and not arrays.node.undecided[ELEMENT].rules.skip


_OBJECTS: Final = {dict, Matcher}


def collapse_rows(
    results: Iterable[FieldResult], documents: tuple[JsonValue, JsonValue]
) -> list[FieldResult]:
    """Return results with the leaves of each missing or extra object of an array replaced by one result.

    The result takes the position of the first of these leaves, and the schema path and weight of the first
    leaf that has a weight.

    Args:
        results: results of a comparison, or of a field that is scored as a whole.
        documents: (expected, actual).
    """
    collapsed: dict[Place | int, FieldResult] = {}
    for number, result in enumerate(results):
        has_reason = result.detail is not None and bool(result.detail.reason)
        row = _find_row(result, documents) if result.status in _ONE_SIDED and not has_reason else None
        if row is None:
            collapsed[number] = result
        elif row not in collapsed or not collapsed[row].weight:
            _, value = _get_one_side(row, documents)
            is_extra = row.expected_key is MISSING
            sides = (MISSING, value) if is_extra else (value, MISSING)
            collapsed[row] = result._replace(
                parent_place=row.parent,
                expected_key=row.expected_key,
                actual_key=row.actual_key,
                expected=sides[0],
                actual=sides[1],
                detail=Detail(reason="row only in actual" if is_extra else "row missing from actual"),
            )
    return list(collapsed.values())


_ONE_SIDED: Final = frozenset({OMISSION, HALLUCINATION})


def _find_row(result: FieldResult, documents: tuple[JsonValue, JsonValue]) -> Place | None:
    """Return the place of the outermost object around a result that only one of two arrays has."""
    place: Place | None = result.place
    row = None
    while place is not None:
        if place.choice:
            return None  # accepted alternatives are not in the documents
        is_one_sided = place.expected_key is MISSING or place.actual_key is MISSING
        if is_one_sided and type(place.key) is int and type(_get_one_side(place, documents)[1]) is dict:
            row = place
        place = place.parent
    return row


def _get_one_side(place: Place, documents: tuple[JsonValue, JsonValue]) -> tuple[tuple[Any, ...], JsonValue]:
    """Return the keys that lead to a place that only one side has, and its value."""
    is_extra = place.expected_key is MISSING
    keys = get_instance_keys(place, "actual" if is_extra else "expected")
    return keys, get_value(documents[is_extra], keys)


def iter_row_counts(rows: Mapping[str, RowCounts]) -> Iterator[dict[str, Any]]:
    """Yield a row of counts and rates for each array."""
    return ({"path": path, **counts.to_dict()} for path, counts in rows.items())


def format_rows(rows: RowCounts) -> str:
    """Return the number of found rows as text.

    >>> format_rows(RowCounts(expected=50, found=48, actual=49))
    '48 of 50 rows found, 1 extra'
    """
    extra = f", {count(rows.extra)} extra" if rows.extra else ""
    return f"{count(rows.found)} of {count(rows.expected, 'row')} found{extra}"


def sum_rows(counts: Iterable[RowCounts]) -> RowCounts:
    """Return the sums of the counts of several arrays."""
    return reduce(RowCounts.merge, counts, RowCounts())
