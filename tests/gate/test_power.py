"""The minimum detectable drop: right for the noise it is made from."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from pytest_jsonmatch.gate.paired import sign_flip
from pytest_jsonmatch.gate.power import cases_to_rule_out, least_signs, minimum_detectable
from pytest_jsonmatch.gate.samples import Pairs


def pairs_of(deltas, baseline):
    return Pairs(
        tuple(map(str, range(len(deltas)))),
        tuple(score + delta for score, delta in zip(baseline, deltas)),
        tuple(baseline),
    )


@pytest.mark.parametrize("n", [9, 30, 100, 300])
def test_of_equal_outcomes_it_takes_five_that_break(n):
    found = minimum_detectable(pairs_of([0.0] * n, [1.0] * n))
    assert binom.sf(4, n, found.drop) == pytest.approx(0.8, abs=0.01)
    assert (found.drop, found.usual, found.shape) == (found.broken, found.broken, "broken")


def test_none_at_this_n():
    assert minimum_detectable(pairs_of([0.0] * 4, [1.0] * 4)).drop is None
    assert minimum_detectable(pairs_of([0.0] * 5, [1.0] * 5)).drop is not None
    assert minimum_detectable(pairs_of([0.0] * 5, [1.0, 1.0, 1.0, 1.0, 0.0])).drop is None
    assert minimum_detectable(pairs_of([0.0] * 6, [1.0] * 6), confidence=0.99).drop is None
    assert minimum_detectable(pairs_of([0.0] * 50, [0.0] * 50)).drop is None
    assert minimum_detectable(pairs_of([], [])).drop is None


@pytest.mark.parametrize("n", [12, 60])
def test_an_even_drop_of_that_size_is_detected_in_80_of_100(n):
    random = np.random.RandomState(n)
    noise = random.normal(0, 0.1, n)
    found = minimum_detectable(pairs_of(noise.tolist(), [0.7] * n))
    assert (found.shape, found.drop) == ("even", found.usual)
    detected = 0
    for _ in range(400):
        drawn = random.choice(np.abs(noise), n) * random.choice([-1, 1], n) - found.usual
        detected += sign_flip(drawn.tolist()).p_drop <= 0.05
    assert detected / 400 == pytest.approx(0.8, abs=0.05)


@pytest.mark.parametrize("n", [12, 40, 120])
def test_broken_cases_are_detected_in_80_of_100(n):
    random = np.random.RandomState(n)
    noise = random.choice([0, 0, 0, 0.5, -0.5], n)
    found = minimum_detectable(pairs_of(noise.tolist(), [0.5] * n))
    assert found.shape in {"alike", "broken"}
    detected = 0
    for _ in range(400):
        drawn = random.choice(np.abs(noise), n) * random.choice([-1, 1], n)
        drawn[random.random_sample(n) < found.broken / 0.5] = -0.5
        detected += sign_flip(drawn.tolist()).p_drop <= 0.05
    assert detected / 400 == pytest.approx(0.8, abs=0.05)


@pytest.mark.parametrize("n", [40, 120])
def test_losses_like_those_seen_are_detected_in_80_of_100(n):
    random = np.random.RandomState(n)
    noise = random.choice([0, 0, 0, 0.25, -0.5], n)
    found = minimum_detectable(pairs_of(noise.tolist(), [1.0] * n))
    assert (found.shape, found.drop) == ("alike", found.usual)
    assert found.usual < found.broken
    sizes = np.abs(noise[noise != 0])
    detected = 0
    for _ in range(400):
        drawn = random.choice(np.abs(noise), n) * random.choice([-1, 1], n)
        hit = random.random_sample(n) < found.usual / sizes.mean()
        drawn = np.where(hit, -random.choice(sizes, n), drawn)
        detected += sign_flip(drawn.tolist()).p_drop <= 0.05
    assert detected / 400 == pytest.approx(0.8, abs=0.05)


def test_more_power_takes_a_larger_drop():
    pairs = pairs_of([0.1, -0.1] * 20, [0.8] * 40)
    drops = [minimum_detectable(pairs, power=power).drop for power in (0.5, 0.8, 0.95)]
    assert drops == sorted(drops)
    assert drops[0] < drops[2]


@pytest.mark.parametrize(
    ("drop", "confidence", "cases"),
    [(0.02, 0.95, 149), (0.5, 0.95, 5), (0.02, 0.99, 228), (0.0, 0.95, None), (1.0, 0.95, 1)],
)
def test_cases_to_rule_a_drop_out(drop, confidence, cases):
    assert cases_to_rule_out(drop, confidence) == cases
    if cases and cases > 1:
        assert (1 - drop) ** cases <= 1 - confidence + 1e-12 < (1 - drop) ** (cases - 1)


def test_signs_that_it_takes():
    assert [least_signs(alpha) for alpha in (0.5, 0.25, 0.05, 0.01)] == [1, 2, 5, 7]
