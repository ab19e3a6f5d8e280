"""The slow reference against numbers derived by hand, and the engine against the slow reference."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import strategies as st

from pytest_jsonmatch import compare_json
from tests.laws import law
from tests.reference.certificate import is_optimal
from tests.reference.compare import smallest_report, verdict
from tests.reference.generate import case
from tests.reference.reference import RefusedError, Scores, best_pairs, reference_score


def test_pairing_is_the_optimum_of_the_sum_not_greedy():
    # Greedy takes the best single pair, 4/5, and is left with 1/3: less than 3/4 + 2/3.
    result = reference_score(["a b c d", "b c d e f"], ["a b c d e", "a b c"], {"metric": "pairwise_f1"})
    assert [(i, j, alike) for _, _, i, j, alike in result.pairs] == [(0, 1, 3 / 4), (1, 0, 4 / 6)]


def test_equal_elements_come_before_the_optimum():
    # Each of the other two has 4 of 7 words in common with a twin, and 1 of 7 with the other: 8/7 > 1 + nothing.
    result = reference_score(
        ["a b c d", "a b c d e f g"], ["a b c d e f g", "d e f g"], {"metric": "pairwise_f1"}
    )
    assert [(i, j) for _, _, i, j, _ in result.pairs] == [(1, 0)]
    assert result.counts == {"match": 1, "omission": 1, "hallucination": 1}


def under(schema, **options):
    return {"metric": "leaf_f1", "schema": schema, **options}


def test_rules_of_a_schema():
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string", "x-eval-weight": 3},
            "b": {"type": "number", "x-eval-compare": {"numeric": {"tolerance": {"abs": 1}}}},
            "c": {"type": "string", "x-eval-skip": True},
            "d": {"$ref": "#/$defs/word", "x-eval-weight": 2},
        },
        "$defs": {"word": {"type": "string", "x-eval-transform": ["lowercase"], "x-eval-weight": 9}},
    }
    expected, actual = {"a": "x", "b": 1, "c": "y", "d": "Z"}, {"a": "y", "b": 1.5, "c": "?", "d": "z"}
    result = reference_score(expected, actual, under(schema))
    # Right are b, which weighs 1, and d, which weighs 2, of 3 + 1 + 2.
    assert (result.precision, result.recall) == (3 / 6, 3 / 6)
    assert result.counts == {"mismatch": 1, "match": 2, "skipped": 1}


def test_the_first_branch_that_accepts_expected_holds():
    coded = {
        "type": "object",
        "properties": {"kind": {"const": "code"}, "v": {"x-eval-weight": 4}},
        "required": ["kind"],
    }
    plain = {"type": "object", "properties": {"kind": {}, "v": {"x-eval-weight": 2}}}
    schema = {"type": "array", "items": {"oneOf": [coded, plain, {"type": "string", "x-eval-skip": True}]}}
    expected = [{"kind": "code", "v": 1}, {"kind": "x", "v": 1}, "s"]
    result = reference_score(expected, [{"kind": "x", "v": 1}, {"kind": "code", "v": 1}, "t"], under(schema))
    assert (result.matched_leaves, result.total_leaves, result.counts["skipped"]) == (6, 8, 1)


def test_members_outside_the_schema():
    schema = {"type": "object", "properties": {"a": {}}}
    result = reference_score({"a": 1}, {"a": 1, "b": {"c": [2, 3]}}, under(schema))
    assert (result.precision, result.counts) == (1 / 3, {"match": 1, "hallucination": 2})
    with pytest.raises(RefusedError) as gold:
        reference_score({"a": 1, "x y": 2}, {}, under(schema))
    assert (gold.value.kind, gold.value.paths) == ("GoldValidationError", ['["x y"]'])
    with pytest.raises(RefusedError) as answer:
        reference_score({"a": 1}, {"b": 2}, under(schema, metric="pairwise_f1"))
    assert (answer.value.kind, answer.value.paths) == ("UnlistedFieldError", ["b"])
    ignored = reference_score(
        {"a": 1, "x": 0}, {"b": 2}, under({**schema, "additionalProperties": True}, metric="pairwise_f1")
    )
    assert (ignored.precision, ignored.recall, ignored.total_leaves) == (1.0, 0.0, 1)


def test_enum_and_defaults_of_types():
    words = {"type": "string"}
    schema = {
        "type": "object",
        "properties": {"a": words, "b": {**words, "enum": ["ab", "ax"]}, "c": {"type": "integer"}},
    }
    expected, actual = {"a": "ab", "b": "ab", "c": 10}, {"a": "ax", "b": "ax", "c": 8}
    assert reference_score(expected, actual, under(schema)).matched_leaves == 0
    assert reference_score(expected, actual, under(schema), {"string": "levenshtein"}).matched_leaves == 1 / 2
    config = under(schema, metric="pairwise_f1", integer_evaluation_type={"evaluation_type": "relative"})
    assert reference_score(expected, actual, config, {"integer": "exact"}).matched_leaves == 0.8


def test_scores_of_objects_and_arrays():
    expected, actual = {"a": [1, 2, {"b": 3}], "c": {}}, {"a": [1, 5], "c": {"d": 4}}
    assert reference_score(expected, actual, {"metric": "leaf_f1"}).containers == {
        ("$", "$"): (1 / 3, 1 / 3, 1 / 3),
        ("a", "a"): (1 / 2, 1 / 3, 2 / 5),
        ("a[2]", None): (1.0, 0.0, 0.0),
        ("c", "c"): (0.0, 1.0, 0.0),
    }


def worth(pairs, alike):
    """The sum of similarities and the Σ of a pairing, as far as they are told apart."""
    return tuple(round(sum(getattr(alike[pair], name) for pair in pairs), 9) for name in ("score", "matched"))


@pytest.mark.parametrize("seed", range(40))
def test_the_best_pairs_are_those_that_trying_every_pairing_finds(seed):
    rng = random.Random(seed)
    rows, columns = rng.randint(1, 5), rng.randint(1, 5)
    alike = {}
    for pair in itertools.product(range(rows), range(columns)):
        matched, leaves = rng.randint(0, 3), rng.randint(3, 6)
        if matched:
            score = matched / leaves
            alike[pair] = Scores(matched, leaves, leaves, score, score, score, score)
    found = best_pairs(alike)
    every = (
        [pair for pair in enumerate(chosen) if pair in alike]
        for chosen in itertools.permutations(range(max(rows, columns)), rows)
    )
    assert worth(found, alike) == max(worth(pairs, alike) for pairs in every)


@pytest.mark.parametrize(
    ("pairs", "objection"),
    [
        ([(0, 1), (1, 0), (2, 2)], None),
        ([(0, 1), (1, 2), (2, 0)], "the sum of similarities is not the greatest"),
        ([(0, 1), (1, 0)], "a pair is not made"),
        ([(0, 0), (1, 1), (2, 2)], "equal elements are not paired"),
        ([(0, 1), (1, 0), (2, 0)], "an element is paired twice"),
        ([(0, 1), (1, 0), (2, 2), (2, 3)], "an element is paired twice"),
        ([(0, 1), (1, 0), (2, 3)], "a pair is not above the threshold"),
    ],
)
def test_pairs_that_are_to_be_followed_are_checked(pairs, objection):
    expected, actual = ["z", "a b c", "d e f g"], ["a b c d x", "z", "a b e f g", "y"]
    result = reference_score(
        expected, actual, {"metric": "pairwise_f1", "array_threshold": 0.1}, {}, {("$", "$"): pairs}
    )
    assert result.objections[:1] == [f"('$', '$'): {objection}"][: objection is not None]
    assert [pair[2:4] for pair in result.pairs] == sorted(pairs)


def test_of_pairings_that_tie_the_larger_sum_of_scores_is_one_of_the_best():
    # Each of expected's elements is half like either of actual's, and one way the two have two leaves right.
    expected, actual = [{"a": 1, "b": 1}], [{"a": 1, "b": 2}, {"a": 1, "b": 1, "c": [0, 0, 0, 0]}]
    options = {"metric": "leaf_f1", "arrays": "unordered"}
    said = [reference_score(expected, actual, options, {}, {("$", "$"): [(0, j)]}).objections for j in (0, 1)]
    assert said == [["('$', '$'): the sum of scores is not the greatest of these"], []]


def test_ties_inside_accepted_values_are_open():
    # An empty array has no leaf by itself: both elements of actual are as similar to it, and only one lacks it.
    actual = [{}, {"a": 1}]
    options = {"metric": "json_similarity", "arrays": "unordered"}
    accept = {"$": [actual], "[].a": [1]}
    assert reference_score([{"a": []}], actual, {**options, "accept": accept}).doubts == [
        "a tie inside an accepted value"
    ]
    assert reference_score([{"a": [2]}], actual, {**options, "accept": accept}).doubts == []
    assert reference_score([{"a": []}], actual, options).doubts == []


def order(rng):
    return {
        "customer": rng.choice("abcdef"),
        "status": rng.choice(["open", "paid", None]),
        "quantity": rng.randint(1, 5),
        "tags": rng.choices(["new", "used", "red", "blue", "old"], k=3),
        "lines": [{"sku": rng.choice("xyz"), "n": rng.randint(1, 3)} for _ in range(2)],
    }


@pytest.mark.parametrize("size", [12, 33], ids=["lists", "arrays"])
@pytest.mark.parametrize("options", [{}, {"metric": "pairwise_f1"}, {"reduce": "ratio"}])
def test_prices_prove_that_the_pairs_are_optimal(size, options):
    rng = random.Random(size)
    expected, actual = ([order(rng) for _ in range(size)] for _ in range(2))
    options = {"arrays": "unordered", "array_threshold": 0.0, **options}
    worth = {
        (i, j): score
        for i, one in enumerate(expected)
        for j, other in enumerate(actual)
        if (score := compare_json([other], [one], **options).score)
    }
    (alignment,) = (each for each in compare_json(actual, expected, **options).alignments if each.path == "$")
    pairs = [(i, j) for i, j, _ in alignment.pairs]
    assert is_optimal(pairs, worth)
    # Two pairs exchanged for less, and a pair left out: no proof.
    (i, j), (k, m) = next(two for two in itertools.combinations(pairs, 2) if loss(worth, *two) > 0.1)
    assert not is_optimal([*(set(pairs) - {(i, j), (k, m)}), (i, m), (k, j)], worth)
    assert not is_optimal(pairs[1:], worth)


def loss(worth, one, other):
    """What exchanging the columns of two pairs costs, if that is allowed."""
    exchanged = (one[0], other[1]), (other[0], one[1])
    if not worth.keys() >= set(exchanged):
        return 0.0
    return sum(worth[pair] for pair in (one, other)) - sum(worth[pair] for pair in exchanged)


@law(st.integers(0, 2**40), examples=1_000)
def test_the_engine_agrees_with_the_slow_reference(seed):
    if verdict(case(seed)) == "differ":
        raise AssertionError(smallest_report(seed))
