"""Stopping early: certain bounds."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from pytest_jsonmatch.gate.bounds import Decision, threshold_decision

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
    assert decided([], 0, 0.0).passed is False  # no case at all
