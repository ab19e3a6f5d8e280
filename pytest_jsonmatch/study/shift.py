"""Are new records still like the old ones? What has moved, field by field."""

from __future__ import annotations

import warnings
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from math import fsum
from random import Random
from statistics import median
from sys import float_info
from typing import Any, Final, final

from pytest_jsonmatch.engine.value.convert import json_type, to_json_value
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.paths import ELEMENT
from pytest_jsonmatch.gate.paired import holm
from pytest_jsonmatch.study.places import path_of
from pytest_jsonmatch.study.records import cluster_of

FIGURES: Final = ("shifted", "effect", "unseen")
"""The figures that gates may name."""
_ALARMS: Final = 0.05
_LEAST: Final = 5
"""Fewer values on a side are not tested. Classes with fewer expected values are merged (Cochran 1954)."""
_EXACT: Final = 100
"""With fewer numbers on a side, the Kolmogorov-Smirnov test is exact."""
_MOST_CLASSES: Final = 1_000
"""With more different values, or formats, a field is free text: it has no shares to compare."""
_LONGEST: Final = 80
"""Values and formats are distinguished by this many characters."""


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
        of: what has moved most: a type, a value, a format; "median" for numbers and lengths.
        before: its share in the old records; the median.
        after: the same in the new ones.
        old: from how many old records.
        new: from how many new ones.
    """

    path: str
    kind: str
    effect: float
    p_value: float
    of: str
    before: float
    after: float
    old: int
    new: int

    @property
    def is_shown(self) -> bool:
        """Whether chance is not a good explanation."""
        return self.p_value <= _ALARMS


@final
@dataclass(frozen=True, slots=True)
class ShiftStudy:
    """What has moved between old and new records.

    Args:
        changes: every property that was tested: those that are shown to have moved first, the greatest
            effects first.
        unseen: paths that no old record has, with the number of places where new ones have them; what is
            below such a path is not listed.
        new: how many new records there are; with clusters, how many clusters.
        old: the same of the old ones.
    """

    changes: tuple[FieldShift, ...]
    unseen: Mapping[str, int]
    new: int
    old: int

    @property
    def shown(self) -> tuple[FieldShift, ...]:
        """The changes that chance does not explain."""
        return tuple(change for change in self.changes if change.is_shown)

    @property
    def figures(self) -> dict[str, float | None]:
        """How many fields are shown to have shifted, the greatest effect among them, how many are unseen."""
        effects = {change.path: change.effect for change in reversed(self.shown)}
        return {
            "shifted": len(effects),
            "effect": max(effects.values(), default=0.0),
            "unseen": len(self.unseen),
        }

    @property
    def by_field(self) -> dict[str, dict[str, float | None]]:
        """The same of each field: 1 or 0 for yes or no."""
        effects = {change.path: change.effect for change in reversed(self.shown)}
        paths = [*(change.path for change in self.changes), *self.unseen]
        return {
            path: {
                "shifted": int(path in effects),
                "effect": effects.get(path, 0.0),
                "unseen": int(path in self.unseen),
            }
            for path in paths
        }


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
        All changes with effect sizes, and p-values corrected together (Holm 1979): if nothing has moved, any
        change is shown in at most 5 % of runs.

    Raises:
        ConfigurationError: no records on a side.
        UnsupportedValueError: a value has no JSON form.

    Sources: Pearson's chi-square (1900), with Yates' correction for two classes; Kolmogorov and Smirnov's
    test for numbers.

    >>> old = [{"currency": "EUR", "total": at} for at in range(200)]
    >>> new = [{"currency": "EUR" if at % 2 else "USD", "total": at, "tax": 1} for at in range(200)]
    >>> study = measure_shift(new, old)
    >>> [(change.path, change.kind, change.effect) for change in study.shown], study.unseen
    ([('tax', 'type', 1.0), ('currency', 'value', 0.5)], {'tax': 200})
    """
    after, before = _Side("new", new, cluster), _Side("old", old, cluster)
    found = list(_tested(after, before))
    corrected = holm({str(at): change.p_value for at, change in enumerate(found)})
    changes = [replace(change, p_value=p) for change, p in zip(found, corrected.values(), strict=True)]
    changes.sort(key=lambda each: (not each.is_shown, -each.effect, each.path, each.kind))
    unseen = {
        path: after.places[path]
        for path, holder in sorted(after.holders.items())
        if path not in before.holders and holder in before.holders
    }
    return ShiftStudy(tuple(changes), unseen, after.records, before.records)


# -- tests -------------------------------------------------------------------------------------------------


def _tested(new: _Side, old: _Side) -> Iterator[FieldShift]:
    """Yield all properties of fields that can be tested."""
    from scipy.stats import chi2_contingency, ks_2samp

    for path, holder in (old.holders | new.holders).items():
        for side in (new, old):
            could = side.classes[holder, "type"]["object"] if holder is not None else 0
            side.classes[path, "type"] += Counter(absent=could - side.classes[path, "type"].total())
    for path, kind in [*old.classes]:
        after, before = new.classes[path, kind], old.classes[path, kind]
        numbers = after.total(), before.total()
        table = _table(after, before)
        if min(numbers) >= _LEAST and max(len(after), len(before)) <= _MOST_CLASSES and len(table) > 1:
            shares = {name: (before[name] / numbers[1], after[name] / numbers[0]) for name in before | after}
            most = max(shares, key=lambda name: (abs(_gain(*shares[name])), _gain(*shares[name])))
            effect = fsum(abs(now / numbers[0] - then / numbers[1]) for now, then in table) / 2
            p_value = float(chi2_contingency(table)[1])
            yield FieldShift(path, kind, round(effect, 9), p_value, most, *shares[most], *numbers[::-1])
    for path, kind in [*old.samples]:
        ours, theirs = new.samples[path, kind], old.samples[path, kind]
        fewest = min(len(ours), len(theirs))
        if fewest >= _LEAST and len({*ours, *theirs}) > 1:
            with warnings.catch_warnings():
                # Rounding may take an exact probability of 1 beyond that; scipy then warns.
                warnings.simplefilter("ignore", RuntimeWarning)
                test = ks_2samp(ours, theirs, method="exact" if fewest < _EXACT else "asymp")
            middles, numbers = (median(theirs), median(ours)), (len(theirs), len(ours))
            effect, p_value = round(float(test.statistic), 9), float(test.pvalue)
            yield FieldShift(path, kind, round(effect, 9), p_value, "median", *middles, *numbers)


def _gain(before: float, after: float) -> float:
    return round(after - before, 12)


def _table(new: Counter[str], old: Counter[str]) -> list[tuple[int, int]]:
    """Return the counts of classes; all that are too rare for chi-square are one class."""
    pairs = [(new[name], old[name]) for name in old | new]
    after, before = new.total(), old.total()
    least = _LEAST * (after + before) / max(1, min(after, before))
    common = sorted((pair for pair in pairs if sum(pair) >= least or len(pairs) == 2), key=sum)
    rare = after - sum(now for now, _ in common), before - sum(then for _, then in common)
    if common and 0 < sum(rare) < least:
        now, then = common.pop(0)
        rare = rare[0] + now, rare[1] + then
    return [*common, rare] if any(rare) else common


# -- what the records of one side are like -----------------------------------------------------------------


@final
class _Side:
    """What the records of one side are like.

    All but `places` is about one place in each record: one taken at random if arrays have many elements.
    """

    def __init__(self, name: str, records: Iterable[object], cluster: str | None) -> None:
        self.records = 0
        self.holders: dict[str, str | None] = {}
        """The path of the object or array that each field is in; None for whole records."""
        self.places: Counter[str] = Counter()
        """The number of each field's places in all records."""
        self.classes: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        """How often each class occurred, by path and kind: "type", "value", "format". If there are more than
        `_MOST_CLASSES`, not all of them are counted."""
        self.samples: defaultdict[tuple[str, str], array[float]] = defaultdict(lambda: array("d"))
        """All numbers, by path and kind: "number", "length"."""
        self._random = Random(0)  # noqa: S311 - takes samples, and guards nothing
        clusters = set()
        for given in records:
            of, record = cluster_of(to_json_value(given), cluster)
            if not of or of not in clusters:
                clusters.add(of)
                self.records += 1
                self._add(record, (), None, is_sample=True)
        if not self.records:
            raise ConfigurationError(f"there are no {name} records: nothing can be compared")

    def _add(self, value: Any, segments: tuple[Any, ...], holder: str | None, is_sample: bool) -> None:
        path = path_of(segments)
        self.holders.setdefault(path, holder)
        self.places[path] += 1
        if is_sample:
            self._count(path, value)
        if type(value) is dict:
            for key, inner in value.items():
                self._add(inner, (*segments, key), path, is_sample)
        elif type(value) is list and value:
            # Elements of one array are not independent: one of them stands for all.
            taken = self._random.randrange(len(value)) if is_sample else -1
            for at, inner in enumerate(value):
                self._add(inner, (*segments, ELEMENT), path, at == taken)

    def _count(self, path: str, value: Any) -> None:
        kind = json_type(value)
        self.classes[path, "type"][kind] += 1
        if kind == "number":
            self.samples[path, "number"].append(float(min(max(value, -float_info.max), float_info.max)))
        elif kind == "boolean":
            self.classes[path, "value"]["true" if value else "false"] += 1
        elif kind == "string":
            for of, name in (("value", value[:_LONGEST]), ("format", format_of(value[:_LONGEST]))):
                if len(self.classes[path, of]) <= _MOST_CLASSES:
                    self.classes[path, of][name] += 1
        if kind in {"string", "array"}:
            self.samples[path, "length"].append(len(value))


def format_of(text: str) -> str:
    """Return the pattern of digits and letters in a text: digits as 9, runs of letters as one A or a.

    >>> format_of("2024-01-31"), format_of("31 Jan 2024"), format_of("DE-0042b")
    ('9999-99-99', '99 Aa 9999', 'A-9999a')
    """
    signs = ("9" if c.isdigit() else "A" if c.isupper() else "a" if c.isalpha() else c for c in text)
    return "".join("".join(run) if sign == "9" else sign for sign, run in groupby(signs))
