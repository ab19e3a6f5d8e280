"""How many rows of arrays of objects were found: elements that are paired other than by position."""

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
    """How many rows of an array were expected, found, and in actual, over any number of comparisons.

    >>> rows = RowCounts(expected=50, found=48, actual=49)
    >>> rows.missing, rows.extra, rows.recall
    (2, 1, 0.96)
    """

    expected: int = 0
    """The elements of expected."""
    found: int = 0
    """Those that are paired with an element of actual."""
    actual: int = 0
    """The elements of actual; 0 if the metric does not count what only actual has."""

    @property
    def missing(self) -> int:
        """The elements of expected without a partner."""
        return self.expected - self.found

    @property
    def extra(self) -> int:
        """The elements of actual without a partner; 0 if they are not counted."""
        return max(self.actual - self.found, 0)

    @property
    def recall(self) -> float | None:
        """Found over expected; None for 0/0."""
        return self.found / self.expected if self.expected else None

    @property
    def precision(self) -> float | None:
        """Found over actual; None for 0/0, and if elements of actual are not counted."""
        return self.found / self.actual if self.actual else None

    @property
    def f1(self) -> float | None:
        """Twice the found over the elements of both sides; None for 0/0, and if actual's are not counted."""
        whole = self.expected + self.actual
        return 2 * self.found / whole if whole and self.actual >= self.found else None

    def merge(self, other: RowCounts) -> RowCounts:
        """Return the counts of both."""
        return RowCounts(*map(sum, zip(self, other)))

    def to_dict(self) -> dict[str, Any]:
        """Return counts and rates as plain JSON types."""
        return {**self._asdict(), **{name: getattr(self, name) for name in RATES_OF_ROWS}}


def add_rows(sums: dict[str, RowCounts], more: Mapping[str, RowCounts]) -> None:
    """Add counts by schema path to others."""
    for path, rows in more.items():
        sums[path] = sums[path].merge(rows) if path in sums else rows


def count_rows(outcome: Outcome) -> dict[str, RowCounts]:
    """Return the row counts of a comparison by the schema path of the array."""
    counts: dict[str, RowCounts] = {}
    for arrays in (*outcome.alignments, *outcome.lone_arrays):
        if has_rows(arrays):
            node, _, pairs, expected, actual = arrays
            in_actual = len(actual) if node.plan.options.extra == "count" else 0
            add_rows(counts, {node.path: RowCounts(len(expected), len(pairs), in_actual)})
    return counts


def has_rows(arrays: AlignedArrays) -> bool:
    """Return whether the elements of two arrays are rows: those of expected are objects, or of actual.

    Elements that are skipped are no rows.
    """
    elements: list[JsonValue] = arrays.expected or arrays.actual
    kinds = {*map(type, elements)}
    return dict in kinds and kinds <= _OBJECTS and not arrays.node.children[ELEMENT].rules.skip


_OBJECTS: Final = {dict, Matcher}


def collapse_rows(
    results: Iterable[FieldResult], documents: tuple[JsonValue, JsonValue]
) -> list[FieldResult]:
    """Return results with one for each object that an array of one side lacks, in place of its leaves.

    It stands where the first of its leaves stood, with the schema path and the weight of the first leaf that
    has a weight.

    Args:
        results: results of a comparison, or of a field that is scored as a whole.
        documents: what was compared.
    """
    found: dict[Place | int, FieldResult] = {}
    for number, result in enumerate(results):
        row = _find_row(result, documents) if result.status in _ONE_SIDED else None
        if row is None:
            found[number] = result
        elif row not in found or not found[row].weight:
            keys, value = _side_of(row, documents)
            side, what = ("actual", "extra") if row.expected_key is MISSING else ("expected", "missing")
            sides = (MISSING, value) if row.expected_key is MISSING else (value, MISSING)
            found[row] = result._replace(
                around=row.parent,
                expected_key=row.expected_key,
                actual_key=row.actual_key,
                expected=sides[0],
                actual=sides[1],
                detail=Detail(reason=f"row {keys[-1]} of {side} {what}"),
            )
    return list(found.values())


_ONE_SIDED: Final = frozenset({OMISSION, HALLUCINATION})


def _find_row(result: FieldResult, documents: tuple[JsonValue, JsonValue]) -> Place | None:
    """Return the place of the outermost object around a result that only one of two arrays has."""
    place: Place | None = result.place
    row = None
    while place is not None:
        if place.choice:
            return None  # the documents have no accepted alternatives
        is_one_sided = place.expected_key is MISSING or place.actual_key is MISSING
        if is_one_sided and type(place.key) is int and type(_side_of(place, documents)[1]) is dict:
            row = place
        place = place.parent
    return row


def _side_of(place: Place, documents: tuple[JsonValue, JsonValue]) -> tuple[tuple[Any, ...], JsonValue]:
    """Return the keys that lead to a place that only one side has, and its value."""
    is_extra = place.expected_key is MISSING
    keys = get_instance_keys(place, "actual" if is_extra else "expected")
    return keys, get_value(documents[is_extra], keys)


def iter_row_counts(rows: Mapping[str, RowCounts]) -> Iterator[dict[str, Any]]:
    """Yield the counts and rates of each array."""
    return ({"path": path, **each.to_dict()} for path, each in rows.items())


def rows_text(rows: RowCounts) -> str:
    """Return how many rows were found, in words.

    >>> rows_text(RowCounts(expected=50, found=48, actual=49))
    '48 of 50 rows found, 1 extra'
    """
    extra = f", {count(rows.extra)} extra" if rows.extra else ""
    return f"{count(rows.found)} of {count(rows.expected, 'row')} found{extra}"


def sum_rows(several: Iterable[RowCounts]) -> RowCounts:
    """Return the counts of several arrays together."""
    return reduce(RowCounts.merge, several, RowCounts())
