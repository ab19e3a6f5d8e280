"""Gates held against results."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_jsonmatch.api import compare_json
from pytest_jsonmatch.gate.expressions import parse_gate
from pytest_jsonmatch.gate.gates import check_gate
from pytest_jsonmatch.results.comparison import Comparison
from pytest_jsonmatch.results.model import Case, CaseRun, ResultSet, merged_fields


def compared(actual, expected, *, name, metric="pairwise_f1", limit=1.0):
    result = compare_json(actual, expected, metric=metric)
    return Comparison.of(
        result, id=f"{name}#1", nodeid=name, threshold={"score": limit}, passed=result.score >= limit
    )


def case(name, *pairs, least=None):
    runs = []
    for number, (actual, expected) in enumerate(pairs, 1):
        each = compared(actual, expected, name=f"f.yaml::{name}")
        runs.append(CaseRun(number, each.passed, (each,)))
    return Case(f"f.yaml::{name}", tuple(runs), len(runs), least)


GOLD = {"a": 1, "b": {"c": "x", "d": "y"}}
RESULTS = ResultSet(
    (
        case("acme-1", (GOLD, GOLD)),
        case("acme-2", ({"a": 2, "b": {"c": "x"}}, GOLD), ({"a": 1, "b": {"c": "x"}}, GOLD)),
        case("other[small]", ({"b": {"c": "x", "d": "y"}, "e": 1}, GOLD)),
        Case("f.yaml::broken", (CaseRun(1, passed=False, error="failed before comparing"),)),
    ),
    collected=8,
)


def checked(text, results=RESULTS):
    return check_gate(parse_gate(text), results)


@pytest.mark.parametrize(
    ("figure", "value"),
    [
        # acme-2: F1 of 1 of 3 and 2, and of 2 of 3 and 2; a case that failed before it compared counts as 0.
        ("f1", (1 + (2 / 5 + 4 / 5) / 2 + 4 / 6 + 0) / 4),
        ("recall", (1 + (1 / 3 + 2 / 3) / 2 + 2 / 3 + 0) / 4),
        ("precision", (1 + (1 / 2 + 2 / 2) / 2 + 2 / 3 + 0) / 4),
        ("pass_rate", 1 / 4),
        ("flip_rate", 0.0),
        ("completeness", 3 / 8),
        ("errors", 1),
        ("batch_errors", 0),
        ("approximate", 0),
        ('cases["acme-*"].f1', (1 + 3 / 5) / 2),
        ('cases["other"].f1', 4 / 6),
        ('cases["other[[]small]"].f1', None),
        ('cases["other[small]"].f1', 4 / 6),
        ('cases["f.yaml::acme-1"].f1', 1.0),
        # Each run of acme-2 counts half.
        ('fields["a"].recall', (1 + (0 + 1) / 2 + 0) / 3),
        ('fields["b.*"].recall', (2 + 1 + 2) / 6),
        ('fields["e"].precision', 0.0),
        ('fields["e"].recall', None),
        ('cases["acme-*"].fields["a"].score', (1 + 0.5) / 2),
        ("micro.recall", (3 + 1.5 + 2) / 9),
        ("micro.precision", (3 + 1.5 + 2) / (3 + 2 + 3)),
        ('cases["acme-1"].micro.f1', 1.0),
    ],
)
def test_the_value_of_a_figure(figure, value):
    found = checked(f"{figure} >= 0").value
    assert found == (None if value is None else pytest.approx(value, abs=1e-12))


def test_fields_are_what_the_table_shows():
    figures = merged_fields(RESULTS.cases)["a"]
    assert (figures.total, figures.matches, figures.mismatches, figures.omissions) == (4, 2, 1, 1)
    assert figures.mean_score == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("text", "passed", "note"),
    [
        ("pass_rate >= 0.25", True, "1 of 4 cases"),
        ("pass_rate > 0.25", False, "1 of 4 cases"),
        ('fields["zzz"].f1 >= 0', False, "no field that was compared matches"),
        ('fields["b.cc"].f1 >= 0', False, "no field that was compared matches; did you mean 'b.c'?"),
        ('fields["e"].recall >= 0', False, "nothing to divide by"),
        ('cases["amce-*"].f1 >= 0', False, "no case fits; did you mean 'acme-2'?"),
        ("batch_errors == 0", True, ""),
    ],
)
def test_what_a_gate_says_of_it(text, passed, note):
    found = checked(text)
    assert (found.passed, found.note) == (passed, note)


def test_a_tag_that_no_case_has():
    check = checked('tags["source=phone"].f1 >= 0')
    assert (check.passed, check.note) == (False, "no case has any tag")
    tagged = ResultSet((replace(RESULTS.cases[0], tags={f"n{number}": 1 for number in range(12)}),))
    note = checked('tags["source=phone"].f1 >= 0', tagged).note
    assert note.endswith("n7=1 and 2 more"), note


def test_no_case_ran_twice():
    assert checked("flip_rate <= 1", ResultSet(RESULTS.cases[:1])).note == "no case ran twice"


def test_nothing_is_never_good_enough_if_it_was_asked_for():
    gate = parse_gate("f1 >= 0")
    assert check_gate(gate, ResultSet()).passed is False
    assert check_gate(gate, ResultSet(), required=False).passed is None
    assert check_gate(gate, ResultSet()).note == "nothing was compared"


@pytest.mark.parametrize(
    ("text", "slack"),
    [("pass_rate >= 0.2", 0.05), ("pass_rate <= 0.2", -0.05), ("errors == 0", -1), ("errors < 3", 2)],
)
def test_what_is_to_spare(text, slack):
    assert checked(text).slack == pytest.approx(slack)


def test_a_case_that_runs_often_counts_once():
    often = case("often", *[({"a": 2}, {"a": 1})] * 9)
    once = case("once", ({"a": 1}, {"a": 1}))
    both = ResultSet((often, once))
    for figure in ("f1", "score", "micro.f1", 'fields["a"].recall', "pass_rate"):
        assert checked(f"{figure} >= 0", both).value == pytest.approx(0.5)
