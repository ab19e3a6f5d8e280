"""Tests of two runs on the same cases: one permutation test, and Holm's correction for multiple tests."""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from pytest_jsonmatch.gate.samples import GRAIN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_jsonmatch.gate.samples import Pairs, Unit

_HALF: Final = 2**15
"""All arrangements are counted if either half of the units has at most this many: up to 30 flips."""
_CELLS: Final = 2**12
"""The size of the grid for the sums of more units: 16 times half the root of their squared ranges."""
_GROUP: Final = 256
"""The most sums of a few units that go to the grid together."""
_MOST_DEALS: Final = 500
"""The most ways to deal the runs of a unit that are all tried; of more, this many are drawn."""
_SEED: Final = 20_240_602


@final
class PairedTest(NamedTuple):
    """The result of a permutation test."""

    p_drop: float
    """The probability of a difference this low or lower by chance: small where there is a drop."""
    p_gain: float
    """The probability of a difference this high or higher by chance: small where there is a gain."""


def paired_test(pairs: Pairs, shift: float = 0.0, extra: float | None = None) -> PairedTest:
    """Test whether the scores of two systems could as well have been each other's, case by case.

    The unit is the case, or the cluster of cases. By chance, each unit could have had all of its runs swapped
    between the two systems: a sign flip of its difference. If a unit has more runs of one system than of the
    other, a mean of five differs from a single score even without a change. So all ways to deal its runs to
    the two systems are tried, too, and the larger p-value counts. The flip alone calls equal systems worse in
    up to 13 % of comparisons with 1 run against 5; dealing alone does so in up to 26 % if the systems are
    equal on average but not case by case. Together: 1.3 to 5.5 % at a level of 5 %.

    The p-value is the share of arrangements with a difference at least as extreme as the observed one. The
    observed arrangement counts in full, others with the same difference count half (mid-p, Lancaster 1961).
    So the test is exact where no two arrangements are equal, and not too strict for outcomes of 0 and 1:
    at most 4.9 % where up to half of 5 to 50 outcomes differ, at most 6 % beyond.

    It is monotone: if any current score falls or any baseline score rises, `p_drop` does not rise (exactly up
    to 30 units, and within 0.001 beyond).

    Args:
        pairs: the two runs.
        shift: is added to every current score before the test.
        extra: the difference of one more case, before the shift; None for none. If nine of ten cases lose a
            ninth each, the mean drops by 0.1, but a sample without the tenth case shows a larger drop. One
            more case that lost nothing allows for this.

    Source: Fisher 1935, The Design of Experiments, §21; Pitman 1937. For the mean of asymmetric differences
    the sign flip is asymptotically valid: Romano 1990; Canay, Romano & Shaikh 2017.

    >>> from pytest_jsonmatch.gate.samples import pair_cases
    >>> before, now = ({case: [score] for case in "abcde"} for score in (1.0, 0.8))
    >>> paired_test(pair_cases(now, before))
    PairedTest(p_drop=0.03125, p_gain=1.0)
    """
    units = pairs.units
    flips = [[0.0, -2 * (unit.delta + shift * unit.size)] for unit in units]
    more = []
    if extra is not None:
        more = [[0.0, -2 * (extra + shift) * len(pairs.cases) / len(units)]]
    flipped = _test(flips + more)
    if all(len(unit.now) == len(unit.before) for unit in units):
        return flipped
    dealt = _test([_deal(unit, shift) for unit in units] + more)
    return PairedTest(max(flipped.p_drop, dealt.p_drop), max(flipped.p_gain, dealt.p_gain))


def _deal(unit: Unit, shift: float) -> Any:
    """Return the change of the difference of means for each way to deal the runs of a unit."""
    import numpy as np

    now, before = len(unit.now), len(unit.before)
    runs = np.array([*(score + shift * unit.size for score in unit.now), *unit.before])
    sums = runs[_ways(now + before, now)].sum(axis=1)
    return (sums - sums[0]) * (1 / now + 1 / before)


@lru_cache(maxsize=32)
def _ways(runs: int, dealt: int) -> Any:
    """Return the positions of the runs of one system, for each way to deal them; the first is no change."""
    import numpy as np

    if math.comb(runs, dealt) <= _MOST_DEALS:
        return np.array([*combinations(range(runs), dealt)])
    random = np.random.RandomState(_SEED)
    drawn = (random.permutation(runs)[:dealt] for _ in range(_MOST_DEALS - 1))
    return np.array([np.arange(dealt), *drawn])


def _test(units: Sequence[Sequence[float]]) -> PairedTest:
    """Test by the changes of the difference that the arrangements of each unit, equally likely, make."""
    import numpy as np

    grains = [np.rint(np.array(changes) * GRAIN).astype(np.int64) for changes in units]
    observed = math.exp(-math.fsum(math.log(len(changes)) for changes in grains))
    # Compute the rarer side, so that swapping the runs swaps the p-values to the last bit.
    sign = -1 if math.fsum(changes.mean() for changes in grains) < 0 else 1
    moving = sorted(tuple(np.sort(sign * changes).tolist()) for changes in grains if changes.any())
    halves = moving[::2], moving[1::2]
    if max(math.prod(map(len, half)) for half in halves) <= _HALF:
        below, equal = _count(*halves)
    else:
        below, equal = _convolve(moving)
    tied = (equal + observed) / 2
    rarer, other = min(1.0, below + tied), min(1.0, 1 - below - equal + tied)
    return PairedTest(rarer, other) if sign > 0 else PairedTest(other, rarer)


def _count(*halves: Sequence[Sequence[int]]) -> tuple[float, float]:
    """Return the chances that the sum of a random change of each unit is below 0, and that it is 0."""
    import numpy as np

    first, second = (np.sort(_sums(half)) for half in halves)
    tolerance = sum(map(len, halves))  # changes are rounded: three thirds are not 1
    below = int(np.searchsorted(second, -tolerance - first, side="left").sum())
    at_most = int(np.searchsorted(second, tolerance - first, side="right").sum())
    number = len(first) * len(second)
    return below / number, (at_most - below) / number


def _sums(units: Sequence[Sequence[int]]) -> Any:
    """Return the sums of all combinations of one change of each unit."""
    import numpy as np

    sums = np.zeros(1, dtype=np.int64)
    for changes in units:
        sums = np.add.outer(sums, np.array(changes)).ravel()
    return sums


def _convolve(units: Sequence[Sequence[int]]) -> tuple[float, float]:
    """Return the same chances for many units, on a grid; the mean of all changes is not below 0.

    The sums of a few units are divided between the two cells around them, which keeps the mean. Exact where
    all changes are multiples of the smallest, as with outcomes of 0 and 1; otherwise within 0.001. What is
    left out beyond the grid has a chance of at most exp(-32) (Hoeffding 1963).

    Source: Pagano & Tritchler 1983, On obtaining permutation distributions in polynomial time.
    """
    import numpy as np

    scale = math.sqrt(math.fsum((changes[-1] - changes[0]) ** 2 for changes in units)) / 2
    smallest = min(abs(change) for changes in units for change in changes if change)
    finest = 16 * scale / _CELLS
    step = max(finest, smallest / math.ceil(smallest / (2 * finest)))
    spectrum: Any = 1.0
    size = max(1, int(math.log(_GROUP) / math.log(max(map(len, units)))))
    for group, times in Counter(tuple(units[at : at + size]) for at in range(0, len(units), size)).items():
        changes = _sums(group) / step
        cells = np.floor(changes).astype(np.int64)
        upper = changes - cells
        chances = np.bincount(cells % _CELLS, 1 - upper, _CELLS)
        chances += np.bincount((cells + 1) % _CELLS, upper, _CELLS)
        spectrum = spectrum * np.fft.rfft(chances / len(changes)) ** times
    sums = np.fft.irfft(spectrum, _CELLS)
    mean = math.fsum(sum(changes) / len(changes) for changes in units)
    below = sums[np.arange(round(mean / step) - _CELLS // 2, 0) % _CELLS].sum()
    return max(0.0, float(below)), max(0.0, float(sums[0]))


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Correct p-values for multiple tests: at a level of 0.05, at most 5 % of sets have any false positive.

    The tests may depend on each other in any way, as fields of a case do.

    Source: Holm 1979, A simple sequentially rejective multiple test procedure.

    >>> holm({"price": 0.01, "name": 0.04, "date": 0.03})
    {'price': 0.03, 'name': 0.06, 'date': 0.06}
    """
    corrected: dict[str, float] = {}
    largest = 0.0
    # Equal p-values get equal corrected ones, so it does not matter which of them comes first.
    for rank, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[name]))
        corrected[name] = largest
    return {name: corrected[name] for name in p_values}
