"""Omission and hallucination rates."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pytest_jsonmatch import compare_corpus

EXPECTED = [
    {"a": 1, "tip": None},
    {"a": 2},
    {"a": 3, "tip": 5},
    {"a": 1, "items": [{"n": 1, "unit": "kg"}, {"n": 2}]},
]
ACTUAL = [
    *({"a": 1, "tip": 4}, {"a": 2, "tip": None, "address": {"zip": 1}}, {"a": 3}),
    {"a": 1, "items": [{"n": 1}, {"n": 2, "unit": "g"}]},
]


def rates(run: Any) -> tuple[float | None, float | None]:
    return run.omission_rate, run.hallucination_rate


def test_rates_by_field_and_in_total():
    run = compare_corpus(ACTUAL, EXPECTED)
    assert {path: rates(each) for path, each in run.all_fields.items()} == {
        "a": (0.0, 0.0),
        "tip": (0.5, 0.5),
        "items[].n": (0.0, 0.0),
        "items[].unit": (1.0, 1.0),
        "address.zip": (None, 1.0),
    }
    assert rates(run) == (2 / 9, 3 / 10)
    assert run.to_dict()["per_field"]["tip"]["omission_rate"] == 1 / 2
    assert run.to_dict()["hallucination_rate"] == 3 / 10


def test_nothing_to_divide_by():
    assert rates(compare_corpus([{"a": 1}], [{"a": 1}])) == (0.0, 0.0)
    assert rates(compare_corpus([], [])) == (None, None)
    assert rates(compare_corpus([{}], [{}])) == (0.0, 0.0)


@pytest.mark.parametrize("metric", ["json_similarity", "field_match"])
def test_not_counted_where_extras_are_not(metric):
    run = compare_corpus([{"a": 1, "b": 2}], [{"a": 1, "b": None, "c": 3}], metric=metric)
    assert rates(run) == (1 / 3, None)


@pytest.mark.parametrize("seed", range(20))
def test_chunks_merging_and_order_change_nothing(seed):
    rng = random.Random(seed)

    def record() -> dict[str, Any]:
        members = {key: rng.choice([None, 1, {"x": None}, {"x": 1, "y": 2}]) for key in "abc"}
        return {key: value for key, value in members.items() if rng.random() < 0.7}

    expected, actual = ([record() for _ in range(12)] for _ in range(2))
    whole = compare_corpus(actual, expected)
    chunked = compare_corpus(actual, expected, chunk_size=1)
    merged = compare_corpus(actual[5:], expected[5:]).merge(compare_corpus(actual[:5], expected[:5]))
    assert rates(whole) == rates(chunked) == rates(merged)
