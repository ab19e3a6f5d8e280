"""`--jsonmatch-json`: what the file of results says of the pairs of unordered arrays."""

from __future__ import annotations

import json

import pytest

CASES = """
metric: pairwise_f1
threshold: 0.5
cases:
  - id: swapped
    expected: {items: [{n: bread, p: 1}, {n: milk, p: 2}]}
    actual: {items: [{n: milk, p: 1}, {n: bread, p: 2}]}
  - id: right
    expected: {items: [{n: bread, p: 1}]}
    actual: {items: [{n: bread, p: 1}]}
"""


def comparisons(path):
    _, *cases = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return {case["id"]: case["runs"][0]["comparisons"][0] for case in cases}


def test_pairs_of_what_is_not_perfect(pytester: pytest.Pytester, workers: tuple[str, ...]) -> None:
    pytester.makefile(".golden.yaml", shops=CASES)
    pytester.runpytest("--jsonmatch-json=results.json", *workers).assert_outcomes(passed=2)
    found = comparisons(pytester.path / "results.json")
    assert "audit" not in found["shops.golden.yaml::right"]
    assert [
        (pair["expected"], pair["actual"], pair["f1"], pair["next_actual"], pair["ambiguous"])
        for pair in found["shops.golden.yaml::swapped"]["audit"][0]["pairs"]
    ] == [(0, 1, 0.5, {"index": 0, "score": 0.5}, True), (1, 0, 0.5, {"index": 1, "score": 0.5}, True)]
