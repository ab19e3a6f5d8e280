"""Test whether new records differ from old ones, field by field."""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from math import fsum
from random import Random
from statistics import median
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from pytest_jsonmatch.engine.value.convert import json_type
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.paths import ELEMENT
from pytest_jsonmatch.engine.value.text import render
from pytest_jsonmatch.gate.paired import holm
from pytest_jsonmatch.records.pairing import Reading
from pytest_jsonmatch.study.gold_records import read_records
from pytest_jsonmatch.study.places import format_cached
from pytest_jsonmatch.study.words import describe_study
from pytest_jsonmatch.support.frozen import replace

if TYPE_CHECKING:
    from pytest_jsonmatch.records.columns import ColumnSelection
    from pytest_jsonmatch.study.gold_records import Record, Records

STATISTICS: Final = ("shifted", "effect")
"""The statistics that gates can test."""
_ALARMS: Final = 0.05
MIN_VALUES: Final = 5
"""Fields with fewer values on a side are not tested. Classes with fewer expected values are merged
(Cochran 1954)."""
_MAX_CLASSES: Final = 1_000
"""A field with more distinct values or formats is free text, whose shares are not compared."""
_LONGEST: Final = 80
"""Values and formats are distinguished by their first characters, up to this many."""
_Place: TypeAlias = "tuple[Any, ...]"
_Samples: TypeAlias = "defaultdict[tuple[_Place, str], list[Any]]"
"""The properties of records, by the segments of a schema path and the kind of property."""


@final
@dataclass(frozen=True, slots=True)
class FieldShift:
    """The difference in one property of a field between old and new records.

    Args:
        path: the schema path of the field.
        kind: "type", "value", "format", "number" or "length".
        effect: the effect size, from 0 to 1: the total variation distance of shares, or the greatest
            difference between the two distributions (Kolmogorov and Smirnov's D).
        p_value: the p-value, corrected for all tests together.
        of: the type, value (as JSON) or format with the greatest change; "median" for numbers and lengths.
        before: its share in the old records, or the median.
        after: its share in the new records, or the median.
    """

    path: str
    kind: str
    effect: float
    p_value: float
    of: str
    before: float
    after: float


@final
@dataclass(frozen=True, slots=True, repr=False)
class ShiftStudy:
    """The differences between old and new records.

    Args:
        changes: all properties that were tested, the greatest effects first.
        new: the number of new records; with clusters, the number of clusters.
        old: the number of old records, or of their clusters.
    """

    changes: tuple[FieldShift, ...]
    new: int
    old: int

    def __repr__(self) -> str:
        return describe_study(self)

    @property
    def shown(self) -> tuple[FieldShift, ...]:
        """The significant changes."""
        return tuple(change for change in self.changes if change.p_value <= _ALARMS)

    @property
    def statistics(self) -> dict[str, float]:
        """`shifted`, the number of fields with a significant change, and `effect`, the greatest of them."""
        effects = {change.path: change.effect for change in reversed(self.shown)}
        return {"shifted": len(effects), "effect": max(effects.values(), default=0.0)}

    @property
    def by_field(self) -> dict[str, dict[str, float]]:
        """`shifted` (1 or 0) and `effect` of each field."""
        effects = {change.path: 0.0 for change in self.changes}
        effects |= {change.path: change.effect for change in reversed(self.shown)}
        return {path: {"shifted": effect > 0, "effect": effect} for path, effect in effects.items()}


def measure_shift(
    new: Records,
    old: Records,
    /,
    *,
    id: str | None = None,
    expected: ColumnSelection | None = None,
    delimiter: str | None = None,
    cluster: str | None = None,
) -> ShiftStudy:
    """Test whether new records differ from old ones, field by field.

    For each field these properties are compared: types, including "absent"; the values of strings and
    booleans, if there are at most 1,000 distinct ones; the formats of strings; the distributions of numbers
    and lengths.

    Args:
        new: the new records, as the gold records of `compare_corpus`.
        old: the old records.
        id: the column with a record's id, which is not compared.
        expected: the column that is compared, or a mapping of fields to columns; by default the whole record.
        delimiter: the delimiter of CSV files.
        cluster: the column that names a record's cluster, such as its document. Records of one cluster are
            not independent, so only the first of each cluster is compared.

    Returns:
        All properties that were tested, with effect sizes, and p-values corrected together (Holm 1979):
        without any shift, at most 5 % of runs have a significant change.

    Raises:
        ConfigurationError: a side has no records.
        GoldValidationError: a record is not JSON.

    Sources: Pearson's chi-square (1900), with Yates' correction for two classes; Kolmogorov and Smirnov's
    test for numbers.

    >>> old = [{"currency": "EUR", "total": at} for at in range(200)]
    >>> new = [{"currency": "EUR" if at % 2 else "USD", "total": at, "tax": 1} for at in range(200)]
    >>> study = measure_shift(new, old)
    >>> [(change.path, change.kind, change.effect) for change in study.shown]
    [('tax', 'type', 1.0), ('currency', 'value', 0.5)]
    """
    reading = Reading(id, expected=expected, delimiter=delimiter)
    after, before = (
        _samples(name, read_records({name: records}, reading, cluster))
        for name, records in (("new", new), ("old", old))
    )
    tested = list(_tested(after, before))
    corrected = holm({str(at): change.p_value for at, change in enumerate(tested)})
    changes = [replace(change, p_value=p) for change, p in zip(tested, corrected.values(), strict=True)]
    changes.sort(key=lambda change: (-change.effect, change.path, change.kind))
    return ShiftStudy(tuple(changes), *(len(side[(), "type"]) for side in (after, before)))


def _samples(name: str, records: Iterable[Record]) -> _Samples:
    """Return what the records of a side have, one of each cluster."""
    random, by_cluster = Random(0), dict[object, Any]()  # noqa: S311 - for samples, not for secrets
    for at, record in enumerate(records):
        by_cluster.setdefault(record.cluster or at, record.value)
    if not by_cluster:
        raise ConfigurationError(f"there are no {name} records: nothing can be compared")
    samples: _Samples = defaultdict(list)
    for record in by_cluster.values():
        _add(record, (), samples, random)
    return samples


def _add(value: Any, place: _Place, samples: _Samples, random: Random) -> None:
    """Add the properties of a value and of the values in it; of an array, those of one random element.

    Elements of one array are not independent.
    """
    kind = json_type(value)
    samples[place, "type"].append(kind)
    if kind == "number":
        samples[place, "number"].append(float(min(max(value, -1e308), 1e308)))
    if kind in {"string", "boolean"}:
        samples[place, "value"].append(render(value, _LONGEST))
    if kind == "string":
        samples[place, "format"].append(describe_format(value[:_LONGEST]))
    if kind in {"string", "array"}:
        samples[place, "length"].append(len(value))
    if kind == "object":
        for key, inner in value.items():
            _add(inner, (*place, key), samples, random)
    elif kind == "array" and value:
        _add(random.choice(value), (*place, ELEMENT), samples, random)


def describe_format(text: str) -> str:
    """Return the pattern of a text: 9 for each digit, one A or a for adjacent letters of the same case.

    >>> describe_format("2024-01-31"), describe_format("31 Jan 2024"), describe_format("DE-0042b")
    ('9999-99-99', '99 Aa 9999', 'A-9999a')
    """
    signs = ("9" if c.isdigit() else "A" if c.isupper() else "a" if c.isalpha() else c for c in text)
    return "".join("".join(run) if sign == "9" else sign for sign, run in groupby(signs))


def _tested(new: _Samples, old: _Samples) -> Iterator[FieldShift]:
    """Yield the results of all tests, for fields and properties that can be tested."""
    from scipy.stats import chi2_contingency, ks_2samp

    for place, kind in list(old | new):
        ours, theirs = (_with_absent(side, place, kind) for side in (new, old))
        if min(len(ours), len(theirs)) < MIN_VALUES or len({*ours, *theirs}) < 2:
            continue
        if kind in {"number", "length"}:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # rounding may make a probability exceed 1
                effect, p_value = ks_2samp(ours, theirs)
            moved: tuple[str, float, float] = "median", median(theirs), median(ours)
        else:
            after, before = Counter(ours), Counter(theirs)
            table = _table(after, before)
            if len(table) < 2 or max(len(after), len(before)) > _MAX_CLASSES:
                continue
            effect = fsum(abs(now / len(ours) - then / len(theirs)) for now, then in table) / 2
            p_value = chi2_contingency(table)[1]
            shares = [(name, before[name] / len(theirs), after[name] / len(ours)) for name in before | after]
            moved = max(shares, key=lambda share: (round(abs(share[2] - share[1]), 9), share[2] - share[1]))
        yield FieldShift(format_cached(place), kind, round(float(effect), 9), float(p_value), *moved)


def _with_absent(side: _Samples, place: _Place, kind: str) -> list[Any]:
    """Return the values of a property; the type of a member is "absent" in objects that do not have it."""
    could = side[place[:-1], "type"].count("object") if place and kind == "type" else 0
    return [*side[place, kind], *["absent"] * (could - len(side[place, kind]))]


def _table(new: Counter[Any], old: Counter[Any]) -> list[tuple[int, int]]:
    """Return the counts of classes; classes too rare for chi-square are merged, or left out if still rare."""
    pairs = [(new[name], old[name]) for name in old | new]
    least = MIN_VALUES * (new.total() + old.total()) / min(new.total(), old.total())
    common = [pair for pair in pairs if sum(pair) >= least or len(pairs) == 2]
    rare = new.total() - sum(now for now, _ in common), old.total() - sum(then for _, then in common)
    return [*common, rare] if sum(rare) >= least else common
