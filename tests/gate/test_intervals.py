"""Intervals against published figures, closed forms and other implementations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta, binom, binomtest

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.gate.intervals import (
    bootstrap_interval,
    bounded_interval,
    mean_interval,
    p_mean_below,
    wilson,
)


@pytest.mark.parametrize(
    ("passed", "cases", "low", "high"),
    # Newcombe 1998, table I, method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_as_newcombe_prints_it(passed, cases, low, high):
    found = wilson(passed, cases)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


@pytest.mark.parametrize("passed", range(8))
def test_wilson_is_scipys(passed):
    theirs = binomtest(passed, 7).proportion_ci(0.9, method="wilson")
    found = wilson(passed, 7, 0.9)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_wilson_knows_its_ends():
    assert (wilson(0, 5).low, wilson(5, 5).high) == (0.0, 1.0)


@pytest.mark.parametrize(("passed", "cases"), [(1, 0), (3, 2), (-1, 2)])
def test_no_pass_rate_without_cases(passed, cases):
    with pytest.raises(ConfigurationError):
        wilson(passed, cases)


@pytest.mark.parametrize(("passed", "cases"), [(1, 1), (0, 1), (9, 10), (299, 300), (150, 300), (2990, 3000)])
@pytest.mark.parametrize("limit", [0.02, 0.5, 0.9, 0.99])
def test_of_outcomes_the_bounded_p_value_is_the_binomial_one(passed, cases, limit):
    values = [1.0] * passed + [0.0] * (cases - passed)
    assert p_mean_below(values, limit) == pytest.approx(binom.sf(passed - 1, cases, limit), abs=1e-12)


def test_of_outcomes_the_bounded_interval_is_clopper_and_pearsons():
    found = bounded_interval([1.0] * 17 + [0.0] * 3)
    assert (found.low, found.high) == pytest.approx(
        (beta.ppf(0.025, 17, 4), beta.ppf(0.975, 18, 3)), abs=1e-8
    )


@pytest.mark.parametrize("n", [1, 2, 5, 30])
def test_the_bounded_p_value_is_a_chance_of_dirichlet_weights(n):
    random = np.random.RandomState(n)
    values = random.beta(3, 1, n)
    limit = float(values.mean()) - 0.5 / (n + 1)
    weights = random.dirichlet(np.ones(n + 1), 40_000)
    drawn = (weights[:, 1:] @ values <= limit).mean()
    assert p_mean_below(values.tolist(), limit) == pytest.approx(drawn, abs=0.01)


@pytest.mark.parametrize(
    ("values", "limit", "p"),
    # Of n equal values x the weight w of the bound is Beta(1, n): P(x - w (x + 1) <= t) = ((1 + t) / (1 + x))^n.
    [([0.0] * 149, -0.02, 0.98**149), ([0.5], 0.0, 1 / 1.5), ([0.2] * 3, 0.3, 1.0), ([-1.0], -1.0, 1.0)],
)
def test_bounded_p_values_by_hand(values, limit, p):
    assert p_mean_below(values, limit, -1.0) == pytest.approx(p, abs=1e-12)


def test_a_mean_at_the_bound_is_certain():
    assert p_mean_below([0.5, 0.7], 0.0) == 0.0
    assert (bounded_interval([0.0] * 4).low, bounded_interval([1.0] * 4).high) == (0.0, 1.0)


def test_few_informative_cases_get_the_bounded_interval():
    values = [1.0] * 80
    assert mean_interval(values).method == "bounded"
    assert mean_interval(values).low == pytest.approx(0.025 ** (1 / 80), abs=1e-8)
    assert mean_interval([*values, *[0.5] * 19]).method == "bounded"
    assert mean_interval([*values, *[0.5] * 20]).method == "bootstrap"


def test_the_bootstrap_is_nearly_normal_for_many_values():
    values = np.random.RandomState(0).random_sample(400)
    found = bootstrap_interval(values.tolist())
    reach = 1.96 * values.std() / 20
    assert found.estimate == pytest.approx(values.mean(), abs=1e-9)
    assert (found.low, found.high) == pytest.approx((values.mean() - reach, values.mean() + reach), abs=0.002)


def test_the_bootstrap_is_the_same_everywhere():
    found = bootstrap_interval([0.1, 0.2, 0.4, 0.8] * 6)
    assert (found.low, found.high) == pytest.approx((6.4 / 24, 11.9 / 24), abs=1e-12)


def test_an_interval_needs_cases_and_a_share():
    for call in (
        lambda: bounded_interval([]),
        lambda: bootstrap_interval([0.5]),
        lambda: wilson(1, 2, 95),
        lambda: mean_interval([0.5], 1.0),
    ):
        with pytest.raises(ConfigurationError):
            call()
