"""Are new records still like the old ones? What has moved, field by field."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import comb
from statistics import median
from typing import TYPE_CHECKING, Final, final

from pytest_jsonmatch.engine.value.convert import to_json_value
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.gate.paired import holm
from pytest_jsonmatch.study.profiles import MOST_CLASSES, FieldProfile, Profile

if TYPE_CHECKING:
    from pytest_jsonmatch.study.sample import Sample

FIGURES: Final = ("shifted", "effect", "unseen")
"""The figures that gates may name."""
_ALARMS: Final = 0.05
_FEW: Final = 100
"""With fewer numbers on a side, use the exact Kolmogorov-Smirnov test: the formula for many does not hold."""
_LEAST_EXPECTED: Final = 5.0
"""Classes with fewer expected values on a side are merged: chi-square does not hold for them."""


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
        if len(one.shares[kind]) <= MOST_CLASSES >= len(other.shares[kind]):
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
