"""iou: the intersection of two boxes divided by their union."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import strategies as st

from pytest_jsonmatch import compare_json
from tests.conftest import bound
from tests.laws import law


def field(expected, actual, **rule):
    rule = {"compare": "iou"} | rule
    return compare_json({"bbox": actual}, {"bbox": expected}, fields={"bbox": rule}).field_results[0]


@pytest.mark.parametrize(
    ("expected", "actual", "score"),
    [
        ([0, 0, 2, 2], [0, 0, 2, 2], 1),
        ([0, 0, 2, 2], [0.0, 0, 2, 2.0], 1),
        ([0, 0, 2, 2], [1, 0, 3, 2], 1 / 3),
        ([0, 0, 4, 4], [1, 1, 3, 3], 0.25),
        ([-2, -2, 0, 0], [-1, -1, 1, 1], 1 / 7),
        ([0, 0, 1, 1], [1, 0, 2, 1], 0),  # they only touch
        ([0, 0, 1, 1], [5, 5, 6, 6], 0),
        ([1, 1, 1, 1], [1, 1, 1, 1], 1),  # points
        ([1, 1, 1, 1], [0, 0, 2, 2], 0),
        ([1, 1, 1, 3], [1, 1, 1, 4], 0),  # lines
        ([3, 0, 2, 1], [3, 0, 2, 1], 1),  # not boxes: compared by equality
        ([0, 0, 2, 2], [0, 0, 2], 0),
        ([0, 0, 2, 2], "0 0 2 2", 0),
        ([0, 0, 2, 2], [0, 0, 2, True], 0),
        ([0, 0, 2, 2], [0, 0, 2, None], 0),
        ([0, 0, 2, 2], [0, 0, 2, math.nan], 0),
        ([0, 0, 2, 2], [0, 0, 2, 10**400], 0),
        ([0, 0, 1e300, 1e300], [0, 0, 1e300, 1e299], 0),  # areas beyond the doubles
        (None, None, 1),
        (None, [0, 0, 2, 2], 0),
    ],
)
def test_iou(expected, actual, score):
    assert field(expected, actual).score == pytest.approx(score)


@pytest.mark.parametrize(
    ("actual", "reason"),
    [
        ([50, 50, 60, 60], "the boxes do not overlap"),
        ([40, 40, 20, 10], "not a box [x0, y0, x1, y1]"),
        ([10, 20], "not a box [x0, y0, x1, y1]"),
        ({"x": 1}, "object"),
        ([10, 20, 30, 39], None),
    ],
)
def test_the_reason_of_a_mismatch(actual, reason):
    found = field([10, 20, 30, 40], actual)
    assert found.status == "mismatch"
    assert found.reason == reason if reason != "object" else True


def test_a_box_that_overlaps_too_little_scores_0():
    assert field([0, 0, 10, 10], [0, 0, 10, 9], leaf_threshold=0.5).score == 0.9
    assert field([0, 0, 10, 10], [0, 0, 10, 4], leaf_threshold=0.5).score == 0.0


sides = st.integers(0, 9) | st.floats(0, 9)
boxes = st.tuples(sides, sides, sides, sides).map(
    lambda box: [min(box[::2]), min(box[1::2]), max(box[::2]), max(box[1::2])]
)


@law(st.lists(boxes, max_size=5), st.lists(boxes, max_size=5))
def test_boxes_one_by_one_and_by_the_table(expected, actual):
    iou = bound("iou")
    scores = [[iou.score(one, other) for other in actual] for one in expected]
    assert iou.table(expected, actual).tolist() == (
        scores if actual else np.zeros((len(expected), 0)).tolist()
    )
    assert all(0 <= score <= 1 for row in scores for score in row)


def test_regions_in_any_order_are_paired_by_their_boxes():
    expected = [{"label": "total", "bbox": [10 * at, 0, 10 * at + 8, 5]} for at in range(40)]
    actual = [{"label": "total", "bbox": [10 * at + 1, 0, 10 * at + 8, 5]} for at in reversed(range(40))]
    result = compare_json(
        {"regions": actual},
        {"regions": expected},
        fields={"regions": {"align": "unordered"}, "regions[].bbox": "iou"},
    )
    assert result.score == pytest.approx((1 + 7 / 8) / 2)
