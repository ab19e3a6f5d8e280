"""What comes in: scores of cases and their repeats."""

from __future__ import annotations

from pytest_jsonmatch.gate.samples import Pairs, Row, Unit, pair_cases


def test_all_repeats_of_a_case_are_averaged():
    pairs = pair_cases({"a": [1, 0.0, 0.5], "b": [1.0, 0.5, 0.0]}, {"a": [1.0, 0.5, 0.0], "b": [0.0, 0.5]})
    assert (pairs.current, pairs.baseline) == ((0.5, 0.5), (0.5, 0.25))


def test_a_cluster_adds_the_scores_of_its_cases():
    """Only the repeats that all of its cases have are added; their means are over all repeats."""
    now, before = {"a": [1.0, 0.5], "b": [0.5, 0.25, 0.0]}, {"a": [1.0], "b": [1.0]}
    pairs = pair_cases(now, before, {"a": "invoice", "b": "invoice"})
    assert pairs.units == [Unit(now=[1.5, 0.75], before=[2.0], delta=-1.0, size=2)]


def test_cases_are_sorted_and_those_of_one_run_are_left_out():
    current = {"c": [1.0], "new": [0.0], "a": [0.5]}
    baseline = {"a": [1.0], "old": [1.0], "c": [0.25]}
    pairs = pair_cases(current, baseline)
    assert pairs == Pairs(("a", "c"), ([0.5], [1.0]), ([1.0], [0.25]), ("a", "c"))
    assert pairs.deltas == (-0.5, 0.75)


def test_clusters_go_with_the_cases():
    pairs = pair_cases({"a": [1.0], "b": [0.5]}, {"a": [0.5], "b": [0.5]}, {"b": "invoice"})
    assert pairs.rows == [Row(0.5, 1.0, "a"), Row(0.0, 1.0, "invoice")]
