"""The similarity of two elements of an unordered array: 2Σ/(E + A), with E and A counted alone.

A pair is made if its similarity is above `array_threshold`.
"""

from __future__ import annotations

from unittest.mock import ANY

import pytest

from pytest_jsonmatch import compare_json


def is_paired(expected, actual, **options):
    """Return whether two elements are paired."""
    result = compare_json([actual], [expected], arrays="unordered", **options)
    return result.alignments[0].pairs != ()


@pytest.mark.parametrize(
    ("expected", "actual", "more", "similarity"),
    [
        ({"a": 1, "b": 1}, {"a": 1, "b": 2}, {}, 1 / 2),
        ({"a": 1, "b": 1}, {"a": 1}, {}, 2 / 3),
        ({"a": 1, "b": 1}, {"a": 1}, {"reduce": "ratio"}, 1 / 2),
        ({"a": 1}, {"a": 1, "b": 1, "c": 1}, {}, 1 / 2),
        # An empty array is one leaf, also against an array that is not empty.
        ({"a": 1, "b": []}, {"a": 1, "b": [1]}, {}, 1 / 2),
        ({"a": 1, "b": []}, {"a": 1, "b": [1]}, {"empties": "never"}, 2 / 3),
        # An optional member does not count in E.
        ({"a": 1, "b": 1, "c": 1}, {"a": 1}, {"accept": {"[].b": {"optional": True}}}, 2 / 3),
        # What is right as a whole counts by its leaves on both sides, here 1 and 3.
        ({"a": ANY, "b": 1}, {"a": [1, 2, 3], "b": 2}, {}, 2 / 3),
        ({"a": 1, "b": 1}, {"a": [1, 2, 3], "b": 2}, {"accept": {"[].a": [[1, 2, 3]]}}, 2 / 3),
        ({"a": 1, "b": 1}, {"a": [1, 2, 3], "b": 2}, {"accept": {"[].a": {"type": "array"}}}, 2 / 3),
        ({"a": ANY, "b": 1}, {"a": [1, 2, 3], "b": 2}, {"reduce": "ratio"}, 1 / 2),
    ],
)
def test_similarity(expected, actual, more, similarity):
    assert is_paired(expected, actual, array_threshold=similarity - 0.01, **more)
    assert not is_paired(expected, actual, array_threshold=similarity + 0.01, **more)


def test_an_object_of_skipped_members_does_not_equal_an_empty_one():
    assert not is_paired({"id": 3}, {}, skip=["[].id"])
