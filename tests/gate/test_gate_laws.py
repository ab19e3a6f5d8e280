"""Laws of the statistics, on generated runs."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_jsonmatch.gate.intervals import bootstrap_interval, bounded_interval, p_mean_below, wilson
from pytest_jsonmatch.gate.margin import p_drop_at_most
from pytest_jsonmatch.gate.paired import holm, mcnemar, sign_flip
from pytest_jsonmatch.gate.verdict import compare

quiet = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
few = settings(deadline=None, max_examples=12, suppress_health_check=list(HealthCheck))

binary = st.sampled_from([0.0, 1.0])
tied = st.sampled_from([0.0, 0.25, 0.5, 1.0])
graded = st.floats(0, 1).map(lambda score: round(score, 6))
score = st.one_of(binary, tied, graded)
deltas = st.one_of(
    st.lists(st.sampled_from([-1.0, 0.0, 1.0]), max_size=60),
    st.lists(st.sampled_from([-1.0, -0.5, -1 / 3, 0.0, 1 / 3, 1.0]), max_size=50),
    st.lists(st.floats(-1, 1).map(lambda delta: round(delta, 6)), max_size=45),
)


@st.composite
def two_runs(draw):
    names = draw(st.lists(st.text("abcdef", min_size=1, max_size=3), max_size=14, unique=True))
    repeats = st.lists(draw(st.sampled_from([binary, tied, graded])), min_size=1, max_size=3)
    kept = st.sets(st.sampled_from(names)) if names else st.just(set())
    return tuple(
        {name: draw(repeats) for name in names if name not in missing}
        for missing in (draw(kept) if draw(st.booleans()) else set() for _ in range(2))
    )


def shuffled(run, seed):
    source = random.Random(seed)
    cases = list(run)
    source.shuffle(cases)
    return {case: source.sample(run[case], len(run[case])) for case in cases}


@few
@given(
    two_runs(),
    st.integers(0, 9),
    st.sampled_from([0.0, 0.02]),
    st.sampled_from(["regression", "non-inferiority"]),
)
def test_order_says_nothing(runs, seed, max_drop, mode):
    current, baseline = runs
    verdict = compare(current, baseline, max_drop=max_drop, mode=mode)
    assert (
        compare(shuffled(current, seed), shuffled(baseline, seed + 1), max_drop=max_drop, mode=mode)
        == verdict
    )


@few
@given(two_runs())
def test_swapping_the_runs_swaps_regression_and_improvement(runs):
    forth, back = compare(*runs), compare(*runs[::-1])
    assert (forth.p_drop, forth.p_gain) == (back.p_gain, back.p_drop)
    swapped = {"regression": "improvement", "improvement": "regression"}
    if {forth.kind, back.kind} & {*swapped}:
        assert swapped[forth.kind] == back.kind
    assert (forth.new, forth.vanished) == (back.vanished, back.new)


@quiet
@given(deltas, st.sampled_from([0.5, 0.25, 0.125]))
def test_scale_says_nothing_about_a_sign(values, factor):
    found, scaled = sign_flip(values), sign_flip([value * factor for value in values])
    assert (scaled.p_drop, scaled.p_gain) == pytest.approx((found.p_drop, found.p_gain), abs=0.004)


@quiet
@given(deltas)
def test_p_values_are_shares_and_one_side_is_likely(values):
    found = sign_flip(values)
    assert 0 < found.p_drop <= 1
    assert 0 < found.p_gain <= 1
    assert found.p_drop + found.p_gain >= 1 - 1e-12
    turned = sign_flip([-value for value in values])
    assert (turned.p_drop, turned.p_gain) == (found.p_gain, found.p_drop)
    assert turned.p_drop == sign_flip([-value for value in values[::-1]]).p_drop


@quiet
@given(st.dictionaries(st.text(max_size=2), st.tuples(st.booleans(), st.booleans()), max_size=50))
def test_mcnemar_is_the_sign_flip_test_of_outcomes(outcomes):
    now, before = ({case: sides[side] for case, sides in outcomes.items()} for side in (0, 1))
    found = mcnemar(now, before)
    test = sign_flip([float(now[case]) - before[case] for case in outcomes])
    assert (found.p_drop, found.p_gain) == pytest.approx((test.p_drop, test.p_gain), abs=1e-12)


@quiet
@given(deltas, st.floats(0, 0.5), st.floats(0, 0.5))
def test_a_margin_only_makes_a_drop_harder_to_prove(values, one, other):
    less, more = sorted((one, other))
    # (Monte Carlo: the patterns are the same, but the order of sizes that they are laid on may change.)
    assert p_drop_at_most(values, less) <= p_drop_at_most(values, more) + 0.02


@quiet
@given(st.lists(score, min_size=1, max_size=40), st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_a_higher_mean_is_harder_to_rule_out(values, one, other):
    less, more = sorted((one, other))
    assert p_mean_below(values, less) <= p_mean_below(values, more) + 1e-9


@quiet
@given(st.lists(score, min_size=1, max_size=30), st.sampled_from([0.8, 0.95]))
def test_a_bounded_interval_is_around_the_mean_and_grows_with_confidence(values, confidence):
    found, wider = bounded_interval(values, confidence), bounded_interval(values, 0.99)
    assert 0 <= wider.low <= found.low <= found.estimate + 1e-9
    assert found.estimate - 1e-9 <= found.high <= wider.high <= 1
    turned = bounded_interval([1 - value for value in values], confidence)
    assert (1 - turned.high, 1 - turned.low) == pytest.approx((found.low, found.high), abs=1e-6)


@few
@given(st.lists(score, min_size=2, max_size=30))
def test_a_bootstrap_interval_is_within_the_values(values):
    found = bootstrap_interval(values)
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9
    assert bootstrap_interval(values[::-1]) == found


@quiet
@given(st.integers(1, 500), st.data())
def test_wilson_is_symmetric(cases, data):
    passed = data.draw(st.integers(0, cases))
    found, turned = wilson(passed, cases), wilson(cases - passed, cases)
    assert found.low <= found.estimate <= found.high
    assert (1 - turned.high, 1 - turned.low) == pytest.approx((found.low, found.high))


@quiet
@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1)))
def test_holm_is_between_no_correction_and_bonferronis(p_values):
    corrected = holm(p_values)
    for name, p in p_values.items():
        assert p <= corrected[name] <= min(1.0, len(p_values) * p) or corrected[name] == max(
            corrected.values()
        )
    order = sorted(p_values, key=lambda name: p_values[name])
    assert [corrected[name] for name in order] == sorted(corrected.values())
