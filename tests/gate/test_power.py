"""Planning: right for the noise that it is made from."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.gate.intervals import ratio_interval
from pytest_jsonmatch.gate.power import (
    assumed_sample,
    clusters_for_precision,
    clusters_to_detect,
    half_width,
    minimum_detectable,
    sample_of,
)
from pytest_jsonmatch.gate.samples import Row
from pytest_jsonmatch.gate.verdict import DropGate
from tests.gate.test_paired import sign_flip


def run(scores):
    return {str(at): [score] for at, score in enumerate(scores)}


def two_runs(scores, noise):
    return sample_of(run(scores), again=run(score + delta for score, delta in zip(scores, noise)))


@pytest.mark.parametrize("n", [9, 30, 100])
def test_of_equal_outcomes_it_takes_four_that_break(n):
    found = minimum_detectable(two_runs([1.0] * n, [0.0] * n), n)
    assert 0.8 <= binom.sf(3, n, found) <= 0.87


def test_none_at_this_n():
    equal = two_runs([1.0] * 4, [0.0] * 4)
    assert minimum_detectable(equal, 4) is None
    assert minimum_detectable(equal, 5) is not None
    assert minimum_detectable(equal, 6, confidence=0.99) is None
    assert minimum_detectable(two_runs([0.0] * 50, [0.0] * 50), 50) is None


@pytest.mark.parametrize("n", [12, 40])
def test_broken_cases_are_seen_in_80_of_100(n):
    random = np.random.RandomState(n)
    noise = random.choice([0, 0, 0, 0.5, -0.5], n)
    found = minimum_detectable(two_runs([0.5] * n, noise.tolist()), n)
    detected = 0
    for _ in range(400):
        drawn = random.choice(np.abs(noise), n) * random.choice([-1, 1], n)
        drawn[random.random_sample(n) < found / 0.5] = -0.5
        detected += sign_flip(drawn.tolist()).p_drop <= 0.05
    assert detected / 400 == pytest.approx(0.8, abs=0.06)


def test_more_power_takes_a_larger_drop_and_more_cases():
    sample = two_runs([0.8] * 20, [0.1, -0.1] * 10)
    drops = [minimum_detectable(sample, 20, power=power) for power in (0.5, 0.95)]
    cases = [clusters_to_detect(sample, 0.2, power=power) for power in (0.5, 0.8)]
    assert drops == sorted(drops)
    assert drops[-1] < sample.mean
    assert cases == sorted(cases)


def test_the_noise_is_that_of_repeats():
    repeated = {str(at): [1.0, 0.25, 1.0, 0.75] if at % 2 else [0.75] * 2 for at in range(10)}
    sample = sample_of(repeated)
    assert sample.source == "from the repeats of its cases"
    assert sorted(map(abs, sample.noise)) == pytest.approx([0.0] * 5 + [0.5 / 2**0.5] * 5)
    assert sample.mean == pytest.approx(0.75)


def test_what_is_assumed_is_said():
    assert sample_of(run([1.0, 0.0, 0.5])).source.startswith("assumed")
    sample = assumed_sample(0.9)
    assert sample.mean == 0.9
    assert np.var(sample.noise) == pytest.approx(0.09, abs=0.015)


def test_cases_of_one_document_are_worth_less():
    scores = run([1.0, 1.0, 0.5, 1.0, 0.0, 1.0] * 10)
    documents = {case: f"document {int(case) // 5}" for case in scores}
    alone, within = sample_of(scores), sample_of(scores, documents)
    assert (alone.per_cluster, within.per_cluster, len(within.sizes)) == (1, 5, 12)
    assert 5 * clusters_to_detect(within, 0.1) > clusters_to_detect(alone, 0.1)


def test_so_many_cases_know_a_figure_so_well():
    sample = assumed_sample(0.9)
    found = clusters_for_precision(sample, 0.1)
    assert found == pytest.approx(0.09 * (1.96 / 0.1) ** 2, rel=0.2)
    assert half_width(sample, found) <= 0.1 < half_width(sample, found // 2)
    assert clusters_for_precision(sample, 0.0005) is None


@pytest.mark.parametrize("score", [1.0, 0.5])
def test_an_interval_reaches_as_far_as_that_of_a_run(score):
    found = ratio_interval([Row(score, 1.0, str(at)) for at in range(30)], 0.95)
    assert half_width(sample_of(run([score] * 30)), 30) == pytest.approx((found.high - found.low) / 2)


@pytest.mark.parametrize("drop", [0.0, 0.95, -0.1])
def test_a_drop_that_there_cant_be(drop):
    with pytest.raises(
        ConfigurationError, match=r"^the drop must be above 0 and at most the mean, 0.900, got"
    ):
        clusters_to_detect(assumed_sample(0.9), drop)


def test_nothing_to_plan_from():
    with pytest.raises(ConfigurationError, match=r"^no case to plan from$"):
        sample_of({})
    with pytest.raises(ConfigurationError, match=r"^the precision must be above 0 and below 1, got 0$"):
        clusters_for_precision(assumed_sample(0.5), 0)


@pytest.mark.parametrize(
    ("drop", "confidence", "cases"), [(0.02, 0.95, 149), (0.5, 0.95, 5), (0.02, 0.99, 228), (0.0, 0.95, None)]
)
def test_cases_to_rule_a_drop_out(drop, confidence, cases):
    assert DropGate(drop, confidence).least_to_rule_out == cases
    if cases and cases > 1:
        assert (1 - drop) ** cases <= 1 - confidence + 1e-12 < (1 - drop) ** (cases - 1)
