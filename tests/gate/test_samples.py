"""What comes in: scores of cases and their repeats."""

from __future__ import annotations

from pytest_jsonmatch.gate.samples import Pairs, Row, pair_cases, to_grains


def test_the_first_repeats_of_a_case_are_averaged_as_many_as_both_runs_have():
    pairs = pair_cases({"a": [1, 0.0, 0.5], "b": [1.0, 0.5, 0.0]}, {"a": [1.0, 0.5, 0.0], "b": [0.0, 0.5]})
    assert (pairs.current, pairs.baseline) == ((0.5, 0.75), (0.5, 0.25))


def test_cases_are_sorted_and_those_of_one_run_are_left_out():
    current = {"c": [1.0], "new": [0.0], "a": [0.5]}
    baseline = {"a": [1.0], "old": [1.0], "c": [0.25]}
    pairs = pair_cases(current, baseline)
    assert pairs == Pairs(("a", "c"), (0.5, 1.0), (1.0, 0.25), ("a", "c"))
    assert pairs.deltas == (-0.5, 0.75)


def test_clusters_go_with_the_cases():
    pairs = pair_cases({"a": [1.0], "b": [0.5]}, {"a": [0.5], "b": [0.5]}, {"b": "invoice"})
    assert pairs.rows == [Row(0.5, 1.0, "a"), Row(0.0, 1.0, "invoice")]


def test_differences_of_floats_tie_where_those_of_decimals_do():
    assert to_grains([0.3 - 0.2, 0.9 - 0.8, 0.1]) == [100_000_000] * 3
