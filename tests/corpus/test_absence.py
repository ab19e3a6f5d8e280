"""Omission, hallucination and fabrication rates."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pytest_jsonmatch import compare_corpus, reclassify_nulls

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
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "tip": {"type": "number"}, "note": {"type": "string"}},
}


def rates(run: Any) -> tuple[float | None, float | None, float | None]:
    return run.omission_rate, run.hallucination_rate, run.fabrication_rate


def test_rates_by_field_and_in_total():
    run = compare_corpus(ACTUAL, EXPECTED)
    assert {path: rates(each) for path, each in run.all_fields.items()} == {
        "a": (0.0, 0.0, None),
        "tip": (0.5, 0.5, 1 / 3),  # nowhere a tip but in the third record
        "items[].n": (0.0, 0.0, None),
        "items[].unit": (1.0, 1.0, 1.0),
        "address.zip": (None, 1.0, None),
        "address": (None, None, 1.0),  # only actual has it: no place where actual has not
        "items": (None, None, 0.0),  # the other three records
    }
    assert rates(run) == (2 / 9, 3 / 10, 3 / 8)
    assert run.to_dict()["per_field"]["tip"]["fabrication_rate"] == 1 / 3
    assert run.to_dict()["fabrication_rate"] == 3 / 8


def test_nothing_to_divide_by():
    assert rates(compare_corpus([{"a": 1}], [{"a": 1}])) == (0.0, 0.0, None)
    assert rates(compare_corpus([], [])) == (None, None, None)
    assert rates(compare_corpus([{}], [{}])) == (0.0, 0.0, None)


def test_a_schema_lists_the_members():
    run = compare_corpus([{"a": 1}, {"a": 1, "note": "x"}], [{"a": 1}, {"a": 1}], schema=SCHEMA)
    assert run.all_fields["tip"].fabrication_rate == 0.0
    assert run.all_fields["note"].fabrication_rate == 0.5
    assert run.fabrication_rate == 0.25
    assert "tip" not in run.per_field


@pytest.mark.parametrize("metric", ["json_similarity", "field_match"])
def test_not_counted_where_extras_are_not(metric):
    run = compare_corpus([{"a": 1, "b": 2}], [{"a": 1, "b": None, "c": 3}], metric=metric)
    assert rates(run) == (1 / 3, None, None)


@pytest.mark.parametrize(
    "options", [{"accept": {"tip": [4]}}, {"fields": {"tip": {"skip": True}}}], ids=["accepted", "skipped"]
)
def test_what_is_right_or_left_out_is_not_fabricated(options):
    assert compare_corpus([{"tip": 4}], [{"tip": None}], **options).fabrication_rate is None


def test_null_in_actual_is_no_value():
    assert compare_corpus([{"tip": None}, {}], [{}, {"tip": None}]).fabrication_rate == 0.0


def test_post_processors_change_no_places():
    assert compare_corpus(ACTUAL, EXPECTED, post_process=reclassify_nulls).fabrication_rate == 3 / 8


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
    assert whole.fabrication_rate == slow_fabrications(expected, actual)


def slow_fabrications(expected: list[Any], actual: list[Any]) -> float | None:
    """The definition, read word by word, for flat objects with objects in them."""
    members = {key for each in expected for key in each}
    places = fabricated = 0
    for one, other in zip(expected, actual, strict=True):
        pairs = [(one, other, members)]
        for key in one.keys() & other.keys():
            if type(one[key]) is type(other[key]) is dict:
                of_key = [each[key] for each in expected if type(each.get(key)) is dict]
                pairs.append((one[key], other[key], {name for each in of_key for name in each}))
        for left, right, known in pairs:
            for name in {*known, *right}:
                if left.get(name) is None:
                    places += 1
                    fabricated += right.get(name) is not None
    return fabricated / places if places else None
