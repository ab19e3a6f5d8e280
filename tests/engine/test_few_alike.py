"""Arrays in which few elements are alike at all are paired to the optimum too."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from scipy.optimize import linear_sum_assignment

from pytest_jsonmatch import compare_json

WORDS = [f"{one}{other}" for one in ("ba", "ko", "lu", "mi", "ne") for other in "aeiouxyz"]


def phrases(rng: random.Random, size: int, words: list[str] = WORDS) -> list[str]:
    return [" ".join(rng.sample(words, rng.randint(1, 3))) for _ in range(size)]


def shuffled(rng: random.Random, values: list[Any]) -> list[Any]:
    return rng.sample(values, len(values))


def damaged(rng: random.Random, values: list[str]) -> list[str]:
    kept = [value if rng.random() < 0.5 else f"{value.split()[0]} {rng.choice(WORDS)}" for value in values]
    return shuffled(rng, [value for value in kept if rng.random() < 0.9] + phrases(rng, 2))


def printed(expected: Any, actual: Any, **options: Any) -> tuple[Any, ...]:
    result = compare_json({"v": actual}, {"v": expected}, **{"metric": "pairwise_f1", **options})
    pairs = [tuple(pair[:2]) for pair in result.alignments[0].pairs] if result.alignments else []
    return result.precision, result.recall, result.f1, pairs


def optimum(
    expected: list[Any], actual: list[Any], similarity: Callable[[Any, Any], float], threshold: float = 0.3
) -> float:
    """The greatest sum of similarities, equal elements being paired first, from the matrix of all the others."""
    left, right = (Counter(json.dumps(each) for each in side) for side in (expected, actual))
    rows, columns = ([json.loads(each) for each in side.elements()] for side in (left - right, right - left))
    matrix = [[score if (score := similarity(x, y)) > threshold else 0.0 for y in columns] for x in rows]
    best = sum(matrix[i][j] for i, j in zip(*linear_sum_assignment(matrix, maximize=True)))
    return (left & right).total() + best


def assert_optimal(
    expected: list[Any],
    actual: list[Any],
    similarity: Callable[[Any, Any], float],
    **options: Any,
) -> None:
    """Check that the pairs are one to one, that each is as similar as it says, and that none are better."""
    result = compare_json(actual, expected, metric="pairwise_f1", **options)
    pairs = result.alignments[0].pairs
    assert len({i for i, _, _ in pairs}) == len({j for _, j, _ in pairs}) == len(pairs)
    for i, j, alike in pairs:
        assert alike == pytest.approx(similarity(expected[i], actual[j]), abs=1e-12)
        assert alike > 0.3
    assert sum(alike for *_, alike in pairs) == pytest.approx(optimum(expected, actual, similarity), abs=1e-7)


def in_common(expected: str, actual: str) -> float:
    """Words that both have, of the words that either has."""
    one, other = set(expected.split()), set(actual.split())
    return len(one & other) / len(one | other)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("words", [WORDS, WORDS[:12]], ids=["few ties", "many ties"])
def test_strings(seed, words):
    rng = random.Random(seed)
    expected = phrases(rng, rng.randint(17, 60), words)
    assert_optimal(expected, damaged(rng, expected), in_common)


def test_numbers():
    rng = random.Random(7)
    expected = [rng.randint(0, 3_000) / 4 for _ in range(80)]
    actual = shuffled(rng, [value + rng.choice([0, 0.125, 0.25, 3]) for value in expected])
    rule = {"[]": {"compare": {"threshold": {"threshold": 2}}}}
    assert_optimal(expected, actual, lambda one, other: max(0.0, 1 - abs(one - other) / 2), fields=rule)


def test_a_field_that_is_null_on_one_side_of_all_pairs():
    rule = {"v[].n": {"compare": {"threshold": {"threshold": 2}}}}
    assert printed([{"n": None}, {"n": 3}], [{"n": None, "m": 1}], fields=rule)[3] == [(0, 0)]
    assert printed([{"n": None}], [{"n": 3, "m": 1}], fields=rule)[3] == []


@pytest.mark.parametrize(
    ("options", "values"),
    [({"nulls": "absent"}, [None, "x", "y"]), ({"transform": ["casefold"]}, ["x", "X", "y", "Y"])],
)
def test_which_of_equal_elements_has_found_its_equal_changes_no_aggregate(
    options: dict[str, Any], values: list[Any]
) -> None:
    # Equal elements may differ as they are written. Where pairings tie, that must not decide.
    for seed in range(300):
        rng = random.Random(seed)
        expected, actual = (
            [{key: rng.choice(values) for key in "abc" if rng.random() < 0.8} for _ in range(6)] for _ in "ea"
        )
        found = [
            compare_json(*sides, metric="leaf_f1", arrays="unordered", **options).per_field
            for sides in ((actual, expected), (shuffled(rng, actual), shuffled(rng, expected)))
        ]
        assert found[0] == found[1]
