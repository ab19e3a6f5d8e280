"""Rows in summaries, gates and result files."""

from __future__ import annotations

import re

import pytest

from pytest_jsonmatch import assert_json_match, read_results
from tests.conftest import page_of

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
    assert "lower end 0." in result.stdout.str()


ITEMS = [{"sku": sku, "n": 1, "note": "ab"} for sku in "ABC"]
OTHER = {"sku": "X", "n": 9}


def message(actual, expected, **options):
    with pytest.raises(AssertionError) as caught:
        assert_json_match(actual, expected, **options)
    return str(caught.value).splitlines()


@pytest.mark.parametrize("metric", ["leaf_f1", "field_match"])
def test_a_failure_shows_a_missing_row_once(metric):
    found = message({"items": ITEMS[:2]}, {"items": ITEMS}, metric=metric)
    assert sum("items[" in line for line in found[1:]) == 1  # (the first line names the lowest-scoring field)
    assert any("items[2]  row missing from actual" in line for line in found)
    assert not any("more (-v" in line for line in found)


def test_a_failure_shows_an_extra_row_once_with_its_index_in_actual():
    found = message([OTHER, *ITEMS], ITEMS, arrays={"key": "sku"})
    assert found[3:4] == ['  0.00  [→0]  (nothing) → {"sku": "X", "n": 9}  row only in actual']


def test_a_row_comes_first_if_one_of_its_fields_is_too_low():
    found = message(
        {"a": 2, "items": ITEMS[:2]}, {"a": 1, "items": ITEMS}, threshold={"fields": {"items[].note": 1}}
    )
    assert "items[2]  row missing from actual" in found[3]


def test_a_row_has_a_weight_if_one_of_its_fields_has():
    found = message({"items": ITEMS[:2]}, {"items": ITEMS}, fields={"items[].sku": {"weight": 0}})
    assert found[3].endswith("items[2]  row missing from actual")


def test_rows_in_a_missing_array_or_row_belong_to_the_outermost_row():
    found = message({"note": 1}, {"orders": [{"no": 1, "lines": ITEMS}, {"no": 2, "lines": ITEMS}]})
    assert [line.split()[1] for line in found if "row" in line] == ["orders[0]", "orders[1]"]


def test_a_page_shows_a_missing_row_once():
    answers = {"a": ({"items": [*ITEMS[:2], 5]}, {"items": ITEMS})}
    page = page_of(answers, metric="leaf_f1", options={"arrays": "unordered"})
    details = page.partition("<template>")[2].partition("</template>")[0]
    heads = re.findall(r'<div class="leaf-head">(.*?)</div>', details)
    leaf = r'<code>(.*?)</code> <span class="chip open">(.*?)</span>(?: <span class="faint">(.*?)</span>)?'
    assert [re.fullmatch(leaf, head).groups("") for head in heads] == [
        ("items[2]", "missing", "row missing from actual"),
        ("items[2]", "extra", ""),
    ]
