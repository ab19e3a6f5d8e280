"""Stopping early: certain bounds, and bets that may be looked at after each case."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_jsonmatch.gate.sequential import Decision, SequentialGate, threshold_decision
from pytest_jsonmatch.gate.verdict import DropGate

scores = st.floats(0, 1)


def decided(found, planned, limit):
    return threshold_decision(sum(map(Fraction, found), Fraction(0)), len(found), planned, limit)


@given(st.lists(scores, min_size=1, max_size=12), st.integers(0, 12), scores)
def test_a_certain_decision_is_what_the_whole_run_comes_to(found, seen, limit):
    seen = min(seen, len(found))
    decision = decided(found[:seen], len(found), limit)
    if decision.passed is not None:
        assert decision.passed == (math.fsum(found) / len(found) >= limit)
    if seen == len(found):
        assert decision.passed is not None


def test_a_threshold_stops_as_soon_as_it_is_settled():
    found = [decided([1.0] * 7 + [0.0] * bad, 20, 0.8) for bad in range(6)]
    assert [decision.passed for decision in found] == [None] * 5 + [False]
    assert found[5] == Decision(False, "the mean score can reach at most 0.750")
    assert decided([1.0] * 16, 20, 0.8).reason == "the mean score is at least 0.800"


def test_no_case_at_all_fails():
    assert decided([], 0, 0.0).passed is False


def first(found):
    """The decision that settles a gate, and after how many cases it comes."""
    return next((seen, each) for seen, each in enumerate(found, 1) if each.passed is not None)


def decisions(gate, deltas):
    return [gate.add(delta) for delta in deltas]


def test_a_large_drop_stops_the_run():
    found = decisions(SequentialGate(100), [-1.0] * 12)
    seen, settled = first(found)
    assert (settled.passed, seen) == (False, 9)
    assert settled.reason.startswith("a drop is proven (e = ")


def test_what_can_no_longer_be_proven_has_passed():
    found = decisions(SequentialGate(10), [0.0] * 10)
    seen, settled = first(found)
    assert (settled.passed, seen) == (True, 2)
    assert settled.reason == "a drop can no longer be proven"


def test_too_few_cases_are_settled_before_the_first():
    assert SequentialGate(4).decision.passed is True
    assert SequentialGate(4, DropGate(0.02, mode="non-inferiority")).decision == Decision(
        False, "a drop of 0.02 or more can no longer be ruled out"
    )


def test_non_inferiority_passes_once_a_drop_is_ruled_out():
    gate = SequentialGate(300, DropGate(0.1, mode="non-inferiority"))
    seen, settled = first(decisions(gate, [0.0] * 300))
    assert settled.passed
    assert 29 <= seen < 100
    assert settled.reason.startswith("a drop of 0.1 or more is ruled out")


@pytest.mark.parametrize("max_drop", [0.0, 0.05])
@pytest.mark.parametrize("mode", ["regression", "non-inferiority"])
def test_every_gate_is_settled_at_its_end(mode, max_drop):
    source = random.Random(1)
    for planned in (1, 5, 40):
        gate = SequentialGate(planned, DropGate(max_drop, mode=mode))
        found = [gate.add(source.choice((-0.2, 0.0, 0.2))) for _ in range(planned)]
        assert found[-1].passed is not None
        settled = [decision for decision in found if decision.passed is not None]
        assert set(settled) == {gate.decision}


def test_the_wealth_does_not_hang_on_the_order():
    deltas = [-0.5, 0.25, 0.0, -1.0, 1.0, 0.125]
    for max_drop in (0.0, 0.1):
        wealths = set()
        for order in itertools.islice(itertools.permutations(deltas), 0, 720, 90):
            gate = SequentialGate(10, DropGate(max_drop))
            decisions(gate, order)
            wealths.add((round(gate.e_drop, 12), round(gate.e_no_drop, 12)))
        assert len(wealths) == 1


@pytest.mark.parametrize("max_drop", [0.0, 0.05, 0.3])
def test_the_bets_are_fair_games_at_the_margin(max_drop):
    """The mean of the wealth over all runs of three cases, with the mean delta at the margin, is 1 or less."""
    values = (-1.0, 1.0) if max_drop == 0 else (-1.0, 0.5)
    low = (-max_drop - values[1]) / (values[0] - values[1])
    wealth = np.zeros(2)
    for run in itertools.product((0, 1), repeat=3):
        gate = SequentialGate(3, DropGate(max_drop))
        decisions(gate, [values[side] for side in run])
        chance = math.prod(1 - low if side else low for side in run)
        wealth += chance * np.array([gate.e_drop, gate.e_no_drop])
    assert wealth.tolist() == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("mode", ["regression", "non-inferiority"])
def test_a_smaller_cluster_is_a_smaller_stake(mode):
    """So the bets are on the mean of all cases, however many a cluster has."""
    wealths = []
    for weight in (0.0, 0.5, 1.0):
        gate = SequentialGate(40, DropGate(mode=mode))
        for _ in range(3):
            gate.add(-0.5, weight)
        wealths.append(gate.e_drop)
    assert wealths[0] == pytest.approx(1.0)
    assert wealths == sorted(wealths)


def test_skewed_differences_of_mean_0_are_not_taken_for_a_drop():
    """Nearly all are a little below 0, and a few far above: a test that assumes symmetry fails half of them."""
    source = random.Random(5)
    fails = 0
    for _ in range(100):
        gate = SequentialGate(100)
        found = [gate.add(0.98 if source.random() < 0.02 else -0.02) for _ in range(100)]
        fails += found[-1].passed is False
    assert fails <= 5


def test_enormous_wealth_is_infinite():
    gate = SequentialGate(3000)
    decisions(gate, [-1.0] * 1500)
    assert gate.e_drop == math.inf
