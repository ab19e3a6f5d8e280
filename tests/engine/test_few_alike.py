"""Arrays in which few elements are alike at all: paired by the pairs that score, and to the same optimum."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pytest_jsonmatch import compare_json
from pytest_jsonmatch.engine import alignment, similarity
from pytest_jsonmatch.engine.alignment import Aligner
from pytest_jsonmatch.engine.assignment import connected
from pytest_jsonmatch.engine.plan.registry import session_registry

WORDS = [f"{one}{other}" for one in ("ba", "ko", "lu", "mi", "ne") for other in "aeiouxyz"]


def phrases(rng: random.Random, size: int, words: list[str] = WORDS) -> list[str]:
    return [" ".join(rng.sample(words, rng.randint(1, 3))) for _ in range(size)]


def shuffled(rng: random.Random, values: list[Any]) -> list[Any]:
    return rng.sample(values, len(values))


def damaged(rng: random.Random, values: list[str]) -> list[str]:
    kept = [value if rng.random() < 0.5 else f"{value.split()[0]} {rng.choice(WORDS)}" for value in values]
    return shuffled(rng, [value for value in kept if rng.random() < 0.9] + phrases(rng, 2))


@pytest.fixture
def uncommon(monkeypatch):
    """How often the pairs that score were used, and a switch that turns them off."""
    monkeypatch.setattr(alignment, "MOST_CELLS", 0)
    used: list[int] = []
    plain = similarity.pair_edges

    def counted(*args: Any) -> Any:
        found = plain(*args)
        if found is not None:
            used.append(len(found[0]))
        return found

    monkeypatch.setattr(similarity, "pair_edges", counted)

    def switch_off() -> None:
        monkeypatch.setattr(similarity, "pair_edges", lambda *_: None)

    return used, switch_off


def said(expected: Any, actual: Any, **options: Any) -> tuple[Any, ...]:
    result = compare_json({"v": actual}, {"v": expected}, **{"metric": "pairwise_f1", **options})
    pairs = [tuple(pair[:2]) for each in result.alignments for pair in each.pairs]
    return result.precision, result.recall, result.f1, sorted(pairs)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("words", [WORDS, WORDS[:12]], ids=["few ties", "many ties"])
def test_strings_pair_as_by_the_matrix_of_all(uncommon, seed, words, monkeypatch):
    used, switch_off = uncommon
    monkeypatch.setattr(similarity, "_FEW", 1)  # however many they are
    monkeypatch.setattr(alignment, "_EDGES_EACH", 1_000)
    rng = random.Random(seed)
    expected = phrases(rng, rng.randint(17, 60), words)
    actual = damaged(rng, expected)
    by_edges = said(expected, actual)
    assert used
    switch_off()
    by_matrix = said(expected, actual)
    assert by_edges[:3] == pytest.approx(by_matrix[:3], abs=1e-12)
    assert by_edges[3] == by_matrix[3]


def test_numbers_pair_so_too(uncommon):
    used, switch_off = uncommon
    rng = random.Random(7)
    expected = [rng.randint(0, 3_000) / 4 for _ in range(80)]
    actual = shuffled(rng, [value + rng.choice([0, 0.125, 0.25, 3]) for value in expected])
    rule = {"v[]": {"compare": {"threshold": {"threshold": 2}}}}
    by_edges = said(expected, actual, fields=rule)
    assert used
    switch_off()
    assert by_edges == said(expected, actual, fields=rule)


def test_the_order_of_elements_changes_nothing(uncommon):
    used, _ = uncommon
    rng = random.Random(3)
    expected = phrases(rng, 300)
    actual = damaged(rng, expected)
    first = said(expected, actual)[:3]
    for _ in range(3):
        assert said(shuffled(rng, expected), shuffled(rng, actual))[:3] == first
    assert used


def test_hundreds_that_tie_stay_with_the_order_of_their_texts(uncommon):
    used, _ = uncommon
    rng = random.Random(5)
    # 45 strings that share one word with 45 others: any pairing is as good.
    expected, actual = [f"x a{n}" for n in range(45)], [f"x b{n}" for n in range(45)]
    more = phrases(rng, 200, [f"w{n}" for n in range(1_000)])
    left, right = [*expected, *more], [*actual, *damaged(rng, more)]
    first = said(left, right)
    again = said(shuffled(rng, left), shuffled(rng, right))
    assert used
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


def test_arrays_in_arrays_are_bounded_by_the_pairs_that_score(uncommon, monkeypatch):
    used, switch_off = uncommon
    rng = random.Random(11)
    expected = orders(rng, 20)
    actual = shuffled(rng, [retyped(rng, order) for order in expected])
    measured = 0
    measure = Aligner.measure

    def counting(self: Aligner, element: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal measured
        measured += element.path == "v[]"
        return measure(self, element, *args, **kwargs)

    monkeypatch.setattr(Aligner, "measure", counting)
    by_edges = said(expected, actual)
    assert used
    assert measured <= 2 * len(expected)  # of 400 pairs of orders
    switch_off()
    by_matrix = said(expected, actual)
    assert by_edges[:3] == pytest.approx(by_matrix[:3], abs=1e-12)
    assert by_edges[3] == by_matrix[3]


def test_parts_that_nothing_connects():
    assert connected([], []) == []
    assert connected([0, 3, 0, 4, 3], [1, 2, 5, 9, 1]) == [[0, 1, 2, 4], [3]]


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
