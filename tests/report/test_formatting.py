"""Numbers that never say what is not so."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume
from hypothesis import strategies as st

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.formatting import limit_texts, score_text
from tests.laws import law

SCORES = st.floats(0, 1)


@pytest.mark.parametrize(
    ("score", "shown"),
    [
        (1.0, "1.00"),
        (0.0, "0.00"),
        (21 / 22, "0.95"),
        (0.995, "0.99"),
        (0.9951, "0.995"),
        (0.99999, "0.99999"),
        (math.nextafter(1.0, 0.0), "0.9999999999999999"),
        (0.004, "0.004"),
        (1e-300, "1e-300"),
        (-0.0, "0.00"),
        (-0.004, "-0.004"),
        (-0.146, "-0.15"),
        (-1e-300, "-1e-300"),
        (None, "–"),
    ],
)
def test_two_decimals_or_as_many_as_it_takes(score, shown):
    assert score_text(score) == shown


@pytest.mark.parametrize(
    ("value", "limit", "shown"),
    [
        (0.5, 1.0, ("0.50", "1.00")),
        (0.5, 1, ("0.50", "1.00")),
        (0.9499, 0.95, ("0.9499", "0.95")),
        (0.949999, 0.95, ("0.949999", "0.95")),
        (0.95 - 1e-12, 0.95, ("0.949999999999", "0.95")),
        (0.9999, 1.0, ("0.9999", "1.00")),
        (math.nextafter(1.0, 0.0), 1.0, ("0.9999999999999999", "1.00")),
        (0.91, 0.9545, ("0.9100", "0.9545")),
        (0.0, 0.5, ("0.00", "0.50")),
        (0.0001, 0.5, ("0.0001", "0.50")),
        (0.0, 1e-9, ("0.00", "1e-09")),
    ],
)
def test_a_value_and_its_limit_differ_as_printed(value, limit, shown):
    assert limit_texts(value, limit) == shown


@law(SCORES, SCORES, also=[(0.95, 0.9500000000000001)])
def test_the_lower_figure_reads_as_the_lower_one(value, limit):
    assume(value < limit)

    shown = limit_texts(value, limit)

    assert float(shown[0]) < float(shown[1])
    assert float(shown[1]) == limit


@law(SCORES)
def test_only_a_perfect_score_reads_as_one_and_only_nothing_as_zero(score):
    for text in (score_text(score), limit_texts(score, 1.0)[0]):
        assert (float(text) == 1.0, float(text) == 0.0) == (score == 1.0, score == 0.0)


def test_numbers_with_their_nouns():
    assert [count(0, "case"), count(1, "case"), count(1234567, "leaf", "leaves"), count(9990)] == [
        "0 cases",
        "1 case",
        "1,234,567 leaves",
        "9,990",
    ]
