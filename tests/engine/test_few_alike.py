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
from pytest_jsonmatch.engine.plan.registry import session_registry

WORDS = [f"{one}{other}" for one in ("ba", "ko", "lu", "mi", "ne") for other in "aeiouxyz"]


def phrases(rng: random.Random, size: int, words: list[str] = WORDS) -> list[str]:
    return [" ".join(rng.sample(words, rng.randint(1, 3))) for _ in range(size)]


def shuffled(rng: random.Random, values: list[Any]) -> list[Any]:
    return rng.sample(values, len(values))


def damaged(rng: random.Random, values: list[str]) -> list[str]:
    kept = [value if rng.random() < 0.5 else f"{value.split()[0]} {rng.choice(WORDS)}" for value in values]
    return shuffled(rng, [value for value in kept if rng.random() < 0.9] + phrases(rng, 2))


def said(expected: Any, actual: Any, **options: Any) -> tuple[Any, ...]:
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


def test_the_order_of_elements_changes_nothing():
    rng = random.Random(3)
    expected = phrases(rng, 300)
    actual = damaged(rng, expected)
    first = said(expected, actual)[:3]
    for _ in range(3):
        assert said(shuffled(rng, expected), shuffled(rng, actual))[:3] == pytest.approx(first, abs=1e-12)


def test_any_order_of_hundreds_that_tie_gives_the_same_figures():
    rng = random.Random(5)
    # 45 strings that share one word with 45 others: any pairing is as good.
    expected, actual = [f"x a{n}" for n in range(45)], [f"x b{n}" for n in range(45)]
    more = phrases(rng, 200, [f"w{n}" for n in range(1_000)])
    left, right = [*expected, *more], [*actual, *damaged(rng, more)]
    first = said(left, right)
    again = said(shuffled(rng, left), shuffled(rng, right))
    assert again[:3] == pytest.approx(first[:3], abs=1e-12)


def orders(rng: random.Random, number: int) -> list[dict[str, Any]]:
    words = [f"w{n}" for n in range(2_000)]
    return [
        {"customer": rng.choice(words), "lines": [{"tags": rng.sample(words, 6), "n": n} for n in range(4)]}
        for _ in range(number)
    ]


def retyped(rng: random.Random, order: dict[str, Any]) -> dict[str, Any]:
    lines = [
        {"tags": shuffled(rng, [*line["tags"][1:], "new"]), "n": line["n"] + 1} for line in order["lines"]
    ]
    return {"customer": order["customer"] + "x", "lines": shuffled(rng, lines)}


def test_arrays_in_arrays():
    rng = random.Random(11)
    expected = orders(rng, 10)
    actual = shuffled(rng, [retyped(rng, order) for order in expected])
    assert_optimal(expected, actual, lambda one, other: compare_json(other, one, metric="pairwise_f1").score)


def records(rng: random.Random, size: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Objects of six members; of most answers something is wrong, and a few have nothing to do with any."""
    expected = [
        {
            "code": f"c{n}",
            "batch": f"b{n}",
            "name": rng.choice(WORDS),
            "ok": rng.random() < 0.5,
            "n": n,
            "note": phrases(rng, 1)[0],
        }
        for n in range(size)
    ]
    actual = [
        {**one, rng.choice(["name", "n", "note"]): "other", "ok": rng.random() < 0.5} for one in expected
    ]
    for at in range(0, size, 100):
        actual[at] = {"code": "?", "batch": "?", "name": "?", "ok": True, "n": -1, "note": "?"}
    return expected, shuffled(rng, actual)


@pytest.mark.parametrize("size", [50, 200, 500])
def test_a_users_comparator_is_asked_about_few_pairs(size):
    calls = 0

    def similar(expected: str, actual: str, params: dict[str, Any]) -> float:
        nonlocal calls
        calls += 1
        one, other = set(expected.split()), set(actual.split())
        return len(one & other) / len(one | other)

    expected, actual = records(random.Random(size), size)
    with session_registry() as registry:
        registry.comparator("similar", similar)
        found = said(expected, actual, fields={"v[].note": {"compare": "similar"}})
    assert found[:3] == pytest.approx(said(expected, actual)[:3], abs=1e-12)
    assert calls <= 5 * size


def test_a_field_that_is_null_on_one_side_of_all_pairs():
    rule = {"v[].n": {"compare": {"threshold": {"threshold": 2}}}}
    assert said([{"n": None}, {"n": 3}], [{"n": None, "m": 1}], fields=rule)[3] == [(0, 0)]
    assert said([{"n": None}], [{"n": 3, "m": 1}], fields=rule)[3] == []


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
