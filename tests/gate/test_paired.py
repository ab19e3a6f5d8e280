"""Paired tests against hand-counted patterns and scipy."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from scipy.stats import binomtest, permutation_test

from pytest_jsonmatch.gate.paired import (
    SignFlip,
    _lattice_sums,
    holm,
    lattice_steps,
    level,
    mcnemar,
    sign_flip,
)
from pytest_jsonmatch.gate.samples import to_grains


def by_hand(deltas):
    """All patterns, one after the other."""
    sums = [
        sum(sign * abs(delta) for sign, delta in zip(signs, deltas))
        for signs in itertools.product((-1, 1), repeat=len(deltas))
    ]
    low, high = (
        sum(side) / len(sums)
        for side in zip(*((s <= sum(deltas) + 1e-9, s >= sum(deltas) - 1e-9) for s in sums))
    )
    return low, high


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
    assert found.method == "exact"


def test_the_sign_flip_test_is_scipys_permutation_test():
    deltas = np.random.RandomState(1).normal(-0.05, 0.1, 11)
    theirs = permutation_test((deltas,), np.sum, permutation_type="samples", alternative="less")
    assert sign_flip(deltas.tolist()).p_drop == pytest.approx(theirs.pvalue)


@pytest.mark.parametrize("unit", [1.0, 0.5, 1 / 3, 0.2, 0.01])
def test_sums_over_a_lattice_count_the_same_patterns(unit):
    source = random.Random(7)
    deltas = [source.choice((-2, -1, -1, 1, 2)) * unit / 2 for _ in range(28)]
    sizes = [abs(grain) for grain in to_grains(deltas)]
    steps = lattice_steps(sizes)
    observed = sum(step if delta > 0 else -step for step, delta in zip(steps, deltas))
    found = sign_flip(deltas)
    assert _lattice_sums(steps, observed) == pytest.approx((found.p_drop, found.p_gain), abs=1e-12)
    assert sign_flip(deltas * 2).method == "exact"


def test_thirds_are_a_lattice_although_floats_are_not():
    third = to_grains([1 / 3])[0]
    assert lattice_steps([third, 1_000_000_000, 2 * third + 1]) == [1, 3, 2]
    assert lattice_steps([123_456_789, 904_654_321, 555_155_557]) is None


def test_33_outcomes_are_mcnemars_test():
    deltas = [-1.0] * 22 + [1.0] * 11 + [0.0] * 5
    theirs = binomtest(22, 33, alternative="greater").pvalue
    assert sign_flip(deltas) == SignFlip(
        pytest.approx(theirs), pytest.approx(binomtest(11, 33, alternative="greater").pvalue), 33, "exact"
    )


def test_drawn_patterns_come_near_all_of_them():
    source = random.Random(2)
    tied = [round(source.gauss(-0.03, 0.1), 2) for _ in range(60)]
    exact = sign_flip(tied)
    drawn = sign_flip([delta + source.random() * 1e-7 for delta in tied])
    assert (exact.method, drawn.method) == ("exact", "Monte Carlo")
    assert drawn.p_drop == pytest.approx(exact.p_drop, abs=0.01)


def test_drawn_p_values_are_never_0():
    deltas = [-0.1 - index * 0.00012345 for index in range(50)]
    found = sign_flip(deltas)
    assert (found.p_drop, found.p_gain, found.method) == (1 / 20_000, 1.0, "Monte Carlo")


def test_the_same_figures_everywhere():
    source = random.Random(3)
    deltas = [source.gauss(-0.01, 0.1) for _ in range(77)]
    assert sign_flip(deltas) == SignFlip(0.0089, 0.99115, 77, "Monte Carlo")


@pytest.mark.parametrize("deltas", [[], [0.0], [0.0] * 50, [1e-12, -1e-12]])
def test_deltas_of_0_prove_nothing(deltas):
    assert sign_flip(deltas) == SignFlip(1.0, 1.0, 0, "exact")


def test_a_shift_tests_for_a_larger_drop():
    deltas = [-0.1] * 6
    assert (sign_flip(deltas, 0.05).p_drop, sign_flip(deltas, 0.1).p_drop) == (1 / 64, 1.0)
    assert sign_flip(deltas, 0.15).p_gain == 1 / 64


def test_mcnemar_by_the_binomial_distribution():
    before = {str(case): case < 12 for case in range(20)}
    now = {**{str(case): 9 <= case < 14 for case in range(20)}, "new": True}
    found = mcnemar(now, before)
    assert (found.lost, found.gained) == (9, 2)
    assert found.p_drop == pytest.approx(binomtest(9, 11, alternative="greater").pvalue)
    assert found.p_gain == pytest.approx(binomtest(2, 11, alternative="greater").pvalue)
    assert found.p_value == pytest.approx(binomtest(9, 11).pvalue)


def test_mcnemar_without_a_change():
    found = mcnemar({"a": True}, {"a": True, "b": False})
    assert (found.lost, found.gained, found.p_drop, found.p_gain, found.p_value) == (0, 0, 1.0, 1.0, 1.0)


def test_holm_by_hand():
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005}) == {"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02}
    assert holm({"a": 0.4, "b": 0.4}) == {"a": 0.8, "b": 0.8}
    assert holm({"a": 0.9, "b": 0.6}) == {"a": 1.0, "b": 1.0}
    assert holm({}) == {}


def test_a_level_is_what_its_author_meant():
    assert [level(confidence) for confidence in (0.95, 0.9, 0.99)] == [0.05, 0.1, 0.01]
