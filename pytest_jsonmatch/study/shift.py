"""Are new records still like the old ones? What has moved, field by field."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from math import fsum
from random import Random
from statistics import median
from sys import float_info
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.value.convert import json_type, to_json_value
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.paths import ELEMENT
from pytest_jsonmatch.gate.paired import holm
from pytest_jsonmatch.study.places import path_of
from pytest_jsonmatch.study.records import cluster_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_jsonmatch.engine.value.convert import JsonValue

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
        effects = [change.effect for change in self.shown]
        shifted = len({change.path for change in self.shown})
        return {"shifted": shifted, "effect": max(effects, default=0.0), "unseen": len(self.unseen)}

    @property
    def by_field(self) -> dict[str, dict[str, float | None]]:
        """The same of each field: 1 or 0 for yes or no."""
        paths = [*(change.path for change in self.changes), *self.unseen]
        fields: dict[str, dict[str, float | None]] = {
            path: {"shifted": 0, "effect": 0.0, "unseen": int(path in self.unseen)} for path in paths
        }
        for change in reversed(self.shown):
            fields[change.path] |= {"shifted": 1, "effect": change.effect}
        return fields


def measure_shift(
    new: Iterable[object], old: Iterable[object], *, cluster: str | None = None
) -> ShiftStudy:
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
    after, before = _Profile("new", new, cluster), _Profile("old", old, cluster)
    paths = {**before.fields, **after.fields}
    found = [change for path in paths for change in _changes(path, after, before)]
    corrected = holm({str(at): change.p_value for at, change in enumerate(found)})
    changes = [replace(change, p_value=p) for change, p in zip(found, corrected.values(), strict=True)]
    changes.sort(key=lambda each: (not each.is_shown, -each.effect, each.path, each.kind))
    unseen = {
        path: field.places
        for path, field in sorted(after.fields.items())
        if path not in before.fields and field.holder in before.fields
    }
    return ShiftStudy(tuple(changes), unseen, after.records, before.records)


# -- tests -------------------------------------------------------------------------------------------------


def _changes(path: str, new: _Profile, old: _Profile) -> Iterator[FieldShift]:
    """Yield the changes of a field that can be tested."""
    after, before = new.field(path), old.field(path)
    holder = after.holder if after.holder is not None else before.holder
    yield from _of_shares(path, "type", new.types(path, holder), old.types(path, holder))
    for kind in ("value", "format"):
        yield from _of_shares(path, kind, after.classes[kind], before.classes[kind])
    for kind in ("number", "length"):
        yield from _of_numbers(path, kind, after.samples[kind], before.samples[kind])


def _of_shares(path: str, kind: str, new: Counter[str], old: Counter[str]) -> Iterator[FieldShift]:
    """Yield the change of a distribution over classes, if both sides have values and classes differ."""
    from scipy.stats import chi2_contingency

    after, before = new.total(), old.total()
    if min(after, before) < _LEAST or max(len(new), len(old)) > _MOST_CLASSES:
        return
    table = _merged([(new[name], old[name]) for name in new | old], after, before)
    if len(table) < 2:
        return
    effect = fsum(abs(now / after - then / before) for now, then in table) / 2
    most = max(new | old, key=lambda name: round(abs(new[name] / after - old[name] / before), 12))
    p_value = float(chi2_contingency(table)[1])
    shares = old[most] / before, new[most] / after
    yield FieldShift(path, kind, effect, p_value, most, *shares, before, after)


def _merged(pairs: list[tuple[int, int]], after: int, before: int) -> list[tuple[int, int]]:
    """Return the counts of classes; those for which chi-square does not hold are merged with the next."""
    share = min(after, before) / (after + before)
    table: list[tuple[int, int]] = []
    for now, then in sorted(pairs, key=sum):
        if table and sum(table[-1]) * share < _LEAST and len(pairs) > 2:
            now, then = now + table[-1][0], then + table.pop()[1]
        table.append((now, then))
    return [pair for pair in table if any(pair)]


def _of_numbers(path: str, kind: str, new: array[float], old: array[float]) -> Iterator[FieldShift]:
    """Yield the change of a distribution of numbers, if both sides have some and not all are the same."""
    from scipy.stats import ks_2samp

    fewest = min(len(new), len(old))
    if fewest < _LEAST or max(*new, *old) == min(*new, *old):
        return
    found = ks_2samp(new, old, method="exact" if fewest < _EXACT else "asymp")
    effect, p_value = float(found.statistic), min(float(found.pvalue), 1.0)
    yield FieldShift(path, kind, effect, p_value, "median", median(old), median(new), len(old), len(new))


# -- what the records of one side are like -----------------------------------------------------------------


@final
@dataclass(slots=True)
class _FieldProfile:
    """What a field is like in the records of one side.

    All but `places` is about one place in each record: one taken at random if arrays have many elements.
    """

    holder: str | None = None
    """The path of the objects or arrays that it is in; None for whole records."""
    places: int = 0
    """The number of its places in all records."""
    classes: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """How often each class occurred, by the kind of classes: "type", "value" of strings and booleans,
    "format" of strings. If there are more than `_MOST_CLASSES`, not all of them are counted."""
    samples: defaultdict[str, array[float]] = field(
        default_factory=lambda: defaultdict(lambda: array("d"))
    )
    """Each "number", and each "length": of strings in characters, of arrays in elements."""

    def add(self, value: Any) -> None:
        """Add a value."""
        kind = json_type(value)
        self.classes["type"][kind] += 1
        if kind == "number":
            self.samples["number"].append(_as_double(value))
        elif kind == "boolean":
            self.classes["value"]["true" if value else "false"] += 1
        elif kind == "string":
            for classes, name in (("value", value[:_LONGEST]), ("format", format_of(value[:_LONGEST]))):
                if len(self.classes[classes]) <= _MOST_CLASSES:
                    self.classes[classes][name] += 1
        if kind in {"string", "array"}:
            self.samples["length"].append(len(value))


@final
class _Profile:
    """What the records of one side are like."""

    def __init__(self, name: str, records: Iterable[object], cluster: str | None) -> None:
        self.records = 0
        self.fields: dict[str, _FieldProfile] = {}
        """By schema path."""
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

    def _add(self, value: JsonValue, segments: tuple[Any, ...], holder: str | None, is_sample: bool) -> None:
        path = path_of(segments)
        field = self.fields.setdefault(path, _FieldProfile(holder))
        field.places += 1
        if is_sample:
            field.add(value)
        if type(value) is dict:
            for key, inner in value.items():
                self._add(inner, (*segments, key), path, is_sample)
        elif type(value) is list and value:
            # Elements of one array are not independent: one of them stands for all.
            taken = self._random.randrange(len(value)) if is_sample else -1
            for at, inner in enumerate(value):
                self._add(inner, (*segments, ELEMENT), path, at == taken)

    def field(self, path: str) -> _FieldProfile:
        """Return a field; an empty one if no record has it."""
        return self.fields.get(path) or _FieldProfile()

    def types(self, path: str, holder: str | None) -> Counter[str]:
        """Return how often a field has each type, or is absent from an object that could have it."""
        types = self.field(path).classes["type"]
        objects = 0 if holder is None else self.field(holder).classes["type"]["object"]
        return types + Counter(absent=objects - types.total())


def _as_double(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float_info.max if value > 0 else -float_info.max


def format_of(text: str) -> str:
    """Return the pattern of digits and letters in a text: digits as 9, runs of letters as one A or a.

    >>> format_of("2024-01-31"), format_of("31 Jan 2024"), format_of("DE-0042b")
    ('9999-99-99', '99 Aa 9999', 'A-9999a')
    """
    signs = ("9" if c.isdigit() else "A" if c.isupper() else "a" if c.isalpha() else c for c in text)
    return "".join("".join(run) if sign == "9" else sign for sign, run in groupby(signs))
