"""Tests against a margin: their error rate is counted exactly where it can be."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import multinomial

from pytest_jsonmatch.gate.margin import p_drop_at_most
from pytest_jsonmatch.gate.paired import sign_flip


def outcomes(lost, gained, n):
    return [-1.0] * lost + [1.0] * gained + [0.0] * (n - lost - gained)


@pytest.mark.parametrize(("n", "drop"), [(10, 0.1), (10, 0.2), (30, 0.02), (30, 0.1)])
def test_the_error_rate_for_outcomes_holds_whatever_else_changes(n, drop):
    failing = [
        (lost, gained)
        for lost in range(n + 1)
        for gained in range(n + 1 - lost)
        if lost - gained > n * drop and p_drop_at_most(outcomes(lost, gained, n), drop) <= 0.05
    ]
    assert failing
    for gains in np.linspace(0, (1 - drop) / 2 - 1e-9, 25):
        chances = multinomial.pmf(
            [(lost, gained, n - lost - gained) for lost, gained in failing],
            n,
            [gains + drop, gains, max(0.0, 1 - 2 * gains - drop)],
        )
        assert chances.sum() <= 0.05


def test_sign_flips_alone_would_not_hold_it():
    # 30 cases that all change, 0.525 of them for the worse: a drop of 0.05, and no more.
    chances = [math.comb(30, lost) * 0.525**lost * 0.475 ** (30 - lost) for lost in range(31)]
    flips = [sign_flip(outcomes(lost, 30 - lost, 30), 0.05).p_drop <= 0.05 for lost in range(31)]
    ours = [p_drop_at_most(outcomes(lost, 30 - lost, 30), 0.05) <= 0.05 for lost in range(31)]
    assert sum(chance for chance, fails in zip(chances, flips) if fails) > 0.08
    assert sum(chance for chance, fails in zip(chances, ours) if fails) <= 0.05


def test_without_a_margin_it_is_the_sign_flip_test():
    for deltas in (outcomes(6, 1, 20), [-0.1, -0.2, 0.15, -0.3], []):
        assert p_drop_at_most(deltas, 0.0) == sign_flip(deltas).p_drop


def test_a_larger_margin_is_never_easier_to_exceed():
    for deltas in (outcomes(12, 2, 30), [-0.3, -0.2, -0.25, -0.1, -0.4, -0.2, 0.05]):
        ps = [p_drop_at_most(deltas, drop) for drop in (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3)]
        assert ps == sorted(ps)


def test_no_drop_beyond_the_margin_has_no_small_p_value():
    assert p_drop_at_most(outcomes(2, 0, 20), 0.1) == 1.0
    assert p_drop_at_most([-0.05] * 10, 0.1) == 1.0
    assert p_drop_at_most([], 0.1) == 1.0
    assert p_drop_at_most([-0.5], 0.1) == 1.0


def test_equal_drops_beyond_the_margin_are_proof():
    assert p_drop_at_most([-0.2] * 6, 0.1) == 1 / 64


def test_skewed_deltas_are_not_taken_for_a_drop_too_often():
    random = np.random.RandomState(5)
    runs = 250
    drawn = [(random.exponential(0.1, 40) - 0.15).clip(-1, 1).tolist() for _ in range(runs)]
    flips = sum(sign_flip(deltas, 0.05).p_drop <= 0.05 for deltas in drawn)
    ours = sum(p_drop_at_most(deltas, 0.05) <= 0.05 for deltas in drawn)
    assert flips / runs > 0.08
    assert ours / runs < 0.06
