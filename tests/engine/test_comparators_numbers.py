"""numeric, relative, threshold: formulas, and numbers that doubles can't hold."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

from pytest_jsonmatch import compare_json
from tests.conftest import bound

INF, NAN = float("inf"), float("nan")
HUGE = Decimal("1e999999999")
ALMOST = math.nextafter(1.0, 0.0)


def both(name, params, expected, actual):
    """The score by the plain form, which must be the vectorised one's too."""
    comparator = bound(name, **params)
    score = comparator.score(expected, actual)
    assert comparator.table([expected, "x"], [{"k": 0}, actual]).tolist() == [[0, score], [0, 0]]
    assert comparator.table([expected], [actual]).tolist() == [[score]]
    return score


@pytest.mark.parametrize(
    ("expected", "actual", "score"),
    [
        (42, 42.0, 1.0),
        (42, 42.1, 0.0),
        ("42.5", 42.5, 1.0),
        (" 42 ", "42.0", 1.0),
        ("+007", 7, 1.0),
        ("1e3", 1000, 1.0),
        ("n/a", "n/a", 1.0),
        ("n/a", 1, 0.0),
        ("1,000", 1000, 0.0),
        (1, True, 0.0),
        (True, True, 1.0),
        (None, None, 1.0),
        (None, 0, 0.0),
        ([1], [1.0], 1.0),
        (0, -0.0, 1.0),
        (2**53 + 1, 2**53, 0.0),
        (2**53 + 1, float(2**53), 0.0),
        (2**60, float(2**60), 1.0),
        (10**23, 1e23, 0.0),
        (str(2**53 + 1), 2**53 + 1, 1.0),
        (HUGE, HUGE, 1.0),
        (HUGE, 1, 0.0),
        ("1e400", Decimal("1e400"), 1.0),
        (1, NAN, 0.0),
        (1, INF, 0.0),
        (1, "NaN", 0.0),
    ],
)
def test_numeric_without_a_tolerance_means_equal_in_value(expected, actual, score):
    assert both("numeric", {}, expected, actual) == score


@pytest.mark.parametrize(
    ("tolerance", "expected", "actual", "score"),
    [
        ({"rel": 0.01}, 100.0, 100.5, 1.0),
        ({"rel": 0.01}, 100, 101, 1.0),
        ({"rel": 0.01}, 100.0, 102.0, 0.0),
        ({"rel": 0.29}, 100, 129, 1.0),
        ({"rel": 0.01}, 0.0, 0.005, 1.0),
        ({"rel": 0.01}, 0, 0.02, 0.0),
        ({"rel": 0.01}, "100", "$101", 0.0),
        ({"abs": 0.5}, 10.0, 10.3, 1.0),
        ({"abs": 0.5}, 10.0, 11.0, 0.0),
        ({"abs": 0.1}, 0.7, 0.8, 1.0),
        ({"abs": 0.1}, 0.7, 0.8000000001, 0.0),
        ({"abs": 1}, 2**53, 2**53 + 1, 1.0),
        ({"abs": 1}, 2**53, 2**53 + 2, 0.0),
        ({"abs": 1}, float(2**53), 2**53 + 2, 0.0),
        ({"abs": 0}, 1, 1.0, 1.0),
        ({"abs": 0}, 1.0, ALMOST, 0.0),
        ({"rel": 0, "abs": 5}, 1, 2, 0.0),
        ({"rel": 0.01, "abs": 1.0}, 100.0, 100.5, 1.0),
        ({"rel": 0.01, "abs": 5.0}, 100.0, 102.0, 0.0),
        ({"rel": 0.01, "abs": 0.1}, 100.0, 100.5, 0.0),
        ({"rel": None, "abs": 1}, 1, 2, 1.0),
        ({"rel": 2.0}, 1e308, -1e308, 1.0),
        ({"rel": 1.9}, 1e308, -1e308, 0.0),
        ({"rel": 0.1}, 10**400, 10**400 + 10**398, 1.0),
        ({"rel": 0.1}, 10**400, 1.5, 0.0),
        ({"rel": 0.1}, HUGE, Decimal("1.05e999999999"), 1.0),
        ({"abs": 0.1}, HUGE, 3, 0.0),
        ({"abs": 0.1}, 1, INF, 0.0),
        ({"rel": 1}, 1, NAN, 0.0),
        ({"abs": 5}, 1, True, 0.0),
    ],
)
def test_numeric_within_a_tolerance(tolerance, expected, actual, score):
    assert both("numeric", {"tolerance": tolerance}, expected, actual) == score


def test_numeric_reads_no_number_from_a_hostile_text():
    compare = bound("numeric").score
    texts = ["9" * 100_001, "0" * 100_000 + "x", " " * 100_000 + "x", "9" * 200_000, "1e" + "9" * 90_000]
    assert [compare(1, text) for text in (*texts, "", ".", "e5", "--1")] == [0.0] * 9


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("5.", 5.0),
        (".5", 0.5),
        ("-.5e1", -5.0),
        ("00", 0),
        ("-0", 0),
        ("1_000", None),
        ("٣", None),
        ("0x10", None),
        ("Infinity", None),
        ("1e99999999999999999999999", None),
    ],
)
def test_what_counts_as_a_numeric_string(text, number):
    close = {"compare": {"numeric": {"tolerance": {"abs": 1e308}}}}  # any number is close enough
    for value, rule, score in ((number, "numeric", 1.0), (0, close, float(number is not None))):
        if value is not None:
            assert compare_json({"v": text}, {"v": value}, fields={"v": rule}).score == score


@pytest.mark.parametrize(
    ("expected", "actual", "score"),
    [
        (20.3, 20.5, 0.9901477832512315),
        (100, 98, 0.98),
        (100, 250, 0.0),
        (-10, -9, 0.9),
        (10, -10, 0.0),
        (0, 0.0, 1.0),
        (0, 1e-12, 1.0),
        (1e-12, -1e-12, 1.0),
        (0, 1e-11, 0.0),
        (1e-13, 1, 0.0),
        (2**53, 2**53 + 1, ALMOST),
        (2**53 + 1, float(2**53), ALMOST),
        (10**400, 10**400 + 1, ALMOST),
        (10**400, 10**400, 1.0),
        (10**400, 1.5, 0.0),
        (1.5, 10**400, 0.0),
        (1, 10**400, 0.0),
        (HUGE, HUGE, 1.0),
        (HUGE, 1, 0.0),
        (HUGE, Decimal("1.25e999999999"), 0.75),
        (Decimal("-1e400"), -(10**400), 1.0),
        (1e308, -1e308, 0.0),
        (1.0, NAN, 0.0),
        (1.0, INF, 0.0),
        (5e-324, 5e-324, 1.0),
        ("20", 20, 0.0),
        ("20", "20", 1.0),
        (True, 1, 0.0),
        (None, 1, 0.0),
    ],
)
def test_relative(expected, actual, score):
    assert both("relative", {}, expected, actual) == score


@pytest.mark.parametrize(
    ("params", "expected", "actual", "score"),
    [
        ({"threshold": 10}, 50, 50, 1.0),
        ({"threshold": 10}, 50, 55, 0.5),
        ({"threshold": 10}, 50, 60, 0.0),
        ({"threshold": 10}, 50, 61, 0.0),
        ({"threshold": 10, "difference_penalty_weighting": 2}, 50, 52.5, 0.5),
        ({"threshold": 10, "difference_penalty_weighting": 0.5}, 50, 55, 0.75),
        ({"threshold": 10, "difference_penalty_weighting": 0}, 50, 60, 1.0),
        ({"threshold": 10, "difference_penalty_weighting": 0}, 50, 60.5, 0.0),
        ({"threshold": 0.1, "difference_penalty_weighting": 0}, 0.7, 0.8, 1.0),
        ({"threshold": 10, "difference_penalty_weighting": 1e-320}, 50, 55, 1.0),
        ({"threshold": 10, "difference_penalty_weighting": 1e308}, 50, 55, 0.0),
        ({"threshold": 4}, 2**53 + 1, float(2**53), 0.75),
        ({"threshold": 4}, 2**60, float(2**60), 1.0),
        ({"threshold": 4}, 10**400, 10**400 + 1, 0.75),
        ({"threshold": 4}, 10**400, 1.0, 0.0),
        ({"threshold": 4}, HUGE, HUGE, 1.0),
        ({"threshold": 4}, HUGE, 7, 0.0),
        ({"threshold": 4, "difference_penalty_weighting": 0}, 10**400, 10**400 + 4, 1.0),
        ({"threshold": 4, "difference_penalty_weighting": 0}, "1", "1", 1.0),
        ({"threshold": 4, "difference_penalty_weighting": 0}, 1, True, 0.0),
        ({"threshold": 4}, 1e308, -1e308, 0.0),
        ({"threshold": 4}, 1.0, NAN, 0.0),
        ({"threshold": 4}, 1, INF, 0.0),
        ({"threshold": 4}, "1", 1, 0.0),
        ({"threshold": 4}, True, 1, 0.0),
        ({"threshold": 4}, [1], [1], 1.0),
    ],
)
def test_threshold(params, expected, actual, score):
    assert both("threshold", params, expected, actual) == pytest.approx(score, abs=1e-15)


def test_the_default_threshold_of_source_4():
    params = {"threshold": 0.001, "difference_penalty_weighting": 0.1}
    assert both("threshold", params, 10000.0005, 10000) == pytest.approx(1 - 0.5**10, abs=1e-8)


def test_a_matrix_larger_than_a_block_of_rows():
    numbers = [float(n) for n in range(1, 301)]
    scores = bound("relative").table(numbers, numbers[::-1])
    relative = bound("relative").score
    assert scores.tolist() == [[relative(e, a) for a in numbers[::-1]] for e in numbers]
