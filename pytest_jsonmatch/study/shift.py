"""Are new records still like the old ones? What has moved, field by field."""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from math import fsum
from random import Random
from statistics import median
from typing import Any, Final, TypeAlias, final

from pytest_jsonmatch.engine.value.convert import json_type, to_json_value
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.paths import ELEMENT
from pytest_jsonmatch.engine.value.text import render
from pytest_jsonmatch.gate.paired import holm
from pytest_jsonmatch.study.gold_records import cluster_of
from pytest_jsonmatch.study.places import path_of

FIGURES: Final = ("shifted", "effect")
"""The figures that gates may name."""
_ALARMS: Final = 0.05
LEAST: Final = 5
"""Fewer values on a side are not tested. Classes with fewer expected values count as one (Cochran 1954)."""
_MOST_CLASSES: Final = 1_000
"""With more different values, or formats, a field is free text: it has no shares to compare."""
_LONGEST: Final = 80
"""Values and formats are distinguished by this many characters."""
_Place: TypeAlias = "tuple[Any, ...]"
_Samples: TypeAlias = "defaultdict[tuple[_Place, str], list[Any]]"
"""What records have, by the segments of a schema path and the kind of property."""


@final
@dataclass(frozen=True, slots=True)
class FieldShift:
    """How one property of a field differs between old and new records.

    Args:
        path: the field's schema path.
        kind: "type", "value", "format", "number" or "length".
        effect: how far apart both are, from 0 to 1: the total variation of shares, or the greatest difference
            between the two distributions (Kolmogorov and Smirnov's D).
        p_value: how likely such an effect is by chance, corrected for all tests together.
        of: what has moved most: a type, a value as JSON, a format; "median" for numbers and lengths.
        before: its share in the old records; the median.
        after: the same in the new ones.
    """

    path: str
    kind: str
    effect: float
    p_value: float
    of: str
    before: float
    after: float


@final
@dataclass(frozen=True, slots=True)
class ShiftStudy:
    """What has moved between old and new records.

    Args:
        changes: every property that was tested, the greatest effects first.
        new: how many new records there are; with clusters, how many clusters.
        old: the same of the old ones.
    """

    changes: tuple[FieldShift, ...]
    new: int
    old: int

    @property
    def shown(self) -> tuple[FieldShift, ...]:
        """The changes that chance does not explain."""
        return tuple(change for change in self.changes if change.p_value <= _ALARMS)

    @property
    def figures(self) -> dict[str, float]:
        """How many fields are shown to have shifted, and the greatest effect among them."""
        effects = {change.path: change.effect for change in reversed(self.shown)}
        return {"shifted": len(effects), "effect": max(effects.values(), default=0.0)}

    @property
    def by_field(self) -> dict[str, dict[str, float]]:
        """The same of each field: 1 or 0 for yes or no."""
        effects = {change.path: 0.0 for change in self.changes}
        effects |= {change.path: change.effect for change in reversed(self.shown)}
        return {path: {"shifted": effect > 0, "effect": effect} for path, effect in effects.items()}


def measure_shift(new: Iterable[object], old: Iterable[object], *, cluster: str | None = None) -> ShiftStudy:
    """Find out what has moved between old records and new ones.

    For each field these are compared: its types, "absent" among them; the values of strings and booleans, if
    at most 1,000 differ, and the formats of strings; the distributions of numbers and of lengths.

    Args:
        new: records, any Python values with a JSON form.
        old: the records to compare them with.
        cluster: the member that names a record's cluster, such as its document. Records of one cluster are
            not independent, so only the first of each is compared.

    Returns:
        Everything that was tested, with effect sizes, and p-values corrected together (Holm 1979): if
        nothing has moved, any change is shown in at most 5 % of runs.

    Raises:
        ConfigurationError: no records on a side.
        UnsupportedValueError: a value has no JSON form.

    Sources: Pearson's chi-square (1900), with Yates' correction for two classes; Kolmogorov and Smirnov's
    test for numbers.

    >>> old = [{"currency": "EUR", "total": at} for at in range(200)]
    >>> new = [{"currency": "EUR" if at % 2 else "USD", "total": at, "tax": 1} for at in range(200)]
    >>> study = measure_shift(new, old)
    >>> [(change.path, change.kind, change.effect) for change in study.shown]
    [('tax', 'type', 1.0), ('currency', 'value', 0.5)]
    """
    after, before = _samples("new", new, cluster), _samples("old", old, cluster)
    tested = list(_tested(after, before))
    corrected = holm({str(at): change.p_value for at, change in enumerate(tested)})
    changes = [replace(change, p_value=p) for change, p in zip(tested, corrected.values(), strict=True)]
    changes.sort(key=lambda change: (-change.effect, change.path, change.kind))
    return ShiftStudy(tuple(changes), *(len(side[(), "type"]) for side in (after, before)))


def _samples(name: str, records: Iterable[object], cluster: str | None) -> _Samples:
    """Return what the records of a side have, one of each cluster."""
    random, by_cluster = Random(0), dict[object, Any]()  # noqa: S311 - takes samples, and guards nothing
    for at, given in enumerate(records):
        named, record = cluster_of(to_json_value(given), cluster)
        by_cluster.setdefault(named or at, record)
    if not by_cluster:
        raise ConfigurationError(f"there are no {name} records: nothing can be compared")
    samples: _Samples = defaultdict(list)
    for record in by_cluster.values():
        _add(record, (), samples, random)
    return samples


def _add(value: Any, place: _Place, samples: _Samples, random: Random) -> None:
    """Add a value and what is in it; elements of one array are not independent: one stands for all."""
    kind = json_type(value)
    samples[place, "type"].append(kind)
    if kind == "number":
        samples[place, "number"].append(float(min(max(value, -1e308), 1e308)))
    if kind in {"string", "boolean"}:
        samples[place, "value"].append(render(value, _LONGEST))
    if kind == "string":
        samples[place, "format"].append(format_of(value[:_LONGEST]))
    if kind in {"string", "array"}:
        samples[place, "length"].append(len(value))
    if kind == "object":
        for key, inner in value.items():
            _add(inner, (*place, key), samples, random)
    elif kind == "array" and value:
        _add(random.choice(value), (*place, ELEMENT), samples, random)


def format_of(text: str) -> str:
    """Return the pattern of digits and letters in a text: digits as 9, runs of letters as one A or a.

    >>> format_of("2024-01-31"), format_of("31 Jan 2024"), format_of("DE-0042b")
    ('9999-99-99', '99 Aa 9999', 'A-9999a')
    """
    signs = ("9" if c.isdigit() else "A" if c.isupper() else "a" if c.isalpha() else c for c in text)
    return "".join("".join(run) if sign == "9" else sign for sign, run in groupby(signs))


def _tested(new: _Samples, old: _Samples) -> Iterator[FieldShift]:
    """Yield all properties of fields that can be tested."""
    from scipy.stats import chi2_contingency, ks_2samp

    for place, kind in list(old | new):
        ours, theirs = (_with_absent(side, place, kind) for side in (new, old))
        if min(len(ours), len(theirs)) < LEAST or len({*ours, *theirs}) < 2:
            continue
        if kind in {"number", "length"}:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # by rounding, a probability may exceed 1
                effect, p_value = ks_2samp(ours, theirs)
            moved: tuple[str, float, float] = "median", median(theirs), median(ours)
        else:
            after, before = Counter(ours), Counter(theirs)
            table = _table(after, before)
            if len(table) < 2 or max(len(after), len(before)) > _MOST_CLASSES:
                continue
            effect = fsum(abs(now / len(ours) - then / len(theirs)) for now, then in table) / 2
            p_value = chi2_contingency(table)[1]
            shares = [(name, before[name] / len(theirs), after[name] / len(ours)) for name in before | after]
            moved = max(shares, key=lambda share: (round(abs(share[2] - share[1]), 9), share[2] - share[1]))
        yield FieldShift(path_of(place), kind, round(float(effect), 9), float(p_value), *moved)


def _with_absent(side: _Samples, place: _Place, kind: str) -> list[Any]:
    """Return what records have; the type of a member is "absent" where its object does not have it."""
    could = side[place[:-1], "type"].count("object") if place and kind == "type" else 0
    return [*side[place, kind], *["absent"] * (could - len(side[place, kind]))]


def _table(new: Counter[Any], old: Counter[Any]) -> list[tuple[int, int]]:
    """Return the counts of classes; all that are too rare for chi-square are one class, if they suffice."""
    pairs = [(new[name], old[name]) for name in old | new]
    least = LEAST * (new.total() + old.total()) / min(new.total(), old.total())
    common = [pair for pair in pairs if sum(pair) >= least or len(pairs) == 2]
    rare = new.total() - sum(now for now, _ in common), old.total() - sum(then for _, then in common)
    return [*common, rare] if sum(rare) >= least else common
