"""Unordered arrays beyond the memory limit, and ties among many elements."""

from __future__ import annotations

import random
import tracemalloc

import pytest

from pytest_jsonmatch import ConfigurationError, compare_corpus, compare_json
from pytest_jsonmatch.engine.plan.written import read_bytes


def words(count: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(rng.choice("abcdefghijklmnop") for _ in range(4)) for _ in range(count)]


def total(result) -> float:
    """The similarities of the root array's pairs, added up."""
    return sum(f1 for _, _, f1 in result.alignments[0].pairs)


def compared(expected, actual, **options):
    return compare_json(actual, expected, metric="pairwise_f1", **options)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("memory_limit", [1, 20_000, "64 KiB"])
def test_what_is_lost_is_within_the_bound(seed, memory_limit):
    expected, actual = words(60, seed), words(50, seed + 100)
    exact = compared(expected, actual)
    rough = compared(expected, actual, memory_limit=memory_limit)
    assert (exact.alignment, exact.alignment_gap) == ("exact", None)
    assert rough.alignment == "approximate"
    assert -1e-9 <= total(exact) - total(rough) <= rough.alignment_gap + 1e-9


def test_within_the_limit_nothing_changes():
    expected, actual = words(60, 1), words(50, 2)
    assert compared(expected, actual, memory_limit="1 MiB").to_dict() == compared(expected, actual).to_dict()


def test_the_result_says_so():
    result = compared(words(60, 1), words(50, 2), memory_limit=1)
    (warning,) = result.warnings
    assert warning.startswith(
        "the alignment is approximate: an unordered array is too large for memory_limit; its pairs'"
    )
    assert (result.to_dict()["alignment"], result.signature) == ("approximate", compared([1], [1]).signature)


def test_a_corpus_counts_such_records():
    run = compare_corpus([words(50, 2), [1]], [words(60, 1), [1]], metric="pairwise_f1", memory_limit=1)
    assert (run.total_approximate, len(run.records[0].warnings), run.records[1].warnings) == (1, 1, ())


def test_the_order_of_elements_still_changes_no_figure():
    expected, actual = words(60, 3), words(60, 4)
    before = compared(expected, actual, memory_limit=1)
    random.Random(5).shuffle(expected)
    random.Random(6).shuffle(actual)
    after = compared(expected, actual, memory_limit=1)
    assert (before.precision, before.recall) == pytest.approx((after.precision, after.recall), abs=1e-12)


def test_objects_with_nested_arrays_are_measured_exactly():
    rng = random.Random(8)
    expected, actual = (
        [{"n": rng.randint(0, 9), "t": [rng.choice("abc") for _ in range(3)]} for _ in range(40)]
        for _ in "ab"
    )
    rough, exact = compared(expected, actual, memory_limit=20_000), compared(expected, actual)
    assert rough.alignment == "approximate"
    assert total(exact) - total(rough) <= rough.alignment_gap + 1e-9


def test_what_can_pair_only_once_bounds_what_is_lost():
    # All of one side are alike to a single element of the other.
    many, few = [f"a b{at}" for at in range(400)], ["a d", "c", "e"]
    for result in (compared(many, few, memory_limit=1), compared(few, many, memory_limit=1)):
        assert (total(result), result.alignment_gap) == (pytest.approx(1 / 3), pytest.approx(0.0, abs=1e-6))


def test_elements_that_tie_all_find_a_partner():
    expected, actual = ([{"kind": "a b", "id": at + first} for at in range(60)] for first in (0, 60))
    rough, exact = compared(expected, actual, memory_limit=1), compared(expected, actual)
    assert (rough.alignment, rough.recall) == ("approximate", exact.recall)
    assert rough.alignment_gap == pytest.approx(0.0, abs=1e-9)


def test_memory_stays_within_the_limit():
    compared(words(40, 1), words(40, 2), memory_limit=1)  # what is imported is no part of it
    expected, actual = words(1_500, 1), words(1_500, 2)
    limit = 8 * 2**20
    tracemalloc.start()
    result = compared(expected, actual, memory_limit=limit)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (result.alignment, len(result.alignments[0].pairs) > 1_400) == ("approximate", True)
    assert peak < 1.5 * limit


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
    assert (result.alignment, result.recall) == ("exact", pytest.approx(recall, abs=1e-9))
    assert peak < 24 * 2**20


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (
            "a lot",
            "memory_limit is 'a lot'; it must be a number of bytes, or text such as '512 MiB' or '2 GiB'",
        ),
        (0, "memory_limit is 0; it must be a number of bytes, or text such as '512 MiB' or '2 GiB'"),
        (1.5, "memory_limit is 1.5; it must be a number of bytes, or text such as '512 MiB' or '2 GiB'"),
        (
            "1 KB",
            "memory_limit is '1 KB'; it must be a number of bytes, or text such as '512 MiB' or '2 GiB'",
        ),
        (
            "0 KiB",
            "memory_limit is '0 KiB'; it must be a number of bytes, or text such as '512 MiB' or '2 GiB'",
        ),
        (
            "9" * 400,
            f"memory_limit is '{'9' * 400}'; it must be a number of bytes, or text such as '512 MiB' or '2 GiB'",
        ),
        (True, "memory_limit is True; it must be a number of bytes, or text such as '512 MiB' or '2 GiB'"),
        (
            "-1 GiB",
            "memory_limit is '-1 GiB'; it must be a number of bytes, or text such as '512 MiB' or '2 GiB'",
        ),
    ],
)
def test_a_limit_that_is_none(written, message):
    with pytest.raises(ConfigurationError) as caught:
        compared([1], [1], memory_limit=written)
    assert str(caught.value) == message


@pytest.mark.parametrize("written", [1024, 1024.0, "1024", "1 KiB", " 1.kib ", "1024B", "0.0009765625 MiB"])
def test_ways_to_write_a_limit(written):
    assert read_bytes("memory_limit", written) == 1024


# -- many ties ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_ties_among_many_elements_hang_on_no_order(seed):
    rng = random.Random(seed)
    # Few different values, all of them equally like each other: hundreds of ways to pair them are the best.
    expected = [{"k": rng.choice("ab"), "v": rng.choice(["x y", "x z", "y z w"])} for _ in range(120)]
    actual = [{"k": rng.choice("cd"), "v": rng.choice(["x q", "z q", "w q y"])} for _ in range(100)]
    figures = set()
    for _ in range(4):
        result = compared(expected, actual)
        figures.add((round(result.precision, 12), round(result.recall, 12), len(result.alignments[0].pairs)))
        rng.shuffle(expected)
        rng.shuffle(actual)
    assert len(figures) == 1
