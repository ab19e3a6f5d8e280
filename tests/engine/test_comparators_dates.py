"""date: one moment in several spellings."""

from __future__ import annotations

import pytest

from pytest_jsonmatch.engine.compare import BUILTIN


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-31",
        "20260131",
        " 2026-01-31 ",
        "2026-01-31T00:00",
        "2026-01-31 00:00:00",
        "2026-01-31T00:00:00.000",
        "2026/01/31",
        "31.01.2026",
        "31 Jan 2026",
        "31 January 2026",
        "31-Jan-2026",
        "Jan 31, 2026",
        "January 31, 2026",
        "january 31 2026",
        20260131,
    ],
)
def test_the_spellings_read_without_formats(text):
    assert BUILTIN["date"].bind({}).score("2026-01-31", text) == 1.0


@pytest.mark.parametrize(
    ("expected", "actual", "score"),
    [
        ("2026-01-31", "2026-02-01", 0.0),
        ("2026-01-31", "01/31/2026", 0.0),
        ("2026-01-31", "2026-01-32", 0.0),
        ("2026-01-31", "soon", 0.0),
        ("soon", "2026-01-31", 0.0),
        ("soon", "soon", 1.0),
        ("soon", "later", 0.0),
        ("2026-01-31T10:00:00Z", "2026-01-31T11:00:00+01:00", 1.0),
        ("2026-01-31T10:00:00Z", "2026-01-31t08:30 -0130", 1.0),
        ("2026-01-31T10:00:00Z", "2026-01-31T10:00:00", 0.0),
        ("2026-01-31T10:00:00+99:00", "2026-01-31T10:00:00", 0.0),
        ("2026-01-31Z", "2026-01-31", 0.0),
        ("2026-01-31T10:00:00.5", "2026-01-31T10:00:00,500", 1.0),
        ("2026-01-31T10:00", "2026-01-31", 0.0),
        (None, None, 1.0),
        (None, "2026-01-31", 0.0),
        (True, 1, 0.0),
        (2026, 2026.0, 1.0),
        ([1], [1.0], 1.0),
        ({}, "2026-01-31", 0.0),
    ],
)
def test_date(expected, actual, score):
    assert BUILTIN["date"].bind({}).score(expected, actual) == score


def test_what_is_too_long_for_a_date_is_compared_as_it_is():
    compare = BUILTIN["date"].bind({}).score
    assert [compare("x" * 200, "x" * 200), compare(10**400, 10**400), compare("x" * 200, 10**400)] == [
        1.0,
        1.0,
        0.0,
    ]


@pytest.mark.parametrize(
    ("expected", "actual", "score"),
    [
        ("03/04/2026", "2026-04-03", 1.0),
        ("03/04/2026", "Apr 03, 2026", 0.0),
        ("2026-04-03", "2026-04-03T00:00:00", 0.0),
    ],
)
def test_given_formats_are_the_only_ones(expected, actual, score):
    assert BUILTIN["date"].bind({"formats": ["%d/%m/%Y", "%Y-%m-%d"]}).score(expected, actual) == score


def test_one_format_and_years_as_integers():
    compare = BUILTIN["date"].bind({"formats": "%Y"}).score
    assert [compare("2026", 2026), compare(2026, "2025")] == [1.0, 0.0]


def test_formats_with_a_zone():
    compare = BUILTIN["date"].bind({"formats": ["%Y-%m-%d %H:%M %z"]}).score
    assert compare("2026-01-31 10:00 +0000", "2026-01-31 12:00 +0200") == 1.0
