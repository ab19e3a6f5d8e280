"""Find the columns of answers and gold records that are alike, if the two were compared in another form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice, product
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.errors import JsonMatchError
from pytest_jsonmatch.reading.extract import extract_json
from pytest_jsonmatch.reading.strict import parse_json
from pytest_jsonmatch.records.columns import find_column, select

if TYPE_CHECKING:
    from pytest_jsonmatch.records.columns import ColumnSelection
    from pytest_jsonmatch.records.pairing import Reading

_CONTAINERS: Final = (dict, list)
_SCALARS: Final = (str, int, float, bool)
_MAX_PAIRS: Final = 20
_MAX_COLUMNS: Final = 30
_MAX_LEVELS: Final = 3
_FEWEST: Final = 3
"""Fewer different scalars that are equal on both sides may be a coincidence."""
_LEAST: Final = 0.3
"""The least likeness of columns to suggest."""
_BETTER: Final = 1.5
"""They must also be so many times as much alike as what was compared."""
_PARSES: Final = {"fields": {"$": {"transform": ["parse_json"]}}}
"""The rule that parses the JSON text of gold records."""


@final
class _Side(NamedTuple):
    """A way to select what is compared of one side."""

    column: str | None
    """The column to name; None to leave the selection as it is."""
    values: list[Any]
    parses: bool

    @property
    def rank(self) -> tuple[int, int]:
        """What to try first: no column, then columns with few steps."""
        return self.column is not None, (self.column or "").count(".")


def find_fitting_arguments(answers: Sequence[Any], gold: Sequence[Any], reading: Reading) -> dict[str, Any]:
    """Return the fewest arguments with which records are much more alike than they were; empty without any.

    Args:
        answers: the first answers, as JSON values or text.
        gold: the first gold records, as JSON values.
        reading: the columns that were compared.

    >>> from pytest_jsonmatch.records.pairing import Reading
    >>> gold = [{"id": 1, "total": 5}]
    >>> find_fitting_arguments([{"id": 1, "output": {"total": 5}}], gold, Reading("id"))
    {'actual': 'output'}
    """
    pairs = list(islice(_pair(answers, gold, reading.id), _MAX_PAIRS))
    if not pairs:
        return {}
    records = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    actual_sides = [*_list_sides(records[0], reading.actual, reading.id, is_gold=False)]
    expected_sides = [*_list_sides(records[1], reading.expected, reading.id, is_gold=True)]
    compared = _mean_likeness(actual_sides[0], expected_sides[0], (*_CONTAINERS, *_SCALARS))
    least = max(_LEAST, _BETTER * compared)
    # A field is also like a field: objects are tried first.
    for kinds in (_CONTAINERS, _SCALARS):
        found: dict[tuple[int, ...], list[tuple[float, _Side, _Side]]] = {}
        for one, other in product(actual_sides, expected_sides):
            if one.column is None or one.column != other.column:
                rank = tuple(map(sum, zip(one.rank, other.rank)))
                found.setdefault((other.parses, *rank), []).append(
                    (_mean_likeness(one, other, kinds), one, other)
                )
        for _, tried in sorted(found.items()):
            likeness, one, other = max(tried, key=lambda way: way[0])
            if likeness >= least:
                chosen = {"actual": one.column, "expected": other.column}
                columns = {side: column for side, column in chosen.items() if column is not None}
                return columns | (_PARSES if other.parses else {})
    return {}


def _pair(answers: Sequence[Any], gold: Sequence[Any], id: str | None) -> Iterator[tuple[Any, Any]]:
    """Yield answers with their gold records, by id or by position."""
    if id is None:
        yield from zip(answers, gold)
        return
    by_id = {str(_find_id(record, id)): record for record in gold}
    for answer in answers:
        value = _parse_answer(answer)
        name = _find_id(value, id)
        if name is not MISSING and str(name) in by_id:
            yield value, by_id[str(name)]


def _iter_columns(record: Any, prefix: str = "", levels: int = _MAX_LEVELS) -> Iterator[str]:
    """Yield the paths of the members of a record and of its objects, the outer ones first."""
    members = record.items() if type(record) is dict and levels else ()
    for name, _ in members:
        yield f"{prefix}{name}"
    for name, value in members:
        yield from _iter_columns(value, f"{prefix}{name}.", levels - 1)


def _find_id(record: Any, id: str) -> Any:
    return find_column(record, id) if type(record) is dict else MISSING


def _list_sides(
    records: Sequence[Any], selection: ColumnSelection | None, id: str | None, *, is_gold: bool
) -> Iterator[_Side]:
    """Yield the ways to select what is compared of one side, first the one that was compared."""
    columns: list[str | None] = [None]
    if selection is None:
        names = dict.fromkeys(name for record in records[:5] for name in _iter_columns(record))
        columns += [name for name in names if name != id][:_MAX_COLUMNS]
    for column in columns:
        values = [_select(record, column or selection, id) for record in records]
        if not is_gold:
            yield _Side(column, [*map(_parse_answer, values)], parses=False)
            continue
        yield _Side(column, values, parses=False)
        parsed = [*map(_parse_gold, values)]
        if all(type(value) in _CONTAINERS for value in parsed) and parsed != values:
            yield _Side(column, parsed, parses=True)


def _select(record: Any, selection: ColumnSelection | None, id: str | None) -> Any:
    if type(record) is not dict:
        return record if selection is None else MISSING
    if selection is None:
        return {name: value for name, value in record.items() if name != id}
    try:
        return select(record, selection)
    except JsonMatchError:
        return MISSING


def _parse_answer(value: Any) -> Any:
    """Return the JSON in a text that is model output; other values as they are."""
    if isinstance(value, (str, bytes, bytearray)):
        with suppress(JsonMatchError):
            found = extract_json(value).value
            return found if type(found) in _CONTAINERS else value
    return value


def _parse_gold(value: Any) -> Any:
    if type(value) is str and value.lstrip()[:1] in {"{", "["}:
        with suppress(JsonMatchError):
            return parse_json(value)
    return value


def _mean_likeness(one: _Side, other: _Side, kinds: tuple[type, ...]) -> float:
    """Return how much the values of two sides are alike, from 0 to 1; other kinds of values count 0.

    Few equal scalars may be a coincidence.
    """
    pairs = [*zip(one.values, other.values)]
    equal = {actual for actual, expected in pairs if type(actual) in _SCALARS and _is_equal(actual, expected)}
    if kinds is _SCALARS and len(equal) < _FEWEST:
        return 0.0
    return sum(_likeness(*pair) for pair in pairs if type(pair[0]) in kinds) / len(one.values)


def _is_equal(actual: Any, expected: Any) -> bool:
    try:
        return type(actual) is type(expected) and bool(actual == expected)
    except Exception:  # noqa: BLE001 - values of the caller, such as arrays of numpy
        return False


def _likeness(actual: Any, expected: Any) -> float:
    """Return the share of members that both have, half of each for its value, or whether values are equal."""
    if type(actual) is not type(expected):
        return 0.0
    if type(expected) is dict:
        shared = actual.keys() & expected.keys()
        points: float = sum(0.5 + 0.5 * _is_equal(actual[name], expected[name]) for name in shared)
        return points / (len(actual.keys() | expected.keys()) or 1)
    if type(expected) is list and actual and expected and type(actual[0]) is type(expected[0]) is dict:
        return _likeness(actual[0], expected[0])
    return float(_is_equal(actual, expected))


def compare_other_kinds(answers: Sequence[Any], gold: Sequence[Any], reading: Reading) -> bool:
    """Return whether every answer is an object, and no gold record with an answer is one.

    >>> from pytest_jsonmatch.records.pairing import Reading
    >>> compare_other_kinds([{"answer": "a"}], [{"label": "b"}], Reading(expected="label"))
    True
    """
    pairs = list(islice(_pair(answers, gold, reading.id), _MAX_PAIRS))
    kinds = {
        (
            type(_select(answer, reading.actual, reading.id)),
            type(_select(record, reading.expected, reading.id)),
        )
        for answer, record in pairs
    }
    return bool(pairs) and all(one is dict and other in {list, *_SCALARS} for one, other in kinds)
