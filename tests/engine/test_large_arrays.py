"""Large unordered arrays: what is refused, what takes little memory, and ties among many elements."""

from __future__ import annotations

import random
import tracemalloc

import pytest

from pytest_jsonmatch import JsonMatchError, compare_corpus, compare_json

MANY = 12_000


@pytest.mark.parametrize("element", [str, lambda at: {"n": at}], ids=["strings", "objects"])
def test_more_than_four_gigabytes_are_refused(element):
    expected, actual = ([element(at + first) for at in range(MANY)] for first in (0, MANY))
    message = r"\$: pairing 12,000 × 12,000 elements that have no equal would take 4\.3 GiB, .*\"key\""
    with pytest.raises(JsonMatchError, match=message):
        compare_json([*actual, "a"], [*expected, "a"], metric="leaf_f1", arrays="unordered")


def test_the_elements_of_all_arrays_inside_count_together():
    expected, actual = (
        [{"lines": [{"n": at + more} for at in range(first, MANY, 100)]} for first in range(100)]
        for more in (0, MANY)
    )
    with pytest.raises(JsonMatchError, match=r"\[\]\.lines: pairing 12,000 × 12,000 elements"):
        compare_json(actual, expected, metric="leaf_f1", arrays="unordered")
    assert compare_json(actual, expected, metric="leaf_f1", arrays={"key": "n"}).score == 0.0


def test_a_corpus_goes_on_after_such_a_record():
    gold, answer = [str(at) for at in range(MANY)], [str(-at) for at in range(1, MANY + 1)]
    run = compare_corpus([answer, [1]], [gold, [1]], metric="pairwise_f1")
    assert [record.score for record in run.records] == [0.0, 1.0]
    assert "pair them by a member" in str(run.records[0].error)


def word_or_number(at: int) -> str | int:
    return at if at % 7 else f"w{at}"


@pytest.mark.parametrize(
    ("metric", "tag", "other", "recall"),
    [
        ("leaf_f1", str, str, 3 / 5),
        ("pairwise_f1", str, str, 3 / 5),
        ("leaf_f1", word_or_number, word_or_number, 3 / 5),
        ("leaf_f1", str, int, 0.0),
    ],
    ids=["exact words", "words", "words and numbers", "words against numbers"],
)
def test_tags_that_few_share_take_no_table_of_all_pairs(metric, tag, other, recall):
    size = 450
    expected = [{"t": [tag(1_000 * at + n) for n in range(5)]} for at in range(size)]
    actual = [{"t": [other(1_000 * at + n) for n in (0, 7, 3, 4, 9)]} for at in reversed(range(size))]
    # (What is imported is no part of it.)
    compare_json(actual[:50], expected[:50], metric=metric, arrays="unordered")
    tracemalloc.start()
    result = compare_json(actual, expected, metric=metric, arrays="unordered")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result.recall == pytest.approx(recall, abs=1e-9)
    assert peak < 24 * 2**20


# -- many ties ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_ties_among_many_elements_hang_on_no_order(seed):
    rng = random.Random(seed)
    # Few different values, all of them equally like each other: hundreds of ways to pair them are the best.
    expected = [{"k": rng.choice("ab"), "v": rng.choice(["x y", "x z", "y z w"])} for _ in range(120)]
    actual = [{"k": rng.choice("cd"), "v": rng.choice(["x q", "z q", "w q y"])} for _ in range(100)]
    scores = set()
    for _ in range(4):
        result = compare_json(actual, expected, metric="pairwise_f1")
        scores.add((round(result.precision, 12), round(result.recall, 12), len(result.alignments[0].pairs)))
        rng.shuffle(expected)
        rng.shuffle(actual)
    assert len(scores) == 1
