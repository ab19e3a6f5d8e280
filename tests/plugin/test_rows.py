"""Rows in summaries, gates and result files."""

from __future__ import annotations

import pytest

from pytest_jsonmatch.results.file import read_results

TESTS = """\
import pytest
from pytest_jsonmatch import assert_json_match

ITEMS = [{"n": at, "name": "ab"} for at in range(5)]

@pytest.mark.parametrize("items", [ITEMS, [*ITEMS[2:], {"n": 7, "name": "x"}], None], ids=["complete", "few", "none"])
def test_items(items):
    assert_json_match({"items": items, "tags": []}, {"items": ITEMS, "tags": []}, arrays={"key": "n"}, threshold=0)
"""


@pytest.fixture
def run(pytester):
    pytester.makepyfile(TESTS)
    return pytester.runpytest


@pytest.mark.parametrize("workers", [(), ("-p", "xdist", "-n", "2")])
def test_a_line_under_the_table_a_gate_and_the_file(run, pytester, workers):
    gates = ('rows["items"].recall >= 0.9', 'rows["**"].precision >= 0.8', 'rows["lines"].f1 >= 0.8')
    result = run(*workers, "--jsonmatch-json=r.jsonl", *(f"--jsonmatch-gate={gate}" for gate in gates))
    assert result.ret == 1
    text = result.stdout.str()
    assert "items: 8 of 15 rows found, 1 extra" in text.splitlines()
    assert 'rows["items"].recall >= 0.9' in text
    assert "no array with rows matches; known: items" in text
    assert read_results(pytester.path / "r.jsonl").rows == {"items": (15, 8, 9)}


def test_rows_that_are_all_found_are_a_line_with_v_only(run):
    assert "rows found" not in run("-k", "complete").stdout.str()
    assert "items: 5 of 5 rows found" in run("-k", "complete", "-v").stdout.lines


def test_a_significant_gate_reads_the_rows_of_each_case(run):
    result = run("--jsonmatch-gate", 'rows["items"].recall >= 0.1 significant')
    assert "% interval" in result.stdout.str()
