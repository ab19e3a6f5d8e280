"""Intervals against published numbers, closed forms and other implementations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_1samp

from pytest_jsonmatch import ConfigurationError
from pytest_jsonmatch.gate.intervals import influences, lower_end, ratio_interval
from pytest_jsonmatch.gate.samples import CaseTerms
from tests.conftest import mean_interval


@pytest.mark.parametrize(("passed", "n"), [(17, 20), (9, 10), (99, 100), (15, 30), (1, 1), (900, 1000)])
def test_of_outcomes_an_interval_is_clopper_and_pearsons(passed, n):
    found = mean_interval([1.0] * passed + [0.0] * (n - passed))
    theirs = binomtest(passed, n).proportion_ci(0.95, method="exact")
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


@pytest.mark.parametrize("n", [1, 5, 20, 80])
def test_of_equal_values_it_is_what_may_not_have_been_seen(n):
    assert lower_end(np.ones(n), 0.025, 0.0) == pytest.approx(0.025 ** (1 / n))
    assert lower_end(np.zeros(n), 0.025, 0.0) == 0.0


@pytest.mark.parametrize("n", [2, 5, 30, 300])
@pytest.mark.parametrize("alpha", [0.005, 0.05, 0.2])
def test_of_any_values_it_is_the_quantile_of_randomly_weighted_means(n, alpha):
    """Learned-Miller and Thomas 2020, equation 7, by random draws."""
    random = np.random.default_rng(n)
    values = np.where(random.random(n) < 0.3, 1.0, random.beta(8, 2, n))
    weights = random.standard_exponential((40_000, n + 1))
    means = weights @ [*values, 0.0] / weights.sum(axis=1)
    found = lower_end(values, alpha, 0.0)
    assert np.quantile(means, 0.85 * alpha) <= found <= np.quantile(means, 1.15 * alpha)


def test_of_any_values_an_end_is_found():
    random = np.random.default_rng(5)
    for alpha in (1e-6, 0.01, 0.245, 0.49):
        for values in (
            random.beta(20, 1, 10_000),
            np.array([1.0, 1e-6]),
            1 - 1e-7 * random.random(30),
            np.array([0.0] * 99 + [1e-6, 1.0]),
        ):
            assert 0 <= lower_end(values, alpha, 0.0) <= values.mean()


def test_of_many_values_it_is_students():
    values = np.random.RandomState(0).random_sample(400)
    found = mean_interval(values.tolist())
    theirs = ttest_1samp(values, 0).confidence_interval(0.95)
    assert found.estimate == pytest.approx(values.mean(), abs=1e-9)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.0015)


def test_cases_near_1_do_not_say_that_none_fails():
    """21 scores near 1: one case in twenty may still fall to 0, unseen in a third of all runs."""
    values = np.linspace(0.95, 1.0, 21)
    assert lower_end(values, 0.025, 0.0) < 0.95 * 0.975


def test_clusters_are_what_is_independent():
    scores = [float(document % 4 > 0) for document in range(40) for _ in range(5)]
    alone = ratio_interval(CaseTerms(score, 1.0, str(at)) for at, score in enumerate(scores))
    within = ratio_interval(CaseTerms(score, 1.0, str(at // 5)) for at, score in enumerate(scores))
    assert (alone.clusters, within.clusters, within.cases) == (200, 40, 200)
    assert (within.high - within.low) > 2 * (alone.high - alone.low)
    documents = mean_interval(scores[::5])
    assert (within.low, within.high) == pytest.approx((documents.low, documents.high), abs=1e-9)


def test_a_ratio_of_sums_is_no_mean_of_ratios():
    rows = [CaseTerms(9.0, 10.0, "a"), CaseTerms(50.0, 100.0, "b"), CaseTerms(8.0, 10.0, "c")]
    found, values, weight = influences(rows)
    assert found == pytest.approx(67 / 120)
    # The variance of the pseudo-values is the jackknife's.
    left = [(67 - part) / (120 - whole) for part, whole, _ in rows]
    assert values.var(ddof=1) / 3 == pytest.approx(2 / 3 * sum((each - np.mean(left)) ** 2 for each in left))
    assert weight == pytest.approx((10**2 + 100**2 + 10**2) / 120 / 40)


def test_what_was_not_seen_may_be_a_large_cluster():
    small = [CaseTerms(1.0, 1.0, str(at)) for at in range(20)]
    large = [CaseTerms(20.0, 20.0, "large"), *small[1:]]
    assert ratio_interval(large).low < ratio_interval(small).low - 0.2


def test_intervals_hold_where_clusters_are_of_many_sizes():
    random = np.random.RandomState(1)
    missed = 0
    for _ in range(400):
        sizes = np.ceil(4 * np.exp(random.standard_normal(20)))
        parts = sizes * (random.random_sample(20) < 0.75)
        found = ratio_interval(map(CaseTerms, parts.tolist(), sizes.tolist(), map(str, range(20))))
        missed += not found.low <= 0.75 <= found.high
    assert missed <= 0.05 * 400


def test_one_cluster_says_nothing():
    found = ratio_interval([CaseTerms(1.0, 1.0, "a"), CaseTerms(1.0, 1.0, "a")])
    assert (found.low, found.high, found.clusters) == (pytest.approx(0.025), 1.0, 1)


def test_an_interval_needs_cases():
    for rows in ([], [CaseTerms(0.0, 0.0, "a")]):
        with pytest.raises(ConfigurationError):
            ratio_interval(rows)
