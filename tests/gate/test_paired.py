"""Paired tests against hand-counted patterns and scipy."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from scipy.stats import binom, permutation_test

from pytest_jsonmatch.gate.paired import SignFlip, holm, sign_flip


def by_hand(deltas):
    """All patterns, one after the other; those that tie count half if a delta is 0."""
    sums = list(map(sum, itertools.product(*((-abs(delta), abs(delta)) for delta in deltas))))
    total, tie = sum(deltas), 0.5 if 0.0 in deltas else 1.0
    shares = [(s < total - 1e-9, abs(s - total) <= 1e-9, s > total + 1e-9) for s in sums]
    below, same, above = (sum(column) / len(sums) for column in zip(*shares))
    return below + tie * same, above + tie * same


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
    assert (found.p_drop, found.p_gain) == pytest.approx(by_hand(deltas))


def test_the_sign_flip_test_is_scipys_permutation_test():
    deltas = np.random.RandomState(1).normal(-0.05, 0.1, 11)
    theirs = permutation_test((deltas,), np.sum, permutation_type="samples", alternative="less")
    assert sign_flip(deltas.tolist()).p_drop == pytest.approx(theirs.pvalue)


@pytest.mark.parametrize("others", [0, 1, 30])
def test_of_outcomes_it_is_mcnemars_test(others):
    """Exact where all change, and mid-p where some do not."""
    found = sign_flip([-1.0] * 9 + [1.0] * 4 + [0.0] * others)
    tie = 0.5 if others else 1.0
    assert found.p_drop == pytest.approx(binom.sf(9, 13, 0.5) + tie * binom.pmf(9, 13, 0.5))


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


@pytest.mark.parametrize("n", [5, 8, 10, 20, 35, 50])
def test_the_error_rate_for_outcomes(n):
    """Summed over all that can happen, for shares of cases that differ from next to none to all."""
    failing = []
    for lost, gained in itertools.product(range(n + 1), repeat=2):
        deltas = [-1.0] * lost + [1.0] * gained + [0.0] * (n - lost - gained)
        if lost > gained and len(deltas) == n and sign_flip(deltas).p_drop <= 0.05:
            failing.append((lost + gained, binom.pmf(lost, lost + gained, 0.5)))
    for share in np.linspace(0.02, 1, 50):
        size = sum(binom.pmf(changed, n, share) * p for changed, p in failing)
        assert size <= (0.05 if share <= 0.5 else 0.06)


@pytest.mark.parametrize("deltas", [[], [0.0], [0.0] * 50, [1e-12, -1e-12]])
def test_deltas_of_0_prove_nothing(deltas):
    assert sign_flip(deltas) == SignFlip(1.0, 1.0)


def test_holm_by_hand():
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005}) == {"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02}
    assert holm({"a": 0.4, "b": 0.4}) == {"a": 0.8, "b": 0.8}
    assert holm({"a": 0.9, "b": 0.6}) == {"a": 1.0, "b": 1.0}
    assert holm({}) == {}
