"""Arrays in which few elements are alike at all: paired for the greatest total similarity."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from pytest_jsonmatch import compare_json
from pytest_jsonmatch.engine.compare import BUILTIN
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
    pairs = [tuple(pair[:2]) for each in result.alignments for pair in each.pairs]
    return result.precision, result.recall, result.f1, sorted(pairs)


def best(expected: list[Any], actual: list[Any], name: str = "jaccard", **params: Any) -> tuple[float, float]:
    """Precision and recall of scalars: equal ones are paired, the rest by the assignment of all pairs."""
    score = BUILTIN[name].bind(params).score
    left, right = Counter(expected) - Counter(actual), Counter(actual) - Counter(expected)
    worth = np.array([[score(e, a) for a in right.elements()] for e in left.elements()])
    worth[worth <= 0.3] = 0.0
    total = (Counter(expected) & Counter(actual)).total() + worth[linear_sum_assignment(worth, True)].sum()
    return total / len(actual), total / len(expected)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("words", [WORDS, WORDS[:12]], ids=["few ties", "many ties"])
def test_strings(seed, words):
    rng = random.Random(seed)
    expected = phrases(rng, rng.randint(17, 60), words)
    actual = damaged(rng, expected)
    assert said(expected, actual)[:2] == pytest.approx(best(expected, actual), abs=1e-12)


def test_numbers():
    rng = random.Random(7)
    expected = [rng.randint(0, 3_000) / 4 for _ in range(80)]
    actual = shuffled(rng, [value + rng.choice([0, 0.125, 0.25, 3]) for value in expected])
    found = said(expected, actual, fields={"v[]": {"compare": {"threshold": {"threshold": 2}}}})
    assert found[:2] == pytest.approx(best(expected, actual, "threshold", threshold=2), abs=1e-12)


def test_the_order_of_elements_changes_nothing():
    rng = random.Random(3)
    expected = phrases(rng, 300)
    actual = damaged(rng, expected)
    first = said(expected, actual)[:3]
    for _ in range(3):
        assert said(shuffled(rng, expected), shuffled(rng, actual))[:3] == first


def test_nor_does_it_where_hundreds_tie():
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
        {"customer": rng.choice(words), "lines": [{"tags": rng.sample(words, 6), "n": n} for n in range(8)]}
        for _ in range(number)
    ]


def retyped(rng: random.Random, order: dict[str, Any]) -> dict[str, Any]:
    lines = [
        {"tags": shuffled(rng, [*line["tags"][1:], "new"]), "n": line["n"] + 1} for line in order["lines"]
    ]
    return {"customer": order["customer"] + "x", "lines": shuffled(rng, lines)}


def test_arrays_in_arrays():
    rng = random.Random(11)
    expected = orders(rng, 20)
    answers = [retyped(rng, order) for order in expected]
    places = shuffled(rng, list(range(20)))
    precision, recall, _, pairs = said(expected, [answers[at] for at in places])
    # Of each order 5 tags of 6 in each of 8 lines; neither a number nor the customer.
    assert (precision, recall) == pytest.approx((40 / 57, 40 / 57), abs=1e-12)
    assert {(at, place) for place, at in enumerate(places)} <= set(pairs)


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
