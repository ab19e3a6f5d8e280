"""Are new records still like the old ones? What has moved, field by field."""

from __future__ import annotations

import warnings
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from math import comb
from random import Random
from statistics import median
from sys import float_info
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.value.convert import json_type, to_json_value
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.paths import ELEMENT, Segment, format_path
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.gate.paired import holm
from pytest_jsonmatch.study.sample import Sample

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.value.convert import JsonValue

FIGURES: Final = ("shifted", "effect", "unseen")
"""The figures that gates may name."""
_ALARMS: Final = 0.05
_FEW: Final = 100
"""With fewer numbers on a side, use the exact Kolmogorov-Smirnov test: the formula for many does not hold."""
_LEAST_EXPECTED: Final = 5.0
"""Classes with fewer expected values on a side are merged: chi-square does not hold for them."""
_RESERVOIR: Final = 10_000
"""At most this many numbers, and as many lengths, are kept of a field."""
_MOST_CLASSES: Final = 1_000
"""With more different values, or formats, a field is free text: it has no distribution to compare."""
_MOST_FIELDS: Final = 5_000
_LONGEST: Final = 80
"""Values and formats are distinguished by this many characters."""


@final
@dataclass(frozen=True, slots=True)
class Change:
    """How one property of a field differs between old and new records.

    Args:
        path: the field's schema path.
        kind: "presence", "null", "type", "value", "format", "number" or "length".
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
        new: how many new records there are.
        old: how many old ones.
        notes: remarks, such as how much was left out.
    """

    changes: tuple[Change, ...]
    unseen: Mapping[str, int]
    new: int
    old: int
    notes: tuple[str, ...] = ()

    @property
    def shown(self) -> tuple[Change, ...]:
        """The changes that chance does not explain."""
        return tuple(change for change in self.changes if change.is_shown)

    @property
    def figures(self) -> dict[str, float | None]:
        """How many fields are shown to have shifted, the greatest effect among them, how many are unseen."""
        shown = self.shown
        return {
            "shifted": len({change.path for change in shown}),
            "effect": max((change.effect for change in shown), default=0.0),
            "unseen": len(self.unseen),
        }

    @property
    def by_field(self) -> dict[str, dict[str, float | None]]:
        """The same of each field: 1 or 0 for yes or no."""
        found: dict[str, dict[str, float | None]] = {}
        for path in [*(change.path for change in self.changes), *self.unseen]:
            found.setdefault(path, {"shifted": 0, "effect": 0.0, "unseen": int(path in self.unseen)})
        for change in reversed(self.shown):
            found[change.path] |= {"shifted": 1, "effect": change.effect}
        return found


def measure_shift(new: Iterable[object], old: Iterable[object]) -> ShiftStudy:
    """Find out what has moved between old records and new ones.

    For each field these are compared: how often it is present, and null; types; values of strings and
    booleans, if at most 1,000 differ, and formats of strings; the distributions of numbers and of lengths.

    Args:
        new: records, any Python values with a JSON form.
        old: the records to compare them with.

    Returns:
        All changes with effect sizes, and p-values corrected together (Holm 1979): if nothing has moved, any
        change is shown in at most 5 % of runs.

    Raises:
        ConfigurationError: no records on a side.
        UnsupportedValueError: a value has no JSON form.

    Sources: Pearson's chi-square (1900), Fisher's exact test for few, Kolmogorov-Smirnov's for numbers.

    >>> old = [{"currency": "EUR", "total": at} for at in range(200)]
    >>> new = [{"currency": "EUR" if at % 2 else "USD", "total": at, "tax": 1} for at in range(200)]
    >>> study = measure_shift(new, old)
    >>> [(change.path, change.kind, change.effect) for change in study.shown], study.unseen
    ([('tax', 'presence', 1.0), ('currency', 'value', 0.5)], {'tax': 200})
    """
    profiles = []
    for name, records in (("new", new), ("old", old)):
        profile = Profile()
        for record in records:
            profile.add(to_json_value(record))
        if not profile.records:
            raise ConfigurationError(f"there are no {name} records: nothing can be compared")
        profiles.append(profile)
    return _compared(*profiles)


def _compared(new: Profile, old: Profile) -> ShiftStudy:
    found = [change for path in {**old.fields, **new.fields} for change in _changes(path, new, old)]
    corrected = holm({str(at): change.p_value for at, change in enumerate(found)})
    changes = [replace(change, p_value=p) for change, p in zip(found, corrected.values(), strict=True)]
    changes.sort(key=lambda each: (not each.is_shown, -each.effect, each.path, each.kind))
    notes = [
        f"{count(side.left_out, 'place')} of {name} records left out: more than 5,000 fields"
        for name, side in (("new", new), ("old", old))
        if side.left_out
    ]
    unseen = {
        path: field.places
        for path, field in sorted(new.fields.items())
        if path not in old.fields and field.holder in old.fields
    }
    return ShiftStudy(tuple(changes), unseen, new.records, old.records, tuple(notes))


def _changes(path: str, new: Profile, old: Profile) -> Iterator[Change]:
    """Yield the changes of a field that can be tested."""
    nothing = FieldProfile()
    one, other = new.fields.get(path, nothing), old.fields.get(path, nothing)
    holder, name = one.holder or other.holder, path or "$"
    here, there = (
        Counter(present=each.present, absent=side.fields.get(holder, nothing).objects - each.present)
        for each, side in ((one, new), (other, old))
    )
    yield from _of_shares(name, "presence", here, there)
    for kind in one.shares.keys() & other.shares.keys():
        # Free text has no values to compare.
        if len(one.shares[kind]) <= _MOST_CLASSES >= len(other.shares[kind]):
            yield from _of_shares(name, kind, one.shares[kind], other.shares[kind])
    for kind in one.samples.keys() & other.samples.keys():
        yield from _of_numbers(name, kind, one.samples[kind], other.samples[kind])


def _of_shares(path: str, kind: str, new: Counter[str], old: Counter[str]) -> Iterator[Change]:
    """Yield the change of a distribution over classes, if both sides have values and classes differ."""
    after, before = sum(new.values()), sum(old.values())
    every = {name: (new[name], old[name]) for name in {**old, **new}}
    if _is_hopeless(after, before) or sum(any(pair) for pair in every.values()) < 2:
        return
    table = _pooled(list(every.values()), after, before)
    if len(table) < 2:
        return
    shares = [(name, other / before, one / after) for name, (one, other) in every.items()]
    most = max(shares, key=lambda share: round(abs(share[2] - share[1]), 12))
    effect = sum(abs(one / after - other / before) for one, other in table) / 2
    p_value = _p_value(table)
    yield Change(path, kind, effect, p_value, *most, before, after)


def _is_hopeless(after: int, before: int) -> bool:
    """Tell whether values are too few to show anything: a test would only cost the others (Tarone 1990)."""
    fewer = min(after, before)
    return fewer < 10 and comb(after + before, fewer) < 2 / _ALARMS


def _pooled(pairs: list[tuple[int, int]], after: int, before: int) -> list[tuple[int, int]]:
    """Return classes, the rare ones merged; if there are only two, none is too rare."""
    share = min(after, before) / (after + before)
    common = [pair for pair in pairs if sum(pair) * share >= _LEAST_EXPECTED or len(pairs) == 2]
    rare = after - sum(one for one, _ in common), before - sum(other for _, other in common)
    if not any(rare):
        return common
    if sum(rare) * share < _LEAST_EXPECTED and len(common) > 1:
        # What is still too rare goes to the rarest of the others.
        common.sort(key=sum)
        first = common.pop(0)
        rare = rare[0] + first[0], rare[1] + first[1]
    return [*common, rare]


def _p_value(table: list[tuple[int, int]]) -> float:
    from scipy.stats import chi2_contingency, fisher_exact

    sides = sum(one for one, _ in table), sum(other for _, other in table)
    rarest = min(sum(pair) for pair in table) * min(sides) / sum(sides)
    if len(table) == 2 and rarest < 2 * _LEAST_EXPECTED:
        return float(fisher_exact(table)[1])
    return float(chi2_contingency(table, correction=False)[1])


def _of_numbers(path: str, kind: str, new: Sample[float], old: Sample[float]) -> Iterator[Change]:
    """Yield the change of a distribution of numbers, if both sides have some and not all are the same."""
    if _is_hopeless(new.seen, old.seen) or len({*new.values, *old.values}) < 2:
        return
    from scipy.stats import ks_2samp

    is_small = min(len(new.values), len(old.values)) < _FEW
    with warnings.catch_warnings():
        # Where the exact probability is 1, rounding may take it beyond that; scipy then warns.
        warnings.simplefilter("ignore", RuntimeWarning)
        found = ks_2samp(new.values, old.values, method="exact" if is_small else "asymp")
    middles = median(old.values), median(new.values)
    effect, p_value = float(found.statistic), float(found.pvalue)
    yield Change(path, kind, effect, p_value, "median", *middles, old.seen, new.seen)


# -- what the records of one side are like -----------------------------------------------------------------


@final
@dataclass(slots=True)
class FieldProfile:
    """What a field is like.

    All but `places` is about one place in each record: one taken at random if arrays have many elements.
    """

    path: str = ""
    holder: str = ""
    """The path of the objects or arrays that it is in."""
    below: dict[Segment, FieldProfile] = field(default_factory=dict)
    """The fields directly below it."""
    places: int = 0
    """The number of its places in all records."""
    objects: int = 0
    """How many objects are here."""
    present: int = 0
    """In how many objects of its holder it is a member."""
    shares: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """How often each class occurred, by the kind of classes: "null", "type", "value" of strings and booleans,
    "format" of strings: digits as 9, letters as A and a, runs of letters as one. If there are more than
    `_MOST_CLASSES`, not all of them are counted."""
    samples: defaultdict[str, Sample[float]] = field(
        default_factory=lambda: defaultdict(lambda: Sample(_RESERVOIR, array("d")))
    )
    """Samples of each "number", and each "length": of strings in characters, of arrays in elements."""

    def add(self, value: JsonValue) -> None:
        """Add a value."""
        kind = json_type(value)
        self.shares["null"].update(null=kind == "null", other=kind != "null")
        if kind != "null":
            self._count("type", kind)
        if kind == "number":
            self.samples["number"].add(_as_double(value))
        elif kind == "boolean":
            self._count("value", "true" if value else "false")
        elif kind == "string":
            self._count("value", value)
            self._count("format", format_of(value[:_LONGEST]))
        if kind in {"string", "array"}:
            self.samples["length"].add(len(value))

    def _count(self, kind: str, name: str) -> None:
        classes = self.shares[kind]
        if len(classes) <= _MOST_CLASSES:
            classes[name[:_LONGEST]] += 1


def _as_double(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float_info.max if value > 0 else -float_info.max


def format_of(text: str) -> str:
    """Return the pattern of digits and letters in a text.

    >>> format_of("2024-01-31"), format_of("31 Jan 2024"), format_of("DE-0042b")
    ('9999-99-99', '99 Aa 9999', 'A-9999a')
    """
    signs = ("9" if c.isdigit() else "A" if c.isupper() else "a" if c.isalpha() else c for c in text)
    return "".join("".join(run) if sign == "9" else sign for sign, run in groupby(signs))


@final
class Profile:
    """What the records of one side are like; `add` takes them one by one."""

    def __init__(self) -> None:
        self.records = 0
        self.fields = {"": FieldProfile()}
        """By path; the records themselves have an empty one."""
        self.left_out = 0
        """Places of fields beyond the first 5,000."""
        self._random = Random(0)  # noqa: S311 - takes samples, and guards nothing

    def add(self, record: JsonValue) -> None:
        """Add a record."""
        self.records += 1
        # An explicit stack: a record may be deeper than Python's.
        waiting: list[tuple[JsonValue, FieldProfile, bool]] = [(record, self.fields[""], True)]
        while waiting:
            value, found, is_sample = waiting.pop()
            found.places += 1
            if is_sample:
                found.add(value)
            inside: Iterable[tuple[Segment, JsonValue, bool]] = ()
            if type(value) is dict:
                found.objects += is_sample
                inside = ((key, each, is_sample) for key, each in value.items())
            elif type(value) is list and value:
                # Elements of one array are not independent: one of them stands for all.
                taken = self._random.randrange(len(value)) if is_sample else -1
                inside = ((ELEMENT, each, at == taken) for at, each in enumerate(value))
            for segment, each, is_taken in inside:
                below = self._below(found, segment)
                if below is None:
                    self.left_out += 1
                    continue
                below.present += is_taken and segment is not ELEMENT
                waiting.append((each, below, is_taken))

    def _below(self, holder: FieldProfile, segment: Segment) -> FieldProfile | None:
        found = holder.below.get(segment)
        if found is None and len(self.fields) < _MOST_FIELDS:
            step = format_path((segment,))
            dot = "." if holder.path and not step.startswith("[") else ""
            path = f"{holder.path}{dot}{step}"
            found = holder.below[segment] = self.fields[path] = FieldProfile(path, holder.path)
        return found
