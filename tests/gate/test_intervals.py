"""Intervals against published figures, closed forms and other implementations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta, binomtest, t, ttest_1samp

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.gate.intervals import (
    bounded_end,
    influences,
    is_few,
    lower_end,
    pass_rate_interval,
    plain_end,
    ratio_interval,
    wilson,
)
from pytest_jsonmatch.gate.samples import Row
from tests.conftest import mean_interval


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


@pytest.mark.parametrize(("passed", "n"), [(17, 20), (9, 10), (99, 100), (15, 30)])
def test_of_few_outcomes_an_interval_is_clopper_and_pearsons(passed, n):
    found = mean_interval([1.0] * passed + [0.0] * (n - passed))
    ends = beta.ppf(0.025, passed, n - passed + 1), beta.ppf(0.975, passed + 1, n - passed)
    assert (found.low, found.high) == pytest.approx(ends, abs=0.01)


@pytest.mark.parametrize(
    ("equal", "others", "few"), [(20, 19, True), (20, 20, False), (5, 15, True), (4, 16, False)]
)
def test_few_are_under_20_of_which_a_quarter_is_equal(equal, others, few):
    assert is_few(np.array([1.0] * equal + [at / others for at in range(others)])) is few


@pytest.mark.parametrize("n", [1, 5, 20, 80])
def test_of_equal_values_it_is_what_may_not_have_been_seen(n):
    assert lower_end(np.ones(n), 0.025, 0.0) == pytest.approx(0.025 ** (1 / n) if n > 1 else 0.0, abs=1e-9)
    assert bounded_end(np.ones(n), 0.025, 0.0) == pytest.approx(0.025 ** (1 / n), abs=0.015)


def test_of_many_values_it_is_students():
    values = np.random.RandomState(0).random_sample(400)
    found = mean_interval(values.tolist())
    theirs = ttest_1samp(values, 0).confidence_interval(0.95)
    assert found.estimate == pytest.approx(values.mean(), abs=1e-9)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.001)


@pytest.mark.parametrize("level", [0.01, 0.05, 0.3])
def test_the_end_is_where_the_test_has_its_level(level):
    """Hall's transformed t, forwards: at the end its p-value is the level."""
    values = np.random.RandomState(3).beta(8, 2, 25)
    n, deviation = len(values), values.std(ddof=1)
    skewness = ((values - values.mean()) ** 3).mean() / deviation**3
    w = (values.mean() - plain_end(values, level)) / deviation
    transformed = w + skewness * w**2 / 3 + skewness**2 * w**3 / 27 + skewness / (6 * n)
    assert t.sf(n**0.5 * transformed, n - 1) == pytest.approx(level, abs=1e-9)


def test_cases_near_1_do_not_say_that_none_fails():
    """21 scores near 1: one case in twenty may still fall to 0, unseen in a third of all runs."""
    values = np.linspace(0.95, 1.0, 21)
    assert plain_end(values, 0.025) > 0.96
    assert lower_end(values, 0.025, 0.0) < 0.95 * 0.975


def test_clusters_are_what_is_independent():
    scores = [float(document % 4 > 0) for document in range(40) for _ in range(5)]
    alone = ratio_interval(Row(score, 1.0, str(at)) for at, score in enumerate(scores))
    within = ratio_interval(Row(score, 1.0, str(at // 5)) for at, score in enumerate(scores))
    assert (alone.clusters, within.clusters, within.cases) == (200, 40, 200)
    assert (within.high - within.low) > 2 * (alone.high - alone.low)
    documents = mean_interval(scores[::5])
    assert (within.low, within.high) == pytest.approx((documents.low, documents.high), abs=1e-9)
    assert pass_rate_interval([Row(score, 1.0, str(at // 5)) for at, score in enumerate(scores)]) == within


def test_a_ratio_of_sums_is_no_mean_of_ratios():
    rows = [Row(9.0, 10.0, "a"), Row(50.0, 100.0, "b"), Row(8.0, 10.0, "c")]
    found, values, weight = influences(rows)
    assert found == pytest.approx(67 / 120)
    # The variance of the pseudo-values is the jackknife's.
    left = [(67 - part) / (120 - whole) for part, whole, _ in rows]
    assert values.var(ddof=1) / 3 == pytest.approx(2 / 3 * sum((each - np.mean(left)) ** 2 for each in left))
    assert weight == pytest.approx((10**2 + 100**2 + 10**2) / 120 / 40)


def test_what_was_not_seen_may_be_a_large_cluster():
    small = [Row(1.0, 1.0, str(at)) for at in range(20)]
    large = [Row(20.0, 20.0, "large"), *small[1:]]
    assert ratio_interval(large).low < ratio_interval(small).low - 0.2


def test_intervals_hold_where_clusters_are_of_many_sizes():
    random = np.random.RandomState(1)
    missed = 0
    for _ in range(400):
        sizes = np.ceil(4 * np.exp(random.standard_normal(20)))
        parts = sizes * (random.random_sample(20) < 0.75)
        found = ratio_interval(map(Row, parts.tolist(), sizes.tolist(), map(str, range(20))))
        missed += not found.low <= 0.75 <= found.high
    assert missed <= 0.05 * 400


def test_one_cluster_says_nothing():
    found = ratio_interval([Row(1.0, 1.0, "a"), Row(1.0, 1.0, "a")])
    assert (found.low, found.high, found.clusters) == (0.0, 1.0, 1)


def test_an_interval_needs_cases():
    for rows in ([], [Row(0.0, 0.0, "a")]):
        with pytest.raises(ConfigurationError):
            ratio_interval(rows)
