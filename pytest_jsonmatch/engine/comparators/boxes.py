"""The comparator `iou` (intersection over union), for boxes on a page or image."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.comparators.base import Comparator, Scoring
from pytest_jsonmatch.engine.comparators.equality import score_equality

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_jsonmatch.engine.comparators.base import Matrix
    from pytest_jsonmatch.engine.value.convert import JsonValue

# Areas of larger boxes would overflow a double.
_MAX_COORDINATE: Final = 1e150


def read_box(value: JsonValue) -> list[float] | None:
    """Return a box `[x0, y0, x1, y1]` with x0 <= x1 and y0 <= y1; return None for all other values.

    >>> read_box([0, 0, 2.5, 1]), read_box([2, 0, 1, 1]), read_box([0, 0, 1])
    ([0, 0, 2.5, 1], None, None)
    """
    if type(value) is not list or len(value) != 4 or not {int, float}.issuperset(map(type, value)):
        return None
    x0, y0, x1, y1 = value
    fits = -_MAX_COORDINATE <= x0 <= x1 <= _MAX_COORDINATE and -_MAX_COORDINATE <= y0 <= y1 <= _MAX_COORDINATE
    return value if fits else None


def intersection_over_union(expected: Sequence[float], actual: Sequence[float]) -> float:
    """Return the area shared by two boxes, divided by the area of their union; 0 if that is 0.

    >>> intersection_over_union([0, 0, 2, 2], [1, 0, 3, 2])
    0.3333333333333333
    """
    (x0, y0, x1, y1), (x2, y2, x3, y3) = map(float, expected), map(float, actual)
    shared = max(0.0, min(x1, x3) - max(x0, x2)) * max(0.0, min(y1, y3) - max(y0, y2))
    one, other = (x1 - x0) * (y1 - y0), (x3 - x2) * (y3 - y2)
    # In this order of additions, rounding never makes the union smaller than the intersection.
    union = max(one, other) + (min(one, other) - shared)
    return shared / union if union else 0.0


def _score(expected: JsonValue, actual: JsonValue) -> float:
    left, right = read_box(expected), read_box(actual)
    if left is None or right is None or left == right:
        return score_equality(expected, actual)
    return intersection_over_union(left, right)


def _score_block(expected: Sequence[list[float]], actual: Sequence[list[float]]) -> Matrix:
    """Return the scores of all pairs of boxes, computed in the same order as `intersection_over_union`."""
    import numpy as np

    from pytest_jsonmatch.engine.comparators.scoretables import split_rows

    left, right = (np.array(boxes, dtype=np.float64) for boxes in (expected, actual))
    areas, others = ((side[:, 2] - side[:, 0]) * (side[:, 3] - side[:, 1]) for side in (left, right))
    scores = np.zeros((len(left), len(right)))
    for rows in split_rows(*scores.shape):
        part, area = left[rows, None], areas[rows, None]
        sides = np.minimum(part[..., 2:], right[:, 2:]) - np.maximum(part[..., :2], right[:, :2])
        shared = np.maximum(sides, 0.0).prod(axis=2)
        union = np.maximum(area, others) + (np.minimum(area, others) - shared)
        np.divide(shared, union, out=scores[rows], where=union > 0.0)
        scores[rows][(part == right).all(axis=2)] = 1.0
    return scores


def _make_table(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> Matrix:
    from pytest_jsonmatch.engine.comparators.scoretables import add_equality

    places = [[at for at, value in enumerate(side) if read_box(value)] for side in (expected, actual)]
    return add_equality(expected, actual, places, _score_block)


IOU: Final = Comparator("iou", lambda _: Scoring(_score, _make_table), ())
"""The intersection of two boxes `[x0, y0, x1, y1]` divided by their union; equal boxes score 1.
Other values, such as boxes with x0 > x1, are compared by JSON equality."""

COMPARATORS: Final = (IOU,)
"""The comparators of this module."""
