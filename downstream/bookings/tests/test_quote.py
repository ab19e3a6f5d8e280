"""Prices: a unittest case, and a fixture with parameters."""

from __future__ import annotations

import unittest

import pytest
from bookings import quote

from pytest_jsonmatch import assert_json_match


class TestQuote(unittest.TestCase):
    """Written before pytest came."""

    def test_a_week_costs_six_nights(self):
        assert_json_match(
            quote("single", 7),
            {"rate": 70.1, "nights": 7, "total": 420.6},
            fields={"total": {"tolerance": 1e-9}},
        )


@pytest.fixture(params=["single", "double"])
def room(request):
    return request.param


def test_nothing_for_no_night(room, assert_json_match):
    assert_json_match(quote(room, 0), {"nights": 0, "total": 0}, extra="ignore")
