"""Arrays whose order counts, but whose elements may be missing or inserted: `arrays: sequence`."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import pytest

from pytest_jsonmatch import ConfigurationError, JsonMatchError, compare_json
from tests.conftest import session_registry


def pairs(result, path="$"):
    (alignment,) = (each for each in result.alignments if each.path == path)
    return [(at, to) for at, to, _ in alignment.pairs]


def test_an_inserted_element_is_one_extra_element():
    result = compare_json(["x", "a", "b", "c"], ["a", "b", "c"], arrays="sequence")
    assert pairs(result) == [(0, 1), (1, 2), (2, 3)]
    assert (result.counts, result.precision, result.recall) == ({"match": 3, "hallucination": 1}, 3 / 4, 1.0)


def test_elements_that_change_places_are_not_both_paired():
    result = compare_json(["b", "a", "c"], ["a", "b", "c"], arrays="sequence")
    assert pairs(result) == [(0, 1), (2, 2)]
    assert result.counts == {"match": 2, "omission": 1, "hallucination": 1}


def test_elements_that_share_something_are_paired_though_they_differ():
    expected = [{"id": 1, "n": "a"}, {"id": 2, "n": "b"}, {"id": 3, "n": "c"}]
    actual = [{"id": 0, "n": "z"}, {"id": 1, "n": "A"}, {"id": 2, "n": "b"}]
    result = compare_json(actual, expected, arrays="sequence")
    assert pairs(result) == [(0, 1), (1, 2)]
    assert result.rows["$"] == (3, 2, 3)
    assert result.alignments[0].kind == "sequence"


@pytest.mark.parametrize(("expected", "actual"), [([True], [1, True]), ([1], [True, 1]), ([{}], [[], {}])])
def test_values_of_other_types_are_not_equal_at_the_start(expected, actual):
    assert pairs(compare_json(actual, expected, arrays="sequence")) == [(0, 1)]


def test_no_equal_elements_first():
    # "b" and "b" cross the pair of "a b c", which is worth more together with "d e".
    expected, actual = ["b", "a b c", "d e"], ["a b c d", "d e x", "b"]
    options = {"metric": "pairwise_f1", "arrays": "sequence"}
    assert pairs(compare_json(actual, expected, **options)) == [(1, 0), (2, 1)]


@pytest.mark.parametrize(
    "options",
    [
        {"arrays": "sequence"},
        {"fields": {"$": {"align": "sequence"}}},
        {"fields": {"$": {"align": {"match_by": "sequence"}}}},
        {"schema": {"type": "array", "items": {}, "x-eval-align": {"match_by": "sequence"}}},
        {"schema": {"type": "array", "items": {}, "x-eval-align": "sequence"}},
    ],
)
def test_every_way_to_write_it(options):
    result = compare_json([9, 1, 2], [1, 2], **options)
    assert pairs(result) == [(0, 1), (1, 2)]


def test_wrong_words():
    with pytest.raises(ConfigurationError, match="did you mean 'sequence'"):
        compare_json([], [], fields={"$": {"align": {"match_by": "sequense"}}})
    with pytest.raises(ConfigurationError, match="must be 'ordered', 'unordered', 'sequence'"):
        compare_json([], [], arrays="sequences")


def test_the_threshold_must_be_exceeded():
    expected, actual = [{"a": 1, "b": 1}], [{"a": 1, "b": 2}]
    for threshold, count in ((0.49, 1), (0.5, 0)):
        result = compare_json(actual, expected, arrays="sequence", array_threshold=threshold)
        assert len(pairs(result)) == count
    assert pairs(compare_json([1], [1], arrays="sequence", array_threshold=1.0)) == []


def test_ties_go_to_the_larger_sum_and_then_to_the_smallest_indices():
    # Both elements of actual are half right; one has two leaves right.
    actual = [{"a": 1, "b": 2}, {"a": 1, "b": 1, "c": [0, 0, 0, 0]}]
    assert pairs(compare_json(actual, [{"a": 1, "b": 1}], arrays="sequence")) == [(0, 1)]
    assert pairs(compare_json(["a", "a"], ["a"], arrays="sequence")) == [(0, 0)]
    assert pairs(compare_json(["a"], ["a", "a"], arrays="sequence")) == [(0, 0)]
    # Three thirds are as much as one whole, and both have three leaves right.
    expected = [{"a": 1, "b": 1, "c": 1}, {"a": 2, "b": 2, "c": 2}, {"a": 3, "b": 3, "c": 3}]
    actual = [{"a": 1}, {"a": 2}, {"a": 3}, expected[0]]
    options = {"arrays": "sequence", "reduce": "ratio"}
    assert pairs(compare_json(actual, expected, **options)) == [(0, 0), (1, 1), (2, 2)]


# -- all pairings ------------------------------------------------------------------------------------------------


def all_pairings(rows, columns):
    for size in range(min(rows, columns) + 1):
        for left in combinations(range(rows), size):
            for right in combinations(range(columns), size):
                yield list(zip(left, right, strict=True))


def some_value(rng, depth=1):
    kind = rng.random()
    if depth and kind < 0.5:
        return {
            "a": some_value(rng, 0),
            **{key: some_value(rng, depth - 1) for key in "bc" if rng.random() < 0.7},
        }
    if depth and kind < 0.7:
        return [some_value(rng, 0) for _ in range(rng.randint(1, 3))]
    return rng.choice([True, 1, 2, 1.5, "a", "a b", "b c", "tea"])


def letters(expected, actual, params):
    one, other = set(str(expected)), set(str(actual))
    return len(one & other) / len(one | other)


OPTIONS = [
    {},
    {"metric": "pairwise_f1"},
    {"metric": "json_similarity"},
    {"reduce": "ratio", "empties": "never"},
    {"extra": "ignore"},
    {"compare": {"string": "levenshtein"}, "leaf_threshold": 0.4},
    {"fields": {"[].a": {"weight": 3}, "[].b": {"skip": True}}},
    {"compare": {"string": "letters"}},
]


@pytest.mark.parametrize("small", [True, False], ids=["lists", "arrays"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_pairs_are_the_first_of_the_best_of_all_pairings(options, small, monkeypatch):
    if not small:
        monkeypatch.setattr("pytest_jsonmatch.engine.align.arrays._SMALL_CELLS", 0)
    rng = random.Random(str(options))
    with session_registry() as registry:
        registry.comparator("letters", letters)
        for _ in range(60):
            expected, actual = ([some_value(rng) for _ in range(rng.randint(1, 4))] for _ in range(2))
            if rng.random() < 0.5:
                actual = [*expected, *actual][rng.randint(0, 2) :][:4]
            given = {**options, "arrays": "sequence", "array_threshold": rng.choice([0, 0.3, 0.5])}
            result = compare_json(actual, expected, **given)
            assert pairs(result) == find_first_best(expected, actual, given)


def find_first_best(expected, actual, options):
    """The pairs of all pairings in order, each of which is scored alone."""
    options = {**options, "fields": {**options.get("fields", {}), "$": {"align": "ordered"}}}
    alone = {
        (at, to): compare_json([other], [one], **options)
        for at, one in enumerate(expected)
        for to, other in enumerate(actual)
    }
    counts_extra = options.get("extra", "count") == "count" and options.get("reduce") != "ratio"
    is_two_sided = counts_extra and options.get("metric") != "json_similarity"
    alike = {pair: found.f1 if is_two_sided else found.recall for pair, found in alone.items()}
    every = [
        pairing
        for pairing in all_pairings(len(expected), len(actual))
        if all(alike[pair] > options["array_threshold"] + 1e-12 for pair in pairing)
    ]
    for worth in (alike, {pair: found.matched_leaves for pair, found in alone.items()}):
        sums = [sum(worth[pair] for pair in pairing) for pairing in every]
        every = [pairing for pairing, total in zip(every, sums, strict=True) if total > max(sums) - 1e-11]
    return min(every)


# -- large arrays ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [20, 60, 200, 500])
def test_a_users_comparator_sees_few_pairs_and_none_twice(size):
    calls = Counter()

    def similar(expected, actual, params):
        calls[expected, actual] += 1
        return letters(expected, actual, params)

    rng = random.Random(size)
    expected = [
        {
            "code": rng.randint(0, 3 * size),
            "n": rng.choice([1, 2, 3, None]),
            "note": f"tea {at} for e{at % 9}",
        }
        for at in range(size)
    ]
    actual = [{**item, "note": f"{item['note']} a{at}"} for at, item in enumerate(expected)]
    for item in rng.sample(actual, size // 3):
        item["code"] = None
    for at in sorted(rng.sample(range(size), size // 10), reverse=True):
        del actual[at]
    actual.insert(0, {"code": -1, "n": 7, "note": "coffee"})
    with session_registry() as registry:
        registry.comparator("similar", similar)
        result = compare_json(actual, expected, arrays="sequence", fields={"[].note": {"compare": "similar"}})
        assert len(pairs(result)) >= size * 0.8
    assert sum(calls.values()) <= 5 * size
    assert set(calls.values()) == {1}


def test_equal_elements_at_the_start_take_no_memory():
    expected = [{"n": at, "s": str(at)} for at in range(30_000)]
    actual = [*expected[:-1], {"n": -1, "s": ""}]
    result = compare_json(actual, expected, arrays="sequence")
    assert result.counts == {"match": 59_998, "omission": 2, "hallucination": 2}
    with pytest.raises(JsonMatchError, match="30,000 × 30,000 elements"):
        compare_json([0, *range(1, 30_000)], [-1, *range(29_999)], arrays="sequence")


@pytest.mark.parametrize("outer", ["unordered", "sequence"])
@pytest.mark.parametrize("small", [True, False], ids=["lists", "arrays"])
def test_sequences_in_elements_keep_their_order(outer, small, monkeypatch):
    if not small:
        monkeypatch.setattr("pytest_jsonmatch.engine.align.arrays._SMALL_CELLS", 0)
    expected = [{"id": at, "words": [f"{at}a", f"{at}b", f"{at}c"]} for at in range(4)]
    actual = [{"id": 9, "words": ["new", *item["words"]]} for item in expected]
    actual[1]["words"] = ["1c", "1b", "1a"]
    options = {"arrays": "sequence", "fields": {"$": {"align": outer}}}
    result = compare_json(actual, expected, **options)
    assert pairs(result) == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert result.per_field["[].words[]"].matches == 3 + 1 + 3 + 3
