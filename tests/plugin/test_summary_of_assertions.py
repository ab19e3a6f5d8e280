"""The summary below failed tests: of unrelated documents it has a line, of what is compared often a table."""

from __future__ import annotations

import pytest

SUITE = """
import pytest
from pytest_jsonmatch import assert_json_match

def test_user():
    assert_json_match({"name": "Anne", "id": 1}, {"name": "Ann", "id": 1})

def test_health():
    assert_json_match({"status": "down"}, {"status": "up"})
"""
PARAMETRIZED = """
@pytest.mark.parametrize("page", [1, 2])
def test_page(page):
    assert_json_match({"page": 1}, {"page": page})
"""


def summary(ran):
    lines = [line for line in ran.outlines if "= short test summary" not in line]
    start = next(
        at for at, line in enumerate(lines) if line.startswith(("====", "jsonmatch: ")) and "jsonm" in line
    )
    return [
        line for line in lines[start:] if line.startswith(("jsonmatch: ", "name", "status", "page", "all"))
    ]


def test_tests_that_compare_once_have_a_line(pytester):
    pytester.makepyfile(SUITE)
    assert summary(pytester.runpytest("--tb=no")) == [
        "jsonmatch: leaf_f1, 2 cases, 3 fields, score 0.25 (mean over cases), lowest 0.00"
    ]


def test_a_test_that_compares_several_times_has_a_table(pytester):
    pytester.makepyfile(SUITE + PARAMETRIZED)
    found = [line.split()[:4] for line in summary(pytester.runpytest("--tb=no"))]
    assert found == [
        ["page", "2", "1", "1"],
        ["all", "fields", "2", "1"],
        ["all", "fields:", "score", "0.50"],
        ["jsonmatch:", "leaf_f1,", "2", "cases,"],
    ]


@pytest.mark.parametrize("option", ["-v", "--jsonmatch-gate=f1>=0.1", "--jsonmatch-summary=failed"])
def test_all_have_a_table_if_it_is_asked_for(pytester, option):
    pytester.makepyfile(SUITE)
    found = {line.split()[0] for line in summary(pytester.runpytest("--tb=no", option))}
    assert found >= {"name", "status", "all"}


def test_golden_cases_have_a_table(pytester):
    pytester.makepyfile(SUITE)
    pytester.makefile(".golden.yaml", test_cases="cases:\n- expected: {page: 1}\n  actual: {page: 2}\n")
    found = [line.split()[0] for line in summary(pytester.runpytest("--tb=no"))]
    assert found == ["page", "all", "jsonmatch:"]
