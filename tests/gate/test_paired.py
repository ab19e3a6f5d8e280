"""Paired tests against hand-counted patterns and scipy."""

from __future__ import annotations

import itertools
import math
import random
from statistics import fmean

import numpy as np
import pytest
from scipy.stats import binom, permutation_test

from pytest_jsonmatch.gate.paired import holm, paired_test
from pytest_jsonmatch.gate.samples import CaseTerms, Pairs, Unit, pair_cases
from tests.conftest import sign_flip


def count_by_hand(changes):
    """All arrangements, one after the other; those that change nothing count half, the observed one in full."""
    sums = [sum(each) for each in itertools.product(*changes)]
    shares = [(s < -1e-9, abs(s) <= 1e-9, s > 1e-9) for s in sums]
    below, same, above = (sum(column) / len(sums) for column in zip(*shares))
    return below + (same + 1 / len(sums)) / 2, above + (same + 1 / len(sums)) / 2


@pytest.mark.parametrize(
    "deltas",
    [
        [-0.1],
        [-0.1, -0.2, 0.3],
        [-0.1, -0.2, -0.1, -0.3, -0.2, 0.0],
        [0.5, -0.5, 0.5, 0.0, -1.0],
        [-0.31, 0.12, -0.07, -0.4, 0.05, -0.22, 0.01, -0.35, 0.18, -0.09],
    ],
)
def test_the_sign_flip_test_counts_all_patterns(deltas):
    found = sign_flip(deltas)
    assert (found.p_drop, found.p_gain) == pytest.approx(count_by_hand([(0, -2 * delta) for delta in deltas]))


RUNS = {
    "a": ([0.5], [1.0, 0.75, 0.25]),
    "b": ([0.0], [1.0, 1.0, 1.0]),
    "c": ([0.75, 0.25], [0.5]),
    "d": ([0.1, 0.4], [0.9, 0.7]),
}


def test_where_numbers_of_runs_differ_all_deals_are_counted_too():
    now, before = ({case: sides[at] for case, sides in RUNS.items()} for at in (0, 1))
    found = paired_test(pair_cases(now, before))
    flips, deals = [], []
    for ours, theirs in RUNS.values():
        flips.append((0, 2 * (fmean(theirs) - fmean(ours))))
        runs, observed = [*ours, *theirs], fmean(ours) - fmean(theirs)
        dealt = []
        for chosen in itertools.combinations(range(len(runs)), len(ours)):
            rest = [score for at, score in enumerate(runs) if at not in chosen]
            dealt.append(fmean([runs[at] for at in chosen]) - fmean(rest) - observed)
        deals.append(dealt)
    both = count_by_hand(flips), count_by_hand(deals)
    assert (found.p_drop, found.p_gain) == pytest.approx(tuple(map(max, *both)))
    assert both[0] != both[1]


def test_equal_numbers_of_runs_are_not_dealt():
    """Systems that are better at some cases and worse at others are equal on average."""
    before = {str(at): [0.0, 1.0, 1.0] for at in range(6)}
    now = {str(at): [0.0, 1.0, 0.0] for at in range(6)}
    assert paired_test(pair_cases(now, before)) == sign_flip([-1 / 3] * 6)


def test_a_shift_comes_with_one_more_case():
    before, now = {str(at): [1.0] for at in range(9)}, {str(at): [0.5] for at in range(9)}
    found = paired_test(pair_cases(now, before), shift=0.25, extra=-1.0)
    deltas = [-0.25] * 9 + [-0.75]
    assert tuple(found) == pytest.approx(count_by_hand([(0, -2 * delta) for delta in deltas]))


@pytest.mark.parametrize("sides", [(5, 1), (1, 5), (4, 2), (6, 7)])
def test_deals_of_many_cases_come_near_random_ones(sides):
    source = np.random.RandomState(sum(sides))
    now, before = (source.beta(8, 2, (60, runs)) for runs in sides)
    now -= 0.02
    sides = ({str(at): runs for at, runs in enumerate(each.tolist())} for each in (now, before))
    found = paired_test(pair_cases(*sides))
    runs, k = np.hstack((now, before)), now.shape[1]
    order = np.argsort(source.random_sample((8_000, *runs.shape)), axis=2)
    dealt = np.take_along_axis(runs[None], order, axis=2)
    differences = (dealt[..., :k].mean(axis=2) - dealt[..., k:].mean(axis=2)).sum(axis=1)
    observed = (now.mean(axis=1) - before.mean(axis=1)).sum()
    assert found.p_drop >= (differences < observed).mean() - 0.01
    assert found.p_gain >= (differences > observed).mean() - 0.01


def test_the_sign_flip_test_is_scipys_permutation_test():
    deltas = np.random.RandomState(1).normal(-0.05, 0.1, 11)
    theirs = permutation_test((deltas,), np.sum, permutation_type="samples", alternative="less")
    assert sign_flip(deltas.tolist()).p_drop == pytest.approx(theirs.pvalue)


@pytest.mark.parametrize("others", [0, 1, 30])
def test_of_outcomes_it_is_mcnemars_mid_p_test(others):
    found = sign_flip([-1.0] * 9 + [1.0] * 4 + [0.0] * others)
    observed = 2.0 ** -(13 + others) / 2
    assert found.p_drop == pytest.approx(binom.sf(9, 13, 0.5) + binom.pmf(9, 13, 0.5) / 2 + observed)


@pytest.mark.parametrize("n", [31, 60, 300])
def test_of_many_outcomes_it_is_exact(n):
    lost = n // 2 + math.isqrt(n)
    found = sign_flip([-1.0] * lost + [1.0] * (n - lost))
    assert found.p_drop == pytest.approx(binom.sf(lost, n, 0.5) + binom.pmf(lost, n, 0.5) / 2, abs=1e-9)


@pytest.mark.parametrize(
    "draw",
    [
        lambda source: source.random(),
        lambda source: 1.0,
        lambda source: source.choice((0.5, 1.0)),
        lambda source: source.lognormvariate(0, 1.5) / 100,
        lambda source: 1.0 if source.random() < 0.02 else 0.01,
    ],
)
@pytest.mark.parametrize("n", [25, 60, 200])
def test_of_many_deltas_it_comes_near_all_patterns(draw, n):
    source = random.Random(n)
    sizes = np.array([draw(source) for _ in range(n)])
    patterns = np.random.RandomState(n).choice([-1.0, 1.0], (40_000, n))
    sums = patterns @ sizes
    for at in (2_000, 400):
        observed = patterns[np.argsort(sums)[at]] * sizes
        total = observed.sum()
        true = (sums < total - 1e-9).mean() + (np.abs(sums - total) <= 1e-9).mean() / 2
        assert sign_flip([*observed.tolist(), 0.0]).p_drop == pytest.approx(true, abs=0.004)


def test_a_rare_sum_of_many_is_as_rare_as_among_all_patterns():
    sizes = np.random.RandomState(2).uniform(size=21)
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate((sums - size, sums + size))
    for share in (0.005, 0.001):
        at = int(np.argsort(sums)[int(share * len(sums))])
        signs = [1 if at >> bit & 1 else -1 for bit in range(21)]
        assert sign_flip((signs * sizes).tolist()).p_drop == pytest.approx(share, rel=0.05)


@pytest.mark.parametrize("n", [5, 8, 10, 20, 33])
def test_the_error_rate_for_outcomes(n):
    """Summed over all that can happen, for shares of cases that differ from next to none to all."""
    failing = []
    for lost, gained in itertools.product(range(n + 1), repeat=2):
        if not gained < lost <= n - gained:
            continue
        deltas = [-1.0] * lost + [1.0] * gained + [0.0] * (n - lost - gained)
        if sign_flip(deltas).p_drop <= 0.05:
            failing.append((lost + gained, binom.pmf(lost, lost + gained, 0.5)))
    changed, chances = np.array(failing).T
    for share in np.linspace(0.02, 1, 50):
        size = binom.pmf(changed, n, share) @ chances
        assert size <= (0.05 if share <= 0.5 else 0.06)


@pytest.mark.parametrize("deltas", [[], [0.0], [0.0] * 50, [1e-12, -1e-12]])
def test_deltas_of_0_prove_nothing(deltas):
    found = sign_flip(deltas)
    assert found.p_drop == found.p_gain >= 0.5


def test_holm_by_hand():
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005}) == {"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02}
    assert holm({"a": 0.4, "b": 0.4}) == {"a": 0.8, "b": 0.8}
    assert holm({"a": 0.9, "b": 0.6}) == {"a": 1.0, "b": 1.0}
    assert holm({}) == {}


def test_differences_of_floats_tie_where_those_of_decimals_do():
    now, before = {"a": [0.3], "b": [0.8]}, {"a": [0.2], "b": [0.9]}
    assert tuple(paired_test(pair_cases(now, before))) == (0.625, 0.625)


# -- scores of cases and their repeats ------------------------------------------------------------------------


def test_all_repeats_of_a_case_are_averaged():
    pairs = pair_cases({"a": [1, 0.0, 0.5], "b": [1.0, 0.5, 0.0]}, {"a": [1.0, 0.5, 0.0], "b": [0.0, 0.5]})
    assert (pairs.current, pairs.baseline) == ((0.5, 0.5), (0.5, 0.25))


def test_a_cluster_adds_the_scores_of_its_cases():
    """Only the repeats that all of its cases have are added; their means are over all repeats."""
    now, before = {"a": [1.0, 0.5], "b": [0.5, 0.25, 0.0]}, {"a": [1.0], "b": [1.0]}
    pairs = pair_cases(now, before, {"a": "invoice", "b": "invoice"})
    assert pairs.units == [Unit(now=[1.5, 0.75], before=[2.0], delta=-1.0, size=2)]


def test_cases_are_sorted_and_those_of_one_run_are_left_out():
    current = {"c": [1.0], "new": [0.0], "a": [0.5]}
    baseline = {"a": [1.0], "old": [1.0], "c": [0.25]}
    pairs = pair_cases(current, baseline)
    assert pairs == Pairs(("a", "c"), ([0.5], [1.0]), ([1.0], [0.25]), ("a", "c"))
    assert pairs.deltas == (-0.5, 0.75)


def test_clusters_go_with_the_cases():
    pairs = pair_cases({"a": [1.0], "b": [0.5]}, {"a": [0.5], "b": [0.5]}, {"b": "invoice"})
    assert pairs.rows == [CaseTerms(0.5, 1.0, "a"), CaseTerms(0.0, 1.0, "invoice")]
