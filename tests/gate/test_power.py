"""Planning: right for the noise that it is made from."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from pytest_jsonmatch import ConfigurationError
from pytest_jsonmatch.gate.intervals import ratio_interval
from pytest_jsonmatch.gate.power import (
    MOST,
    clusters_for_precision,
    clusters_to_detect,
    half_width,
    minimum_detectable,
    sample_of,
)
from pytest_jsonmatch.gate.samples import CaseTerms
from pytest_jsonmatch.gate.verdict import DropGate, compare
from tests.conftest import share, sign_flip

RUNS = 2 * share(400)


def run(scores):
    return {str(at): [score] for at, score in enumerate(scores)}


def two_runs(scores, noise):
    return sample_of([run(scores), run(score + delta for score, delta in zip(scores, noise))])


@pytest.mark.parametrize("n", [9, 30, 100])
def test_of_equal_outcomes_it_takes_four_that_break(n):
    found = minimum_detectable(two_runs([1.0] * n, [0.0] * n), n)
    assert 0.8 <= binom.sf(3, n, found) <= 0.87


def test_none_at_this_n():
    equal = two_runs([1.0] * 4, [0.0] * 4)
    assert minimum_detectable(equal, 4) is None
    assert minimum_detectable(equal, 5) is not None
    assert minimum_detectable(equal, 6, DropGate(confidence=0.99)) is None
    assert minimum_detectable(two_runs([0.0] * 50, [0.0] * 50), 50) is None


@pytest.mark.parametrize("n", [12, 40])
def test_broken_cases_are_seen_in_80_of_100(n):
    random = np.random.RandomState(n)
    noise = random.choice([0, 0, 0, 0.5, -0.5], n)
    found = minimum_detectable(two_runs([0.5] * n, noise.tolist()), n)
    detected = 0
    for _ in range(RUNS):
        drawn = random.choice(np.abs(noise), n) * random.choice([-1, 1], n)
        drawn[random.random_sample(n) < found / 0.5] = -0.5
        detected += sign_flip(drawn.tolist()).p_drop <= 0.05
    assert detected / RUNS == pytest.approx(0.8, abs=0.06)


def test_more_power_takes_a_larger_drop_and_more_cases():
    sample = two_runs([0.8] * 20, [0.1, -0.1] * 10)
    drops = [minimum_detectable(sample, 20, power=power) for power in (0.5, 0.95)]
    cases = [clusters_to_detect(sample, 0.2, power=power) for power in (0.5, 0.8)]
    assert drops == sorted(drops)
    assert drops[-1] < sample.mean
    assert cases == sorted(cases)


def test_the_noise_is_the_difference_of_all_repeats():
    now = {"a": [1.0, 0.25], "b": [0.5], "c": [1.0], "only now": [1.0]}
    again = {"a": [1.0, 0.25, 1.0], "b": [0.75], "c": [1.0]}
    sample = sample_of([now, again], {"b": "x", "c": "x"})
    assert sample.sizes == (1, 2)
    assert sample.scores == (0.625, 1.5)
    assert sample.noise == pytest.approx((0.125, 0.25))


def varying(random, runs, cases, spread):
    """Runs of one system, of which each is a little better or worse at all cases."""
    quality = random.beta(8, 2, cases)
    shared = random.normal(0, spread, runs)
    return [run((random.beta(20 * quality, 20 * (1 - quality)) + each).tolist()) for each in shared]


@pytest.mark.parametrize(("runs", "spread"), [(3, 0.02), (6, 0.02), (6, 0.0)])
def test_the_noise_of_whole_runs_is_found(runs, spread):
    random = np.random.RandomState(runs)
    found = [sample_of(varying(random, runs, 100, spread)) for _ in range(150)]
    squares = [sample.run_noise**2 for sample in found]
    assert np.mean(squares) == pytest.approx(spread**2, abs=0.00012)
    assert sum(sample.most_run_noise < spread for sample in found) <= binom.ppf(0.999, 150, 0.05)


def test_the_noise_of_whole_runs_limits_what_a_gate_can_see():
    random = np.random.RandomState(1)
    sample = sample_of(varying(random, 20, 100, 0.02))
    worse = [compare(*varying(random, 2, 100, 0.02)).kind == "worse" for _ in range(RUNS)]
    assert np.mean(worse) == pytest.approx(sample.false_alarms(), abs=0.07)
    assert clusters_to_detect(sample, 0.02) is None
    quiet = sample_of(varying(random, 2, 100, 0.0))
    assert clusters_to_detect(quiet, 0.1) < clusters_to_detect(sample, 0.1)


@pytest.mark.parametrize("n", [20, 60])
def test_an_allowed_drop_is_planned_with_its_extra_case(n):
    random = np.random.RandomState(n)
    sample, gate = two_runs([1.0] * n, [0.0] * n), DropGate(0.05)
    drop = minimum_detectable(sample, n, gate)
    runs = ((random.random_sample(n) >= drop).astype(float) for _ in range(RUNS))
    failed = sum(not compare(run(now.tolist()), run([1.0] * n), gate).passed for now in runs)
    assert failed / RUNS == pytest.approx(0.83, abs=0.1)
    assert clusters_to_detect(sample, drop, gate) == pytest.approx(n, abs=1)


def test_cases_of_one_document_are_worth_less():
    scores = run([1.0, 1.0, 0.5, 1.0, 0.0, 1.0] * 10)
    documents = {case: f"document {int(case) // 5}" for case in scores}
    again = run([0.5, 1.0, 1.0, 1.0, 0.0, 1.0] * 10)
    alone, within = sample_of([scores, again]), sample_of([scores, again], documents)
    assert (alone.per_cluster, within.per_cluster, len(within.sizes)) == (1, 5, 12)
    assert 5 * clusters_to_detect(within, 0.1) > clusters_to_detect(alone, 0.1)


PASSES = sample_of([run([1.0] * 90 + [0.0] * 10)] * 2)


def test_so_many_cases_know_a_score_so_well():
    found = clusters_for_precision(PASSES, 0.1)
    assert found == pytest.approx(0.09 * (1.96 / 0.1) ** 2, rel=0.35)
    assert half_width(PASSES, found) <= 0.1 < half_width(PASSES, found // 2)


def test_no_number_of_cases_is_planned_that_nobody_has(monkeypatch):
    assert MOST == 50_000
    monkeypatch.setattr("pytest_jsonmatch.gate.power.MOST", 128)
    assert [clusters_for_precision(PASSES, precision) for precision in (0.07, 0.05)] == [83, None]


@pytest.mark.parametrize("score", [1.0, 0.5])
def test_an_interval_reaches_as_far_as_that_of_a_run(score):
    found = ratio_interval([CaseTerms(score, 1.0, str(at)) for at in range(30)], 0.95)
    assert half_width(two_runs([score] * 30, [0.0] * 30), 30) == pytest.approx((found.high - found.low) / 2)


@pytest.mark.parametrize("drop", [0.0, 0.95, -0.1])
def test_a_drop_that_there_cant_be(drop):
    with pytest.raises(
        ConfigurationError, match=r"^the drop must be above 0 and at most the mean, 0.900, got"
    ):
        clusters_to_detect(PASSES, drop)


def test_nothing_to_plan_from():
    with pytest.raises(ConfigurationError, match=r"^a plan needs two runs of the same cases"):
        sample_of([run([1.0])])
    with pytest.raises(ConfigurationError, match=r"^no case to plan from: none is in all runs$"):
        sample_of([run([1.0]), {"other": [1.0]}])
    with pytest.raises(ConfigurationError, match=r"^the precision must be above 0 and below 1, got 0$"):
        clusters_for_precision(PASSES, 0)


@pytest.mark.parametrize(
    ("drop", "confidence", "cases"), [(0.02, 0.95, 149), (0.5, 0.95, 5), (0.02, 0.99, 228), (0.0, 0.95, None)]
)
def test_cases_to_rule_a_drop_out(drop, confidence, cases):
    assert DropGate(drop, confidence).least_to_rule_out == cases
    if cases and cases > 1:
        assert (1 - drop) ** cases <= 1 - confidence + 1e-12 < (1 - drop) ** (cases - 1)
