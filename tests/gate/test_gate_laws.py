"""Laws of the statistics, on generated runs."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import strategies as st

from pytest_jsonmatch.gate.intervals import lower_end, ratio_interval
from pytest_jsonmatch.gate.paired import holm
from pytest_jsonmatch.gate.samples import CaseTerms
from pytest_jsonmatch.gate.verdict import DropGate, compare, compare_several
from tests.conftest import mean_interval, sign_flip
from tests.laws import FULL, law

PATTERNS = 5_000 if FULL else 40
"""Of each kind, in each mode."""

modes = st.sampled_from(["regression", "non-inferiority"])
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
    return {case: run[case] for case in random.Random(seed).sample(list(run), len(run))}


@law(two_runs(), st.integers(0, 9), st.sampled_from([0.0, 0.02]), modes, examples=12)
def test_the_order_of_cases_does_not_matter(runs, seed, max_drop, mode):
    gate, other = DropGate(max_drop, mode=mode), (shuffled(run, seed + at) for at, run in enumerate(runs))
    assert compare(*other, gate) == compare(*runs, gate)


@law(two_runs(), examples=12)
def test_swapping_the_runs_swaps_worse_and_better(runs):
    forth, back = compare(*runs), compare(*runs[::-1])
    assert (forth.p_drop, forth.p_gain) == (back.p_gain, back.p_drop)
    swapped = {"worse": "better", "better": "worse"}
    if {forth.kind, back.kind} & {*swapped}:
        assert swapped[forth.kind] == back.kind


@law(
    two_runs(),
    st.sampled_from([0.0, 0.02, 0.3]),
    modes,
    also=[
        (
            tuple({name: [float(name > least)] for name in "abcdefg"} for least in "cg"),
            0.02,
            "non-inferiority",
        ),
        (tuple({at: [0.75 - drop * (at % 2)] for at in range(14)} for drop in (0.3, 0)), 0.02, "regression"),
        (({"a": [0.0]}, {"a": [1.0]}), 0.0, "regression"),
        (({"a": [0.9]}, {"a": [1.0]}), 0.3, "regression"),
    ],
    examples=12,
)
def test_the_word_the_gate_and_the_interval_say_the_same(runs, max_drop, mode):
    verdict = compare(*runs, DropGate(max_drop, mode=mode))
    if verdict.interval is None:
        assert (verdict.kind, verdict.passed) == ("no case", False)
        return
    low, high = verdict.interval.low, verdict.interval.high
    assert -1 <= low <= verdict.delta <= high <= 1
    assert (verdict.kind == "worse") <= (high <= 0)
    assert (verdict.kind == "better") <= (low >= 0)
    if verdict.kind not in {"worse", "better"}:
        assert low <= 0 <= high
    if mode == "non-inferiority":
        assert verdict.passed <= (low >= -max_drop)
        assert (verdict.kind in {"better", "ruled out"}) <= verdict.passed
    elif verdict.kind == "too few":
        assert verdict.passed == (verdict.delta >= -max_drop - 1e-12)
    elif max_drop:
        assert (not verdict.passed) <= (verdict.kind == "worse")
        assert high >= -max_drop if verdict.passed else high <= -max_drop
    else:
        assert verdict.passed == (verdict.kind != "worse")


@law(two_runs(), examples=12)
def test_a_cluster_of_its_own_for_each_case_changes_nothing(runs):
    named = {case: f"document of {case}" for case in runs[0]}
    plain, clustered = compare(*runs), compare(*runs, clusters=named)
    for statistic in ("kind", "p_drop", "clusters"):
        assert getattr(plain, statistic) == getattr(clustered, statistic)


@law(two_runs(), examples=12)
def test_one_statistic_among_several_is_never_surer(runs):
    alone = compare(*runs)
    among = compare_several({"a": runs, "b": runs})["a"]
    assert among.p_drop >= alone.p_drop
    assert among.kind in {alone.kind, "not significant", "too few"}


@law(deltas, st.sampled_from([0.5, 0.25, 0.125]), examples=60)
def test_scale_says_nothing_about_a_sign(values, factor):
    found, scaled = sign_flip(values), sign_flip([value * factor for value in values])
    assert (scaled.p_drop, scaled.p_gain) == pytest.approx((found.p_drop, found.p_gain), abs=0.004)


@law(deltas, also=[([-1.0] * 40 + [1.0] * 5,), ([-1.0] * 45,)], examples=60)
def test_p_values_are_shares_and_one_side_is_likely(values):
    found = sign_flip(values)
    assert 0 < found.p_drop <= 1
    assert 0 < found.p_gain <= 1
    assert found.p_drop + found.p_gain >= 1 - 1e-12
    turned = sign_flip([-value for value in values])
    assert (turned.p_drop, turned.p_gain) == (found.p_gain, found.p_drop)
    assert turned.p_drop == sign_flip([-value for value in values[::-1]]).p_drop


@law(st.lists(score, min_size=2, max_size=40), st.floats(0.01, 0.5), st.floats(0.01, 0.5), examples=60)
def test_a_lower_end_rises_with_the_error_rate(values, one, other):
    less, more = sorted((one, other))
    assert lower_end(np.array(values), less, 0.0) <= lower_end(np.array(values), more, 0.0) + 1e-9


@law(st.lists(score, min_size=1, max_size=30), st.sampled_from([0.8, 0.95]), examples=60)
def test_an_interval_is_around_the_mean_and_grows_with_confidence(values, confidence):
    found, wider = mean_interval(values, confidence), mean_interval(values, 0.999)
    assert 0 <= wider.low <= found.low <= found.estimate + 1e-9
    assert found.estimate - 1e-9 <= found.high <= wider.high <= 1
    assert mean_interval(values[::-1], confidence) == found
    turned = mean_interval([1 - value for value in values], confidence)
    assert (1 - turned.high, 1 - turned.low) == pytest.approx((found.low, found.high), abs=0.02)


@law(st.lists(st.tuples(score, st.sampled_from("abcdefgh")), min_size=3, max_size=40), examples=60)
def test_cases_of_a_cluster_are_no_more_than_their_sum(drawn):
    rows = [CaseTerms(value, 1.0, cluster) for value, cluster in drawn]
    parts = {row.cluster: [each.part for each in rows if each.cluster == row.cluster] for row in rows}
    sums = [CaseTerms(sum(of), len(of), name) for name, of in sorted(parts.items())]
    of_cases, of_sums = ratio_interval(rows), ratio_interval(sums)
    assert (of_cases.low, of_cases.high) == pytest.approx((of_sums.low, of_sums.high), abs=1e-9)
    assert (of_cases.clusters, of_sums.cases) == (len(sums), len(sums))


@law(st.dictionaries(st.text(max_size=3), st.floats(0, 1)), examples=60)
def test_holm_is_between_no_correction_and_bonferronis(p_values):
    corrected = holm(p_values)
    most = max(corrected.values(), default=1.0)
    for name, p in p_values.items():
        assert p <= corrected[name] <= min(1.0, len(p_values) * p) or corrected[name] == most
    order = sorted(p_values, key=lambda name: p_values[name])
    assert [corrected[name] for name in order] == sorted(corrected.values())


KINDS = ("binary", "graded", "mixed", "one field breaks")


def draw_scores(source, kind, shape):
    if kind == "binary":
        return (source.random(shape) < source.choice([0.5, 0.8, 0.95])).astype(float)
    if kind == "graded":
        return source.beta(8, 2, shape)
    if kind == "mixed":
        part = np.where(source.random(shape) < 0.5, source.integers(0, 9, shape) / 8, source.random(shape))
        return np.where(source.random(shape) < 0.5, 1.0, part)
    return np.ones(shape)


def draw_runs(source, kind):
    """A run that loses in some of 3 to 20 cases, and its baseline: with one repeat each, or up to five."""
    n = int(source.integers(3, 21))
    repeats = source.integers(1, 6, 2) if source.random() < 0.4 else (1, 1)
    now, before = (draw_scores(source, kind, (n, runs)) for runs in repeats)
    if kind == "one field breaks":
        breaks = source.random((n, 1)) < source.choice([0.6, 0.8, 0.95])
        return now - source.choice([0.02, 0.111, 0.25, 0.5, 1.0]) * breaks, before
    same = np.where(source.random((n, 1)) < 0.7, before[:, :1], now)
    lost = source.random((n, 1)) < source.choice([0.1, 0.3, 0.6])
    return np.where(lost, np.clip(now - source.choice([0.1, 0.3, 1.0]), 0, 1), same), before


def draw_loss(source, now, before):
    """The same runs with a larger loss: of a case, of a run, of some or all cases, or a better baseline."""
    now, before, at, how = now.copy(), before.copy(), source.integers(len(now)), source.integers(5)
    if how == 0:
        now[at] = np.clip(now[at] - source.choice([0.01, 0.1, 0.5, 1.0]), 0, 1)
    elif how == 1:
        now[at, source.integers(now.shape[1])] = 0.0
    elif how == 2:
        now = np.where(source.random((len(now), 1)) < 0.4, now * source.random((len(now), 1)), now)
    elif how == 3:
        before[at] = 1.0
    else:
        now = np.clip(now - source.choice([0.01, 0.05, 0.3]), 0, 1)
    return now, before


def as_run(scores):
    return {f"case {at:02}": runs for at, runs in enumerate(scores.tolist())}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", ["regression", "non-inferiority"])
def test_a_larger_loss_never_turns_the_gate_green(kind, mode):
    source = np.random.default_rng([KINDS.index(kind), len(mode)])
    for _ in range(PATTERNS):
        gate = DropGate(float(source.choice([0.0, 0.02, 0.1])), mode=mode)
        runs = draw_runs(source, kind)
        documents = {f"case {at:02}": f"document {at // 2}" for at in range(20)}
        clusters = documents if source.random() < 0.2 else None
        change = compare(*map(as_run, runs), gate, clusters=clusters)
        worse = compare(*map(as_run, draw_loss(source, *runs)), gate, clusters=clusters)
        assert worse.passed <= change.passed
        assert worse.p_drop <= change.p_drop + 1e-9


@pytest.mark.parametrize("n", [40, 200])
def test_a_larger_loss_of_many_cases_hardly_raises_a_p_value(n):
    source = np.random.default_rng(n)
    for _ in range(PATTERNS // 15):
        before, now = source.beta(8, 2, (n, 1)), source.beta(8, 2, (n, 1)) - 0.02
        change, worse = (
            compare(as_run(each), as_run(base))
            for each, base in ((now, before), draw_loss(source, now, before))
        )
        assert worse.p_drop <= change.p_drop + 0.001


@pytest.mark.parametrize("number", [5, 6, 7, 8])
def test_however_many_of_eight_cases_fall_to_0_beyond_four_the_gate_fails(number):
    before, now = np.ones((8, 1)), np.where(np.arange(8)[:, None] < number, 0.0, 1.0)
    assert not compare(as_run(now), as_run(before), DropGate(0.02)).passed
